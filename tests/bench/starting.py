"""How long a start takes, and how much memory it holds: `python -m tests.bench.starting --folder F [--rounds N]`.

Real processes, in turns, beside a bare NoneBot with the same driver and adapter. Seconds until it listens, by the wall
and of the processor; memory at that moment. The made-up ledgers are kept in the folder: the largest takes minutes.
"""

import argparse
import asyncio
import gc
import multiprocessing
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from rating_core.service.league import League
from rating_core.store.database import Database
from rating_core.store.snapshot import Snapshot
from tests.bench.ledgers import synthetic_league
from tests.bench.timing import Timed
from tests.support.process import BOT_PY, LISTENING, environment, free_port

ROUNDS = 5
SMALL, MIDDLE, LARGE = 10_000, 100_000, 1_000_000
MIB = 1 << 20
TICKS = os.sysconf("SC_CLK_TCK")
BARE_PY = """
import nonebot
from nonebot.adapters.onebot.v11 import Adapter
nonebot.init(driver="~fastapi")
nonebot.get_driver().register_adapter(Adapter)
nonebot.run()
"""
SETTINGS = {
    "ONEBOT_ACCESS_TOKEN": "a-token-for-the-benchmark",
    "TIAOQI__OFFICIAL_GROUPS": '["1001"]',
    "TIAOQI__SCORING_GROUPS": '["1002"]',
}


class Start(NamedTuple):
    """One start: seconds, seconds of the processor, bytes."""

    wall: float
    cpu: float
    memory: int


@dataclass(frozen=True, slots=True)
class Contender:
    """Something that is started. `ledger`: its database; `snapshot`: what it may begin with, put beside it."""

    name: str
    script: Path
    ledger: Path | None = None
    snapshot: Path | None = None

    def start(self, folder: Path) -> Start:
        """Start it in a folder, look at it when it listens, and end it."""
        more = {"PORT": str(free_port())} | SETTINGS
        if self.ledger is not None:
            more["TIAOQI__DATABASE_URL"] = f"sqlite+aiosqlite:///{self.ledger}"
            beside = self.ledger.with_suffix(".snapshot")
            beside.unlink(missing_ok=True)
            if self.snapshot is not None:
                beside.hardlink_to(self.snapshot)
        begin = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, str(self.script)], cwd=folder, env=environment(more), stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        assert process.stdout is not None
        try:
            lines = list(iter_until(process.stdout, LISTENING))
            wall = time.perf_counter() - begin
            assert LISTENING in lines[-1], "".join(lines)
            return Start(wall, cpu_of(process.pid), memory_of(process.pid))
        finally:
            process.kill()  # in order it would write the snapshot
            process.communicate()


def iter_until(lines: Iterator[str], text: str) -> Iterator[str]:
    """Yield lines up to the first with `text` in it."""
    for line in lines:
        yield line
        if text in line:
            return


def cpu_of(pid: int) -> float:
    """Return the processor's seconds, user and system."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def memory_of(pid: int | str) -> int:
    """Return the resident memory of a process in bytes."""
    (line,) = (line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) * 1024


async def _opened(ledger: Path, snapshot: Path | None) -> tuple[int, int]:
    database = await Database.open(f"sqlite+aiosqlite:///{ledger}")
    before = memory_of("self")
    league = await League.open(database, lambda: 0, snapshot=None if snapshot is None else Snapshot(snapshot))
    assert league.from_snapshot == (snapshot is not None)
    gc.collect()
    after = memory_of("self")
    await database.close()
    return before, after


def held_by_league(ledger: Path, snapshot: Path | None) -> int:
    """Return how many bytes an open league holds, in a process of its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        before, after = pool.apply(_run_opened, (ledger, snapshot))
    return after - before


def _run_opened(ledger: Path, snapshot: Path | None) -> tuple[int, int]:
    return asyncio.run(_opened(ledger, snapshot))


