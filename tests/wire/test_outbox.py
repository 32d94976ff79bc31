"""Each message goes out once: success, refusal, silence, mute, restart, and history that says nothing."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from nonebot.adapters.onebot.v11 import ApiNotAvailable

from plugins.rating_bot.sandbox.qq import FakeQQ
from plugins.rating_bot.wire import unseen
from plugins.rating_bot.wire.link import ConnectionLost
from plugins.rating_bot.wire.messages import Sent, at
from plugins.rating_bot.wire.outbox import Patience, Sender
from plugins.rating_bot.wording.makeup import merged
from rating_core.store.database import Database
from rating_core.store.wire_store import OutboxTable, OutRow
from tests.support.chats import chat_row
from tests.support.qq import Style

from .fakes import CHAT, GROUP, FakeBot, league_qq, say_long_ago

QUICK = Patience(settle=0, settle_picture=0, retry=(0, 0, 0), pause=(0.02, 0.02, 1), look_again=(0.02,))
STYLES: list[Style] = ["napcat", "llonebot", "lagrange", "gocqhttp"]


class Post:
    """A sender with one account, and what it told the desk."""

    def __init__(self, database: Database, qq: FakeQQ) -> None:
        self.database = database
        self.qq = qq
        self.bots: dict[str, Any] = {}
        self.alarms: list[tuple[str, str, str]] = []
        self.alarmed = asyncio.Event()
        self.sender = self.new()

    def new(self, patience: Patience = QUICK, interval: float = 0) -> Sender:
        self.sender = Sender(
            self.database, self, bots=lambda: self.bots, interval=interval, alarm=self._alarm, patience=patience
        )
        return self.sender

    def now(self) -> int:
        return self.qq.now()

    async def _alarm(self, kind: str, about: str, detail: str) -> None:
        self.alarms.append((kind, about, detail))
        self.alarmed.set()

    async def begin(self, style: Style = "napcat", **faults: Any) -> FakeBot:
        bot = FakeBot(self.qq, style)
        for name, value in faults.items():
            setattr(bot.faults, name, value)
        self.bots[bot.self_id] = bot
        await self.sender.start()
        self.sender.connected(bot)
        return bot

    async def queue(self, text: str, **more: Any) -> int:
        async with self.database.write() as connection:
            fields = {"chat": CHAT, "kind": "ack", "about": "#1", "created_at": self.now()} | more
            number = await OutboxTable(connection).add(text=text, **fields)
        self.sender.wake([fields["chat"]])
        return number

    async def row(self, number: int) -> OutRow:
        async with self.database.read() as connection:
            states = ("pending", "sending", "unknown", "sent", "failed", "dropped")
            return next(row for row in await OutboxTable(connection).rows(*states) if row.outbox_id == number)

    async def until(self, number: int, state: str) -> OutRow:
        async with asyncio.timeout(20):
            while (row := await self.row(number)).state != state:
                await asyncio.sleep(0.005)
        return row

    def said(self, chat: str = CHAT) -> list[str]:
        return [m.text for m in self.qq.messages(chat) if m.user_id == self.qq.self_id]


@pytest.fixture
async def post(database: Database) -> AsyncIterator[Post]:
    post = Post(database, league_qq())
    say_long_ago(post.qq)
    yield post
    await post.sender.stop()


@pytest.mark.parametrize("style", STYLES)
async def test_messages_go_out_in_order(post: Post, style: Style) -> None:
    await post.begin(style)
    numbers = [await post.queue(f"收到 #{n}", about=f"#{n}") for n in range(20)]
    last = await post.until(numbers[-1], "sent")
    assert post.said() == [f"收到 #{n}" for n in range(20)]
    assert last.message_id == str(post.qq.history(GROUP)[-1].message_id)
    assert (last.attempts, post.alarms) == (1, [])


async def test_mention_and_quote(post: Post) -> None:
    bot = await post.begin()
    asked = post.qq.say(GROUP, 1, "张三 胜 李四")
    await post.until(await post.queue(f"#1 {at('2', '李四')} 请回复确认", quote=str(asked.message_id)), "sent")
    said = post.qq.history(GROUP)[-1]
    assert (said.quote, said.mentions, said.text) == (asked.message_id, (2,), "#1 @2 请回复确认")
    assert bot.sent()[0]["group_id"] == GROUP


async def test_the_desk_is_told_before_a_message_is_given_up(post: Post, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who dies between the two tells twice, instead of never."""
    states = []

    async def alarm(kind: str, about: str, detail: str) -> None:
        states.append((kind, (await post.row(number)).state))

    monkeypatch.setattr(post, "_alarm", alarm)
    post.new()
    post.qq.say(GROUP, 1, "大家好")
    bot = await post.begin(lose_sends=9)
    number = await post.queue("收到 #1")
    await post.until(number, "failed")
    bot.faults.lose_sends = 0
    bot.faults.muted = {GROUP}
    number = await post.queue("收到 #2")
    async with asyncio.timeout(20):
        while len(states) < 2:
            await asyncio.sleep(0.005)
    assert states[0] == ("failed", "unknown")
    assert states[1] == ("muted", "sending")


