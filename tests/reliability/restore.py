"""The restore drill: games, a backup, more games, a damaged file, restore; the book is that of the backup.

    python -m tests.reliability.restore [--long] [--drills N] [--seed S]

A real bot process with a fake QQ over a real WebSocket. After the backup more reports are made; then the file is
damaged in one of several ways, and reports go on where the bot still runs. `restore` must say every entry that is
missing from the backup, and the restored book must equal the one at the backup. When the bot is back it reads what was
reported meanwhile from QQ's history: in the end every report said is in the ledger once, no number was given out twice.
"""

import argparse
import asyncio
import contextlib
import random
import sqlite3
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from plugins.rating_bot.wording.integrity import NOT_RECORDED
from rating_core.book import Book
from rating_core.check import difference
from rating_core.ledger import Games
from rating_core.store.ledger_store import LedgerStore
from tests.e2e.test_storage import shell
from tests.e2e.world import SCORING, World
from tests.reliability.cells import bytes_of

PLAYERS = ("张三", "李四", "王五", "赵六", "钱七", "孙八")
DRILLS_SHORT, DRILLS_LONG = 1, 40
BEFORE, AFTER, REFUSED = 6, 5, 2
"""Reports before the backup, after it, and said to a bot that takes none."""


# --- how a file is damaged ----------------------------------------------------------------------------------


def flip(file: Path, rng: random.Random) -> None:
    """A bit of a ledger row."""
    with contextlib.closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")
    byte = rng.choice([b for b in bytes_of(file, "ledger") if b.part in ("payload", "hash", "said_at", "kind", "pool")])
    content = bytearray(file.read_bytes())
    content[byte.offset] ^= 1 << rng.randrange(7)
    file.write_bytes(content)


def edit(file: Path, rng: random.Random) -> None:
    """A weight raised by hand."""
    with contextlib.closing(sqlite3.connect(file)) as connection:
        connection.execute("DROP TRIGGER ledger_no_update")
        rows = connection.execute("SELECT seq FROM ledger WHERE kind = 'games'").fetchall()
        weigh = """UPDATE ledger SET payload = replace(payload, '"weight":1.0', '"weight":2.0') WHERE seq = ?"""
        connection.execute(weigh, rng.choice(rows))
        connection.commit()


def remove(file: Path, rng: random.Random) -> None:
    """A row taken out by hand."""
    with contextlib.closing(sqlite3.connect(file)) as connection:
        connection.execute("DROP TRIGGER ledger_no_delete")
        (last,) = connection.execute("SELECT max(seq) FROM ledger").fetchone()
        connection.execute("DELETE FROM ledger WHERE seq = ?", (rng.randint(1, last),))
        connection.commit()


def overwrite(file: Path, rng: random.Random) -> None:
    """The file's beginning overwritten: nothing of it can be read."""
    with file.open("r+b") as content:
        content.write(rng.randbytes(8192))
    for suffix in ("-wal", "-shm"):
        Path(f"{file}{suffix}").unlink(missing_ok=True)


def delete(file: Path, _rng: random.Random) -> None:
    """The file is gone."""
    for suffix in ("", "-wal", "-shm"):
        Path(f"{file}{suffix}").unlink(missing_ok=True)


READABLE: Sequence[Callable[[Path, random.Random], None]] = (flip, edit, remove)
"""The bot still starts and says that it is damaged, and restore can say what is lost."""
GONE: Sequence[Callable[[Path, random.Random], None]] = (overwrite, delete)


# --- one drill ----------------------------------------------------------------------------------------------


@dataclass
class Drill:
    """What one drill came to."""

    damage: str
    at_backup: int = 0
    """Games in the book at the backup."""
    lost: int = 0
    """Entries after it."""
    listed: int = 0
    """Of these, those that restore named."""
    equal: bool = False
    """The restored book is that of the backup."""
    said: int = 0
    recorded: int = 0
    problems: list[str] = field(default_factory=list)

    def must(self, true: bool, what: str) -> None:
        """Note a problem unless `true`."""
        if not true:
            self.problems.append(f"{self.damage}: {what}")


class Reports:
    """Who reported which results, each pair in its own order."""

    def __init__(self, world: World, rng: random.Random) -> None:
        self._world = world
        self._rng = rng
        self.said: Counter[tuple[str, str, str]] = Counter()

    async def make(self, count: int) -> None:
        """Report and confirm games, and wait for each 收到."""
        for _ in range(count):
            left, right = self._rng.sample(PLAYERS, 2)
            result = self._rng.choice("胜平负")
            await self._world.report(left, f"{left} {result} {right}")
            said = self._world.say(right, "确认")
            await self._world.hear("收到", after=said)
            self.said[left, result, right] += 1

    async def refused(self, count: int) -> None:
        """Report and confirm games to a bot whose ledger is damaged."""
        for _ in range(count):
            left, right = self._rng.sample(PLAYERS, 2)
            await self._world.ask(left, f"{left} 平 {right}", NOT_RECORDED)
            await self._world.ask(right, "确认", NOT_RECORDED)
            self.said[left, "平", right] += 1


