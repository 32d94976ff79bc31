"""Power cuts: what the real store wrote and synced is recorded, cut off anywhere, and opened again.

    python -m tests.reliability.power [--long] [--cuts N] [--commits N] [--jobs N] [--seed S]

A shim in C, loaded into the process that commits (LD_PRELOAD), logs every write, truncation, sync and change of names
in its folder. For each cut the folder is rebuilt as a disk may show it: what was synced is there, the rest kept, lost
or torn at sectors of 512 bytes. The real code opens it: no acknowledged commit or backup may be lost, the file must be
sound, the chain whole, the fold as announced, and writing must go on. The same with synchronous=NORMAL must lose
commits: else the program would see nothing.
"""

import argparse
import asyncio
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from sqlite3 import connect
from typing import Any

from rating_core.service.health import examine
from rating_core.service.league import League
from rating_core.store.backup import BackupFailed
from rating_core.store.database import Database, StorageFailed
from rating_core.store.migrate import schema_state
from tests.reliability.power_commits import BACKUPS, commit, open_league, register
from tests.reliability.power_disk import Disk, read_log, write_down

ROOT = Path(__file__).resolve().parents[2]
SHIM = Path(__file__).with_name("power_shim.c")
SHORT, LONG = 200, 5000
PARTS = 3
"""Processes that commit one after the other, each ending as if it were killed."""
COMMITS_SHORT, COMMITS_LONG = 60, 250
"""In each part."""
SAY_EVERY = 500
CONTROL = 40
"""Cuts with synchronous=NORMAL."""