async def test_a_private_message_has_names_for_mentions(post: Post) -> None:
    await post.begin()
    await post.until(await post.queue(f"{at('2', '李四')} 报名", chat="u1"), "sent")
    assert post.said("u1") == ["@李四 报名"]


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("fault", ["fail_delivered", "mute_answers"])
async def test_a_timeout_of_what_was_sent_leaves_one_copy(post: Post, style: Style, fault: str) -> None:
    await post.begin(style, **{fault: 1})
    number = await post.queue(f"收到 #1 {at('2')}\n张三 2016.0（+16.0）")
    row = await post.until(number, "sent")
    await post.until(await post.queue("next"), "sent")
    assert len(post.said()) == 2
    assert row.message_id
    assert (row.attempts, post.alarms) == (1, [])


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("fault", ["lose_sends", "swallow_sends"])
async def test_a_timeout_of_what_was_not_sent_is_sent_again(post: Post, style: Style, fault: str) -> None:
    post.qq.say(GROUP, 1, "hello")
    await post.begin(style, **{fault: 1})
    row = await post.until(await post.queue("收到 #1"), "sent")
    await post.until(await post.queue("next"), "sent")
    assert post.said() == ["收到 #1", "next"]
    assert (row.attempts, post.alarms) == (2, [])


async def test_two_equal_messages_of_which_one_was_sent(post: Post) -> None:
    bot = await post.begin()
    await post.until(await post.queue("格式"), "sent")
    bot.faults.lose_sends = 1
    await post.until(await post.queue("格式"), "sent")
    bot.faults.fail_delivered = 1
    await post.until(await post.queue("格式"), "sent")
    assert post.said() == ["格式"] * 3


async def test_not_in_history_means_not_sent_only_after_a_while(post: Post) -> None:
    post.qq.say(GROUP, 1, "hello")
    post.new(Patience(settle=30, retry=(0,), look_again=(0.02,)))
    await post.begin(swallow_sends=1)
    number = await post.queue("收到 #1")
    await post.until(number, "unknown")
    later = await post.queue("next")
    post.qq.deliver(CHAT, [{"type": "text", "data": {"text": "收到 #1"}}])  # it only took its time
    said = post.qq.history(GROUP)[-1]
    post.sender.saw(Sent(CHAT, str(said.message_id), said.text, said.time))
    assert (await post.until(number, "sent")).message_id == str(said.message_id)
    await post.until(later, "sent")
    assert post.said() == ["收到 #1", "next"]


async def test_history_that_says_nothing_holds_the_message_and_only_that(post: Post) -> None:
    bot = await post.begin(no_history=True, mute_answers=1)
    held = await post.queue("收到 #1")
    await post.until(await post.queue("next", about="#2"), "sent")
    assert (await post.row(held)).state == "unknown"
    assert [(kind, about) for kind, about, _ in post.alarms] == [("held", "#1")]
    assert post.said() == ["收到 #1", "next"]
    bot.faults.no_history = False
    await post.until(held, "sent")
    assert post.said() == ["收到 #1", "next"]
    assert len(post.alarms) == 1


