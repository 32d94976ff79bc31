"""Moving in and out: import (a roster, or games as workbook, table or report lines) and export."""

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from rich.console import Console
from rich.progress import Progress, track

from rating_core import importing
from rating_core.book import Book
from rating_core.directory import Actor, Directory
from rating_core.importing.detect import LARGEST, read_file
from rating_core.importing.files import GameFile
from rating_core.importing.games_entries import plan_games
from rating_core.importing.games_outcome import Outcome, outcome
from rating_core.importing.games_plan import GamesPlan, Numbers, Options
from rating_core.importing.games_writer import enter, last_numbers
from rating_core.queries import Board, board
from rating_core.rulebook import DEFAULT_POOL, POOLS
from rating_core.shell import games_wording, import_wording, wording
from rating_core.shell.commands import Clock, Say, league_of
from rating_core.shell.opening import BACKUPS, ShellError, reading, writing
from rating_core.store.backup import BackupFailed, backup_sqlite
from rating_core.store.database import sqlite_path
from rating_core.store.import_store import ImportedFile, ImportStore
from rating_core.store.ledger_store import LedgerStore
from rating_core.store.people_store import Counters
from rating_core.times import to_datetime
from rating_core.workbook.export import export

T = TypeVar("T")


def _watched(items: Sequence[T], what: str) -> Iterable[T]:
    """Yield items with a progress bar beside them, where anybody is looking."""
    return track(items, what, console=Console(stderr=True), transient=True)


@contextmanager
def _busy(what: str) -> Iterator[None]:
    with Console(stderr=True).status(what):
        yield


async def import_file(url: str, file: Path, options: Options, write: bool, clock: Clock, say: Say) -> int:
    """Check a file and say what it would do; with `write` do it, everything or nothing. 1 on problems."""
    if options.pool and options.pool not in POOLS:
        raise ShellError(wording.bad_pool(options.pool))
    found, digest = _read(file)
    say(games_wording.read_as(found))
    if isinstance(found, importing.Table):
        return await (_write_roster if write else _try_roster)(url, found, clock, say)
    if write:
        return await _write_games(url, found, digest, options, clock, say)
    return await _try_games(url, found, digest, options, clock, say)


def _read(file: Path) -> tuple[GameFile | importing.Table, str]:
    """Return what a file says, and its hash. Raises ShellError."""
    try:
        if file.stat().st_size > LARGEST:
            raise importing.FileProblem("too_big", size=file.stat().st_size, most=LARGEST)
        data = file.read_bytes()
        with _busy("读取"):
            return read_file(data), hashlib.sha256(data).hexdigest()
    except OSError as error:
        raise ShellError(import_wording.unreadable(file, error)) from error
    except importing.FileProblem as problem:
        raise ShellError(games_wording.file_problem(problem)) from problem


# --- games --------------------------------------------------------------------------------------------------


async def _try_games(url: str, file: GameFile, digest: str, options: Options, clock: Clock, say: Say) -> int:
    path = sqlite_path(url)
    known: ImportedFile | None = None
    if path is not None and not path.is_file():
        book, directory, numbers = Book(), Directory(), Numbers()  # day one: there is no league yet
    else:
        async with reading(url) as database:
            league = await league_of(database, clock)
            book, directory = league.book, league.directory
            async with database.read() as connection:
                known = await ImportStore(connection).known(digest)
                numbers = await last_numbers(Counters(connection))
    if known is not None:
        say(games_wording.known(known))
        return 0
    plan = plan_games(file, book, directory, numbers, options, clock())
    if _say_games(plan, book, directory, clock(), say) is None:
        return 1
    say(import_wording.DRY_RUN)
    return 0


