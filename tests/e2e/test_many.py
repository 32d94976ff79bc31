"""Many at once: eight pairs in as many groups report and confirm, 400 reports take effect, nothing is lost."""

import asyncio
import json
from pathlib import Path

import pytest

from plugins.rating_bot.sandbox.values import FakeMessage
from rating_core.elo import show_rating
from tests.e2e.world import BOT, OFFICIAL, POOL, SCORING, World

pytestmark = pytest.mark.usefixtures("engine")

PAIRS = [
    ("张三", "李四"), ("王五", "赵六"), ("钱七", "孙八"), ("周九", "吴十"), ("郑重", "冯唐"), ("陈平", "褚英"),
    ("卫青", "蒋干"), ("沈括", "韩信"),
]  # fmt: skip
REPORTS = 50
AHEAD = 5
"""Reports a pair says in one go before it waits for their answers."""
WORDS = ("胜", "负", "平")
"""In turns, so that no pair is ever locked (L6)."""


def is_receipt(message: FakeMessage) -> bool:
    return message.user_id == BOT and message.text.startswith("收到 #")


async def play(world: World, group: int, left: str, right: str) -> None:
    """Report and confirm in turns, and wait for each 收到."""
    for begin in range(0, REPORTS, AHEAD):
        said = []
        for number in range(begin, begin + AHEAD):
            reporter, other = (left, right) if number % 2 else (right, left)
            said.append(world.say(reporter, f"{left} {WORDS[number % 3]} {right}", group))
            world.say(other, "确认", group)
        for report in said:
            await world.qq.wait_for(
                group, lambda m, report=report: m.quote == report.message_id and is_receipt(m), 60, after=report
            )


@pytest.mark.timeout(240)
async def test_400_reports_by_eight_tasks(tmp_path: Path) -> None:
    """Each pair has its own group: within a group all is in order anyway, the groups run beside each other."""
    world = World(tmp_path)
    await world.prepare(*(name for pair in PAIRS for name in pair))
    groups = {OFFICIAL + 10 + index: pair for index, pair in enumerate(PAIRS)}
    for group, pair in groups.items():
        world.qq.add_group(group, f"{pair[0]}的群")
        for name in pair:
            world.qq.add_member(group, world.people[name], card=name)
    world.bot.settings["TIAOQI__OFFICIAL_GROUPS"] = json.dumps({str(group): POOL for group in groups})
    total = len(PAIRS) * REPORTS
    try:
        await world.start()
        async with asyncio.TaskGroup() as tasks:
            for group, pair in groups.items():
                tasks.create_task(play(world, group, *pair))
        await world.qq.wait_for(SCORING, lambda m: len(world.qq.said_by_bot(SCORING)) == total, 30)
        await world.stop()

        receipts = [m for group in groups for m in world.qq.said_by_bot(group) if is_receipt(m)]
        assert len(receipts) == len({m.quote for m in receipts}) == total
        forwards = [m.text.split()[0] for m in world.qq.said_by_bot(SCORING)]
        assert sorted(forwards) == sorted(f"#{number}" for number in range(1, total + 1))

        book = await world.check_book()
        assert sorted(book.columns.report) == list(range(1, total + 1))
        assert list(book.columns.number) == list(range(1, total + 1))
        async with world.league() as league:
            names = league.directory.roster.current_names()
        standings = {names[player]: standing for player, standing in book.state.pools[POOL].standings.items()}
        assert {name: s.games for name, s in standings.items()} == {name: REPORTS for pair in PAIRS for name in pair}
        told = [line.split() for receipt in receipts for line in receipt.text.split("\n")[1:]]
        assert {name: rating.split("（")[0] for name, rating, *_ in told} == {
            name: show_rating(s.rating) for name, s in standings.items()
        }, "the last 收到 of each player tells what the book holds"
    finally:
        await world.close()
