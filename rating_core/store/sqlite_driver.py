"""SQLite for SQLAlchemy with one hand-over to the connection's thread a statement, where aiosqlite makes four.

A hand-over costs more than most statements do. So a statement's rows come back with it, BEGIN goes along with the
statement after it, and what ended already is not rolled back.
"""

import sqlite3
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, Self

import aiosqlite

ITER_CHUNK_SIZE = 64
"""aiosqlite's own; unused, as rows come back all at once."""


def connect(database: str, **options: Any) -> "QuickConnection":
    """Return a connection to be awaited, as `aiosqlite.connect` does; for `async_creator_fn`."""
    return QuickConnection(partial(sqlite3.connect, database, **options))


class _Answer(NamedTuple):
    """What a cursor holds after its statement."""

    description: Any = None
    rowcount: int = -1
    lastrowid: int | None = None
    rows: Sequence[Any] = ()


class QuickConnection(aiosqlite.Connection):
    """What SQLAlchemy's dialect uses of a connection."""

    def __init__(self, connector: Callable[[], sqlite3.Connection]) -> None:
        super().__init__(connector, ITER_CHUNK_SIZE)
        self._thread.daemon = True
        self._begin = ""
        """BEGIN that waits for a statement."""
        self._idle = True
        """Nothing was executed since the last transaction ended."""

    def cursor(self) -> Any:
        return _Cursor(self)

    async def run(self, sql: str, parameters: Any, *, many: bool = False) -> _Answer:
        """Execute a statement and fetch its rows."""
        if sql.startswith("BEGIN"):
            self._begin = sql
            return _Answer()
        begin, self._begin, self._idle = self._begin, "", False
        answer: _Answer = await self._execute(self._run, begin, sql, parameters, many)  # type: ignore[no-untyped-call]
        return answer

    def _run(self, begin: str, sql: str, parameters: Any, many: bool) -> _Answer:
        cursor = self._conn.cursor()
        try:
            if begin:
                cursor.execute(begin)
            (cursor.executemany if many else cursor.execute)(sql, parameters)
            rows = cursor.fetchall() if cursor.description else ()
            return _Answer(cursor.description, cursor.rowcount, cursor.lastrowid, rows)
        finally:
            cursor.close()

    async def commit(self) -> None:
        self._begin = ""
        if not self._idle:
            await super().commit()
            self._idle = True

    async def rollback(self) -> None:
        self._begin = ""
        if not self._idle:
            await super().rollback()
            self._idle = True


class _Cursor:
    """One statement at a time, and its whole answer."""

    arraysize = 1

    def __init__(self, connection: QuickConnection) -> None:
        self._connection = connection
        self._answer = _Answer()

    async def __aenter__(self) -> Self:
        return self

    async def execute(self, sql: str, parameters: Any = ()) -> Self:
        self._answer = await self._connection.run(sql, parameters)
        return self

    async def executemany(self, sql: str, parameters: Any) -> Self:
        self._answer = await self._connection.run(sql, parameters, many=True)
        return self

    @property
    def description(self) -> Any:
        return self._answer.description

    @property
    def rowcount(self) -> int:
        return self._answer.rowcount

    @property
    def lastrowid(self) -> int | None:
        return self._answer.lastrowid

    async def fetchall(self) -> Sequence[Any]:
        return self._answer.rows

    async def close(self) -> None:
        """Nothing: the statement is over."""
