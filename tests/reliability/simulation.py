"""Deterministic simulation: thousands of small worlds, each out of one seed, in which everything goes wrong.

A world is a league with players, scorekeepers and outsiders in three groups, a QQ that drops, repeats, reorders and
delays, and the real bot, which is killed and started again in the middle, all in virtual time (tests/reliability/sim).
What people said and who agreed is kept in a plain ledger beside it, to which every transaction of the bot is held; at
the end, when QQ has become kind, nothing may be missing, nothing double, nothing without agreement or right.

    python -m tests.reliability.simulation                 1,000 seeds, the short form
    python -m tests.reliability.simulation --long          100,000 seeds
    python -m tests.reliability.simulation --seed 4711     one seed, with everything that happens in it
    python -m tests.reliability.simulation --mutant resend  the product broken on purpose: the seeds that see it
"""

import argparse
import contextlib
import functools
import gc
import hashlib
import multiprocessing
import multiprocessing.util
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field

from nonebot.log import logger

from tests.reliability.sim.bot import installed
from tests.reliability.sim.league import Template
from tests.reliability.sim.mutants import MUTANTS, broken_on_purpose
from tests.reliability.sim.world import World

SHORT, LONG = 1_000, 100_000
CHUNK = 100
"""Seeds given to a process at once."""
SHOWN, MOST_FAILURES = 3, 20
"""Failures shown with everything that happened; failures after which no more seeds are tried."""


@dataclass
class Outcome:
    """What became of some seeds."""

    failures: list[tuple[int, str, str]] = field(default_factory=list)
    """Seed, what is broken, trace."""
    counts: Counter[str] = field(default_factory=Counter)
    digests: list[str] = field(default_factory=list)
    """A hash of each world's trace, in order."""

    def add(self, other: "Outcome") -> None:
        self.failures += other.failures
        self.counts += other.counts
        self.digests += other.digests


class Simulation:
    """Runs seeds in this process, which has one of it: engines and the template are dear."""

    def __init__(self) -> None:
        logger.remove()
        self._template = Template()
        self._stack = contextlib.ExitStack()
        self._stack.callback(self._template.close)
        self._stack.enter_context(installed())
        gc.collect()
        gc.freeze()

    def close(self) -> None:
        self._stack.close()

    def run(self, seed: int) -> tuple[World, str]:
        """Run one seed; return its world and what is broken in it, "" if nothing is."""
        world = World(seed, self._template.copy())
        try:
            world.run()
        except Exception as error:
            return world, f"{type(error).__name__}: {error}"
        return world, ""


@functools.cache
def simulation() -> Simulation:
    """Return the simulation of this process; it leaves no file behind."""
    made = Simulation()
    multiprocessing.util.Finalize(None, made.close, exitpriority=1)
    return made


def run_seeds(seeds: Sequence[int], mutant: str = "") -> Outcome:
    """Run these seeds in this process; a seed that fails is run once more and must fail in the same way."""
    outcome = Outcome()
    with broken_on_purpose(mutant):
        gc.disable()  # worlds leave much behind; it is collected now and then, not in the middle
        for number, seed in enumerate(seeds):
            if number % 20 == 0:
                gc.collect()
            world, broken = simulation().run(seed)
            outcome.counts.update(world.counts())
            outcome.digests.append(world.digest())
            if broken:
                again, _ = simulation().run(seed)
                if again.digest() != world.digest():
                    broken += " (and it is not reproduced: the simulation is not deterministic)"
                outcome.failures.append((seed, broken, "\n".join(world.lines)))
                if mutant:
                    break
        gc.enable()
    return outcome


def run(first: int, count: int, jobs: int, mutant: str = "") -> Iterator[Outcome]:
    """Run seeds from `first` on in several processes; yield what became of each chunk, in order."""
    chunks = [range(begin, min(begin + CHUNK, first + count)) for begin in range(first, first + count, CHUNK)]
    if jobs == 1:
        for chunk in chunks:
            yield run_seeds(chunk, mutant)
        return
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("fork")) as pool:
        try:
            yield from pool.map(run_seeds, chunks, [mutant] * len(chunks))
        finally:
            pool.shutdown(cancel_futures=True)


# --- the program ------------------------------------------------------------------------------------------


def replay(seed: int, mutant: str) -> int:
    """Show everything that happens in one world."""
    with broken_on_purpose(mutant):
        world, broken = simulation().run(seed)
        again, _ = simulation().run(seed)
    print("\n".join(world.lines))
    print(f"trace {world.digest()}{'' if again.digest() == world.digest() else ', NOT REPRODUCED'}")
    print(f"seed {seed}: {broken or 'every promise was kept'}")
    return 1 if broken or again.digest() != world.digest() else 0


def find(name: str, most: int, jobs: int) -> int | None:
    """Return the first seed that sees a mutant, None where none does."""
    for outcome in run(1, most, jobs, name):
        if outcome.failures:
            seed, broken, _ = outcome.failures[0]
            print(f"mutant {name}: seed {seed}: {broken[:200]}")
            return seed
    return None


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program; return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.reliability.simulation", description=__doc__.split("\n")[0])
    parser.add_argument("--long", action="store_true", help=f"{LONG} seeds instead of {SHORT}")
    parser.add_argument("--seeds", type=int, help="how many seeds")
    parser.add_argument("--first", type=int, default=1, help="the first of them")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--seed", type=int, help="replay one seed and show everything that happens")
    parser.add_argument("--mutant", choices=[*MUTANTS, "all"], help="break the product on purpose and look who sees it")
    options = parser.parse_args(arguments)
    if options.seed is not None:
        return replay(options.seed, options.mutant or "")
    count = options.seeds or (LONG if options.long else SHORT)
    if options.mutant:
        names = list(MUTANTS) if options.mutant == "all" else [options.mutant]
        return _mutants(names, count, options.jobs)
    return _seeds(options.first, count, options.jobs)


def _mutants(names: Sequence[str], most: int, jobs: int) -> int:
    found = {name: find(name, most, jobs) for name in names}
    if missed := [name for name, seed in found.items() if seed is None]:
        print(f"not seen within {most} seeds: {', '.join(missed)}")
        return 1
    last = max(seed for seed in found.values() if seed is not None)
    print(f"FIGURE simulation: {len(found)} faults put into the product, all found, the last at seed {last}")
    return 0


def _seeds(first: int, count: int, jobs: int) -> int:
    began, total = time.monotonic(), Outcome()
    for outcome in run(first, count, jobs):
        for seed, broken, trace in outcome.failures:
            if len(total.failures) < SHOWN:
                print(f"--- seed {seed}\n{trace}")
            print(f"seed {seed}: {broken}", flush=True)
        total.add(outcome)
        if len(total.failures) >= MOST_FAILURES:
            break
        if len(total.digests) % 1000 == 0 and sys.stderr.isatty():
            print(f"{len(total.digests)} of {count}", end="\r", file=sys.stderr)
    seconds = time.monotonic() - began
    if total.failures:
        print(f"{len(total.failures)} of {len(total.digests)} seeds broke a promise; replay one with --seed")
        return 1
    traces = hashlib.sha256("\n".join(total.digests).encode()).hexdigest()[:16]
    said = ", ".join(f"{number} {what}" for what, number in sorted(total.counts.items()))
    print(f"FIGURE simulation: {count} worlds from seed {first}, 0 broken promises; {said}; traces {traces}", end="; ")
    print(f"{seconds:.0f} s with {jobs} processes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
