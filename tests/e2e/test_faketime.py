"""The real process while the calendar turns: only its wall clock is another one (libfaketime), all else is as it is."""

import re
from datetime import datetime
from pathlib import Path

import pytest

from plugins.rating_bot.sandbox.qq import wall_clock
from rating_core.ledger import Row
from rating_core.store.ledger_store import LedgerStore
from rating_core.times import DAY_MS, HOUR_MS, SHANGHAI, show_time, to_ms
from tests.e2e.world import OFFICIAL, POOL, SCORING, World

LIBRARY = next(iter(sorted(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"))), None)
PLAYERS = ("张三", "李四", "王五", "赵六", "钱七", "孙八")
YEAR = datetime.now(SHANGHAI).year + 1
"""All of it is in the future, so that nothing said before is later."""

pytestmark = [
    pytest.mark.skipif(LIBRARY is None, reason="libfaketime is not installed (Debian: apt-get install libfaketime)"),
    pytest.mark.timeout(120),
]


class FakedWorld(World):
    """A world in which it is another time, for the bot's process and for its QQ alike. Time only goes forward."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._clock = folder / "clock"
        self.bot.settings |= {
            "LD_PRELOAD": str(LIBRARY),
            "FAKETIME_TIMESTAMP_FILE": str(self._clock),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",  # timeouts and the event loop go by the real time
            "NO_FAKE_STAT": "1",
        }

    def set_time(self, text: str) -> None:
        """Let it be this moment in Shanghai now, such as 12-31 23:59:30 or +1 01-01 00:00; it goes on from there."""
        years, _, moment = text.rpartition("+1 ")
        year = YEAR + 1 if "+1 " in text else YEAR
        assert not years
        at = to_ms(datetime.fromisoformat(f"{year}-{moment}").replace(tzinfo=SHANGHAI))
        self.late_ms = wall_clock() - at
        fresh = self._clock.with_suffix(".new")
        fresh.write_text(f"{-self.late_ms / 1000:+.3f}\n")
        fresh.replace(self._clock)

    async def ledger(self, *kinds: str) -> list[Row]:
        async with self.league() as league, league.database.read() as connection:
            return [row async for row in LedgerStore(connection).rows_after(0) if row.kind in kinds]

    async def effective(self, text: str, who: str, other: str) -> None:
        """Report and confirm."""
        number, prompt = await self.report(who, text)
        said = self.say(other, f"确认 {number}", quote=prompt.message_id)
        await self.hear(f"收到 #{number}（", after=said)


async def test_across_the_turn_of_the_year(tmp_path: Path) -> None:
    """Leave, its end on 12-29, the bar from 01-01 before anybody settled, settlement, and the return on 02-01."""
    world = FakedWorld(tmp_path)
    world.set_time("12-20 20:00")
    await world.prepare(*PLAYERS)
    try:
        await world.start()
        await world.ask("裁判老赵", "张三 平 李四\n" * 10, "收到", group=SCORING)
        await world.ask("裁判老赵", "王五 平 赵六\n" * 3, "收到", group=SCORING)
        await world.ask("裁判老赵", "钱七 平 孙八\n" * 3, "收到", group=SCORING)
        await world.ask("钱七", "/请假 出差", f"{YEAR + 1}-01-01", "确认")
        await world.ask("钱七", "确认", "请假")
        await world.ask("钱七", "钱七 胜 张三", "未记录", "L8", f"{YEAR + 1}-01-01")

        world.set_time("12-29 00:00:05")
        await world.ask("孙八", "/请假", "12-29", "L8")

        world.set_time("12-31 23:59:30")
        await world.ask("小周", f"/结算 预览 {YEAR}", f"{YEAR}赛季", "还没有结束", group=SCORING)
        number, _ = await world.report("王五", "王五 胜 赵六")

        world.set_time("+1 01-01 00:00:05")
        barred = (f"{YEAR}赛季不满10局", "按封存算", f"{YEAR + 1}-02-01", "L7")
        await world.ask("王五", "王五 胜 张三", "未记录", *barred)
        await world.ask("张三", "张三 胜 孙八", "未记录", *barred)
        await world.effective("钱七 胜 李四", "钱七", "李四")
        await world.ask("小周", f"/结算 执行 {YEAR}", f"#{number}", group=SCORING)
        said = world.say("赵六", f"确认 {number}")
        await world.hear(f"收到 #{number}（", after=said)
        shown = await world.ask("小周", f"/结算 执行 {YEAR}", "王五", "赵六", "孙八", group=SCORING)
        await world.ask("小周", shown.text.split("\n")[-1], "结算", group=SCORING)
        await world.ask("小周", f"/结算 执行 {YEAR}", "结算过", group=SCORING)

        world.set_time("+1 01-31 23:59:30")
        await world.ask("王五", "王五 胜 张三", "未记录", f"{YEAR + 1}-02-01", "L7")
        world.set_time("+1 02-01 00:00:05")
        await world.effective("王五 胜 张三", "王五", "张三")
        await world.ask("王五", "/等级分", "第")
        await world.stop()
        await _check_the_year(world)
    finally:
        await world.close()


async def _check_the_year(world: FakedWorld) -> None:
    book = await world.check_book()
    (settled,) = await world.ledger("settlement")
    assert show_time(settled.said_at) == show_time(settled.at) == f"{YEAR + 1}-01-01 00:00"
    async with world.league() as league:
        ids = {name: league.directory.roster.resolve(name) for name in PLAYERS}
    standings = {name: book.state.look(POOL, ids[name] or 0) for name in PLAYERS}
    taken = {mark.player for mark in book.marks if mark.kind == "settlement"}
    assert taken == {ids["王五"], ids["赵六"], ids["孙八"]}
    assert {name for name, standing in standings.items() if standing.archived} == {"赵六", "孙八"}
    assert show_time(standings["王五"].back_at) == f"{YEAR + 1}-02-01 00:00"
    assert standings["王五"].season_games == {YEAR: 4, YEAR + 1: 1}
    assert standings["钱七"].season_games == {YEAR: 3, YEAR + 1: 1}


@pytest.mark.parametrize("played", [True, False], ids=["played in time", "not played"])
async def test_a_deadline_missed_while_down(tmp_path: Path, played: bool) -> None:
    """L9: what was said before the deadline while the bot was away counts; else −50, entered at the deadline itself."""
    world = FakedWorld(tmp_path)
    world.set_time("06-01 12:00")
    await world.prepare(*PLAYERS)
    try:
        await world.start()
        issued = await world.ask("张三", "/强制约战 李四", "约1", "06-08 12:0")
        deadline = issued_at(await world.ledger("challenge_issued")) + 7 * 24 * HOUR_MS
        await world.settled()
        world.set_time("06-05 12:00")
        await world.stop()
        world.set_time("06-08 11:30")
        if played:
            world.say("李四", "李四 负 张三")
        world.set_time("06-08 13:00")
        agreed = world.say("张三", "确认" if played else "怎么没人理我")
        world.set_time("06-09 20:00")
        await world.start()
        if played:
            await world.hear("收到 #1（", "约1已应战", after=issued)
        else:
            await world.hear("约1 到期", "李四没有应战", "1950.0", after=issued)
            await world.hear("约1 到期", "/免罚 约1", group=SCORING)
        await world.ask("李四", "/等级分", "1984.0" if played else "1950.0")
        await world.settled()
        await world.stop()
        await world.check_book()
        ended = await world.ledger("challenge_fulfilled", "challenge_forfeited", "challenge_cancelled")
        (row,) = ended
        assert row.kind == ("challenge_fulfilled" if played else "challenge_forfeited")
        assert row.said_at == (agreed.time // 1000 * 1000 if played else deadline)
        assert row.at - deadline > DAY_MS
        said = [m.text for m in (*world.qq.said_by_bot(OFFICIAL), *world.qq.said_by_bot(SCORING))]
        assert sum("约1 到期" in text for text in said) == (0 if played else 2)
    finally:
        await world.close()


def issued_at(rows: list[Row]) -> int:
    (row,) = rows
    assert re.match(f"{YEAR}-06-01 12:0", show_time(row.said_at))
    return row.said_at
