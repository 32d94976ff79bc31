"""PostgreSQL as the second engine: one connection that writes and holds the lock, others that read.

The advisory lock belongs to the session of the writing connection itself. If that connection goes, for whatever
reason, the lock goes with it, and this process never makes another one: what it does not hold, it cannot write to.
"""

import asyncio
from typing import Any

from sqlalchemy import event
from sqlalchemy.engine import URL
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from rating_core.store.errors import DatabaseBusy, LockLost, StorageFailed

LOCK_KEY = 0x7469616F7169
"""Key of the advisory lock ("tiaoqi"); PostgreSQL keeps such locks apart by database."""
READERS = 5

_CONNECT = {
    "connect_timeout": 5,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}
"""A server that is gone without a word is noticed within about 10 s. What the URL says itself goes first."""
_WRITER = (
    # the other way round: the lock of a machine that is gone without a word becomes free within about 10 s
    "SET tcp_keepalives_idle = 5",
    "SET tcp_keepalives_interval = 2",
    "SET tcp_keepalives_count = 3",
    # an acknowledged commit survives a power cut, whatever the default is
    "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') IN ('off')",
)
_READER = "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"


class Fence:
    """Lets only one connection of the writing engine exist: the one that took the lock."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine
        self._passed = False
        self.lost = asyncio.Event()
        """Set once the connection that held the lock is known to be gone; nothing is written after that."""
        event.listen(engine.sync_engine, "connect", self._connect)
        event.listen(engine.sync_engine, "invalidate", self._invalidated)

    def _connect(self, connection: Any, _record: Any) -> None:
        try:
            if self._passed:
                raise LockLost("the connection that held the lock is gone")
            _run(connection, *_WRITER)
            if not _run(connection, f"SELECT pg_try_advisory_lock({LOCK_KEY})"):
                raise DatabaseBusy("another process holds the lock")
        except BaseException:
            connection.close()
            raise
        self._passed = True

    def _invalidated(self, _connection: Any, _record: Any, error: BaseException | None) -> None:
        if isinstance(error, asyncio.CancelledError):
            self._passed = False  # we closed it ourselves: the next write takes the lock again, or fails
        else:
            self.lost.set()

    async def release(self) -> None:
        """Close the writing connection, and the lock is free; it may be taken again."""
        await self._engine.dispose()
        self._passed = False
        self.lost.clear()


def open_engines(url: URL) -> tuple[AsyncEngine, AsyncEngine, Fence]:
    """Return the writing and the reading engine; nothing connects yet. Raises StorageFailed without psycopg."""
    url = url.set(drivername="postgresql+psycopg")
    options: dict[str, Any] = {
        "pool_pre_ping": True,
        "hide_parameters": True,
        "connect_args": {name: value for name, value in _CONNECT.items() if name not in url.query},
    }
    try:
        writer = create_async_engine(url, pool_size=1, max_overflow=0, **options)
        reader = create_async_engine(url, pool_size=READERS, **options)
    except ModuleNotFoundError as error:
        raise StorageFailed(f"PostgreSQL: {error}; pip install 'psycopg[binary]'") from error
    event.listen(reader.sync_engine, "connect", _prepare_reader)
    return writer, reader, Fence(writer)


def _prepare_reader(connection: Any, _record: Any) -> None:
    _run(connection, _READER)


def _run(connection: Any, *statements: str) -> Any:
    """Run statements on a driver's connection and commit; return what the last one answers in its first field."""
    cursor = connection.cursor()
    for statement in statements:
        cursor.execute(statement)
    row = cursor.fetchone() if cursor.description else None
    cursor.close()
    connection.commit()
    return row[0] if row else None
