"""A league in which things fail: two groups of players, what is said in them, and what must have become of it."""

import asyncio
import contextlib
import itertools
import json
import random
import re
import sqlite3
from collections.abc import AsyncIterator, Collection, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from plugins.rating_bot.sandbox.client import Faults, Style
from tests.e2e.world import BOT, OFFICIAL, POOL, SCORING, World
from tests.support.qq import FakeMessage

SECOND = 100003
GROUPS = (OFFICIAL, SECOND, SCORING)
KEEPER, REFEREE = "小周", "裁判老赵"
PAIRS = {
    OFFICIAL: [("张三", "李四"), ("王五", "赵六"), ("钱七", "孙八")],
    SECOND: [("周九", "吴十"), ("郑重", "冯唐"), ("陈平", "褚英")],
}
PLAYERS = tuple(name for pairs in PAIRS.values() for pair in pairs for name in pair)
LAGRANGE_OTHER_ID = 0x2A2A2A2A
"""Lagrange gives a message another id in history: by this xor."""
CHATTER = ("今天下得真累", "周末谁有空", "刚才那盘可惜了", "哈哈哈", "群主在吗", "确实", "123", "/摸鱼")
LOG_LINES = 25
WORDS = "胜负平"
OTHER = {"胜": "负", "负": "胜", "平": "平"}
KINDS = {"confirm": 50, "quote": 15, "mirrored": 10, "referee": 10, "recalled": 5}
"""How a report ends, and how often; recalled: before the bot can hear of it."""
LIVE = tuple(kind for kind in KINDS if kind != "recalled")
_preparing = asyncio.Lock()
"""Migrations of one process share their context."""


class OutageWorld(World):
    """Three configured groups; a book of its own. What it `said` is what must be found."""

    def __init__(self, folder: Path, style: Style = "napcat", faults: Faults | None = None) -> None:
        super().__init__(folder, style, faults)
        self.late_ms = 86_400_000
        self.qq.add_group(SECOND, "二群")
        for name, number in self.people.items():
            self.qq.add_member(SECOND, number, card=name, nickname=name)
        self.say("群主", "大家好", SECOND)
        self.late_ms = 0
        self.said_at: dict[tuple[str, str], int] = {}
        """Who, what → when he said so last."""
        official = json.dumps({str(OFFICIAL): POOL, str(SECOND): POOL})
        self.bot.settings |= {"TIAOQI__OFFICIAL_GROUPS": official, "LOG_LEVEL": "INFO"}

    def join(self, name: str, number: int | None = None, *, scoring: bool = False) -> int:
        joined = super().join(name, number, scoring=scoring)
        if SECOND in self.qq.groups:
            self.qq.add_member(SECOND, joined, card=name, nickname=name)
        return joined

    async def begin(self, *others: str) -> None:
        """Enter everybody and start; what was said before, a day ago, is old to the bot then."""
        async with _preparing:
            await self.prepare(*PLAYERS, *others)
        await self.start()
        marks = "SELECT count(*) FROM chats WHERE watermark_at > 0"
        await until(lambda: self.rows(marks) == [(len(GROUPS),)], "every group has begun")

    def rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """Return what a query finds in the bot's file."""
        with contextlib.closing(sqlite3.connect(f"file:{self.file}?mode=ro", uri=True, timeout=10)) as connection:
            return connection.execute(query, values).fetchall()

    def docket(self, kind: str) -> list[str]:
        """Return what is on the desk's list, of one kind."""
        found = self.rows("SELECT about, detail FROM docket WHERE kind = ? AND closed_at IS NULL", kind)
        return [f"{about} {detail}".strip() for about, detail in found]

    def clear_docket(self) -> None:
        """Strike everything off the desk's list, behind the bot's back."""
        with contextlib.closing(sqlite3.connect(self.file, timeout=10)) as connection, connection:
            connection.execute("UPDATE docket SET closed_at = 1")

    def reports(self) -> dict[int, list[tuple[int, str]]]:
        """Return message → its reports, each with its state; a message has one, or none."""
        found: dict[int, list[tuple[int, str]]] = {}
        for number, state, message in self.rows("SELECT report_id, state, message_id FROM reports"):
            found.setdefault(int(message), []).append((number, state))
        return found

    def report_of(self, message: FakeMessage) -> list[tuple[int, str]]:
        found = self.reports()
        own = message.message_id
        return found.get(own, []) + found.get(own ^ LAGRANGE_OTHER_ID, [])

    def told(self, group: int, since: int = 0) -> list[str]:
        """Return what the bot said in a group after its `since`th message."""
        return [message.text for message in self.qq.said_by_bot(group)[since:]]

    def count(self, group: int, begin: str) -> int:
        """Return how many lines the bot said that begin so, merged answers taken apart."""
        return sum(len(re.findall(f"^{re.escape(begin)}", text, re.MULTILINE)) for text in self.told(group))


