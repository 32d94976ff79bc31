"""L9, rulebook §9: quota weeks, the deadline, what fulfils a challenge, and whom /推荐对手 names."""

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rating_core import queries
from rating_core.ledger import (
    ChallengeCancelled,
    ChallengeForfeited,
    ChallengeFulfilled,
    ChallengeIssued,
    IpChecked,
    LeaveTaken,
    Void,
)
from rating_core.report_text import GameLine
from rating_core.rules import challenge as rules
from rating_core.rules.challenge import Obstacle
from rating_core.state import Challenge, State
from rating_core.times import DAY_MS, HOUR_MS, SHANGHAI, to_datetime, week_start
from tests.support.books import Books
from tests.support.rows import Rows, line, ms

POOL, PAIRS = "单跳1v1", "单跳2v2"
A, B, C, D = 1, 2, 3, 4
NOW = ms("2026-11-30 12:00")
instants = st.integers(ms("2016-03-01"), ms("2036-12-31"))


# --- weeks ------------------------------------------------------------------------------------------------


@given(instants)
def test_a_week_is_monday_to_monday_in_shanghai(at: int) -> None:
    start = week_start(at)
    monday = to_datetime(start)
    assert start <= at < start + 7 * DAY_MS
    assert (monday.weekday(), monday.hour, monday.minute, monday.second) == (0, 0, 0, 0)
    assert monday.isocalendar()[:2] == to_datetime(at).isocalendar()[:2]


@given(st.lists(st.tuples(st.integers(0, 40 * 24), st.integers(0, 2), st.booleans(), st.booleans()), max_size=25))
def test_one_a_week_and_pool_and_cancelled_ones_give_it_back(plan: list[tuple[int, int, bool, bool]]) -> None:
    """Whatever is issued when, the quota says what a plain count of weeks says (L9 D)."""
    state = State.empty()
    used: dict[tuple[object, int, str], int] = {}
    for number, (hours, player, pairs, cancelled) in enumerate(sorted(plan), 1):
        at, pool = NOW + hours * HOUR_MS, PAIRS if pairs else POOL
        week = datetime.fromtimestamp(at / 1000, SHANGHAI).isocalendar()[:2]
        left = rules.quota_left(state, pool, player, at)
        assert left == 1 - used.get((week, player, pool), 0)
        if left:
            how = "cancelled" if cancelled else "fulfilled"
            state.challenges[number] = Challenge(number, pool, player, 9, at, rules.deadline_of(at), 1, how)
            used[week, player, pool] = used.get((week, player, pool), 0) + (not cancelled)


# --- deadline, reminders, what fulfils it -----------------------------------------------------------------


@given(instants, st.integers(-10 * 24 * HOUR_MS, 10 * 24 * HOUR_MS))
def test_reminders_72_and_24_hours_before_the_deadline(deadline: int, before: int) -> None:
    after = deadline + before
    found = rules.next_reminder(deadline, after)
    wanted = [at for at in (deadline - 72 * HOUR_MS, deadline - 24 * HOUR_MS) if at > after]
    assert found == (wanted[0] if wanted else None)


def challenge(**changes: object) -> Challenge:
    values: dict[str, object] = {
        "number": 5, "pool": POOL, "challenger": A, "opponent": B, "issued_at": NOW,
        "deadline": rules.deadline_of(NOW), "seq": 1,
    }  # fmt: skip
    return Challenge(**(values | changes))  # type: ignore[arg-type]


def test_the_opponent_has_7_times_24_hours() -> None:
    assert rules.deadline_of(NOW) == ms("2026-12-07 12:00")


@pytest.mark.parametrize(
    ("posted", "counts"),
    [(NOW - 1, False), (NOW, True), (ms("2026-12-07 12:00") - 1, True), (ms("2026-12-07 12:00"), False)],
)
def test_posted_after_issue_and_before_the_deadline(posted: int, counts: bool) -> None:
    """§9: the posting decides; at the deadline is late."""
    assert rules.fulfils(challenge(), POOL, [line(A, "W", B)], posted) is counts


@pytest.mark.parametrize(
    ("lines", "pool", "counts"),
    [
        ([line(B, "D", A)], POOL, True),
        ([line(C, "W", D), line(A, "L", B)], POOL, True),
        ([line(A, "W", C)], POOL, False),
        ([line((A, C), "W", (B, D))], PAIRS, False),
        ([line(A, "W", B)], PAIRS, False),
    ],
)
def test_any_game_of_the_two_in_that_pool(lines: list[GameLine], pool: str, counts: bool) -> None:
    assert rules.fulfils(challenge(), pool, lines, NOW + HOUR_MS) is counts


# --- what forbids it --------------------------------------------------------------------------------------


def league(*ratings: float) -> Rows:
    rows = Rows(clock=ms("2026-11-01 12:00"))
    rows.register(*(ratings or (2000.0,) * 4))
    return rows


def obstacle(rows: Rows, challenger: int = A, opponent: int = B, **options: object) -> Obstacle | None:
    values: dict[str, object] = {"pool": POOL, "at": NOW, "masked": None} | options
    state = rows.book().state.fork()  # as a transaction sees it
    return rules.obstacle(state, challenger=challenger, opponent=opponent, **values)  # type: ignore[arg-type]


def test_nothing_forbids_it() -> None:
    assert obstacle(league()) is None


def test_side_size_self_and_the_masked_player() -> None:
    assert obstacle(league(), pool=PAIRS) == Obstacle("side_size")
    assert obstacle(league(), opponent=A) == Obstacle("self")
    assert obstacle(league(), masked=B) == obstacle(league(), masked=A) == Obstacle("masked")


