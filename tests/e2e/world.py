"""A real bot process, a QQ in memory that is connected to it over a real WebSocket, and people who talk."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from plugins.rating_bot.sandbox.client import FakeClient, Faults, Style
from plugins.rating_bot.sandbox.qq import FakeQQ, wall_clock
from plugins.rating_bot.sandbox.values import FakeMessage
from rating_core.book import Book
from rating_core.directory import REFEREE, SCOREKEEPER
from rating_core.service import people
from rating_core.service.health import examine
from rating_core.service.league import League
from rating_core.store.database import Database
from rating_core.store.migrate import migrate
from rating_core.store.wire_store import OutboxTable, OutRow
from rating_core.times import DAY_MS
from tests.support.engines import url_of
from tests.support.process import BotProcess, free_port

BOT, OFFICIAL, SCORING, ELSEWHERE = 10000, 100001, 100002, 999999
TOKEN = "end-to-end-0123456789abcdef"
OWNER, KEEPER, REFEREE_QQ = 10001, 10002, 10004
POOL = "单跳1v1"
STRANGER = 80_001


def settings(port: int, url: str = "sqlite+aiosqlite:///ratings.db") -> dict[str, str]:
    """Return a bot's settings in real mode."""
    return {
        "HOST": "127.0.0.1",
        "PORT": str(port),
        "ONEBOT_ACCESS_TOKEN": TOKEN,
        "SUPERUSERS": f'["{OWNER}"]',
        "TIAOQI__OFFICIAL_GROUPS": f'{{"{OFFICIAL}":"{POOL}"}}',
        "TIAOQI__SCORING_GROUPS": f'["{SCORING}"]',
        "TIAOQI__DATABASE_URL": url,
        "TIAOQI__SEND_INTERVAL": "0",
        "TIAOQI__PICTURES": "false",
    }


