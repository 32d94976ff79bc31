"""The book's health: does a replay equal the book, is the chain whole, is anything stuck (/体检, replay --verify)."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from rating_core.book import Book
from rating_core.check import Replay, difference
from rating_core.ledger import LedgerError
from rating_core.service.collector import collector_paused
from rating_core.service.league import League
from rating_core.store.ledger_store import LedgerStore
from rating_core.store.sealed import BrokenRow, broken_rows
from rating_core.store.wire_store import OutboxTable


@dataclass(frozen=True, slots=True)
class Health:
    """What a check of the whole book found."""

    rows: int
    broken_row: int | None
    """The first ledger row that is not what was written."""
    difference: str | None
    """Where the live Book, or what was announced, differs from a fresh fold."""
    snapshot_wrong: str | None
    """Where the Book differed from a fresh fold because its snapshot was wrong; by now the fresh fold is in its place.
    """
    broken_rights: tuple[BrokenRow, ...]
    """Rows that should grant rights and grant none."""
    players: int
    games: int
    sends: Mapping[str, int]
    """Outgoing messages by state."""
    engine: str

    @property
    def well(self) -> bool:
        return self.broken_row is None and self.difference is None and not self.broken_rights


async def examine(league: League) -> Health:
    """Check chain, replay and rights as they stand in the file; nothing is written, reports may come in meanwhile.

    The fold runs in a thread, part by part, so that the bot goes on answering. A broken row makes the league refuse
    further entries.
    """
    with collector_paused():
        return await _examine(league)


async def _examine(league: League) -> Health:
    replay = Replay({name: pool.pool for name, pool in league.book.state.pools.items()})
    async with league.database.read(afresh=True) as connection:
        await replay_ledger(LedgerStore(connection), replay)
        broken_rights = tuple(await broken_rows(connection))
        sends = await OutboxTable(connection).counts()
        engine = await league.database.engine_version(connection)
    if replay.broken is not None:
        league.found_damage(replay.broken)
    found, snapshot_wrong = await _difference(league, replay.book), None
    if league.damage is None and league.from_snapshot:
        if found is not None:
            found, snapshot_wrong = None, found
            await league.replace_snapshot(replay.book)
        league.from_snapshot = False
    wrong = None if league.damage is not None else found or replay.wrong
    broken = league.damage.seq if league.damage is not None else None
    games = len(league.book.columns)
    return Health(
        replay.rows, broken, wrong, snapshot_wrong, broken_rights, len(league.directory.roster), games, sends, engine
    )


async def replay_ledger(ledger: LedgerStore, replay: Replay) -> None:
    """Let a replay read the whole ledger, in a thread, part by part."""
    head: tuple[int, str] | None = await ledger.head()
    try:
        async for batch in ledger.batches_after(0):
            await asyncio.to_thread(replay.read, batch)
    except LedgerError:
        head = None
    replay.end(head, await ledger.last_referred_to())


async def _difference(league: League, fresh: Book) -> str | None:
    """Return what differs first between a fresh fold and the live Book, both at the same row."""
    while league.damage is None:
        if fresh.seq != league.book.seq:  # rows were written meanwhile
            await league.catch_up()
            async with league.database.read() as connection:
                fresh.advance([row async for row in LedgerStore(connection).rows_after(fresh.seq)])
            continue
        live, seq = league.book, league.book.seq
        try:
            found = await asyncio.to_thread(difference, live, fresh)
        except Exception:
            if live is league.book and live.seq == seq:
                raise
            continue  # it moved while it was looked at
        if live is league.book and live.seq == seq:
            return found
    return None
