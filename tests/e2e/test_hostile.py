"""Frames no client should send, and events as clients really send them: the bot goes on, each report counts once."""

from collections.abc import Callable
from typing import Any

import pytest
from websockets.asyncio.client import connect

from plugins.rating_bot.sandbox.values import FakeMessage
from tests.e2e.world import BOT, OFFICIAL, SCORING, TOKEN, World
from tests.support.engines import SQLITE

pytestmark = pytest.mark.asyncio(loop_scope="module")

PLAYERS = (
    "张三", "李四", "王五", "赵六", "钱七", "孙八", "周九", "吴十", "郑重", "冯唐", "陈平", "褚英", "卫青", "蒋干",
    "沈括", "韩信", "杨修", "朱熹", "秦琼", "尤三姐", "许褚", "何晏", "常胜将军", "平安",
)  # fmt: skip
Event = dict[str, Any]
Mangle = Callable[[Event], Event]
FRAMES: list[str | bytes] = [
    "", "{", "[]", "null", "5", '"text"', "{}", b"\xff\xfe\x00", "[" * 200_000, '{"post_type": 5}',
    '{"post_type": "message"}',
    '{"post_type": "message", "message_type": "group", "group_id": null, "user_id": null, "message": null}',
    '{"post_type": "message", "message_type": "group", "group_id": {"a": 1}, "user_id": [1], "message": 7}',
    '{"post_type": "message", "message_type": "group", "group_id": 100001, "user_id": 1e400, "message": []}',
    '{"post_type": "notice", "notice_type": "group_recall"}', '{"post_type": "notice", "notice_type": null}',
    '{"post_type": "meta_event"}', '{"post_type": "request", "request_type": "friend"}',
    '{"echo": "1", "status": "ok", "retcode": 0, "data": null}', '{"echo": {"a": 1}}', '{"status": "failed"}',
    '{"post_type": "message", "message_type": "group", "group_id": 100001, "user_id": 20004,'
    ' "time": 99999999999999999999, "message": [{"type": "text", "data": {"text": "确认"}}]}',
]  # fmt: skip


@pytest.fixture(scope="module")
def engine() -> str:
    """What comes in is the same on both."""
    return SQLITE


def without(*names: str) -> Mangle:
    return lambda event: {name: value for name, value in event.items() if name not in names}


def sender(**changes: Any) -> Mangle:
    return lambda event: event | {"sender": event["sender"] | changes}


def segments(change: Callable[[list[Any]], list[Any]]) -> Mangle:
    return lambda event: event | {"message": change(event["message"])}


def text_in_parts(parts: list[Any]) -> list[Any]:
    """Split the text segment into one a character."""
    return [
        {"type": "text", "data": {"text": letter}} if part["type"] == "text" else part
        for part in parts
        for letter in (part["data"]["text"] if part["type"] == "text" else "x")
    ]


def string_ids(event: Event) -> Event:
    names = ("self_id", "user_id", "group_id", "message_id", "time", "font")
    return event | {name: str(event[name]) for name in names if name in event}


REPAIRED: dict[str, Mangle] = {
    "no raw_message, font, sub_type": without("raw_message", "font", "sub_type"),
    "no sender": without("sender"),
    "sender null": lambda event: event | {"sender": None},
    "level an int, role missing": lambda event: event
    | {"sender": {k: v for k, v in event["sender"].items() if k != "role"} | {"level": 12}},
    "card null": sender(card=None, nickname=None, title=7),
    "null segment": segments(lambda parts: [None, *parts, {"type": "text", "data": None}, {"type": None}]),
    "text in parts": segments(text_in_parts),
    "carriage returns": segments(lambda parts: [
        {"type": p["type"], "data": {"text": p["data"]["text"].replace(" ", "\u3000").replace("\n", "\r\n") + "\r"}}
        if p["type"] == "text" else p for p in parts
    ]),
    "invisible characters": segments(lambda parts: [
        {"type": "text", "data": {"text": "\u200b\ufeff" + p["data"]["text"].replace(" ", "\u00a0\u3164")}}
        if p["type"] == "text" else p for p in parts
    ]),
    "at in front and behind": segments(lambda parts: [
        {"type": "at", "data": {"qq": str(BOT)}}, {"type": "text", "data": {"text": " "}}, *parts,
        {"type": "at", "data": {"qq": BOT}},
    ]),
    "ids as text": string_ids,
    "unknown fields": lambda event: event | {"to_me": [], "reply": 5, "original_message": 7, "anonymous": {"id": None}},
}  # fmt: skip


async def reported_and_confirmed(world: World, left: str, right: str) -> int:
    """Report two games and confirm them; return the number after 收到 and forward."""
    said = world.say(left, f"{left} 胜 {right}\n{left} 平 {right}")
    prompt = await world.hear("待确认", f"{left}    胜    {right}", f"{left}    平    {right}", after=said)
    number = int(prompt.text.removeprefix("#").split()[0])
    world.say(right, "确认", quote=prompt.message_id)
    receipt = await world.hear("收到", f"#{number}（", after=prompt)
    await world.hear(f"#{number} 单跳1v1", f"{left}    胜    {right}", group=SCORING)
    assert await world.said_since(receipt) == [], "told once"
    return number