async def test_qq_is_not_asked_about_a_quote_of_what_is_known_to_be_out(post: Post) -> None:
    post.qq.say(GROUP, 1, "hello")
    post.new(Patience(settle=600))
    bot = await post.begin()
    prompt = await post.until(await post.queue("#1 待确认"), "sent")
    bot.faults.swallow_sends = 1
    await post.until(await post.queue("收到 #2"), "unknown")
    await post.sender.recognise(CHAT, prompt.message_id)
    assert "get_msg" not in [api for api, _ in bot.calls]
    await post.sender.recognise(CHAT, "123456")
    assert "get_msg" in [api for api, _ in bot.calls]


async def test_history_that_fails_for_a_moment_alarms_nobody_and_keeps_the_order(post: Post) -> None:
    post.new(Patience(look_again=(0.05, 0.05, 60)))
    bot = await post.begin(no_history=True, mute_answers=1)
    unclear = await post.queue("收到 #1")
    await post.until(unclear, "unknown")
    later = await post.queue("next")
    assert (await post.row(later)).state == "pending"
    bot.faults.no_history = False
    await post.until(later, "sent")
    assert (await post.row(unclear)).state == "sent"
    assert (post.said(), post.alarms) == (["收到 #1", "next"], [])


async def test_history_that_begins_after_the_sending_says_nothing(post: Post) -> None:
    post.qq.say(GROUP, 1, "hello")
    bot = await post.begin(mute_answers=1, no_history=True)
    number = await post.queue("收到 #1")
    await post.until(number, "unknown")
    later = post.qq.now() + 2_000
    post.qq.now = lambda: later
    post.qq.say(GROUP, 1, "later")
    bot.faults.no_history, bot.faults.history_limit = False, 1
    await asyncio.sleep(0.2)  # time in which it would have been sent again
    assert (post.said(), (await post.row(number)).state) == (["收到 #1"], "unknown")
    bot.faults.history_limit = None
    await post.until(number, "sent")
    assert post.said() == ["收到 #1"]


async def test_without_history_the_clients_own_word_is_enough(post: Post) -> None:
    post.new(Patience(look_again=(60,)))
    await post.begin("gocqhttp", mute_answers=1)
    held = await post.queue("你好", chat="u1")  # go-cqhttp has no private history
    async with asyncio.timeout(5):
        await post.alarmed.wait()
    said = post.qq.messages("u1")[-1]
    post.sender.saw(Sent("u1", str(said.message_id), said.text, said.time))
    await post.until(held, "sent")
    assert post.said("u1") == ["你好"]


@pytest.mark.parametrize("style", STYLES)
async def test_a_refused_mention_goes_out_as_a_name(post: Post, style: Style) -> None:
    post.qq.say(GROUP, 1, "hello")
    await post.begin(style, refuse_at=True)
    await post.until(await post.queue(f"#1 {at('2', '李四')} 请回复确认"), "sent")
    assert post.said() == ["#1 @李四 请回复确认"]


async def test_a_refused_quote_goes_out_without(post: Post) -> None:
    post.qq.say(GROUP, 1, "hello")
    bot = await post.begin()
    row = await post.until(await post.queue("收到 #1", quote="424242"), "sent")
    assert post.said() == ["收到 #1"]
    assert post.qq.history(GROUP)[-1].quote is None
    assert (len(bot.sent()), row.attempts) == (2, 2)


class Picky(FakeBot):
    """Takes nothing with 坏 in it."""

    async def call_api(self, api: str, **data: Any) -> Any:
        if "坏" in str(data):
            data["message"] = [{"type": "at", "data": {"qq": "999"}}]
        return await super().call_api(api, **data)


