"""The program itself: the quickest scenes at a few steps, and one that leaves half of its work."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.reliability import steps
from tests.reliability.stepping import Steps
from tests.reliability.steps_scenes import Restore, Scene, Upgrade


def ends(count: int) -> list[int]:
    return [1, count // 2, count - 1, count]


def test_an_upgrade_and_a_restore(tmp_path: Path) -> None:
    outcome = steps.Outcome()
    for scene in (Upgrade(), Restore()):
        steps.try_scene(scene, tmp_path / scene.name, ends, outcome)
    assert outcome.problems == []
    assert all(killed == 4 for killed in outcome.killed.values()) and len(outcome.killed) == 2
    assert steps.figure(outcome, 1.0).startswith("FIGURE steps: upgrade killed at 4 of")


class TwoTransactions(Scene):
    """What is not whole or absent: two halves, each committed by itself."""

    name = "two transactions"

    def prepare(self, folder: Path) -> None:
        with closing(sqlite3.connect(folder / "x.db")) as connection:
            connection.execute("CREATE TABLE x (n INTEGER)")

    async def work(self, folder: Path, steps: Steps) -> None:
        steps.lines({_halves.__code__})
        steps.arm()
        _halves(folder / "x.db")

    def look(self, folder: Path) -> Any:
        with closing(sqlite3.connect(folder / "x.db")) as connection:
            return connection.execute("SELECT count(DISTINCT n) FROM x").fetchall()


def _halves(file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("INSERT INTO x VALUES (1)")
        connection.commit()
        connection.execute("INSERT INTO x VALUES (2)")
        connection.commit()


def test_what_is_half_there_is_seen(tmp_path: Path) -> None:
    outcome = steps.Outcome()
    steps.try_scene(TwoTransactions(), tmp_path, lambda count: range(1, count + 1), outcome)
    assert len(outcome.problems) == 2 and "neither as before nor as after: [(1,)]" in outcome.problems[0]
