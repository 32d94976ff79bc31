"""蒙面人公用号 (§7 D; L4, L13) in the whole bot, where a transcript does not do."""

from pathlib import Path

import pytest

from rating_core import queries
from rating_core.ledger import Adjustment, Draft, IpChecked, OpeningBalance, PlayerRegistered
from rating_core.rulebook import DEFAULT_POOL, MASKED_INITIAL, MASKED_NAME
from rating_core.service import lists, season
from rating_core.store.ledger_store import LedgerStore
from rating_core.times import DAY_MS
from tests.support.rig import OFFICIAL, OWNER, SCORING, Rig, running_rig

POOL = DEFAULT_POOL


def masked(rig: Rig) -> int:
    player = rig.league.directory.masked
    assert player is not None
    return player


async def test_it_is_registered_once_with_2300_and_checked(rig: Rig) -> None:
    """L4; L11: approval counts as IP check."""
    await rig.league_of("张三")
    rig.person("夜行者")
    for who in ("夜行者", "张三"):
        await rig.whisper("群主", f"/蒙面人 批准 {rig.people[who]}")
        state = rig.league.book.state
        assert (state.initial[masked(rig)], state.placing[masked(rig)]) == (MASKED_INITIAL, MASKED_NAME)
        assert masked(rig) in state.ip_checked
        await rig.whisper("群主", "/蒙面人 收回")
    async with rig.league.database.read() as connection:
        rows = [row async for row in LedgerStore(connection).rows_after(0)]
    assert sum(row.kind == IpChecked.KIND for row in rows) == 1
    assert sum(MASKED_NAME in row.payload for row in rows) == 1
    assert not any(str(rig.people["夜行者"]) in row.payload for row in rows)


async def test_one_that_a_league_brought_along_keeps_its_rating(rig: Rig) -> None:
    """§3: an opening balance."""
    await rig.league_of("张三")
    async with rig.league.transaction() as tx:
        player = await tx.counters.take("player")
        await tx.append(Draft(PlayerRegistered(player, MASKED_INITIAL, MASKED_NAME), rig.clock.at, 0))
        await tx.name_player(player, MASKED_NAME)
        opening = OpeningBalance(player, 2345.5, 30, 0, 10, rig.clock.at)
        await tx.append(Draft(opening, rig.clock.at, 0, POOL))
    await rig.whisper("群主", f"/蒙面人 批准 {rig.people['张三']}")
    assert (masked(rig), rig.rating(MASKED_NAME)) == (player, 2345.5)
    assert player in rig.league.book.state.ip_checked


async def test_it_stands_on_no_list_and_is_judged_by_no_settlement(rig: Rig) -> None:
    """L13, L14, L7."""
    await rig.league_of("张三", "李四")
    rig.person("夜行者")
    await rig.whisper("群主", f"/蒙面人 批准 {rig.people['夜行者']}")
    await rig.whisper("夜行者", f"{MASKED_NAME} 胜 张三")
    await rig.say("张三", "确认 1")
    await rig.say("张三", "张三 胜 李四")
    await rig.say("李四", "确认 2")
    who, player = rig.league.directory, masked(rig)
    async with rig.league.transaction() as tx:
        await tx.append(Draft(Adjustment(player, -280.0), rig.clock.at, 0, POOL))
    book = rig.league.book
    assert book.state.look(POOL, player).games == 1
    assert player not in [row.player for row in queries.board(book, who, POOL, rig.clock.at).rows]
    assert player not in [row.player for row in queries.archived(book, who, POOL, rig.clock.at)]
    card = queries.card(book, who, POOL, player, rig.clock.at)
    assert (card.rank, card.peak, card.state) == (None, None, "masked")
    zhang = who.roster.resolve("张三")
    assert zhang is not None
    near = queries.opponents(book, who, POOL, zhang, rig.clock.at)
    assert [row.player for row in near.rows] == [who.roster.resolve("李四")]
    async with rig.league.transaction() as tx:
        owner = tx.directory.actor(str(OWNER), rig.league.superusers)
        await lists.publish(tx, owner, POOL, rig.clock.at, rig.clock.at)
        (published,) = tx.state.lists[POOL]
        assert sorted(row[0] for row in published.rows) == sorted(p for p in book.state.initial if p != player)
        sheet = await season.sheet(tx, 2026, POOL, rig.clock.at + 40 * DAY_MS)
        judged = (*sheet.deducted, *sheet.left, *sheet.high, *sheet.newcomers)
        assert len(judged) == 2 and player not in [row.player for row in judged]
        assert not sheet.enough + sheet.archived and player not in [found for found, _ in sheet.verdicts]


