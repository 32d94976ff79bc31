"""Leave and settlement (L7, L8, L10; §8) where transcripts cannot look: the ledger, two at once, a death between."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from plugins.rating_bot.handlers import dispatch
from rating_core.ledger import ChallengeCancelled, LeaveTaken, ListPublished, Row, Settlement
from rating_core.rules import season as rules
from rating_core.service import lists, people
from rating_core.service import season as service
from rating_core.store.ledger_store import LedgerStore
from rating_core.times import season_start
from tests.support.replaying import first_difference
from tests.support.rig import OFFICIAL, OWNER, SCORING, Rig, SetClock
from tests.support.rows import ms

POOL = "单跳1v1"
CASE = Path(__file__).resolve().parents[1] / "cases" / "settlement.json"
close = pytest.approx


@asynccontextmanager
async def rig_at(folder: Path, moment: str) -> AsyncIterator[Rig]:
    """A started bot whose clock begins then."""
    rig = Rig(folder, SetClock(ms(moment)))
    await rig.start()
    try:
        yield rig
    finally:
        await rig.stop()


async def ledger(rig: Rig, *kinds: str) -> list[Row]:
    async with rig.league.database.read() as connection:
        return [row async for row in LedgerStore(connection).rows_after(0) if not kinds or row.kind in kinds]


async def check_ip(rig: Rig, *names: str) -> None:
    async with rig.league.transaction() as tx:
        owner = await tx.known(tx.directory.actor(str(OWNER), rig.league.superusers))
        for name in names:
            player = tx.directory.roster.resolve(name)
            assert player is not None
            await people.check_ip(tx, owner, player, valid=True, message="", said_at=rig.clock.at)


async def draws(rig: Rig, left: str, right: str, count: int) -> None:
    """Let the referee report drawn games."""
    answers = await rig.say("裁判老赵", "\n".join([f"{left} 平 {right}"] * count))
    assert answers[0].startswith("收到"), answers


def id_of(rig: Rig, name: str) -> int:
    player = rig.league.directory.roster.resolve(name)
    assert player is not None
    return player


async def until(rig: Rig, moment: str) -> None:
    rig.clock.at = ms(moment)
    assert rig.parts is not None
    await rig.parts.tick()
    await rig.idle()


def numbers(texts: Sequence[str]) -> str:
    """Return the 预N of the one answer."""
    (text,) = texts
    return text.splitlines()[-1].removeprefix("确认 ")


async def fresh(rig: Rig) -> None:
    """The live Book is what a fresh fold of the ledger is."""
    assert first_difference(rig.league.book, await ledger(rig)) is None


# --- the case of an independent implementation ------------------------------------------------------------


async def test_the_case_through_the_bot(engine: str, tmp_path: Path) -> None:
    """tests/cases/settlement.json: registered, reported, granted leave, settled in the chat; figures to 1e-9."""
    case: dict[str, Any] = json.loads(CASE.read_text("utf-8"))
    async with rig_at(tmp_path, "2025-12-31 12:00") as rig:
        for name, placing in case["start"].items():
            await rig.league_of(name, placing=placing)
        await check_ip(rig, *case["start"])
        left_on = ms("2026-12-20")
        for position, game in enumerate(case["games"]):
            if rig.clock.at < left_on <= ms(game["day"]):
                rig.clock.at = left_on
                for name in case["on_leave"]:
                    (answer,) = await rig.say("小周", f"/请假 给 {name}", SCORING)
                    assert answer.startswith(f"{name}已请假")
            rig.clock.at = ms(game["day"]) + position * 1000
            (answer,) = await rig.say("裁判老赵", f"{game['left']} {game['result']} {game['right']}")
            if answer.startswith("与#"):  # the same two with the same result on one day
                (answer,) = await rig.say("裁判老赵", "另记", quote=rig.last().message_id)
            assert answer.startswith("收到"), answer
            assert ("不计分：" in answer) != game["counted"], answer
        for name, before in case["before"].items():
            assert rig.rating(name) == close(before["rating"], abs=1e-9)
        await until(rig, "2027-01-05 20:00")
        async with rig.league.transaction() as tx:
            sheet = await service.sheet(tx, 2026, POOL, rig.clock.at)
        name_of = rig.league.directory.name_of
        verdicts = {name_of(one.player): f"-{sheet.taken:g}" for one in sheet.deducted}
        assert verdicts | {name_of(one.player): "leave" for one in sheet.left} == case["verdicts"]
        number = numbers(await rig.say("小周", "/结算 执行", SCORING))
        (said,) = await rig.say("小周", f"确认 {number}", SCORING)
        assert "2089.2→2069.2" in said and "2026年最终排行榜" in said
        for name, after in case["after"].items():
            assert rig.rating(name) == close(after, abs=1e-9)
            standing = rig.league.book.state.look(POOL, id_of(rig, name))
            assert standing.archived == (name in case["verdicts"])
        (final,) = rig.league.book.state.lists[POOL]
        on_it = {name_of(row[0]): row[3] for row in final.rows}
        assert on_it == {name: close(r, abs=1e-9) for name, r in case["after"].items() if name not in case["verdicts"]}
        await fresh(rig)


# --- once, whole or not at all ----------------------------------------------------------------------------


@pytest.fixture
async def january(rig: Rig) -> Rig:
    """2027-01-05: 甲一 and 乙二 have ten games in 2026, 丙三 and 丁四 one each."""
    await rig.league_of("甲一", "乙二", "丙三", "丁四")
    await draws(rig, "甲一", "乙二", 10)
    await draws(rig, "丙三", "丁四", 1)
    await until(rig, "2027-01-05 20:00")
    return rig


async def settlements(rig: Rig) -> tuple[int, int]:
    """Return how many settlements and published lists the ledger holds."""
    return len(await ledger(rig, Settlement.KIND)), len(await ledger(rig, ListPublished.KIND))


async def test_two_scorekeepers_confirm_at_the_same_time(january: Rig) -> None:
    rig = january
    first = numbers(await rig.say("小周", "/结算 执行", SCORING))
    second = numbers(await rig.say("小吴", "/结算 执行", OFFICIAL))
    assert first != second
    before = {group: len(rig.qq.said_by_bot(group)) for group in (SCORING, OFFICIAL)}
    rig.qq.say(SCORING, rig.people["小周"], f"确认 {first}")
    rig.qq.say(OFFICIAL, rig.people["小吴"], f"确认 {second}")
    await rig.idle()
    said = [m.text for group in before for m in rig.qq.said_by_bot(group)[before[group] :]]
    assert sum("2026赛季已结算" in text for text in said) == 2  # the one settlement, told in both groups
    assert sum("没有重复执行" in text for text in said) == 1
    assert await settlements(rig) == (1, 1)
    assert (rig.rating("丙三"), rig.rating("丁四")) == (1980.0, 1980.0)
    await fresh(rig)


@pytest.mark.parametrize("point", ["before_commit", "after_commit"])
async def test_the_process_dies_while_it_settles(january: Rig, monkeypatch: pytest.MonkeyPatch, point: str) -> None:
    """After the restart the 确认 is read from history: executed once, with its list, and said once."""
    rig = january
    number = numbers(await rig.say("小周", "/结算 执行", SCORING))

    class Death(BaseException):
        """Nothing after it runs."""

    died = []

    def die(name: str) -> None:
        if name == point:
            died.append(name)
            raise Death

    monkeypatch.setattr(dispatch, "hit", die)
    rig.qq.say(SCORING, rig.people["小周"], f"确认 {number}")
    with pytest.raises(Death):
        await rig.idle()
        raise Death  # a queue that keeps the exception to itself has died as well
    assert died == [point]
    assert await settlements(rig) == ((0, 0) if point == "before_commit" else (1, 1))
    rig.disconnect()
    monkeypatch.undo()
    await rig.stop()
    await rig.start()
    await rig.idle()
    assert await settlements(rig) == (1, 1)
    assert (rig.rating("丙三"), rig.rating("丁四")) == (1980.0, 1980.0)
    for group in (SCORING, OFFICIAL):
        assert sum("2026赛季已结算" in m.text for m in rig.qq.said_by_bot(group)) == 1
    await fresh(rig)


async def test_no_settlement_without_its_list(january: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the list cannot be written nothing is settled, and the same 预N can be confirmed again."""
    rig = january
    number = numbers(await rig.say("小周", "/结算 执行", SCORING))

    async def fails(*args: Any, **values: Any) -> None:
        raise RuntimeError("no list")

    monkeypatch.setattr(lists, "publish", fails)
    (said,) = await rig.say("小周", f"确认 {number}", SCORING)
    assert said.startswith("出错了")
    assert await settlements(rig) == (0, 0)
    assert rig.league.book.state.settled == {}
    assert rig.rating("丙三") == 2000.0
    monkeypatch.undo()
    await rig.say("小周", f"确认 {number}", SCORING)
    assert await settlements(rig) == (1, 1)
    await fresh(rig)