async def until(fits: Any, what: str, seconds: float = 60) -> float:
    """Wait until `fits()`; return how many seconds that took. Raises AssertionError after `seconds`."""
    loop = asyncio.get_running_loop()
    begin = loop.time()
    while not fits():
        assert loop.time() - begin < seconds, f"not within {seconds:.0f} s: {what}"
        await asyncio.sleep(0.05)  # no event tells what another process writes down
    return loop.time() - begin


@asynccontextmanager
async def living(world: OutageWorld, *others: str) -> AsyncIterator[OutageWorld]:
    """A world whose bot has begun; at the end it is stopped, whatever happened, and its log is told if it was bad."""
    try:
        await world.begin(*others)
        yield world
    except BaseException as error:
        error.add_note("\n".join(["the end of the bot's log:", *world.bot.lines[-LOG_LINES:]]))
        raise
    finally:
        await world.close()


async def well(world: OutageWorld) -> None:
    """Stop in order. The chain is whole, a fresh fold is what was announced, all is out, nobody was told twice."""
    await world.stop(clean=False)
    await world.check_book()
    for group in (OFFICIAL, SECOND):
        for number, state in world.rows("SELECT report_id, state FROM reports WHERE chat = ?", f"g{group}"):
            effective = int(state == "effective")
            assert world.count(group, f"收到 #{number}（") == effective, f"收到 #{number} ({state}) in {group}"
            assert world.count(SCORING, f"#{number} {POOL}") == effective, f"the forward of #{number} ({state})"
            assert world.count(group, f"#{number} 待确认") <= 1, f"the prompt of #{number}"


# --- what people say --------------------------------------------------------------------------------------


@dataclass(slots=True)
class Line:
    """Something to be said. `report` marks a report's own message, `answers` quotes that of another line."""

    who: str
    text: str
    group: int
    report: "Report | None" = None
    answers: "Line | None" = None
    message: FakeMessage | None = None


@dataclass(slots=True)
class Report:
    """A report and the state in which its people leave it; "" where it is recalled before anybody hears of it."""

    state: str
    line: Line | None = None
    lines: list[Line] = field(default_factory=list)
    """It and its answer."""


@dataclass(slots=True)
class Script:
    """What is said, in order, and what must come of it."""

    lines: list[Line] = field(default_factory=list)
    reports: list[Report] = field(default_factory=list)
    commands: list[Line] = field(default_factory=list)
    queries: list[Line] = field(default_factory=list)


def recalled(script: Script) -> dict[int, int]:
    """Return how many messages of each group were recalled before the bot could see them: holes in QQ's numbers."""
    gone = [report.line.group for report in script.reports if not report.state and report.line]
    return {group: gone.count(group) for group in GROUPS if group in gone}


def spoken(world: OutageWorld, script: Script, span_ms: int = 0) -> None:
    """Let everything be said, spread evenly over the last `span_ms` up to now, or now.

    Nobody says the same twice in one second: without QQ's numbers it would be one message.
    """
    for number, line in enumerate(script.lines):
        if span_ms:
            world.late_ms = span_ms - span_ms * (number + 1) // (len(script.lines) + 1)
        elif world.said_at.get((line.who, line.text), 0) > world.qq.now() - 1000:
            world.late_ms -= 1000
        quote = line.answers.message.message_id if line.answers and line.answers.message else None
        line.message = world.say(line.who, line.text, line.group, quote=quote)
        world.said_at[line.who, line.text] = line.message.time
    for report in script.reports:
        if not report.state:
            assert report.line is not None and report.line.message is not None
            message = report.line.message
            world.qq.recall(report.line.group, message.message_id, by=message.user_id)


