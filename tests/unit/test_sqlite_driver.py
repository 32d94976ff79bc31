"""The SQLite connection under SQLAlchemy: transactions begin with their first statement and end as they should."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text

from rating_core.store.database import Database, StorageFailed


@pytest.fixture
def file(tmp_path: Path) -> Path:
    with closing(sqlite3.connect(tmp_path / "a.db")) as connection:
        connection.execute("CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT)")
    return tmp_path / "a.db"


async def test_rows_come_back_whole_and_what_fails_is_undone(file: Path) -> None:
    database = await Database.open(f"sqlite+aiosqlite:///{file}")
    try:
        for note in (False, True):
            async with database.write(note=note) as connection:
                values = [{"b": "甲"}, {"b": "乙"}]
                await connection.execute(text("INSERT INTO t (b) VALUES (:b)"), values)
            with pytest.raises(KeyError):
                async with database.write(note=note) as connection:
                    await connection.execute(text("DELETE FROM t"))
                    raise KeyError
            async with database.write(note=note):
                pass  # nothing was done, nothing is left open
        async with database.read() as connection:
            found = [*await connection.execute(text("SELECT b FROM t ORDER BY a"))]
            assert [row.b for row in found] == ["甲", "乙", "甲", "乙"]
            assert (await connection.execute(text("SELECT b FROM t WHERE a = 99"))).first() is None
    finally:
        await database.close()


async def test_a_writing_transaction_locks_others_out_from_its_first_statement(file: Path) -> None:
    database = await Database.open(f"sqlite+aiosqlite:///{file}")
    try:
        with closing(sqlite3.connect(file, timeout=0, isolation_level=None)) as other:
            async with database.write() as connection:
                await connection.execute(text("SELECT count(*) FROM t"))
                with pytest.raises(sqlite3.OperationalError, match="locked"):
                    other.execute("BEGIN IMMEDIATE")
            other.execute("BEGIN IMMEDIATE")
            other.execute("ROLLBACK")
    finally:
        await database.close()


async def test_a_note_is_not_synced_and_all_else_is(file: Path) -> None:
    database = await Database.open(f"sqlite+aiosqlite:///{file}")
    try:
        for note, synchronous, checkpoints in ((False, 2, 1000), (True, 1, 0)):
            async with database.write(note=note) as connection:
                assert (await connection.execute(text("PRAGMA synchronous"))).scalar_one() == synchronous
                assert (await connection.execute(text("PRAGMA wal_autocheckpoint"))).scalar_one() == checkpoints
    finally:
        await database.close()


async def test_an_error_is_ours_or_the_database_s(file: Path) -> None:
    database = await Database.open(f"sqlite+aiosqlite:///{file}", read_only=True)
    try:
        with pytest.raises(StorageFailed, match="readonly"):
            async with database.write() as connection:
                await connection.execute(text("INSERT INTO t (b) VALUES ('甲')"))
    finally:
        await database.close()