async def test_frames_that_are_no_events(world: World) -> None:
    for frame in FRAMES:
        world.client._outgoing.put_nowait(frame)  # type: ignore[arg-type] - past its JSON, on its own connection
    await reported_and_confirmed(world, "张三", "李四")
    assert world.bot.running


async def test_a_huge_frame_is_skipped_and_a_giant_one_ends_its_connection_only(world: World) -> None:
    message = world.say("王五", "今天好冷")
    world.client.push(world.client.event_of(message) | {"message": "张三 胜 李四 " * 500_000, "real_seq": "1"})
    await world.ask("王五", "/等级分", "王五")
    headers = {"X-Self-ID": "10009", "Authorization": f"Bearer {TOKEN}"}
    async with connect(f"ws://127.0.0.1:{world.port}/onebot/v11/ws", additional_headers=headers, proxy=None) as other:
        await other.send("x" * 20_000_000)
        await other.wait_closed()
    await reported_and_confirmed(world, "王五", "赵六")


async def test_a_message_of_many_characters_and_segments(world: World) -> None:
    before = world.say("群主", "好")
    for text in (
        " " * 5_000 + "胜",
        "张三" * 3_000,
        "/" + "等级分" * 2_000,
        "确认" + " #1" * 2_000,
        "胜 " * 2_500,
        "\u200b" * 6_000,
    ):
        world.say("群主", text)
    world.qq.say(OFFICIAL, world.people["群主"], segments=[{"type": "text", "data": {"text": "平"}}] * 3_000)
    answers = await world.said_since(before)
    assert all("未记录" in answer or "只能由" in answer or "没看懂" in answer for answer in answers), answers
    await world.ask("张三", "\n".join(["张三 胜 李四"] * 51), "未记录", "50")


@pytest.mark.parametrize(
    ("name", "pair"), list(zip(REPAIRED, zip(PLAYERS[::2], PLAYERS[1::2], strict=True), strict=True))
)
async def test_events_as_clients_really_send_them(world: World, name: str, pair: tuple[str, str]) -> None:
    mangle = REPAIRED[name]
    world.client.faults.mangle = lambda event: mangle(event) if event.get("post_type") == "message" else event
    try:
        await reported_and_confirmed(world, *pair)
    finally:
        world.client.faults.mangle = None


async def test_every_event_twice(world: World) -> None:
    world.client.faults.duplicate_events = True
    try:
        number = await reported_and_confirmed(world, "郑重", "冯唐")
        again = [m for m in world.qq.history(OFFICIAL) if m.text == "确认"][-1]
        world.client.push(world.client.event_of(again))
        world.client.push(world.client.event_of(again) | {"message_id": 77})
    finally:
        world.client.faults.duplicate_events = False
    said = world.say("群主", "好")
    assert await world.said_since(said) == []
    assert len([m for m in world.qq.said_by_bot(SCORING) if m.text.startswith(f"#{number} ")]) == 1


async def test_two_events_out_of_order(world: World) -> None:
    """A bare 确认 that overtakes its report answers nothing yet; the report is there all the same."""
    world.client.faults.reorder_events = 2
    try:
        said = world.say("陈平", "陈平 胜 褚英")
        world.say("褚英", "确认")
    finally:
        world.client.faults.reorder_events = 0
    prompt = await world.hear("待确认", "陈平", after=said)
    number = int(prompt.text.removeprefix("#").split()[0])
    assert await world.said_since(prompt) == []
    world.say("褚英", "确认", quote=prompt.message_id)
    await world.hear("收到", f"#{number}（", after=prompt)


async def test_two_confirmations_at_once_and_a_recall_that_comes_twice(world: World) -> None:
    number, prompt = await world.report("卫青", "卫青 胜 蒋干")
    world.say("蒋干", "确认")
    world.say("蒋干", f"确认 {number}")
    world.say("蒋干", "对", quote=prompt.message_id)
    world.qq.react(OFFICIAL, prompt.message_id, world.people["蒋干"], 76)
    await world.hear(f"#{number}已生效", after=prompt)
    texts = await world.said_since(prompt)
    assert len([text for text in texts if text.startswith("收到")]) == 1, texts
    assert len([m for m in world.qq.said_by_bot(SCORING) if m.text.startswith(f"#{number} ")]) == 1

    number, prompt = await world.report("卫青", "卫青 平 蒋干")
    world.client.faults.duplicate_events = True
    try:
        report = world.qq.find(prompt.quote or 0)
        assert isinstance(report, FakeMessage)
        world.qq.recall(OFFICIAL, report.message_id, by=report.user_id)
        await world.hear(f"#{number} 已撤回", after=prompt)
    finally:
        world.client.faults.duplicate_events = False
    assert len([text for text in await world.said_since(prompt) if "已撤回" in text]) == 1
