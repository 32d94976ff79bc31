"""The store: migrations, the ledger's guards and chain, one writer, failures and recovery, backups."""

import asyncio
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import closing
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, inspect, make_url, text
from sqlalchemy.exc import IntegrityError

from rating_core.book import Book
from rating_core.ledger import GENESIS, Adjustment, Draft, Games, PlayerRegistered, Row
from rating_core.service.health import examine
from rating_core.service.league import Damage, League, LedgerDamaged
from rating_core.service.transaction import Tx
from rating_core.store import database as database_module
from rating_core.store import ledger_store, migrate
from rating_core.store.backup import BackupFailed, backup_sqlite
from rating_core.store.database import Database, ProcessLock, StorageFailed
from rating_core.store.ledger_store import LedgerStore
from rating_core.store.migrate import SchemaTooNew, schema_state
from rating_core.store.people_store import Counters
from rating_core.store.tables import metadata
from tests.conftest import FakeClock
from tests.support.engines import new_database, only_postgres, only_sqlite, sql, unguard, url_of
from tests.support.replaying import broken_row, first_difference
from tests.support.rows import line

POOL = "单跳1v1"


def file_of(database: Database) -> Path:
    assert database.path is not None
    return database.path


def raw(database: Database, *statements: str) -> list[Any]:
    """Run statements behind the store's back; return the rows of the last one."""
    return sql(address(database), *statements)


def address(database: Database) -> str:
    return database.url.render_as_string(hide_password=False)


async def tables(database: Database) -> list[str]:
    async with database.read() as connection:
        return await connection.run_sync(lambda sync: inspect(sync).get_table_names())


async def rows_of(database: Database) -> list[Row]:
    async with database.read() as connection:
        return [row async for row in LedgerStore(connection).rows_after(0)]


async def register(tx: Tx, name: str, initial: float = 2000.0) -> int:
    player = await tx.counters.take("player")
    await tx.append(Draft(PlayerRegistered(player, initial, "普通"), tx.now, 0))
    await tx.name_player(player, name)
    return player


async def adjust(league: League, player: int, amount: float, reason: str = "") -> None:
    async with league.transaction() as tx:
        await tx.append(Draft(Adjustment(player, amount), tx.now, 0, POOL, reason=reason))


@pytest.fixture
async def two(league: League) -> League:
    """A league with 张三 (1) and 李四 (2)."""
    async with league.transaction() as tx:
        await register(tx, "张三")
        await register(tx, "李四")
    return league


# --- migrations -------------------------------------------------------------------------------------------


async def test_migrations_make_the_tables_as_declared(database: Database) -> None:
    def differences(connection: Connection) -> list[Any]:
        context = MigrationContext.configure(connection, opts={"compare_type": True, "compare_server_default": True})
        found = [
            one for found in compare_metadata(context, metadata) for one in ([found] if type(found) is tuple else found)
        ]
        return [one for one in found if "comment" not in one[0]]  # comments are for readers of tables.py alone

    async with database.read() as connection:
        assert await connection.run_sync(differences) == []
        assert await LedgerStore(connection).head() == (0, GENESIS)


@only_sqlite
async def test_a_second_run_does_nothing(database: Database, tmp_path: Path) -> None:
    before = file_of(database).read_bytes()
    assert await migrate.migrate(database, tmp_path / "backups") is None
    assert file_of(database).read_bytes() == before
    assert not (tmp_path / "backups").exists()


NEXT = """
import sqlalchemy as sa
from alembic import op
revision, down_revision, branch_labels, depends_on = "{revision}", "{down}", None, None

def upgrade():
    op.create_table("extra", sa.Column("id", sa.Integer, primary_key=True))
    op.execute("INSERT INTO extra VALUES (1)")
    op.add_column("names", sa.Column("extra", sa.Text))
    {end}
"""


