"""Two processes on one database: the one that is the bot dies again and again, and the other takes over.

    python -m tests.reliability.standby [--long] [--kills N] [--seed S] [--engine sqlite|postgres]

Real processes and two addresses, at which a fake QQ calls as a client with two entries does. People report and confirm
all the while. The active process is killed with kill -9, on PostgreSQL every third time the connection that holds its
lock is cut instead. Each time the other one must answer a question within 15 s. In the end every report is recorded
once, and its 收到 and its forward stand in QQ's history once.

PostgreSQL is given as TIAOQI_TEST_POSTGRES, as with .ci/with_postgres; without it this runs on SQLite alone.
"""

import argparse
import asyncio
import os
import random
import statistics
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from plugins.rating_bot.app import LOCK_LOST
from tests.e2e.world import OFFICIAL, SCORING, TOKEN, World, settings
from tests.reliability.kill_checks import NOT_OUT, problems_of_talk
from tests.reliability.kill_people import KEEPER, PATIENCE, Crowd
from tests.support.engines import POSTGRES, SETTING, SQLITE, sql, using
from tests.support.process import LISTENING, START_SECONDS, BotProcess, free_port
from tests.support.qq import FakeClient

SHORT, LONG = 3, 50
PROMISED = 15.0
"""Seconds within which the other process answers."""
STANDING_BY = "等它结束后接手"
PAIRS = [("张三", "李四"), ("王五", "赵六")]
THINKING = 2.0
"""They talk no faster than people: the bot looks for its own messages among the last 2,000 of at least ten minutes."""
LONGEST_LIFE = 3.0
CUT_EVERY = 3
CUT = """
SELECT pg_terminate_backend(pid) FROM pg_locks JOIN pg_database ON database = oid
WHERE locktype = 'advisory' AND datname = current_database()
"""


@dataclass(slots=True)
class Member:
    """One of the two processes, and the entry of the QQ client for its address."""

    bot: BotProcess
    client: FakeClient


