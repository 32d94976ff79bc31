"""What the shell's commands do. `say` takes a line for people; the return value is the exit code."""

from collections.abc import Callable, Iterable
from pathlib import Path

from rich.console import Console
from rich.progress import track

from rating_core import importing
from rating_core.book import Book
from rating_core.check import difference, fold_afresh
from rating_core.directory import Actor, Directory
from rating_core.ledger import LedgerError, Row
from rating_core.queries import Board, board, calculate
from rating_core.report_text import Result
from rating_core.rulebook import DEFAULT_POOL, EVENT_WEIGHTS, POOLS
from rating_core.service.league import League
from rating_core.shell import import_wording, wording
from rating_core.shell.opening import BACKUPS, ShellError, file_of, reading, writing
from rating_core.store.backup import BackupFailed, backup_sqlite
from rating_core.store.database import Database, sqlite_path
from rating_core.store.ledger_store import LedgerStore
from rating_core.times import to_datetime

Say = Callable[[str], None]
Clock = Callable[[], int]


async def _league(database: Database, clock: Clock) -> League:
    try:
        return await League.open(database, clock)
    except LedgerError as error:
        raise ShellError(wording.unreadable_ledger(error)) from error


# --- board, calc ------------------------------------------------------------------------------------------


async def show_board(url: str, pool: str, top: int | None, as_json: bool, clock: Clock, say: Say) -> int:
    """Print a pool's board."""
    if pool not in POOLS:
        raise ShellError(wording.bad_pool(pool))
    async with reading(url) as database:
        league = await _league(database, clock)
    found = board(league.book, league.directory, pool, clock())
    say(wording.board_json(found, top) if as_json else wording.board(found, top))
    return 0


def calc(left: float, word: str, right: float, weight: str, say: Say) -> int:
    """Print the new ratings of both sides with the formula filled in."""
    result = next((result for result in Result if result.word == word), None)
    if result is None:
        raise ShellError(wording.bad_result(word))
    if weight not in EVENT_WEIGHTS:
        raise ShellError(wording.bad_weight(weight))
    say(wording.calculation(calculate([left], result, [right], EVENT_WEIGHTS[weight])))
    return 0


# --- replay -----------------------------------------------------------------------------------------------


async def replay(url: str, verify: bool, say: Say) -> int:
    """Fold the ledger afresh; with `verify` check the hash chain and the announced figures too. 1 if broken."""
    async with reading(url) as database, database.read() as connection:
        ledger = LedgerStore(connection)
        broken = await ledger.first_broken() if verify else None
        rows = [] if broken is not None else [row async for row in ledger.rows_after(0)]
    if broken is not None:
        say(wording.chain_broken(broken))
        return 1
    try:
        fresh, wrong = fold_afresh(dict(POOLS), _progress(rows))
        if verify and wrong is None:
            live = Book()
            live.advance(rows)
            wrong = difference(live, fresh)
    except LedgerError as error:
        raise ShellError(wording.unreadable_ledger(error)) from error
    _say_figures(fresh, rows, say)
    if not verify:
        return 0
    say(wording.CHAIN_WHOLE)
    say(wording.REPLAY_EQUAL if wrong is None else wording.replay_differs(wrong))
    return 0 if wrong is None else 1


def _progress(rows: list[Row]) -> Iterable[Row]:
    return track(rows, "重算", console=Console(stderr=True), transient=True)


def _say_figures(book: Book, rows: list[Row], say: Say) -> None:
    counted = sum(book.counted(index) for index in range(len(book.columns)))
    corrections = sum(row.kind in ("void", "amend") for row in rows)
    last_at = rows[-1].at if rows else None
    say(wording.replayed(len(rows), last_at, len(book.state.initial), len(book.columns), counted, corrections))
    listed = {name: [s for s in pool.standings.values() if s.listed] for name, pool in book.state.pools.items()}
    lines = [(n, len(found), sum(s.games for s in found), sum(s.rating for s in found)) for n, found in listed.items()]
    if any(line[1] for line in lines):
        say(wording.standings(line for line in lines if line[1]))


# --- backup -----------------------------------------------------------------------------------------------


async def backup(url: str, folder: Path | None, clock: Clock, say: Say) -> int:
    """Copy the SQLite file, also while the bot uses it."""
    path = file_of(url)
    if path is None:
        raise ShellError(wording.NO_BACKUP_HERE)
    label = to_datetime(clock()).strftime("%Y%m%d-%H%M%S")
    try:
        saved = await backup_sqlite(path, folder or path.parent / BACKUPS, label)
    except BackupFailed as error:
        raise ShellError(wording.backup_failed(error)) from error
    say(wording.backed_up(saved, saved.stat().st_size))
    return 0


# --- import -----------------------------------------------------------------------------------------------


async def import_roster(url: str, file: Path, write: bool, clock: Clock, say: Say) -> int:
    """Check a roster file and say what it would do; with `write` do it, everything or nothing. 1 on problems."""
    table = _read(file)
    say(import_wording.read_as(table))
    if write:
        return await _write(url, table, clock, say)
    path = sqlite_path(url)
    if path is not None and not path.is_file():
        book, directory, openings = Book(), Directory(), {}  # day one: there is no league yet
    else:
        async with reading(url) as database:
            league = await _league(database, clock)
            book, directory = league.book, league.directory
            async with database.read() as connection:
                openings = dict(await importing.openings_of(LedgerStore(connection), book))
    plan = importing.plan(table, book, directory, openings, clock())
    if (status := _say_plan(plan, say)) is not None:
        return status
    for pool in dict.fromkeys([new.pool for new in plan.openings] or [DEFAULT_POOL]):
        say(wording.board(_board_after(plan, book, directory, pool, clock()), None))
    say(import_wording.DRY_RUN)
    return 0


def _read(file: Path) -> importing.Table:
    try:
        if file.stat().st_size > importing.MAX_BYTES:
            raise importing.FileProblem("too_big", size=file.stat().st_size, most=importing.MAX_BYTES)
        return importing.read_table(file.read_bytes())
    except OSError as error:
        raise ShellError(import_wording.unreadable(file, error)) from error
    except importing.FileProblem as problem:
        raise ShellError(import_wording.file_problem(problem)) from problem


def _say_plan(plan: importing.Plan, say: Say) -> int | None:
    """Say what a plan holds; return the exit code if nothing is to be written."""
    for problem in plan.problems:
        say(import_wording.problem_text(problem))
    for line in import_wording.notes(plan):
        say(line)
    say(import_wording.counts(plan))
    if plan.problems:
        say(import_wording.NOTHING_WRITTEN)
        return 1
    if not plan.changes:
        say(import_wording.NOTHING_NEW)
        return 0
    return None


def _board_after(plan: importing.Plan, book: Book, directory: Directory, pool: str, at: int) -> Board:
    return board(*importing.outcome(plan, book, directory), pool, at)


async def _write(url: str, table: importing.Table, clock: Clock, say: Say) -> int:
    async with writing(url) as (database, saved):
        league = await _league(database, clock)
        async with league.transaction() as tx:
            plan = importing.plan(table, tx.book, tx.directory, await importing.openings_of(tx.ledger, tx.book), tx.now)
            if (status := _say_plan(plan, say)) is not None:
                return status
            done = await importing.apply(tx, Actor(""), plan, tx.now)
        say(import_wording.done(done, saved))
    return 0