async def test_the_desk_is_told_which_reports_stood_in_a_merged_message_that_was_given_up(post: Post) -> None:
    await post.sender.start()
    bot = Picky(post.qq)
    post.bots[bot.self_id] = bot
    answers = [
        "收到 #5（单跳1v1）\n坏蛋 2016.0（+16.0）",
        "没有#99这份报分，请看清提示里的编号。",
        "#8 待确认（单跳1v1）\n坏蛋    胜    李四",
    ]
    await post.until(await post.queue(merged(answers), about=""), "failed")
    assert [(kind, about) for kind, about, _ in post.alarms] == [("failed", "#5 #8")]
    await post.until(
        await post.queue("坏" + "".join(f"\n\n#{number} 已生效" for number in range(1, 13)), about=""), "failed"
    )
    assert post.alarms[1][1] == "#1 #2 #3 #4 #5 #6 #7 #8 #9 #10…"


async def test_a_message_that_is_always_refused_is_given_up_and_the_next_goes_out(post: Post) -> None:
    await post.sender.start()
    bot = Picky(post.qq)
    post.bots[bot.self_id] = bot
    bad = await post.queue("坏 #1")
    good = await post.queue("好 #2", about="#2")
    assert "成员不存在" in (await post.until(bad, "failed")).error
    await post.until(good, "sent")
    assert post.said() == ["好 #2"]
    assert [(kind, about) for kind, about, _ in post.alarms] == [("failed", "#1")]
    assert (await post.row(bad)).attempts == 4


@pytest.mark.parametrize("style", STYLES)
async def test_a_muted_group_rests_and_goes_on_by_itself(post: Post, style: Style) -> None:
    bot = await post.begin(style, muted={GROUP})
    first, second = await post.queue("收到 #1"), await post.queue("收到 #2")
    async with asyncio.timeout(5):
        await post.alarmed.wait()
    private = await post.queue("你好", chat="u1")
    await post.until(private, "sent")
    bot.faults.muted.clear()
    await post.until(second, "sent")
    assert (await post.row(first)).state == "sent"
    assert post.said() == ["收到 #1", "收到 #2"]
    assert [about for _, about, _ in post.alarms] == [CHAT]
    async with post.database.read() as connection:
        row = await chat_row(connection, CHAT)
    assert row is not None
    assert row.paused_until is None


@pytest.mark.parametrize("end", ["resume", "reconnect", "restart"])
async def test_a_rest_ends_when_there_is_hope(post: Post, end: str) -> None:
    post.new(Patience(pause=(600,)))
    bot = await post.begin(muted={GROUP})
    number = await post.queue("收到 #1")
    async with asyncio.timeout(5):
        await post.alarmed.wait()
    await post.until(await post.queue("你好", chat="u1"), "sent")
    assert (await post.row(number)).state == "pending"
    async with post.database.read() as connection:
        chat = await chat_row(connection, CHAT)
    assert chat is not None
    assert (chat.paused_why, (chat.paused_until or 0) > post.now()) == ("muted", True)
    bot.faults.muted.clear()
    if end == "resume":
        await post.sender.resume(CHAT)
    elif end == "reconnect":
        post.sender.connected(bot)
    else:
        await post.sender.stop()
        post.new(Patience(pause=(600,)))
        await post.sender.start()
    assert (await post.until(number, "sent")).attempts == 1
    assert len(post.alarms) == 1


async def test_the_desk_is_told_once_of_one_rest_even_over_restarts(post: Post) -> None:
    await post.begin(muted={GROUP})
    number = await post.queue("收到 #1")
    async with asyncio.timeout(5):
        await post.alarmed.wait()
    await post.sender.stop()
    post.new()
    calls = len((bot := await post.begin(muted={GROUP})).calls)
    await post.until(await post.queue("你好", chat="u1"), "sent")
    assert (await post.row(number)).state in ("pending", "sending")
    assert len(bot.calls) > calls
    assert [kind for kind, _, _ in post.alarms] == ["muted"]


async def test_a_lost_group_rests_and_the_desk_is_told(post: Post) -> None:
    await post.begin(kicked={GROUP})
    number = await post.queue("收到 #1")
    async with asyncio.timeout(5):
        await post.alarmed.wait()
    assert post.alarms[0][:2] == ("kicked", CHAT)
    await post.until(number, "pending")