class Couple:
    """A world with two bots."""

    def __init__(self, engine: str, folder: Path, seed: int) -> None:
        self.engine = engine
        self.rng = random.Random(seed)
        self.world = World(folder)
        self.crowd = Crowd(self.world, PAIRS, random.Random(seed + 1), THINKING)
        port = free_port()
        client = FakeClient(self.world.qq, f"ws://127.0.0.1:{port}/onebot/v11/ws", token=TOKEN, retry=0.05)
        self.active = Member(self.world.bot, self.world.client)
        self.waiting = Member(BotProcess(folder, settings(port, self.world.url)), client)
        self.took: list[float] = []
        self.cuts = 0
        self.problems: list[str] = []
        self._people: list[asyncio.Task[None]] = []

    async def run(self, kills: int) -> None:
        """Let one after the other die while people talk; what is wrong is in `problems`."""
        try:
            await self._begin()
            for number in range(1, kills + 1):
                await asyncio.sleep(self.rng.uniform(0, LONGEST_LIFE))
                await self._die(cut=self.engine == POSTGRES and number % CUT_EVERY == 2)
            await self._end()
            self.problems += await problems_of_talk(self.world, self.crowd)
        except (AssertionError, TimeoutError, ConnectionError) as error:
            self.problems.append(f"{type(error).__name__}: {error}\n{self.active.bot.tail}")
        finally:
            for task in self._people:
                task.cancel()
            for member in (self.active, self.waiting):
                await member.client.stop()
                await member.bot.close()

    async def prepare(self) -> None:
        await self.world.prepare(*(name for pair in PAIRS for name in pair))

    async def _begin(self) -> None:
        """What is said before the first connection is old to the bot; from here on it must miss nothing."""
        for member in (self.active, self.waiting):
            await member.client.start(timeout=None)
        await self.active.bot.start()
        await self.active.client.connected()
        await self._stand_by()
        for group in (SCORING, OFFICIAL):
            await self.world.ask(KEEPER, "/等级分 张三", group=group)
        self._people = [asyncio.create_task(self.crowd.play(*pair), name=f"{pair}") for pair in PAIRS]

    async def _stand_by(self) -> None:
        await self.waiting.bot.spawn()
        await self.waiting.bot.log_line(STANDING_BY, START_SECONDS)

    async def _die(self, *, cut: bool) -> None:
        """End the active process in one of the ways, and wait until the other one answers; then the first stands by."""
        begin = time.monotonic()
        dying = self.active.bot
        self.active, self.waiting = self.waiting, self.active
        self.world.bot, self.world.client = self.active.bot, self.active.client  # people wait for this one from now on
        if cut:
            sql(self.world.url, CUT)
            code = await dying.ended()
            assert code == LOCK_LOST, f"without its lock it ended with {code}:\n{dying.tail}"
            self.cuts += 1
        else:
            await dying.kill()
        await self.active.bot.log_line(LISTENING, 2 * PROMISED)
        await self.active.client.connected()
        await self.world.said_since(self.world.say(KEEPER, "它回来了吗"))  # it answers what is asked now
        self.took.append(time.monotonic() - begin)
        if self.took[-1] > PROMISED:
            self.problems.append(f"death {len(self.took)}: the other one answered after {self.took[-1]:.1f} s")
        await self._stand_by()

    async def _end(self) -> None:
        """Nobody dies any more: everybody says what he has begun, and all of it is answered."""
        self.crowd.going_home = True
        await asyncio.gather(*self._people)
        await self._all_out()
        await self.world.ask(KEEPER, "/体检", "体检：正常", group=SCORING)
        await self._all_out()
        await self.waiting.bot.kill()
        await self.active.bot.stop(clean=False)

    async def _all_out(self) -> None:
        async with asyncio.timeout(PATIENCE):
            while sql(self.world.url, NOT_OUT):
                await asyncio.sleep(0.2)

    def figure(self) -> str:
        """Return what was measured."""
        ways = f"{len(self.took)} kills" + (f" ({self.cuts} by cutting the lock's connection)" if self.cuts else "")
        games = sum(len(said.lines) for said in self.crowd.said)
        return (
            f"{self.engine}: {ways}, the other answers after p50 {statistics.median(self.took):.1f} s"
            f" max {max(self.took):.1f} s, {len(self.crowd.said)} reports with {games} games missing 0 double 0"
        )


async def lived(couples: Sequence[Couple], kills: int) -> None:
    """Let the couples live side by side."""
    for couple in couples:
        await couple.prepare()  # one after the other: migrations of one process share their context
    await asyncio.gather(*(couple.run(kills) for couple in couples))


def main(arguments: Sequence[str] | None = None) -> int:
    """Return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.reliability.standby", description=__doc__)
    parser.add_argument("--long", action="store_true", help="the long form")
    parser.add_argument("--kills", type=int, help=f"how many on each engine (default {SHORT}, long {LONG})")
    parser.add_argument("--seed", type=int, help="repeat the choices of an earlier run (its moments differ)")
    parser.add_argument("--engine", choices=(SQLITE, POSTGRES), help="on this one alone")
    options = parser.parse_args(arguments)
    engines = [SQLITE, POSTGRES] if os.environ.get(SETTING) else [SQLITE]
    engines = [options.engine] if options.engine else engines
    if POSTGRES not in engines:
        print(f"not on PostgreSQL: {SETTING} is not set" if not options.engine else "not on PostgreSQL")
    seed = random.randrange(1_000_000) if options.seed is None else options.seed
    kills = options.kills or (LONG if options.long else SHORT)
    print(f"seed {seed}: {kills} kills on {' and '.join(engines)}", flush=True)
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        couples = []
        for engine in engines:
            home = Path(folder, engine)
            home.mkdir()
            stack.enter_context(using(engine))
            couples.append(Couple(engine, home, seed))
        asyncio.run(lived(couples, kills))
    problems = [f"seed {seed}, {couple.engine}: {problem}" for couple in couples for problem in couple.problems]
    if problems:
        print("\n".join(problems))
        print(f"BROKEN: python -m tests.reliability.standby --seed {seed} --kills {kills}")
        return 1
    print(f"FIGURE standby: {'; '.join(couple.figure() for couple in couples)}; {time.monotonic() - begin:.0f} s")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
