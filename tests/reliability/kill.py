"""kill -9 at every failpoint and at random, with a QQ that loses sends and answers: nothing lost, nothing twice.

    python -m tests.reliability.kill [--long] [--kills N] [--each N] [--jobs N] [--seed S]

Real processes, a fake QQ with history over a real WebSocket. Each job is a world of its own. Of 100 sends 6 never show
and 6 show but are not answered with success; the socket is cut now and then. In the end every report that somebody
said is recorded once, its 收到 and its forward stand in QQ's history once, and a fresh fold equals the Book.
"""

import argparse
import asyncio
import random
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rating_core.failpoints import NAMES
from tests.reliability.kill_world import RANDOM, KillWorld

SHORT, LONG = 20, 1000
EACH_SHORT, EACH_LONG = 1, 20
"""How often at each failpoint."""


def plan_of(kills: int, each: int, rng: random.Random) -> list[str]:
    """Return a shuffled plan: every failpoint `each` times, the rest, a fifth at the least, at random moments."""
    named = [name for name in NAMES for _ in range(each)]
    plan = named + [RANDOM] * max(kills - len(named), kills // 5)
    rng.shuffle(plan)
    return plan


async def killed_worlds(folder: Path, plan: Sequence[str], jobs: int, seed: int) -> list[KillWorld]:
    """Let `jobs` worlds live through their shares of the plan, side by side."""
    worlds = []
    for number in range(jobs):
        home = folder / str(number)
        home.mkdir()
        worlds.append(KillWorld(home, seed + number, plan[number::jobs]))
        await worlds[-1].prepare()  # one after the other: migrations of one process share their context
    await asyncio.gather(*(world.run() for world in worlds))
    for world in worlds:
        await world.judge()
    return worlds


def figure(worlds: Sequence[KillWorld], seconds: float) -> str:
    """Return the line of figures."""
    killed = sum((world.outcome.killed for world in worlds), Counter())
    seen = sum((world.weather.seen for world in worlds), Counter())
    said = [said for world in worlds for said in world.crowd.said]
    sends = sum(world.weather.sends for world in worlds)
    lost = seen["swallow_sends"] + seen["lose_sends"]
    silent = seen["fail_delivered"] + seen["mute_answers"] + seen["drop_after_send"]
    named = [killed[name] for name in NAMES]
    return (
        f"FIGURE kill: {killed.total()} kills ({sum(named)} at {len(named)} failpoints, each at least {min(named)}"
        f" times; {killed[RANDOM]} at random), {sum(world.outcome.cuts for world in worlds)} cuts,"
        f" of {sends} sends {lost} lost, {silent} unanswered: {len(said)} reports"
        f" ({sum(s.outcome == 'effective' for s in said)} effective) with {sum(len(s.lines) for s in said)} games,"
        f" missing 0, double 0, each 收到 and forward once, fresh fold = Book; {seconds:.0f} s"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.reliability.kill", description=__doc__)
    parser.add_argument("--long", action="store_true", help="the long form")
    parser.add_argument("--kills", type=int, help=f"how many in all (default {SHORT}, long {LONG})")
    parser.add_argument(
        "--each", type=int, help=f"how often at each failpoint (default {EACH_SHORT}, long {EACH_LONG})"
    )
    parser.add_argument("--jobs", type=int, default=2, help="worlds side by side (default 2)")
    parser.add_argument("--seed", type=int, help="repeat the choices of an earlier run (its moments differ)")
    options = parser.parse_args(arguments)
    seed = random.randrange(1_000_000) if options.seed is None else options.seed
    kills = options.kills or (LONG if options.long else SHORT)
    each = (EACH_LONG if options.long else EACH_SHORT) if options.each is None else options.each
    plan = plan_of(kills, each, random.Random(seed))
    print(f"seed {seed}: {len(plan)} kills in {options.jobs} worlds", flush=True)
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        worlds = asyncio.run(killed_worlds(Path(folder), plan, options.jobs, seed))
    for world in worlds:
        print(f"seed {world.outcome.seed} ({world.style}): {dict(world.outcome.killed)}")
    if any(world.outcome.problems for world in worlds):
        print(f"BROKEN: python -m tests.reliability.kill --seed {seed}{' --long' if options.long else ''}")
        return 1
    print(figure(worlds, time.monotonic() - begin))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
