"""One world of the kill harness: its bot dies as the plan says, while people talk and QQ loses what it loses."""

import asyncio
import contextlib
import random
import sqlite3
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from rating_core.service import challenges, reports
from rating_core.service.league import League
from rating_core.service.people import Place
from rating_core.store.database import Database
from rating_core.store.migrate import schema_state
from rating_core.times import DAY_MS, season_of, season_start
from tests.e2e.world import OFFICIAL, OWNER, POOL, REFEREE_QQ, SCORING, World, settings
from tests.reliability.kill_checks import RETIRED, problems_of
from tests.reliability.kill_people import KEEPER, PATIENCE, Crowd
from tests.support.process import KILLED, LISTENING, BotProcess, free_port
from tests.support.qq import Faults, Style

RANDOM = "random"
PAIRS = [("张三", "李四"), ("王五", "赵六"), ("钱七", "孙八"), ("周九", "吴十")]
STYLES: tuple[Style, ...] = ("napcat", "napcat", "llonebot", "lagrange", "gocqhttp")
SLOWEST_HIT = 60.0
"""Seconds after which a failpoint that was not hit counts as a random moment."""
LONGEST_LIFE = 2.5
SLOWEST = 120.0
"""Seconds for what takes one where nothing else runs: a start, a connection."""
MOST_TRIES = 3
SAY_EVERY = 50
API_TIMEOUT = "1.5"
"""NoneBot's own setting: seconds until a call counts as unanswered (30 where nothing is set)."""
LOST = {"swallow_sends": 0.03, "lose_sends": 0.03}
UNANSWERED = {"fail_delivered": 0.02, "mute_answers": 0.02, "drop_after_send": 0.02}
"""Of 100 sends: 6 never show (the call fails, or is not answered), 6 show and are not answered with success."""


class Weather(Faults):
    """Faults that come by chance, besides those that were ordered; `seen` counts them."""

    def __init__(self, rng: random.Random) -> None:
        super().__init__()
        self._rng = rng
        self.calm = True
        self.sends = 0
        self.seen: Counter[str] = Counter()

    def take(self, counter: str) -> bool:
        chance = 0.0 if self.calm else (LOST | UNANSWERED).get(counter, 0.0)
        hit = super().take(counter) or self._rng.random() < chance
        self.sends += counter == "swallow_sends"
        self.seen[counter] += hit
        return hit


@dataclass(slots=True)
class Outcome:
    """What came of one world."""

    seed: int
    killed: Counter[str] = field(default_factory=Counter)
    """Failpoint or "random" → how often."""
    cuts: int = 0
    problems: list[str] = field(default_factory=list)