async def test_everybody_archived_leaves_no_list(rig: Rig) -> None:
    await rig.league_of("甲一", "乙二")
    await draws(rig, "甲一", "乙二", 1)
    await until(rig, "2027-01-05 20:00")
    number = numbers(await rig.say("小周", "/结算 执行", SCORING))
    (said,) = await rig.say("小周", f"确认 {number}", SCORING)
    assert "2026赛季已结算" in said and "最终榜单" not in said
    assert await settlements(rig) == (1, 0)


# --- what the list shows ----------------------------------------------------------------------------------


async def test_the_final_list_is_the_season_as_it_ended(january: Rig) -> None:
    """Games of January are not on it; a game of December that took effect in January is."""
    rig = january
    await rig.say("裁判老赵", "甲一 胜 乙二")
    assert rig.rating("甲一") == 2016.0
    number = numbers(await rig.say("小周", "/结算 执行", SCORING))
    await rig.say("小周", f"确认 {number}", SCORING)
    (final,) = rig.league.book.state.lists[POOL]
    assert final.as_of == season_start(2027) - 1
    names = [rig.league.directory.name_of(row[0]) for row in final.rows]
    assert [(name, *row[2:7]) for name, row in zip(names, final.rows, strict=True)] == [
        ("乙二", 1900.0, 2000.0, 0, 10, 0),
        ("甲一", 1900.0, 2000.0, 0, 10, 0),
    ]
    assert rig.rating("甲一") == 2016.0


