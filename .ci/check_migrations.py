"""Migrate an empty database to the newest version and compare its tables with rating_core/store/tables.py."""

import asyncio
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection

from rating_core.store.database import Database
from rating_core.store.migrate import migrate, schema_state
from rating_core.store.tables import metadata


def differences(connection: Connection) -> list[Any]:
    """Return what a new migration would have to change."""
    return list(compare_metadata(MigrationContext.configure(connection, opts={"compare_type": True}), metadata))


async def main() -> int:
    """Return the exit code."""
    with tempfile.TemporaryDirectory() as folder:
        database = await Database.open(f"sqlite+aiosqlite:///{folder}/empty.db")
        try:
            await migrate(database, Path(folder) / "backups")
            revision, head = await schema_state(database)
            async with database.read() as connection:
                found = await connection.run_sync(differences)
        finally:
            await database.close()
    for difference in found:
        print(difference)
    print(f"revision {revision}, head {head}, {len(found)} differences from the tables in the code")
    return 0 if revision == head and not found else 1


if __name__ == "__main__":
    raise SystemExit(asyncio.run(main()))
