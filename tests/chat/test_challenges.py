"""Forced challenges (L9, §9) where transcripts cannot look: times and order in the ledger, who is barred meanwhile."""

import asyncio
from typing import Any

import pytest

from plugins.rating_bot.sandbox.onebot import message_event
from rating_core.ledger import Adjustment, Draft, IpChecked, LeaveTaken, OpeningBalance, Row
from rating_core.rulebook import DEFAULT_POOL, MASKED_NAME
from rating_core.service import challenges, due, people
from rating_core.service.due import ChallengeReminder, Expired, Remind
from rating_core.service.transaction import Tx
from rating_core.store.ledger_store import LedgerStore
from rating_core.times import DAY_MS, HOUR_MS
from tests.support.rig import OFFICIAL, SCORING, Rig
from tests.support.rows import ms

HISTORY = "get_group_msg_history"


async def ledger(rig: Rig, *kinds: str) -> list[Row]:
    async with rig.league.database.read() as connection:
        return [row async for row in LedgerStore(connection).rows_after(0) if not kinds or row.kind in kinds]


async def enter(rig: Rig, entry: Any, pool: str = DEFAULT_POOL) -> None:
    async with rig.league.transaction() as tx:
        await tx.append(Draft(entry, rig.clock.at, 0, pool))


async def tick(rig: Rig) -> None:
    assert rig.parts is not None
    await rig.parts.tick()
    await rig.idle()


@pytest.fixture
async def two(rig: Rig) -> dict[str, int]:
    """张三 has challenged 李四: 约1."""
    players = await rig.league_of("张三", "李四", "王五", "赵六")
    assert (await rig.say("张三", "/强制约战 李四"))[0].startswith("约1 ")
    return players


def deadline(rig: Rig, number: int = 1) -> int:
    return rig.league.book.state.challenges[number].deadline


# --- time -------------------------------------------------------------------------------------------------


async def test_the_penalty_is_entered_at_the_deadline_by_the_bot(rig: Rig, two: dict[str, int]) -> None:
    at = deadline(rig)
    rig.clock.at = at + 3 * HOUR_MS
    await tick(rig)
    (row,) = await ledger(rig, "challenge_forfeited")
    assert (row.said_at, row.actor, row.pool) == (at, 0, DEFAULT_POOL)
    assert row.at == at + 3 * HOUR_MS


async def test_what_is_still_on_its_way_is_waited_for_a_moment(rig: Rig, two: dict[str, int]) -> None:
    rig.clock.at = deadline(rig) + 2000
    await tick(rig)
    assert await ledger(rig, "challenge_forfeited") == []
    rig.clock.at += 10_000
    await tick(rig)
    assert len(await ledger(rig, "challenge_forfeited")) == 1


async def test_a_message_said_at_the_deadline_comes_after_it(rig: Rig, two: dict[str, int]) -> None:
    """At the deadline is late, and the answer shows the rating as it is then, with no tick in between."""
    rig.clock.at = deadline(rig)
    said = await rig.say("王五", "/等级分 李四")
    assert "约1 到期" in said[0] and "1950.0" in said[1]
    await rig.say("李四", "李四 胜 张三")
    await rig.say("张三", "确认 1")
    assert [r.kind for r in (await ledger(rig))[-2:]] == ["challenge_forfeited", "games"]


async def test_ordinary_chat_and_what_is_not_due_cost_no_query(rig: Rig, two: dict[str, int]) -> None:
    nothing: Any = None
    tx = Tx(rig.league, nothing)
    assert await due.run(tx, deadline(rig) - 1) == []
    rig.clock.at = deadline(rig) + DAY_MS
    before = len(await ledger(rig))
    await rig.say("王五", "今天天气真好")
    assert len(await ledger(rig)) == before


# --- downtime ---------------------------------------------------------------------------------------------


async def test_nothing_is_judged_while_no_client_is_connected(rig: Rig, two: dict[str, int]) -> None:
    rig.disconnect()
    rig.clock.at = deadline(rig) + HOUR_MS
    await tick(rig)
    assert await ledger(rig, "challenge_forfeited") == []
    await rig.connect()
    (row,) = await ledger(rig, "challenge_forfeited")
    assert row.said_at == deadline(rig)


