"""The program itself: one drill over a damaged file in which few games were played."""

from pathlib import Path

import pytest

from tests.reliability import restore


async def test_one_drill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("BEFORE", "AFTER", "REFUSED"):
        monkeypatch.setattr(restore, name, 1)
    (drill,) = await restore.run(tmp_path, 1, 1)
    assert drill.problems == []
    assert (drill.at_backup, drill.lost, drill.listed, drill.equal) == (1, 1, 1, True)
    assert drill.said == drill.recorded == 3
    assert restore.figure([drill], 1.0).startswith("FIGURE restore: 1 drills (flip 1), 1 games at the")
