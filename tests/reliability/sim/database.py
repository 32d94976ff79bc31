"""The product's database on plain sqlite3 calls: the same SQL on a real file, without aiosqlite's thread.

`InlineDatabase` takes the place of `Database` in the wiring. A statement runs at once, where aiosqlite's would be
handed to a thread; now and then (drawn from the seed) the task gives way before it, as it would there.
"""

import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

from sqlalchemy import create_engine
from sqlalchemy.engine import Connection, Engine, make_url
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlalchemy.pool import NullPool

from rating_core.store.database import Database, _prepare_sqlite


class Killed(BaseException):
    """The process is gone: whatever it still wanted to do does not happen."""


class Raw(sqlite3.Connection):
    """A connection that also passes for SQLAlchemy's wrapper around one of aiosqlite."""

    @property
    def driver_connection(self) -> "Raw":
        return self


class Disk:
    """A database file as one life of the bot has it open. `give_way` is awaited before each statement.

    `committed(connection, tables)` is called after each writing transaction with the tables it wrote to.
    """

    def __init__(
        self, file: Path, give_way: Callable[[], Awaitable[None]],
        committed: Callable[[sqlite3.Connection, set[str]], None],
    ) -> None:  # fmt: skip
        self.file = file
        self.give_way = give_way
        self.committed = committed
        self.dead = False
        self.fuse: int | None = None
        """After so many more steps the process is killed."""
        self.on_fuse: Callable[[], None] = self.close
        self._all: list[tuple[Connection, Raw]] = []
        self._free: dict[Engine, list[tuple[Connection, Raw]]] = {}

    def connect(self) -> Raw:
        return sqlite3.connect(self.file, factory=Raw)

    def take(self, engine: Engine) -> tuple[Connection, "Raw"]:
        """Return an open connection that nobody uses.

        SQLAlchemy believes it is in one long transaction; BEGIN and COMMIT go past it, which saves much time.
        """
        if free := self._free.get(engine):
            return free.pop()
        connection = engine.connect()
        connection.begin()
        raw = connection.connection.driver_connection
        assert isinstance(raw, Raw)
        raw.execute("COMMIT")
        self._all.append((connection, raw))
        return self._all[-1]

    def give_back(self, engine: Engine, connection: tuple[Connection, "Raw"]) -> None:
        self._free.setdefault(engine, []).append(connection)

    def close(self) -> None:
        """Close all connections, as when the process ends or is killed: what was not committed is gone."""
        self.dead = True
        for connection, raw in self._all:
            raw.close()
            connection.invalidate()
        self._all.clear()

    async def enter(self) -> None:
        """Before a statement, a BEGIN or a COMMIT. Raises Killed where the process has gone, or goes here."""
        if not self.dead:
            await self.give_way()
            if self.fuse is not None:
                self.fuse -= 1
                if self.fuse <= 0:
                    self.fuse = None
                    self.on_fuse()
        if self.dead:
            raise Killed


class InlineConnection:
    """What the stores use of an AsyncConnection."""

    def __init__(self, disk: Disk, connection: Connection, raw: Raw, begin: str) -> None:
        self._disk = disk
        self._connection = connection
        self._raw = raw
        self._begin = begin
        self._written: set[str] = set()

    @property
    def dialect(self) -> Any:
        return self._connection.dialect

    async def execute(self, statement: Any, parameters: Any = None) -> Any:
        await self._disk.enter()
        self._autobegin()
        if statement.is_dml:
            self._written.add(statement.table.name)
        return self._connection.execute(statement, parameters)

    async def exec_driver_sql(self, statement: str) -> Any:
        await self._disk.enter()
        self._autobegin()
        return self._connection.exec_driver_sql(statement)

    def _autobegin(self) -> None:
        """Begin with the first statement, as SQLAlchemy does."""
        if not self._raw.in_transaction:
            self._raw.execute(self._begin)

    @asynccontextmanager
    async def begin(self) -> AsyncIterator[None]:
        disk = self._disk
        await disk.enter()
        self._autobegin()
        try:
            yield
            await disk.enter()
        except BaseException:
            if not disk.dead:
                self.roll_back()
            raise
        self._raw.execute("COMMIT")
        if self._written:
            disk.committed(self._raw, self._written)

    def roll_back(self) -> None:
        if self._raw.in_transaction:
            self._raw.execute("ROLLBACK")


class InlineEngine:
    """What `Database` uses of an AsyncEngine; `disk` is that of the life that is running."""

    def __init__(self, engine: Engine, disk: Callable[[], Disk], begin: str = "BEGIN") -> None:
        self.sync_engine = engine
        self._disk = disk
        self._begin = begin

    def execution_options(self, **options: Any) -> "InlineEngine":
        return InlineEngine(self.sync_engine, self._disk, "BEGIN IMMEDIATE" if options.get("tiaoqi_write") else "BEGIN")

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[InlineConnection]:
        disk = self._disk()
        await disk.enter()
        pair = disk.take(self.sync_engine)
        inline = InlineConnection(disk, *pair, self._begin)
        try:
            yield inline
        finally:
            if not disk.dead:
                inline.roll_back()
                disk.give_back(self.sync_engine, pair)

    async def dispose(self) -> None:
        self._disk().close()


class Engines:
    """The two engines of `Database.open`, kept over all lives and worlds: their caches of SQL are dear."""

    def __init__(self, disk: Callable[[], Disk]) -> None:
        self._disk = disk
        self._engines = [self._engine(query_only=False), self._engine(query_only=True)]

    def _engine(self, *, query_only: bool) -> AsyncEngine:
        engine = create_engine("sqlite://", creator=lambda: self._disk().connect(), poolclass=NullPool)
        inline = cast(AsyncEngine, InlineEngine(engine, self._disk))
        _prepare_sqlite(inline, wal=True, query_only=query_only)
        return inline

    def open(self) -> Database:
        """Open the file of the life that begins, as `Database.open` does."""
        writer, reader = self._engines
        return Database(make_url(f"sqlite+aiosqlite:///{self._disk().file}"), writer, reader)


class NoLock:
    """Stands for ProcessLock: a simulated process is never alone with the real ones, nor ever two."""

    def __init__(self, database: Database) -> None:
        pass

    async def try_acquire(self) -> bool:
        return True

    async def release(self) -> None:
        pass
