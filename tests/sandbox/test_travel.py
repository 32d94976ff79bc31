"""Time travel: what is due on the way happens at its own time, in its order, and can be read in the chat."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from plugins.rating_bot.clock import ShiftedClock
from plugins.rating_bot.sandbox.director import Refused
from plugins.rating_bot.sandbox.scene import OFFICIAL, SCORING
from plugins.rating_bot.sandbox.travel import latest, target
from rating_core.rulebook import DEFAULT_POOL
from rating_core.service.due import is_quiet
from rating_core.times import DAY_MS, HOUR_MS, show_time
from tests.sandbox.house import House, open_house
from tests.support.rig import SetClock
from tests.support.rows import ms

NOW = "2026-11-30 12:00"


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
async def house() -> AsyncIterator[House]:
    async with open_house(ms(NOW)) as house:
        yield house


async def go(house: House, where: str) -> None:
    house.director.travel(where)
    assert await house.director.done() == ""


# --- the clock ------------------------------------------------------------------------------------------------


def test_the_clock_goes_on_from_where_it_was_put_and_never_back() -> None:
    outside = SetClock(1_000)
    clock = ShiftedClock(outside)
    assert clock.now() == 1_000
    clock.put_forward(5_000)
    outside.at += 7
    assert clock.now() == 5_007
    clock.put_forward(2_000)
    assert clock.now() == 5_007
    clock.reset()
    assert clock.now() == 1_007


# --- where to -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("now", "where", "there"),
    [
        (NOW, "hour", "2026-11-30 13:00"),
        (NOW, "day", "2026-12-01 12:00"),
        (NOW, "week", "2026-12-07 12:00"),
        (NOW, "leave", "2026-12-28 23:50"),
        (NOW, "new-year", "2027-01-01 00:10"),
        (NOW, "february", "2027-02-01 00:10"),
        (NOW, "2026-12-24T18:30", "2026-12-24 18:30"),
        ("2026-12-28 23:50", "leave", "2027-12-28 23:50"),
        ("2027-01-01 00:05", "new-year", "2027-01-01 00:10"),
        ("2027-01-01 00:10", "new-year", "2028-01-01 00:10"),
        ("2027-01-15 00:00", "february", "2027-02-01 00:10"),
    ],
)
def test_where_the_buttons_lead(now: str, where: str, there: str) -> None:
    assert show_time(target(where, ms(now))) == there


@pytest.mark.parametrize(
    ("where", "why"),
    [
        ("2026-11-30T12:00", "只能往后"),
        ("2020-01-01T00:00", "只能往后"),
        ("2028-11-30T12:00", "一次最多"),
        ("9999-12-31T23:59", "一次最多"),
        ("", "看不懂"),
        ("tomorrow", "看不懂"),
        ("0001-01-01T00:00", "只能往后"),
    ],
)
async def test_where_nobody_can_go(house: House, where: str, why: str) -> None:
    with pytest.raises(Refused, match=why):
        house.director.travel(where)
    assert house.director.view()["busy"] is None


# --- on the way -----------------------------------------------------------------------------------------------


async def test_a_report_is_reminded_of_and_then_goes_to_the_desk(house: House) -> None:
    await house.ask("张三", "张三    胜    李四")
    await go(house, "week")
    reminder = next(m for m in house.qq.said_by_bot(OFFICIAL) if "还在等" in m.text)
    assert 24 * HOUR_MS <= reminder.time - ms(NOW) < 25 * HOUR_MS, show_time(reminder.time)
    digests = [m for m in house.qq.said_by_bot(SCORING) if "早上好" in m.text]
    assert len(digests) == 7, "every morning while something waits"
    assert all(show_time(m.time).endswith("09:00") for m in digests)
    times = [m.time for m in house.qq.history(OFFICIAL)]
    assert times == sorted(times)
    await house.check()


async def test_nothing_is_said_at_night(house: House) -> None:
    await go(house, "2026-12-01T02:00")
    await house.ask("张三", "张三    胜    李四")
    asked = house.clock.now()
    await go(house, "week")
    reminder = next(m for m in house.qq.said_by_bot(OFFICIAL) if m.time > asked + HOUR_MS)
    assert show_time(reminder.time) == "2026-12-02 08:00"
    assert not [m for m in house.qq.said_by_bot(SCORING) if is_quiet(m.time)]


async def test_two_challenges_lapse_each_at_its_own_deadline(house: House) -> None:
    await house.ask("张三", "/强制约战 李四")
    await go(house, "hour")
    await house.ask("王五", "/强制约战 平安")
    await go(house, "week")
    await go(house, "hour")
    league = house.parts.runtime.league
    first, second = league.book.state.challenges.values()
    marks = {mark.player: mark.at for mark in league.book.marks if mark.after - mark.before == -50}
    assert marks == {first.opponent: first.deadline, second.opponent: second.deadline}
    lapsed = [m for m in house.qq.said_by_bot(OFFICIAL) if "到期（" in m.text]
    assert [m.text.split()[0] for m in lapsed] == ["约1", "约2"]
    assert [round((m.time - c.deadline) / 60_000) for m, c in zip(lapsed, (first, second), strict=True)] == [0, 0]
    await house.check()


async def test_a_challenge_that_the_new_year_bars_is_cancelled_then(house: House) -> None:
    """跳跳虎 has too few games for the season: from 01-01 on he is barred (§8 D)."""
    await go(house, "2026-12-28T12:00")
    await house.ask("张三", "/强制约战 跳跳虎")
    await go(house, "week")
    (challenge,) = house.parts.runtime.league.book.state.challenges.values()
    assert challenge.state == "cancelled"
    told = next(m for m in house.qq.said_by_bot(OFFICIAL) if "约1 已取消" in m.text)
    assert show_time(told.time).startswith("2027-01-01 00:00")
    await house.check()


async def test_leave_closes_while_one_watches(house: House) -> None:
    await go(house, "leave")
    assert "请假" in (await house.ask("跳跳虎", "/请假 出差")).text
    await go(house, "hour")
    assert "不能请假" in (await house.ask("老 顽童", "/请假 出差")).text


async def test_a_year_passes_and_the_chat_shows_when(house: House) -> None:
    await go(house, "2027-12-30T12:00")
    for group in (OFFICIAL, SCORING):
        assert not house.texts(group), "nothing was due"
    notes = [note["note"] for note in house.director.notes]
    assert notes == ["时间到了 2027-12-30 12:00"] * 2
    answer = await house.ask("张三", "/等级分")
    assert show_time(answer.time).startswith("2027-12-30 12:0")


async def test_the_next_start_goes_on_where_the_book_ends(house: House) -> None:
    await go(house, "week")
    await house.ask("张三", "/强制约战 李四")
    assert await latest(house.parts.runtime.league) > ms(NOW) + 6 * DAY_MS
    await go(house, "week")
    await house.ask("王五", "王五    胜    平安")
    waits = await latest(house.parts.runtime.league)
    assert waits > ms(NOW) + 13 * DAY_MS, "a report that waits counts too"
    assert DEFAULT_POOL in house.parts.runtime.league.book.state.pools


async def test_an_empty_book_ends_nowhere() -> None:
    async with open_house(ms(NOW), empty=True) as house:
        assert await latest(house.parts.runtime.league) == 0