async def test_two_groups_histories_and_a_deadline_between_them(rig: Rig, two: dict[str, int]) -> None:
    """What was said before it comes before it in the ledger, what was said after it after it, whatever the group."""
    at = deadline(rig)
    rig.disconnect()
    speeches = [
        (at - 2 * HOUR_MS, "裁判老赵", SCORING, "王五 胜 赵六"),
        (at - HOUR_MS, "王五", OFFICIAL, "王五 平 赵六"),
        (at - 1000, "赵六", OFFICIAL, "确认 2"),
        (at, "裁判老赵", SCORING, "李四 胜 王五"),
        (at + HOUR_MS, "李四", OFFICIAL, "李四 平 王五"),
        (at + 2 * HOUR_MS, "王五", OFFICIAL, "确认 4"),
    ]
    for rig.clock.at, who, group, text in speeches:
        rig.qq.say(group, rig.people[who], text)
    rig.clock.at = at + 5 * HOUR_MS
    await rig.connect()
    rows = [(r.kind, r.said_at - at) for r in (await ledger(rig))[-5:]]
    assert rows == [
        ("games", -2 * HOUR_MS), ("games", -1000), ("challenge_forfeited", 0), ("games", 0), ("games", 2 * HOUR_MS),
    ]  # fmt: skip
    announced = [m.text for group in (OFFICIAL, SCORING) for m in rig.qq.said_by_bot(group)]
    assert sum("约1 到期" in text for text in announced) == 2


async def test_played_in_time_while_the_bot_was_away(rig: Rig, two: dict[str, int]) -> None:
    at = deadline(rig)
    rig.disconnect()
    rig.clock.at = at - 1000
    rig.qq.say(OFFICIAL, rig.people["李四"], "李四 负 张三")
    rig.clock.at = at + HOUR_MS
    rig.qq.say(OFFICIAL, rig.people["张三"], "确认")
    rig.clock.at = at + 2 * HOUR_MS
    await rig.connect()
    (row,) = await ledger(rig, "challenge_fulfilled")
    assert row.said_at == at + HOUR_MS
    assert await ledger(rig, "challenge_forfeited") == []
    assert rig.league.book.state.challenges[1].state == "fulfilled"