def compile_shim(folder: Path, source: Path = SHIM) -> Path:
    """Return a shim, compiled. Raises RuntimeError where that cannot be done here."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if sys.platform != "linux" or compiler is None:
        raise RuntimeError("not Linux" if sys.platform != "linux" else "no C compiler (Debian: gcc libc6-dev)")
    shim = folder / "shim.so"
    command = [compiler, "-O1", "-Wall", "-Wextra", "-shared", "-fPIC", "-o", shim, source, "-ldl", "-lpthread"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"the shim does not compile: {done.stderr}")
    return shim


def record(home: Path, shim: Path, seed: int, commits: int, synchronous: str) -> Path:
    """Let the store commit in home/disk; return the log."""
    folder, log = home / "disk", home / "log"
    folder.mkdir(parents=True)
    recorded = {"LD_PRELOAD": str(shim), "POWER_FOLDER": str(folder.resolve()), "POWER_LOG": str(log)}
    for part in range(PARTS):
        arguments = [str(folder.resolve()), str(seed + part), str(commits), synchronous]
        command = [sys.executable, "-m", "tests.reliability.power_commits", *arguments]
        subprocess.run(command, cwd=ROOT, env=os.environ | recorded, check=True)
    return log


# --- one cut ----------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Acknowledged:
    """What had been marked in the log when the power went."""

    tables: bool = False
    commits: list[dict[str, Any]] = field(default_factory=list)
    backups: list[dict[str, Any]] = field(default_factory=list)

    def take(self, mark: dict[str, Any]) -> None:
        self.tables = True
        if "backup" in mark:
            self.backups.append(mark)
        elif "seq" in mark:
            self.commits.append(mark)


async def problems_after(folder: Path, promised: Acknowledged, rng: random.Random) -> list[str]:
    """Open what is left with the real code; return what is wrong with it."""
    found = [why for backup in promised.backups if (why := _backup_broken(folder, backup))]
    found += [f"{file.name}: {why}" for file in (folder / BACKUPS).glob("*.db") if (why := _unsound(file))]
    try:
        if promised.tables:
            database = await Database.open(f"sqlite+aiosqlite:///{folder}/ratings.db")
            revision, head = await schema_state(database)
            await database.close()
            if revision != head:
                return [*found, f"the tables were acknowledged and are at {revision}"]
        database, league, clock, _ = await open_league(folder)
    except (StorageFailed, BackupFailed) as error:
        return [*found, f"does not open: {error}"]
    try:
        found += await _lost(league, promised)
        if not league.book.seq:
            await register(league)
        left = await commit(league, clock, rng)
        found += [f"after one more commit: {why}" for why in await _lost(league, Acknowledged(True, [left]))]
    except (StorageFailed, BackupFailed) as error:
        found.append(f"cannot be written to: {error}")
    finally:
        await database.close()
    return found


async def _lost(league: League, promised: Acknowledged) -> list[str]:
    """Return what is not as it was acknowledged, and whether chain, fold and file are sound."""
    found = []
    health = await examine(league)
    if not health.well:
        found.append(f"chain or fold: {health}")
    async with league.database.read() as connection:
        rows = dict((await connection.exec_driver_sql("SELECT seq, hash FROM ledger")).all())
        inbox = {row[0] for row in await connection.exec_driver_sql("SELECT inbox_id FROM inbox")} | {0}
        outbox = {row[0] for row in await connection.exec_driver_sql("SELECT outbox_id FROM outbox")} | {0}
        sound = (await connection.exec_driver_sql("PRAGMA integrity_check")).scalars().all()
    if sound != ["ok"]:
        found.append(f"integrity_check: {sound[:3]}")
    lost = [
        one
        for one in promised.commits
        if rows.get(one["seq"]) != one["hash"] or one["inbox"] not in inbox or one["outbox"] not in outbox
    ]
    if lost:
        found.append(f"{len(lost)} of {len(promised.commits)} acknowledged commits lost, the first {lost[0]}")
    return found


def _backup_broken(folder: Path, promised: dict[str, Any]) -> str:
    """Return why an acknowledged backup is not what it was."""
    file = folder / BACKUPS / promised["backup"]
    if not file.exists():
        return f"the acknowledged backup {file.name} is gone"
    if why := _unsound(file):
        return f"the acknowledged backup {file.name}: {why}"
    with closing(connect(f"file:{file}?mode=ro", uri=True)) as connection:
        head = connection.execute("SELECT seq, hash FROM ledger_head").fetchone()
    return "" if head == (promised["seq"], promised["hash"]) else f"the backup {file.name} ends at {head}"


def _unsound(file: Path) -> str:
    """Return what SQLite finds wrong with a backup that has its name."""
    try:
        with closing(connect(f"file:{file}?mode=ro", uri=True)) as connection:
            found = str(connection.execute("PRAGMA integrity_check").fetchone()[0])
    except Exception as error:
        return repr(error)
    return "" if found == "ok" else found


# --- all of them ------------------------------------------------------------------------------------------


def choose_cuts(log: Path, cuts: int, rng: random.Random) -> list[int]:
    """Return after how many records the power goes: anywhere, every other time just after something was promised."""
    kinds = [one.kind for one in read_log(log)]
    marks = [at for at, kind in enumerate(kinds) if kind == "M"]
    near = [rng.choice(marks) + rng.randint(1, 4) for _ in range(cuts // 2)]
    return sorted(min(at, len(kinds)) for at in (*near, *(rng.randint(1, len(kinds)) for _ in range(cuts - len(near)))))


def check_share(log: str, root: str, cuts: Sequence[int], seed: int, scratch: str) -> list[str]:
    """Rebuild and open the disk at each of the cuts (ascending); return a line for each problem."""
    disk, promised, found = Disk(root), Acknowledged(), []
    records, done = read_log(Path(log)), 0
    for number, cut in enumerate(cuts):
        while done < cut:
            one = next(records)
            disk.apply(one)
            done += 1
            if one.kind == "M":
                promised.take(json.loads(one.data))
        rng = random.Random(f"{seed} {number} {cut}")
        with tempfile.TemporaryDirectory(dir=scratch) as folder:
            write_down(disk.after_cut(rng), Path(folder))
            problems = asyncio.run(problems_after(Path(folder), promised, rng))
        if (number + 1) % SAY_EVERY == 0:
            print(f"seed {seed}: {number + 1} of {len(cuts)} cuts, {len(found)} problems", flush=True)
        found += [f"seed {seed}, cut {number} after record {cut}: {problem}" for problem in problems]
    return found


def cut_and_check(home: Path, log: Path, cuts: int, seed: int, jobs: int) -> tuple[list[str], int]:
    """Return the problems of all cuts, and how many cuts had one."""
    chosen = choose_cuts(log, cuts, random.Random(seed))
    root = str((home / "disk").resolve())
    with ProcessPoolExecutor(jobs) as pool:
        shares = [pool.submit(check_share, str(log), root, chosen[n::jobs], seed + n, str(home)) for n in range(jobs)]
        found = [problem for share in shares for problem in share.result()]
    return found, len({problem.split(":")[0] for problem in found})


def main(arguments: Sequence[str] | None = None) -> int:
    """Return the exit code; 0 with the reason where there is no compiler."""
    parser = argparse.ArgumentParser(prog="python -m tests.reliability.power", description=__doc__)
    parser.add_argument("--long", action="store_true", help="the long form")
    parser.add_argument("--cuts", type=int, help=f"how many (default {SHORT}, long {LONG})")
    parser.add_argument(
        "--commits", type=int, help=f"of each of {PARTS} processes ({COMMITS_SHORT}, long {COMMITS_LONG})"
    )
    parser.add_argument("--jobs", type=int, default=2, help="processes that check (default 2)")
    parser.add_argument("--seed", type=int, help="repeat an earlier run")
    parser.add_argument("--synchronous", default="FULL", help="weaken the store to see commits lost: NORMAL or OFF")
    options = parser.parse_args(arguments)
    seed = random.randrange(1_000_000) if options.seed is None else options.seed
    cuts = options.cuts or (LONG if options.long else SHORT)
    commits = options.commits or (COMMITS_LONG if options.long else COMMITS_SHORT)
    begin = time.monotonic()
    print(f"seed {seed}: {cuts} cuts, synchronous={options.synchronous}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        try:
            shim = compile_shim(home)
        except RuntimeError as error:
            print(f"SKIPPED power: {error}")
            return 0
        log = record(home / "shipped", shim, seed, commits, options.synchronous)
        found, _ = cut_and_check(home / "shipped", log, cuts, seed, options.jobs)
        for problem in found[:40]:
            print(problem)
        if found:
            print(f"BROKEN: python -m tests.reliability.power --seed {seed}{' --long' if options.long else ''}")
            return 1
        kinds = [one.kind for one in read_log(log)]
        log = record(home / "weak", shim, seed, min(commits, COMMITS_SHORT), "NORMAL")
        _, harmed = cut_and_check(home / "weak", log, CONTROL, seed, options.jobs)
    if not harmed:
        print("BROKEN: with synchronous=NORMAL nothing was lost: the cuts cut nothing")
        return 1
    print(
        f"FIGURE power: {cuts} cuts in {kinds.count('W')} writes and {kinds.count('S')} syncs of {kinds.count('M')}"
        f" acknowledgements: lost 0, all opened, chain whole, fold as announced; with synchronous=NORMAL {harmed} of"
        f" {CONTROL} cuts lost commits; {time.monotonic() - begin:.0f} s"
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
