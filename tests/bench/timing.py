"""Timing of things that are compared: in turns, in one process, so that a noisy machine is noisy to all of them."""

import gc
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Timed:
    """Seconds of each round."""

    rounds: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.rounds)

    @property
    def spread(self) -> float:
        """From the fastest to the slowest round, as a part of the median."""
        return (max(self.rounds) - min(self.rounds)) / self.median


def in_turns(
    work: Mapping[str, Callable[[], object]], rounds: int, clock: Callable[[], float] = time.process_time
) -> dict[str, Timed]:
    """Do each thing once a round; a thing may return a function: what came before it is not timed."""
    seconds: dict[str, list[float]] = {name: [] for name in work}
    for _ in range(rounds):
        for name, prepare in work.items():
            run = prepare()
            assert callable(run)
            gc.collect()
            begin = clock()
            kept = run()
            seconds[name].append(clock() - begin)
            del run, kept
    return {name: Timed(tuple(found)) for name, found in seconds.items()}


def show(name: str, timed: Timed, said: str = "") -> None:
    """Print a line of a table: what, the median in ms, the spread, and what is said about it."""
    print(f"{name:32}{1000 * timed.median:10.1f} ms ±{timed.spread / 2:4.0%}  {said}", flush=True)
