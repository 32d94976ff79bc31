"""restore: put a backup in the place of the database. Without --yes it only says what would be."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from rating_core.check import Replay
from rating_core.directory import Directory
from rating_core.ledger import LedgerError, Row
from rating_core.rulebook import POOLS
from rating_core.service.league import League
from rating_core.shell import restore_wording as wording
from rating_core.shell.commands import Clock, Say
from rating_core.shell.opening import BACKUPS, ShellError
from rating_core.shell.wording import RUNNING, other_schema
from rating_core.store.backup import BackupFailed
from rating_core.store.database import Database, ProcessLock, StorageFailed, sqlite_path
from rating_core.store.desk_store import DeskStore, JournalLine
from rating_core.store.ledger_store import LedgerStore
from rating_core.store.migrate import SchemaTooNew, migrate, schema_state
from rating_core.store.restore import all_counters, copy_of_backup, go_on_from, replace_file
from rating_core.times import to_datetime

JUMP = 1000
"""By how much numbers jump where nobody can tell which were given out."""
MOST_LINES = 100_000


@dataclass(slots=True)
class Contents:
    """What is in a book, as far as it can be read."""

    rows: list[Row] = field(default_factory=list)
    journal: list[JournalLine] = field(default_factory=list)
    counters: dict[str, int] = field(default_factory=dict)
    directory: Directory = field(default_factory=Directory)
    whole: bool = False
    """Everything could be read."""


async def restore(url: str, backup: Path, yes: bool, clock: Clock, say: Say) -> int:
    """Restore an SQLite book. Raises ShellError."""
    path = sqlite_path(url)
    if path is None:
        raise ShellError(wording.ELSEWHERE)
    _must_be_there(backup, path.parent / BACKUPS)
    database = await Database.open(url)  # makes no file before it is used
    lock = ProcessLock(database)
    try:
        if yes and not await lock.try_acquire():
            raise ShellError(RUNNING)
        with _room(path.with_name(f"{path.stem}-restoring")) as folder:
            return await _restore(path, backup, folder, yes, clock, say)
    except SchemaTooNew as error:
        raise ShellError(other_schema(str(error), "")) from error
    except BackupFailed as error:
        raise ShellError(wording.failed(error)) from error
    except StorageFailed as error:
        raise ShellError(wording.no_book(error)) from error
    finally:
        await lock.release()
        await database.close()


@contextmanager
def _room(folder: Path) -> Iterator[Path]:
    """An empty folder on the database's disk; nothing is left of it, nor of one whose process was killed."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _must_be_there(backup: Path, folder: Path) -> None:
    if not backup.is_file():
        raise ShellError(wording.no_backup(backup, folder))


async def _restore(path: Path, backup: Path, folder: Path, yes: bool, clock: Clock, say: Say) -> int:
    copy = await copy_of_backup(backup, folder)
    restored = await Database.open(f"sqlite+aiosqlite:///{copy}")
    try:
        if (await schema_state(restored))[0] is None:
            raise ShellError(wording.no_book(backup.name))
        await migrate(restored, folder)
        kept = await _contents(restored)
        fold = Replay(dict(POOLS))
        fold.read(kept.rows)
        async with restored.read() as connection:
            ledger = LedgerStore(connection)
            fold.end(await ledger.head(), await ledger.last_referred_to())
        if fold.broken is not None or not kept.whole:
            raise ShellError(wording.no_good(backup, fold.broken or len(kept.rows) + 1))
        say(wording.good(backup, kept.rows, len(fold.book.columns), fold.wrong))
        present = await _present(path)
        for line in wording.losses(present, kept):
            say(line)
        if not yes:
            say(wording.DRY_RUN)
            return 0
        now = clock()
        async with restored.write() as connection:
            if not present.whole:
                say(wording.jumped(JUMP))
            jumps = {name: value + JUMP for name, value in kept.counters.items()}
            await go_on_from(connection, present.counters if present.whole else jumps | present.counters)
            await DeskStore(connection).add_docket("restored", "", wording.docket(backup, present, kept), now)
    finally:
        await restored.close()
    say(wording.done(path, await replace_file(path, copy, f"replaced-{to_datetime(now):%Y%m%d-%H%M%S}")))
    return 0


async def _present(path: Path) -> Contents:
    """Return what is in the present file, as far as it can be read."""
    try:
        database = await Database.open(f"sqlite+aiosqlite:///{path}", read_only=True)
    except StorageFailed:
        return Contents()
    try:
        current, wanted = await schema_state(database)
        return await _contents(database) if current == wanted else Contents()
    except StorageFailed:
        return Contents()
    finally:
        await database.close()


async def _contents(database: Database) -> Contents:
    """Return what is in a book; where a part cannot be read, it is left out."""
    found = Contents(whole=True)
    async with database.read() as connection:
        try:
            async for row in LedgerStore(connection).rows_after(0):
                found.rows.append(row)
        except LedgerError:
            found.whole = False
    try:
        async with database.read() as connection:
            found.counters = await all_counters(connection)
            found.journal = await DeskStore(connection).journal(MOST_LINES)
    except StorageFailed:
        found.whole = False
    with suppress(StorageFailed):
        found.directory = (await League.open(database, lambda: 0)).directory
    return found