def test_the_challenger_must_be_able_to_play_and_the_opponent_too() -> None:
    """L11, L8, L7."""
    rows = league(2200.0, 2000.0)
    found = obstacle(rows)
    assert (
        found is not None and found.why == "challenger_barred" and found.bar is not None and found.bar.clause == "L11"
    )
    found = obstacle(rows, B, A)
    assert found is not None and found.why == "barred" and found.bar is not None and found.bar.clause == "L11"
    rows.add(IpChecked(A, True))
    assert obstacle(rows) is None
    rows.add(LeaveTaken(B, ms("2027-01-01"), (POOL,)), pool="")
    found = obstacle(rows)
    assert found is not None and found.why == "barred" and found.bar is not None and found.bar.clause == "L8"
    assert obstacle(rows, at=ms("2027-02-01")) == Obstacle("archived")
    found = obstacle(rows, B, A)
    assert found is not None and found.why == "challenger_barred"


def test_one_open_challenge_of_the_same_two_whoever_issued_it() -> None:
    rows = league()
    rows.add(ChallengeIssued(1, B, A, NOW + DAY_MS), pool=POOL)
    assert obstacle(rows) == obstacle(rows, B, A) == Obstacle("open", number=1, until=NOW + DAY_MS)
    assert obstacle(rows, A, C) is None
    rows.add(ChallengeFulfilled(1, 1), pool=POOL)
    assert obstacle(rows) is None


def test_a_locked_pair_until_both_have_repaid() -> None:
    """L6."""
    rows = league()
    rows.play([line(A, "W", B)] * 4)
    assert obstacle(rows) == Obstacle("locked", owed={A: 4, B: 4})
    rows.play([line(A, "D", C)] * 4)
    assert obstacle(rows) == Obstacle("locked", owed={A: 0, B: 4})
    rows.play([line(B, "D", D)] * 4)
    assert obstacle(rows) is None
    rows.play([line(A, "W", B)] * 4)
    assert obstacle(rows, at=ms("2027-01-05")) is None  # a new season starts unlocked


def test_the_quota_names_what_used_it_and_when_the_next_one_is() -> None:
    rows = league()
    rows.add(ChallengeIssued(1, A, C, NOW + DAY_MS), at=ms("2026-11-30 00:00"), pool=POOL)
    rows.add(ChallengeForfeited(1, C, 50.0), pool=POOL)
    assert obstacle(rows) == Obstacle("quota", number=1, until=ms("2026-12-07"))
    assert obstacle(rows, at=ms("2026-12-07")) is None
    assert obstacle(rows, at=ms("2026-11-29 23:59")) is None
    rows = league()
    rows.add(ChallengeIssued(1, A, C, NOW + DAY_MS), at=ms("2026-11-30 00:00"), pool=POOL)
    rows.add(ChallengeCancelled(1), pool=POOL)
    assert obstacle(rows) is None


def test_a_lifted_penalty_leaves_the_challenge_lifted_and_takes_nothing() -> None:
    """§10: voided, not booked back; the quota stays used."""
    rows = league()
    rows.add(ChallengeIssued(1, A, B, NOW + DAY_MS), at=NOW, pool=POOL)
    forfeit = rows.add(ChallengeForfeited(1, B, 50.0), at=NOW + DAY_MS, pool=POOL)
    assert rows.book().state.look(POOL, B).rating == 1950.0
    void = rows.add(Void(), refers_to=forfeit.seq)
    book = rows.book()
    assert book.state.look(POOL, B).rating == 2000.0
    assert book.state.challenges[1].state == "lifted"
    assert rules.quota_left(book.state, POOL, A, NOW) == 0
    rows.add(Void(), refers_to=void.seq)
    assert rows.book().state.challenges[1].state == "forfeited"


# --- /推荐对手 ----------------------------------------------------------------------------------------------


def suggested(books: Books, name: str, at: str = "2026-11-30 12:00") -> list[str]:
    found = queries.opponents(books.book(), books.directory, POOL, books.id(name), ms(at))
    return [f"{books.directory.name_of(row.player)}{row.lately}" for row in found.rows]


def test_near_in_rating_and_least_met_lately() -> None:
    books = Books()
    books.join("甲", "乙", "丙", "丁")
    books.join("近", rating=2140.0)
    books.join("远", rating=2160.0)
    books.join("没下过")
    for name in ("甲", "近", "远"):
        books.play(f"{name} 平 陪练", at="2026-01-05 20:00")
    books.play("甲 平平 乙", at="2026-11-20 20:00")
    books.play("甲 平 丙", at="2026-11-21 20:00")
    books.play("甲 平平平 丁", at="2026-06-01 20:00")
    assert suggested(books, "甲") == ["近0", "陪练0", "丁0", "丙1", "乙2"]
    assert "没下过0" not in suggested(books, "乙")  # on no board yet


def test_at_most_five() -> None:
    books = Books()
    for name in "一二三四五六七":
        books.play(f"{name} 平 陪练", at="2026-11-20 20:00")
    assert len(suggested(books, "一")) == 5


def test_only_who_may_play_a_counted_game_now() -> None:
    """L6, L8, L11."""
    books = Books()
    books.join("甲", rating=2150.0)
    books.join("没核验", rating=2250.0)
    books.join("请假", "锁住", "可以", rating=2100.0)
    for name in ("没核验", "请假", "可以"):
        books.play(f"甲 平 {name}", at="2026-11-20 20:00")
    books.play("甲 胜胜胜胜 锁住", at="2026-11-21 20:00")
    books.add(LeaveTaken(books.id("请假"), ms("2027-01-01"), (POOL,)), at="2026-11-22", pool="")
    assert suggested(books, "甲") == ["可以1"]
    found = queries.opponents(books.book(), books.directory, POOL, books.id("没核验"), ms("2026-11-30"))
    assert found.rows == () and found.bar is not None and found.bar.clause == "L11"
