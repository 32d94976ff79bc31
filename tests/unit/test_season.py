"""L7, L8, L10 (§8): who is archived and barred, by the rules' own words and by the Book; numbers by their dates."""

import re
from datetime import date
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.rating_bot.wording import rules as rules_wording
from rating_core.book import Book
from rating_core.ledger import Adjustment, IpChecked, LeaveTaken, OpeningBalance, PlayerRegistered, Settlement, Void
from rating_core.rulebook import MASKED_INITIAL, MASKED_NAME, SEASON_GAMES
from rating_core.rules import season
from rating_core.rules.display import Display, shown_rating
from rating_core.rules.eligibility import Bar, bar_of
from rating_core.state import Standing
from rating_core.times import DAY_MS, season_of, season_start
from tests.support.rows import Rows, line, ms, standing

POOL, PAIRS = "单跳1v1", "单跳2v2"
A, B, C, D = 1, 2, 3, 4
FEBRUARY = ms("2027-02-01")


def rows_of(*initials: float) -> Rows:
    rows = Rows(clock=ms("2026-01-01 12:00"))
    rows.register(*(initials or (2000.0,) * 4))
    return rows


def draws(rows: Rows, left: int, right: int, count: int, at: str, confirmed_at: str | None = None) -> None:
    """Enter one report of drawn casual games."""
    late = None if confirmed_at is None else ms(confirmed_at)
    rows.play([line(left, "D", right)] * count, at=ms(at), confirmed_at=late)


def reason(book: Book, player: int, year: int = 2026) -> str | None:
    verdict = season.verdict_on(book.state, POOL, player, year)
    return None if verdict is None else verdict.reason


# --- judge() against the rules' own words -----------------------------------------------------------------

seasons = st.integers(2016, 2030)
ratings = st.one_of(st.sampled_from([2199.999, 2200.0, 2200.001]), st.floats(1500, 2600))


@st.composite
def standings(draw: st.DrawFn) -> tuple[Standing, int, bool]:
    year = draw(seasons)
    end = season_start(year + 1)
    near = st.one_of(
        st.sampled_from([end - 7 * DAY_MS - 1, end - 7 * DAY_MS, end - 1, end, end + 1]),
        st.integers(end - 800 * DAY_MS, end + 40 * DAY_MS),
    )
    moment = st.one_of(st.just(0), near)
    drawn = draw(st.dictionaries(st.integers(year - 2, year + 3), st.tuples(st.integers(0, 30), ratings), max_size=5))
    found = standing(
        draw(ratings),
        {each: games for each, (games, _) in drawn.items()},
        {each: carried for each, (_, carried) in drawn.items()},
        first_at=draw(moment),
        opened_at=draw(moment),
        archived=draw(st.booleans()),
        archived_at=draw(near),
        back_at=draw(moment),
    )
    return found, year, draw(st.booleans())


@given(standings())
def test_verdicts_say_what_the_clauses_say(case: tuple[Standing, int, bool]) -> None:
    """L7, L8, L10 in other words: who has 10 games stays; who was not there or was archived is left alone."""
    man, year, on_leave = case
    end = season_start(year + 1)
    started = [at for at in (man.first_at, man.opened_at) if at > 0]
    was_there = any(at < end for at in started)
    was_archived = man.archived and man.archived_at < end
    came_back_later = man.back_at >= end
    brought_on = [man.carried[later] for later in range(year + 1, year + 4) if later in man.carried]
    ending = [*brought_on, man.rating][0]
    if not was_there or was_archived or came_back_later:
        expected = "nothing to judge"
    elif man.season_games.get(year, 0) >= 10:  # 截止到年底10盘比赛以上
        expected = "final ranking"
    elif on_leave:  # 请假后可以不扣分进入封存名单
        expected = "leave"
    elif ending >= 2200:  # 2200分以上棋手除请假外可以不进入封存名单
        expected = "high_rating"
    elif min(started) >= end - 7 * 24 * 3600 * 1000 and not man.opened_at:  # 最后一周新打榜人员不受此限制
        expected = "newcomer"
    else:  # 否则扣除20分后进入封存名单
        expected = "few_games"
    verdict = season.judge(man, year, on_leave=on_leave)
    if verdict is None:
        assert expected in ("nothing to judge", "final ranking")
    else:
        assert verdict.reason == expected
        assert verdict.taken == (20.0 if expected == "few_games" else 0.0)
        assert verdict.archived == (expected in ("few_games", "leave"))


