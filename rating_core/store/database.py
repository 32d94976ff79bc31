"""The database: engines, one writer at a time, and the lock that keeps a second process out.

SQLite runs in WAL mode with synchronous=FULL: an acknowledged commit survives a power cut, but for notes. Every writing
transaction begins with BEGIN IMMEDIATE, so that no read can go stale before its write. PostgreSQL: see postgres.py.
"""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout
from sqlalchemy import event, make_url, text
from sqlalchemy.engine import URL, Connection
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, NotSupportedError, ProgrammingError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from rating_core.store import sqlite_driver
from rating_core.store.errors import DatabaseBusy as DatabaseBusy
from rating_core.store.errors import LockLost as LockLost
from rating_core.store.errors import StorageFailed as StorageFailed
from rating_core.store.postgres import Fence, open_engines

DbConnection = AsyncConnection
"""One transaction's connection, as other layers call it when they hand it to a store."""

BUSY_TIMEOUT_MS = 5000


@contextmanager
def _storage_errors() -> Iterator[None]:
    """Turn the engine's failures into StorageFailed; errors of ours (a broken constraint, bad SQL) stay themselves."""
    try:
        yield
    except (IntegrityError, ProgrammingError, DataError, NotSupportedError):
        raise
    except DBAPIError as error:
        raise StorageFailed(str(error.orig)) from error
    except PoolTimeout as error:
        raise StorageFailed(str(error)) from error


def sqlite_path(url: str) -> Path | None:
    """Return the file of an SQLite URL, None for other engines."""
    parsed = make_url(url)
    return Path(parsed.database) if parsed.get_backend_name() == "sqlite" and parsed.database else None


class Database:
    """One writing engine, one reading engine. Use `write()` and `read()`; nothing else opens a connection.

    `noter`: another engine for notes (see `write`); without it they are written like all else.
    """

    def __init__(
        self, url: URL, writer: AsyncEngine, reader: AsyncEngine, fence: Fence | None = None, *,
        noter: AsyncEngine | None = None,
    ) -> None:  # fmt: skip
        self.url = url
        self.engine = writer
        self.fence = fence
        """On PostgreSQL: what keeps the lock and the writing connection one. None where nothing is to be written."""
        self._reader = reader
        self._noter = noter or writer
        self._lock = asyncio.Lock()
        self.failing = False
        """Whether the last attempt to write failed; `try_writing` finds out whether that is over."""

    @classmethod
    async def open(cls, url: str, *, read_only: bool = False) -> "Database":
        """Open the database; an SQLite file's folder is made if missing.

        `read_only` changes nothing in the database and makes no file: raises StorageFailed if there is none.
        """
        parsed = make_url(url)
        if parsed.get_backend_name() != "sqlite":
            writer, reader, fence = open_engines(parsed)
            return cls(parsed, reader, reader) if read_only else cls(parsed, writer, reader, fence)
        if parsed.database:
            await asyncio.to_thread(_prepare_folder, Path(parsed.database), read_only)
        how = {"timeout": BUSY_TIMEOUT_MS / 1000, "async_creator_fn": sqlite_driver.connect}
        discreet: dict[str, Any] = {"hide_parameters": True, "connect_args": how}
        writer = create_async_engine(parsed, pool_size=1, max_overflow=0, **discreet)
        reader = create_async_engine(parsed, pool_size=3, **discreet)
        _prepare_sqlite(writer, wal=not read_only, query_only=read_only)
        _prepare_sqlite(reader, wal=not read_only, query_only=True)
        if read_only:
            return cls(parsed, writer, reader)
        noter = create_async_engine(parsed, pool_size=1, max_overflow=0, **discreet)
        _prepare_sqlite(noter, wal=True, query_only=False, notes=True)
        return cls(parsed, writer, reader, noter=noter)

    @property
    def is_sqlite(self) -> bool:
        return self.url.get_backend_name() == "sqlite"

    @property
    def path(self) -> Path | None:
        """The SQLite file, None on PostgreSQL."""
        return Path(self.url.database) if self.is_sqlite and self.url.database else None

    @asynccontextmanager
    async def write(self, *, note: bool = False) -> AsyncIterator[AsyncConnection]:
        """One writing transaction; commits at the end, rolls back on any exception.

        A `note` can be found out again: a power cut may take it back, until something else is committed after it.
        Raises StorageFailed where the database refuses; nothing is then recorded.
        """
        async with self._lock:
            engine = (self._noter if note else self.engine).execution_options(tiaoqi_write=True)
            try:
                with _storage_errors():
                    async with engine.connect() as connection, connection.begin():
                        yield connection
            except StorageFailed:
                self.failing = True
                raise

    async def try_writing(self) -> None:
        """Write something that changes nothing; `failing` ends where the database takes it. Raises StorageFailed."""
        async with self.write() as connection:
            if self.is_sqlite:  # this rewrites the first page
                version = (await connection.execute(text("PRAGMA user_version"))).scalar_one()
                await connection.execute(text(f"PRAGMA user_version={version}"))
        self.failing = False

    async def overwrite(self) -> None:
        """Let nothing of what was deleted stay in SQLite's log. Raises StorageFailed."""
        if self.is_sqlite:
            async with self._lock:
                with _storage_errors():
                    async with self.engine.connect() as connection:
                        driver: Any = (await connection.get_raw_connection()).driver_connection
                        await driver.execute_fetchall("PRAGMA wal_checkpoint(TRUNCATE)")

    @asynccontextmanager
    async def read(self, *, afresh: bool = False) -> AsyncIterator[AsyncConnection]:
        """One reading transaction: a consistent view. Raises StorageFailed.

        `afresh`: from the file itself, not from what SQLite remembers of it.
        """
        with _storage_errors():
            # ends with a rollback: SQLite refuses to commit a reading of a file that is damaged
            async with self._reader.connect() as connection:
                if afresh and self.is_sqlite:
                    await connection.exec_driver_sql("PRAGMA shrink_memory")
                yield connection

    async def engine_version(self, connection: DbConnection) -> str:
        """Return the engine's name and version for people."""
        if self.is_sqlite:
            return f"SQLite {sqlite3.sqlite_version}"
        return "PostgreSQL " + str((await connection.execute(text("SHOW server_version"))).scalar_one())

    async def close(self) -> None:
        await self.engine.dispose()
        for other in {self._reader, self._noter} - {self.engine}:
            await other.dispose()


