"""The program itself, in a form of a few seconds: what it would find, and the clock set by hand."""

from pathlib import Path

import pytest

from tests.reliability import privacy
from tests.reliability.privacy import Outcome


async def test_the_part_on_a_clock_set_by_hand(tmp_path: Path) -> None:
    outcome = Outcome()
    await privacy.forget(tmp_path, outcome)
    assert outcome.problems == []
    assert outcome.erased_columns > 15
    assert privacy.figure(outcome, 1.0).startswith("FIGURE privacy: ")


async def test_it_sees_what_was_not_erased(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rating_core.store.forgetting.words_of", lambda table: [])
    outcome = Outcome()
    await privacy.forget(tmp_path, outcome)
    columns = {line.split(":")[1].strip() for line in outcome.problems if line.startswith("after /注销: ")}
    assert columns >= {"list_titles.title", "journal.reason", "outbox.text", "events.name"}


async def test_it_sees_a_number(tmp_path: Path) -> None:
    outcome = Outcome()
    outcome.check("the log", "u用户1 said", ["2912345671"])
    assert outcome.problems == []
    outcome.check("the log", "u2912345671 said", ["2912345671"])
    assert outcome.problems == ["the log holds 2912345671: …u2912345671 said…"]
