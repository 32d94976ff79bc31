"""Hostile messages through the whole bot: nothing fails, every answer is one of ours, the loop is never held up."""

import gc
import random
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nonebot.adapters.onebot.v11 import Adapter
from nonebot.log import logger

from plugins.rating_bot.handlers.dispatch import load_handlers
from plugins.rating_bot.wire.inbound import is_own, to_inbound
from plugins.rating_bot.wire.repair import repair
from plugins.rating_bot.wording.common import ERROR, fits
from rating_core.roster import warm_up
from rating_core.store.wire_store import OutboxTable
from tests.reliability.hostile_corpus import CHATTER, KILO, PLAYERS, REPORTS, WORDS, Event, Spoiler, commands
from tests.support.rig import ELSEWHERE, OFFICIAL, SCORING, Rig, running_rig

SPEAKERS = ("张三", "李四", "路人", "小周", "裁判老赵", "群主")
MEGA = 1 << 20
LEAGUE = 14
"""So many of PLAYERS; the later ones look like them."""
KEPT = 20
POLITE = ("未记录", "只能由对局双方或裁判上报")
"""How the bot refuses a report; the second where what was said before took the speaker's name from him."""
STATES = ("held", "pending", "sending", "unknown", "sent", "failed", "dropped")


@dataclass(slots=True)
class Told:
    """What came of the messages. Times in seconds of the loop's CPU."""

    inputs: int = 0
    slowest: list[tuple[float, Event]] = field(default_factory=list)
    mega: float = 0.0
    problems: list[str] = field(default_factory=list)

    @property
    def worst(self) -> float:
        return self.slowest[0][0] if self.slowest else 0.0

    @property
    def floor(self) -> float:
        """What takes longer is looked at more closely: said again, since the machine may have been busy."""
        return self.slowest[-1][0] if len(self.slowest) == KEPT else 0.0

    def keep(self, seconds: float, event: Event) -> None:
        self.slowest.append((seconds, event))
        self.slowest.sort(key=lambda pair: -pair[0])
        del self.slowest[KEPT:]