class World:
    """One league: its folder, its bot, its QQ. Everybody in `people` speaks by name."""

    def __init__(self, folder: Path, style: Style = "napcat", faults: Faults | None = None) -> None:
        self.folder = folder
        self.port = free_port()
        self.late_ms = DAY_MS
        """How far QQ's clock is behind ours: what is said now was said so long ago."""
        self.qq = FakeQQ(self_id=BOT, now=lambda: wall_clock() - self.late_ms)
        for number, name in ((OFFICIAL, "官方群"), (SCORING, "记分群"), (ELSEWHERE, "别的群")):
            self.qq.add_group(number, name)
        self.bot = BotProcess(folder, settings(self.port, self.url))
        url = f"ws://127.0.0.1:{self.port}/onebot/v11/ws"
        self.client = FakeClient(self.qq, url, token=TOKEN, style=style, faults=faults, retry=0.05)
        self.people: dict[str, int] = {}
        self.players: tuple[str, ...] = ()
        self._client_started = False
        self.join("群主", OWNER, scoring=True)
        self.join("小周", KEEPER, scoring=True)
        self.join("裁判老赵", REFEREE_QQ, scoring=True)
        for group in (OFFICIAL, SCORING, ELSEWHERE):  # QQ clients give no history of a group in which nobody spoke
            self.say("群主", "大家好", group)
        self.late_ms = 0

    @property
    def file(self) -> Path:
        return self.folder / "ratings.db"

    @property
    def url(self) -> str:
        return url_of(self.folder)

    # --- people -------------------------------------------------------------------------------------------

    def join(self, name: str, number: int | None = None, *, scoring: bool = False) -> int:
        """Let somebody enter the groups, with his name as his card; return his QQ number."""
        number = number or 20001 + len(self.people)
        self.people[name] = number
        groups = (OFFICIAL, ELSEWHERE, SCORING) if scoring else (OFFICIAL, ELSEWHERE)
        for group in groups:
            self.qq.add_member(group, number, card=name, nickname=name, joined_at=self.qq.now() - 400 * DAY_MS)
        return number

    async def prepare(self, *names: str) -> None:
        """Enter players bound to their QQs, a scorekeeper and a referee, before the bot's first start."""
        assert not self.bot.running
        self.players = names
        database = await Database.open(self.url)
        try:
            await migrate(database, self.folder / "backups")
            begin = self.qq.now() - 30 * DAY_MS
            league = await League.open(database, lambda: begin, frozenset({str(OWNER)}))
            async with league.transaction() as tx:
                owner = await tx.known(tx.directory.actor(str(OWNER), league.superusers))
                await people.appoint(tx, owner, SCOREKEEPER, str(KEEPER), begin)
                await people.appoint(tx, owner, REFEREE, str(REFEREE_QQ), begin)
                for name in names:
                    number = self.people.get(name) or self.join(name)
                    await people.add_player(tx, owner, name, str(number), "普通", begin, ())
        finally:
            await database.close()

    # --- the bot ------------------------------------------------------------------------------------------

    async def start(self, *, failpoint: str = "") -> None:
        """Start the bot; return when it listens and QQ is connected."""
        await self.bot.start(**({"TIAOQI_FAILPOINT": failpoint} if failpoint else {}))
        if not self._client_started:
            self._client_started = True
            await self.client.start(timeout=None)
        await self.client.connected()

    async def stop(self, *, clean: bool = True) -> None:
        """SIGTERM when nothing is left to send, asserted to end in order; QQ notices."""
        await self.settled()
        await self.bot.stop(clean=clean)
        await self.client.disconnected()

    async def restart(self) -> None:
        """SIGTERM and start again on the same database."""
        await self.stop()
        await self.start()

    async def close(self) -> None:
        await self.client.stop()
        await self.bot.close()

    # --- talk ---------------------------------------------------------------------------------------------

    def say(self, who: str, text: str, group: int = OFFICIAL, **options: Any) -> FakeMessage:
        """Let somebody speak in a group; returns at once."""
        return self.qq.say(group, self.people[who], text, **options)

    async def hear(
        self, *parts: str, after: FakeMessage | None = None, group: int = OFFICIAL, timeout: float = 40
    ) -> FakeMessage:
        """Return the bot's first message in a group (after `after`) that holds all of `parts`."""

        def fits(message: FakeMessage) -> bool:
            return message.user_id == BOT and all(part in message.text for part in parts)

        after = after if after is not None and after.group_id == group else None
        return await self.qq.wait_for(group, fits, timeout, after=after)

    async def ask(self, who: str, text: str, *parts: str, group: int = OFFICIAL, **options: Any) -> FakeMessage:
        """Let somebody speak and return the answer that quotes him; it must hold all of `parts`."""
        said = self.say(who, text, group, **options)
        answer = await self.qq.wait_for(
            group, lambda m: m.user_id == BOT and m.quote == said.message_id, 15, after=said
        )
        for part in parts:
            assert part in answer.text, f"{part!r} is not in the answer to {text!r}: {answer.text!r}"
        return answer

    async def said_since(self, after: FakeMessage, group: int = OFFICIAL) -> list[str]:
        """Return what the bot said in a group between `after` and its answer to a stranger's report said now.

        Messages of a group are handled and answered in order, so by the time of that answer nothing else can come.
        """
        self.qq.add_member(group, STRANGER, card="路人", nickname="路人")
        asked = self.qq.say(group, STRANGER, " 胜 ".join(self.players[:2]))
        end = await self.qq.wait_for(group, lambda m: m.user_id == BOT and m.quote == asked.message_id, 15, after=asked)
        assert "只能由对局双方或裁判上报" in end.text
        messages = [m for m in self.qq.said_by_bot(group) if after.real_seq < m.real_seq < end.real_seq]
        return [m.text for m in messages]

    async def report(self, who: str, text: str, group: int = OFFICIAL) -> tuple[int, FakeMessage]:
        """Let a player report; return the number given and the prompt."""
        prompt = await self.ask(who, text, "待确认", group=group)
        found = re.match(r"#([0-9]+) ", prompt.text)
        assert found, prompt.text
        return int(found[1]), prompt

    # --- the book -----------------------------------------------------------------------------------------

    @asynccontextmanager
    async def league(self) -> AsyncIterator[League]:
        """The league as its database tells, read only: the Book is a fresh fold of the ledger."""
        database = await Database.open(self.url, read_only=True)
        try:
            yield await League.open(database, wall_clock)
        finally:
            await database.close()

    async def check_book(self) -> Book:
        """Fold the database afresh: chain whole, announced figures confirmed, nothing left to send. Return the Book."""
        async with self.league() as league:
            health = await examine(league)
            assert health.well, health
            left = {state: count for state, count in health.sends.items() if state not in ("sent", "dropped")}
            assert not left, left
            return league.book

    async def outbox(self, *states: str) -> list[OutRow]:
        """Return the outbox rows in these states, oldest first."""
        async with self.league() as league, league.database.read() as connection:
            return list(await OutboxTable(connection).rows(*states))

    async def settled(self) -> None:
        """Wait until the bot has noted of every message that it is out."""
        async with asyncio.timeout(20):
            while await self.outbox("pending", "sending", "unknown"):
                await asyncio.sleep(0.05)  # no event tells what another process writes down


@asynccontextmanager
async def running(folder: Path, *names: str) -> AsyncIterator[World]:
    """A world with these players whose bot runs and is connected; what is left at the end is killed."""
    world = World(folder)
    await world.prepare(*names)
    try:
        await world.start()
        yield world
    finally:
        await world.close()