async def _write_games(url: str, file: GameFile, digest: str, options: Options, clock: Clock, say: Say) -> int:
    async with writing(url) as (database, _):
        league = await league_of(database, clock)
        saved = await _backup(url, clock) if league.book.seq else None
        async with league.transaction() as tx:
            if (known := await tx.imports.known(digest)) is not None:
                say(games_wording.known(known))
                return 0
            plan = plan_games(file, tx.book, tx.directory, await last_numbers(tx.counters), options, tx.now)
            if _say_games(plan, tx.book, tx.directory, tx.now, say) is None:
                return 1
            with _busy("写入"):
                await enter(tx, Actor(""), plan, digest, tx.now)
        say(games_wording.done(plan, saved))
    return 0


async def _backup(url: str, clock: Clock) -> Path | None:
    """Copy the database before much is entered; None on PostgreSQL. Raises ShellError."""
    path = sqlite_path(url)
    if path is None:
        return None
    try:
        label = f"before-import-{to_datetime(clock()).strftime('%Y%m%d-%H%M%S')}"
        return await backup_sqlite(path, path.parent / BACKUPS, label)
    except BackupFailed as error:
        raise ShellError(wording.backup_failed(error)) from error


def _say_games(plan: GamesPlan, book: Book, directory: Directory, at: int, say: Say) -> Outcome | None:
    """Say what a plan holds and what the book would be; None if something stands against it."""
    for line in games_wording.against(plan):
        say(line)
    if not plan.clear:
        if plan.unknown:
            say(games_wording.register_them())
        say(games_wording.counts(plan, None))
        say(import_wording.NOTHING_WRITTEN)
        return None
    found = outcome(plan, book, directory, lambda drafts: _watched(drafts, "试算"))
    for line in games_wording.notes(plan):
        say(line)
    say(games_wording.counts(plan, found))
    if text := games_wording.differences(found.differences):
        say(text)
    for pool in plan.pools:
        say(wording.board(board(found.book, found.directory, pool, at), games_wording.BOARD_ROWS))
    return found


# --- a roster -----------------------------------------------------------------------------------------------


async def _try_roster(url: str, table: importing.Table, clock: Clock, say: Say) -> int:
    path = sqlite_path(url)
    if path is not None and not path.is_file():
        book, directory, openings = Book(), Directory(), {}  # day one: there is no league yet
    else:
        async with reading(url) as database:
            league = await league_of(database, clock)
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


async def _write_roster(url: str, table: importing.Table, clock: Clock, say: Say) -> int:
    async with writing(url) as (database, saved):
        league = await league_of(database, clock)
        async with league.transaction() as tx:
            plan = importing.plan(table, tx.book, tx.directory, await importing.openings_of(tx.ledger, tx.book), tx.now)
            if (status := _say_plan(plan, say)) is not None:
                return status
            done = await importing.apply(tx, Actor(""), plan, tx.now)
        say(import_wording.done(done, saved))
    return 0


# --- export -------------------------------------------------------------------------------------------------


async def export_file(url: str, file: Path, clock: Clock, say: Say) -> int:
    """Write the book as a workbook; works beside the running bot. An existing file is never overwritten."""
    _check_free(file)
    async with reading(url) as database:
        league = await league_of(database, clock)
    try:
        say(_export(league.book, league.directory, clock(), file))
    except OSError as error:
        raise ShellError(import_wording.unreadable(file, error)) from error
    return 0


def _check_free(file: Path) -> None:
    if file.suffix.lower() != ".xlsx":
        raise ShellError(games_wording.EXPORT_NAME)
    if file.exists():
        raise ShellError(games_wording.exists(file))


def _export(book: Book, directory: Directory, at: int, file: Path) -> str:
    """Write the workbook beside its name, then give it its name; return what is in it."""
    partial = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        with Progress(console=Console(stderr=True), transient=True) as progress:
            task = progress.add_task("导出", total=len(book.columns))
            done = export(book, directory, at, str(partial), lambda count: progress.update(task, completed=count))
        partial.replace(file)
    finally:
        partial.unlink(missing_ok=True)
    return games_wording.exported(file, done.games, done.players, done.changes, file.stat().st_size)