async def test_another_account_in_the_group_takes_over(post: Post) -> None:
    other = FakeQQ(self_id=20000)
    other.add_group(GROUP, "官方群")
    third = FakeQQ(self_id=5)
    third.add_group(7, "elsewhere")
    post.bots = {"20000": FakeBot(other), "5": FakeBot(third)}
    await post.begin(kicked={GROUP})
    await post.until(await post.queue("收到 #1"), "sent")
    assert [m.text for m in other.history(GROUP)] == ["收到 #1"]
    assert (post.said(), post.alarms) == ([], [])


async def test_after_a_restart_what_was_being_sent_is_looked_for(post: Post) -> None:
    out, lost = [await post.queue(f"收到 #{n}") for n in (1, 2)]
    async with post.database.write() as connection:
        for number in (out, lost):
            await OutboxTable(connection).mark_sending(number, post.now())
    post.qq.deliver(CHAT, [{"type": "text", "data": {"text": "收到 #1"}}])
    await post.begin()
    await post.until(lost, "sent")
    assert (await post.row(out)).message_id == str(post.qq.said_by_bot(GROUP)[0].message_id)
    assert sorted(post.said()) == ["收到 #1", "收到 #2"]


async def test_what_was_sent_before_the_last_page_is_found(post: Post) -> None:
    number = await post.queue("收到 #1")
    async with post.database.write() as connection:
        await OutboxTable(connection).mark_sending(number, post.now())
    post.qq.deliver(CHAT, [{"type": "text", "data": {"text": "收到 #1"}}])
    for n in range(300):
        post.qq.say(GROUP, 1, f"chat {n}")
    await post.begin()
    await post.until(number, "sent")
    assert post.said() == ["收到 #1"]


async def test_nothing_is_sent_while_nobody_is_connected(post: Post) -> None:
    await post.sender.start()
    number = await post.queue("收到 #1")
    for _ in range(20):
        await asyncio.sleep(0)
    assert (await post.row(number)).attempts == 0
    bot = FakeBot(post.qq)
    post.bots[bot.self_id] = bot
    post.sender.connected(bot)
    await post.until(number, "sent")


