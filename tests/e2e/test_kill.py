"""kill -9 at every point between a confirmation and its end: each game once, one 收到, one forward."""

import asyncio
from pathlib import Path

import pytest

from tests.e2e.world import OFFICIAL, SCORING, World, running
from tests.support.process import KILLED

pytestmark = pytest.mark.usefixtures("engine")

HITS = {"before_commit": (2,), "after_commit": (2,), "before_send": (2, 3), "after_send": (2, 3), "after_mark": (2,)}
"""Hit 1 of each is the report with its prompt; 2 and 3 are the confirmation with its 收到 and its forward."""


async def confirm_until_killed(world: World, failpoint: str) -> int:
    """Report and confirm; the bot dies on the way. Return the report's number."""
    await world.start(failpoint=failpoint)
    number, prompt = await world.report("张三", "张三 胜 李四\n张三 平 李四")
    world.say("李四", "确认", quote=prompt.message_id)
    assert await world.bot.ended() == KILLED
    await world.client.disconnected()
    return number


async def assert_once(world: World, number: int, *, prompts: int = 1) -> None:
    """One 收到, one forward, each game once, nothing left to do."""
    receipt = await world.hear("收到", f"#{number}（")
    assert "张三 2014.5（+14.5）" in receipt.text and "李四 1985.5（-14.5）" in receipt.text
    forward = await world.hear(f"#{number} 单跳1v1", group=SCORING)
    assert {"张三    胜    李四", "张三    平    李四"} <= set(forward.text.split("\n"))
    await world.ask("张三", "/等级分", "2014.5")
    await world.stop()
    book = await world.check_book()
    assert list(book.columns.report) == [number, number]
    for group, start in ((OFFICIAL, "收到"), (SCORING, f"#{number} 单跳1v1")):
        told = [m for m in world.qq.said_by_bot(group) if start in m.text]
        assert len(told) == 1, world.qq.transcript(f"g{group}")
    assert len([m for m in world.qq.said_by_bot(OFFICIAL) if "待确认" in m.text]) == prompts


async def killed_and_started_again(world: World, failpoint: str) -> None:
    try:
        number = await confirm_until_killed(world, failpoint)
        await world.start()
        await assert_once(world, number)
    finally:
        await world.close()


@pytest.mark.parametrize("name", HITS)
async def test_killed_between_confirmation_and_end(tmp_path: Path, name: str) -> None:
    worlds: dict[str, World] = {}
    for hit in HITS[name]:
        folder = tmp_path / str(hit)
        folder.mkdir()
        world = worlds[f"{name}:{hit}"] = World(folder)
        await world.prepare("张三", "李四")
    async with asyncio.TaskGroup() as group:
        for failpoint, world in worlds.items():
            group.create_task(killed_and_started_again(world, failpoint))


async def test_killed_again_and_again(tmp_path: Path) -> None:
    """Each start dies one step later; what was done stays done."""
    world = World(tmp_path)
    await world.prepare("张三", "李四")
    try:
        number = await confirm_until_killed(world, "before_commit:2")
        # 收到 and forward are sent at the same time: whether another send is left after one is not certain
        for failpoint in ("before_commit", "after_commit", "after_send", "after_recover"):
            await world.bot.spawn(TIAOQI_FAILPOINT=failpoint)
            assert await world.bot.ended() == KILLED, world.bot.tail
            await world.client.disconnected()
        await world.start()
        await assert_once(world, number)
    finally:
        await world.close()


async def test_killed_while_the_report_is_taken(tmp_path: Path) -> None:
    world = World(tmp_path)
    await world.prepare("张三", "李四")
    try:
        await world.start(failpoint="before_commit")
        world.say("张三", "张三 胜 李四\n张三 平 李四")
        assert await world.bot.ended() == KILLED
        await world.client.disconnected()
        world.say("李四", "确认")
        await world.start()
        await assert_once(world, 1, prompts=0)  # nobody needs the prompt any more
    finally:
        await world.close()


@pytest.mark.parametrize("end", ["power cut", "SIGTERM", "connection lost"])
async def test_an_end_while_many_talk(tmp_path: Path, end: str) -> None:
    """At no chosen point, with reports and confirmations in every state."""
    pairs = [("张三", "李四"), ("王五", "赵六"), ("钱七", "孙八"), ("周九", "吴十")]
    async with running(tmp_path, *(name for pair in pairs for name in pair)) as world:
        for _ in range(3):
            for one, two in pairs:
                world.say(one, f"{one} 平 {two}")
                world.say(two, "确认")
        await world.hear("收到", "#3（")
        if end == "connection lost":
            await world.client.drop()
            await world.client.connected()
        else:
            await (world.bot.kill if end == "power cut" else world.bot.stop)()
            await world.client.disconnected()
            await world.start()
        await world.ask("张三", "/等级分", "张三")
        for number in range(1, 13):
            await world.hear(f"收到 #{number}（")
            await world.hear(f"#{number} 单跳1v1", group=SCORING)
        await world.stop()
        book = await world.check_book()
        assert list(book.columns.report) == list(range(1, 13))
        for group, sign in ((OFFICIAL, "收到 #{0}（"), (SCORING, "#{0} 单跳1v1")):
            told = "\n".join(m.text for m in world.qq.said_by_bot(group))
            assert [told.count(sign.format(number)) for number in range(1, 13)] == [1] * 12, told


async def test_a_prompt_whose_number_was_lost_is_answered_by_a_quote(tmp_path: Path) -> None:
    """QQ took the prompt, the bot died before it noted under which id; who quotes it is understood all the same."""
    world = World(tmp_path)
    await world.prepare("张三", "李四")
    try:
        await world.start(failpoint="after_send")
        said = world.say("张三", "张三 胜 李四\n张三 平 李四")
        prompt = await world.hear("待确认", after=said)
        assert await world.bot.ended() == KILLED
        await world.client.disconnected()
        world.say("李四", "对", quote=prompt.message_id)
        await world.start()
        await assert_once(world, 1)
    finally:
        await world.close()


async def test_a_prompt_that_qq_has_not_answered_yet_is_answered_by_a_quote(tmp_path: Path) -> None:
    async with running(tmp_path, "张三", "李四") as world:
        world.client.faults.mute_answers = 1
        said = world.say("张三", "张三 胜 李四\n张三 平 李四")
        prompt = await world.hear("待确认", after=said)
        world.say("李四", "对", quote=prompt.message_id)
        await world.bot.log_line("did=recorded")
        await world.client.drop()  # ends the waiting for QQ's answer
        await assert_once(world, 1)