# --- a season is judged as it ended -----------------------------------------------------------------------


def test_l10_goes_by_the_rating_with_which_the_season_ended() -> None:
    """§8: a player of 2200 who loses in January stays exempt; what the season's own late games do counts."""
    rows = rows_of(2000.0, 2205.0, 2195.0, 2200.0)
    for player in (B, C, D):
        rows.add(IpChecked(player, True))
    draws(rows, C, D, 1, "2026-03-01")
    rows.play([line(A, "L", B)], at=ms("2026-12-30"), confirmed_at=ms("2026-12-30"))
    rows.play([line(A, "W", B), line(A, "W", B)], at=ms("2027-01-02"))
    book = rows.book()
    assert book.state.look(POOL, B).rating < 2200 <= book.state.look(POOL, B).rating_after(2026)
    assert (reason(book, B), reason(book, C)) == ("high_rating", "few_games")
    # a game of December confirmed in January is the season's: it takes D under 2200
    rows.play([line(A, "W", D)], at=ms("2026-12-31"), confirmed_at=ms("2027-01-03"))
    assert reason(rows.book(), D) == "few_games"


def test_a_game_of_december_confirmed_in_january_counts_for_the_season() -> None:
    """§1 D: a game's time is that of its report."""
    rows = rows_of()
    draws(rows, A, B, 9, "2026-05-01")
    draws(rows, C, D, 1, "2026-05-01")
    assert reason(rows.book(), A) == "few_games"
    draws(rows, A, C, 1, "2026-12-31 23:59:59", "2027-01-02")
    assert reason(rows.book(), A) is None
    draws(rows, B, D, 1, "2027-01-01", "2027-01-02")
    assert reason(rows.book(), B) == "few_games"


def test_who_was_archived_when_the_season_ended_is_left_alone_also_after_coming_back() -> None:
    rows = rows_of()
    draws(rows, A, B, 1, "2025-05-01")
    rows.add(Settlement(2025, season.return_day(2025), ((A, 20.0),)), pool=POOL, at=ms("2026-01-03"))
    draws(rows, B, C, 10, "2026-06-01")
    assert reason(rows.book(), A) is None
    assert bar_of(rows.book().state, POOL, A, ms("2027-01-05")) is None
    draws(rows, A, B, 1, "2027-01-05")
    book = rows.book()
    assert not book.state.look(POOL, A).archived
    assert reason(book, A) is None


def test_a_leave_archives_once_and_its_player_returns_in_the_next_season() -> None:
    """L8: on leave until the season's end; the settlement neither takes points nor archives him again."""
    rows = rows_of()
    draws(rows, A, B, 2, "2026-05-01")
    draws(rows, B, C, 10, "2026-06-01")
    rows.add(LeaveTaken(A, season_start(2027), (POOL,)), at=ms("2026-12-20"))
    assert bar_of(rows.book().state, POOL, A, ms("2026-12-31 23:59:59")) == Bar(A, "L8", season_start(2027))
    assert bar_of(rows.book().state, POOL, A, season_start(2027)) is None
    assert reason(rows.book(), A) is None
    draws(rows, A, B, 1, "2027-01-02")
    book = rows.book()
    assert (book.state.look(POOL, A).archived, reason(book, A)) == (False, None)


def test_a_leave_keeps_who_fell_under_ten_games_by_a_correction_from_losing_points() -> None:
    rows = rows_of()
    draws(rows, A, B, 9, "2026-05-01")
    tenth = rows.play([line(A, "D", C)], at=ms("2026-05-02"))
    rows.play([line((A, B), "D", (C, D))], at=ms("2026-05-03"), pool=PAIRS)
    rows.add(LeaveTaken(A, season_start(2027), (PAIRS,)), at=ms("2026-12-20"))
    assert reason(rows.book(), A) is None
    rows.add(Void(), refers_to=tenth.seq, at=ms("2026-12-30"))
    assert reason(rows.book(), A) == "leave"


def test_a_leave_taken_in_january_does_not_save_from_the_settlement() -> None:
    rows = rows_of()
    draws(rows, A, B, 2, "2026-05-01")
    rows.add(LeaveTaken(A, season_start(2028), (POOL,)), at=ms("2027-01-02"))
    book = rows.book()
    assert book.state.look(POOL, A).archived
    assert reason(book, A) == "few_games"
    rows.add(Settlement(2026, FEBRUARY, ((A, 20.0),)), pool=POOL, at=ms("2027-01-05"))
    standing = rows.book().state.look(POOL, A)
    assert (standing.rating, standing.archived, standing.barred_until) == (1980.0, True, season_start(2028))


