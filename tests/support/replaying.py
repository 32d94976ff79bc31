"""What the bot's own check finds in a ledger, for tests that hold one in their hands."""

from collections.abc import Iterable

from rating_core.book import Book
from rating_core.check import Replay, difference
from rating_core.ledger import Row
from rating_core.rulebook import POOLS
from rating_core.service.health import replay_ledger
from rating_core.store.database import DbConnection
from rating_core.store.ledger_store import LedgerStore


def first_difference(live: Book, rows: Iterable[Row]) -> str | None:
    """Return what differs first between a Book, or what was announced, and a fresh fold of `rows`."""
    replay = Replay({name: pool.pool for name, pool in live.state.pools.items()})
    replay.read(row for row in rows if row.seq <= live.seq)
    if replay.broken is not None:
        return f"账{replay.broken}"
    return replay.wrong or difference(live, replay.book)


async def broken_row(connection: DbConnection) -> int | None:
    """Return the first row of the ledger that is not what was written."""
    replay = Replay(dict(POOLS))
    await replay_ledger(LedgerStore(connection), replay)
    return replay.broken
