"""What was said during an outage is found again, whatever the client's way of paging; nothing older ever is."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from nonebot.adapters.onebot.v11 import ActionFailed

from plugins.rating_bot.sandbox.onebot import message_event
from plugins.rating_bot.sandbox.qq import FakeQQ
from plugins.rating_bot.wire.gapfill import Gap, GapFill
from plugins.rating_bot.wire.inbound import to_inbound
from plugins.rating_bot.wire.link import ConnectionLost
from plugins.rating_bot.wire.messages import Inbound, Sent
from plugins.rating_bot.wire.order import ChatQueues
from plugins.rating_bot.wire.watermarks import Mark, Watermarks
from plugins.rating_bot.wording import desk as wording
from rating_core.store.database import Database
from rating_core.store.wire_store import ChatTable
from tests.support.qq import Style
from tests.support.rig import NOON

from .fakes import CHAT, GROUP, FakeBot, league_qq

START = 1_780_000_000_000
STYLES: list[Style] = ["napcat", "llonebot", "lagrange", "gocqhttp"]


class Clock:
    """A clock that tests move."""

    def __init__(self) -> None:
        self.time = START

    def now(self) -> int:
        return self.time


@dataclass
class Wire:
    """The parts that fill gaps, and what they handed on."""

    database: Database
    clock: Clock
    qq: FakeQQ
    queues: ChatQueues = field(default_factory=ChatQueues)
    marks: Watermarks = field(default_factory=Watermarks)
    handled: list[Inbound] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    filled: list[str] = field(default_factory=list)
    own: list[Sent] = field(default_factory=list)
    done: list[tuple[int, bool]] = field(default_factory=list)
    """Messages handled, and whether history was still being read, each time all was made up for."""

    def __post_init__(self) -> None:
        self.fill = GapFill(
            self.database,
            self.clock,
            groups=lambda: [str(GROUP)],
            watermarks=self.marks,
            queues=self.queues,
            handle=self._handle,
            missed=self._missed,
            filled=self._filled,
            sent=self.own.append,
            done=self._done,
            rounds=((0.0, 5.0), (0.0, 5.0)),
        )

    async def _handle(self, inbound: Inbound) -> None:
        self.handled.append(inbound)

    async def _missed(self, group: str, gap: Gap) -> None:
        self.gaps.append(gap)

    async def _filled(self, group: str) -> None:
        self.filled.append(group)

    async def _done(self) -> None:
        self.done.append((len(self.handled), self.fill.reading))

    async def connect(self, bot: Any) -> None:
        await self.fill.connected(bot)

    def live(self, bot: FakeBot, text: str, user: int = 1) -> Inbound:
        """Let someone say something while all is well."""
        self.clock.time += 1000
        said = to_inbound(message_event(self.qq, self.qq.say(GROUP, user, text), bot.style))
        assert said is not None
        self.marks.note(said)
        return said

    def say(self, *texts: str, seconds: float = 1) -> None:
        """Let someone say something while nobody listens."""
        for text in texts:
            self.clock.time += int(seconds * 1000)
            self.qq.say(GROUP, 1, text)

    def texts(self) -> list[str]:
        return [one.text for one in self.handled]

    def restarted(self) -> "Wire":
        """What a new process begins with."""
        return Wire(self.database, self.clock, self.qq)


@pytest.fixture
async def wire(database: Database) -> AsyncIterator[Wire]:
    clock = Clock()
    qq = league_qq()
    qq.now = clock.now
    wire = Wire(database, clock, qq)
    yield wire
    await wire.fill.stop()
    await wire.queues.close()


@pytest.mark.parametrize("style", STYLES)
async def test_at_the_first_connection_nothing_is_handled(wire: Wire, style: Style) -> None:
    wire.say(*(f"old {n}" for n in range(200)))
    wire.clock.time += 700
    await wire.connect(FakeBot(wire.qq, style))
    assert (wire.handled, wire.gaps, wire.filled) == ([], [], [])
    await wire.connect(FakeBot(wire.qq, style))
    again = wire.restarted()
    await again.marks.load(wire.database)
    await again.connect(FakeBot(wire.qq, style))
    assert (wire.handled, again.handled, wire.gaps, again.gaps) == ([], [], [], [])


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("number", [3, 18, 130])
async def test_what_was_said_while_down_is_handled_once_in_order(wire: Wire, style: Style, number: int) -> None:
    wire.say(*(f"old {n}" for n in range(80)))
    bot = FakeBot(wire.qq, style)
    await wire.connect(bot)
    wire.live(bot, "live")
    missed = [f"missed {n}" for n in range(number)]
    wire.say(*missed)
    await wire.connect(bot)
    assert wire.texts() == missed
    assert all(one.made_up for one in wire.handled)
    assert (wire.gaps, wire.filled) == ([], [str(GROUP)])
    await wire.connect(bot)
    assert wire.texts() == missed


@pytest.mark.parametrize("style", STYLES)
async def test_a_new_process_goes_on_from_the_stored_mark(wire: Wire, style: Style) -> None:
    wire.say("old")
    bot = FakeBot(wire.qq, style)
    await wire.connect(bot)
    wire.live(bot, "live")
    await wire.marks.flush(wire.database)
    wire.say("one", "two")
    again = wire.restarted()
    await again.marks.load(wire.database)
    await again.connect(bot)
    assert [text for text in again.texts() if text != "live"] == ["one", "two"]
    assert again.gaps == []


async def test_within_one_second_qqs_numbers_decide(wire: Wire) -> None:
    wire.say("old", seconds=0)
    bot = FakeBot(wire.qq)
    await wire.connect(bot)
    wire.say("missed", seconds=0)
    await wire.connect(bot)
    assert wire.texts() == ["missed"]
    again = wire.restarted()
    await again.marks.load(wire.database)
    wire.say("later", seconds=0)
    await again.connect(bot)
    assert again.texts() == ["later"]


async def test_a_late_event_lost_with_the_socket_is_found(wire: Wire) -> None:
    bot = FakeBot(wire.qq)
    wire.say("old")
    await wire.connect(bot)
    wire.say("overtaken")
    wire.live(bot, "overtook it")
    await wire.connect(bot)
    assert wire.texts() == ["overtaken"]


class Older(FakeBot):
    """A client that goes towards the present from an anchor, whatever it is told."""

    async def call_api(self, api: str, **data: Any) -> Any:
        data = {name: value for name, value in data.items() if not name.startswith("reverse")}
        return await super().call_api(api, **data)


class Contrary(FakeBot):
    """A client that goes back without the flag and towards the present with it."""

    async def call_api(self, api: str, **data: Any) -> Any:
        if not data.pop("reverseOrder", False) and "message_seq" in data:
            data["reverse_order"] = True
        else:
            data.pop("reverse_order", None)
        return await super().call_api(api, **data)


@pytest.mark.parametrize("kind", [Older, Contrary])
async def test_other_ways_of_paging(wire: Wire, kind: type[FakeBot]) -> None:
    bot = kind(wire.qq)
    wire.say("old")
    await wire.connect(bot)
    wire.live(bot, "live")
    missed = [f"missed {n}" for n in range(170)]
    wire.say(*missed)
    await wire.connect(bot)
    assert wire.texts() == missed
    assert wire.gaps == []


async def test_history_that_ends_too_early_is_told(wire: Wire) -> None:
    bot = FakeBot(wire.qq)
    wire.say("old")
    await wire.connect(bot)
    wire.clock.time += 5_000
    mark = wire.live(bot, "live")
    wire.say(*(f"missed {n}" for n in range(10)))
    bot.faults.history_limit = 4
    await wire.connect(bot)
    assert wire.texts() == [f"missed {n}" for n in range(6, 10)]
    assert [(gap.reason, gap.since, gap.until) for gap in wire.gaps] == [
        ("short", mark.said_at, wire.clock.time - 3000)
    ]
    assert wire.filled == [str(GROUP)]


@pytest.mark.parametrize("style", STYLES)
async def test_history_that_ends_in_the_second_of_the_mark_is_told(wire: Wire, style: Style) -> None:
    """It begins with a later message of that second: what was said between may be lost (found by simulation)."""
    bot = FakeBot(wire.qq, style)
    wire.say("old")
    await wire.connect(bot)
    wire.clock.time += 5_000
    wire.live(bot, "live")
    wire.say("lost", "found", seconds=0)
    wire.say("later")
    bot.faults.history_limit = 2
    await wire.connect(bot)
    assert (wire.texts(), [gap.reason for gap in wire.gaps]) == (["found", "later"], ["short"])


@pytest.mark.parametrize("style", STYLES)
async def test_history_that_begins_beside_the_mark_is_told(wire: Wire, style: Style) -> None:
    """The event of an older message was overtaken by that of a later one and lost (found by simulation)."""
    bot = FakeBot(wire.qq, style)
    wire.say("old")
    await wire.connect(bot)
    wire.clock.time += 5_000
    wire.say("overtaken")
    wire.live(bot, "live")
    wire.say("later")
    bot.faults.history_limit = 2
    await wire.connect(bot)
    assert (wire.texts(), [gap.reason for gap in wire.gaps]) == (["later"], ["short"])


class Forgetful(FakeBot):
    """Its history is there, and empty."""

    async def call_api(self, api: str, **data: Any) -> Any:
        return {"messages": []} if api == "get_group_msg_history" else await super().call_api(api, **data)


async def test_history_that_holds_nothing_is_told_where_something_was_said_before(wire: Wire) -> None:
    bot = Forgetful(wire.qq)
    await wire.connect(bot)
    await wire.connect(bot)
    assert wire.gaps == []  # as far as anybody knows the group is new
    wire.clock.time += 5_000
    live = wire.live(bot, "live")
    wire.say("lost")
    await wire.connect(bot)
    assert wire.gaps == [Gap("short", live.said_at, wire.clock.now())]


async def test_more_than_is_read_is_told(wire: Wire) -> None:
    bot = FakeBot(wire.qq, "gocqhttp")
    wire.say("old")
    await wire.connect(bot)
    wire.live(bot, "live")
    wire.say(*(f"missed {n}" for n in range(900)))
    await wire.connect(bot)
    assert [gap.reason for gap in wire.gaps] == ["limit"]
    assert wire.texts()[-1] == "missed 899"
    assert 700 < len(wire.handled) < 900


async def test_holes_in_qqs_numbers_are_told(wire: Wire) -> None:
    bot = FakeBot(wire.qq)
    wire.say("old")
    await wire.connect(bot)
    wire.live(bot, "live")
    wire.say("one", "lost", "also lost", "two")
    bot.faults.history_holes = {m.message_id for m in wire.qq.history(GROUP) if "lost" in m.text}
    await wire.connect(bot)
    assert wire.texts() == ["one", "two"]
    assert [(gap.reason, gap.missing) for gap in wire.gaps] == [("holes", 2)]


async def test_without_history_each_outage_is_told_and_read_once_there_is(wire: Wire) -> None:
    bot = FakeBot(wire.qq)
    bot.faults.no_history = True
    await wire.connect(bot)
    assert wire.gaps == []  # nothing was missed at the first connection
    wire.clock.time = START + 30_000
    heard = wire.live(bot, "live")
    wire.say("missed")
    first = wire.clock.time = START + 60_000
    await wire.connect(bot)
    wire.say("missed too")
    second = wire.clock.time = START + 120_000
    await wire.connect(bot)
    again = wire.live(bot, "live again")
    wire.say("and this")
    third = wire.clock.time = START + 180_000
    await wire.connect(bot)
    assert {gap.reason for gap in wire.gaps} == {"unavailable"}
    outages = [(heard.said_at, first), (first, second), (again.said_at, third)]
    assert [(gap.since, gap.until) for gap in wire.gaps] == outages
    bot.faults.no_history = False
    await wire.connect(bot)
    assert wire.texts() == ["missed", "missed too", "and this"]


@pytest.mark.parametrize("style", ["napcat", "lagrange"])
@pytest.mark.parametrize("known", [True, False], ids=["history at first", "none at first"])
async def test_an_outage_right_after_the_first_connection_is_told(wire: Wire, style: Style, known: bool) -> None:
    """History that reaches back to one second after it says nothing of what was said in that second."""
    bot = FakeBot(wire.qq, style)
    wire.clock.time += 400
    if known:
        wire.say("old", seconds=0)
    bot.faults.no_history = not known
    await wire.connect(bot)
    wire.say("lost")
    wire.say("a", "b", "c")
    bot.faults.no_history, bot.faults.history_limit = False, 3
    await wire.connect(bot)
    assert "lost" not in wire.texts()
    assert [gap.reason for gap in wire.gaps] == ["short"]


async def test_a_second_outage_of_which_nobody_was_told_is_still_owed_after_a_restart(wire: Wire) -> None:
    """Its history was refused, then the connection went again: no live message may move the mark over it."""
    bot = FakeBot(wire.qq)
    await wire.connect(bot)
    wire.live(bot, "live")
    bot.faults.no_history = True
    wire.say("missed")
    await wire.connect(bot)
    assert len(wire.gaps) == 1
    wire.live(bot, "live again")
    wire.say("missed too")

    class Going(FakeBot):
        async def call_api(self, api: str, **data: Any) -> Any:
            raise ConnectionLost("gone")

    wire.clock.time += 60_000
    await wire.connect(Going(wire.qq))
    wire.live(bot, "after it")
    await wire.marks.flush(wire.database)
    new = wire.restarted()
    await new.marks.load(wire.database)
    bot.faults.no_history = False
    await new.connect(bot)
    assert "missed too" in new.texts()


async def test_the_bots_own_messages_are_shown_to_the_sender_and_not_handled(wire: Wire) -> None:
    bot = FakeBot(wire.qq)
    wire.say("old")
    await wire.connect(bot)
    wire.live(bot, "live")
    wire.say("missed")
    own = wire.qq.deliver(CHAT, [{"type": "text", "data": {"text": "收到 #1"}}])
    await wire.connect(bot)
    assert wire.texts() == ["missed"]
    assert [(sent.message_id, sent.text) for sent in wire.own] == [(str(own.message_id), "收到 #1")]


async def test_live_messages_wait_and_are_not_made_up(wire: Wire) -> None:
    bot = FakeBot(wire.qq)
    wire.say("old")
    await wire.connect(bot)
    wire.live(bot, "live")
    wire.say("missed")
    filling = wire.fill.connected(bot)
    said = to_inbound(message_event(wire.qq, wire.qq.say(GROUP, 2, "/等级分")))
    assert said is not None
    order: list[str] = []

    async def work() -> None:
        order.extend(wire.texts())
        order.append("live")

    wire.queues.submit(CHAT, work, keys=(said.key, said.twin))
    await filling
    await wire.queues.idle()
    assert order == ["missed", "live"]
    assert wire.texts() == ["missed"]


async def test_all_is_made_up_for_before_live_messages_pass(wire: Wire) -> None:
    """While any account's history is read, more may come."""
    bot = FakeBot(wire.qq)
    await wire.connect(bot)
    wire.say("一", "二")
    first, second = wire.fill.connected(bot), wire.fill.connected(bot)
    assert wire.fill.reading
    order: list[object] = []

    async def live() -> None:
        order.append(list(wire.done))

    wire.queues.submit(CHAT, live)
    await asyncio.gather(first, second)
    await wire.queues.idle()
    assert not wire.fill.reading
    assert order == [[(0, False), (2, True), (2, False)]]


