"""What was said while the socket or the bot was down, and what was said before it ever came."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from rating_core.times import DAY_MS, HOUR_MS
from tests.e2e.world import OFFICIAL, SCORING, World, running

pytestmark = pytest.mark.usefixtures("engine")

PLAYERS = ("张三", "李四", "王五", "赵六", "钱七", "孙八", "周九", "吴十")
MINUTE_MS = 60_000
MEANWHILE = [
    (60, "张三", "张三 胜 李四"),  # 1
    (58, "王五", "今天下得真累"),
    (57, "李四", "确认"),
    (55, "王五", "王五 胜 赵六"),  # 2
    (50, "王五", "/撤回 2"),
    (49, "赵六", "确认 2"),
    (48, "张三", "/等级分"),
    (47, "小周", "/新棋手 郑重 30001"),
    (46, "李四", "李四　胜　张三\n李四 平 张三"),  # 3
    (45, "张三", "有误 3 次序反了"),
    (44, "张三", "确认 3"),
    (30, "裁判老赵", "钱七 胜 孙八\n孙八 胜 钱七"),  # 4
    (20, "周九", "周九 平 吴十"),  # 5
    (10, "赵六", "赵六 胜 王五"),  # 6
    (9, "王五", "王五 负 赵六"),
]
"""Minutes ago, who, what. The numbers are those the reports get when the bot hears of them, in this order."""


async def socket_down(world: World) -> Callable[[], Awaitable[None]]:
    await world.client.offline()
    return world.client.online


async def bot_stopped(world: World) -> Callable[[], Awaitable[None]]:
    await world.stop()
    return world.start


async def bot_killed(world: World) -> Callable[[], Awaitable[None]]:
    await world.bot.kill()
    await world.client.disconnected()
    return world.start


async def hour_of_downtime(world: World, down: Callable[[World], Awaitable[Callable[[], Awaitable[None]]]]) -> None:
    """Let MEANWHILE be said while nobody listens, then let the bot hear of it."""
    await world.start()
    await world.ask("张三", "/等级分", "张三")
    await world.settled()
    up = await down(world)
    for minutes, who, text in MEANWHILE:
        world.late_ms = minutes * MINUTE_MS
        world.say(who, text)
    world.late_ms = 0
    await up()


@pytest.mark.parametrize("down", [socket_down, bot_stopped, bot_killed])
async def test_an_hour_of_downtime(
    tmp_path: Path, down: Callable[[World], Awaitable[Callable[[], Awaitable[None]]]]
) -> None:
    world = World(tmp_path)
    await world.prepare(*PLAYERS)
    world.late_ms = 2 * HOUR_MS
    hello = world.say("群主", "开张"), world.say("群主", "开张", SCORING)
    try:
        await hour_of_downtime(world, down)
        await world.hear("收到 #6（")
        await world.hear("#6 单跳1v1", group=SCORING)
        official = await world.said_since(hello[0])
        card, *answers = official
        assert "张三 第" in card or "张三" in card
        assert 1 <= len(answers) <= 3, answers
        told = "\n".join(answers)
        for part in ("收到 #1（", "#2 已撤回", "收到 #3（", "收到 #4（", "#5 待确认", "收到 #6（", "#3 争议"):
            assert told.count(part) == 1, (part, answers)
        order = [
            told.index(part) for part in ("收到 #1（", "#2 已撤回", "收到 #3（", "收到 #4（", "#5 待", "收到 #6（")
        ]
        assert order == sorted(order), answers
        assert "显示分 " not in told, "an old question is not answered"

        forwards = await world.said_since(hello[1], SCORING)
        assert 1 <= len(forwards) <= 3, forwards
        lines = "\n".join(forwards).split("\n")
        for number in (1, 3, 4, 6):
            assert lines.count(f"#{number} 单跳1v1") == 1, forwards
        assert lines.count("张三    胜    李四") == 1 and lines.count("孙八    胜    钱七") == 1, forwards
        assert "#2 单跳1v1" not in lines and "#5 单跳1v1" not in lines

        await world.ask("小周", "/待办", "停机时发的命令", "新棋手 郑重")
        await world.ask("张三", "/等级分 郑重", "榜上没有")
        said = world.say("吴十", "确认 5")
        await world.hear("收到 #5（", after=said)

        said = world.say("群主", "再连一次")
        await world.client.drop()
        await world.client.connected()
        assert await world.said_since(said) == []
        await world.stop()
        book = await world.check_book()
        assert list(book.columns.report) == [1, 3, 3, 4, 4, 6, 5]
        ago = [round((said.time - at) / MINUTE_MS) for at in book.columns.at]
        assert ago == [60, 46, 46, 30, 30, 10, 20]
    finally:
        await world.close()


async def test_the_first_connection_handles_nothing_that_was_said_before(tmp_path: Path) -> None:
    world = World(tmp_path)
    await world.prepare(*PLAYERS)
    talk = (
        ("张三", "张三 胜 李四"), ("李四", "确认"), ("裁判老赵", "王五 胜 赵六"), ("小周", "/新棋手 郑重 30001"),
        ("张三", "/等级分"), ("张三", "今天好冷"),
    )  # fmt: skip
    days = 3 * 365
    for day in range(days):
        world.late_ms = (days - day) * DAY_MS
        who, text = talk[day % len(talk)]
        world.say(who, text)
        if who != "张三" and who != "李四":
            world.say(who, text, SCORING)
    world.late_ms = 0
    last = world.say("张三", "张三 胜 李四"), world.say("小周", "钱七 胜 孙八", SCORING)
    try:
        await world.start()
        assert await world.said_since(last[0]) == []
        assert await world.said_since(last[1], SCORING) == []
        number, prompt = await world.report("张三", "张三 胜 李四")
        said = world.say("李四", "确认", quote=prompt.message_id)
        await world.hear(f"收到 #{number}（", after=said)
        await world.client.drop()
        await world.client.connected()
        assert len(await world.said_since(said)) == 1
        await world.ask("小周", "/待办", "待办是空的")
        await world.stop()
        book = await world.check_book()
        assert list(book.columns.report) == [1]
    finally:
        await world.close()


async def test_a_client_without_history_leaves_a_note_at_the_desk(tmp_path: Path) -> None:
    async with running(tmp_path, *PLAYERS) as world:
        await world.ask("张三", "/等级分", "张三")
        await world.stop()
        lost = world.say("张三", "张三 胜 李四")
        world.client.faults.no_history = True
        await world.start()
        await world.ask("小周", "/待办", "可能漏收", str(OFFICIAL), "不给历史消息")
        assert len(await world.said_since(lost)) == 1
        number, _ = await world.report("张三", "张三 胜 李四")
        said = world.say("李四", "确认")
        await world.hear(f"收到 #{number}（", after=said)
        await world.stop()
        assert list((await world.check_book()).columns.report) == [1]