async def test_the_same_qq_cannot_confirm_what_it_reported(rig: Rig) -> None:
    """§5: a QQ bound on both sides cannot confirm, whichever way round."""
    await rig.league_of("张三", "李四")
    await rig.whisper("群主", f"/蒙面人 批准 {rig.people['张三']}")
    await rig.say("张三", f"张三 胜 {MASKED_NAME}")
    for typed in ("确认 1", "确认", f"张三 胜 {MASKED_NAME}", f"{MASKED_NAME} 负 张三", "/撤回 9", "确认预1"):
        await rig.whisper("张三", typed)
    await rig.whisper("张三", f"{MASKED_NAME} 胜 张三")
    await rig.say("张三", "确认 2")
    assert rig.games() == 0


async def test_a_private_message_that_cannot_be_sent_does_not_tell_the_desk_for_whom_it_was(rig: Rig) -> None:
    await rig.league_of("张三")
    await rig.whisper("群主", "/蒙面人 批准 87654321")
    await rig.idle()
    (docket,) = await rig.say("小周", "/待办", SCORING)
    assert "没发出去" in docket and "87654321" not in docket
    rows = await rig.outbox()
    assert not any("87654321" in row.text for row in rows if row.chat.startswith("g"))


async def test_it_is_told_to_the_superusers_in_private_only(rig: Rig) -> None:
    await rig.league_of("张三")
    rig.person("夜行者")
    before = {group: len(rig.qq.said_by_bot(group)) for group in (OFFICIAL, SCORING)}
    assert len(await rig.whisper("夜行者", "/蒙面人 申请")) == 1
    assert {group: len(rig.qq.said_by_bot(group)) for group in before} == before
    assert [row.chat for row in await rig.outbox()] == [f"u{rig.people['夜行者']}", f"u{OWNER}"]


async def test_an_application_for_it_does_not_show_when_he_asks_for_a_name(rig: Rig) -> None:
    rig.person("夜行者")
    await rig.league_of("张三")
    await rig.whisper("夜行者", "/蒙面人 申请")
    (answer,) = await rig.say("夜行者", "/报名 夜行者")
    assert answer.startswith("审2 待审核：报名「夜行者」") and MASKED_NAME not in answer
    (refused,) = await rig.say("群主", "/驳回 审1 再等等", SCORING)
    assert refused == f"审1 已驳回：申请使用「{MASKED_NAME}」"
    told = rig.qq.private_history(rig.people["夜行者"])[-1]
    assert told.user_id == rig.qq.self_id and "审1 没有通过：再等等" in told.text


async def what_groups_hear(folder: Path, holder: str, steps: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Play a game of 甲 against 蒙面人公用号, which `holder` holds; return what all groups were told, in order."""
    async with running_rig(folder) as rig:
        await rig.league_of("甲", "乙")
        rig.person("夜行者")
        await rig.whisper("群主", f"/蒙面人 批准 {rig.people[holder]}")
        before = len(await rig.outbox())
        for who, text in steps:
            if who == "hours":
                rig.clock.pass_hours(float(text))
                assert rig.parts is not None
                await rig.parts.tick()
                await rig.idle()
            elif who == "holder":
                await rig.whisper(holder, text)
            else:
                await rig.say(who, text, OFFICIAL if who in ("甲", "乙") else SCORING)
        return [(row.chat, row.text) for row in (await rig.outbox())[before:] if row.chat.startswith("g")]


@pytest.mark.parametrize(
    "steps",
    [
        [("甲", f"甲 胜 {MASKED_NAME}"), ("小周", "/待办"), ("hours", "80"), ("小周", "/待办"),
         ("小周", "/代确认 1 看过录像")],
        [("甲", f"甲 胜 {MASKED_NAME}"), ("hours", "1"), ("holder", "有误 1 没下过"), ("小周", "/待办"),
         ("小周", "/作废 1 没下过")],
        [("holder", f"{MASKED_NAME} 胜 甲"), ("小周", "/待办"), ("hours", "25"), ("hours", "50"), ("小周", "/待办")],
        [("holder", f"{MASKED_NAME} 胜 甲"), ("hours", "1"), ("甲", "有误 1 没下过"), ("小周", "/待办")],
        [("裁判老赵", f"{MASKED_NAME} 胜 甲"), ("小周", "/待办"), ("小周", "/待办 已阅"), ("小周", "/待办")],
        [("甲", f"甲 胜 {MASKED_NAME}"), ("甲", "甲 胜 " + MASKED_NAME), ("乙", "确认 1"), ("甲", "/撤回 1")],
    ],
)  # fmt: skip
async def test_the_groups_cannot_tell_whose_own_game_it_is(tmp_path: Path, steps: list[tuple[str, str]]) -> None:
    """§7 D: a game of the holder against himself looks like any other that waits, is disputed or expires."""
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
    ordinary = await what_groups_hear(tmp_path / "a", "夜行者", steps)
    assert ordinary and await what_groups_hear(tmp_path / "b", "甲", steps) == ordinary
