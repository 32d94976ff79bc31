"""The client was away: everything that history shows is recorded, once, and where it has a hole the desk is told."""

import random
import re
from collections.abc import Awaitable, Callable
from pathlib import Path

from plugins.rating_bot.sandbox.actions import ActionFailed, NoAnswer
from plugins.rating_bot.sandbox.client import Style
from tests.reliability.outage_world import (
    CHATTER,
    GROUPS,
    KEEPER,
    LIVE,
    OFFICIAL,
    SCORING,
    OutageWorld,
    Script,
    Talk,
    at_most,
    living,
    quiet,
    recalled,
    recorded,
    said_so_far,
    spoken,
    until,
    well,
)

HOUR_MS = 3_600_000
MESSAGES = 200
WITHIN = 15.0
"""Seconds after its return until all that was said is recorded."""
MOST_MESSAGES = 3
NUMBERED = ("napcat", "llonebot")
"""Clients that tell QQ's own numbers, in which holes show."""
STYLES: tuple[Style, ...] = ("napcat", "llonebot", "lagrange", "gocqhttp")
Down = Callable[[OutageWorld], Awaitable[Callable[[], Awaitable[None]]]]


# --- an hour ----------------------------------------------------------------------------------------------


async def _socket(world: OutageWorld) -> Callable[[], Awaitable[None]]:
    await world.client.offline()
    return world.client.online


async def _killed(world: OutageWorld) -> Callable[[], Awaitable[None]]:
    await world.bot.kill()
    await world.client.disconnected()
    return world.start


async def _stopped(world: OutageWorld) -> Callable[[], Awaitable[None]]:
    await world.stop(clean=False)
    return world.start


DOWN: dict[str, Down] = {"socket": _socket, "killed": _killed, "stopped": _stopped}


async def hour(folder: Path, rng: random.Random, long: bool) -> str:
    """An hour away with 200 messages in two groups: recorded 15 s after the return, in at most 3 messages a group."""
    figures = []
    for style in STYLES if long else ("napcat",):
        for name in DOWN if long else ("socket",):
            home = folder / f"{style}-{name}"
            home.mkdir()
            figures.append(await _hour(OutageWorld(home, style), rng, DOWN[name]))
    return _worst(figures)


def _worst(figures: list[tuple[int, int, float, int]]) -> str:
    said = sum(figure[0] for figure in figures)
    reports = sum(figure[1] for figure in figures)
    return (
        f"{said} messages said while away, {reports} reports of {reports} recorded, the last within"
        f" {max(figure[2] for figure in figures):.1f} s of the return, at most {max(figure[3] for figure in figures)}"
        " messages a group"
    )


async def _hour(world: OutageWorld, rng: random.Random, down: Down) -> tuple[int, int, float, int]:
    async with living(world):
        talk = Talk(rng, world.client.style)
        script = talk.script(60, 0, queries=20, commands=12)
        while len(script.lines) < MESSAGES:
            script.lines.insert(rng.randint(0, len(script.lines)), talk.chatter())
        up = await down(world)
        before = said_so_far(world)
        spoken(world, script, HOUR_MS)
        await up()
        seconds = await recorded(world, script)
        assert seconds <= WITHIN, f"it took {seconds:.1f} s"
        await until(lambda: len(world.docket("old_command")) == len(script.commands), "old commands are listed")
        await quiet(world)
        said = at_most(MOST_MESSAGES, world, before)
        _nothing_done(world, script)
        assert holes(world) == (recalled(script) if world.client.style in NUMBERED else {})
        await world.ask(KEEPER, "/待办", "停机时发的命令", group=SCORING)
        await well(world)
        kept = [report for report in script.reports if report.state]
        return len(script.lines), len(kept), seconds, max(said.values())


def _nothing_done(world: OutageWorld, script: Script) -> None:
    """No old command was carried out, no old query answered."""
    done = world.rows("SELECT name FROM names WHERE name LIKE '新人甲%'") + world.rows("SELECT name FROM events")
    assert done == [], f"old commands were carried out: {done}"
    asked = {line.message.message_id for line in script.queries if line.message}
    answers = [m for group in GROUPS for m in world.qq.said_by_bot(group) if m.quote in asked]
    assert answers == [], f"old queries were answered: {answers}"
    listed = " ".join(world.docket("old_command"))
    for line in script.commands:
        assert line.text in listed, f"{line.text} is not on the desk's list: {listed}"


def holes(world: OutageWorld) -> dict[int, int]:
    """Return in which groups the desk is told of how many missing numbers; no other hole must be told."""
    missed = world.docket("missed")
    found = [re.search("^群([0-9]+) .*中间缺([0-9]+)条", line) for line in missed]
    assert all(found), missed
    return {int(match[1]): int(match[2]) for match in found if match}


# --- bad history ------------------------------------------------------------------------------------------


class Pages:
    """Stands between the bot and its client's history; `failing` decides of each call by its number."""

    def __init__(self, world: OutageWorld) -> None:
        self._actions = world.client._actions
        self._answer = self._actions._table["get_group_msg_history"]
        self._actions._table["get_group_msg_history"] = self._page
        self.calls: dict[int, int] = {}
        self.failing: Callable[[int], bool] = lambda number: False
        self.silent = False
        self.repeating = False
        """The newest page is given again and again, and never a longer one."""

    def reset(self) -> None:
        self.calls.clear()
        self.failing, self.silent, self.repeating = lambda number: False, False, False

    def _page(self, params: dict[str, object]) -> object:
        group = int(str(params["group_id"]))
        self.calls[group] = number = self.calls.get(group, 0) + 1
        if group == OFFICIAL and self.failing(number):
            if self.silent:
                raise NoAnswer
            raise ActionFailed(1200, "获取历史消息失败")
        if self.repeating:
            params = {name: value for name, value in params.items() if name not in ("message_seq", "message_id")}
            params["count"] = 20
        return self._answer(params)


