"""Two bots on one file, and two with books of their own connected to one QQ."""

import asyncio
import random
import shutil
from pathlib import Path

from plugins.rating_bot.sandbox.client import FakeClient
from tests.e2e.world import TOKEN, settings
from tests.reliability.outage_world import (
    LIVE,
    OFFICIAL,
    SCORING,
    OutageWorld,
    Talk,
    living,
    quiet,
    recorded,
    spoken,
    until,
    well,
)
from tests.support.process import LISTENING, BotProcess, free_port

STANDBY = "等它结束后接手"
TOLD = "另有一个机器人连着同一个QQ"


async def twins(folder: Path, rng: random.Random, long: bool) -> str:
    """A second bot on the same file waits and writes nothing; one with another file is noticed by both."""
    world = OutageWorld(folder)
    talk = Talk(rng)
    async with living(world):
        await _same_file(world, talk)
        await well(world)
        await world.start()
        seconds = [await _same_qq(world, talk) for _ in range(5 if long else 1)]
        await world.stop(clean=False)
        await world.check_book()
    return f"a second bot on the file waited; one with another file on the same QQ was told of in {max(seconds):.0f} s"


async def _same_file(world: OutageWorld, talk: Talk) -> None:
    """While one bot works another is started on its file, with another port."""
    second = BotProcess(world.folder, world.bot.settings | {"PORT": str(free_port())})
    try:
        await second.spawn()
        await second.log_line(STANDBY, 30)
        script = talk.script(6, 4, kinds=LIVE)
        spoken(world, script)
        await recorded(world, script)
        await quiet(world)
        assert second.find(LISTENING) is None, "both work on one file"
    finally:
        await second.close()


async def _same_qq(world: OutageWorld, talk: Talk) -> float:
    """The client has two addresses: every report is answered twice, until somebody stops one of them.

    Return how many seconds after its first words the desk knows of the other.
    """
    home = world.folder / f"other{len(list(world.folder.glob('other*')))}"
    home.mkdir()
    await world.stop(clean=False)
    shutil.copy(world.file, home / "ratings.db")
    await world.start()
    port = free_port()
    other = BotProcess(home, settings(port, f"sqlite+aiosqlite:///{home}/ratings.db") | {
        "TIAOQI__OFFICIAL_GROUPS": world.bot.settings["TIAOQI__OFFICIAL_GROUPS"],
    })  # fmt: skip
    client = FakeClient(world.qq, f"ws://127.0.0.1:{port}/onebot/v11/ws", token=TOKEN)
    told = sum(TOLD in text for text in world.told(SCORING))
    try:
        await other.start()
        await client.start()
        number, _ = await world.report("张三", "\n".join(f"张三 {w} 李四" for w in talk.games(("张三", "李四"))))
        begin = asyncio.get_running_loop().time()
        world.say("李四", f"确认 {number}")
        await until(lambda: world.count(OFFICIAL, f"收到 #{number}（") == 2, "both answer")
        await until(lambda: world.bot.find("another") and other.find("another"), "both notice", 60)
        seconds = asyncio.get_running_loop().time() - begin
        await until(lambda: sum(TOLD in text for text in world.told(SCORING)) == told + 2, "both tell the desk, once")
    finally:
        await client.stop()
        await other.close()
    await quiet(world)
    assert world.docket("another") == [""]
    world.clear_docket()
    return seconds
