"""The sandbox in this process: its real parts, book and director; only NoneBot and the socket are missing."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from plugins.rating_bot.clock import ShiftedClock
from plugins.rating_bot.sandbox.director import Director
from plugins.rating_bot.sandbox.faults import Faults
from plugins.rating_bot.sandbox.onebot import message_event, notice_event
from plugins.rating_bot.sandbox.own_book import URL
from plugins.rating_bot.sandbox.scene import BOT, OFFICIAL, SCORING, SUPERUSER, build
from plugins.rating_bot.sandbox.stage import BY_NAME
from plugins.rating_bot.sandbox.values import FakeMessage, Happened
from plugins.rating_bot.seeding import seed_league
from plugins.rating_bot.settings import Settings
from plugins.rating_bot.wire.inbound import to_inbound
from plugins.rating_bot.wire.order import ChatQueues
from plugins.rating_bot.wiring import Parts
from rating_core.service.health import examine
from tests.support.rig import Caller, SetClock

SETTINGS = Settings.model_validate(
    {
        "official_groups": {str(OFFICIAL): "单跳1v1"},
        "scoring_groups": [str(SCORING)],
        "database_url": URL,
        "send_interval": 0,
        "bot_ids": [str(BOT)],
        "pictures": False,
    }
)


class House:
    """A sandbox in the current folder. It is the bot and the client that a director holds."""

    def __init__(self, at: int, settings: Settings = SETTINGS) -> None:
        """`at` is the time outside (ms)."""
        self.outside = SetClock(at)
        self.clock = ShiftedClock(self.outside)
        self.settings = settings
        self.qq = build(self.clock.now)
        self.caller = Caller(self.qq, Faults())
        self.queues = ChatQueues()
        self.online = False
        self.running: Parts | None = None
        self.director = Director(self.qq, self, self, self.clock, self.seed)  # type: ignore[arg-type]
        self.seeded: list[bool] = []
        self.qq.subscribe(self._happened)

    # --- the bot ------------------------------------------------------------------------------------------

    @property
    def parts(self) -> Parts:
        assert self.running is not None
        return self.running

    async def up(self) -> None:
        self.running = await Parts.start(
            self.settings, self.clock, superusers=frozenset({str(SUPERUSER)}), queues=self.queues,
            bots=lambda: {str(BOT): self.caller} if self.online else {}, fresh_chats=True,
        )  # fmt: skip

    async def down(self) -> None:
        if self.running is not None:
            await self.running.stop()
        self.running = None

    async def idle(self) -> None:
        await self.queues.idle()
        await self.parts.sender.idle()

    async def seed(self, parts: Parts, big: bool, progress: Any) -> None:
        self.seeded.append(big)
        await seed_league(parts, big, progress)

    # --- the client ---------------------------------------------------------------------------------------

    async def start(self) -> None:
        self.online = True
        await asyncio.wait([self.parts.gapfill.connected(self.caller)])
        self.parts.sender.connected(self.caller)
        self.outside.at += 60_000  # the first connection passes over what was said up to its own second

    async def stop(self) -> None:
        self.online = False

    async def connected(self) -> None:
        assert self.online

    def _happened(self, event: Happened) -> None:
        message = event.message
        if not self.online or self.running is None or event.user_id == BOT or message is None:
            return
        data = message_event(self.qq, message) if event.kind == "message" else notice_event(self.qq, event)
        inbound = None if data is None else to_inbound(data)
        if inbound is not None:
            dispatcher = self.running.dispatcher
            self.queues.submit(inbound.chat, lambda: dispatcher.handle(inbound), user=inbound.user)

    # --- talk ---------------------------------------------------------------------------------------------

    async def ask(self, who: str, text: str, group: int = OFFICIAL, quote: FakeMessage | None = None) -> FakeMessage:
        """Let somebody speak; return the bot's answer to it."""
        said = self.qq.say(group, BY_NAME[who], text, quote=quote.message_id if quote else None)
        return await self.qq.wait_for(group, lambda m: m.user_id == BOT, after=said)

    def texts(self, group: int) -> list[str]:
        return [message.text for message in self.qq.said_by_bot(group)]

    async def check(self) -> None:
        """The book is whole, and nothing is left to send."""
        await self.idle()
        health = await examine(self.parts.runtime.league)
        assert health.well, health
        assert {state for state, count in health.sends.items() if count} <= {"sent", "dropped"}


@asynccontextmanager
async def open_house(at: int, *, empty: bool = False) -> AsyncIterator[House]:
    """A house with the small league, everybody in and the bot listening."""
    house = House(at)
    await house.up()
    try:
        if not empty:
            await seed_league(house.parts, False, lambda _: None)
        await house.start()
        yield house
    finally:
        await house.director.close()
        await house.stop()
        await house.queues.close()
        await house.down()
