"""The scenes of steps.py: how each begins, what is done, and whether that is then whole, absent, or half there."""

import asyncio
import shutil
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from rating_core.check import Replay
from rating_core.ledger import Adjustment, Draft, PlayerRegistered, Row
from rating_core.rulebook import POOLS
from rating_core.service.league import League
from rating_core.shell import restoring
from rating_core.store import backup as backup_module
from rating_core.store import migrate as migrate_module
from rating_core.store import restore as restore_module
from rating_core.store.backup import backup_sqlite
from rating_core.store.database import Database
from rating_core.store.ledger_store import LedgerStore
from rating_core.store.migrate import migrate
from tests.reliability.stepping import Steps, run_apart
from tests.support.rig import SCORING, Rig, SetClock
from tests.support.rows import ms

POOL = "单跳1v1"
NOW = ms("2026-11-30 12:08")
FILE = "ratings.db"
NEXT = """
import sqlalchemy as sa
from alembic import op
revision, down_revision, branch_labels, depends_on = "0002", "0001", None, None

def upgrade():
    op.create_table("extra", sa.Column("id", sa.Integer, primary_key=True), sa.Column("text", sa.Text))
    op.execute("INSERT INTO extra SELECT seq, kind FROM ledger")
    op.add_column("names", sa.Column("extra", sa.Text))
    op.execute("UPDATE names SET extra = name || '!'")
    with op.batch_alter_table("events") as batch:
        batch.add_column(sa.Column("note", sa.Text, nullable=False, server_default=""))
        batch.alter_column("name", new_column_name="title")
    op.create_index("ix_extra_text", "extra", ["text"])
    op.drop_table("imports")
"""


def url(folder: Path) -> str:
    return f"sqlite+aiosqlite:///{folder / FILE}"


def contents(file: Path) -> list[tuple[str, list[Any]]]:
    """Return every table's declaration and rows, in an order that does not depend on how they came there."""
    with closing(sqlite3.connect(file)) as connection:
        tables = connection.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type, name")
        found = []
        for name, sql in tables.fetchall():
            is_table = sql.startswith("CREATE TABLE")
            rows = connection.execute(f'SELECT * FROM "{name}"').fetchall() if is_table else []
            found.append((sql, sorted(rows, key=repr)))
    return found


async def rows_of(folder: Path) -> list[Row] | str:
    """Return the ledger's rows, or what is wrong with them."""
    database = await Database.open(url(folder), read_only=True)
    try:
        replay = Replay(dict(POOLS))
        async with database.read() as connection:
            ledger = LedgerStore(connection)
            rows = [row async for row in ledger.rows_after(0)]
            replay.read(rows)
            replay.end(await ledger.head(), await ledger.last_referred_to())
    finally:
        await database.close()
    if replay.broken is not None or replay.wrong is not None:
        return f"the ledger is not whole: row {replay.broken}, figures {replay.wrong}"
    return rows


async def small_book(folder: Path) -> None:
    """A player, some entries, and a row in every table that the next version changes."""
    database = await Database.open(url(folder))
    await migrate(database, folder / "backups")
    league = await League.open(database, lambda: NOW)
    async with league.transaction() as tx:
        await tx.append(Draft(PlayerRegistered(1, 2000.0, "普通"), NOW, 0))
        await tx.name_player(1, "张三")
        await tx.people.add_event(1, "皇后杯")
        await tx.account("10001")
        for amount in (5.0, -3.0):
            await tx.append(Draft(Adjustment(1, amount), NOW, 0, POOL))
    await database.close()
    _without_journal(folder / FILE)