async def history(folder: Path, rng: random.Random, long: bool) -> str:
    """Holes, an early end, either direction, pages that repeat, fail or never come, other ids than the events had."""
    cases = told = 0
    for style in STYLES if long else ("napcat", "lagrange"):
        home = folder / style
        home.mkdir()
        world = OutageWorld(home, style)
        async with living(world):
            case = Case(world, rng, long)
            cases += await case.run()
            told += case.told
            await well(world)
    return f"{cases} histories with a fault: all they show recorded once, {told} holes told"


class Case:
    """One world that is away again and again, each time with another fault in its history."""

    def __init__(self, world: OutageWorld, rng: random.Random, long: bool) -> None:
        self.world = world
        self.rng = rng
        self.long = long
        self.told = 0
        self.talk = Talk(rng, world.client.style)
        self.pages = Pages(world)

    async def run(self) -> int:
        """Return how many faults there were."""
        cases = [self.overlapping, self.failing_once, self.unanswered_once, self.repeating, self.failing_always,
                 self.short]  # fmt: skip
        if self.world.client.style in NUMBERED:
            cases.append(self.holes)
        if self.long:
            cases.append(self.never_answered)
        for case in cases * (3 if self.long else 1):
            await case()
            self.pages.reset()
            self.world.client.faults.history_limit = None
            self.world.client.faults.history_holes = set()
            self.world.clear_docket()
        return len(cases) * (3 if self.long else 1)

    async def _away(self, reports: int, chatter: int) -> Script:
        """Let things be said while the client is away."""
        await self.world.settled()
        await self.world.client.offline()
        script = self.talk.script(reports, chatter)
        spoken(self.world, script)
        return script

    async def _back(self, script: Script, *hole: str) -> None:
        """Everything is recorded that must be, and the desk is told where something may be missing."""
        await self.world.client.online()
        await recorded(self.world, script)
        if hole:
            await until(lambda: self.world.docket("missed"), "the desk is told 「可能漏收」")
            missed = self.world.docket("missed")
            assert any(all(part in line for part in hole) for line in missed), f"{hole} is not in {missed}"
            self.told += 1
        await quiet(self.world)
        if not hole:
            missing = recalled(script) if self.world.client.style in NUMBERED else {}
            assert holes(self.world) == missing, f"{missing} are missing, told: {self.world.docket('missed')}"

    async def overlapping(self) -> None:
        """What came as events is in history too, under other ids where the client is Lagrange."""
        live = self.talk.script(4, 2, kinds=LIVE)
        spoken(self.world, live)
        await recorded(self.world, live)
        script = await self._away(4, 4)
        await self._back(script)
        assert not (twice := [found for found in self.world.reports().values() if len(found) > 1]), twice

    async def failing_once(self) -> None:
        """One page of several is refused once."""
        script = await self._away(6, 130)
        page = self.rng.randint(1, 3)
        self.pages.failing = lambda number: number == page
        await self._back(script)

    async def unanswered_once(self) -> None:
        """One page is not answered, once."""
        script = await self._away(6, 130)
        page = self.rng.randint(1, 2)
        self.pages.failing, self.pages.silent = lambda number: number == page, True
        await self._back(script)

    async def repeating(self) -> None:
        """Whatever is asked for, the same newest 20 messages come: they are recorded, the others told."""
        await self._away(0, 60)
        script = self.talk.script(3, 0)
        spoken(self.world, script)
        self.pages.repeating = True
        await self._back(script, "群")

    async def failing_always(self) -> None:
        """Only the newest page is ever given."""
        await self._away(0, 160)
        script = self.talk.script(3, 0)
        spoken(self.world, script)
        self.pages.failing = lambda number: (number - 1) % 4 != 0
        await self._back(script, f"群{OFFICIAL}")

    async def never_answered(self) -> None:
        """The client gives one group no history: the others are not kept waiting, its own desk is told."""
        self.pages.failing, self.pages.silent = lambda number: True, True
        await self._away(0, 4)
        await self.world.client.online()
        await until(lambda: any(str(OFFICIAL) in line for line in self.world.docket("missed")), "the desk is told", 90)
        self.told += 1

    async def short(self) -> None:
        """History does not reach back to where the bot had read."""
        await self._away(0, 60)
        script = self.talk.script(3, 0)
        spoken(self.world, script)
        self.world.client.faults.history_limit = 15
        await self._back(script, "历史消息不够长")

    async def holes(self) -> None:
        """Messages are missing in the middle of it."""
        script = await self._away(6, 30)
        said = [line.message for line in script.lines if line.message and line.group == OFFICIAL]
        chatter = [message for message in said[:-1] if message.text in CHATTER]
        self.world.client.faults.history_holes = {message.message_id for message in self.rng.sample(chatter, 2)}
        await self._back(script, f"群{OFFICIAL}", "中间缺")