@pytest.fixture
def migrations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the migrations that a test may add to."""
    folder = tmp_path / "migrations"
    shutil.copytree(migrate.MIGRATIONS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(migrate, "MIGRATIONS", folder)
    return folder


async def test_a_migration_is_whole_or_absent_and_backed_up(
    two: League, database: Database, migrations: Path, tmp_path: Path
) -> None:
    script = migrations / "versions" / "0002_extra.py"
    script.write_text(NEXT.format(revision="0002", down="0001", end='raise RuntimeError("half way")'))
    with pytest.raises(RuntimeError, match="half way"):
        await migrate.migrate(database, tmp_path / "backups")
    assert await schema_state(database) == ("0001", "0002")
    assert "extra" not in await tables(database)
    assert await LedgerStoreHead.of(database) == (two.book.seq, two.book.hash)

    script.write_text(NEXT.format(revision="0002", down="0001", end=""))
    shutil.rmtree(migrations / "versions" / "__pycache__", ignore_errors=True)
    upgrade = await migrate.migrate(database, tmp_path / "backups")
    assert await schema_state(database) == ("0002", "0002")
    assert raw(database, "SELECT * FROM extra") == [(1,)]
    assert upgrade is not None and upgrade.saved is not None
    assert upgrade.saved.name.startswith(f"{Path(database.url.database or '').stem}-before-0002")
    old = await Database.open(restored(upgrade.saved), read_only=True)
    assert (await schema_state(old))[0] == "0001"
    assert await rows_of(old) == await rows_of(database)
    await old.close()


def restored(backup: Path) -> str:
    """Return the URL of a database that holds a backup."""
    if backup.suffix == ".db":
        return f"sqlite+aiosqlite:///{backup}"
    url = new_database()
    address = make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
    subprocess.run(["pg_restore", "--no-owner", "--dbname", address, backup], check=True)
    return url


class LedgerStoreHead:
    @staticmethod
    async def of(database: Database) -> tuple[int, str]:
        async with database.read() as connection:
            return await LedgerStore(connection).head()


async def test_the_first_migration_too_is_whole_or_absent(engine: str, migrations: Path, tmp_path: Path) -> None:
    script = migrations / "versions" / "0001_first_tables.py"
    whole = script.read_text("utf-8")
    script.write_text(whole + '    raise RuntimeError("half way")\n', "utf-8")
    database = await Database.open(url_of(tmp_path, empty=True))
    with pytest.raises(RuntimeError, match="half way"):
        await migrate.migrate(database, tmp_path / "backups")
    assert await tables(database) == []
    script.write_text(whole, "utf-8")
    shutil.rmtree(migrations / "versions" / "__pycache__", ignore_errors=True)
    assert await migrate.migrate(database, tmp_path / "backups") is None
    assert await LedgerStoreHead.of(database) == (0, GENESIS)
    await database.close()


def test_a_migration_s_file_is_named_after_its_revision() -> None:
    config = Config()
    config.set_main_option("script_location", str(migrate.MIGRATIONS))
    scripts = list(ScriptDirectory.from_config(config).walk_revisions())
    assert [script.revision for script in reversed(scripts)] == sorted(
        Path(script.path).stem.partition("_")[0] for script in scripts
    )


async def test_a_database_of_a_newer_version_is_left_alone(database: Database, tmp_path: Path) -> None:
    raw(database, "UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(SchemaTooNew):
        await migrate.migrate(database, tmp_path / "backups")


# --- the ledger's guards ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE ledger SET payload = '{}' WHERE seq = 1",
        "UPDATE ledger SET at = at",
        "DELETE FROM ledger WHERE seq = 2",
        "DELETE FROM ledger",
        "INSERT INTO ledger SELECT * FROM ledger WHERE true ON CONFLICT (seq) DO UPDATE SET at = ledger.at + 1",
    ],
)
async def test_the_ledger_only_grows(two: League, database: Database, statement: str) -> None:
    await assert_refused(database, statement)


@only_sqlite
@pytest.mark.parametrize("seqs", ["", " WHERE seq = 1"])
async def test_no_row_is_replaced(two: League, database: Database, seqs: str) -> None:
    await assert_refused(database, f"INSERT OR REPLACE INTO ledger SELECT * FROM ledger{seqs}")


@only_postgres
async def test_the_ledger_is_not_emptied(two: League, database: Database) -> None:
    await assert_refused(database, "TRUNCATE ledger CASCADE")


async def assert_refused(database: Database, statement: str) -> None:
    """Whoever says it, through the store or past it."""
    before = await rows_of(database)
    with pytest.raises(IntegrityError, match="the ledger only grows"):
        async with database.write() as connection:
            await connection.exec_driver_sql(statement)
    with pytest.raises(Exception, match="the ledger only grows"):
        raw(database, statement)
    assert await rows_of(database) == before


@pytest.mark.parametrize("column", [f.name for f in fields(Row)])
async def test_the_chain_finds_any_changed_column(two: League, database: Database, column: str) -> None:
    await adjust(two, 1, 5.0)
    async with database.read() as connection:
        assert await broken_row(connection) is None
    unguard(address(database))
    value = f"{column} || 'x'" if column in ("kind", "pool", "payload", "hash") else f"COALESCE({column}, 0) + 100"
    raw(database, f"UPDATE ledger SET {column} = {value} WHERE seq = 2")
    async with database.read() as connection:
        assert await broken_row(connection) == 2


@pytest.mark.parametrize(
    ("statement", "broken"),
    [
        ("DELETE FROM ledger WHERE seq = 1", 1),
        ("DELETE FROM ledger WHERE seq = 3", 3),
        ("UPDATE ledger_head SET hash = 'x'", 4),
        ("UPDATE ledger_head SET seq = 4", 4),
    ],
)
async def test_the_chain_finds_rows_cut_off(two: League, database: Database, statement: str, broken: int) -> None:
    await adjust(two, 1, 5.0)
    unguard(address(database))
    raw(database, statement)
    async with database.read() as connection:
        assert await broken_row(connection) == broken


@only_sqlite
async def test_a_byte_that_flips_under_the_running_bot_is_found(two: League, database: Database) -> None:
    """What SQLite remembers of the file is not what is looked at."""
    for _ in range(3):
        await adjust(two, 1, 5.0)
    raw(database, "PRAGMA wal_checkpoint(TRUNCATE)")
    assert (await examine(two)).well
    assert [row.seq for row in await rows_of(database)] == [1, 2, 3, 4, 5]
    content = file_of(database).read_bytes()
    assert content.count(b'{"amount":5.0,"player":1}') == 3
    file_of(database).write_bytes(content.replace(b'{"amount":5.0,"player":1}', b'{"amount":5.0,"player":2}', 1))
    health = await examine(two)
    assert health.broken_row in (3, 4, 5) and not health.well
    assert two.damage is not None and two.damage.seq == health.broken_row


DAMAGES = {
    "a figure": ("UPDATE ledger SET payload = replace(payload, '5.0', '6.0') WHERE seq = 3", 3, None),
    "no JSON": ("UPDATE ledger SET payload = '{' WHERE seq = 3", 3, 2),
    "nobody's": ("UPDATE ledger SET payload = replace(payload, '\"player\":1', '\"player\":[1]') WHERE seq = 3", 3, 2),
    "a removed row": ("DELETE FROM ledger WHERE seq = 3", 3, 2),
    "a cut tail": ("DELETE FROM ledger WHERE seq > 3", 4, None),
    "the head": ("UPDATE ledger_head SET hash = replace(hash, 'a', 'b')", 5, None),
    "the head's number": ("UPDATE ledger_head SET seq = 3", 5, None),
}
SQLITE_DAMAGES = {
    "no text": ("UPDATE ledger SET payload = CAST(x'ff' AS TEXT) WHERE seq = 3", 3, 2),
    "a blob": ("UPDATE ledger SET hash = CAST(hash AS BLOB) WHERE seq = 3", 3, None),
}
"""PostgreSQL keeps text in columns of text."""


@pytest.mark.parametrize("damage", DAMAGES)
async def test_a_damaged_ledger_takes_no_entries(
    two: League, database: Database, clock: FakeClock, damage: str
) -> None:
    await assert_damage_found(two, clock, *DAMAGES[damage], cut=damage == "a cut tail")


@only_sqlite
@pytest.mark.parametrize("damage", SQLITE_DAMAGES)
async def test_a_value_of_another_type_takes_no_entries(two: League, clock: FakeClock, damage: str) -> None:
    await assert_damage_found(two, clock, *SQLITE_DAMAGES[damage])


async def assert_damage_found(
    two: League, clock: FakeClock, statement: str, seq: int, read_to: int | None, *, cut: bool = False
) -> None:
    """It is seen at the next start; the Book reads on as far as it can, and what is no entry can be written."""
    database = two.database
    await adjust(two, 1, 5.0)
    await adjust(two, 1, 7.0)
    unguard(address(database))
    raw(database, statement)
    again = await League.open(database, clock)
    assert again.damage == Damage(seq, read_to)
    if not cut:
        assert again.book.seq == (4 if read_to is None else read_to)
    with pytest.raises(LedgerDamaged):
        await adjust(again, 1, 1.0)
    async with again.transaction(entries=False) as tx:
        await tx.desk.add_docket("damaged", "账3", "", tx.now)
        with pytest.raises(LedgerDamaged):
            await tx.append(Draft(Adjustment(1, 1.0), tx.now, 0, POOL))
        with pytest.raises(LedgerDamaged):
            await tx.append_all([Draft(Adjustment(1, 1.0), tx.now, 0, POOL)])
    async with again.transaction(entries=False) as tx:
        assert [item.about for item in await tx.desk.open_docket()] == ["账3"]
    assert (await examine(again)).broken_row == seq


async def test_a_head_changed_under_the_running_bot_is_not_built_upon(two: League, database: Database) -> None:
    raw(database, "UPDATE ledger_head SET hash = replace(hash, 'a', 'b')")
    before = await rows_of(database)
    with pytest.raises(LedgerDamaged):
        await adjust(two, 1, 1.0)
    assert await rows_of(database) == before and two.damage == Damage(3)


async def test_rows_are_read_in_batches(two: League, database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(5):
        await adjust(two, 1, 1.0)
    everything = await rows_of(database)
    assert [row.seq for row in everything] == list(range(1, 8))
    for size in (1, 2, 7, 8):
        monkeypatch.setattr(ledger_store, "BATCH", size)
        assert await rows_of(database) == everything


async def test_the_ledgers_clock_never_goes_back(two: League, clock: FakeClock, database: Database) -> None:
    start = clock.now
    clock.forward(seconds=10)
    await adjust(two, 1, 1.0)
    clock.forward(hours=-1)
    await adjust(two, 1, 1.0)
    at = [row.at for row in await rows_of(database)]
    assert at == [start, start, start + 10_000, start + 10_000]


async def test_reasons_stand_beside_the_ledger(two: League, database: Database) -> None:
    await adjust(two, 1, 1.0, reason="补分")
    async with database.write() as connection:
        store = LedgerStore(connection)
        assert [await store.reason(seq) for seq in (1, 3)] == ["", "补分"]
        row = await store.row(3)
        assert row is not None and "补分" not in row.payload
        assert await store.row(4) is None
        await connection.execute(text("DELETE FROM ledger_notes"))
    async with database.read() as connection:
        assert await broken_row(connection) is None


# --- one writer -------------------------------------------------------------------------------------------


async def test_nothing_is_lost_under_eight_tasks(two: League, database: Database) -> None:
    """8 tasks, 50 transactions each, two numbers and one report a transaction."""
    taken: list[tuple[int, int]] = []

    async def work(task: int) -> None:
        for turn in range(50):
            async with two.transaction() as tx:
                report, first = await tx.counters.take("report"), await tx.counters.take("game", 2)
                result = "WDL"[(task + turn) % 3]
                lines = (line(1, result, 2), line(1, result, 2))
                await tx.append(Draft(Games(report, first, tx.now, 1.0, lines, 0), tx.now, 0, POOL))
            taken.append((report, first))

    await asyncio.gather(*(work(task) for task in range(8)))
    assert sorted(taken) == [(n, 2 * n - 1) for n in range(1, 401)]
    rows = await rows_of(database)
    assert len(rows) == 402 and two.book.seq == 402
    assert [row.entry().report for row in rows[2:]] == list(range(1, 401))  # type: ignore[attr-defined]
    assert len(two.book.columns) == 800
    assert first_difference(two.book, rows) is None
    async with database.read() as connection:
        assert await broken_row(connection) is None


async def test_counters_are_apart_and_can_take_many(database: Database) -> None:
    async with database.write() as connection:
        counters = Counters(connection)
        assert [await counters.take("report"), await counters.take("game", 3), await counters.take("game")] == [1, 1, 4]
    async with database.write() as connection:
        assert await Counters(connection).take("report") == 2


@only_sqlite
async def test_durability_settings(database: Database) -> None:
    async with database.write() as writer, database.read() as reader:
        for name, value in (("journal_mode", "wal"), ("synchronous", 2), ("foreign_keys", 1)):
            for connection in (writer, reader):
                assert (await connection.exec_driver_sql(f"PRAGMA {name}")).scalar() == value, name


async def test_a_reader_does_not_wait_for_a_writer_and_sees_what_is_committed(two: League, database: Database) -> None:
    async with two.transaction() as tx:
        await tx.append(Draft(Adjustment(1, 5.0), tx.now, 0, POOL))
        assert len(await rows_of(database)) == 2
    assert len(await rows_of(database)) == 3


# --- the league's transactions ----------------------------------------------------------------------------


async def test_an_exception_leaves_everything_as_it_was(two: League, database: Database) -> None:
    directory, seq = two.directory, two.book.seq
    with pytest.raises(RuntimeError, match="no"):
        async with two.transaction() as tx:
            await register(tx, "王五")
            await tx.set_roles((await tx.account("10003")).account_id, frozenset({"referee"}), by=0)
            raise RuntimeError("no")
    assert two.book.seq == seq and len(await rows_of(database)) == seq
    assert two.directory.roster.current_names() == directory.roster.current_names()
    assert two.directory.by_qq == {} and two.directory.roles == {}
    async with two.transaction() as tx:
        assert await register(tx, "王五") == 3


async def test_what_a_transaction_did_is_read_back_the_same(two: League, clock: FakeClock) -> None:
    async with two.transaction() as tx:
        account = await tx.account("10001")
        await tx.bind(account, 1, by=0)
        await tx.set_roles(account.account_id, frozenset({"referee", "scorekeeper"}), by=0)
        await tx.name_player(2, "李四新")
        other = await tx.account("10002")
        await tx.bind(other, 2, by=0)
    async with two.transaction() as tx:
        await tx.bind(tx.directory.by_qq["10002"], None, by=0)
    again = await League.open(two.database, clock)
    for directory in (two.directory, again.directory):
        assert directory.roster.current_names() == {1: "张三", 2: "李四新"}
        assert directory.roster.resolve("李四") == 2
        assert directory.by_player.get(1) == {1} and not directory.by_player.get(2)
        assert directory.roles == {1: frozenset({"referee", "scorekeeper"})}
        assert directory.by_qq["10002"].player_id is None
    assert again.directory.by_qq == two.directory.by_qq
    assert again.book.state == two.book.state


async def test_a_commit_that_failed_after_committing_is_seen(
    two: League, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer got lost, not the write: the Book and the directory show it before the next command."""
    dialect = database.engine.sync_engine.dialect
    commit = dialect.do_commit

    def commit_and_fail(connection: Any) -> None:
        commit(connection)
        raise dialect.loaded_dbapi.OperationalError("disk I/O error")

    monkeypatch.setattr(dialect, "do_commit", commit_and_fail)
    with pytest.raises(StorageFailed, match="disk I/O error"):
        async with two.transaction() as tx:
            await register(tx, "王五")
    monkeypatch.undo()
    assert two.book.seq == 3 and two.directory.roster.resolve("王五") == 3
    await adjust(two, 3, 7.0)
    assert two.book.state.look(POOL, 3).rating == 2007