class Talk:
    """Makes scripts. No two reports of a pair are the same, so that none passes for a copy.

    Lagrange gives a message another id in history than a quote of it has: only a 确认 is understood without it.
    """

    def __init__(self, rng: random.Random, style: Style = "napcat") -> None:
        self.rng = rng
        self._words = ("确认",) if style == "lagrange" else ("确认", "对", "ok")
        self._games: dict[tuple[str, str], Iterator[tuple[str, ...]]] = {}
        self._newcomers = itertools.count(1)

    def script(
        self, reports: int, others: int, *, queries: int = 0, commands: int = 0, kinds: Collection[str] = tuple(KINDS)
    ) -> Script:
        """Return `reports` reports with their answers, and chatter, queries and commands among them, in all groups."""
        script = Script()
        weights = {kind: KINDS[kind] for kind in kinds}
        streams = [self._reports(script, group, pair, weights) for group, pairs in PAIRS.items() for pair in pairs]
        while len(script.reports) < reports:
            script.lines += next(self.rng.choice(streams))
        script.lines = self._shuffled(script.lines)
        mixed = [self.chatter() for _ in range(others)]
        for _ in range(queries):
            script.queries.append(Line(self.rng.choice(PLAYERS), self._query(), self.rng.choice(GROUPS[:2])))
        for _ in range(commands):
            script.commands.append(self._command())
        for line in (*mixed, *script.queries, *script.commands):
            script.lines.insert(self.rng.randint(0, len(script.lines)), line)
        last = {line.group: line for line in script.lines}
        for report in script.reports:  # what follows nothing leaves no hole when it is recalled
            if not report.state and report.line is not None and last[report.line.group] is report.line:
                script.lines.append(Line(report.line.who, self.rng.choice(CHATTER), report.line.group))
        return script

    def games(self, pair: tuple[str, str]) -> tuple[str, ...]:
        """Return games of a pair that nobody reported in this order before."""
        if pair not in self._games:
            self._games[pair] = (words for n in itertools.count(1) for words in itertools.product(WORDS, repeat=n))
        return next(self._games[pair])

    def _reports(
        self, script: Script, group: int, pair: tuple[str, str], kinds: dict[str, int]
    ) -> Iterator[list[Line]]:
        """Yield the lines of one report after the other of a pair, each with its answer."""
        while True:
            a, b = self.rng.sample(pair, 2)
            words = [word if (a, b) == pair else OTHER[word] for word in self.games(pair)]
            kind = self.rng.choices(list(kinds), list(kinds.values()))[0]
            report = Report("" if kind == "recalled" else "effective")
            line = Line(a, "\n".join(f"{a} {word} {b}" for word in words), group, report)
            report.line = line
            script.reports.append(report)
            if kind == "referee":
                line.who = REFEREE
                report.lines = [line]
            elif kind == "recalled":
                report.lines = [line]
            elif kind == "mirrored":
                report.lines = [line, Line(b, "\n".join(f"{b} {OTHER[word]} {a}" for word in words), group)]
            else:
                word = self.rng.choice(self._words) if kind == "quote" else "确认"
                report.lines = [line, Line(b, word, group, answers=line if kind == "quote" else None)]
            yield report.lines

    def _shuffled(self, lines: list[Line]) -> list[Line]:
        """Mix the groups and pairs; what one pair says stays in its order."""
        streams: dict[frozenset[str], list[Line]] = {}
        home = {name: frozenset(pair) for pairs in PAIRS.values() for pair in pairs for name in pair}
        for line in lines:
            streams.setdefault(home[line.text.split()[0] if line.who == REFEREE else line.who], []).append(line)
        mixed: list[Line] = []
        while streams:
            key = self.rng.choice(list(streams))
            mixed.append(streams[key].pop(0))
            if not streams[key]:
                del streams[key]
        return mixed

    def chatter(self) -> Line:
        return Line(self.rng.choice(PLAYERS), self.rng.choice(CHATTER), self.rng.choice(GROUPS[:2]))

    def _query(self) -> str:
        a, b = self.rng.sample(PLAYERS, 2)
        return self.rng.choice(("/等级分", "/排行榜", f"/对战 {a} {b}", f"/战绩 {a}", "/约战", "/规则 1"))

    def _command(self) -> Line:
        number = next(self._newcomers)
        text = self.rng.choice((f"/新棋手 新人甲{number} {30000 + number}", f"/赛事 新建 杯赛甲{number} 1.2"))
        return Line(KEEPER, text, self.rng.choice(GROUPS))


def missing(world: OutageWorld, script: Script) -> list[str]:
    """Return what is not recorded as it was said."""
    found = world.reports()
    problems = []
    for report in script.reports:
        assert report.line is not None and report.line.message is not None
        own = report.line.message.message_id
        got = found.get(own, []) + found.get(own ^ LAGRANGE_OTHER_ID, [])
        states = [state for _, state in got]
        if states != ([report.state] if report.state else []):
            problems.append(f"recorded as {got}, must be {report.state or 'nothing'}: {report.line.text!r}")
    return problems


async def recorded(world: OutageWorld, script: Script, seconds: float = 60) -> float:
    """Wait until all of a script is recorded, and nothing of it twice; return how many seconds that took."""
    try:
        return await until(lambda: not missing(world, script), "all is recorded", seconds)
    except AssertionError as error:
        problems = missing(world, script)
        error.add_note(f"{len(problems)} reports:\n" + "\n".join(problems[:10]))
        raise


async def quiet(world: OutageWorld) -> None:
    """Wait until everything is out, what waits to be merged included."""
    query = "SELECT chat, state, text FROM outbox WHERE state NOT IN ('sent', 'dropped')"
    await until(lambda: not world.rows(query), "everything is out")


def at_most(count: int, world: OutageWorld, since: dict[int, int]) -> dict[int, int]:
    """Return how many messages the bot said in each group since; no more than `count` in any."""
    said = {group: len(world.told(group, since[group])) for group in GROUPS}
    assert max(said.values()) <= count, f"{said} messages: {[world.told(group, since[group]) for group in GROUPS]}"
    return said


def said_so_far(world: OutageWorld) -> dict[int, int]:
    """Return how many messages the bot has said in each group."""
    return {group: len(world.qq.said_by_bot(group)) for group in GROUPS}


__all__ = ["BOT", "GROUPS", "KEEPER", "OFFICIAL", "PAIRS", "PLAYERS", "REFEREE", "SCORING", "SECOND"]
