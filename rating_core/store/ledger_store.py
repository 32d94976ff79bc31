"""The ledger in the database: append under the head row's lock, read, check the hash chain."""

from collections.abc import AsyncIterator
from dataclasses import asdict

from sqlalchemy import insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from rating_core.ledger import GENESIS, Draft, Row, row_hash, seal
from rating_core.store.tables import ledger, ledger_head, ledger_notes

_COLUMNS = [ledger.c[name] for name in Row.__dataclass_fields__]
BATCH = 5000


class LedgerStore:
    """The ledger seen through one connection."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def head(self, *, lock: bool = False) -> tuple[int, str]:
        """Return the last seq and hash; (0, GENESIS) for an empty ledger."""
        query = select(ledger_head.c.seq, ledger_head.c.hash).where(ledger_head.c.id == 1)
        row = (await self._connection.execute(query.with_for_update() if lock else query)).first()
        return (row.seq, row.hash) if row else (0, GENESIS)

    async def append(self, drafts: list[Draft], now: int) -> list[Row]:
        """Append entries as the next rows; `now` (ms) is our clock, and never goes back in the ledger."""
        seq, previous = await self.head(lock=True)
        last_at = (await self._connection.execute(select(ledger.c.at).where(ledger.c.seq == seq))).scalar()
        at = max(now, last_at or 0)
        rows = []
        for draft in drafts:
            seq += 1
            row = seal(draft, seq, at, previous)
            previous = row.hash
            rows.append(row)
        await self._connection.execute(insert(ledger), [asdict(row) for row in rows])
        notes = [
            {"seq": row.seq, "reason": draft.reason} for row, draft in zip(rows, drafts, strict=True) if draft.reason
        ]
        if notes:
            await self._connection.execute(insert(ledger_notes), notes)
        await self._connection.execute(update(ledger_head).where(ledger_head.c.id == 1).values(seq=seq, hash=previous))
        return rows

    async def rows_after(self, seq: int) -> AsyncIterator[Row]:
        """Yield the rows after `seq`, in order, read in batches."""
        while True:
            query = select(*_COLUMNS).where(ledger.c.seq > seq).order_by(ledger.c.seq).limit(BATCH)
            batch = (await self._connection.execute(query)).all()
            for record in batch:
                yield Row(*record)
            if len(batch) < BATCH:
                return
            seq = batch[-1].seq

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

    async def first_broken(self) -> int | None:
        """Return the seq of the first row that does not continue the hash chain, None if it is whole."""
        previous, expected = GENESIS, 0
        async for row in self.rows_after(0):
            expected += 1
            if row.seq != expected or row_hash(previous, row) != row.hash:
                return expected
            previous = row.hash
        head_seq, head_hash = await self.head()
        return None if (head_seq, head_hash) == (expected, previous) else expected + 1
