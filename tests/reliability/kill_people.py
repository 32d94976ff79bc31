"""Those who talk while the bot dies again and again: pairs of players, a referee, a scorekeeper.

A report, a 确认 and a 有误 are said once and never again, whatever the bot does: history must be enough. What is
typed with a slash is said again after a while, as a person would: commands of an outage are listed, not carried out.
"""

import asyncio
import random
import re
from dataclasses import dataclass
from typing import Literal

from tests.e2e.world import OFFICIAL, SCORING, World
from tests.support.qq import FakeMessage

KEEPER, REFEREE = "小周", "裁判老赵"
PATIENCE = 900.0
"""Seconds after which somebody who still has no answer calls it a broken promise."""
AGAIN = 10.0
"""Seconds before a command that was not answered is said again."""
MOST_THINKING = 0.6
SESSIONS = {"confirm": 50, "mirrored": 10, "desk": 10, "dispute": 14, "withdraw": 8, "referee": 8}
"""How a report ends, and how often."""

Outcome = Literal["effective", "void", "withdrawn"]


@dataclass(slots=True)
class Said:
    """A report as somebody said it, and what must have become of it."""

    message: FakeMessage
    lines: tuple[str, ...]
    outcome: Outcome = "effective"
    number: int = 0
    disputed: bool = False

    def __str__(self) -> str:
        return f"{self.outcome} report #{self.number or '?'} {' / '.join(self.lines)}"


