"""Which database the shell means, and opening it: for reading beside the bot, for writing only without it."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from dotenv import dotenv_values

from rating_core.shell import wording
from rating_core.store.backup import BackupFailed
from rating_core.store.database import Database, ProcessLock, StorageFailed, sqlite_path
from rating_core.store.migrate import SchemaTooNew, migrate, schema_state

SETTING = "TIAOQI__DATABASE_URL"
DEFAULT_URL = "sqlite+aiosqlite:///data/ratings.db"
SANDBOX_FILE = "sandbox.db"
BACKUPS = "backups"
_DRIVERS = {"sqlite": "sqlite+aiosqlite", "postgresql": "postgresql+psycopg", "postgres": "postgresql+psycopg"}


class ShellError(Exception):
    """The command cannot go on; the text says why, in Chinese."""


def database_url(option: str | None, environment: Mapping[str, str], folder: Path) -> str:
    """Return the URL from --database, else the environment, else .env as NoneBot reads it, else the default.

    A file name and a URL without a driver are taken too. Raises ShellError.
    """
    settings = dotenv_values(folder / ".env")
    name = environment.get("ENVIRONMENT") or settings.get("ENVIRONMENT") or "prod"
    settings |= dotenv_values(folder / f".env.{name}")
    found = (option or environment.get(SETTING) or settings.get(SETTING) or DEFAULT_URL).strip().strip("\"'")
    scheme, colon, rest = found.partition("://")
    if not colon:
        return f"sqlite+aiosqlite:///{found}"
    url = f"{_DRIVERS.get(scheme, scheme)}://{rest}"
    if url.split("+")[0] not in ("sqlite", "postgresql"):
        raise ShellError(wording.bad_url(found))
    return url


def file_of(url: str) -> Path | None:
    """Return the SQLite file, None for PostgreSQL. Raises ShellError where a file is needed and missing."""
    path = sqlite_path(url)
    if path is not None and not path.is_file():
        raise ShellError(wording.no_database(path, path.with_name(SANDBOX_FILE)))
    return path


@asynccontextmanager
async def reading(url: str) -> AsyncIterator[Database]:
    """Open the database read-only; works beside the running bot. Raises ShellError."""
    file_of(url)
    database = await Database.open(url, read_only=True)
    try:
        current, wanted = await schema_state(database)
        if current != wanted:
            raise ShellError(wording.other_schema(current, wanted))
        yield database
    except StorageFailed as error:
        raise ShellError(wording.storage_failed(error)) from error
    finally:
        await database.close()


@asynccontextmanager
async def writing(url: str) -> AsyncIterator[tuple[Database, Path | None]]:
    """Open the database alone and bring it to this version's tables; yield it and the backup made before that.

    Raises ShellError while the bot holds it.
    """
    database = await Database.open(url)
    lock = ProcessLock(database)
    try:
        if not await lock.try_acquire():
            raise ShellError(wording.RUNNING)
        folder = database.path.parent if database.path else Path("data")
        upgrade = await migrate(database, folder / BACKUPS)
        yield database, upgrade.saved if upgrade else None
    except SchemaTooNew as error:
        raise ShellError(wording.other_schema(str(error), "")) from error
    except BackupFailed as error:
        raise ShellError(wording.backup_failed(error)) from error
    except StorageFailed as error:
        raise ShellError(wording.storage_failed(error)) from error
    finally:
        await lock.release()
        await database.close()
