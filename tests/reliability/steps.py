"""What is killed at any step is whole or absent, and can be done again: migrations, a settlement, a backup, a restore.

    python -m tests.reliability.steps [--long] [--seed S]

The work runs in a process that dies before its n-th statement or commit (of files: before the n-th line of the code
that moves them), for every n. Then the database is opened: it holds all of the work or nothing of it, chain and figures
are whole. The work is done again, and ends as if nothing had been. Without --long some n of each kind are tried.
"""

import argparse
import random
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.reliability.steps_scenes import SCENES, Scene

SHORT = 7
"""Steps of each scene that are tried without --long, besides the first and the last."""


@dataclass
class Outcome:
    """What was tried: of each scene its steps, how many of them were killed at, how often it was there as a whole."""

    steps: dict[str, int] = field(default_factory=dict)
    killed: dict[str, int] = field(default_factory=dict)
    whole: dict[str, int] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


def try_scene(scene: Scene, folder: Path, chosen: Callable[[int], Sequence[int]], outcome: Outcome) -> None:
    """Kill a scene at the chosen steps, each in a fresh copy of its beginning."""
    begin = folder / "begin"
    begin.mkdir(parents=True)
    scene.prepare(begin)
    end = folder / "end"
    shutil.copytree(begin, end)
    count = scene.run(end, 0)
    assert count, f"{scene.name} has no steps"
    scene.remember(begin, end)
    name = scene.name
    outcome.steps[name], outcome.killed[name], outcome.whole[name] = count, 0, 0
    for step in chosen(count):
        home = folder / f"step{step}"
        shutil.copytree(begin, home)
        if scene.run(home, step) is not None:
            outcome.problems.append(f"{name}: not killed at step {step} of {count}")
            continue
        outcome.killed[name] += 1
        whole = scene.state(home)
        outcome.whole[name] += whole is True
        if not isinstance(whole, bool):
            outcome.problems.append(f"{name}, killed at step {step} of {count}: {whole}")
            continue
        scene.run(home, 0)
        if scene.state(home) is not True:
            outcome.problems.append(f"{name}, killed at step {step} of {count}, done again: {scene.state(home)}")
        shutil.rmtree(home)


def run(folder: Path, seed: int, most: int | None) -> Outcome:
    """Try every scene at all its steps, or at `most` of them and the first and the last."""
    rng, outcome = random.Random(seed), Outcome()

    def chosen(count: int) -> Sequence[int]:
        every = range(1, count + 1)
        if most is None or most + 2 >= count:
            return every
        return sorted({1, count, *rng.sample(every, most)})

    for number, make in enumerate(SCENES):
        try_scene(make(), folder / str(number), chosen, outcome)
    return outcome


def figure(outcome: Outcome, seconds: float) -> str:
    """Return the line of figures."""
    scenes = ", ".join(
        f"{name} killed at {outcome.killed[name]} of {count} steps (then there as a whole {outcome.whole[name]} times)"
        for name, count in outcome.steps.items()
    )
    return f"FIGURE steps: {scenes}; half there 0, done again to the same end each time; {seconds:.0f} s"


def main(arguments: Sequence[str] | None = None) -> int:
    """Return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.reliability.steps", description=__doc__)
    parser.add_argument("--long", action="store_true", help="every step of every scene")
    parser.add_argument("--seed", type=int, help="repeat the choices of an earlier run")
    options = parser.parse_args(arguments)
    seed = random.randrange(1_000_000) if options.seed is None else options.seed
    print(f"seed {seed}", flush=True)
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        outcome = run(Path(folder), seed, None if options.long else SHORT)
    for problem in outcome.problems:
        print(f"seed {seed}: {problem}")
    if outcome.problems:
        print(f"BROKEN: python -m tests.reliability.steps --seed {seed}{' --long' if options.long else ''}")
        return 1
    print(figure(outcome, time.monotonic() - begin))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
