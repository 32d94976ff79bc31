"""The program itself, in a form of a few seconds."""

import random
from pathlib import Path

import pytest

from tests.reliability import chain
from tests.reliability.cells import bytes_of


async def test_a_few_flips(tmp_path: Path) -> None:
    outcome = await chain.run(tmp_path, 1, 24, bots=1, games=300, each=1)
    assert outcome.problems == []
    assert outcome.found + outcome.same == outcome.flips == 24
    assert outcome.structural_found == outcome.structural == 24
    assert chain.figure(outcome, 300, 1.0).startswith("FIGURE chain: ")


async def test_it_sees_a_check_that_looks_at_less(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rating_core.check.continues", lambda row, seq, previous: row.seq == seq)
    outcome = chain.Outcome()
    file = await chain.make_book(tmp_path, random.Random(1))
    flips = [(byte, 0) for byte in bytes_of(file, "ledger") if byte.part == "hash"][:3]
    await chain.try_flips(file, flips, 0, outcome)
    assert len(outcome.problems) == 3
