"""The same way with each QQ client that is in use, and over a line that loses answers."""

from pathlib import Path

import pytest

from plugins.rating_bot.sandbox.client import Style
from tests.e2e.world import OFFICIAL, SCORING, World, running

PLAYERS = ("张三", "李四", "王五", "赵六")
STYLES: tuple[Style, ...] = ("napcat", "llonebot", "lagrange", "gocqhttp")
THUMB = 76


async def assert_told_once(world: World, *games: int) -> None:
    """Stop. The book's games are of these reports, in any order; each report has one 收到 and one forward."""
    await world.stop()
    book = await world.check_book()
    assert sorted(book.columns.report) == sorted(games)
    for group, sign in ((OFFICIAL, "收到 #{0}（"), (SCORING, "#{0} 单跳1v1")):
        told = "\n".join(m.text for m in world.qq.said_by_bot(group))
        assert {number: told.count(sign.format(number)) for number in games} == dict.fromkeys(games, 1), told


@pytest.mark.parametrize("style", STYLES)
async def test_every_client(tmp_path: Path, style: Style) -> None:
    world = World(tmp_path, style)
    await world.prepare(*PLAYERS)
    try:
        await world.start()
        # two of these clients give no running numbers: what is said in the second of the first connection is old then
        world.late_ms = -1500
        first, prompt = await world.report("张三", "张三 胜 李四")
        said = world.say("李四", "确认", quote=prompt.message_id, at=[world.qq.self_id])
        await world.hear("收到", f"#{first}（", after=said)

        second, prompt = await world.report("王五", "王五 平 赵六")
        if style == "gocqhttp":  # tells of no reactions
            world.say("赵六", "确认")
        else:
            world.qq.react(OFFICIAL, prompt.message_id, world.people["赵六"], THUMB)
        await world.hear("收到", f"#{second}（", after=prompt)

        third, prompt = await world.report("张三", "张三 平 李四")
        report = world.qq.find(prompt.quote or 0)
        assert report is not None
        world.qq.recall(OFFICIAL, report.message_id, by=report.user_id)
        await world.hear(f"#{third} 已撤回", after=prompt)
        fourth, prompt = await world.report("李四", "李四 胜 张三")
        await world.settled()

        await world.client.offline()
        world.say("张三", "确认", quote=prompt.message_id)
        world.say("赵六", "赵六 胜 王五")
        world.say("王五", "王五 负 赵六")
        await world.client.online()
        await world.hear("收到", f"#{fourth}（")
        fifth = fourth + 1
        await world.hear("收到", f"#{fifth}（")

        sixth, prompt = await world.report("王五", "王五 负 赵六\n王五 胜 赵六")
        await world.restart()
        said = world.say("赵六", "确认", quote=prompt.message_id)
        await world.hear("收到", f"#{sixth}（", after=said)
        await world.hear(f"#{sixth} 单跳1v1", group=SCORING)
        assert len(await world.said_since(said)) == 1
        assert await world.said_since(said, SCORING) == []
        await assert_told_once(world, first, second, fourth, fifth, sixth, sixth)
    finally:
        await world.close()


@pytest.mark.parametrize("fault", ["fail_delivered", "lose_sends", "drop_after_send", "refuse_at", "refuse_reply"])
async def test_sends_that_go_wrong(tmp_path: Path, fault: str) -> None:
    """Delivered though refused, lost though taken, the line gone before the answer, a mention or quote refused."""
    async with running(tmp_path, *PLAYERS) as world:
        first, prompt = await world.report("张三", "张三 胜 李四")
        await world.settled()
        flag = isinstance(getattr(world.client.faults, fault), bool)
        setattr(world.client.faults, fault, True if flag else 2)
        world.say("李四", "确认", quote=prompt.message_id)
        await world.hear(f"收到 #{first}（")
        await world.hear(f"#{first} 单跳1v1", group=SCORING)
        await world.client.connected()
        said = world.say("王五", "王五 胜 赵六")
        prompt = await world.hear("待确认", "王五", after=said)
        if fault == "refuse_at":
            assert prompt.mentions == () and "赵六" in prompt.text
        if fault == "refuse_reply":
            assert prompt.quote is None
        world.say("赵六", "确认", quote=prompt.message_id)
        await world.hear(f"收到 #{first + 1}（")
        await world.hear(f"#{first + 1} 单跳1v1", group=SCORING)
        await world.settled()
        await assert_told_once(world, first, first + 1)