async def test_a_live_message_judges_nothing_while_history_is_read(
    rig: Rig, two: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A private message does not wait for the groups' history; the report in it must still win."""
    at = deadline(rig)
    rig.disconnect()
    rig.clock.at = at - HOUR_MS
    rig.qq.say(SCORING, rig.people["裁判老赵"], "李四 胜 张三")
    rig.clock.at = at + HOUR_MS
    may_go_on, asked = asyncio.Event(), asyncio.Event()
    answer = rig.caller.call_api

    async def slow(api: str, **data: Any) -> Any:
        if api == HISTORY:
            asked.set()
            await may_go_on.wait()
        return await answer(api, **data)

    monkeypatch.setattr(rig.caller, "call_api", slow)
    assert rig.parts is not None
    rig.online = True
    rig.parts.connected(rig.caller)
    await asked.wait()
    assert not rig.parts.caught_up()
    await rig.parts.tick()
    rig.qq.say_private(rig.people["王五"], "/等级分 李四")
    await rig.queues.idle()
    assert await ledger(rig, "challenge_forfeited", "challenge_fulfilled") == []
    may_go_on.set()
    await rig.idle()
    assert rig.parts.caught_up()
    await tick(rig)
    assert [r.kind for r in await ledger(rig, "challenge_forfeited", "challenge_fulfilled")] == ["challenge_fulfilled"]


async def test_a_report_in_time_that_came_too_late_is_shown_to_the_desk(rig: Rig, two: dict[str, int]) -> None:
    """An event that was lost for a while: the penalty stands until a scorekeeper lifts it."""
    at = deadline(rig)
    rig.disconnect()
    rig.clock.at = at - HOUR_MS
    late = rig.qq.say(SCORING, rig.people["裁判老赵"], "李四 胜 张三")
    rig.clock.at = at + HOUR_MS
    rig.online = True
    await tick(rig)
    assert len(await ledger(rig, "challenge_forfeited")) == 1
    rig.push(message_event(rig.qq, late))
    await rig.idle()
    assert rig.league.book.state.challenges[1].state == "forfeited"
    (docket,) = await rig.say("小周", "/待办", SCORING)
    assert "期限前的报分 约1 #1" in docket


# --- who is barred meanwhile ------------------------------------------------------------------------------


async def test_a_leave_cancels_it_and_gives_the_quota_back(rig: Rig, two: dict[str, int]) -> None:
    async with rig.league.transaction() as tx:
        leave = LeaveTaken(two["李四"], ms("2027-01-01"), (DEFAULT_POOL,))
        await tx.append(Draft(leave, rig.clock.at, 0))
        (ended,) = await challenges.cancel_barred(tx, rig.clock.at)
    assert ended.outcome == "cancelled" and ended.bar is not None and ended.bar.clause == "L8"
    (said,) = await rig.say("张三", "/强制约战 李四")
    assert "没有约成：李四请假中" in said and "L8" in said
    assert (await rig.say("张三", "/强制约战 王五"))[0].startswith("约2 ")


async def test_an_ip_check_can_be_made_until_the_deadline(rig: Rig, two: dict[str, int]) -> None:
    """L11 is looked at when the deadline comes; then it cancels."""
    await enter(rig, Adjustment(two["李四"], 200.0))
    rig.clock.at = deadline(rig) - HOUR_MS
    await tick(rig)
    assert rig.league.book.state.challenges[1].state == "open"
    assert not any("快到期" in m.text for m in rig.qq.said_by_bot(OFFICIAL))  # he could not play as it is
    rig.clock.at = deadline(rig) + HOUR_MS
    await tick(rig)
    (row,) = await ledger(rig, "challenge_cancelled")
    assert row.said_at == deadline(rig)
    assert "约1 已取消（张三约李四）" in rig.last().text and "L11" in rig.last().text
    assert rig.rating("李四") == 2200.0
    assert not rig.qq.said_by_bot(SCORING)


async def test_whom_the_settlement_will_archive_is_barred_from_january_and_owes_nothing(rig: Rig) -> None:
    """§8 D, §9: the bar from 01-01 cancels it then, before the deadline and before the settlement is executed."""
    rig.clock.at = ms("2026-12-01 12:00")
    await rig.league_of("张三", "李四", "王五")
    await rig.say("裁判老赵", "李四 胜 王五", SCORING)
    rig.clock.at = ms("2026-12-29 12:00")
    await rig.say("张三", "/强制约战 李四")
    rig.clock.at = ms("2027-01-01 09:00")
    await tick(rig)
    (row,) = await ledger(rig, "challenge_cancelled")
    assert row.said_at == ms("2027-01-01 00:00")
    assert "约1 已取消" in rig.last().text and "L7" in rig.last().text
    rig.clock.at = ms("2027-01-06 09:00")
    await tick(rig)
    assert await ledger(rig, "challenge_forfeited") == []


async def suspend(rig: Rig) -> None:
    """李四 reports a game in time (#2), 张三 says it is wrong, and the deadline passes: the penalty is suspended."""
    rig.clock.at = deadline(rig) - HOUR_MS
    await rig.say("李四", "李四 胜 张三")
    await rig.say("张三", "有误 2 没下过")
    rig.clock.at = deadline(rig) + HOUR_MS
    await tick(rig)
    assert rig.league.book.state.challenges[1].state == "open"


@pytest.mark.parametrize("who", ["李四", "张三"])
async def test_a_leave_after_the_deadline_does_not_cancel_a_suspended_penalty(
    rig: Rig, two: dict[str, int], who: str
) -> None:
    """§9: a bar that arises meanwhile cancels it, one that arises after the deadline does not."""
    await rig.say("裁判老赵", "王五 平 李四\n王五 平 张三", SCORING)
    await suspend(rig)
    (said, *_) = await rig.say("小周", f"/请假 给 {who} 住院", SCORING)
    assert f"{who}已请假" in said and "约1" not in said
    assert rig.league.book.state.challenges[1].state == "open"
    await rig.say("王五", "/约战")
    await rig.say("小周", "/作废 2 没下过", SCORING)
    assert [r.kind for r in await ledger(rig, "challenge_cancelled", "challenge_forfeited")] == ["challenge_forfeited"]


async def test_the_bar_of_january_after_the_deadline_does_not_cancel_a_suspended_penalty(rig: Rig) -> None:
    rig.clock.at = ms("2026-12-01 12:00")
    await rig.league_of("张三", "李四", "王五")
    await rig.say("裁判老赵", "李四 胜 王五", SCORING)
    rig.clock.at = ms("2026-12-20 12:00")
    await rig.say("张三", "/强制约战 李四")
    await suspend(rig)
    rig.clock.at = ms("2027-01-05 12:00")
    await tick(rig)
    assert rig.league.book.state.challenges[1].state == "open"
    await rig.say("小周", "/作废 2 没下过", SCORING)
    (row,) = await ledger(rig, "challenge_cancelled", "challenge_forfeited")
    assert row.kind == "challenge_forfeited"


async def test_what_was_missing_at_the_deadline_cancels_a_suspended_penalty(rig: Rig, two: dict[str, int]) -> None:
    """L11 is looked at as it was when the deadline came, whatever changed until the report ended void."""
    rig.clock.at = deadline(rig) - 2 * HOUR_MS
    await rig.say("李四", "李四 胜 张三")
    await rig.say("张三", "有误 1 没下过")
    await enter(rig, Adjustment(two["李四"], 200.0))
    rig.clock.at = deadline(rig) + HOUR_MS
    await rig.say("小周", "/核验 李四", SCORING)
    assert two["李四"] in rig.league.book.state.ip_checked
    await rig.say("小周", "/作废 1 没下过", SCORING)
    assert [r.kind for r in await ledger(rig, "challenge_cancelled", "challenge_forfeited")] == ["challenge_cancelled"]


async def test_2200_reached_after_the_deadline_does_not_cancel_a_suspended_penalty(
    rig: Rig, two: dict[str, int]
) -> None:
    rig.clock.at = deadline(rig) - 2 * HOUR_MS
    await rig.say("李四", "李四 胜 张三")
    rig.clock.at = deadline(rig) + HOUR_MS
    await enter(rig, Adjustment(two["李四"], 200.0))
    await rig.say("小周", "/作废 1 没下过", SCORING)
    assert [r.kind for r in await ledger(rig, "challenge_cancelled", "challenge_forfeited")] == ["challenge_forfeited"]


async def test_the_masked_player_and_the_archived_are_not_challenged(rig: Rig, two: dict[str, int]) -> None:
    """L13; L7, also when the bar itself is over."""
    async with rig.league.transaction() as tx:
        masked = await people.register(tx, tx.directory.actor("10001"), MASKED_NAME, "冠军", rig.clock.at)
        await tx.append(Draft(IpChecked(masked, True), rig.clock.at, 0))
        old = OpeningBalance(two["赵六"], 1900.0, 9, 9, 9, rig.clock.at, archived=True)
        await tx.append(Draft(old, rig.clock.at, 0, DEFAULT_POOL))
    (said,) = await rig.say("王五", f"/强制约战 {MASKED_NAME}")
    assert said.startswith("没有约成") and "L13" in said
    (said,) = await rig.say("王五", "/强制约战 赵六")
    assert said.startswith("没有约成：赵六在封存名单上（L7）")
    assert len(rig.league.book.state.challenges) == 1


# --- reminders --------------------------------------------------------------------------------------------


async def happened(rig: Rig, at: int) -> list[due.Happening]:
    rig.clock.at = at
    async with rig.league.transaction() as tx:
        return await due.run(tx, at, reminders=True)


async def test_no_reminder_between_23_and_8(rig: Rig) -> None:
    await rig.league_of("张三", "李四")
    rig.clock.at = ms("2026-11-30 23:30")
    await rig.say("张三", "/强制约战 李四")
    assert await happened(rig, ms("2026-12-04 23:45")) == []
    assert await happened(rig, ms("2026-12-05 07:59")) == []
    (event,) = await happened(rig, ms("2026-12-05 08:00"))
    assert isinstance(event, ChallengeReminder) and event.challenge.number == 1
    assert await happened(rig, ms("2026-12-05 22:59")) == []


async def test_reminders_overtaken_while_the_bot_was_away_are_one_or_none(rig: Rig, two: dict[str, int]) -> None:
    at = deadline(rig)
    (event,) = await happened(rig, at - 3 * HOUR_MS)  # both slots have passed
    assert isinstance(event, ChallengeReminder)
    assert await happened(rig, at - 2 * HOUR_MS) == []
    (event,) = await happened(rig, at + DAY_MS)
    assert isinstance(event, challenges.Ended)
    assert await happened(rig, at + 2 * DAY_MS) == []


async def test_no_reminder_while_only_the_other_side_s_word_is_missing(rig: Rig, two: dict[str, int]) -> None:
    rig.clock.at = deadline(rig) - 73 * HOUR_MS
    await rig.say("李四", "李四 胜 张三")
    found = await happened(rig, deadline(rig) - 24 * HOUR_MS)
    assert [type(event) for event in found] == [Remind]


async def test_things_due_happen_in_the_order_of_their_time(rig: Rig, two: dict[str, int]) -> None:
    await rig.say("王五", "王五 胜 赵六")
    rig.clock.at = deadline(rig) - 30 * HOUR_MS
    await rig.say("赵六", "赵六 胜 张三")
    found = await happened(rig, deadline(rig) - 4 * HOUR_MS)
    assert [type(event) for event in found] == [Expired, ChallengeReminder, Remind]
