"""SQLite and PostgreSQL under the same tests: each folder of a test is one league, and has its database.

PostgreSQL is given as TIAOQI_TEST_POSTGRES=postgresql+psycopg://user@host/postgres, whose user may make databases
(.ci/with_postgres runs a command beside one); without it the tests that ask for it are skipped.
"""

import asyncio
import os
import sqlite3
import tempfile
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import make_url

from rating_core.store.database import Database, sqlite_path
from rating_core.store.migrate import migrate

SETTING = "TIAOQI_TEST_POSTGRES"
SQLITE, POSTGRES = "sqlite", "postgres"
_missing = () if os.environ.get(SETTING) else pytest.mark.skip(f"no PostgreSQL: {SETTING} is not set")
ON_SQLITE, ON_POSTGRES = pytest.param(SQLITE), pytest.param(POSTGRES, marks=_missing)

only_sqlite = pytest.mark.parametrize("engine", [ON_SQLITE], indirect=True)
only_postgres = pytest.mark.parametrize("engine", [ON_POSTGRES], indirect=True)

_chosen = SQLITE
_urls: dict[Path, str] = {}


@contextmanager
def using(engine: str) -> Iterator[None]:
    """Let new folders have their database on this engine."""
    global _chosen
    before, _chosen = _chosen, engine
    try:
        yield
    finally:
        _chosen = before


@contextmanager
def dropping() -> Iterator[None]:
    """Drop the databases on PostgreSQL at the end that are made meanwhile."""
    before = set(_urls)
    try:
        yield
    finally:
        for folder in _urls.keys() - before:
            drop(folder)


def url_of(folder: Path, *, empty: bool = False) -> str:
    """Return the URL of a folder's league. On PostgreSQL it is made when first asked for, with all tables or empty."""
    if folder not in _urls:
        if _chosen == SQLITE:
            _urls[folder] = f"sqlite+aiosqlite:///{folder}/ratings.db"
        else:
            _urls[folder] = new_database() if empty else new_database(template=_template())
    return _urls[folder]


def new_database(template: str = "template0") -> str:
    """Make a database on PostgreSQL, without tables unless the template has some; return its URL."""
    name = f"tiaoqi_{uuid4().hex}"
    sql(os.environ[SETTING], f"CREATE DATABASE {name} TEMPLATE {template}")
    return make_url(os.environ[SETTING]).set(database=name).render_as_string(hide_password=False)


def drop(folder: Path) -> None:
    """Drop a folder's database where it is on PostgreSQL; a file goes with its folder."""
    url = _urls.pop(folder, None)
    if url is not None and sqlite_path(url) is None:
        sql(os.environ[SETTING], f"DROP DATABASE {make_url(url).database} WITH (FORCE)")


def sql(url: str, *statements: str) -> list[tuple[Any, ...]]:
    """Run statements behind the store's back; return the rows of the last one. Errors are the driver's."""
    if (file := sqlite_path(url)) is not None:
        with closing(sqlite3.connect(file)) as connection:
            for statement in statements:
                rows = connection.execute(statement).fetchall()
            connection.commit()
        return rows
    import psycopg

    address = make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(address, autocommit=True) as connection:
        for statement in statements:
            cursor = connection.execute(statement)
        return cursor.fetchall() if cursor.description else []


def unguard(url: str) -> None:
    """Let the ledger's rows be changed."""
    sqlite = ("DROP TRIGGER ledger_no_update", "DROP TRIGGER ledger_no_delete")
    sql(url, *(sqlite if sqlite_path(url) else ("DROP TRIGGER ledger_no_change ON ledger",)))


@cache
def _template() -> str:
    """A database with all tables in it, made once; return its name. Its server is a private one, or dropped by hand."""
    url = new_database()

    async def make() -> None:
        database = await Database.open(url)
        with tempfile.TemporaryDirectory() as folder:
            await migrate(database, Path(folder))
        await database.close()

    thread = threading.Thread(target=lambda: asyncio.run(make()))  # beside a loop that may be running here
    thread.start()
    thread.join()
    return str(make_url(url).database)
