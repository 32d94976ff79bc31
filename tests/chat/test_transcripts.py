"""Every transcript in transcripts/ holds, line by line."""

from pathlib import Path

import pytest

from tests.support.engines import only_sqlite
from tests.support.transcript import play

pytestmark = pytest.mark.usefixtures("engine")

TRANSCRIPTS = sorted((Path(__file__).parent / "transcripts").glob("*.txt"))
OF_FILES = [path for path in TRANSCRIPTS if path.stem == "注销"]
"""The bot says in it when its backups are gone; on PostgreSQL it makes none."""


@pytest.mark.parametrize("path", [path for path in TRANSCRIPTS if path not in OF_FILES], ids=lambda path: path.stem)
async def test_transcript(path: Path, tmp_path: Path) -> None:
    await play(path, tmp_path)


@only_sqlite
@pytest.mark.parametrize("path", OF_FILES, ids=lambda path: path.stem)
async def test_transcript_with_backups(path: Path, tmp_path: Path) -> None:
    await play(path, tmp_path)
