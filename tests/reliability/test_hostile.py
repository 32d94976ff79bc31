"""Hostile input in a very short form; `python -m tests.reliability.hostile` is the whole."""

import pytest

from tests.reliability import hostile


@pytest.mark.timeout(120)
@pytest.mark.parametrize(
    "options",
    [
        ["parsers", "--inputs", "500"],
        ["names"],
        ["chat", "--messages", "60"],
        ["forgeries"],
        ["rights", "--share", "0.03"],
    ],
    ids=lambda options: options[0],
)
def test_a_part(options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert hostile.main(["--seed", "1", "--only", *options]) == 0, capsys.readouterr().out
    assert capsys.readouterr().out.strip().split("\n")[-1].startswith("FIGURE hostile: ")
