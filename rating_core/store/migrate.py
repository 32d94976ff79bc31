"""Bringing the database to this version's tables, with a backup of the file first."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from rating_core.failpoints import hit
from rating_core.store.backup import backup_sqlite
from rating_core.store.database import Database

MIGRATIONS = Path(__file__).resolve().parents[2] / "migrations"


class SchemaTooNew(Exception):
    """The database was written by a newer version of the bot."""


def _config(connection: Connection | None = None) -> Config:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config


def _revision(connection: Connection) -> str | None:
    return MigrationContext.configure(connection).get_current_revision()


async def schema_state(database: Database) -> tuple[str | None, str]:
    """Return the database's revision (None: no tables yet) and the one this version needs."""
    head = ScriptDirectory.from_config(_config()).get_current_head()
    async with database.read() as connection:
        return await connection.run_sync(_revision), head or ""


async def migrate(database: Database, backups: Path) -> Path | None:
    """Run what migrations are missing, whole or not at all; return the backup made before, if any.

    Raises SchemaTooNew when the database comes from a newer version.
    """
    current, head = await schema_state(database)
    if current == head:
        return None
    known = {script.revision for script in ScriptDirectory.from_config(_config()).walk_revisions()}
    if current is not None and current not in known:
        raise SchemaTooNew(current)
    saved = None
    if current is not None and database.path is not None:
        saved = await backup_sqlite(database.path, backups, f"before-{head}")
    async with database.write() as connection:
        await connection.run_sync(lambda sync: command.upgrade(_config(sync), "head"))
        hit("before_migration_commit")
    hit("after_migration_commit")
    return saved
