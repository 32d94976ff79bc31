"""One seed, one small world: a league, its people, a QQ with its weather and the bot, from first word to last."""

import asyncio
import hashlib
import random
import sqlite3
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from plugins.rating_bot.sandbox.qq import FakeQQ
from plugins.rating_bot.sandbox.values import Happened
from tests.reliability.sim import verdict
from tests.reliability.sim.bot import Bot
from tests.reliability.sim.crowd import Crowd
from tests.reliability.sim.judge import CONFIRM_WITHIN, Broken, Judge
from tests.reliability.sim.league import BOT, GROUPS, OWNER, PEOPLE, SCORING, SETTINGS, STARTS
from tests.reliability.sim.line import Line
from tests.reliability.sim.loop import Stuck, VirtualLoop
from tests.reliability.sim.sayings import Saying
from tests.reliability.sim.weather import Weather
from tests.support.plain_book import DAY, HOUR

NAMES = {BOT: "bot", **{person.qq: person.name for person in PEOPLE}}
PAUSES = (600.0, 3600.0, 26 * 3600.0, 26 * 3600.0, 74 * 3600.0, 8 * 86400.0)
"""Between two scenes: over a reminder, a deadline, a week."""


class World:
    """See the module. The trace says everything that happened, in order."""

    def __init__(self, seed: int, file: Path) -> None:
        self.seed = seed
        self.lines: list[str] = []
        self.rng = random.Random(f"{seed}")
        self.weather = Weather.draw(self.rng)
        self.loop = VirtualLoop(random.Random(f"{seed} scheduler"), self.weather.shuffle)
        self.begins = self.rng.choice(STARTS)
        self.qq = FakeQQ(self_id=BOT, now=self.now)
        self._people()
        self.line = Line(self.qq, self.weather, random.Random(f"{seed} line"), self._arrived, self.trace)
        self.judge = Judge(self.qq, self.now, lambda: len(self.bot.lives), lambda: self.bot.stopping, self.trace)
        self.crowd = Crowd(self.qq, self.judge.rules, random.Random(f"{seed} crowd"), self._remember)
        self.bot = Bot(
            file, SETTINGS, self, self.line, random.Random(f"{seed} disk"), give_way=self.weather.give_way,
            superusers=frozenset({str(OWNER.qq)}), nap=self._nap, committed=self.judge.committed,
        )  # fmt: skip
        self.file = file
        self.troubles: set[asyncio.Task[Any]] = set()
        self.hidden: list[tuple[int, int | None]] = []
        """From when to when (ms) QQ gave no history: of such a time the desk is told once."""
        self._nap_least = 0.0
        self.qq.subscribe(self._said_by_bot)

    def now(self) -> int:
        """The clock of the bot and of QQ: ms."""
        return self.begins + round(self.loop.time() * 1000)

    def trace(self, text: str) -> None:
        self.lines.append(f"{self.loop.time():.3f} {text}")

    def told(self, what: str) -> bool:
        """Whether the desk was told something that begins so, or by an alarm that says so."""
        return any(what in text for _, text in self.judge.told_desk)

    def counts(self) -> Counter[str]:
        """Figures of this world."""
        slips = self.judge.rules.slips.values()
        return Counter(
            {
                "messages": len(self.judge.sayings),
                "reports": len(slips),
                "recorded": len(self.judge.took_effect),
                "entries": len(self.judge.rules.items),
                "answers": sum(len(self.qq.said_by_bot(group)) for group in GROUPS),
                "lives": len(self.bot.lives),
                "cuts": self.line.cuts,
            }
        )

    def digest(self) -> str:
        """A hash of everything that happened."""
        return hashlib.sha256("\n".join(self.lines).encode()).hexdigest()

    def run(self) -> None:
        """Let it happen, then judge. Raises Broken."""
        self.trace(f"seed {self.seed}: {self.weather}")
        asyncio.set_event_loop(self.loop)
        try:
            self.loop.run_until_complete(self._story())
        except Stuck as stuck:
            raise Broken(str(stuck)) from stuck
        finally:
            self._clear_away()

    # --- what is told -------------------------------------------------------------------------------------

    def _people(self) -> None:
        for group in GROUPS:
            self.qq.add_group(group, str(group))
            for person in PEOPLE:
                if group != SCORING or person.judge or person.player is not None:
                    role: Any = "owner" if person is OWNER else "member"
                    self.qq.add_member(
                        group, person.qq, card=person.name, nickname=person.name, role=role,
                        joined_at=self.begins - 100 * DAY,
                    )  # fmt: skip
            self.qq.say(group, OWNER.qq, "张三    胜    李四")  # of long ago: never handled

    def _remember(self, saying: Saying) -> None:
        who = saying.person.qq if saying.kind == "reaction" else 0
        notice = saying.kind if saying.kind in ("recall", "reaction") else ""
        self.judge.sayings[notice, saying.message_id, who] = saying
        self.trace(f"{saying}")

    def _arrived(self, event: dict[str, Any], happened: Happened) -> None:
        """An event arrives at the bot."""
        life = self.bot.life
        if life is None or happened.message is None:
            return
        if life.push(event):
            who = happened.user_id if happened.kind == "reaction" else 0
            notice = "" if happened.kind == "message" else happened.kind
            saying = self.judge.sayings.get((notice, happened.message.message_id, who))
            if saying is not None:
                saying.delivered.append((len(self.bot.lives), self.loop.time()))

    def _said_by_bot(self, happened: Happened) -> None:
        if happened.kind == "message" and happened.user_id == BOT and happened.message is not None:
            message = happened.message
            quoting = f" (quotes {message.quote})" if message.quote is not None else ""
            self.trace(f"bot in {message.chat}: {message.text!r}{quoting}")

    # --- the story ----------------------------------------------------------------------------------------

    async def _story(self) -> None:
        rng = self.rng
        with sqlite3.connect(self.file) as connection:
            self.judge.begin(connection)
        connection.close()
        await self._start()
        await asyncio.sleep(2)
        for _ in range(rng.choice((1, 1, 2, 2, 3))):
            for _ in range(rng.randint(3, 9)):
                await asyncio.sleep(rng.choice((0.0, 0.3, 2.0, 5.0, 10.0, 40.0)) * rng.random())
                if rng.random() < self.weather.trouble:
                    self._trouble()
                self.crowd.act()
                self._check()
            await self._pause(rng.choice(PAUSES) * rng.uniform(0.9, 1.2))
        await self._end()
        self._check()
        await verdict.check(self)

    def _check(self) -> None:
        if self.judge.broken is not None:
            raise self.judge.broken

    async def _pause(self, seconds: float) -> None:
        """A long time in which nobody says anything; jobs run less often, as if the machine slept."""
        await asyncio.sleep(min(seconds, 45))
        self._nap_least = seconds / self.rng.randint(2, 3)
        await asyncio.sleep(seconds)
        self._nap_least = 0.0

    def _nap(self, seconds: float) -> float:
        return max(seconds, self._nap_least)

    async def _start(self) -> None:
        """Start the bot; its client connects a moment later."""
        if await self.bot.up():
            await self._connect()

    async def _connect(self) -> None:
        await asyncio.sleep(self.rng.uniform(0.1, 3))
        life = self.bot.life
        if not self.line.up and life is not None and life.parts is not None and life.noting:
            self.line.connect()
            self.trace("the client connects")
            self.bot.connected()

    # --- trouble ------------------------------------------------------------------------------------------

    def _trouble(self) -> None:
        """Something goes wrong, and ends by itself later."""
        kinds: list[Callable[[], Any]] = [
            self._outage, self._outage, self._half_open, self._kill, self._kill, self._restart, self._mute, self._hide,
            self._forget, self._refuse,
        ]  # fmt: skip
        task = self.loop.create_task(self.rng.choice(kinds)())
        self.troubles.add(task)
        task.add_done_callback(self.troubles.discard)

    def _for(self) -> float:
        return self.rng.choice((0.5, 5.0, 60.0, 600.0)) * self.rng.uniform(0.3, 1.5)

    async def _outage(self) -> None:
        seconds = self._for()
        self.trace(f"the connection is cut for {seconds:.1f} s")
        self.line.cut()
        await asyncio.sleep(seconds)
        await self._connect()

    async def _half_open(self) -> None:
        self.trace("the connection is half open")
        self.line.half_open = True
        await asyncio.sleep(self.rng.uniform(1, 20))
        if self.line.half_open:
            self.trace("the half open connection is given up")
            self.line.cut()
            await self._connect()

    async def _kill(self) -> None:
        life = self.bot.life
        if life is None:
            return
        if self.rng.random() < 0.6:
            life.disk.fuse = self.rng.randint(1, 60)
            self.trace(f"the bot is going to be killed in {life.disk.fuse} steps")
            await asyncio.sleep(5)
        if self.bot.life is life:
            self.trace("the bot is killed")
            self.bot.kill()
        await self._again()

    async def _restart(self) -> None:
        life = self.bot.life
        if life is None or not life.noting or life.parts is None:
            return
        self.trace("the bot is stopped")
        await self.bot.down()
        await self._again()

    async def _again(self) -> None:
        """Somebody starts the bot again, unless somebody else did."""
        await asyncio.sleep(self._for())
        if self.bot.life is None:
            self.trace("the bot is started")
            await self._start()

    async def _mute(self) -> None:
        group = self.rng.choice(GROUPS)
        self.trace(f"the bot is muted in {group}")
        self.line.faults.muted.add(group)
        await asyncio.sleep(self._for())
        self.trace(f"the bot may speak again in {group}")
        self.line.faults.muted.discard(group)
        if self.rng.random() < 0.5 and self.bot.life is not None and self.line.up:  # not every client tells of it
            notice = {"post_type": "notice", "notice_type": "group_ban", "sub_type": "lift_ban", "group_id": group}
            self.bot.life.push(notice | {"user_id": BOT, "self_id": BOT, "operator_id": OWNER.qq, "duration": 0})

    async def _hide(self) -> None:
        self.trace("QQ gives no history")
        self.hidden.append((self.now(), None))
        self.line.faults.no_history = True
        await asyncio.sleep(self._for())
        self.trace("QQ gives history again")
        self.hidden = [(since, self.now() if until is None else until) for since, until in self.hidden]
        self.line.faults.no_history = False

    async def _forget(self) -> None:
        """History is short, or has holes for good."""
        said = [m for group in GROUPS for m in self.qq.history(group)[-6:]]
        if self.rng.random() < 0.5 and said:
            hole = self.rng.choice(said)
            self.trace(f"QQ loses {hole.message_id} from history")
            self.line.faults.history_holes.add(hole.message_id)
            return
        self.line.faults.history_limit = self.rng.randint(0, 5)
        self.trace(f"QQ's history has {self.line.faults.history_limit} messages")
        await asyncio.sleep(self._for())
        self.trace("QQ's history is whole again")
        self.line.faults.history_limit = None

    async def _refuse(self) -> None:
        name = self.rng.choice(("refuse_at", "refuse_reply"))
        self.trace(f"QQ begins to {name}")
        setattr(self.line.faults, name, True)
        await asyncio.sleep(self._for())
        self.trace(f"QQ does not {name} any more")
        setattr(self.line.faults, name, False)

    # --- the end ------------------------------------------------------------------------------------------

    async def _end(self) -> None:
        """QQ becomes kind, the client connects anew, and time passes until nothing is left to do."""
        self.trace("QQ becomes kind")
        self.line.kind = True
        self._nap_least = 300.0
        while self.troubles:
            await asyncio.wait(self.troubles)
        self._nap_least = 0.0
        if self.bot.life is None:
            await self._start()
        self._nap_least = 60.0
        await asyncio.sleep(120)
        self.line.cut()
        self.trace("the connection is cut once more")
        await self._connect()
        for _ in range(60):
            await asyncio.sleep(60)
            if verdict.nothing_left(self.file):
                break
        await self._long_after()

    async def _long_after(self) -> None:
        """Everything that waits for a time gets its time; the last tick is at noon, when reminders may be sent."""
        rules = self.judge.rules
        waits = [slip.posted + CONFIRM_WITHIN for slip in rules.slips.values() if slip.state == "waiting"]
        waits += [duel.deadline for duel in rules.open_duels()]
        if not waits:
            return
        until = (max(waits) // DAY + 2) * DAY + 4 * HOUR  # noon in Shanghai, a day later at least
        self._nap_least = (until - self.now()) / 3000
        await asyncio.sleep((until - self.now()) / 1000)
        life = self.bot.life
        if life is not None and life.parts is not None:
            await life.spawn(life.parts.tick())
        await asyncio.sleep(30)

    def _clear_away(self) -> None:
        """Let go of the file and of every task."""
        if self.bot.life is not None:
            self.bot.life.disk.close()
        for task in asyncio.all_tasks(self.loop):
            task.cancel()
        self.loop._ready.clear()  # type: ignore[attr-defined]
        self.loop._scheduled.clear()  # type: ignore[attr-defined]
        self.loop.close()
        asyncio.set_event_loop(None)
