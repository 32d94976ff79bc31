"""The ledger in the database: append under the head row's lock, read, check the hash chain."""

import sqlite3
from collections.abc import AsyncIterator
from dataclasses import asdict

from sqlalchemy import bindparam, func, insert, select, update
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection

from rating_core.ledger import GENESIS, Draft, LedgerError, Row, seal
from rating_core.store.tables import ledger, ledger_head, ledger_notes, reports

_COLUMNS = [ledger.c[name] for name in Row.__dataclass_fields__]
_HEAD = select(ledger_head.c.seq, ledger_head.c.hash).where(ledger_head.c.id == 1)
_HEAD_LOCKED = _HEAD.with_for_update()
_SET_HEAD = update(ledger_head).where(ledger_head.c.id == 1)
_APPEND = insert(ledger)
_AT = select(ledger.c.at).where(ledger.c.seq == bindparam("number"))
_AFTER = select(*_COLUMNS).where(ledger.c.seq > bindparam("number")).order_by(ledger.c.seq).limit(bindparam("most"))
BATCH = 500
"""Rows read and looked at in one go: a few ms, so that others get their turn in between."""


class LedgerStore:
    """The ledger seen through one connection. `head`: its last seq and hash, where the head row is locked already."""

    def __init__(self, connection: AsyncConnection, head: tuple[int, str] | None = None) -> None:
        self._connection = connection
        self._locked = head

    async def head(self, *, lock: bool = False) -> tuple[int, str]:
        """Return the last seq and hash; (0, GENESIS) for an empty ledger."""
        row = (await self._connection.execute(_HEAD_LOCKED if lock else _HEAD)).first()
        return (row.seq, row.hash) if row else (0, GENESIS)

    async def append(self, drafts: list[Draft], now: int) -> list[Row]:
        """Append entries as the next rows; `now` (ms) is our clock, and never goes back in the ledger."""
        seq, previous = self._locked or await self.head(lock=True)
        last_at = (await self._connection.execute(_AT, {"number": seq})).scalar()
        at = max(now, last_at or 0)
        rows = []
        for draft in drafts:
            seq += 1
            row = seal(draft, seq, at, previous)
            previous = row.hash
            rows.append(row)
        await self._connection.execute(_APPEND, [asdict(row) for row in rows])
        notes = [
            {"seq": row.seq, "reason": draft.reason} for row, draft in zip(rows, drafts, strict=True) if draft.reason
        ]
        if notes:
            await self._connection.execute(insert(ledger_notes), notes)
        await self._connection.execute(_SET_HEAD, {"seq": seq, "hash": previous})
        self._locked = seq, previous
        return rows

    async def batches_after(self, seq: int) -> AsyncIterator[list[Row]]:
        """Yield the rows after `seq`, in order, in batches.

        Raises LedgerError where SQLite cannot read a row, having given all those before it.
        """
        size = BATCH
        while True:
            try:
                found = await self._connection.execute(_AFTER, {"number": seq, "most": size})
                batch = [Row(*record) for record in found.all()]
            except DBAPIError as error:
                if not _is_damage(error):
                    raise
                if size == 1:
                    raise LedgerError(f"row after {seq}: {error.orig}") from error
                size = 1  # to find out which row it is
                continue
            yield batch
            if len(batch) < size:
                return
            seq = batch[-1].seq

    async def rows_after(self, seq: int) -> AsyncIterator[Row]:
        """Yield the rows after `seq`, in order. Raises LedgerError where SQLite cannot read one."""
        async for batch in self.batches_after(seq):
            for row in batch:
                yield row

    async def first_after(self, seq: int) -> Row | None:
        """Return the first row after `seq`, None if there is none. Raises LedgerError where SQLite cannot read it."""
        async for row in self.rows_after(seq):
            return row
        return None

    async def rows_of(self, kind: str) -> list[Row]:
        """Return the rows of one kind, in order."""
        query = select(*_COLUMNS).where(ledger.c.kind == kind).order_by(ledger.c.seq)
        return [Row(*record) for record in await self._connection.execute(query)]

    async def reason(self, seq: int) -> str:
        """Return why an entry was made, "" if nothing was said or it was forgotten."""
        query = select(ledger_notes.c.reason).where(ledger_notes.c.seq == seq)
        return (await self._connection.execute(query)).scalar() or ""

    async def row(self, seq: int) -> Row | None:
        record = (await self._connection.execute(select(*_COLUMNS).where(ledger.c.seq == seq))).first()
        return Row(*record) if record else None

    async def last_referred_to(self) -> int:
        """Return the last row of which a report or a note tells: it must be there even where the head was cut too."""
        last = [select(func.max(column)).scalar_subquery() for column in (reports.c.seq, ledger_notes.c.seq)]
        record = (await self._connection.execute(select(*last))).one()
        return max((seq for seq in record if isinstance(seq, int)), default=0)


def _is_damage(error: DBAPIError) -> bool:
    """Whether SQLite says that the file itself is not in order."""
    code = getattr(error.orig, "sqlite_errorcode", None)
    return code is not None and code & 0xFF == sqlite3.SQLITE_CORRUPT