@pytest.mark.parametrize(("played", "archived"), [("2027-01-31 23:59:59", True), ("2027-02-01", False)])
def test_a_settlement_in_march_takes_points_but_leaves_who_is_back(played: str, archived: bool) -> None:
    """§8 D: a late execution opens no gap, and takes nobody off the board who came back by the rules."""
    rows = rows_of()
    draws(rows, A, B, 2, "2026-05-01")
    draws(rows, A, B, 1, played)
    rows.add(Settlement(2026, FEBRUARY, ((A, 20.0),)), pool=POOL, at=ms("2027-03-01"))
    standing = rows.book().state.look(POOL, A)
    assert (standing.rating, standing.archived) == (1980.0, archived)


def test_the_masked_player_is_never_judged() -> None:
    """L13, §8."""
    rows = rows_of()
    rows.add(PlayerRegistered(5, MASKED_INITIAL, MASKED_NAME))
    rows.play([line(5, "L", A)] * 4, at=ms("2026-05-01"))
    rows.add(Adjustment(5, -200.0), pool=POOL, at=ms("2026-05-02"))
    book = rows.book()
    assert reason(book, 5) is None and reason(book, A) == "few_games"
    assert bar_of(book.state, POOL, 5, ms("2027-01-05")) is None


# --- the bar from 01-01 -----------------------------------------------------------------------------------


def test_from_the_first_of_january_whoever_will_be_archived_is_barred() -> None:
    """§8 D; the bar of the executed settlement takes over without a gap."""
    rows = rows_of()
    draws(rows, A, B, 9, "2026-05-01")
    draws(rows, B, C, 1, "2026-05-01")
    state = rows.book().state
    pending = Bar(A, "L7", FEBRUARY, pending=True)
    for at, expected in (
        ("2026-12-31 23:59:59", None), ("2027-01-01", pending), ("2027-01-31 23:59:59", pending), ("2027-02-01", None),
    ):  # fmt: skip
        assert bar_of(state, POOL, A, ms(at)) == expected
        assert bar_of(state, POOL, B, ms(at)) is None  # ten games
        assert bar_of(state, PAIRS, A, ms(at)) is None  # never played there
    rows.add(Settlement(2026, FEBRUARY, ((A, 20.0),)), pool=POOL, at=ms("2027-01-10"))
    book = rows.book()
    assert bar_of(book.state, POOL, A, ms("2027-01-31 23:59:59")) == Bar(A, "L7", FEBRUARY)
    assert bar_of(book.state, POOL, A, FEBRUARY) is None
    # after a settlement nobody else is judged, whatever is corrected
    book.advance([rows.add(Void(), refers_to=6, at=ms("2027-01-12"))])
    assert reason(book, B) == "few_games"
    assert bar_of(book.state, POOL, B, ms("2027-01-13")) is None
    # rolled back, the bar from 01-01 holds again
    book.advance([rows.add(Void(), refers_to=7, at=ms("2027-01-14"))])
    assert bar_of(book.state, POOL, A, ms("2027-01-15")) == pending
    assert bar_of(book.state, POOL, B, ms("2027-01-15")) == Bar(B, "L7", FEBRUARY, pending=True)


def test_who_was_brought_in_later_is_not_judged_for_the_season_before() -> None:
    rows = rows_of()
    rows.add(OpeningBalance(A, 2050.0, 5, 0, 5, ms("2027-01-05")), pool=POOL)
    rows.add(OpeningBalance(B, 2050.0, 5, 0, 5, ms("2026-12-31")), pool=POOL)
    state = rows.book().state
    assert bar_of(state, POOL, A, ms("2027-01-06")) is None
    assert bar_of(state, POOL, B, ms("2027-01-06")) == Bar(B, "L7", FEBRUARY, pending=True)


# --- leave ------------------------------------------------------------------------------------------------


def test_a_leave_archives_where_he_has_fewer_than_ten_games() -> None:
    """L8: 如达不到10盘比赛可以请假; pools where he never played, or is archived, are not touched."""
    rows = rows_of()
    draws(rows, A, B, 9, "2026-05-01")
    rows.play([line((A, B), "D", (C, D))] * 10, at=ms("2026-05-03"), pool=PAIRS)
    assert season.leave_pools(rows.book().state, A, 2026) == season.LeavePools(((POOL, 9),), ((PAIRS, 10),), ())
    assert season.leave_pools(rows.book().state, A, 2027) == season.LeavePools(((POOL, 0), (PAIRS, 0)), (), ())
    rows.add(Settlement(2026, FEBRUARY, ((A, 20.0),)), pool=POOL, at=ms("2027-01-10"))
    assert season.leave_pools(rows.book().state, A, 2027) == season.LeavePools(((PAIRS, 0),), (), (POOL,))
    assert season.leave_pools(rows.book().state, C, 2026).archived == ()


