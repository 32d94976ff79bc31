"""Tables whose rows grant rights: each row carries a checksum over itself, and one that does not fit grants nothing.

The checksum is a plain SHA-256 of the table's name and all other columns. It finds bits that rotted and values
edited by hand; it does not stop somebody who knows how it is made, nor does it tell that a row was deleted. Only this
module writes such rows (a test looks), so that none is ever sealed anew without having been whole before.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Table, and_, delete, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from rating_core.ledger import canonical
from rating_core.store.tables import metadata

SEAL = "seal"
SEALED_TABLES = tuple(table for table in metadata.sorted_tables if SEAL in table.c)


@dataclass(frozen=True, slots=True)
class BrokenRow:
    """A row that grants nothing, because it is not as it was written."""

    table: str
    key: str
    """Its primary key, for people."""


def seal_of(table: Table, row: Mapping[str, Any]) -> str:
    """Return the checksum a row must carry."""
    content = [table.name, *(row[column.name] for column in table.c if column.name != SEAL)]
    return hashlib.sha256(canonical(content).encode()).hexdigest()


def is_whole(table: Table, row: Mapping[str, Any]) -> bool:
    """Return whether a row is as it was written."""
    try:
        return bool(seal_of(table, row) == row[SEAL])
    except (TypeError, ValueError):  # a value that is not of its column's type, or no text
        return False


class SealedTable:
    """One such table seen through one connection. Rows that are not whole are neither given out nor changed."""

    def __init__(self, connection: AsyncConnection, table: Table) -> None:
        self._connection = connection
        self._table = table

    async def rows(self) -> list[dict[str, Any]]:
        """Return the whole rows in the order of their keys."""
        return [row for row in await self._select() if is_whole(self._table, row)]

    async def broken(self) -> list[BrokenRow]:
        """Return the rows that are not whole."""
        name, keys = self._table.name, self._table.primary_key.columns
        rows = await self._select()
        return [
            BrokenRow(name, " ".join(str(row[key.name]) for key in keys))
            for row in rows
            if not is_whole(self._table, row)
        ]

    async def add(self, **values: Any) -> None:
        statement = insert(self._table).values(**values, seal="").returning(*self._table.c)
        await self._seal((await self._connection.execute(statement)).one()._asdict())

    async def change(self, *where: Any, **values: Any) -> int:
        """Change the whole rows among those that fit; return how many."""
        rows = [row for row in await self._select(*where) if is_whole(self._table, row)]
        for row in rows:
            await self._connection.execute(update(self._table).where(self._key(row)).values(**values))
            await self._seal({**row, **values})
        return len(rows)

    async def remove(self, *where: Any) -> int:
        """Delete the rows that fit, whole or not; return how many."""
        return (await self._connection.execute(delete(self._table).where(*where))).rowcount

    async def remove_broken(self, *where: Any) -> int:
        """Delete the rows that fit and are not whole; return how many."""
        rows = [row for row in await self._select(*where) if not is_whole(self._table, row)]
        for row in rows:
            await self.remove(self._key(row))
        return len(rows)

    async def _select(self, *where: Any) -> list[dict[str, Any]]:
        query = select(self._table).where(*where).order_by(*self._table.primary_key.columns)
        return [row._asdict() for row in await self._connection.execute(query)]

    async def _seal(self, row: Mapping[str, Any]) -> None:
        seal = seal_of(self._table, row)
        await self._connection.execute(update(self._table).where(self._key(row)).values(seal=seal))

    def _key(self, row: Mapping[str, Any]) -> Any:
        return and_(*(column == row[column.name] for column in self._table.primary_key.columns))


async def broken_rows(connection: AsyncConnection) -> list[BrokenRow]:
    """Return every row of every such table that is not whole."""
    return [row for table in SEALED_TABLES for row in await SealedTable(connection, table).broken()]