def write_snapshot(ledger: Path, path: Path) -> float:
    """Write the snapshot of a ledger, as a bot does that is stopped; return how many seconds writing it took."""

    async def write() -> float:
        database = await Database.open(f"sqlite+aiosqlite:///{ledger}")
        file = Snapshot(path)
        file.discard()
        league = await League.open(database, lambda: 0, snapshot=file)
        begin = time.perf_counter()
        assert await league.save_snapshot()
        await database.close()
        return time.perf_counter() - begin

    return asyncio.run(write())


def rounds_of(contenders: list[Contender], rounds: int) -> dict[str, list[Start]]:
    """Start each once a round, in a fresh folder; the first round, which reads from the disk, is left out."""
    found: dict[str, list[Start]] = {contender.name: [] for contender in contenders}
    for number in range(rounds + 1):
        for contender in contenders:
            with tempfile.TemporaryDirectory() as folder:
                start = contender.start(Path(folder))
            if number:
                found[contender.name].append(start)
    return found


def say(wanted: str, value: float, limit: float, form: str) -> None:
    """Print a figure, its limit and whether it holds."""
    print(f"{wanted:58}{value:{form}} ≤ {limit:g}: {'yes' if value <= limit else 'NO'}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.starting", description=__doc__.split("\n")[0])
    parser.add_argument("--folder", type=Path, required=True, help="where the made-up ledgers are kept")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args()
    folder = options.folder.resolve()
    ledgers = {games: synthetic_league(folder, games) for games in (0, SMALL, MIDDLE, LARGE)}
    snapshots = {games: folder / f"{games}.snapshot" for games in (MIDDLE, LARGE)}
    written = {games: write_snapshot(ledgers[games], path) for games, path in snapshots.items()}
    bare = folder / "bare.py"
    bare.write_text(BARE_PY)
    contenders = [
        Contender("bare NoneBot", bare),
        Contender("no games", BOT_PY, ledgers[0]),
        *(Contender(f"{games:,} games", BOT_PY, ledgers[games]) for games in (SMALL, MIDDLE)),
        *(Contender(f"{games:,} games, snapshot", BOT_PY, ledgers[games], path) for games, path in snapshots.items()),
    ]
    found = rounds_of(contenders, options.rounds)
    walls = {name: Timed(tuple(start.wall for start in starts)) for name, starts in found.items()}
    cpus = {name: Timed(tuple(start.cpu for start in starts)) for name, starts in found.items()}
    memory = {name: statistics.median(start.memory for start in starts) for name, starts in found.items()}
    print(f"{'':28}{'seconds':>9}{'spread':>8}{'CPU':>8}{'spread':>8}{'MiB':>8}")
    for name in found:
        print(
            f"{name:28}{walls[name].median:9.2f}{walls[name].spread:8.0%}{cpus[name].median:8.2f}"
            f"{cpus[name].spread:8.0%}{memory[name] / MIB:8.0f}"
        )
    none, small, middle, middle_snapshot, large = (contender.name for contender in contenders[1:])
    print(f"the largest snapshot took {written[LARGE]:.1f} s to write\n")

    def ratio(of: str, to: str, figures: Callable[[str], float]) -> float:
        return figures(of) / figures(to)

    for what, one, other, time_limit, memory_limit in (
        ("no games / bare NoneBot", none, "bare NoneBot", 2, 2.5),
        (f"{small} / no games", small, none, 1.5, 2),
    ):
        say(f"{what}, seconds", ratio(one, other, lambda name: walls[name].median), time_limit, "8.2f")
        say(f"{what}, CPU seconds", ratio(one, other, lambda name: cpus[name].median), time_limit, "8.2f")
        say(f"{what}, memory", ratio(one, other, memory.__getitem__), memory_limit, "8.2f")
    for name, limit in ((middle, 3), (middle_snapshot, 3), (large, 5)):
        say(f"{name}, seconds", walls[name].median, limit, "8.2f")
    nothing = held_by_league(ledgers[0], None)
    for how, snapshot in (("folded from the ledger", None), ("from the snapshot", snapshots[LARGE])):
        held = held_by_league(ledgers[LARGE], snapshot) - nothing
        say(f"{LARGE:,} games, {how}, bytes a game", held / LARGE, 250, "8.0f")


if __name__ == "__main__":
    main()
