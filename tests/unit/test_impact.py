"""What a correction changes (rulebook §10): every figure that differs is listed, and nothing else."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rating_core import book as book_module
from rating_core.book import Book
from rating_core.check import TOLERANCE, difference
from rating_core.columns import VOID
from rating_core.directory import Directory
from rating_core.ledger import (
    Adjustment,
    Amend,
    ChallengeForfeited,
    ChallengeFulfilled,
    ChallengeIssued,
    Draft,
    Entry,
    Games,
    LeaveTaken,
    ListPublished,
    Merged,
    OpeningBalance,
    PlayerRegistered,
    Row,
    Settlement,
    Void,
)
from rating_core.queries import board
from rating_core.roster import Roster
from rating_core.rules import season
from rating_core.service.impact import Impact, changed_games, compare
from rating_core.times import DAY_MS
from tests.support.books import Books
from tests.support.rows import Rows, ms
from tests.unit.test_book_properties import PLAYERS, POOL, Writer, ledgers, numbers, written


@pytest.fixture(params=[1, 2000], scope="module", autouse=True)
def checkpoints(request: pytest.FixtureRequest) -> Iterator[int]:
    """Take a checkpoint every so many games."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(book_module, "CHECKPOINT_GAMES", request.param)
        yield request.param


DIRECTORY = Directory(Roster((f"棋手{player}", player, True) for player in range(1, PLAYERS + 1)))


Figures = tuple[float, float, tuple[object, ...]]


def figures(book: Book, pool: str, at: int) -> dict[int, Figures]:
    """Return rating, peak (−1 without one), and games, rank, archived of everybody, the slow way."""
    ranks = {row.player: row.rank for row in board(book, DIRECTORY, pool, at).rows}
    found: dict[int, Figures] = {}
    for player in range(1, PLAYERS + 1):
        standing = book.state.look(pool, player)
        peak = -1.0 if standing.peak is None else standing.peak
        found[player] = standing.rating, peak, (standing.games, ranks.get(player), standing.archived)
    return found


def differ(a: Figures, b: Figures) -> bool:
    return abs(a[0] - b[0]) > TOLERANCE or abs(a[1] - b[1]) > TOLERANCE or a[2] != b[2]


def check_listed(before: Book, after: Book, at: int) -> Impact:
    """Check that `compare` lists exactly the players and games that differ; return what it says."""
    impact = compare(before, after, DIRECTORY, at)
    expected = set()
    for pool in after.state.pools:
        was, now = figures(before, pool, at), figures(after, pool, at)
        expected |= {(pool, player) for player in was if differ(was[player], now[player])}
    assert {(change.pool, change.player) for change in impact.people} == expected
    changed, rewritten = [], []
    for index in range(len(before.columns)):
        one, other = (
            (c.left(index), c.right(index), c.result[index], c.flags[index] & VOID, c.event[index], c.weight[index])
            for c in (before.columns, after.columns)
        )
        moved = any(
            abs(before.columns.change[slot][index] - after.columns.change[slot][index]) > TOLERANCE
            for slot in before.columns.slots
        )
        if one != other:
            rewritten.append(before.columns.number[index])
        if one != other or moved or before.columns.flags[index] != after.columns.flags[index]:
            changed.append(before.columns.number[index])
    assert [before.columns.number[index] for index in changed_games(before, after)] == changed
    assert impact.games == len(changed)
    assert [change.number for change in impact.rewritten] == rewritten
    return impact


def merge_for(writer: Writer, n: list[int]) -> Merged | None:
    """Return a merge of two players who never met; None where all did."""
    met = {frozenset(player for _, player in writer.live.columns.members(i)) for i in range(len(writer.live.columns))}
    pairs = [(a, b) for a in range(1, PLAYERS + 1) for b in range(1, PLAYERS + 1) if a != b]
    free = [pair for pair in pairs if not any(set(pair) <= game for game in met)]
    return Merged(*free[n[0] % len(free)]) if free else None


