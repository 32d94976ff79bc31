"""The QQ in memory: what people can do in it, and what it remembers."""

import asyncio

import pytest

from tests.support.qq import FakeMessage, FakeQQ, Happened, QQRefused

GROUP = 100001


class Clock:
    """A clock that tests turn by hand, in ms."""

    def __init__(self, at: int = 1_790_000_000_000):
        self.at = at

    def __call__(self) -> int:
        return self.at


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def qq(clock: Clock) -> FakeQQ:
    qq = FakeQQ(now=clock)
    qq.add_group(GROUP, "官方群")
    qq.add_member(GROUP, 1, card="张三")
    qq.add_member(GROUP, 2, card="李四", role="admin")
    return qq


def test_a_message_carries_quote_mentions_text_and_the_name_at_that_time(qq: FakeQQ, clock: Clock) -> None:
    first = qq.say(GROUP, 1, "张三    胜    李四\n张三    平    李四")
    clock.at += 1500
    second = qq.say(GROUP, 2, "确认", quote=first.message_id, at=[1, 10000])
    qq.set_card(GROUP, 1, "张三丰")
    assert first.text == "张三    胜    李四\n张三    平    李四"
    assert (first.card, first.role, qq.shown_name("g100001", 1)) == ("张三", "member", "张三丰")
    assert (second.quote, second.mentions, second.text) == (first.message_id, (1, 10000), "@1 @10000 确认")
    assert (second.real_seq - first.real_seq, second.time - first.time) == (1, 1500)
    assert qq.history(GROUP) == [first, second]
    assert qq.find(first.message_id) is first


def test_chats_do_not_mix(qq: FakeQQ) -> None:
    qq.say(GROUP, 1, "在群里")
    private = qq.say_private(1, "私聊")
    answer = qq.deliver("u1", [{"type": "text", "data": {"text": "好"}}])
    assert private.group_id is None
    assert [m.text for m in qq.private_history(1)] == ["私聊", "好"]
    assert [m.text for m in qq.history(GROUP)] == ["在群里"]
    assert qq.said_by_bot(GROUP) == []
    assert answer.user_id == qq.self_id


def test_ids_are_unique_and_go_on_after_a_restart(qq: FakeQQ, clock: Clock) -> None:
    before = [qq.say(GROUP, 1, str(n)) for n in range(2000)]
    clock.at += 3_600_000
    later = FakeQQ(now=clock)
    later.add_group(GROUP, "官方群")
    later.add_member(GROUP, 1)
    after = [later.say(GROUP, 1, str(n)) for n in range(2000)]
    ids = {m.message_id for m in before + after}
    assert len(ids) == 4000
    assert all(0 <= number < 2**31 for number in ids)
    assert after[0].real_seq > before[-1].real_seq


def test_only_ones_own_message_can_be_recalled_except_by_an_admin(qq: FakeQQ) -> None:
    told: list[Happened] = []
    qq.subscribe(told.append)
    mine, his = qq.say(GROUP, 1, "我的"), qq.say(GROUP, 2, "他的")
    with pytest.raises(QQRefused):
        qq.recall(GROUP, his.message_id, by=1)
    qq.recall(GROUP, mine.message_id, by=2)
    qq.recall(GROUP, mine.message_id, by=2)
    assert (mine.recalled_by, his.recalled) == (2, False)
    assert [(e.kind, e.user_id) for e in told if e.kind == "recall"] == [("recall", 2)]


def test_a_reaction_twice_is_one(qq: FakeQQ) -> None:
    told: list[Happened] = []
    qq.subscribe(told.append)
    message = qq.say(GROUP, 1, "看")
    for _ in range(2):
        qq.react(GROUP, message.message_id, 2, 76)
    assert message.reactions == {"76": {2}}
    assert [(e.emoji_id, e.user_id) for e in told if e.kind == "reaction"] == [("76", 2)]


def test_strangers_and_unknown_things_are_refused(qq: FakeQQ) -> None:
    elsewhere = qq.say_private(1, "私聊").message_id
    for wrong in (
        lambda: qq.say(GROUP, 99, "我不在群里"),
        lambda: qq.say(5, 1, "没有这个群"),
        lambda: qq.say_private(99, "没有这个人"),
        lambda: qq.deliver("u99", []),
        lambda: qq.recall(GROUP, elsewhere, by=1),
        lambda: qq.react(GROUP, elsewhere, 1, 76),
        lambda: qq.set_card(GROUP, 99, "x"),
    ):
        with pytest.raises(QQRefused):
            wrong()
    assert qq.history(GROUP) == []


def test_a_listener_is_told_until_it_leaves(qq: FakeQQ) -> None:
    told: list[str] = []
    stop = qq.subscribe(lambda event: told.append(event.kind))
    qq.say(GROUP, 1, "一")
    stop()
    qq.say(GROUP, 1, "二")
    assert told == ["message"]


async def test_waiting_finds_what_was_said_and_what_will_be(qq: FakeQQ) -> None:
    first = qq.say(GROUP, 1, "收到 一")

    def acknowledged(message: FakeMessage) -> bool:
        return "收到" in message.text

    assert await qq.wait_for(GROUP, acknowledged) is first
    waiting = asyncio.create_task(qq.wait_for(GROUP, acknowledged, after=first))
    await asyncio.sleep(0)
    qq.say(GROUP, 2, "别的")
    second = qq.say(GROUP, 2, "收到 二")
    assert await waiting is second


async def test_waiting_in_vain_shows_the_transcript(qq: FakeQQ) -> None:
    qq.say(GROUP, 1, "只有这一句")
    with pytest.raises(TimeoutError, match="张三: '只有这一句'"):
        await qq.wait_for(GROUP, lambda m: "收到" in m.text, timeout=0.01)
