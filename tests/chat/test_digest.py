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
    monkeypatch.setattr(running, "parts", rig.parts)
    monkeypatch.setattr(app, "_every", lambda seconds, work: asyncio.sleep(0))  # nothing that goes on for ever
    app._schedule(scheduler, engine)
    at_nine = [work for work, trigger, options in scheduler.jobs if trigger == "cron" and options.get("hour") == 9]
    assert len(at_nine) == 1
    assert all(options["timezone"] == "Asia/Shanghai" for _, _, options in scheduler.jobs if "hour" in options)
    await rig.league_of("张三", "李四")
    await rig.say("张三", "张三 胜 李四")
    await asyncio.wait_for(at_nine[0](), 10)
    await rig.idle()
    assert rig.last(SCORING).text.startswith("早上好，待办有1件：")


# --- /待办 and 已阅 ----------------------------------------------------------------------------------------


async def missed(rig: Rig, *numbers: int, length: int = 40) -> None:
    async with rig.league.transaction() as tx:
        for number in numbers:
            await tx.desk.add_docket("missed", "", f"群100001 第{number}段 " + "长" * length, tx.now)


async def open_items(rig: Rig) -> list[int]:
    async with rig.league.transaction() as tx:
        return [int(item.detail.split("第")[1].split("段")[0]) for item in await tx.desk.open_docket()]


def numbers_in(said: str) -> list[int]:
    return [int(part.split("段")[0]) for part in said.split("第")[1:] if "段" in part]


async def test_seen_closes_what_the_page_showed_and_nothing_that_was_cut(rig: Rig) -> None:
    await rig.league_of("张三", "李四")
    await missed(rig, *range(1, 31))
    (first,) = await rig.say("小周", "/待办", SCORING)
    shown = numbers_in(first)
    assert shown == list(range(1, len(shown) + 1)) and 3 < len(shown) < 10 and "还有" not in first
    assert first.endswith("/待办 已阅") and "下一页：/待办 第2页" in first
    assert (await rig.say("小周", first.splitlines()[-1], SCORING))[0].startswith(f"已划掉{len(shown)}件提醒")
    assert await open_items(rig) == list(range(len(shown) + 1, 31))
    assert "已划掉0件" in (await rig.say("小周", "/待办 已阅", SCORING))[0]
    seen: list[int] = []
    page = 1
    while True:
        (said,) = await rig.say("小周", f"/待办 第{page}页", SCORING)
        seen += numbers_in(said)
        if "下一页" not in said:
            break
        page += 1
        rig.clock.pass_hours(1)
    assert seen == await open_items(rig)
    await rig.say("小周", said.splitlines()[-1], SCORING)
    assert await open_items(rig) == seen[: -len(numbers_in(said))]


async def test_seen_closes_nothing_that_moved_up_or_came_since(rig: Rig) -> None:
    """Reports that stood before the reminders are done meanwhile; others come in."""
    await rig.league_of("张三", "李四")
    for result in "胜平负":
        await rig.say("张三", f"张三 {result} 李四")
    await missed(rig, *range(1, 21), length=5)
    (first,) = await rig.say("小周", "/待办", SCORING)
    shown = numbers_in(first)
    await rig.say("李四", "确认 1 2 3")
    await missed(rig, 99, length=5)
    await rig.say("小吴", "/待办 已阅", SCORING)
    assert await open_items(rig) == [*range(len(shown) + 1, 21), 99]


async def test_seen_without_a_list_shows_it(rig: Rig) -> None:
    await rig.league_of("张三", "李四")
    await missed(rig, 1)
    (said,) = await rig.say("小周", "/待办 已阅", SCORING)
    assert said.startswith("待办1件") and await open_items(rig) == [1]
    await rig.say("小周", "/待办 已阅", SCORING)
    assert await open_items(rig) == []


# --- /日志 ------------------------------------------------------------------------------------------------


async def read_journal(rig: Rig, typed: str) -> list[str]:
    """Return the rows of /日志 on all its pages."""
    rows: list[str] = []
    while typed:
        rig.clock.pass_hours(1)
        (said,) = await rig.say("小周", typed, SCORING)
        assert len(said) <= 500 and said.count("\n") < 15
        *page, last = said.splitlines()
        more = last.startswith("下一页：/日志 ")
        rows += page if more else [*page, last]
        typed = last.removeprefix("下一页：") if more else ""
    return rows


async def test_the_journal_has_pages(rig: Rig) -> None:
    await rig.league_of("张三", "李四")
    async with rig.league.transaction() as tx:
        actor = tx.directory.actor("10002")
        for number in range(60):
            await tx.journal(
                actor, rig.clock.at, "备份", detail=f"第{number}次", reason="很长的理由" * (number % 4) * 9
            )
    rows = await read_journal(rig, "/日志")
    assert [int(row.split("（第")[1].split("次")[0]) for row in rows if "备份" in row] == list(range(59, -1, -1))
    assert sum("新棋手" in row for row in rows) == 2
    assert await read_journal(rig, "/日志 12") == rows[:12]
    assert len(await read_journal(rig, "/日志 张三")) == 1
    assert (await rig.say("小周", "/日志 第99页", SCORING)) == ["日志没有第99页。\n/日志"]