@settings(max_examples=60)
@given(ledgers, st.lists(numbers, min_size=8, max_size=8))
def test_every_figure_that_differs_is_listed_and_a_fresh_fold_agrees(
    plan: list[tuple[str, list[int]]], n: list[int]
) -> None:
    writer = written(plan)
    before, count = writer.live.fork(), len(writer.rows)
    writer.write("correct", n)
    if len(writer.rows) == count:
        return
    row = writer.rows[-1]
    draft = Draft(row.entry(), row.said_at, row.actor, row.pool, row.refers_to)
    after = before.with_drafts([draft])
    assert (after.seq, after.hash) == (row.seq, row.hash)
    assert difference(after, writer.book()) is None
    check_listed(before, after, writer.clock)


@settings(max_examples=60)
@given(ledgers, st.lists(numbers, min_size=8, max_size=8))
def test_a_merge_is_as_if_the_wrong_name_had_never_been_used(plan: list[tuple[str, list[int]]], n: list[int]) -> None:
    writer = written(plan)
    merged = merge_for(writer, n)
    if merged is None:
        return
    before = writer.live.fork()
    row = writer.add(merged)
    check_listed(before, writer.live, writer.clock)
    assert difference(writer.live, writer.book()) is None
    right = Rows()
    for old in writer.rows[:-1]:
        right.add(as_right(old.entry(), merged), at=old.said_at, pool=old.pool, refers_to=old.refers_to)
    clean = right.book()
    for name, pool in writer.live.state.pools.items():
        assert pool.standings.keys() - {merged.player} == clean.state.pools[name].standings.keys() - {merged.player}
        for player in pool.standings.keys() - {merged.player}:
            assert pool.standings[player] == clean.state.pools[name].standings[player], (name, player)
        clear = clean.state.pools[name]
        assert (pool.nets, pool.locks) == (clear.nets, clear.locks)
    assert list(writer.live.columns.flags) == list(clean.columns.flags)
    writer.add(Void(), refers_to=row.seq)
    assert writer.live.state == before.state
    assert difference(writer.live, writer.book()) is None


def as_right(entry: Entry, merged: Merged) -> Entry:
    """Return an entry with the right player's number in the wrong one's place."""

    def one(player: int) -> int:
        return merged.into if player == merged.player else player

    match entry:
        case Games():
            lines = tuple(replace(g, left=tuple(map(one, g.left)), right=tuple(map(one, g.right))) for g in entry.lines)
            return replace(entry, lines=lines, announced=None)
        case Amend() if entry.line is not None:
            amended = entry.line
            return replace(
                entry, line=replace(amended, left=tuple(map(one, amended.left)), right=tuple(map(one, amended.right)))
            )
        case Settlement():
            own = dict(v for v in entry.verdicts if v[0] != merged.player)
            wrong = dict(v for v in entry.verdicts if v[0] == merged.player)
            return replace(entry, verdicts=tuple(({one(p): t for p, t in wrong.items()} | own).items()))
        case PlayerRegistered():
            return entry
        case Adjustment() | LeaveTaken():
            return replace(entry, player=one(entry.player))
    player = getattr(entry, "player", None)
    return entry if player is None else replace(entry, player=one(player))  # type: ignore[call-arg]


def test_merges_on_merges_and_the_undoing_of_the_inner_one() -> None:
    books = Books()
    books.play("甲 胜 戊", "乙 负 戊", "丙 平 戊")
    alone = books.book()
    first = books.add(Merged(books.id("甲"), books.id("乙")))
    books.add(Merged(books.id("乙"), books.id("丙")))
    both = books.book()
    assert both.state.look(POOL, books.id("丙")).games == 3
    assert both.merged == {books.id("甲"): books.id("丙"), books.id("乙"): books.id("丙")}
    live = both.fork()
    live.advance([books.add(Void(), about=first)])
    assert live.state.look(POOL, books.id("甲")).games == 1
    assert live.state.look(POOL, books.id("丙")).games == 2
    assert live.state.look(POOL, books.id("甲")) == alone.state.look(POOL, books.id("甲"))
    assert difference(live, books.book()) is None


