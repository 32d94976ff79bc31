"""Which files of games were taken over, by their hash."""

from dataclasses import dataclass

from sqlalchemy import insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from rating_core.store.tables import imports


@dataclass(frozen=True, slots=True)
class ImportedFile:
    """A file that was imported at `at` (ms) by an account (0: in the shell)."""

    hash: str
    at: int
    account_id: int
    games: int


class ImportStore:
    """Imported files seen through one connection."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def known(self, digest: str) -> ImportedFile | None:
        """Return the import of a file with this hash; None if there was none."""
        row = (await self._connection.execute(select(imports).where(imports.c.hash == digest))).first()
        return None if row is None else ImportedFile(**row._mapping)

    async def add(self, file: ImportedFile) -> None:
        values = {name: getattr(file, name) for name in ImportedFile.__dataclass_fields__}
        await self._connection.execute(insert(imports).values(**values))