class Chat:
    """A bot in this process to which events are handed as the adapter hands them on."""

    def __init__(self, rig: Rig) -> None:
        self.rig = rig
        self.errors: list[str] = []
        self.said_at_once: list[str] = []
        self.number = 0
        assert rig.parts is not None
        rig.parts.dispatcher._say_now = lambda chat, text, quote: self.said_at_once.append(text)
        rig.disconnect()  # what is to be sent waits: only the way in is measured

    def event(self, who: str, place: int, text: str, **more: Any) -> Event:
        """Return the event of a message; place 0 is private."""
        self.number += 1
        user = self.rig.people[who]
        event: Event = {
            "time": self.rig.clock.at // 1000, "self_id": self.rig.qq.self_id, "post_type": "message",
            "message_type": "group" if place else "private", "sub_type": "normal" if place else "friend",
            "message_id": self.number, "user_id": user, "raw_message": text, "font": 0,
            "message": [{"type": "text", "data": {"text": text}}],
            "sender": {"user_id": user, "nickname": who, "card": who, "role": "member"},
        }  # fmt: skip
        if place:
            event |= {"group_id": place, "real_seq": str(self.number)}
        return event | more

    def again(self, event: Event) -> Event:
        """Return the event of the same said once more."""
        self.number += 1
        return (
            event
            | {"message_id": self.number, "time": self.rig.clock.at // 1000}
            | ({"real_seq": str(self.number)} if "real_seq" in event else {})
        )

    async def handle(self, event: Event) -> float:
        """Let an event in; return the CPU time of the loop's thread in seconds."""
        assert self.rig.parts is not None
        self.rig.clock.at += 10_000
        begin = time.thread_time()
        fixed = repair(event | {"self_id": self.rig.qq.self_id})
        inbound = None if fixed is None or is_own(fixed) else to_inbound(fixed)
        if fixed is not None and inbound is not None:
            Adapter.json_to_event(fixed)
            await self.rig.parts.dispatcher.handle(inbound)
        return time.thread_time() - begin

    async def answers(self) -> list[str]:
        """Return what the bot wants to say, pictures aside."""
        async with self.rig.league.database.read() as connection:
            rows = await OutboxTable(connection).rows(*STATES, limit=1_000_000)
        return [row.text for row in rows if row.picture is None]


@asynccontextmanager
async def hostile_chat(folder: Path) -> AsyncIterator[Chat]:
    """A league of some players with games, and its desk."""
    async with running_rig(folder) as rig:
        rig.person("路人")
        rig.qq.add_member(SCORING, rig.people["路人"], card="路人")
        await rig.league_of(*PLAYERS[:LEAGUE])
        await rig.say("裁判老赵", "张三 胜 李四\n李四 胜 张三\n王五 平 赵六\n王五 胜 张三", SCORING)
        await rig.say("张三", "张三 胜 李四")
        chat = Chat(rig)
        gc.collect()
        gc.freeze()  # as the bot does at its start (app.py)
        log = logger.add(lambda message: chat.errors.append(str(message)), level="ERROR", format="{message}")
        try:
            yield chat
        finally:
            logger.remove(log)
            gc.unfreeze()


async def fuzz_chat(folder: Path, seed: int, count: int) -> Told:
    """Send so many spoilt messages of all kinds by everybody in every place."""
    told = Told()
    load_handlers()
    warm_up()  # as the bot does soon after its start
    seeds = [*REPORTS, *WORDS, *CHATTER, *commands()]
    async with hostile_chat(folder) as chat:
        for number in range(count):
            rng = random.Random(f"{seed} chat {number}")
            spoiler = Spoiler(rng, seeds)
            text = rng.choice(seeds) if rng.random() < 0.2 else spoiler.text(rng.choice(seeds))
            if told.slowest and rng.random() < 0.25:
                text = spoiler.text(rng.choice(told.slowest)[1]["raw_message"])
            event = chat.event(rng.choice(SPEAKERS), rng.choice((OFFICIAL, SCORING, ELSEWHERE, 0)), text)
            if rng.random() < 0.2:
                event["message"].insert(0, {"type": "reply", "data": {"id": str(rng.randint(1, chat.number + 1))}})
            if rng.random() < 0.1:
                event = spoiler.event(event)
            told.inputs += 1
            seconds = await chat.handle(event)
            if len(text) <= KILO and seconds > told.floor:
                again = [await chat.handle(chat.again(event)) for _ in range(2)]
                told.keep(min(seconds, *again), event | {"raw_message": text})
            if chat.errors or ERROR in chat.said_at_once:
                told.problems.append(f"message {number} of seed {seed}: {chat.errors[:1]}\n    {event!r:.1500}")
                break
        for said in await chat.answers():
            if not fits(said):
                told.problems.append(f"seed {seed}: an answer of {len(said)} characters: {said!r:.300}")
        await great(chat, told)
    return told


async def great(chat: Chat, told: Told) -> None:
    """Messages of a megabyte: dropped, or refused politely, and the chat goes on."""
    before = len(await chat.answers())
    games = "张三 胜 李四\n" * (MEGA // 9)
    chat.errors.clear()
    for text in (
        "张" * MEGA,
        games,
        "/等级分 " + "张" * MEGA,
        " " * MEGA + "胜",
        "确认" + " 1" * (MEGA // 2),
        "\u200b" * MEGA,
    ):
        parts = [{"type": "text", "data": {"text": text[i : i + 1100]}} for i in range(0, len(text), 1100)]
        for more in ({}, {"message": text}, {"message": parts}):
            told.mega = max(told.mega, await chat.handle(chat.event("张三", OFFICIAL, text, **more)))
    said = (await chat.answers())[before:]
    if chat.errors or any(not text.startswith(POLITE) for text in said) or not all(map(fits, said)):
        told.problems.append(f"a message of a megabyte: {chat.errors[:1]}, {said!r:.500}")
    await chat.handle(chat.event("王五", OFFICIAL, "王五 平 李四"))
    if "待确认" not in (await chat.answers())[-1]:
        told.problems.append("after messages of a megabyte a report is not taken")