async def test_the_mark_does_not_pass_what_is_not_filled_yet(wire: Wire) -> None:
    bot = FakeBot(wire.qq)
    wire.say("old")
    await wire.connect(bot)
    before = wire.marks.get(CHAT)
    wire.clock.time += 5_000
    with wire.marks.frozen(CHAT):
        said = wire.live(bot, "live, gate opened by itself")
        assert wire.marks.get(CHAT) == before
        async with wire.database.write() as connection:
            await wire.marks.persist(ChatTable(connection), said)
    assert wire.marks.get(CHAT) == Mark(said.said_at, said.seq)
    again = Watermarks()
    await again.load(wire.database)
    assert again.get(CHAT) == before


async def test_persisting_in_the_transaction_that_handles(wire: Wire) -> None:
    bot = FakeBot(wire.qq)
    await wire.connect(bot)
    wire.clock.time += 5_000
    said = wire.live(bot, "live")
    async with wire.database.write() as connection:
        await wire.marks.persist(ChatTable(connection), said)
    again = Watermarks()
    await again.load(wire.database)
    assert again.get(CHAT) == Mark(said.said_at, said.seq)


@pytest.mark.parametrize("style", STYLES)
async def test_what_was_overtaken_before_a_restart_is_found(wire: Wire, style: Style) -> None:
    """Its event was still on the way when the process ended, that of a later message was handled."""
    bot = FakeBot(wire.qq, style)
    wire.say("old")
    await wire.connect(bot)
    wire.clock.time += 10_000
    wire.say("on the way")
    wire.live(bot, "handled")
    await wire.marks.flush(wire.database)
    again = wire.restarted()
    await again.marks.load(wire.database)
    await again.connect(bot)
    assert again.texts() == ["on the way", "handled"]  # the inbox knows that one