def test_the_last_three_days() -> None:
    """L8 D: from 12-29 00:00:00 there is no leave."""
    assert season.leave_closes(2026) == ms("2026-12-29")
    assert season.leave_closes(2016) == ms("2016-12-29")


# --- rules by their dates ---------------------------------------------------------------------------------


def test_a_history_from_2016_replays_by_the_rules_of_its_dates() -> None:
    """L12: N is 10 until 2016-12-31 and 20 from 2017-01-01; L7's ten hold in both years."""
    rows = Rows(clock=ms("2016-03-02 12:00"))
    rows.register(2000, 2000, 2000, 2000)
    draws(rows, A, B, 10, "2016-05-01")
    draws(rows, C, D, 3, "2016-06-01")
    book = rows.book()
    a, c = book.state.look(POOL, A), book.state.look(POOL, C)
    old, new = ms("2016-12-31 23:59:59"), ms("2017-01-01")
    assert [Display.on(at).needed for at in (old, new)] == [10, 20]
    assert [shown_rating(a, at) for at in (old, new)] == [2000, 1900]
    assert [shown_rating(c, at) for at in (old, new)] == [1930, 1830]
    assert [reason(book, player, 2016) for player in (A, B, C, D)] == [None, None, "few_games", "few_games"]
    assert season_of(bar_of(book.state, POOL, C, new).until) == 2017  # type: ignore[union-attr, arg-type]
    rows.add(Settlement(2016, season.return_day(2016), ((C, 20.0), (D, 20.0))), pool=POOL, at=ms("2017-01-02"))
    draws(rows, C, A, 1, "2017-02-01")
    book = rows.book()
    assert not book.state.look(POOL, C).archived and book.state.look(POOL, D).archived
    assert [reason(book, player, 2017) for player in (A, B, C, D)] == ["few_games"] * 3 + [None]


# --- /规则 tells the truth --------------------------------------------------------------------------------


def told(word: str, day: date) -> str:
    (clause,) = (c for c in rules_wording.CLAUSES if c.key == word)
    return normalize("NFKC", rules_wording.clause(clause, day))


@pytest.mark.parametrize("day", [date(2016, 12, 31), date(2026, 11, 30)])
def test_what_is_told_of_the_season_is_what_is_done(day: date) -> None:
    """L7, L8, L10 as told: the numbers with which the functions judge."""
    year = day.year
    seven, eight, ten = (told(word, day) for word in ("L7", "L8", "L10"))
    needed = SEASON_GAMES.on(day)
    for games, word in ((needed - 1, "few_games"), (needed, None)):
        verdict = season.judge(standing(2000, {year: games}, first_at=1), year, on_leave=False)
        assert (verdict.reason if verdict else None) == word
    few = season.judge(Standing(2000, first_at=1), year, on_leave=False)
    assert few is not None
    assert f"不满{needed}局计分棋的,扣{few.taken:g}分并封存" in seven
    back = season.return_day(year)
    assert "2月1日起才能再参赛" in seven and back == ms(f"{year + 1}-02-01")
    days = re.search("最后([0-9]+)天内才下第一局", seven)
    assert days is not None
    first = season_start(year + 1) - int(days[1]) * DAY_MS
    for at, word in ((first, "newcomer"), (first - 1, "few_games")):
        verdict = season.judge(Standing(2000, first_at=at), year, on_leave=False)
        assert verdict is not None and verdict.reason == word
    closes = re.search("12月([0-9]+)日起", eight)
    assert closes is not None and season.leave_closes(year) == ms(f"{year}-12-{closes[1]}")
    assert f"不满{needed}局的,可以请假" in eight and "不扣分" in eight
    rating = re.search("实际分([0-9]+)以上", ten)
    assert rating is not None
    for value, word in ((float(rating[1]), "high_rating"), (float(rating[1]) - 0.001, "few_games")):
        verdict = season.judge(Standing(value, first_at=1), year, on_leave=False)
        assert verdict is not None and verdict.reason == word
