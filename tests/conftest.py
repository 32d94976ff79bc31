"""What many tests need: a clock that stands still and a league in its own database, on either engine."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import settings

from rating_core.service.league import League
from rating_core.store.database import Database
from rating_core.store.migrate import migrate
from tests.support import engines
from tests.support.rows import ms

settings.register_profile("league", deadline=None, print_blob=True)
settings.load_profile("league")


@dataclass
class FakeClock:
    """A clock that moves only when told to; milliseconds since the epoch."""

    now: int

    def __call__(self) -> int:
        return self.now

    def forward(self, *, seconds: float = 0, hours: float = 0, days: float = 0) -> int:
        """Move on and return the new time."""
        self.now += round((seconds + 3600 * hours + 86400 * days) * 1000)
        return self.now


@pytest.fixture
def clock() -> FakeClock:
    """2026-11-30 12:08 in Shanghai."""
    return FakeClock(ms("2026-11-30 12:08"))


@pytest.fixture(scope="module", params=[engines.ON_SQLITE, engines.ON_POSTGRES])
def engine(request: pytest.FixtureRequest) -> Iterator[str]:
    """The engine under a test: whoever asks for it, or for a database, runs once on each."""
    with engines.using(request.param), engines.dropping():
        yield request.param


@pytest.fixture(autouse=True)
def databases_of_one_test() -> Iterator[None]:
    """Whatever is made for one test goes with it: a checkpoint a database is too long for a teardown of all."""
    with engines.dropping():
        yield


@pytest.fixture
def database_url(engine: str, tmp_path: Path) -> str:
    return engines.url_of(tmp_path)


@pytest.fixture
async def database(database_url: str, tmp_path: Path) -> AsyncIterator[Database]:
    """A database with all tables, empty."""
    database = await Database.open(database_url)
    await migrate(database, tmp_path / "backups")
    yield database
    await database.close()


@pytest.fixture
async def league(database: Database, clock: FakeClock) -> League:
    """An empty league; QQ 10000 is its superuser."""
    return await League.open(database, clock, frozenset({"10000"}))
