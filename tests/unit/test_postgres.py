"""What PostgreSQL alone has: the lock that lives and dies with the writing connection, rows locked for others."""

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from sqlalchemy import text

from rating_core.ledger import Adjustment, Draft, PlayerRegistered
from rating_core.service.health import examine
from rating_core.service.league import League
from rating_core.store.backup import BackupFailed
from rating_core.store.database import Database, DatabaseBusy, LockLost, ProcessLock, StorageFailed
from rating_core.store.dump import dump
from tests.conftest import FakeClock
from tests.support.engines import only_postgres, sql

pytestmark = only_postgres

HOLDERS = "SELECT pid FROM pg_locks JOIN pg_database ON database = oid WHERE locktype = 'advisory' AND datname = '{}'"


@pytest.fixture
async def active(league: League) -> League:
    """A league of one player whose process holds the lock."""
    assert await ProcessLock(league.database).try_acquire()
    async with league.transaction() as tx:
        await tx.append(Draft(PlayerRegistered(1, 2000.0, "普通"), tx.now, 0))
    return league


@pytest.fixture
async def other(database_url: str) -> AsyncIterator[Database]:
    """The same database as a second process opens it."""
    database = await Database.open(database_url)
    yield database
    await database.close()


async def adjust(league: League) -> None:
    async with league.transaction() as tx:
        await tx.append(Draft(Adjustment(1, 5.0), tx.now, 0, "单跳1v1"))


def address(database: Database) -> str:
    return database.url.render_as_string(hide_password=False)


def holders(database: Database) -> list[int]:
    return [pid for (pid,) in sql(address(database), HOLDERS.format(database.url.database))]


def cut(database: Database) -> None:
    """End the connection that holds the lock, as a restart of the server or an administrator does."""
    (pid,) = holders(database)
    sql(address(database), f"SELECT pg_terminate_backend({pid}, 5000)")


async def test_who_has_not_the_lock_cannot_write(active: League, other: Database) -> None:
    assert not await ProcessLock(other).try_acquire()
    with pytest.raises(DatabaseBusy):
        async with other.write():
            pass
    async with other.read() as connection:
        assert (await connection.execute(text("SELECT count(*) FROM ledger"))).scalar_one() == 1


async def test_the_lock_goes_with_the_connection_and_so_does_the_writing(
    active: League, other: Database, clock: FakeClock
) -> None:
    """Even where nobody else has it: what was said to others meanwhile is not known here."""
    cut(active.database)
    for _ in range(2):
        with pytest.raises(LockLost):
            await adjust(active)
    assert holders(active.database) == []
    assert await ProcessLock(other).try_acquire()
    await adjust(await League.open(other, clock))
    with pytest.raises(LockLost):
        await adjust(active)
    assert (await examine(await League.open(other, clock))).rows == 2


async def test_a_connection_cut_within_a_transaction_leaves_nothing_of_it(active: League, other: Database) -> None:
    with pytest.raises(StorageFailed):
        async with active.transaction() as tx:
            await tx.append(Draft(Adjustment(1, 5.0), tx.now, 0, "单跳1v1"))
            cut(active.database)
            await tx.append(Draft(Adjustment(1, 5.0), tx.now, 0, "单跳1v1"))
    assert sql(address(other), "SELECT count(*) FROM ledger") == [(1,)]
    assert active.book.seq == 1


@pytest.mark.parametrize("writes", [False, True])
async def test_the_loss_is_told(active: League, writes: bool) -> None:
    """At once by a write that fails, soon where nothing is written."""
    lost = asyncio.create_task(ProcessLock(active.database).until_lost(60 if writes else 0.01))
    await asyncio.sleep(0.1)
    assert not lost.done()
    cut(active.database)
    if writes:
        with pytest.raises(LockLost):
            await adjust(active)
    await asyncio.wait_for(lost, 10)


async def test_a_write_that_was_cancelled_does_not_end_the_writing(active: League) -> None:
    """Its connection is closed by us, and the next one has the lock again."""

    async def slow() -> None:
        async with active.transaction() as tx:
            await tx.append(Draft(Adjustment(1, 7.0), tx.now, 0, "单跳1v1"))
            await tx.ledger._connection.execute(text("SELECT pg_sleep(60)"))

    task = asyncio.create_task(slow())
    await asyncio.sleep(0.3)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await adjust(active)
    assert active.book.seq == 2 and len(holders(active.database)) == 1


async def test_the_head_is_locked_from_the_first_step_to_the_commit(active: League) -> None:
    locked = "SELECT * FROM ledger_head FOR UPDATE NOWAIT"
    async with active.transaction():
        with pytest.raises(Exception, match="could not obtain lock"):
            sql(address(active.database), locked)
    assert len(sql(address(active.database), locked)) == 1


async def test_a_reading_is_one_view(active: League) -> None:
    count = text("SELECT count(*) FROM ledger")
    async with active.database.read() as connection:
        assert (await connection.execute(count)).scalar_one() == 1
        await adjust(active)
        assert (await connection.execute(count)).scalar_one() == 1


async def test_a_commit_is_on_the_disk_whatever_the_default_is(active: League, other: Database) -> None:
    sql(address(other), f"ALTER DATABASE {other.url.database} SET synchronous_commit = off")
    await active.database.fence.release()  # type: ignore[union-attr]
    async with other.write() as connection:
        assert (await connection.execute(text("SHOW synchronous_commit"))).scalar_one() == "on"


async def test_the_check_says_the_engine(active: League) -> None:
    health = await examine(active)
    assert health.well and health.engine.startswith("PostgreSQL 1")


async def test_a_server_that_is_not_there(engine: str) -> None:
    database = await Database.open("postgresql://nobody@127.0.0.1:9/nothing")
    with pytest.raises(StorageFailed):
        await ProcessLock(database).try_acquire()
    with pytest.raises(StorageFailed):
        async with database.read():
            pass
    await database.close()


async def test_without_the_driver(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(StorageFailed, match="psycopg"):
        await Database.open("postgresql://nobody@127.0.0.1:9/nothing")


async def test_a_dump_that_fails_leaves_nothing(active: League, tmp_path: Path) -> None:
    with pytest.raises(BackupFailed, match="does not exist"):
        await dump(active.database.url.set(database="nothing"), tmp_path, "x")
    assert list(tmp_path.iterdir()) == []