@pytest.mark.parametrize("style", STYLES)
async def test_what_is_old_at_the_first_connection_stays_old(wire: Wire, style: Style) -> None:
    """However soon the process begins again, and also in the second of the last old message."""
    bot = FakeBot(wire.qq, style)
    wire.say("old", "the last old one")
    await wire.connect(bot)
    again = wire.restarted()
    await again.marks.load(wire.database)
    await again.connect(bot)
    again.say("new")
    await again.connect(bot)
    assert again.texts() == ["new"]


@pytest.mark.parametrize("style", STYLES)
async def test_a_short_history_is_told_also_before_anything_was_handled(wire: Wire, style: Style) -> None:
    bot = FakeBot(wire.qq, style)
    wire.say("old")
    await wire.connect(bot)
    wire.clock.time += 10_000
    wire.say("missed 1", "missed 2")
    bot.faults.history_limit = 1
    await wire.connect(bot)
    assert (wire.texts(), [gap.reason for gap in wire.gaps]) == (["missed 2"], ["short"])


async def test_one_message_that_cannot_be_handled_stops_nothing(wire: Wire) -> None:
    bot = FakeBot(wire.qq)
    wire.say("old")
    await wire.connect(bot)
    wire.live(bot, "live")
    wire.say("bad", "good")
    handled: list[str] = []

    async def handle(inbound: Inbound) -> None:
        if inbound.text == "bad":
            raise RuntimeError("on purpose")
        handled.append(inbound.text)

    wire.fill._handle = handle
    await wire.connect(bot)
    assert handled == ["good"]
    assert wire.filled == [str(GROUP)]


