"""Bots as processes of their own, each with a QQ in memory that is connected to it over a real WebSocket."""

import asyncio
import json
import os
import shutil
import time
from pathlib import Path

from plugins.rating_bot.sandbox.client import FakeClient
from plugins.rating_bot.sandbox.qq import FakeQQ, wall_clock
from plugins.rating_bot.sandbox.values import FakeMessage, Happened
from rating_core.times import DAY_MS
from tests.bench.ledgers import FIRST_QQ, names
from tests.e2e.world import BOT, OFFICIAL, POOL, SCORING, TOKEN, settings
from tests.support.process import BotProcess, free_port

GROUPS = tuple(range(OFFICIAL, OFFICIAL + 40, 10))
"""Official groups of every bot; what is said in one does not wait for the others."""
ECHO = Path(__file__).with_name("echo.py")
START_SECONDS = 600
"""Until the largest league stands."""
ANSWER_SECONDS = 60.0
REST = 0.1
"""Seconds of the processor that a bot at rest uses in two at most."""


class Stack:
    """One bot and its QQ. Player n is QQ FIRST_QQ + n, and a member of every official group."""

    def __init__(self, folder: Path, script: Path | None, players: int, **more: str) -> None:
        port = free_port()
        given = settings(port) | {
            "TIAOQI__OFFICIAL_GROUPS": json.dumps({str(group): POOL for group in GROUPS}),
            "TIAOQI__PUBLIC_SITE": "true",
        }
        self.port = port
        self.bot = BotProcess(folder, given | more, *([script] if script else []))
        self._late = DAY_MS
        self.qq = FakeQQ(self_id=BOT, now=lambda: wall_clock() - self._late)
        self.client = FakeClient(self.qq, f"ws://127.0.0.1:{port}/onebot/v11/ws", token=TOKEN, retry=0.05)
        self.players = players
        self.names = dict(zip(range(1, players + 1), names(), strict=False))
        self._waiting: dict[tuple[str, int | str | None], asyncio.Future[FakeMessage]] = {}
        for group in (*GROUPS, SCORING):
            self.qq.add_group(group, str(group))
            for player, name in self.names.items() if group != SCORING else ():
                self.qq.add_member(group, FIRST_QQ + player, card=name, nickname=name, joined_at=0)
        self.qq.add_member(SCORING, FIRST_QQ, card="记分员", nickname="记分员")
        self.qq.add_member(OFFICIAL, FIRST_QQ, card="记分员", nickname="记分员")
        for group in (*GROUPS, SCORING):  # QQ clients give no history of a group in which nobody spoke
            self.qq.say(group, next(user for user in self.qq.group(group).members if user != BOT), "大家好")
        self._late = 0
        self.qq.subscribe(self._on)

    async def start(self) -> None:
        """Start the bot, connect QQ to it, and wait until it is at rest: it reads history, and checks the ledger."""
        await self.bot.start(within=START_SECONDS)
        await self.client.start()
        used = 0.0
        while self.processor - used > REST:
            used = self.processor
            await asyncio.sleep(2)

    async def close(self) -> None:
        """End both."""
        await self.client.stop()
        if self.bot.running:
            await self.bot.stop(clean=False)

    # --- talk ---------------------------------------------------------------------------------------------

    def say(self, player: int, text: str, group: int = OFFICIAL, quote: int | None = None) -> FakeMessage:
        """Let a player speak."""
        return self.qq.say(group, FIRST_QQ + player, text, quote=quote)

    async def answer(self, said: FakeMessage, asked: int | str | None = None) -> FakeMessage:
        """Return the bot's next message that quotes a message (another one: `asked`), or that says the text `asked`.

        Raises TimeoutError.
        """
        key = (said.chat, asked or said.message_id)
        found = self._waiting[key] = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                return await found
        except TimeoutError:
            transcript = self.qq.transcript(said.chat, 12)
            raise TimeoutError(f"no answer to {said.text!r}:\n{transcript}\n{self.bot.tail}") from None
        finally:
            self._waiting.pop(key, None)

    def _on(self, happened: Happened) -> None:
        message = happened.message
        if happened.kind == "message" and message is not None and message.user_id == BOT:
            for about in (message.quote, message.text):
                if (found := self._waiting.pop((message.chat, about), None)) is not None and not found.done():
                    found.set_result(message)

    async def echo(self, text: str) -> float:
        """Say something to a bot that repeats it; return how many seconds that took."""
        begin = time.perf_counter()
        await self.answer(self.say(1, text), text)
        return time.perf_counter() - begin

    async def report(self, left: int, right: int, group: int = OFFICIAL) -> tuple[FakeMessage, FakeMessage, float]:
        """Let a player report a game; return the message, the prompt and how many seconds that took."""
        begin = time.perf_counter()
        said = self.say(left, f"{self.names[left]} 平 {self.names[right]}", group)
        prompt = await self.answer(said)
        seconds = time.perf_counter() - begin
        assert "待确认" in prompt.text, prompt.text
        return said, prompt, seconds

    async def confirm(self, player: int, report: FakeMessage, prompt: FakeMessage, group: int = OFFICIAL) -> float:
        """Let the other player confirm it; return how many seconds it took until the 收到."""
        begin = time.perf_counter()
        done = await self.answer(self.say(player, "确认", group, prompt.message_id), report.message_id)
        seconds = time.perf_counter() - begin
        assert done.text.startswith("收到"), done.text
        return seconds

    # --- the process --------------------------------------------------------------------------------------

    @property
    def processor(self) -> float:
        """Seconds of the processor that the bot has used."""
        return processor_of(self.bot.pid)


def processor_of(pid: int) -> float:
    """Return how many seconds of the processor a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def copy_of(league: Path, folder: Path) -> Path:
    """Return a new folder with a copy of a league's database, where the bot expects it."""
    folder.mkdir(parents=True)
    shutil.copy(league, folder / "ratings.db")
    return folder
