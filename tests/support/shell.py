"""The operator's shell in this process, in an empty folder at a fixed time."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rating_core import __main__ as shell
from rating_core.service.league import League
from rating_core.shell.opening import ShellError
from rating_core.store.database import Database
from rating_core.store.migrate import migrate
from tests.support.rows import ms

NOW = ms("2026-11-30 12:08")


def empty_folder(path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in this folder, at NOW, without settings in the environment."""
    monkeypatch.chdir(path)
    monkeypatch.setattr(shell, "now", lambda: NOW)
    for name in ("TIAOQI__DATABASE_URL", "ENVIRONMENT"):
        monkeypatch.delenv(name, raising=False)
    return path


def run(*arguments: str) -> tuple[int, str]:
    """Run a command as `python -m rating_core` does; return its exit code and what it said."""
    result = CliRunner().invoke(shell.app, list(arguments))
    if isinstance(result.exception, ShellError):
        return 1, f"{result.output}{result.exception}"
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.output


def with_league(url: str, work: Callable[[League], Awaitable[None]]) -> None:
    """Do something in a league's database, as the bot would."""

    async def go() -> None:
        database = await Database.open(url)
        await migrate(database, Path("upgrades"))
        await work(await League.open(database, lambda: NOW))
        await database.close()

    asyncio.run(go())
