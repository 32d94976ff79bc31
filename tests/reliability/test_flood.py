"""The flood in a very short form; `python -m tests.reliability.flood` is the whole."""

import pytest

from tests.reliability import flood


@pytest.mark.timeout(90)
def test_a_short_flood(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flood, "SLOWEST", 60.0)  # how long others wait is measured by the program alone
    assert flood.main(["--seconds", "4", "--seed", "1"]) == 0, capsys.readouterr().out
    assert "FIGURE flood: 800 messages" in capsys.readouterr().out