async def test_a_connection_gone_before_the_call_costs_no_attempt(post: Post, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plugins.rating_bot.wire.outbox.OFFLINE_RETRY", 0.01)
    called = asyncio.Event()

    class Gone(FakeBot):
        async def call_api(self, api: str, **data: Any) -> Any:
            if not called.is_set():
                called.set()
                raise ApiNotAvailable
            return await super().call_api(api, **data)

    bot = Gone(post.qq)
    post.bots[bot.self_id] = bot
    await post.sender.start()
    number = await post.queue("收到 #1")
    async with asyncio.timeout(5):
        await called.wait()
    post.sender.connected(bot)
    assert (await post.until(number, "sent")).attempts == 1


async def test_an_answer_nobody_waits_for_any_more_is_dropped(post: Post) -> None:
    await post.begin()
    late = await post.queue("榜", kind="answer", expires_at=post.now() - 1)
    await post.until(await post.queue("收到 #1"), "sent")
    await post.until(late, "dropped")
    assert post.said() == ["收到 #1"]


async def test_sends_keep_their_distance(post: Post) -> None:
    post.new(QUICK, interval=0.05)
    await post.begin()
    loop = asyncio.get_running_loop()
    began = loop.time()
    numbers = [await post.queue(f"收到 #{n}") for n in range(4)]
    await post.until(numbers[-1], "sent")
    assert loop.time() - began >= 0.15


async def test_a_database_that_fails_loses_nothing(post: Post, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plugins.rating_bot.wire.outbox.STORE_RETRY", 0.01)
    failures = 3
    mark_sent = OutboxTable.mark_sent

    async def failing(self: OutboxTable, outbox_id: int, message_id: str) -> None:
        nonlocal failures
        failures -= 1
        if failures >= 0:
            raise OSError("disk full")
        await mark_sent(self, outbox_id, message_id)

    monkeypatch.setattr(OutboxTable, "mark_sent", failing)
    await post.begin()
    await post.until(await post.queue("收到 #1"), "sent")
    assert post.said() == ["收到 #1"]


async def test_200_messages_over_a_bad_line_each_once(post: Post) -> None:
    post.qq.say(GROUP, 1, "hello")
    bot = await post.begin()
    for n in range(200):
        if n % 7 == 0:
            bot.faults.fail_delivered = 1
        elif n % 11 == 0:
            bot.faults.swallow_sends = 1
        elif n % 13 == 0:
            bot.faults.mute_answers = 1
        number = await post.queue(f"收到 #{n}", about=f"#{n}")
        if n % 7 == 0 or n % 11 == 0 or n % 13 == 0:
            await post.until(number, "sent")
    await post.until(number, "sent")
    assert post.said() == [f"收到 #{n}" for n in range(200)]
    assert post.alarms == []


async def test_a_connection_lost_while_looking_resends_nothing(post: Post) -> None:
    class Flaky(FakeBot):
        pages = 0

        async def call_api(self, api: str, **data: Any) -> Any:
            if api == "get_group_msg_history":
                self.pages += 1
                if self.pages in (2, 3):
                    raise ConnectionLost("gone")
            return await super().call_api(api, **data)

    number = await post.queue("收到 #1")
    async with post.database.write() as connection:
        await OutboxTable(connection).mark_sending(number, post.now())
    post.qq.deliver(CHAT, [{"type": "text", "data": {"text": "收到 #1"}}])
    for n in range(120):
        post.qq.say(GROUP, 1, f"chat {n}")
    bot = Flaky(post.qq)
    post.bots[bot.self_id] = bot
    await post.sender.start()
    async with asyncio.timeout(5):
        while bot.pages < 2:
            await asyncio.sleep(0.005)
    post.sender.connected(bot)
    await post.until(number, "sent")
    assert (post.said(), post.alarms) == (["收到 #1"], [])


def sooner(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look at once for what QQ took, with clocks that agree to a tenth of a second."""
    monkeypatch.setattr(unseen, "LOOK_AFTER", 0.0)
    monkeypatch.setattr(unseen, "LOOK_AGAIN", 0.0)
    monkeypatch.setattr(unseen, "MARGIN_MS", 0)


def speak_later(post: Post, text: str) -> None:
    """Let somebody speak two seconds later than now, as QQ sees it."""
    begin = post.qq.now
    post.qq.now = lambda: begin() + 2000
    post.qq.say(GROUP, 1, text)


async def test_what_nobody_sees_is_kept_and_sent_again_when_it_shows(
    post: Post, monkeypatch: pytest.MonkeyPatch
) -> None:
    sooner(monkeypatch)
    post.qq.say(GROUP, 1, "hello")
    bot = await post.begin(hidden={GROUP})
    speak_later(post, "before")
    number = await post.queue("收到 #1")
    await post.until(number, "sent")
    await post.sender.look()
    assert (await post.row(number)).state == "sent", "nobody has spoken since: nothing is known"
    speak_later(post, "怎么没反应")
    await post.sender.look()
    assert (await post.row(number)).state in ("pending", "sending", "sent")
    assert [kind for kind, _, _ in post.alarms] == ["risk"]
    await post.until(number, "sent")
    speak_later(post, "还是没有")
    await post.sender.look()
    assert [kind for kind, _, _ in post.alarms] == ["risk"], "told once"
    bot.faults.hidden.clear()
    while not post.said():
        await asyncio.sleep(0.01)
    await post.until(number, "sent")
    await post.sender.look()
    async with post.database.read() as connection:
        chat = await chat_row(connection, CHAT)
    assert chat is not None and chat.paused_until is None
    assert post.said() == ["收到 #1"]


async def test_what_a_hole_in_history_may_hide_is_not_sent_again(post: Post, monkeypatch: pytest.MonkeyPatch) -> None:
    sooner(monkeypatch)
    post.qq.say(GROUP, 1, "hello")
    bot = await post.begin()
    speak_later(post, "before")
    number = await post.queue("收到 #1")
    await post.until(number, "sent")
    bot.faults.history_holes = {post.qq.history(GROUP)[-1].message_id}
    speak_later(post, "after")
    await post.sender.look()
    assert (await post.row(number)).state == "sent"
    assert (post.said(), post.alarms) == (["收到 #1"], [])
