"""The book's health: does a replay equal the book, is the chain whole, is anything stuck (/体检, replay --verify)."""

from collections.abc import Mapping
from dataclasses import dataclass

from rating_core.check import first_difference
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
    """Check chain and replay against the live Book, in one consistent view of the database; nothing is written."""
    async with league.database.read() as connection:
        ledger = LedgerStore(connection)
        broken = await ledger.first_broken()
        rows = [row async for row in ledger.rows_after(0)]
        sends = await OutboxTable(connection).counts()
        engine = await league.database.engine_version(connection)
    difference = None if broken is not None else first_difference(league.book, rows)
    return Health(len(rows), broken, difference, len(league.directory.roster), len(league.book.columns), sends, engine)
