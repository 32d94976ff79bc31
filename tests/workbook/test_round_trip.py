"""Out and in again: a workbook imported into an empty book makes the same book, and the same workbook."""

import io
from typing import Any

import pytest
from python_calamine import CalamineWorkbook

from rating_core.check import Replay
from rating_core.directory import Actor
from rating_core.importing.detect import read_file
from rating_core.importing.files import GameFile
from rating_core.importing.games_entries import plan_games
from rating_core.importing.games_outcome import outcome
from rating_core.importing.games_plan import GamesPlan, Numbers, Options
from rating_core.importing.games_writer import enter, last_numbers
from rating_core.ledger import GENESIS, Draft, PlayerRegistered
from rating_core.service.health import examine
from rating_core.service.league import League
from rating_core.state import Standing, State
from rating_core.store.import_store import ImportStore
from rating_core.store.ledger_store import LedgerStore
from rating_core.store.people_store import Counters
from rating_core.workbook.export import export
from rating_core.workbook.layout import CHANGES
from tests.conftest import FakeClock
from tests.support.books import Books
from tests.support.leagues import PAIRS, large, rich
from tests.support.rows import ms

NOW = ms("2026-11-30 12:08")
close = pytest.approx


def exported(league_or_books: League | Books) -> bytes:
    stream = io.BytesIO()
    book = league_or_books.book if isinstance(league_or_books, League) else league_or_books.book()
    export(book, league_or_books.directory, NOW, stream)
    return stream.getvalue()


async def imported(league: League, data: bytes) -> GamesPlan:
    """Import a workbook as the shell does."""
    file = read_file(data)
    assert isinstance(file, GameFile)
    async with league.transaction() as tx:
        plan = plan_games(file, tx.book, tx.directory, await last_numbers(tx.counters), Options(), tx.now)
        assert plan.problems == () and plan.unknown == ()
        await enter(tx, Actor(""), plan, "0" * 64, tx.now)
    return plan


def sheets(data: bytes) -> dict[str, list[list[Any]]]:
    """Return every cell but the numbers of ledger rows, which an import counts anew."""
    book = CalamineWorkbook.from_filelike(io.BytesIO(data))
    found = {name: book.get_sheet_by_name(name).to_python(skip_empty_area=False) for name in book.sheet_names}
    for row in found[CHANGES][1:]:
        row[0] = None
    return found


def by_name(state: State, name_of: Any) -> dict[tuple[str, str], Standing]:
    return {
        (pool, name_of(player)): standing
        for pool, each in state.pools.items()
        for player, standing in each.standings.items()
    }


@pytest.mark.parametrize("books", [rich(), large(600, 40), large(300, 30, pool=PAIRS)], ids=["rich", "large", "pairs"])
async def test_the_same_book_comes_back(league: League, books: Books) -> None:
    book, first = books.book(), exported(books)
    await imported(league, first)
    again = exported(league)
    assert sheets(again) == sheets(first)

    ours, theirs = league.book, book
    assert list(ours.columns.flags) == list(theirs.columns.flags)
    assert list(ours.columns.at) == list(theirs.columns.at)
    assert list(ours.columns.number) == list(theirs.columns.number)
    assert list(ours.columns.report) == list(theirs.columns.report)
    standings = by_name(ours.state, league.directory.name_of)
    expected = by_name(theirs.state, books.directory.name_of)
    assert standings.keys() == expected.keys()
    for key, standing in standings.items():
        other = expected[key]
        assert standing.rating == close(other.rating, abs=1e-9)
        assert standing.carried == close(other.carried, abs=1e-9)
        assert (standing.peak is None) == (other.peak is None)
        assert standing.peak is None or standing.peak == close(other.peak, abs=1e-9)
        twin = other.copy()
        twin.rating, twin.brought, twin.peak = standing.rating, standing.brought, standing.peak
        assert (standing.season_games, standing.season_event_games) == (other.season_games, other.season_event_games)
        twin.earlier = standing.earlier
        assert standing == twin, key
    assert ours.state.settled.keys() == theirs.state.settled.keys()
    assert [(m.kind, m.at, m.pool) for m in ours.marks] == [(m.kind, m.at, m.pool) for m in theirs.marks]


