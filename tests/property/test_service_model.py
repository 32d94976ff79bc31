"""Whatever people do, the service and a second league, written plainly from the rulebook, say the same (§2–§10).

HYPOTHESIS_PROFILE=long runs it for much longer.
"""

import asyncio
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from rating_core.service.league import League
from rating_core.store.database import Database
from rating_core.store.migrate import migrate
from tests.property.league_machine import OWNER, REGISTERED_AT, LeagueMachine, register_players

LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
PLAN = settings(
    max_examples=600 if LONG else 25,
    stateful_step_count=80 if LONG else 40,
    deadline=None,
    print_blob=True,
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated file with the players in it, to be copied."""
    file = tmp_path_factory.mktemp("template") / "template.db"

    async def make() -> None:
        database = await Database.open(f"sqlite+aiosqlite:///{file}")
        await migrate(database, file.parent / "backups")
        await register_players(await League.open(database, lambda: REGISTERED_AT, frozenset({OWNER})))
        await database.close()

    asyncio.run(make())
    return file


@pytest.mark.timeout(7200 if LONG else 300)
def test_the_service_does_what_the_plain_league_foretells(template: Path, tmp_path: Path) -> None:
    run_state_machine_as_test(lambda: LeagueMachine(template, tmp_path), settings=PLAN)