class KillWorld:
    """A world that lives through `plan`: failpoints and RANDOM, one life each."""

    def __init__(self, folder: Path, seed: int, plan: Sequence[str]) -> None:
        self.rng = random.Random(seed)
        self.plan = list(plan)
        self.outcome = Outcome(seed)
        self.weather = Weather(random.Random(seed + 1))
        self.weather.own_messages = self.rng.random() < 0.5
        self.style = self.rng.choice(STYLES)
        self.world = World(folder, self.style, self.weather)
        hours = {"TIAOQI__REMIND_HOURS": "0.003", "TIAOQI__CONFIRM_HOURS": "0.01"}
        self.world.bot.settings |= {"API_TIMEOUT": API_TIMEOUT, **hours}
        self.crowd = Crowd(self.world, PAIRS, random.Random(seed + 2))
        self.season = season_of(self.world.qq.now()) - 1
        self.idle = [_idle(number) for number in range(4 + sum("due" in name for name in plan))]
        """Pairs that never play: their challenges run out, in turn, while the bot is down."""
        self.overdue = 0
        self._actors: list[asyncio.Task[None]] = []

    async def run(self) -> None:
        """Live through the plan, and once more in peace until all is said; problems are in the outcome."""
        try:
            await self._begin()
            cutter = asyncio.create_task(self._cut())
            for number, name in enumerate(self.plan, 1):
                await self._life(name)
                if number % SAY_EVERY == 0:
                    said = len(self.crowd.said)
                    print(f"seed {self.outcome.seed}: {number} of {len(self.plan)} lives, {said} reports", flush=True)
            cutter.cancel()
            await self._last_life()
        except (AssertionError, TimeoutError, ConnectionError) as error:
            self._broken(f"{type(error).__name__}: {error}\n{self.world.bot.tail}")
        finally:
            for task in self._actors:
                task.cancel()
            await self.world.close()

    async def judge(self) -> None:
        """Look for what is missing, double or wrong. This takes its time: the QQ of a world alive would be mute."""
        for problem in await problems_of(self):
            self._broken(problem)

    def _broken(self, problem: str) -> None:
        """Note what is wrong, and say it at once: a long form takes hours."""
        self.outcome.problems.append(problem)
        print(f"seed {self.outcome.seed}: {problem}", flush=True)

    # --- before -------------------------------------------------------------------------------------------

    async def prepare(self) -> None:
        """Enter everybody, and the games of an old season."""
        players = [name for pair in (*self.crowd.pairs, *self.idle, *RETIRED) for name in pair]
        await self.world.prepare(*players)
        async with self._writing() as league, league.transaction() as tx:
            referee = tx.directory.actor(str(REFEREE_QQ), league.superusers)
            for (one, two), day in RETIRED.items():
                at = season_start(self.season) + day * DAY_MS
                post = reports.Post(f"{one} 胜 {two}", f"g{SCORING}", "", at, POOL, 24, 72)
                assert isinstance(await reports.post(tx, referee, post), reports.Effective)

    async def _begin(self) -> None:
        """What is said before the first connection is old to the bot; from here on it must miss nothing."""
        await self.world.start()
        await self.world.ask(KEEPER, "/等级分 张三", group=SCORING)
        await self.world.ask(KEEPER, "/等级分 张三")
        self.weather.calm = False
        self._actors = [asyncio.create_task(self.crowd.play(*pair), name=f"{pair}") for pair in self.crowd.pairs]
        await self._die_within(self.rng.uniform(0, LONGEST_LIFE), RANDOM)

    @asynccontextmanager
    async def _writing(self) -> AsyncIterator[League]:
        """The league, to write in while no bot does."""
        assert not self.world.bot.running
        database = await Database.open(self.world.url)
        try:
            yield await League.open(database, self.world.qq.now, frozenset({str(OWNER)}))
        finally:
            await database.close()

    async def _let_a_challenge_run_out(self) -> None:
        """A challenge issued a week ago whose deadline passes now, while the bot is down."""
        if self.overdue == len(self.idle):
            return
        names = self.idle[self.overdue]
        async with self._writing() as league, league.transaction() as tx:
            one, two = (tx.directory.roster.find(name) for name in names)
            assert one is not None and two is not None
            actor = tx.directory.actor(str(self.world.people[names[0]]), league.superusers)
            at = self.world.qq.now() - 7 * DAY_MS - 5_500
            await challenges.issue(tx, actor, one, two, POOL, Place(f"g{OFFICIAL}", "", at))
        self.overdue += 1

    # --- one life -----------------------------------------------------------------------------------------

    async def _life(self, name: str) -> None:
        """Start the bot and let it die at a failpoint, or at a random moment, be it while it starts."""
        if "migration" in name:
            return await self._migrate_and_die(name)
        for _ in range(MOST_TRIES):
            if "due" in name:
                await self._let_a_challenge_run_out()
            if self.rng.random() < 0.4:
                await asyncio.sleep(self.rng.uniform(0, 1.5))  # an outage in which more is said
            if await self._live(name):
                return
        self._broken(f"failpoint {name} was not hit in {MOST_TRIES} lives")

    async def _live(self, name: str) -> bool:
        if name == RANDOM:
            await self.world.bot.spawn()
            if self.rng.random() < 0.75:  # else while it starts
                await self.world.client.connected(SLOWEST)
            return await self._die_within(self.rng.uniform(0, LONGEST_LIFE), name)
        hit = self.rng.randint(1, 5) if name in ("before_commit", "after_commit") else 1
        await self.world.bot.spawn(TIAOQI_FAILPOINT=f"{name}:{hit}")
        async with self._doing(self._what_leads_to(name)):
            return await self._die_within(SLOWEST_HIT, name)

    async def _die_within(self, seconds: float, name: str) -> bool:
        """Let the bot die at its failpoint, or kill it after so long; return whether it died as planned."""
        bot = self.world.bot
        try:
            code = await bot.ended(seconds)
        except AssertionError:
            await bot.kill()
            name, planned = RANDOM, name == RANDOM
        else:
            planned = True
            if code != KILLED:
                self._broken(f"the bot ended by itself ({code}) on its way to {name}:\n{bot.tail}")
        await self.world.client.disconnected(SLOWEST)
        self.outcome.killed[name] += 1
        return planned

    async def _what_leads_to(self, name: str) -> None:
        """Do what makes the bot come by a failpoint; most are on the way of what people say anyway."""
        if name == "before_found":
            self.weather.fail_delivered += 1
        elif name == "before_resend":
            self.weather.lose_sends += 1
        elif name.startswith("backup"):
            await self.world.client.connected(SLOWEST)  # commands are only taken live
            await self.crowd.order(KEEPER, "/备份", "已(备)份", heard_in=SCORING)
        elif name.startswith(("settlement", "rollback")):
            await self.world.client.connected(SLOWEST)
            settled = self.crowd.settlements > self.crowd.rollbacks
            if settled == name.startswith("settlement"):
                await self.crowd.settle(self.season)  # the other one first
            await self.crowd.settle(self.season)

    @asynccontextmanager
    async def _doing(self, work: Awaitable[None]) -> AsyncIterator[None]:
        """Have it done meanwhile. A backup is given up when the bot dies, a settlement is brought to its end."""
        task = asyncio.ensure_future(work)
        self._actors.append(task)
        yield
        if self.crowd.settling:
            await self.world.bot.spawn()
            await task
            await self._die_within(self.rng.uniform(0, 1), RANDOM)
        self._actors.remove(task)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    async def _cut(self) -> None:
        """Cut the socket now and then."""
        while True:
            await asyncio.sleep(self.rng.uniform(1, 6))
            self.outcome.cuts += self.world.client.up
            await self.world.client.drop()

    async def _migrate_and_die(self, name: str) -> None:
        """A first start that dies with its tables; the next one makes them, or finds them."""
        with tempfile.TemporaryDirectory() as folder:
            bot = BotProcess(Path(folder), settings(free_port()))
            await bot.spawn(TIAOQI_FAILPOINT=name)
            code = await bot.ended(SLOWEST)
            self.outcome.killed[name] += 1
            if code != KILLED:
                self._broken(f"{name} was not hit ({code}):\n{bot.tail}")
            await bot.spawn()
            await bot.log_line(LISTENING, SLOWEST)
            await bot.kill()
            database = await Database.open(f"sqlite+aiosqlite:///{folder}/ratings.db", read_only=True)
            try:
                revision, head = await schema_state(database)
            finally:
                await database.close()
            if revision != head:
                self._broken(f"after {name} the tables are at {revision}, not {head}")

    # --- the end ------------------------------------------------------------------------------------------

    async def _last_life(self) -> None:
        """Nobody dies any more: everybody says what he has begun, and all of it is answered."""
        self.crowd.going_home = True
        await self.world.bot.spawn()
        try:
            await asyncio.gather(*self._actors)
        except TimeoutError as error:
            self._broken(f"somebody got no answer: {error}")
        await self._all_out()
        self.weather.calm = True
        await self.world.client.connected(SLOWEST)
        health = await self.world.ask(KEEPER, "/体检", group=SCORING)
        if "重算：与现榜一致" not in health.text or "哈希链完整" not in health.text:
            self._broken(f"the Book is no fresh fold: {health.text}")
        await self._all_out()
        await self.world.bot.stop()

    async def _all_out(self) -> None:
        """Wait until every message is out."""
        async with asyncio.timeout(PATIENCE):
            while self._left():
                await asyncio.sleep(0.2)

    def _left(self) -> int:
        """How many messages are not out yet."""
        query = "SELECT count(*) FROM outbox WHERE state NOT IN ('sent', 'dropped', 'failed')"
        with contextlib.closing(sqlite3.connect(f"file:{self.world.file}?mode=ro", uri=True)) as connection:
            return int(connection.execute(query).fetchone()[0])


def _idle(number: int) -> tuple[str, str]:
    return f"甲{number:03d}", f"乙{number:03d}"