async def drill(folder: Path, damage: Callable[[Path, random.Random], None], rng: random.Random) -> Drill:
    """One drill from the first game to the last check."""
    done = Drill(damage.__name__)
    world = World(folder)
    await world.prepare(*PLAYERS)
    reports = Reports(world, rng)
    try:
        await world.start()
        await reports.make(BEFORE)
        await world.ask("小周", "/备份", "打开重算过", group=SCORING)
        (backup,) = (folder / "backups").glob("ratings-*.db")
        at_backup, _ = await _book(world)
        done.at_backup = len(at_backup.columns)
        await reports.make(AFTER)
        await world.stop()
        before, lost = await _book(world)
        done.lost = before.seq - at_backup.seq
        numbers = set(before.columns.report)
        damage(world.file, rng)
        if damage in READABLE:
            await world.start()
            await world.hear("和写下时不一样", "restore", group=SCORING)
            await reports.refused(REFUSED)
            await world.settled()
            await world.stop()
        await _restore(world, backup, done, [seq for seq in lost if seq > at_backup.seq])
        restored, _ = await _book(world)
        done.equal = difference(at_backup, restored) is None
        done.must(done.equal, f"the restored book differs in {difference(at_backup, restored)}")
        await world.start()
        await _made_up(world, reports, done, numbers - set(at_backup.columns.report))
        await world.stop()
        await world.check_book()
    except (AssertionError, TimeoutError) as error:
        done.problems.append(f"{damage.__name__}: {error!r}\n{world.bot.tail}")
    finally:
        await world.close()
    return done


async def _book(world: World) -> tuple[Book, list[int]]:
    """Return the book as the file tells, and the numbers of its rows."""
    async with world.league() as league, league.database.read() as connection:
        assert league.damage is None, league.damage
        return league.book, [row.seq async for row in LedgerStore(connection).rows_after(0)]


async def _restore(world: World, backup: Path, done: Drill, lost: Sequence[int]) -> None:
    """Try, look what is said, do it; what was there must be kept."""
    there = world.file.exists()
    code, dry = await shell(world, "restore", str(backup))
    done.must(code == 0 and "以上是试算" in dry, f"a dry run ends with {code}: {dry}")
    done.listed = sum(f"账{seq} " in dry for seq in lost)
    if done.damage in {damage.__name__ for damage in READABLE}:
        # a removed row is in nobody's reach any more
        done.must(done.listed >= len(lost) - (done.damage == "remove"), f"{done.listed} of {lost} are named: {dry}")
    else:
        done.must("现在的文件缺失或读不全" in dry, f"a file that cannot be read: {dry}")
    code, said = await shell(world, "restore", str(backup), "--yes")
    done.must(code == 0 and "已恢复到" in said, f"restore ends with {code}: {said}")
    kept = list(world.folder.glob("ratings-replaced-*.db"))
    done.must(len(kept) == there, f"kept: {kept}")


async def _made_up(world: World, reports: Reports, done: Drill, lost_numbers: set[int]) -> None:
    """What was reported after the backup is read from history, once; the desk sees that there was a gap."""
    await world.ask("小周", "/待办", "从备份恢复过，请核对", group=SCORING)
    await world.ask("张三", "/等级分", "张三")
    await world.settled()
    names = {}
    async with world.league() as league, league.database.read() as connection:
        roster = league.directory.roster
        names = {player: roster.name_of(player) for player in roster.current_names()}
        entries = [row.entry() async for row in LedgerStore(connection).rows_after(0)]
    games = [entry for entry in entries if isinstance(entry, Games)]
    recorded = Counter((names[g.left[0]], g.result.word, names[g.right[0]]) for e in games for g in e.lines)
    done.said, done.recorded = reports.said.total(), recorded.total()
    done.must(not (reports.said - recorded), f"not recorded: {dict(reports.said - recorded)}")
    done.must(not (recorded - reports.said), f"recorded and not said, or twice: {dict(recorded - reports.said)}")
    again = lost_numbers & {entry.report for entry in games}
    done.must(not again, f"numbers given out a second time: {again}")


# --- all ----------------------------------------------------------------------------------------------------


async def run(folder: Path, count: int, seed: int) -> list[Drill]:
    """Let so many drills happen, one after the other, with each damage in turn."""
    ways = (flip, delete, edit, overwrite, remove)
    done = []
    for number in range(count):
        home = folder / str(number)
        home.mkdir()
        done.append(await drill(home, ways[number % len(ways)], random.Random(seed + number)))
    return done


def figure(drills: Sequence[Drill], seconds: float) -> str:
    """Return the line of figures."""
    damages = ", ".join(f"{name} {count}" for name, count in Counter(drill.damage for drill in drills).items())
    return (
        f"FIGURE restore: {len(drills)} drills ({damages}), {sum(drill.at_backup for drill in drills)} games at the"
        f" backups, {sum(drill.equal for drill in drills)} restored books equal to those, {sum(d.lost for d in drills)}"
        f" entries after them ({sum(drill.listed for drill in drills)} could be read and were named); afterwards"
        f" {sum(drill.recorded for drill in drills)} of {sum(drill.said for drill in drills)} reports said are in the"
        f" ledger, none twice, no number given out again; {seconds:.0f} s"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.reliability.restore", description=__doc__)
    parser.add_argument("--long", action="store_true", help=f"{DRILLS_LONG} drills")
    parser.add_argument("--drills", type=int, help=f"how many (default {DRILLS_SHORT}, long {DRILLS_LONG})")
    parser.add_argument("--seed", type=int, help="repeat the choices of an earlier run")
    options = parser.parse_args(arguments)
    seed = random.randrange(1_000_000) if options.seed is None else options.seed
    count = options.drills or (DRILLS_LONG if options.long else DRILLS_SHORT)
    print(f"seed {seed}", flush=True)
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        drills = asyncio.run(run(Path(folder), count, seed))
    problems = [problem for drill in drills for problem in drill.problems]
    for problem in problems:
        print(f"seed {seed}: {problem}")
    if problems:
        print(f"BROKEN: python -m tests.reliability.restore --drills {count} --seed {seed}")
        return 1
    print(figure(drills, time.monotonic() - begin))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
