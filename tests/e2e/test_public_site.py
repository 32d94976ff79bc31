"""The public pages of the real bot: off unless asked for, on the same port as the door and not in its way."""

import asyncio
from pathlib import Path

import pytest

from tests.e2e.test_door import request
from tests.e2e.world import TOKEN, World, settings
from tests.support.process import BotProcess, free_port

LINES = "张三    胜    李四"


async def test_what_is_reported_can_be_read_at_once(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.bot.settings["TIAOQI__PUBLIC_SITE"] = "true"
    await world.prepare("张三", "李四")
    try:
        await world.start()
        first, before = await asyncio.to_thread(request, world.port, "/board/")
        assert first == 200 and "还没有人上榜" in before.decode()
        message = world.say("张三", LINES)
        await world.hear("待确认", after=message)
        _, waiting = await asyncio.to_thread(request, world.port, "/board/")
        assert waiting == before
        await world.hear("收到 #1", after=world.say("李四", "确认 1"))
        _, page = await asyncio.to_thread(request, world.port, "/board/")
        assert "张三" in page.decode() and "1826" in page.decode()
        status, data = await asyncio.to_thread(request, world.port, "/board/api/games/1")
        assert status == 200 and "张三" in data.decode()
        for path in ("/", "/docs", "/onebot/v11/", "/onebot/v11/ws", "/board/../onebot/v11/ws", "/sandbox"):
            assert (await asyncio.to_thread(request, world.port, path))[0] == 404, path
        status, _ = await asyncio.to_thread(request, world.port, "/board/", {"message": "x"})
        assert status == 405
        await world.stop()
        log = world.bot.log
        assert "connected" in log and "/board/api/games/1" not in log, "who reads pages is not logged"
        assert TOKEN not in log
    finally:
        await world.close()


@pytest.mark.parametrize("value", ["maybe", "[]"])
async def test_a_setting_that_is_neither_yes_nor_no_is_refused(tmp_path: Path, value: str) -> None:
    bot = BotProcess(tmp_path, settings(free_port()) | {"TIAOQI__PUBLIC_SITE": value})
    await bot.spawn()
    try:
        assert await bot.ended() == 2
        assert "TIAOQI__PUBLIC_SITE" in bot.log
    finally:
        await bot.close()


async def test_the_sandbox_always_has_them(tmp_path: Path) -> None:
    bot = BotProcess(tmp_path, {"PORT": str(port := free_port())})
    try:
        await bot.start()
        status, page = await asyncio.to_thread(request, port, "/board/")
        assert status == 200 and "张三" in page.decode()
        assert (await asyncio.to_thread(request, port, "/"))[0] == 200
        await bot.stop()
    finally:
        await bot.close()
