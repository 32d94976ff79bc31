"""The standby program itself: two deaths on each engine, and that it sees a process that does not stand by."""

import pytest

from tests.reliability import standby
from tests.support.engines import POSTGRES


@pytest.mark.timeout(240)
def test_two_deaths(engine: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert standby.main(["--kills", "2", "--seed", "1", "--engine", engine]) == 0
    figure = capsys.readouterr().out
    assert f"{engine}: 2 kills" in figure and "missing 0 double 0" in figure
    assert ("1 by cutting the lock's connection" in figure) == (engine == POSTGRES)


@pytest.mark.timeout(240)
def test_a_late_take_over_is_told(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(standby, "PROMISED", 0.2)
    assert standby.main(["--kills", "1", "--seed", "1", "--engine", "sqlite"]) == 1
    assert "BROKEN" in capsys.readouterr().out