async def test_the_book_reads_what_others_wrote_before_the_next_command(two: League, clock: FakeClock) -> None:
    other = await League.open(two.database, clock)
    await adjust(two, 1, 5.0)
    await adjust(other, 1, 5.0)
    await adjust(two, 1, 5.0)
    assert (two.book.state.look(POOL, 1).rating, two.book.seq) == (2015, 5)
    assert two.book.hash == (await LedgerStoreHead.of(two.database))[1]


async def test_rows_of_our_own_are_read_without_reading_everybody_anew(
    two: League, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A transaction may begin before the Book has read what the one before it wrote; names are as that one left."""

    async def later(_: object) -> None: ...

    async def again() -> None:
        raise AssertionError("the directory was read")

    with monkeypatch.context() as patch:
        patch.setattr(two, "_take_in", later)
        await adjust(two, 1, 5.0)
    assert two.book.state.look(POOL, 1).rating == 2000
    monkeypatch.setattr(two, "_reload_directory", again)
    await adjust(two, 1, 5.0)
    assert two.book.state.look(POOL, 1).rating == 2010


async def test_what_is_committed_is_read_without_the_database(two: League, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever is told that it is recorded finds it recorded; a few rows need not be fetched again."""

    async def fetched() -> None:
        raise AssertionError("the database was asked")

    monkeypatch.setattr(two, "catch_up", fetched)
    await adjust(two, 1, 5.0)
    assert two.book.state.look(POOL, 1).rating == 2005 and two.book.hash == (await LedgerStoreHead.of(two.database))[1]


async def test_a_book_that_fails_on_what_was_committed_is_folded_anew(
    two: League, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    advance, failed = Book.advance, []

    def fail_half_way(book: Book, rows: Sequence[Row]) -> None:
        advance(book, rows)
        if not failed:
            failed.append(book)
            raise MemoryError

    monkeypatch.setattr(Book, "advance", fail_half_way)
    await adjust(two, 1, 5.0)
    assert failed and two.book is not failed[0] and two.damage is None
    assert first_difference(two.book, await rows_of(database)) is None


# --- a database that refuses ------------------------------------------------------------------------------


async def limit_pages(database: Database, pages: int) -> None:
    async with database.engine.connect() as connection:
        await connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")


@only_sqlite
async def test_a_full_database_records_nothing_and_recovers(two: League, database: Database) -> None:
    await limit_pages(database, raw(database, "PRAGMA page_count")[0][0] + 3)
    with pytest.raises(StorageFailed, match="full"):
        for _ in range(200):
            await adjust(two, 1, 1.0, reason="字" * 500)
    written = two.book.seq
    rows = await rows_of(database)
    assert len(rows) == written < 202
    with pytest.raises(StorageFailed, match="full"):
        async with two.transaction() as tx:
            await register(tx, "王五")
            await tx.append(Draft(Adjustment(1, 1.0), tx.now, 0, POOL, reason="字" * 20_000))
    assert await rows_of(database) == rows
    assert "王五" not in two.directory.roster
    await limit_pages(database, 1_000_000)
    await adjust(two, 1, 1.0, reason="字" * 500)
    assert two.book.seq == written + 1
    assert first_difference(two.book, await rows_of(database)) is None


@pytest.fixture
async def impatient(
    database: Database, database_url: str, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[League]:
    """The same file, opened by a league that waits only 50 ms for a lock."""
    monkeypatch.setattr(database_module, "BUSY_TIMEOUT_MS", 50)
    opened = await Database.open(database_url)
    yield await League.open(opened, clock)
    await opened.close()


@only_sqlite
async def test_a_locked_database_records_nothing_and_recovers(impatient: League) -> None:
    async with impatient.transaction() as tx:
        await register(tx, "张三")
    with closing(sqlite3.connect(file_of(impatient.database), isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        for _ in range(2):
            with pytest.raises(StorageFailed, match="locked"):
                await adjust(impatient, 1, 5.0)
        assert len(await rows_of(impatient.database)) == 1
        other.execute("ROLLBACK")
    await adjust(impatient, 1, 5.0)
    assert impatient.book.state.look(POOL, 1).rating == 2005


async def test_errors_of_ours_stay_themselves(database: Database) -> None:
    with pytest.raises(IntegrityError):
        async with database.write() as connection:
            await connection.exec_driver_sql("INSERT INTO counters VALUES ('a', 1), ('a', 2)")


async def test_what_is_no_database_is_storage_failed(tmp_path: Path) -> None:
    (tmp_path / "text.db").write_text("名字,QQ\n" * 1000)
    database = await Database.open(f"sqlite+aiosqlite:///{tmp_path}/text.db")
    with pytest.raises(StorageFailed, match="not a database"):
        async with database.read():
            pass
    await database.close()


# --- reading beside the bot -------------------------------------------------------------------------------


async def test_read_only_makes_no_file(tmp_path: Path) -> None:
    with pytest.raises(StorageFailed, match="no such file"):
        await Database.open(f"sqlite+aiosqlite:///{tmp_path}/none/ratings.db", read_only=True)
    assert list(tmp_path.iterdir()) == []


async def test_read_only_reads_beside_a_writer_and_writes_nothing(two: League, database_url: str) -> None:
    reader = await Database.open(database_url, read_only=True)
    assert len(await rows_of(reader)) == 2
    await adjust(two, 1, 5.0)
    assert len(await rows_of(reader)) == 3
    with pytest.raises(StorageFailed, match=r"read-?only"):
        async with reader.write() as connection:
            await connection.exec_driver_sql("INSERT INTO counters VALUES ('x', 1)")
    await reader.close()
    await adjust(two, 1, 5.0)


@only_sqlite
async def test_read_only_leaves_a_backup_file_as_it_is(two: League, tmp_path: Path) -> None:
    """A backup is not in WAL mode; looking at it must not put it there."""
    saved = await backup_sqlite(file_of(two.database), tmp_path / "backups", "x")
    before = saved.read_bytes()
    reader = await Database.open(f"sqlite+aiosqlite:///{saved}", read_only=True)
    assert len(await rows_of(reader)) == 2
    await reader.close()
    assert saved.read_bytes() == before
    assert [path.name for path in saved.parent.iterdir()] == [saved.name]


# --- the lock between processes ---------------------------------------------------------------------------


async def test_one_process_holds_the_lock_and_a_standby_gets_it(database: Database, database_url: str) -> None:
    other = await Database.open(database_url)
    held, waiting = ProcessLock(database), ProcessLock(other)
    assert await held.try_acquire()
    assert not await waiting.try_acquire()
    standby = asyncio.create_task(waiting.acquire(poll_seconds=0.001))
    await asyncio.sleep(0)
    assert not standby.done()
    await held.release()
    await standby
    assert not await held.try_acquire()
    await waiting.release()
    assert await held.try_acquire()
    await held.release()
    await held.release()
    await other.close()


HOLDER = """
import asyncio, sys
from rating_core.store.database import Database, ProcessLock

async def main():
    lock = ProcessLock(await Database.open(sys.argv[1]))
    print(await lock.try_acquire(), flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


@pytest.mark.skipif(os.name == "nt", reason="kill -9")
async def test_a_killed_process_leaves_no_lock(database: Database, database_url: str) -> None:
    root = Path(__file__).resolve().parents[2]
    holder = await asyncio.create_subprocess_exec(
        sys.executable, "-c", HOLDER, database_url, stdout=asyncio.subprocess.PIPE, cwd=root
    )
    try:
        assert holder.stdout is not None
        assert await holder.stdout.readline() == b"True\n"
        lock = ProcessLock(database)
        assert not await lock.try_acquire()
    finally:
        holder.send_signal(signal.SIGKILL)
        await holder.wait()
    async with asyncio.timeout(5):  # PostgreSQL notices it a moment later
        await lock.acquire(poll_seconds=0.01)
    await lock.release()


# --- backups ----------------------------------------------------------------------------------------------


@only_sqlite
async def test_a_backup_of_a_book_in_use_is_whole(two: League, database: Database, tmp_path: Path) -> None:
    await adjust(two, 1, 5.0)
    folder = tmp_path / "backups"
    saved = [await backup_sqlite(file_of(database), folder, "2026-11-30") for _ in range(2)]
    assert [path.name for path in saved] == ["ratings-2026-11-30.db", "ratings-2026-11-30-2.db"]
    assert sorted(path.name for path in folder.iterdir()) == sorted(path.name for path in saved)
    copy = await Database.open(f"sqlite+aiosqlite:///{saved[0]}", read_only=True)
    assert await rows_of(copy) == await rows_of(database)
    await copy.close()


async def test_a_backup_that_cannot_be_made_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(BackupFailed):
        await backup_sqlite(tmp_path / "none.db", tmp_path / "backups", "x")
    assert list((tmp_path / "backups").iterdir()) == []
    (tmp_path / "broken.db").write_bytes(b"SQLite format 3\x00" + bytes(range(256)) * 64)
    with pytest.raises(BackupFailed):
        await backup_sqlite(tmp_path / "broken.db", tmp_path / "backups", "x")
    assert list((tmp_path / "backups").iterdir()) == []
    (tmp_path / "file").write_text("")
    with pytest.raises(BackupFailed):
        await backup_sqlite(tmp_path / "none.db", tmp_path / "file", "x")


# --- health -----------------------------------------------------------------------------------------------


async def test_a_check_while_reports_come_in_finds_nothing_wrong(two: League) -> None:
    async def write() -> None:
        for _ in range(40):
            await adjust(two, 1, 1.0)

    writing = asyncio.create_task(write())
    checks = 0
    while not writing.done():
        health = await examine(two)
        assert health.well, health
        checks += 1
    await writing
    assert checks > 1 and (await examine(two)).rows == 42
