"""A database with all tables, without the history of migrations."""

from collections.abc import AsyncIterator

import pytest

from rating_core.store.database import Database
from rating_core.store.tables import metadata


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    """An empty database."""
    database = await Database.open(database_url)
    async with database.write() as connection:
        await connection.run_sync(metadata.create_all)
    yield database
    await database.close()
