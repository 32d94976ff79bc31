"""The desk's digest (commands.md, /待办): once a day to the scoring groups, if anything waits."""

import asyncio
from typing import Any

import pytest

from plugins.rating_bot import app, jobs, running
from plugins.rating_bot.wire.messages import AT_OPEN
from rating_core.times import HOUR_MS
from tests.support.rig import OFFICIAL, SCORING, Rig
from tests.support.rows import ms


async def morning(rig: Rig, at: str = "2026-12-01 09:00") -> list[str]:
    """Let it be nine o'clock; return what the bot says in the scoring group."""
    assert rig.parts is not None
    rig.clock.at = ms(at)
    before = len(rig.qq.said_by_bot(SCORING))
    await jobs.digest(rig.parts.runtime, rig.parts.sender)
    await rig.idle()
    return [message.text for message in rig.qq.said_by_bot(SCORING)[before:]]


async def test_nothing_is_said_while_nothing_waits(rig: Rig) -> None:
    await rig.league_of("张三", "李四")
    assert await morning(rig) == []


async def test_what_waits_is_told_to_the_scoring_group_alone(rig: Rig) -> None:
    await rig.league_of("张三", "李四")
    rig.person("路人")
    await rig.say("路人", "/报名 新来的")
    await rig.say("张三", "张三 胜 李四")
    official = len(rig.qq.said_by_bot(OFFICIAL))
    (said,) = await morning(rig)
    assert said.splitlines() == [
        "早上好，待办有2件：", "审1 报名「新来的」普通", "#1 张三 胜 李四：等对方确认", "/待办",
    ]  # fmt: skip
    assert AT_OPEN not in said and len(rig.qq.said_by_bot(OFFICIAL)) == official
    (docket,) = await rig.say("小周", said.splitlines()[-1], SCORING)
    assert docket.startswith("待办2件")


async def test_a_long_list_is_told_in_short(rig: Rig) -> None:
    await rig.league_of("张三", "李四")
    async with rig.league.transaction() as tx:
        for number in range(40):
            await tx.desk.add_docket("missed", "", f"群100001 第{number}段 " + "很长" * 40, tx.now)
    (said,) = await morning(rig)
    assert len(said) <= 500 and said.count("\n") < 15
    assert said.startswith("早上好，待办有40件：") and said.endswith("件\n/待办")


async def test_a_digest_that_could_not_be_sent_is_dropped_before_the_next(rig: Rig) -> None:
    await rig.league_of("张三", "李四")
    await rig.say("张三", "张三 胜 李四")
    rig.disconnect()
    assert await morning(rig) == []
    rig.clock.at += 13 * HOUR_MS
    await rig.connect()
    assert not any("早上好" in message.text for message in rig.qq.said_by_bot(SCORING))


class Scheduler:
    """Notes what is to run and when."""

    def __init__(self) -> None:
        self.jobs: list[tuple[Any, str, dict[str, Any]]] = []

    def add_job(self, work: Any, trigger: str, **options: Any) -> None:
        self.jobs.append((work, trigger, options))


async def test_the_bot_does_it_at_nine(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    scheduler = Scheduler()
    engine = app.Engine(rig.settings, rig.clock, frozenset(), fresh_chats=False)
    app._schedule(scheduler, engine)
    at_nine = [work for work, trigger, options in scheduler.jobs if trigger == "cron" and options["hour"] == 9]
    assert len(at_nine) == 1
    assert all(options["timezone"] == "Asia/Shanghai" for _, trigger, options in scheduler.jobs if trigger == "cron")
    await rig.league_of("张三", "李四")
    await rig.say("张三", "张三 胜 李四")
    monkeypatch.setattr(running, "parts", rig.parts)
    await asyncio.wait_for(at_nine[0](), 10)
    await rig.idle()
    assert rig.last(SCORING).text.startswith("早上好，待办有1件：")
