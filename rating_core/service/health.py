"""The book's health: does a replay equal the book, is the chain whole, is anything stuck (/体检, replay --verify)."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from rating_core.check import difference, fold_afresh
from rating_core.ledger import Row
from rating_core.service.league import League
from rating_core.store.ledger_store import LedgerStore
from rating_core.store.wire_store import OutboxTable


@dataclass(frozen=True, slots=True)
class Health:
    """What a check of the whole book found."""

    rows: int
    broken_row: int | None
    """The first ledger row that does not continue the hash chain."""
    difference: str | None
    """Where the live Book, or what was announced, differs from a fresh fold."""
    players: int
    games: int
    sends: Mapping[str, int]
    """Outgoing messages by state."""
    engine: str

    @property
    def well(self) -> bool:
        return self.broken_row is None and self.difference is None


async def examine(league: League) -> Health:
    """Check chain and replay against the live Book; nothing is written, and reports may come in meanwhile.

    The fold runs in a thread, so that the bot goes on answering.
    """
    async with league.database.read() as connection:
        ledger = LedgerStore(connection)
        broken = await ledger.first_broken()
        rows = [row async for row in ledger.rows_after(0)]
        sends = await OutboxTable(connection).counts()
        engine = await league.database.engine_version(connection)
    wrong = None if broken is not None else await _difference(league, rows)
    return Health(len(rows), broken, wrong, len(league.directory.roster), len(league.book.columns), sends, engine)


async def _difference(league: League, rows: list[Row]) -> str | None:
    """Return what differs first between a fresh fold and the live Book, both at the same row."""
    pools = {name: pool.pool for name, pool in league.book.state.pools.items()}
    fresh, wrong = await asyncio.to_thread(fold_afresh, pools, rows)
    while fresh.seq != league.book.seq:  # rows were written meanwhile
        await league.catch_up()
        async with league.database.read() as connection:
            fresh.advance([row async for row in LedgerStore(connection).rows_after(fresh.seq)])
    return wrong or difference(league.book, fresh)
