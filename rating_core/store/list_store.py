"""Titles of published lists; the lists themselves are in the ledger."""

from sqlalchemy import insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from rating_core.store.tables import list_titles


class ListStore:
    """Titles of published lists seen through one connection, each by the ledger row that published its list."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def add(self, seq: int, title: str) -> None:
        await self._connection.execute(insert(list_titles).values(seq=seq, title=title))

    async def title(self, seq: int) -> str | None:
        """Return a list's title; None once it was erased."""
        query = select(list_titles.c.title).where(list_titles.c.seq == seq)
        title: str | None = (await self._connection.execute(query)).scalar()
        return title
