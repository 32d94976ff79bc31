"""A bot that the tests of one module share."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.e2e.world import World, running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world(
    request: pytest.FixtureRequest, engine: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[World]:
    """A running bot and QQ; the module's PLAYERS are registered. After the tests it is stopped and its book checked."""
    async with running(tmp_path_factory.mktemp("bot"), *request.module.PLAYERS) as world:
        yield world
        if world.bot.running:
            await world.stop()
        await world.check_book()