async def test_the_final_list_of_2016_goes_by_ten_games(engine: str, tmp_path: Path) -> None:
    """L12: 该规则在16年为10盘限制，17年1月改为20盘; L7 took 20 points then as now."""
    async with rig_at(tmp_path, "2016-12-01 12:00") as rig:
        await rig.league_of("甲一", "乙二", "丙三")
        await draws(rig, "甲一", "乙二", 10)
        await draws(rig, "丙三", "甲一", 1)
        assert "未满10盘，还差7盘，榜上显示1930" in (await rig.say("裁判老赵", "乙二 平 丙三\n乙二 平 丙三"))[0]
        await until(rig, "2017-01-03 12:00")
        number = numbers(await rig.say("小周", "/结算 执行", SCORING))
        (said,) = await rig.say("小周", f"确认 {number}", SCORING)
        assert "2016赛季已结算" in said and "2000.0→1980.0" in said and "2017-02-01" in said
        (final,) = rig.league.book.state.lists[POOL]
        assert [row[2] for row in final.rows] == [2000.0, 2000.0]
        board = await rig.say("甲一", "/等级分 甲一")
        assert "未满20盘，还差9盘" in board[0]


# --- refused while reports wait ---------------------------------------------------------------------------


async def test_every_open_report_of_the_season_holds_the_settlement_up(rig: Rig) -> None:
    """Waiting, disputed and expired ones; not those of January, nor of another pool."""
    await rig.league_of("甲一", "乙二", "丙三", "丁四")
    await draws(rig, "甲一", "乙二", 10)
    await rig.say("丙三", "丙三 胜 丁四")  # #2, expires
    await until(rig, "2026-12-31 20:00")
    await rig.say("甲一", "甲一 胜 丁四")  # #3
    await rig.say("甲一", "甲一 胜 丙三")  # #4
    await rig.say("甲一", "#单跳2v2\n甲一 乙二 平 丙三 丁四")  # #5
    await rig.say("丙三", "有误 4 没下过")
    await until(rig, "2027-01-01 09:00")
    await rig.say("甲一", "甲一 胜 乙二")  # #6
    for what in ("执行", "预览"):
        (said,) = await rig.say("小周", f"/结算 {what}", SCORING)
        assert "#2、#3、#4" in said and "#5" not in said and "#6" not in said
        assert said.splitlines()[-1] == "/待办"
    for number in (2, 3, 4):
        await rig.say("小周", f"/作废 {number} 没下过", SCORING)
    number = numbers(await rig.say("小周", "/结算 执行", SCORING))
    # one that comes in for the season after the preview: a new preview, which is refused
    assert "2026赛季已结算" in (await rig.say("小周", f"确认 {number}", SCORING))[0]
    assert await settlements(rig) == (1, 1)


