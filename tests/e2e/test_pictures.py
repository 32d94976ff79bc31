"""A picture through a real process and a real socket, from a cold start."""

from pathlib import Path

from tests.e2e.world import World
from tests.support.images import png_of, size_of


async def test_a_board_reaches_qq_as_a_picture(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.bot.settings["TIAOQI__PICTURES"] = "true"
    await world.prepare("张三", "李四")
    try:
        await world.start()
        said = world.say("裁判老赵", "张三    胜    李四")
        await world.hear("收到", after=said)
        answer = await world.ask("张三", "/排行榜", "等级分排行榜", "共2人")
        png = png_of(answer)
        assert png is not None and size_of(png)[0] == 1080
        again = await world.ask("李四", "/等级分 张三", "张三 第1名")
        assert png_of(again) is not None
        await world.stop()
        (row,) = [row for row in await world.outbox("sent") if row.text.startswith("单跳1v1等级分排行榜")]
        assert row.attempts == 1
    finally:
        await world.close()
