"""Every transcript in transcripts/ holds, line by line."""

from pathlib import Path

import pytest

from tests.support.transcript import play

pytestmark = pytest.mark.usefixtures("engine")

TRANSCRIPTS = sorted((Path(__file__).parent / "transcripts").glob("*.txt"))


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.stem)
async def test_transcript(path: Path, tmp_path: Path) -> None:
    await play(path, tmp_path)