# --- rolling back, and verdicts that stand ----------------------------------------------------------------


async def test_verdicts_stand_whatever_is_corrected_until_they_are_rolled_back(january: Rig) -> None:
    """§8, §10: a game of 甲一 is voided after the settlement: he stays; rolled back and settled anew he does not."""
    rig = january
    number = numbers(await rig.say("小周", "/结算 执行", SCORING))
    await rig.say("小周", f"确认 {number}", SCORING)
    number = numbers(await rig.say("小周", "/撤销 局1 没下过", SCORING))
    await rig.say("小周", f"确认 {number}", SCORING)
    book = rig.league.book
    player = id_of(rig, "甲一")
    assert book.state.look(POOL, player).season_games == {2026: 9}
    assert not book.state.look(POOL, player).archived
    verdict = rules.verdict_on(book.state, POOL, player, 2026)
    assert verdict is not None and verdict.reason == "few_games"
    number = numbers(await rig.say("小周", "/结算 回滚", SCORING))
    await rig.say("小周", f"确认 {number}", SCORING)
    assert (rig.rating("丙三"), rig.league.book.state.lists.get(POOL, ())) == (2000.0, ())
    number = numbers(await rig.say("小周", "/结算 执行", SCORING))
    (said,) = await rig.say("小周", f"确认 {number}", SCORING)
    assert "扣20分并封存4人" in said
    assert rig.rating("甲一") == 1980.0
    await fresh(rig)


async def test_only_the_newest_settlement_can_be_rolled_back_and_none_before_it_made_up_for(
    engine: str, tmp_path: Path
) -> None:
    async with rig_at(tmp_path, "2025-12-01 12:00") as rig:
        await rig.league_of("甲一", "乙二")
        await draws(rig, "甲一", "乙二", 10)
        await until(rig, "2026-03-01 12:00")
        await draws(rig, "甲一", "乙二", 10)
        await until(rig, "2027-01-05 20:00")
        number = numbers(await rig.say("小周", "/结算 执行 2026", SCORING))
        await rig.say("小周", f"确认 {number}", SCORING)
        assert "2026赛季（单跳1v1）已经结算" in (await rig.say("小周", "/结算 执行 2025", SCORING))[0]
        number = numbers(await rig.say("小周", "/结算 回滚", SCORING))
        await rig.say("小周", f"确认 {number}", SCORING)
        for year in (2025, 2026):
            number = numbers(await rig.say("小周", f"/结算 执行 {year}", SCORING))
            assert f"{year}赛季已结算" in (await rig.say("小周", f"确认 {number}", SCORING))[0]
        assert "先回滚它" in (await rig.say("小周", "/结算 回滚 2025", SCORING))[0]


# --- pages ------------------------------------------------------------------------------------------------


async def test_a_hundred_names_fit_on_pages(rig: Rig) -> None:
    names = [f"棋手{chr(0x4E00 + number)}{chr(0x4E00 + number)}{chr(0x4E00 + number)}" for number in range(100)]
    await rig.league_of(*names, bound=False)
    for left, right in zip(names[::2], names[1::2], strict=True):
        await draws(rig, left, right, 1)
    await until(rig, "2027-01-05 20:00")
    seen, line = set(), "/结算 预览"
    for _ in range(30):
        (said,) = await rig.say("小周", line, SCORING)
        assert len(said) <= 500 and said.count("\n") < 15
        seen |= {name for name in names if f"{name}1局" in said}
        line = said.splitlines()[-1]
        if not line.startswith("/结算 预览"):
            break
    assert seen == set(names)
    assert line == "/结算 执行 2026 单跳1v1"
    (asked,) = await rig.say("小周", line, SCORING)
    assert len(asked) <= 500 and asked.count("\n") < 15 and "其余见 /结算 预览" in asked
    (said,) = await rig.say("小周", asked.splitlines()[-1], SCORING)
    assert len(said) <= 500 and said.count("\n") < 15
    (asked,) = await rig.say("小周", "/结算 回滚", SCORING)
    assert len(asked) <= 500 and asked.count("\n") < 15 and "影响100人" in asked


