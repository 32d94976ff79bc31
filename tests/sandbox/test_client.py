"""The QQ client: what it sends a bot over the socket, what it answers, and what can go wrong on purpose."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from websockets.asyncio.server import ServerConnection, serve

from tests.support.qq import FakeClient, FakeQQ, Faults, Style

GROUP = 100001
TOKEN = "0123456789abcdef"
Frame = dict[str, Any]


class TinyBot:
    """The server side: keeps the events, calls actions, checks the token."""

    def __init__(self) -> None:
        self.events: list[Frame] = []
        self.headers: list[Any] = []
        self._answers: dict[str, asyncio.Future[Frame]] = {}
        self._ws: ServerConnection | None = None
        self._news = asyncio.Condition()
        self.refused = asyncio.Event()
        self.url = ""

    async def handle(self, ws: ServerConnection) -> None:
        assert ws.request
        self.headers.append(ws.request.headers)
        if ws.request.headers.get("Authorization") != f"Bearer {TOKEN}":
            await ws.close(1008)
            self.refused.set()
            return
        self._ws = ws
        async for raw in ws:
            frame = json.loads(raw)
            if "echo" in frame:
                self._answers.pop(frame["echo"]).set_result(frame)
                continue
            self.events.append(frame)
            async with self._news:
                self._news.notify_all()

    async def call(self, action: str, timeout: float = 5, **params: Any) -> Frame:
        """Call an action and return the whole answer. Raises TimeoutError."""
        assert self._ws
        echo = f"{action} {len(self._answers)} {id(params)}"
        answer: asyncio.Future[Frame] = asyncio.get_running_loop().create_future()
        self._answers[echo] = answer
        await self._ws.send(json.dumps({"action": action, "params": params, "echo": echo}))
        async with asyncio.timeout(timeout):
            return await answer

    async def until(self, count: int, kind: str = "message") -> list[Frame]:
        """Wait for so many events of a post_type and return them."""

        def found() -> list[Frame]:
            return [event for event in self.events if event["post_type"] == kind]

        async with asyncio.timeout(5), self._news:
            await self._news.wait_for(lambda: len(found()) >= count)
        return found()


@pytest.fixture
async def bot() -> AsyncIterator[TinyBot]:
    bot = TinyBot()
    async with serve(bot.handle, "127.0.0.1", 0) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        bot.url = f"ws://127.0.0.1:{port}/onebot/v11/ws"
        yield bot


@pytest.fixture
def qq() -> FakeQQ:
    qq = FakeQQ()
    qq.add_group(GROUP, "官方群")
    qq.add_member(GROUP, 1, card="张三", nickname="三哥")
    qq.add_member(GROUP, 2, card="李四", role="owner")
    return qq


@pytest.fixture
async def client(bot: TinyBot, qq: FakeQQ) -> AsyncIterator[FakeClient]:
    client = FakeClient(qq, bot.url, token=TOKEN, retry=0.01)
    await client.start()
    await bot.until(1, "meta_event")
    yield client
    await client.stop()


async def styled(bot: TinyBot, qq: FakeQQ, style: Style) -> FakeClient:
    client = FakeClient(qq, bot.url, token=TOKEN, retry=0.01, style=style)
    await client.start()
    await bot.until(1, "meta_event")
    return client


async def test_it_introduces_itself(bot: TinyBot, client: FakeClient) -> None:
    assert (bot.headers[0]["X-Self-ID"], bot.headers[0]["X-Client-Role"]) == ("10000", "Universal")
    assert (bot.events[0]["meta_event_type"], bot.events[0]["sub_type"]) == ("lifecycle", "connect")


async def test_heartbeats(bot: TinyBot, qq: FakeQQ) -> None:
    client = FakeClient(qq, bot.url, token=TOKEN, heartbeat=0.01)
    await client.start()
    events = await bot.until(2, "meta_event")
    assert (events[1]["meta_event_type"], events[1]["status"]["online"]) == ("heartbeat", True)
    await client.stop()


async def test_a_group_message_has_napcats_shape(bot: TinyBot, qq: FakeQQ, client: FakeClient) -> None:
    first = qq.say(GROUP, 1, "张三    胜    李四")
    second = qq.say(GROUP, 2, "确认 [1]", quote=first.message_id, at=[1])
    event = (await bot.until(2))[1]
    assert event["message"] == [
        {"type": "reply", "data": {"id": str(first.message_id)}},
        {"type": "at", "data": {"qq": "1"}},
        {"type": "text", "data": {"text": " "}},
        {"type": "text", "data": {"text": "确认 [1]"}},
    ]
    assert event["raw_message"] == f"[CQ:reply,id={first.message_id}][CQ:at,qq=1] 确认 &#91;1&#93;"
    assert event["sender"] == {"user_id": 2, "nickname": "李四", "card": "李四", "role": "owner"}
    expected = {"group_id": GROUP, "user_id": 2, "self_id": 10000, "sub_type": "normal", "message_type": "group"}
    assert event | expected | {"message_id": second.message_id, "real_seq": str(second.real_seq)} == event
    assert event["time"] == second.time // 1000


async def test_private_messages_recalls_and_reactions(bot: TinyBot, qq: FakeQQ, client: FakeClient) -> None:
    private = qq.say_private(1, "你好")
    event = (await bot.until(1))[0]
    assert (event["message_type"], event["sub_type"], event["sender"]["nickname"]) == ("private", "friend", "三哥")
    mine = qq.say(GROUP, 1, "错了")
    theirs = qq.deliver(f"g{GROUP}", [{"type": "text", "data": {"text": "#1"}}])
    qq.react(GROUP, mine.message_id, 2, 76)  # NapCat tells of reactions to the bot's messages only
    qq.recall(GROUP, mine.message_id, by=2)
    qq.react(GROUP, theirs.message_id, 2, 76)
    qq.recall_private(1, private.message_id)
    group_recall, reaction, friend_recall = await bot.until(3, "notice")
    assert group_recall | {"notice_type": "group_recall", "user_id": 1, "operator_id": 2} == group_recall
    assert group_recall["message_id"] == mine.message_id
    assert reaction | {"notice_type": "group_msg_emoji_like", "user_id": 2, "is_add": True} == reaction
    assert (reaction["message_id"], reaction["likes"]) == (theirs.message_id, [{"emoji_id": "76", "count": 1}])
    assert (friend_recall["notice_type"], friend_recall["user_id"]) == ("friend_recall", 1)


async def test_sending_delivers_and_gives_the_id(bot: TinyBot, qq: FakeQQ, client: FakeClient) -> None:
    asked = qq.say(GROUP, 1, "/等级分")
    parts = [
        {"type": "reply", "data": {"id": str(asked.message_id)}},
        {"type": "at", "data": {"qq": "1"}},
        {"type": "text", "data": {"text": " 2016"}},
    ]
    answer = await bot.call("send_group_msg", group_id=GROUP, message=parts)
    said = qq.history(GROUP)[-1]
    assert (answer["status"], answer["retcode"], answer["data"]) == ("ok", 0, {"message_id": said.message_id})
    assert (said.user_id, said.quote, said.mentions, said.text) == (10000, asked.message_id, (1,), "@1 2016")
    await bot.call("send_msg", message_type="private", user_id=2, message="[CQ:at,qq=2] &#91;好&#93;")
    await bot.call("send_private_msg", user_id=2, message="[CQ:at,qq=2]", auto_escape=True)
    assert [m.text for m in qq.private_history(2)] == ["@2 [好]", "[CQ:at,qq=2]"]
    assert [event["post_type"] for event in await bot.until(1)] == ["message"]


async def test_what_qq_refuses(bot: TinyBot, qq: FakeQQ, client: FakeClient) -> None:
    async def send(*parts: Frame, group_id: int = GROUP) -> tuple[str, int]:
        answer = await bot.call("send_group_msg", group_id=group_id, message=list(parts))
        return answer["status"], answer["retcode"]

    text = {"type": "text", "data": {"text": "x"}}
    at = {"type": "at", "data": {"qq": "1"}}
    said = qq.say(GROUP, 1, "看")
    reply = {"type": "reply", "data": {"id": str(said.message_id)}}
    assert await send({"type": "at", "data": {"qq": "99"}}, text) == ("failed", 1200)
    assert await send({"type": "reply", "data": {"id": "5"}}, text) == ("failed", 1200)
    client.faults.refuse_at = client.faults.refuse_reply = True
    assert await send(at, text) == ("failed", 1200)
    assert await send(reply, text) == ("failed", 1200)
    assert await send(text, group_id=7) == ("failed", 1200)
    assert qq.said_by_bot(GROUP) == []
    client.faults.muted.add(GROUP)
    assert '"result": 120' in (await bot.call("send_group_msg", group_id=GROUP, message=[text]))["message"]
    client.faults.kicked.add(GROUP)
    assert '"result": 110' in (await bot.call("send_group_msg", group_id=GROUP, message=[text]))["message"]
    assert (await bot.call("get_group_list"))["data"] == []
    client.faults.kicked.clear()
    client.faults.muted.clear()
    assert await send(text) == ("ok", 0)


async def test_sends_that_get_lost_or_seem_to(bot: TinyBot, qq: FakeQQ, client: FakeClient) -> None:
    client.faults.lose_sends = 1
    assert (await bot.call("send_group_msg", group_id=GROUP, message="一"))["retcode"] == 1200
    client.faults.fail_delivered = 1
    assert (await bot.call("send_group_msg", group_id=GROUP, message="二"))["retcode"] == 1200
    client.faults.swallow_sends = 1
    with pytest.raises(TimeoutError):
        await bot.call("send_group_msg", 0.05, group_id=GROUP, message="三")
    client.faults.mute_answers = 1
    with pytest.raises(TimeoutError):
        await bot.call("send_group_msg", 0.05, group_id=GROUP, message="四")
    assert (await bot.call("send_group_msg", group_id=GROUP, message="五"))["retcode"] == 0
    assert [m.text for m in qq.said_by_bot(GROUP)] == ["二", "四", "五"]
    client.faults.drop_after_send = 1
    with pytest.raises(TimeoutError):
        await bot.call("send_group_msg", 0.05, group_id=GROUP, message="六")
    await bot.until(2, "meta_event")
    await client.connected()
    assert [m.text for m in qq.said_by_bot(GROUP)] == ["二", "四", "五", "六"]


def page(answer: Frame) -> list[str]:
    assert answer["retcode"] == 0, answer
    return [entry["raw_message"] for entry in answer["data"]["messages"]]


async def test_history_pages_as_napcat(bot: TinyBot, qq: FakeQQ, client: FakeClient) -> None:
    said = [qq.say(GROUP, 1, str(n)) for n in range(10)]
    seq = said[5].message_id
    ask = {"group_id": GROUP, "count": 3}
    assert page(await bot.call("get_group_msg_history", **ask)) == ["7", "8", "9"]
    assert page(await bot.call("get_group_msg_history", **ask, message_seq=0)) == ["7", "8", "9"]
    assert page(await bot.call("get_group_msg_history", **ask, message_seq=seq)) == ["5", "6", "7"]
    assert page(await bot.call("get_group_msg_history", **ask, message_seq=seq, reverseOrder=True)) == ["3", "4", "5"]
    assert (await bot.call("get_group_msg_history", **ask, message_seq=1234567))["retcode"] == 1200
    qq.recall(GROUP, said[4].message_id, by=1)
    client.faults.history_holes.add(said[3].message_id)
    assert page(await bot.call("get_group_msg_history", **ask, message_seq=seq, reverse_order="true")) == [
        "1",
        "2",
        "5",
    ]
    client.faults.history_limit = 2
    assert page(await bot.call("get_group_msg_history", **ask)) == ["8", "9"]
    client.faults.no_history = True
    assert (await bot.call("get_group_msg_history", **ask))["status"] == "failed"


@pytest.mark.parametrize(
    ("style", "expected"),
    [("llonebot", ["3", "4", "5"]), ("lagrange", ["2", "3", "4", "5"]), ("gocqhttp", ["0", "1", "2", "3", "4", "5"])],
)
async def test_history_pages_backwards_elsewhere(bot: TinyBot, qq: FakeQQ, style: Style, expected: list[str]) -> None:
    client = await styled(bot, qq, style)
    said = [qq.say(GROUP, 1, str(n)) for n in range(10)]
    anchor = {"llonebot": "message_seq", "lagrange": "message_id", "gocqhttp": "message_seq"}[style]
    number = said[5].real_seq if style == "gocqhttp" else said[5].message_id
    answer = await bot.call("get_group_msg_history", group_id=GROUP, count=3, **{anchor: number})
    assert page(answer) == expected
    events = await bot.until(10)
    same_id = answer["data"]["messages"][-1]["message_id"] == events[5]["message_id"]
    assert same_id is (style != "lagrange")
    assert ("real_seq" in events[5]) is (style == "llonebot")
    found = await bot.call("get_msg", message_id=answer["data"]["messages"][-1]["message_id"])
    assert found["data"]["raw_message"] == "5"
    await client.stop()


async def test_private_history(bot: TinyBot, qq: FakeQQ, client: FakeClient) -> None:
    qq.say_private(1, "你好")
    assert page(await bot.call("get_friend_msg_history", user_id=1, count=5)) == ["你好"]


async def test_what_is_said_during_an_outage_is_in_history_only(bot: TinyBot, qq: FakeQQ, client: FakeClient) -> None:
    qq.say(GROUP, 1, "前")
    await bot.until(1)
    await client.offline()
    qq.say(GROUP, 1, "中")
    await client.online()
    qq.say(GROUP, 1, "后")
    events = await bot.until(2)
    assert [event["raw_message"] for event in events] == ["前", "后"]
    assert page(await bot.call("get_group_msg_history", group_id=GROUP, count=5)) == ["前", "中", "后"]


async def test_it_comes_back_after_a_drop_and_a_wrong_token_stays_out(
    bot: TinyBot, qq: FakeQQ, client: FakeClient
) -> None:
    await client.drop()
    await client.connected()
    await bot.until(2, "meta_event")
    intruder = FakeClient(qq, bot.url, token="wrong", retry=0.01)
    await intruder.start(None)
    async with asyncio.timeout(5):
        await bot.refused.wait()
    await intruder.stop()
    assert len(await bot.until(2, "meta_event")) == 2


async def test_events_can_repeat_swap_change_and_vanish(bot: TinyBot, qq: FakeQQ, client: FakeClient) -> None:
    faults = client.faults
    faults.duplicate_events = True
    qq.say(GROUP, 1, "双")
    await bot.until(2)
    faults.duplicate_events, faults.reorder_events = False, 2
    qq.say(GROUP, 1, "先")
    qq.say(GROUP, 1, "后")
    await bot.until(4)
    faults.reorder_events, faults.lose_events = 0, 1
    qq.say(GROUP, 1, "丢")
    faults.mangle = lambda event: {key: value for key, value in event.items() if key != "font"}
    qq.say(GROUP, 1, "残")
    faults.mangle = None
    with client.silent():
        missed = qq.say(GROUP, 1, "补")
    client.push(client.event_of(missed))
    events = await bot.until(6)
    assert [event["raw_message"] for event in events] == ["双", "双", "后", "先", "残", "补"]
    assert ["font" in event for event in events[-2:]] == [False, True]


async def test_own_messages_are_told_when_switched_on(bot: TinyBot, qq: FakeQQ, client: FakeClient) -> None:
    client.faults.own_messages = True
    answer = await bot.call("send_group_msg", group_id=GROUP, message="我")
    event = (await bot.until(1, "message_sent"))[0]
    assert (event["message_id"], event["user_id"]) == (answer["data"]["message_id"], 10000)


async def test_people_groups_and_unknown_actions(bot: TinyBot, qq: FakeQQ, client: FakeClient) -> None:
    members = (await bot.call("get_group_member_list", group_id=GROUP))["data"]
    assert [(m["user_id"], m["card"], m["nickname"], m["role"]) for m in members][1:] == [
        (1, "张三", "三哥", "member"),
        (2, "李四", "李四", "owner"),
    ]
    assert (await bot.call("get_group_member_info", group_id=GROUP, user_id=1))["data"]["card"] == "张三"
    assert (await bot.call("get_group_member_info", group_id=GROUP, user_id=99))["retcode"] == 1200
    assert (await bot.call("get_group_list"))["data"][0]["group_name"] == "官方群"
    assert (await bot.call("get_login_info"))["data"]["user_id"] == 10000
    assert (await bot.call("get_stranger_info", user_id=1))["data"]["nickname"] == "三哥"
    assert (await bot.call("get_version_info"))["data"]["app_name"] == "NapCat.Onebot"
    assert (await bot.call("get_status"))["data"]["online"] is True
    assert (await bot.call("no_such_thing"))["retcode"] == 1404
    assert (await bot.call("send_group_msg", group_id=GROUP))["retcode"] == 1400
    assert (await bot.call("get_msg", message_id=3))["status"] == "failed"


async def test_reacting_and_recalling_by_the_bot(bot: TinyBot, qq: FakeQQ, client: FakeClient) -> None:
    said = qq.say(GROUP, 1, "看")
    await bot.call("set_msg_emoji_like", message_id=said.message_id, emoji_id="76", set=True)
    assert said.reactions == {"76": {10000}}
    own = (await bot.call("send_group_msg", group_id=GROUP, message="错"))["data"]["message_id"]
    await bot.call("delete_msg", message_id=own)
    found = qq.find(own)
    assert found and found.recalled
    call = await client.wait_call(lambda call: call.action == "set_msg_emoji_like")
    assert call.answer and call.answer["status"] == "ok"


def test_a_counter_runs_out() -> None:
    faults = Faults(lose_sends=1)
    assert [faults.take("lose_sends"), faults.take("lose_sends"), faults.lose_sends] == [True, False, 0]
