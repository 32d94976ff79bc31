"""Bringing the database to this version's tables, with a backup first.

Alembic is imported only where a migration is missing: nearly every start needs none.
"""

from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, inspect, text

from rating_core.failpoints import hit
from rating_core.store.backup import backup_sqlite
from rating_core.store.database import Database
from rating_core.store.dump import dump

MIGRATIONS = Path(__file__).resolve().parents[2] / "migrations"


class SchemaTooNew(Exception):
    """The database was written by a newer version of the bot."""


@dataclass(frozen=True, slots=True)
class Upgrade:
    """An older version's database was brought up to this one's tables."""

    saved: Path | None
    """The backup made before; None on PostgreSQL where there is no pg_dump."""


def _revisions() -> list[str]:
    """Return this version's migrations, oldest first: each file's name begins with its revision."""
    return sorted(script.stem.partition("_")[0] for script in (MIGRATIONS / "versions").glob("*.py"))


def _revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()


def _upgrade(connection: Connection) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


async def schema_state(database: Database) -> tuple[str | None, str]:
    """Return the database's revision (None: no tables yet) and the one this version needs."""
    async with database.read() as connection:
        return await connection.run_sync(_revision), _revisions()[-1]


async def migrate(database: Database, backups: Path) -> Upgrade | None:
    """Run what migrations are missing, whole or not at all; None where there was nothing to upgrade.

    Raises SchemaTooNew when the database comes from a newer version, BackupFailed where none could be made before.
    """
    current, head = await schema_state(database)
    if current == head:
        return None
    if current is not None and current not in _revisions():
        raise SchemaTooNew(current)
    upgrade = None
    if current is not None:
        label = f"before-{head}"
        if database.path is not None:
            upgrade = Upgrade(await backup_sqlite(database.path, backups, label))
        else:
            upgrade = Upgrade(await dump(database.url, backups, label))
    async with database.write() as connection:
        await connection.run_sync(_upgrade)
        hit("before_migration_commit")
    hit("after_migration_commit")
    return upgrade