# --- leave and forced challenges --------------------------------------------------------------------------


async def test_a_challenged_player_cannot_take_leave_but_be_granted_it(rig: Rig) -> None:
    """§8: granting cancels the challenge without penalty, and the challenger has his quota back (L8, L9)."""
    await rig.league_of("甲一", "乙二", "丙三")
    await draws(rig, "甲一", "乙二", 1)
    await rig.say("甲一", "/强制约战 乙二")
    (said,) = await rig.say("乙二", "/请假 出差")
    assert "约1" in said and "L8" in said and said.splitlines()[-1] == "/请假 给 乙二 理由"
    (said,) = await rig.say("小周", "/请假 给 乙二 出差", SCORING)
    assert "乙二已请假" in said and "约1取消，不扣分" in said
    assert [row.entry() for row in await ledger(rig, ChallengeCancelled.KIND)] == [ChallengeCancelled(1)]
    assert rig.rating("乙二") == 2000.0
    (said,) = await rig.say("甲一", "/强制约战 丙三")
    assert said.startswith("约2 ")
    # his own challenge does not keep the challenger; it ends
    (said,) = await rig.say("甲一", "/请假")
    assert "您发起的约2随之取消" in said
    said = "\n".join(await rig.say("甲一", "确认"))
    assert "甲一已请假" in said and "约2取消" in said
    assert rig.league.book.state.challenges[2].state == "cancelled"
    await until(rig, "2026-12-20 12:00")
    assert rig.rating("丙三") == 2000.0


async def test_challenged_between_preview_and_confirmation(rig: Rig) -> None:
    await rig.league_of("甲一", "乙二")
    await draws(rig, "甲一", "乙二", 1)
    await rig.say("乙二", "/请假")
    await rig.say("甲一", "/强制约战 乙二")
    (said,) = await rig.say("乙二", "确认 预1")
    assert "约1" in said and "不能自己请假" in said
    assert await ledger(rig, LeaveTaken.KIND) == []


async def test_a_leave_shown_for_other_pools_is_shown_anew(rig: Rig) -> None:
    """The tenth game comes in between: another pool list, another preview."""
    await rig.league_of("甲一", "乙二", "丙三", "丁四")
    await draws(rig, "甲一", "乙二", 9)
    await rig.say("裁判老赵", "#单跳2v2\n甲一 乙二 平 丙三 丁四")
    (said,) = await rig.say("甲一", "/请假")
    assert "单跳1v1：本赛季9局" in said and "单跳2v2：本赛季1局" in said
    await draws(rig, "甲一", "丙三", 1)
    (said,) = await rig.say("甲一", "确认")
    assert said.startswith("情况有变") and "预2" in said and "单跳1v1：本赛季10局，已满10局，留在榜上" in said
    (said,) = await rig.say("甲一", "确认")
    assert "单跳2v2封存" in said and "单跳1v1留在榜上" in said
    (row,) = await ledger(rig, LeaveTaken.KIND)
    assert row.entry() == LeaveTaken(id_of(rig, "甲一"), season_start(2027), ("单跳2v2",))
    (said,) = await rig.say("裁判老赵", "甲一 平 丁四")
    assert "请假中" in said


async def test_the_turn_of_the_year_ends_challenges_of_those_who_will_be_archived(rig: Rig) -> None:
    """§8 D, §9: the bar from 01-01 cancels without penalty, and forbids new ones."""
    await rig.league_of("甲一", "乙二", "丙三")
    await draws(rig, "甲一", "乙二", 10)
    await draws(rig, "甲一", "丙三", 1)
    await until(rig, "2026-12-30 20:00")
    (said,) = await rig.say("甲一", "/强制约战 丙三")
    assert said.startswith("约1 ")
    await until(rig, "2027-01-08 20:00")
    assert rig.league.book.state.challenges[1].state == "cancelled"
    assert rig.rating("丙三") == 2000.0
    (said,) = await rig.say("甲一", "/强制约战 丙三")
    assert "2026赛季不满10局" in said
