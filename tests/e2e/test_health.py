"""GET /health of a real bot: what it tells, when it is 503, and what else happens when QQ goes and comes back."""

import asyncio
import json
import sqlite3
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from plugins.rating_bot.sandbox.onebot import heartbeat_event
from tests.e2e.world import BOT, OFFICIAL, OWNER, SCORING, TOKEN, World
from tests.support.browser import sandbox
from tests.support.engines import SQLITE

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(90)]
PLAYERS = ("张三", "李四")
_DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


@pytest.fixture(scope="module")
def engine() -> str:
    """What the page tells is the same on both; here a file is spoilt."""
    return SQLITE


async def ask(port: int) -> tuple[int, dict[str, Any]]:
    """Return status and content of /health."""

    def get() -> tuple[int, Any]:
        try:
            with _DIRECT.open(f"http://127.0.0.1:{port}/health", timeout=10) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    return await asyncio.to_thread(get)


async def until(port: int, problems: list[str], seconds: float = 20) -> dict[str, Any]:
    """Wait until these are the problems; nothing but asking tells."""
    async with asyncio.timeout(seconds):
        while True:
            status, found = await ask(port)
            if found["problems"] == problems:
                assert status == (503 if problems else 200)
                assert found["status"] == ("fail" if problems else "ok")
                return found
            await asyncio.sleep(0.05)


def offline_notice(message: str) -> dict[str, Any]:
    """NapCat's notice that the account was logged out."""
    return {
        "time": int(time.time()), "self_id": BOT, "post_type": "notice", "notice_type": "bot_offline", "user_id": BOT,
        "tag": "账号下线", "message": message,
    }  # fmt: skip


async def told_the_owner(world: World, before: int) -> list[str]:
    """Return what the bot told the superuser in private since; it must tell something."""
    async with asyncio.timeout(20):
        while len(world.qq.private_history(OWNER)) == before:
            await asyncio.sleep(0.05)
    await world.settled()
    return [message.text for message in world.qq.private_history(OWNER)[before:]]


async def test_what_it_tells_when_all_is_well(world: World) -> None:
    await world.ask("张三", "张三    胜    李四", "待确认")
    world.client.push(heartbeat_event(world.qq, 30))
    found = await until(world.port, [])
    async with asyncio.timeout(5):
        while (found := (await ask(world.port))[1])["onebot"]["heartbeat_seconds"] is None:
            await asyncio.sleep(0.02)
    assert set(found) == {
        "status", "problems", "version", "ledger_seq", "database", "integrity", "onebot", "outbox", "last_backup"
    }  # fmt: skip
    assert found["database"] == {"writable": True} and found["integrity"] == "ok"
    assert found["onebot"]["connected"] and found["onebot"]["online"] and found["onebot"]["since"].endswith("+08:00")
    assert found["onebot"]["heartbeat_seconds"] < 5
    async with world.league() as league:
        assert found["ledger_seq"] == league.book.seq > 0
    text = json.dumps(found)
    numbers = [*world.people.values(), BOT, OFFICIAL, SCORING]
    assert not [number for number in numbers if str(number) in text]
    assert TOKEN not in text and "张三" not in text


async def test_it_answers_soon_and_writes_nothing(world: World) -> None:
    await world.settled()
    before = world.file.with_name("ratings.db-wal").stat()

    def take() -> float:
        begin = time.perf_counter()
        with _DIRECT.open(f"http://127.0.0.1:{world.port}/health", timeout=10) as answer:
            answer.read()
        return time.perf_counter() - begin

    times = sorted([await asyncio.to_thread(take) for _ in range(50)])
    assert times[len(times) // 2] < 0.05  # measured: 1.6 ms on one connection
    after = world.file.with_name("ratings.db-wal").stat()
    assert (after.st_size, after.st_mtime_ns) == (before.st_size, before.st_mtime_ns)


async def test_a_client_that_is_gone(world: World) -> None:
    await world.client.offline()
    found = await until(world.port, ["onebot_not_connected"])
    assert found["onebot"] == {"connected": False, "online": False, "since": None, "heartbeat_seconds": None}
    await world.client.online()
    await until(world.port, [])


@pytest.mark.parametrize("way", ["notice", "heartbeat"])
async def test_qq_is_logged_out_while_its_client_stays(world: World, way: str) -> None:
    """Nothing is sent meanwhile; at the return what was said is made up for, and the superusers are told once."""
    status: Mapping[str, Any] = {"status": {"online": False, "good": False}}
    before = len(world.qq.private_history(OWNER))
    if way == "notice":
        world.client.push(offline_notice("您的帐号在别处登录"))
    else:
        world.client.push(heartbeat_event(world.qq, 30) | status)
    await until(world.port, ["qq_offline"])
    world.client.push(heartbeat_event(world.qq, 30) | status)  # and again
    with world.client.silent():  # QQ pushes nothing to who is logged out
        said = world.say("李四", "李四    胜    张三" if way == "notice" else "李四    平    张三")
    world.client.push(heartbeat_event(world.qq, 30))
    answer = await world.hear("待确认", after=said)
    assert "李四" in answer.text
    await until(world.port, [])
    (told,) = await told_the_owner(world, before)
    assert "掉线过" in told and ("您的帐号在别处登录" in told) == (way == "notice")
    assert world.bot.find("QQ is offline") and world.bot.find("QQ is back")


async def test_a_client_that_says_nothing_any_more_is_disconnected(world: World) -> None:
    """Three heartbeats of one second are missed; the client, which knows nothing of it, connects anew."""
    world.client.push(heartbeat_event(world.qq, 0.5))
    await world.client.disconnected(timeout=15)
    await world.client.connected()
    assert world.bot.find("missed 3 heartbeats")
    await until(world.port, [])


async def test_a_database_that_takes_nothing(world: World) -> None:
    """While another process locks it, reports fail and /health says so; it finds out by itself that this is over."""
    with closing(sqlite3.connect(world.file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        said = world.say("张三", "张三    负    李四")
        await world.hear("未记录", after=said)
        found = await until(world.port, ["database_not_writable"])
        assert found["database"] == {"writable": False}
        other.execute("ROLLBACK")
    await until(world.port, [])
    again = world.say("张三", "张三    负    李四")  # 李四 reported the same
    await world.hear("收到", after=again)


async def test_the_log_of_all_this_names_nobody(world: World) -> None:
    await world.stop(clean=False)  # the failed write left its traceback
    lines = [line for line in world.bot.lines if " decision " in line]
    assert any("chat=official who=用户" in line and "what=report did=noted about=#1 ms=" in line for line in lines)
    assert any("did=failed" in line for line in lines)
    log = "\n".join(world.bot.lines)
    assert not [name for name, number in world.people.items() if str(number) in log]
    assert not [name for name in PLAYERS if name in log]


async def test_the_sandbox_has_it_too(tmp_path: Path) -> None:
    async with sandbox(tmp_path) as (_, port):
        found = await until(port, [])
        assert found["onebot"]["connected"] and found["integrity"] in ("ok", "checking")