async def test_an_account_outside_the_group_reads_nothing(wire: Wire) -> None:
    wire.say("old")
    await wire.connect(FakeBot(wire.qq))
    wire.say("missed")
    stranger = FakeQQ(self_id=20000)
    stranger.add_group(5, "elsewhere")
    await wire.connect(FakeBot(stranger))
    assert (wire.handled, wire.gaps) == ([], [])


async def test_an_answer_that_is_no_list_is_no_history(wire: Wire) -> None:
    class Odd(FakeBot):
        async def call_api(self, api: str, **data: Any) -> Any:
            if api == "get_group_list":
                raise ActionFailed(retcode=1404)
            return {"messages": None}

    await wire.connect(FakeBot(wire.qq))
    await wire.connect(Odd(wire.qq))
    assert [gap.reason for gap in wire.gaps] == ["unavailable"]


async def test_two_connections_at_once_handle_once(wire: Wire) -> None:
    bot = FakeBot(wire.qq)
    wire.say("old")
    await wire.connect(bot)
    wire.live(bot, "live")
    wire.say("missed")
    await asyncio.gather(wire.fill.connected(bot), wire.fill.connected(bot))
    assert wire.texts() == ["missed"]


async def test_a_connection_lost_while_reading_is_no_gap(wire: Wire) -> None:
    class Gone(FakeBot):
        async def call_api(self, api: str, **data: Any) -> Any:
            raise ConnectionLost("gone")

    bot = FakeBot(wire.qq)
    wire.say("old")
    await wire.connect(bot)
    wire.live(bot, "live")
    wire.say("missed")
    await wire.connect(Gone(wire.qq))
    assert (wire.handled, wire.gaps) == ([], [])
    await wire.connect(bot)
    assert wire.texts() == ["missed"]


async def test_what_another_account_of_the_bot_said_is_not_handled(wire: Wire) -> None:
    other = FakeQQ(self_id=3)  # 王五 is a second account of the bot
    other.add_group(GROUP, "官方群")
    bot = FakeBot(wire.qq)
    wire.say("old")
    await wire.connect(bot)
    await wire.connect(FakeBot(other))
    wire.live(bot, "live")
    wire.qq.say(GROUP, 3, "张三    胜    李四")
    wire.say("missed")
    await wire.connect(bot)
    assert wire.texts() == ["missed"]
    assert [sent.text for sent in wire.own] == ["张三    胜    李四"]


def test_the_desk_is_told_of_two_gaps_in_one_minute() -> None:
    """What was said between two readings of a short history, seconds apart, is another gap (found by simulation)."""
    first, second = (Gap("short", NOON + since, NOON + until) for since, until in ((1000, 16_000), (16_000, 41_000)))
    told = [wording.missed("100001", gap) for gap in (first, second)]
    assert told[0] == "群100001 11-30 12:00:01到11-30 12:00:16（历史消息不够长），请翻看有没有漏掉的报分"
    assert told[0] != told[1]