async def test_what_was_imported_is_a_ledger_like_any(league: League) -> None:
    await imported(league, exported(rich()))
    found = await examine(league)
    assert found.well and found.games == len(league.book.columns)
    async with league.database.read() as connection:
        rows = [row async for row in LedgerStore(connection).rows_after(0)]
    fresh = Replay({n: p.pool for n, p in league.book.state.pools.items()})
    fresh.read(rows)
    assert (fresh.broken, fresh.wrong) == (None, None) and fresh.book.hash == league.book.hash
    directory = league.directory
    assert directory.roster.resolve("错名") == directory.roster.resolve("<b>&甲</b>")
    assert directory.masked is not None and set(directory.events.values()) == {"皇后杯", "鬼面赛"}
    async with league.transaction() as tx:
        report = await tx.reports.get(3)
        assert report is not None and report.seq is not None
        row = await tx.ledger.row(report.seq)
        assert row is not None and row.kind == "games"
        assert report.decided_at == row.said_at and report.lines == row.entry().lines
        assert await tx.counters.take("game") == league.book.columns.number[-1] + 1
        assert await tx.counters.take("report") == max(league.book.columns.report) + 1


async def test_what_it_would_be_is_what_it_becomes(league: League) -> None:
    file = read_file(exported(rich()))
    assert isinstance(file, GameFile)
    async with league.transaction() as tx:
        plan = plan_games(file, tx.book, tx.directory, await last_numbers(tx.counters), Options(), tx.now)
        found = outcome(plan, tx.book, tx.directory)
        await enter(tx, Actor(""), plan, "0" * 64, tx.now)
    assert found.differences.compared > 80 and found.differences.count == 0
    assert by_name(found.book.state, found.directory.name_of) == by_name(league.book.state, league.directory.name_of)
    assert found.void == 2 and found.uncounted == 2


async def test_play_goes_on_after_it(league: League, clock: FakeClock) -> None:
    """A second workbook is refused: the pools are not empty any more."""
    data = exported(rich())
    await imported(league, data)
    file = read_file(data)
    assert isinstance(file, GameFile)
    async with league.transaction() as tx:
        plan = plan_games(file, tx.book, tx.directory, await last_numbers(tx.counters), Options(), tx.now)
    codes = {problem.code for problem in plan.problems}
    assert {"pool_has_later"} <= codes and not plan.clear and plan.drafts == ()


async def test_all_or_nothing(league: League, monkeypatch: pytest.MonkeyPatch) -> None:
    """What fails after the entries were written leaves neither entries nor names, numbers or the file's hash."""
    data = exported(rich())

    async def fail(*_: object) -> None:
        raise OSError("disk full")

    with monkeypatch.context() as patched:
        patched.setattr(ImportStore, "add", fail)
        with pytest.raises(OSError, match="disk full"):
            await imported(league, data)
    assert league.book.seq == 0 and len(league.directory.roster) == 0 and league.directory.events == {}
    async with league.database.read() as connection:
        assert await LedgerStore(connection).head() == (0, GENESIS)
        assert await last_numbers(Counters(connection)) == Numbers()
    await imported(league, data)
    assert len(league.book.columns) > 20


async def test_a_plan_is_never_applied_to_another_book(league: League) -> None:
    file = read_file(exported(rich()))
    assert isinstance(file, GameFile)
    async with league.transaction() as tx:
        plan = plan_games(file, tx.book, tx.directory, await last_numbers(tx.counters), Options(), tx.now)
        await tx.append(Draft(PlayerRegistered(99, 2000.0, "普通"), tx.now, 0))
        with pytest.raises(ValueError, match="book of which it was made"):
            await enter(tx, Actor(""), plan, "0" * 64, tx.now)


async def test_who_was_forgotten_is_nobody_there_either(league: League) -> None:
    """His games come back, his name does not: not even what stands in its place becomes a name."""
    books = large(60, 8)
    him = books.directory.name_of(3)
    books.directory.roster.remove(him)
    first = exported(books)
    await imported(league, first)
    names = league.directory.roster.current_names()
    assert len(names) == len(books.book().state.initial) - 1
    assert him not in names.values() and not [name for name in names.values() if "已注销" in name]
    (nobody,) = set(league.book.state.initial) - set(names)
    assert league.directory.name_of(nobody) == f"已注销{nobody}"
    standing, other = league.book.state.look("单跳1v1", nobody), books.book().state.look("单跳1v1", 3)
    assert standing.games == other.games > 0 and standing.rating == close(other.rating, abs=1e-9)
    again = read_file(exported(league))  # into the same league it names who is there
    assert isinstance(again, GameFile)
    async with league.transaction() as tx:
        plan = plan_games(again, tx.book, tx.directory, await last_numbers(tx.counters), Options(), tx.now)
    assert plan.new_players == ()