# --- what stands ----------------------------------------------------------------------------------------------


def settled_league() -> tuple[Books, Row, Row]:
    """甲 and 乙 have ten games, 丙 nine; 丁 all of them: the settlement of 2026 archives 丙."""
    books = Books()
    books.join("甲", "乙", "丙", "丁")
    event = books.event("杯", 1.0)
    row = books.play("甲 胜胜胜胜胜胜胜胜胜胜 丁", at="2026-03-02 20:00", event=event)
    books.play("乙 胜胜胜胜胜胜胜胜胜胜 丁", at="2026-03-03 20:00", event=event)
    books.play("丙 负负负负负负负负负 丁", at="2026-03-04 20:00", event=event)
    found = [(p, v.taken) for p, v in season.verdicts(books.book().state, POOL, 2026) if v.archived]
    assert found == [(books.id("丙"), 20.0)]
    entry = Settlement(2026, season.return_day(2026), tuple(found))
    settlement = books.add(entry, at="2027-01-03 12:00", pool=POOL)
    return books, row, settlement


def test_a_verdict_that_would_now_differ_is_listed_and_stands() -> None:
    """§10, L7: 甲 loses a game and would have been archived; 丙 gets one and would not have been."""
    books, row, settlement = settled_league()
    before = books.book()
    books.amend(row, 1, "丙 胜 丁")
    after = books.book()
    impact = compare(before, after, books.directory, ms("2027-01-04"))
    listed = {(v.season, v.pool, v.seq, v.player, v.stored, v.now) for v in impact.verdicts}
    assert listed == {
        (2026, POOL, settlement.seq, books.id("甲"), None, 20.0),
        (2026, POOL, settlement.seq, books.id("丙"), 20.0, None),
    }
    assert after.state.look(POOL, books.id("丙")).archived
    assert not after.state.look(POOL, books.id("甲")).archived
    # what a later correction does not change is not listed again
    books.amend(row, 2, "甲 平 丁")
    assert compare(after, books.book(), books.directory, ms("2027-01-04")).verdicts == ()


def test_a_settlement_before_the_correction_is_not_judged_again() -> None:
    books, _, _ = settled_league()
    books.play("甲 胜 乙", at="2027-02-02 20:00")
    before = books.book()
    books.add(Adjustment(books.id("丙"), 300.0), at="2027-02-03 12:00", pool=POOL)
    impact = compare(before, books.book(), books.directory, ms("2027-02-04"))
    assert impact.verdicts == ()
    (change,) = impact.own
    assert (change.player, change.moved) == (books.id("丙"), pytest.approx(300.0))


def test_a_verdict_on_a_wrong_name_is_the_right_players() -> None:
    """A merge does not undo a settlement: what the wrong name lost, the right player loses; but nobody twice."""
    books, _, _ = settled_league()
    books.join("丙丙")
    before = books.book()
    books.add(Merged(books.id("丙"), books.id("丙丙")))
    after = books.book()
    right = after.state.look(POOL, books.id("丙丙"))
    assert right == before.state.look(POOL, books.id("丙"))
    assert right.archived
    both = Settlement(2027, season.return_day(2027), ((books.id("甲"), 20.0), (books.id("乙"), 20.0)))
    books.add(both, at="2028-01-03 12:00", pool=POOL)
    books.add(Merged(books.id("甲"), books.id("乙")))
    taken = [m.after - m.before for m in books.book().marks if m.player == books.id("乙") and m.kind == "settlement"]
    assert taken == [-20.0]