class Crowd:
    """The people of one world. `said` and `challenged` hold what must be found at the end."""

    def __init__(
        self, world: World, pairs: list[tuple[str, str]], rng: random.Random, thinking: float = MOST_THINKING
    ) -> None:
        """`thinking`: seconds that somebody thinks at the most before he speaks."""
        self.world = world
        self._thinking = thinking
        self.pairs = pairs
        self.said: list[Said] = []
        self.challenged: list[tuple[str, str]] = []
        self.settlements = self.rollbacks = 0
        self.going_home = False
        self._talk = asyncio.Event()
        self._talk.set()
        self._rng = rng
        self._last: dict[str, int] = {}
        self._used: set[tuple[str, ...]] = set()
        self._spoken: dict[tuple[str, str, int], int] = {}

    @property
    def settling(self) -> bool:
        """Whether a settlement is under way."""
        return not self._talk.is_set()

    # --- saying and hearing -------------------------------------------------------------------------------

    async def say(self, who: str, text: str, group: int = OFFICIAL, *, quote: int | None = None) -> FakeMessage:
        """Speak, after a moment of thought; while a settlement is under way only the scorekeeper does."""
        await asyncio.sleep(self._rng.uniform(0, self._thinking))
        if who != KEEPER:
            await self._talk.wait()
        while self._spoken.get((who, text, group)) == self.world.qq.now() // 1000:
            await asyncio.sleep(0.1)  # the same words twice in a second are one message where a client gives no numbers
        self._spoken[who, text, group] = self.world.qq.now() // 1000
        return self.world.say(who, text, group, quote=quote)

    async def hear(
        self, pattern: str, *names: str, after: FakeMessage, group: int = OFFICIAL, newer: int = 0,
        timeout: float = PATIENCE,
    ) -> tuple[int, FakeMessage]:  # fmt: skip
        """Return the number in the bot's first answer that fits, alone or merged with others, and the message.

        Its first line begins with `pattern`, all of `names` are in it, and its number is greater than `newer`.
        """

        def number(message: FakeMessage) -> int:
            for block in message.text.split("\n\n"):
                found = re.search(f"^{pattern}", block, re.MULTILINE)
                if found and int(found[1]) > newer and all(name in block for name in names):
                    return int(found[1])
            return 0

        since = after if after.group_id == group else None
        bot = self.world.qq.self_id
        heard = await self.world.qq.wait_for(
            group, lambda m: m.user_id == bot and m.time >= after.time and number(m), timeout, after=since
        )
        return number(heard), heard

    async def order(self, who: str, text: str, pattern: str, *, heard_in: int, said_in: int = SCORING) -> int:
        """Type a command until it has happened; return the number in the answer."""
        until = asyncio.get_running_loop().time() + PATIENCE
        first: FakeMessage | None = None
        while True:
            said = await self.say(who, text, said_in)
            first = first or said
            try:
                return (await self.hear(pattern, after=first, group=heard_in, timeout=AGAIN))[0]
            except TimeoutError:
                if asyncio.get_running_loop().time() > until:
                    raise
                await self.world.client.connected(PATIENCE)  # again only when the bot is there to take it

    # --- one pair -----------------------------------------------------------------------------------------

    async def play(self, one: str, two: str) -> None:
        """Report and answer until everybody goes home; both sides report."""
        await self._challenge(one, two)
        while not self.going_home:
            a, b = self._rng.sample([one, two], 2)
            kind = self._rng.choices(list(SESSIONS), list(SESSIONS.values()))[0]
            if self._rng.random() < 0.3:
                await self.say(a, "今天下得不错")
            await (self._refereed(a, b) if kind == "referee" else self._reported(a, b, kind))

    async def _challenge(self, one: str, two: str) -> None:
        """A forced challenge; the next report of the two fulfils it."""
        if self._rng.random() < 0.5:
            await self.order(one, f"/强制约战 {two}", rf"约(\d+) 强制约战（[^\n]*{one}[^\n]*{two}",
                             heard_in=OFFICIAL, said_in=OFFICIAL)  # fmt: skip
            self.challenged.append((one, two))

    def _games(self, a: str, b: str, most: int) -> tuple[str, ...]:
        """Games of the two that nobody reported in this order before."""
        while True:
            lines = tuple(f"{a} {self._rng.choice('胜平负')} {b}" for _ in range(self._rng.randint(1, most)))
            if not {lines, _mirrored(lines)} & self._used or most < 6:
                self._used.add(lines)
                return lines

    async def _reported(self, a: str, b: str, kind: str) -> None:
        pair = f"{a} {b}"
        lines = self._games(a, b, 4)
        said = Said(await self.say(a, "\n".join(lines)), lines)
        self.said.append(said)
        last = max(self._last.get(a, 0), self._last.get(b, 0))
        if kind == "confirm":
            await self._confirm(b, said, last)
        elif kind == "mirrored":
            await self.say(b, "\n".join(_mirrored(lines)))
        else:
            said.number, _ = await self.hear(r"#(\d+) 待确认", a, b, after=said.message, newer=last)
            await {"desk": self._by_desk, "dispute": self._dispute, "withdraw": self._withdraw}[kind](a, b, said)
        if said.outcome == "effective":
            said.number, _ = await self.hear(r"收到 #(\d+)（", *pair.split(), after=said.message, newer=last)
        self._last[a] = self._last[b] = said.number

    async def _confirm(self, b: str, said: Said, last: int) -> None:
        """In one of the ways people do, whether the prompt came or not: with one report waiting a bare 确认 will do."""
        names = said.lines[0].split()[::2]
        try:
            patience = self._rng.uniform(0, 4)
            number, prompt = await self.hear(r"#(\d+) 待确认", *names, after=said.message, newer=last, timeout=patience)
        except TimeoutError:
            await self.say(b, "确认")
            return
        # Lagrange quotes by other ids than it gives in history: what is quoted there may never be known
        way = self._rng.randrange(2 * (self.world.client.style == "lagrange"), 4)
        if way == 0 and "\n\n" not in prompt.text:
            await self.say(b, "对", quote=prompt.message_id)
        elif way == 1:
            await self.say(b, "ok", quote=said.message.message_id)
        else:
            await self.say(b, ("确认", f"确认 {number}")[way - 2])

    async def _by_desk(self, a: str, b: str, said: Said) -> None:
        await self.order(KEEPER, f"/代确认 {said.number} 群里说过了", rf"收到 #({said.number})（", heard_in=OFFICIAL)

    async def _dispute(self, a: str, b: str, said: Said) -> None:
        number, said.disputed = said.number, True
        objection = await self.say(b, f"有误 {number} 记错了")
        await self.hear(rf"#({number}) 争议：", after=objection)
        end = self._rng.randrange(3)
        if end == 0:
            await self.say(b, f"确认 {number}")
        elif end == 1:
            await self._by_desk(a, b, said)
        else:
            said.outcome = "void"
            await self.order(KEEPER, f"/作废 {number} 说不清", rf"#({number}) 已作废（", heard_in=SCORING)

    async def _withdraw(self, a: str, b: str, said: Said) -> None:
        said.outcome = "withdrawn"
        await self.order(a, f"/撤回 {said.number}", rf"#({said.number}) 已撤回", heard_in=OFFICIAL, said_in=OFFICIAL)

    async def _refereed(self, a: str, b: str) -> None:
        """A referee's post takes effect at once, in whichever group."""
        group = self._rng.choice((OFFICIAL, SCORING))
        lines = self._games(a, b, 8)
        said = Said(await self.say(REFEREE, "\n".join(lines), group), lines)
        self.said.append(said)
        last = max(self._last.get(a, 0), self._last.get(b, 0))
        said.number, _ = await self.hear(r"收到 #(\d+)（", a, b, after=said.message, group=group, newer=last)
        self._last[a] = self._last[b] = said.number

    # --- the desk's own -----------------------------------------------------------------------------------

    async def settle(self, year: int) -> None:
        """Settle an old season, or roll its settlement back where it is settled; all others are silent meanwhile."""
        undo = self.settlements > self.rollbacks
        word, preview = ("回滚", rf"预(\d+) 回滚{year}赛季") if undo else ("执行", rf"预(\d+) {year}赛季")
        done = rf"({year})赛季结算（.*）已回滚" if undo else rf"({year})赛季已结算（"
        self._talk.clear()
        try:
            number = await self.order(KEEPER, f"/结算 {word} {year}", preview, heard_in=SCORING)
            while True:
                said = self.world.say(KEEPER, f"确认 预{number}", SCORING)
                found = await self._first_of(said, (done, 0), (preview, number))
                if found == year:
                    break
                number = found  # the book had moved: it was shown anew
        finally:
            self._talk.set()
        self.settlements += not undo
        self.rollbacks += undo

    async def _first_of(self, after: FakeMessage, *wanted: tuple[str, int]) -> int:
        """Return the number in the first answer that fits one of (pattern, newer than)."""
        tasks = [
            asyncio.create_task(self.hear(pattern, after=after, group=SCORING, newer=newer))
            for pattern, newer in wanted
        ]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            return done.pop().result()[0]
        finally:
            for task in tasks:
                task.cancel()


def _mirrored(lines: tuple[str, ...]) -> tuple[str, ...]:
    """The same games as the other side would write them."""
    other = {"胜": "负", "负": "胜", "平": "平"}
    return tuple(f"{right} {other[result]} {left}" for left, result, right in (line.split() for line in lines))
