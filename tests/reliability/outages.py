"""The client, its history, the socket, QQ, the disk and the clock fail: nothing lost, nothing twice, the desk told.

    python -m tests.reliability.outages [--long] [--jobs N] [--seed S] [scenario …]

Each scenario is a real process with a book of its own, and a fake QQ with history over a real WebSocket. `--long`
repeats them with other clients, other ways to go down, other seeds.
"""

import argparse
import asyncio
import random
import tempfile
import time
import traceback
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from tests.reliability import outage_clock, outage_disk, outage_groups, outage_history, outage_socket, outage_twins

Scenario = Callable[[Path, random.Random, bool], Awaitable[str]]
SCENARIOS: dict[str, Scenario] = {
    "clock": outage_clock.clock,
    "history": outage_history.history,
    "groups": outage_groups.groups,
    "half-open": outage_socket.half_open,
    "twins": outage_twins.twins,
    "disk": outage_disk.disk,
    "hour": outage_history.hour,
}
"""Each takes its folder, its chances and whether it is the long form; returns its figure, raises where it is broken."""


async def run(names: Sequence[str], folder: Path, jobs: int, seed: int, long: bool) -> dict[str, str | Exception]:
    """Live through scenarios, `jobs` at a time; return the figure of each, or what broke it."""
    slots = asyncio.Semaphore(jobs)

    async def one(name: str) -> str | Exception:
        async with slots:
            home = folder / name
            home.mkdir()
            begin = time.monotonic()
            try:
                figure = await SCENARIOS[name](home, random.Random(f"{seed} {name}"), long)
            except Exception as error:
                return error
            print(f"{name}: {figure} ({time.monotonic() - begin:.0f} s)", flush=True)
            return figure

    return dict(zip(names, await asyncio.gather(*map(one, names)), strict=True))


def main(arguments: Sequence[str] | None = None) -> int:
    """Return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.reliability.outages", description=__doc__)
    parser.add_argument(
        "names", nargs="*", metavar="scenario", help=f"of {', '.join(SCENARIOS)}; all when none is given"
    )
    parser.add_argument("--long", action="store_true", help="all clients, all ways to go down, several seeds")
    parser.add_argument("--jobs", type=int, default=4, help="scenarios side by side, they mostly wait (default 4)")
    parser.add_argument("--seed", type=int, help="repeat the choices of an earlier run (its moments differ)")
    options = parser.parse_args(arguments)
    if unknown := [name for name in options.names if name not in SCENARIOS]:
        parser.error(f"no such scenario: {', '.join(unknown)}")
    names = options.names or list(SCENARIOS)
    seed = random.randrange(1_000_000) if options.seed is None else options.seed
    print(f"seed {seed}: {', '.join(names)}", flush=True)
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        found = asyncio.run(run(names, Path(folder), options.jobs, seed, options.long))
    broken = [name for name, outcome in found.items() if isinstance(outcome, Exception)]
    for name in broken:
        print(f"\n{name}:", "".join(traceback.format_exception(found[name])), flush=True)  # type: ignore[arg-type]
    if broken:
        print(f"BROKEN: python -m tests.reliability.outages --seed {seed}{' --long' * options.long} {' '.join(broken)}")
        return 1
    figures = "; ".join(f"{name}: {figure}" for name, figure in found.items())
    print(f"FIGURE outages: {figures}; {time.monotonic() - begin:.0f} s")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