def test_a_fulfilled_challenge_whose_game_is_gone_is_listed_and_stands() -> None:
    """§9, §10: fulfilled challenges are never re-decided."""
    books = Books()
    books.join("甲", "乙")
    at = ms("2026-03-02 20:00")
    books.add(ChallengeIssued(1, 1, 2, at + 7 * DAY_MS), at="2026-03-02 20:00", pool=POOL)
    row = books.play("甲 胜平 乙", at="2026-03-04 20:00")
    books.add(ChallengeFulfilled(1, 1), at="2026-03-04 20:00", pool=POOL)
    before = books.book()
    books.void(row, 1)
    one_left = books.book()
    assert compare(before, one_left, books.directory, at).challenges == ()
    books.void(row, 2)
    (change,) = compare(one_left, books.book(), books.directory, at).challenges
    assert (change.was.state, change.now.state, change.played, change.stands) == ("fulfilled", "fulfilled", False, True)


def test_a_penalty_for_a_challenge_that_was_played_after_all_is_listed_and_stands() -> None:
    books = Books()
    books.join("甲", "乙", "丙")
    at = ms("2026-03-02 20:00")
    books.add(ChallengeIssued(1, 1, 2, at + 7 * DAY_MS), at="2026-03-02 20:00", pool=POOL)
    row = books.play("甲 胜 丙", at="2026-03-04 20:00")
    forfeit = books.add(ChallengeForfeited(1, 2, 50.0), at="2026-03-09 20:00", pool=POOL)
    before = books.book()
    books.amend(row, 1, "甲 胜 乙")
    amended = books.book()
    (change,) = compare(before, amended, books.directory, at).challenges
    assert (change.now.state, change.played, change.stands) == ("forfeited", True, True)
    books.void(forfeit)
    (lifted,) = compare(amended, books.book(), books.directory, at).challenges
    assert (lifted.was.state, lifted.now.state, lifted.stands) == ("forfeited", "lifted", False)


# --- figures ----------------------------------------------------------------------------------------------------


def test_a_peak_is_gone_with_the_twentieth_game() -> None:
    """L14, §7: gone if a correction leaves fewer than 20 games."""
    books = Books()
    event = books.event("杯", 1.0)
    row = books.play(*["甲 胜 乙"] * 20, event=event)
    before = books.book()
    books.void(row, 20)
    impact = compare(before, books.book(), books.directory, row.said_at)
    mine = next(change for change in impact.people if change.player == books.id("甲"))
    assert mine.before.peak is not None and mine.after.peak is None
    assert (mine.before.games, mine.after.games) == (20, 19)


def test_who_is_only_passed_is_listed_last_and_not_counted() -> None:
    books = Books()
    books.join("甲", "乙", "丙")
    books.play("甲 平 乙", "丙 胜 乙")
    before = books.book()
    books.add(Adjustment(books.id("乙"), 500.0), pool=POOL)
    impact = compare(before, books.book(), books.directory, books.rows.clock)
    assert [change.player for change in impact.own] == [books.id("乙")]
    assert impact.players == 1
    assert {change.player for change in impact.people} == {books.id("甲"), books.id("乙"), books.id("丙")}
    assert all(change.only_rank for change in impact.people[1:])


def test_published_lists_never_change() -> None:
    books = Books()
    row = books.play("甲 胜 乙")
    standing = books.book().state.look(POOL, books.id("甲"))
    rows = ((books.id("甲"), 1, standing.rating, standing.rating, 1, 0, 0, None, 0),)
    books.add(ListPublished(1, row.said_at, rows), pool=POOL)
    books.void(row)
    (published,) = books.book().state.lists[POOL]
    assert published.rows == rows


def test_an_opening_balance_can_be_undone() -> None:
    books = Books()
    books.join("甲", "乙")
    balance = OpeningBalance(books.id("甲"), 2300.0, 10, 5, 5, ms("2025-12-31"), season_games=20)
    row = books.add(balance, pool=POOL)
    books.play("甲 胜 乙")
    before = books.book()
    books.void(row)
    after = books.book()
    assert after.state.look(POOL, books.id("甲")).games == 1
    assert after.state.look(POOL, books.id("甲")).rating == 2016.0
    assert compare(before, after, books.directory, books.rows.clock).players == 2
