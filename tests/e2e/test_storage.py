"""A disk that takes nothing, a locked database, two bots on one file, the shell beside a running bot."""

import asyncio
import contextlib
import os
import resource
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from plugins.rating_bot.sandbox.values import FakeMessage
from plugins.rating_bot.wording.common import ERROR
from plugins.rating_bot.wording.integrity import FOR_WHAT_IT_IS_WORTH, NOT_RECORDED
from tests.e2e.world import OFFICIAL, SCORING, World, running, settings
from tests.support.engines import SQLITE, drop, only_sqlite, sql, unguard
from tests.support.process import BOT_PY, LISTENING, BotProcess, environment, free_port

pytestmark = pytest.mark.usefixtures("engine")

PLAYERS = ("张三", "李四", "王五", "赵六")
STANDBY = "等它结束后接手"


@contextlib.contextmanager
def full_disk(bot: BotProcess) -> Iterator[None]:
    """Let the kernel refuse whatever the bot writes to files (EFBIG), as a full disk would."""
    soft, hard = resource.prlimit(bot.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(bot.pid, resource.RLIMIT_FSIZE, (0, hard))
    try:
        yield
    finally:
        resource.prlimit(bot.pid, resource.RLIMIT_FSIZE, (soft, hard))


@contextlib.contextmanager
def locked(file: Path) -> Iterator[None]:
    """Hold the write lock of the file from another process' connection."""
    connection = sqlite3.connect(file, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        connection.rollback()
        connection.close()


@only_sqlite
@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="only Linux can limit a running process")
async def test_a_full_disk(tmp_path: Path) -> None:
    """Nothing is recorded, everybody is told; afterwards all goes on by itself."""
    async with running(tmp_path, *PLAYERS) as world:
        number, prompt = await world.report("张三", "张三 胜 李四")
        await world.settled()
        with full_disk(world.bot):
            await asyncio.gather(
                world.ask("王五", "王五 胜 赵六", ERROR),
                world.ask("李四", "确认", ERROR, quote=prompt.message_id),
                world.ask("王五", "/等级分", ERROR),
                world.ask("小周", f"/作废 {number} 没下过", ERROR, group=SCORING),
            )
            world.say("王五", "今天好冷")
        second, _ = await world.report("王五", "王五 胜 赵六")
        assert second == number + 1, "what was refused took no number"
        await assert_confirmed_once(world, number, prompt)
        assert len([m for m in world.qq.said_by_bot(OFFICIAL) if m.text == ERROR]) == 3


@only_sqlite
async def test_a_database_locked_for_longer_than_the_bot_waits(tmp_path: Path) -> None:
    async with running(tmp_path, *PLAYERS) as world:
        number, prompt = await world.report("张三", "张三 胜 李四")
        await world.settled()
        with locked(world.file):
            said = world.say("李四", "确认", quote=prompt.message_id)
            answer = await world.hear(ERROR, after=said, timeout=25)
            assert answer.quote == said.message_id
        await assert_confirmed_once(world, number, prompt)


async def assert_confirmed_once(world: World, number: int, prompt: FakeMessage) -> None:
    """After the trouble: the report is confirmed as if nothing had been, without a restart."""
    said = world.say("李四", "确认", quote=prompt.message_id)
    await world.hear("收到", f"#{number}（", "2016.0", after=said)
    await world.hear(f"#{number} 单跳1v1", group=SCORING)
    await world.ask("小周", "/体检", "体检：正常", group=SCORING)
    await world.stop(clean=False)
    assert list((await world.check_book()).columns.report) == [number]


@only_sqlite
async def test_a_database_locked_for_a_moment_is_waited_for(tmp_path: Path) -> None:
    async with running(tmp_path, *PLAYERS) as world:
        await world.ask("张三", "/等级分", "张三")
        await world.settled()
        with locked(world.file):
            said = world.say("张三", "张三 胜 李四")
            with pytest.raises(TimeoutError):
                await world.hear("#1", after=said, timeout=1)
        await world.hear("#1 待确认", after=said)
        assert await world.said_since(said) and world.qq.said_by_bot(OFFICIAL)[-1].text != ERROR
        await world.stop()
        await world.check_book()


async def test_a_second_bot_waits_and_takes_over(tmp_path: Path) -> None:
    async with running(tmp_path, *PLAYERS) as world:
        number, prompt = await world.report("张三", "张三 胜 李四")
        second = BotProcess(tmp_path, settings(free_port(), world.url))
        try:
            await second.spawn()
            await second.log_line(STANDBY)
            assert second.find(LISTENING) is None
            await world.ask("王五", "/等级分", "王五")
            await world.stop()
            await second.log_line(LISTENING)
            await second.stop()
        finally:
            await second.close()
        await world.start()
        said = world.say("李四", "确认", quote=prompt.message_id)
        await world.hear("收到", f"#{number}（", after=said)
        await world.stop()


async def test_the_second_takes_over_from_one_that_was_killed(tmp_path: Path) -> None:
    """Both listen where the same client finds them: it is connected to the one, then to the other."""
    async with running(tmp_path, *PLAYERS) as world:
        number, _ = await world.report("张三", "张三 胜 李四")
        first, second = world.bot, BotProcess(tmp_path, settings(world.port, world.url))
        await second.spawn()
        await second.log_line(STANDBY)
        world.bot = second
        try:
            await first.kill()
            await world.client.disconnected()
            said = world.say("李四", "确认")
            await second.log_line(LISTENING)
            await world.client.connected()
            await world.hear("收到", f"#{number}（", after=said)
            await world.stop()
            assert list((await world.check_book()).columns.report) == [number]
        finally:
            await first.close()


async def test_a_bot_that_waits_ends_when_told_to(tmp_path: Path) -> None:
    async with running(tmp_path, *PLAYERS) as world:
        second = BotProcess(tmp_path, settings(free_port(), world.url))
        try:
            await second.spawn()
            await second.log_line(STANDBY)
            os.kill(second.pid, 15)
            await second.ended()
            assert "Traceback" not in second.log
        finally:
            await second.close()
        await world.ask("张三", "/等级分", "张三")
        await world.stop()


async def shell(world: World, *words: str) -> tuple[int, str]:
    """Run the operator's shell in the bot's folder; return exit code and output."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "rating_core", *words, cwd=world.folder,
        env=environment({"PYTHONPATH": str(BOT_PY.parent), "TIAOQI__DATABASE_URL": world.url}),
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    async with asyncio.timeout(30):
        output, _ = await process.communicate()
    assert process.returncode is not None
    return process.returncode, output.decode()


async def test_the_shell_beside_a_running_bot(engine: str, tmp_path: Path) -> None:
    (tmp_path / "roster.csv").write_text("名字,QQ\n新人甲,30001\n新人乙,30002\n", "utf-8")
    async with running(tmp_path, *PLAYERS) as world:
        number, _ = await world.report("张三", "张三 胜 李四")
        said = world.say("李四", "确认")
        await world.hear("收到", f"#{number}（", after=said)
        code, output = await shell(world, "import", "roster.csv", "--yes")
        assert code != 0 and "机器人在运行，请用 /导入" in output and "Traceback" not in output, output
        code, output = await shell(world, "board")
        assert code == 0 and "张三" in output and "李四" in output, output
        code, output = await shell(world, "replay", "--verify")
        assert code == 0, output
        code, output = await shell(world, "backup")
        assert (code, "pg_dump" in output) == ((0, False) if engine == SQLITE else (1, True)), output
        await world.ask("张三", "/等级分 新人甲", "榜上没有")
        await world.stop()
        code, output = await shell(world, "import", "roster.csv", "--yes")
        assert code == 0, output
        await world.start()
        await world.ask("张三", "/等级分 新人甲", "新人甲")
        await world.stop()
        await world.check_book()


async def test_a_damaged_ledger(tmp_path: Path) -> None:
    """The bot starts, tells desk and superuser, answers questions and enters nothing; polite ends stay polite."""
    world = World(tmp_path)
    await world.prepare(*PLAYERS)
    unguard(world.url)
    sql(world.url, "UPDATE ledger SET payload = '{' WHERE seq = 3")
    try:
        await world.start()
        await world.hear("账3和写下时不一样", "restore", group=SCORING)
        await world.ask("张三", "张三 胜 李四", NOT_RECORDED)
        await world.ask("张三", "/等级分", "张三", FOR_WHAT_IT_IS_WORTH)
        await world.settled()
        await world.stop()
        code, output = await shell(world, "replay", "--verify")
        assert code == 1 and "账3" in output, output
        code, output = await shell(world, "board")
        assert code == 1 and "账3" in output and "Traceback" not in output, output
    finally:
        await world.close()


async def test_a_database_of_a_newer_version(tmp_path: Path) -> None:
    world = World(tmp_path)
    await world.prepare(*PLAYERS)
    sql(world.url, "UPDATE alembic_version SET version_num = '9999'")
    await assert_not_started(world, "数据库是更新的版本写的（9999）")


async def test_a_database_that_is_none(engine: str, tmp_path: Path) -> None:
    world = World(tmp_path)
    if engine == SQLITE:
        world.file.write_bytes(b"no database" * 1000)
    else:
        drop(tmp_path)
    await assert_not_started(world, "数据库打不开")


async def assert_not_started(world: World, told: str) -> None:
    await world.bot.spawn()
    try:
        assert await world.bot.ended() != 0
        assert f"没有启动：{told}" in world.bot.log
    finally:
        await world.close()
