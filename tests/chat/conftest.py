"""A rig a test: the whole bot in this process, on either engine."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.rig import Rig, running_rig


@pytest.fixture
async def rig(engine: str, tmp_path: Path) -> AsyncIterator[Rig]:
    async with running_rig(tmp_path) as rig:
        yield rig
