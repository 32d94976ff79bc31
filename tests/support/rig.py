"""The whole bot in this process, without NoneBot and sockets: real parts, real database, a QQ in memory.

The clock is set by hand. The same events and actions as over the wire pass through the same repair, queues,
dispatcher and sender; only the socket is missing (tests/e2e has it).
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from nonebot.adapters.onebot.v11 import ActionFailed, NetworkError

from plugins.rating_bot.sandbox import actions
from plugins.rating_bot.sandbox.client import Faults
from plugins.rating_bot.sandbox.onebot import message_event, notice_event
from plugins.rating_bot.sandbox.qq import FakeQQ
from plugins.rating_bot.sandbox.values import FakeMessage, Happened
from plugins.rating_bot.settings import Settings
from plugins.rating_bot.wire.inbound import is_own, to_inbound
from plugins.rating_bot.wire.lanes import Lane
from plugins.rating_bot.wire.messages import group_chat
from plugins.rating_bot.wire.order import ChatQueues
from plugins.rating_bot.wire.outbox import Patience
from plugins.rating_bot.wire.repair import repair
from plugins.rating_bot.wiring import Parts
from rating_core.directory import SCOREKEEPER
from rating_core.service import people
from rating_core.service.league import League
from rating_core.store.wire_store import OutboxTable, OutRow
from rating_core.times import HOUR_MS, SHANGHAI, to_ms
from tests.support.engines import url_of

OFFICIAL, SCORING, PAIRS, ELSEWHERE = 100001, 100002, 100003, 999999
SENDING_SECONDS = 2
"""How long `idle` waits for sends; only a paused group takes that long."""
UNHURRIED = 1_000_000
"""Messages one person may send at once: minutes of the set clock pass in no time."""
OWNER, KEEPER, KEEPER_TWO, REFEREE = 10001, 10002, 10003, 10004
NOON = to_ms(datetime(2026, 11, 30, 12, 0, tzinfo=SHANGHAI))


class SetClock:
    """A clock that moves only when told to."""

    def __init__(self, now: int = NOON) -> None:
        self.at = now

    def now(self) -> int:
        return self.at

    def pass_hours(self, hours: float) -> None:
        self.at += int(hours * HOUR_MS)


class Caller:
    """A connected account whose calls a QQ in memory answers."""

    def __init__(self, qq: FakeQQ, faults: Faults) -> None:
        self.self_id = str(qq.self_id)
        self._actions = actions.Actions(qq, faults, "napcat")

    async def call_api(self, api: str, **data: Any) -> Any:
        await asyncio.sleep(0)
        try:
            return self._actions.answer(api, data)
        except actions.ActionFailed as error:
            raise ActionFailed(status="failed", retcode=error.retcode, message=str(error)) from None
        except actions.NoAnswer:
            raise NetworkError("no answer") from None


class Rig:
    """A bot, a QQ and a clock. Everybody in `people` can speak; numbers are given from 20001 on.

    `pictures`: boards and cards go out as pictures, not as the texts that most tests read.
    """

    def __init__(self, folder: Path, clock: SetClock, *, pictures: bool = False) -> None:
        self.folder = folder
        self.clock = clock
        self.qq = FakeQQ(now=clock.now)
        self.qq.add_group(OFFICIAL, "官方群")
        self.qq.add_group(SCORING, "记分群")
        self.qq.add_group(ELSEWHERE, "别的群")
        for group in (OFFICIAL, SCORING):
            self.qq.add_member(group, OWNER, card="群主", nickname="群主", role="owner")
            self.qq.say(group, OWNER, "张三    胜    李四")  # history from before the bot came: never handled
        self.faults = Faults()
        self.settings = Settings.model_validate(
            {
                "official_groups": {str(OFFICIAL): "单跳1v1"},
                "scoring_groups": [str(SCORING)],
                "database_url": url_of(folder),
                "send_interval": 0,
                "pictures": pictures,
            }
        )
        self.caller = Caller(self.qq, self.faults)
        self.online = False
        self.queues = ChatQueues()
        self.parts: Parts | None = None
        self.people: dict[str, int] = {}
        self.open_to_all = [OFFICIAL, ELSEWHERE]
        self.qq.subscribe(self._happened)

    async def start(self) -> None:
        self.queues = ChatQueues(burst=UNHURRIED)
        self.parts = await Parts.start(
            self.settings, self.clock, superusers=frozenset({str(OWNER)}), queues=self.queues, bots=self._bots,
            patience=Patience(settle=0.0, settle_picture=0.0, retry=(0.0, 0.0), look_again=(0.02, 60.0)),
        )  # fmt: skip
        await self.connect()
        self.clock.at += 60_000  # the first connection passes over what was said up to its own second

    async def connect(self) -> None:
        """Let the QQ client connect: history is read, then live events pass."""
        assert self.parts is not None
        self.online = True
        self.parts.connected(self.caller)
        await self.idle()

    def disconnect(self) -> None:
        self.online = False

    async def stop(self) -> None:
        self.online = False
        await self.queues.close()
        if self.parts is not None:
            await self.parts.stop()
            self.parts = None

    @property
    def league(self) -> League:
        assert self.parts is not None
        return self.parts.runtime.league

    def _bots(self) -> dict[str, Caller]:
        return {self.caller.self_id: self.caller} if self.online else {}

    def _happened(self, event: Happened) -> None:
        if not self.online or self.parts is None:
            return
        data = (
            message_event(self.qq, event.message)
            if event.kind == "message" and event.message is not None
            else notice_event(self.qq, event)
        )
        if data is not None:
            self.push(data)

    def push(self, data: dict[str, Any]) -> None:
        """Let an event arrive as it would from the socket."""
        parts = self.parts
        fixed = repair(data)
        if parts is None or fixed is None or is_own(fixed):
            return
        inbound = to_inbound(fixed)
        if inbound is None:
            return

        async def work() -> None:
            await parts.dispatcher.handle(inbound)
            parts.watermarks.note(inbound)

        self.queues.submit(inbound.chat, work, user=inbound.user, keys=(inbound.key, inbound.twin))

    async def idle(self) -> None:
        """Wait until everything said was handled and everything queued was sent, but to chats that rest."""
        assert self.parts is not None
        for _ in range(3):
            background = [task for task in self.parts._tasks if not task.done()]
            if background:
                await asyncio.wait(background, timeout=10)
            await self.queues.idle()
            sender = self.parts.sender
            busy = (lane.task for lane in sender._lanes.values() if lane.task is not None and not _rests(lane))
            if sends := {*sender._tasks, *busy}:
                await asyncio.wait(sends, timeout=SENDING_SECONDS)

    async def open_pairs_group(self, pool: str) -> None:
        """Map a further official group, in which everybody is, to a pool; the bot is restarted with it."""
        await self.stop()
        self.qq.add_group(PAIRS, "双人群")
        self.qq.add_member(PAIRS, OWNER, card="群主", nickname="群主", role="owner")
        self.qq.say(PAIRS, OWNER, "双人群开张")
        for name, number in self.people.items():
            if number != OWNER:
                self.qq.add_member(PAIRS, number, card=name, joined_at=self.clock.at)
        self.open_to_all.append(PAIRS)
        groups = {**self.settings.official_groups, str(PAIRS): pool}
        self.settings = self.settings.model_copy(update={"official_groups": groups})
        await self.start()

    # --- people -------------------------------------------------------------------------------------------

    def person(self, name: str, number: int | None = None, *, scoring: bool = False, role: Any = "member") -> int:
        """Put someone into the groups; his card is his name. Return his QQ number."""
        number = number or 20001 + len(self.people)
        self.people[name] = number
        for group in self.open_to_all:
            self.qq.add_member(group, number, card=name, nickname=name, joined_at=self.clock.at - 400 * 24 * HOUR_MS)
        if scoring:
            self.qq.add_member(SCORING, number, card=name, role=role)
        return number

    async def league_of(self, *names: str, placing: str = "普通", bound: bool = True) -> dict[str, int]:
        """Register players (bound to QQs of the same name) and the desk: 群主, 小周 and 小吴 (记分员), 裁判老赵."""
        league = self.league
        async with league.transaction() as tx:
            owner = await tx.known(tx.directory.actor(str(OWNER), league.superusers))
            if "群主" not in self.people:
                self.person("群主", OWNER, scoring=True, role="owner")
                for keeper, number in (("小周", KEEPER), ("小吴", KEEPER_TWO)):
                    self.person(keeper, number, scoring=True)
                    await people.appoint(tx, owner, SCOREKEEPER, str(number), self.clock.at)
                self.person("裁判老赵", REFEREE, scoring=True)
                await people.appoint(tx, owner, "referee", str(REFEREE), self.clock.at)
            players = {}
            for name in names:
                number = self.people.get(name) or self.person(name)
                if bound:
                    players[name] = await people.add_player(tx, owner, name, str(number), placing, self.clock.at, ())
                else:
                    players[name] = await people.register(tx, owner, name, placing, self.clock.at)
        return players

    # --- talk ---------------------------------------------------------------------------------------------

    async def say(self, who: str, text: str, group: int = OFFICIAL, **options: Any) -> list[str]:
        """Let someone speak and wait; return what the bot said in that group since."""
        before = len(self.qq.said_by_bot(group))
        self.qq.say(group, self.people[who], text, **options)
        await self.idle()
        return [message.text for message in self.qq.said_by_bot(group)[before:]]

    async def whisper(self, who: str, text: str) -> list[str]:
        """Let someone write to the bot in private; return its answers."""
        number = self.people[who]

        def said() -> list[FakeMessage]:
            return [m for m in self.qq.private_history(number) if m.user_id == self.qq.self_id]

        before = len(said())
        self.qq.say_private(number, text)
        await self.idle()
        return [message.text for message in said()[before:]]

    async def outbox(self) -> Sequence[OutRow]:
        """Return everything the bot queued so far, in order."""
        async with self.league.database.read() as connection:
            states = ("held", "pending", "sending", "unknown", "sent", "failed", "dropped")
            return await OutboxTable(connection).rows(*states, limit=100_000)

    def last(self, group: int = OFFICIAL) -> FakeMessage:
        """Return the bot's last message in a group."""
        return self.qq.said_by_bot(group)[-1]

    def rating(self, name: str, pool: str = "单跳1v1") -> float:
        player = self.league.directory.roster.resolve(name)
        assert player is not None
        return self.league.book.state.look(pool, player).rating

    def games(self) -> int:
        """Return how many games the book holds."""
        return len(self.league.book.columns)


def _rests(lane: Lane) -> bool:
    """Whether nothing is done for a chat for longer than a test waits, unless something wakes it."""
    asleep = bool(lane.woken._waiters)  # type: ignore[attr-defined]
    until = max(lane.not_before, *lane.look_at.values(), 0)
    return asleep and until > asyncio.get_running_loop().time() + SENDING_SECONDS


@asynccontextmanager
async def running_rig(folder: Path, *, pictures: bool = False) -> AsyncIterator[Rig]:
    """A started bot with both groups connected."""
    rig = Rig(folder, SetClock(), pictures=pictures)
    await rig.start()
    try:
        yield rig
    finally:
        await rig.stop()


__all__ = ["ELSEWHERE", "OFFICIAL", "PAIRS", "SCORING", "Rig", "SetClock", "group_chat", "running_rig"]
