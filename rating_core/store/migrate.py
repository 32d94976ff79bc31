"""Bringing the database to this version's tables, with a backup first."""

from dataclasses import dataclass
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

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


async def migrate(database: Database, backups: Path) -> Upgrade | None:
    """Run what migrations are missing, whole or not at all; None where there was nothing to upgrade.

    Raises SchemaTooNew when the database comes from a newer version, BackupFailed where none could be made before.
    """
    current, head = await schema_state(database)
    if current == head:
        return None
    known = {script.revision for script in ScriptDirectory.from_config(_config()).walk_revisions()}
    if current is not None and current not in known:
        raise SchemaTooNew(current)
    upgrade = None
    if current is not None:
        label = f"before-{head}"
        if database.path is not None:
            upgrade = Upgrade(await backup_sqlite(database.path, backups, label))
        else:
            upgrade = Upgrade(await dump(database.url, backups, label))
    async with database.write() as connection:
        await connection.run_sync(lambda sync: command.upgrade(_config(sync), "head"))
        hit("before_migration_commit")
    hit("after_migration_commit")
    return upgrade