def _prepare_folder(path: Path, read_only: bool) -> None:
    if not read_only:
        path.parent.mkdir(parents=True, exist_ok=True)
    elif not path.is_file():
        raise StorageFailed(f"no such file: {path}")


def _read_text(stored: bytes) -> str:
    """Return a text value as it is stored; one that is no UTF-8 any more can still be read, and found to be wrong."""
    return stored.decode("utf-8", "surrogateescape")


def _prepare_sqlite(engine: AsyncEngine, *, wal: bool, query_only: bool, notes: bool = False) -> None:
    """Set up every connection of an engine. Only one, the writer's, ever does checkpoints."""

    @event.listens_for(engine.sync_engine, "connect")
    def connect(connection: Any, _record: Any) -> None:
        connection.isolation_level = None  # we begin transactions ourselves
        connection.driver_connection.text_factory = _read_text
        cursor = connection.cursor()
        if wal:
            cursor.execute("PRAGMA journal_mode=WAL")
        cursor.execute(f"PRAGMA synchronous={'NORMAL' if notes else 'FULL'}")
        cursor.execute("PRAGMA secure_delete=ON")  # what is erased is overwritten, not only let go
        cursor.execute("PRAGMA foreign_keys=ON")
        cursor.execute(f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}")
        if query_only:
            cursor.execute("PRAGMA query_only=ON")
        if query_only or notes:
            cursor.execute("PRAGMA wal_autocheckpoint=0")
        cursor.close()

    @event.listens_for(engine.sync_engine, "begin")
    def begin(connection: Connection) -> None:
        write = connection.get_execution_options().get("tiaoqi_write")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")


class ProcessLock:
    """At most one process writes: an OS lock beside the SQLite file, an advisory lock on PostgreSQL."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._file: FileLock | None = None

    async def try_acquire(self) -> bool:
        """Take the lock if it is free; return whether this process holds it now. Raises StorageFailed."""
        if (path := self._database.path) is not None:
            lock = FileLock(f"{path}.lock")
            try:
                lock.acquire(blocking=False)
            except Timeout:
                return False
            self._file = lock
        elif self._database.fence is not None:
            try:
                with _storage_errors():
                    async with self._database.engine.connect():
                        pass
            except DatabaseBusy:
                return False
        return True

    async def acquire(self, poll_seconds: float = 1.0) -> None:
        """Wait as a standby until the lock is free, also while the database cannot be reached."""
        while True:
            with suppress(StorageFailed):
                if await self.try_acquire():
                    return
            await asyncio.sleep(poll_seconds)  # no event tells what another process does

    async def until_lost(self, look_every: float) -> None:
        """Return when the lock that was held is gone for good, which happens on PostgreSQL alone (see Fence).

        A failing write tells at once; where none is made, the connection is looked at every `look_every` seconds.
        """
        fence = self._database.fence
        lost = asyncio.Event() if fence is None else fence.lost
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(None if fence is None else look_every):
                    await lost.wait()
                    return
            with suppress(StorageFailed):
                async with self._database.write():  # the pool asks the connection whether it is alive
                    pass

    async def release(self) -> None:
        if self._file is not None:
            self._file.release()
            self._file = None
        if self._database.fence is not None:
            await self._database.fence.release()