def _without_journal(file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


class Scene(ABC):
    """Something that is done to a folder."""

    name = ""

    @abstractmethod
    def prepare(self, folder: Path) -> None:
        """Make the folder as it is before."""

    @abstractmethod
    async def work(self, folder: Path, steps: Steps) -> object:
        """Do it; the steps are armed here."""

    def run(self, folder: Path, last: int) -> int | None:
        """Do it in a process that dies at step `last`; return the number of steps, None where it died."""
        return run_apart(lambda steps: self.work(folder, steps), last)

    def remember(self, begin: Path, end: Path) -> None:
        """See how it is before and after, where nobody dies."""
        self.before, self.after = self.look(begin), self.look(end)
        assert self.before != self.after, self.name

    @abstractmethod
    def look(self, folder: Path) -> Any:
        """Return what tells before from after."""

    def state(self, folder: Path) -> bool | str:
        """Return whether it is there as a whole (True), not at all (False), or what is there."""
        found = self.look(folder)
        if found == self.after:
            return True
        return False if found == self.before else f"neither as before nor as after: {str(found)[:300]}"


class FirstMigration(Scene):
    """The tables of a new book."""

    name = "first migration"

    def prepare(self, folder: Path) -> None:
        pass

    async def work(self, folder: Path, steps: Steps) -> None:
        database = await Database.open(url(folder))
        steps.statements()
        steps.arm()
        await migrate(database, folder / "backups")
        await database.close()

    def look(self, folder: Path) -> Any:
        return contents(folder / FILE) if (folder / FILE).exists() else []


class Upgrade(Scene):
    """A later version's tables over a book with rows, its backup before included."""

    name = "upgrade"

    def prepare(self, folder: Path) -> None:
        asyncio.run(small_book(folder))
        versions = folder.parent / "migrations"
        shutil.copytree(migrate_module.MIGRATIONS, versions, ignore=shutil.ignore_patterns("__pycache__"))
        (versions / "versions" / "0002_next.py").write_text(NEXT, "utf-8")

    async def work(self, folder: Path, steps: Steps) -> None:
        migrate_module.MIGRATIONS = folder.parent / "migrations"  # in this child process alone
        steps.lines({backup_sqlite.__code__, backup_module.copy_sqlite.__code__})  # before there is any other thread
        steps.statements()
        database = await Database.open(url(folder))
        steps.arm()
        await migrate(database, folder / "backups")
        await database.close()

    def look(self, folder: Path) -> Any:
        return contents(folder / FILE)

    def state(self, folder: Path) -> bool | str:
        found = super().state(folder)
        backups = sorted((folder / "backups").glob("*.db"))
        wrong = [path.name for path in backups if contents(path) != self.before]
        if wrong or (found is True and not backups):
            return f"backups: {[path.name for path in backups]}, not as before: {wrong}"
        return found


class Settlement(Scene):
    """A scorekeeper confirms a season's settlement: message, entries, list, answers, sends, through the whole bot."""

    name = "settlement"

    def __init__(self) -> None:
        self._rig: Rig | None = None
        self._number = ""

    def prepare(self, folder: Path) -> None:
        async def begin() -> None:
            rig = self._rig = Rig(folder, SetClock(ms("2026-11-30 12:00")))
            await rig.start()
            await rig.league_of("甲一", "乙二", "丙三", "丁四")
            for left, right, count in (("甲一", "乙二", 10), ("丙三", "丁四", 1)):
                await rig.say("裁判老赵", "\n".join([f"{left} 平 {right}"] * count))
            rig.clock.at = ms("2027-01-05 20:00")
            assert rig.parts is not None
            await rig.parts.tick()
            (preview,) = await rig.say("小周", "/结算 执行", SCORING)
            self._number = preview.splitlines()[-1].removeprefix("确认 ")
            await rig.stop()

        asyncio.run(begin())
        _without_journal(folder / FILE)

    async def work(self, folder: Path, steps: Steps) -> None:
        rig = self._rig
        assert rig is not None
        rig.folder = folder
        rig.settings = rig.settings.model_copy(update={"database_url": url(folder)})
        await rig.start()
        await rig.idle()
        steps.statements()
        steps.arm()
        await rig.say("小周", f"确认 {self._number}", SCORING)
        steps.disarm()
        await rig.stop()

    def look(self, folder: Path) -> Any:
        rows = asyncio.run(rows_of(folder))
        if isinstance(rows, str):
            return rows
        with closing(sqlite3.connect(folder / FILE)) as connection:
            previews = connection.execute("SELECT preview_id, state FROM previews").fetchall()
            told = connection.execute("SELECT text FROM outbox WHERE text LIKE '%赛季已结算%' ORDER BY text").fetchall()
        return [(row.kind, row.pool, row.payload) for row in rows], previews, told


class Backup(Scene):
    """A backup: it has its name only when it is whole."""

    name = "backup"

    def prepare(self, folder: Path) -> None:
        asyncio.run(small_book(folder))

    async def work(self, folder: Path, steps: Steps) -> None:
        steps.lines({backup_sqlite.__code__, backup_module.copy_sqlite.__code__, backup_module.sync_file.__code__})
        steps.arm()
        target = folder / "backups" / "ratings-x.db"
        if not target.exists():
            await backup_sqlite(folder / FILE, target.parent, "x")

    def look(self, folder: Path) -> Any:
        found = [contents(path) for path in (folder / "backups").glob("*.db")]
        return found, contents(folder / FILE)


class Restore(Scene):
    """A backup in the place of a book that went on: the old file is there until the new one is, and kept."""

    name = "restore"

    def prepare(self, folder: Path) -> None:
        async def begin() -> None:
            await small_book(folder)
            await backup_sqlite(folder / FILE, folder / "backups", "x")
            database = await Database.open(url(folder))
            league = await League.open(database, lambda: NOW)
            async with league.transaction() as tx:
                await tx.append(Draft(Adjustment(1, 7.0), NOW, 0, POOL))
            # ends without a checkpoint: what was last written is in the journal alone
            shutil.copyfile(folder / f"{FILE}-wal", folder / "wal")
            shutil.copyfile(folder / FILE, folder / "main")
            await database.close()
            (folder / "wal").replace(folder / f"{FILE}-wal")
            (folder / "main").replace(folder / FILE)

        asyncio.run(begin())

    async def work(self, folder: Path, steps: Steps) -> None:
        steps.lines({restore_module._replace.__code__})
        steps.arm()
        backup = folder / "backups" / "ratings-x.db"
        await restoring.restore(url(folder), backup, True, lambda: NOW, lambda _line: None)

    def look(self, folder: Path) -> Any:
        rows = asyncio.run(rows_of(folder))
        return rows if isinstance(rows, str) else [row.hash for row in rows]

    def state(self, folder: Path) -> bool | str:
        found = super().state(folder)
        if found is True:
            kept = [len(_rows_in(path)) for path in folder.glob("ratings-replaced-*.db")]
            if len(self.before) not in kept:
                return f"the old file is not kept as a whole: {kept} rows"
        return found


def _rows_in(file: Path) -> Sequence[Any]:
    with closing(sqlite3.connect(file)) as connection:
        return connection.execute("SELECT seq FROM ledger").fetchall()


SCENES: Sequence[Callable[[], Scene]] = (FirstMigration, Upgrade, Settlement, Backup, Restore)
