"""Corrections as scorekeepers type them: the independent case, two at once, and what stands after a settlement."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from rating_core.rules.display import shown_rating
from tests.support.rig import KEEPER, KEEPER_TWO, OFFICIAL, SCORING, Rig
from tests.support.rows import ms

CASE: dict[str, Any] = json.loads((Path(__file__).parents[1] / "cases" / "corrections.json").read_text("utf-8"))
EVENTS = {1: "小杯", 1.2: "正式赛", 2: "大赛"}


async def enter(rig: Rig) -> None:
    """Post the case's games as a referee does: one report for each run of games with the same header."""
    for name, placing in CASE["base"]["start"].items():
        await rig.league_of(name, placing=placing)
        await rig.say("小周", f"/核验 {name}", SCORING)
    for weight, event in EVENTS.items():
        await rig.say("小周", f"/赛事 新建 {event} {weight}", SCORING)
    run: list[str] = []
    games = CASE["base"]["games"]
    for index, game in enumerate(games):
        header = f"#{EVENTS[game['weight']]}\n" if game["event"] else ""
        run.append(f"{game['left'][0]} {game['result']} {game['right'][0]}")
        following = games[index + 1] if index + 1 < len(games) else None
        same = following and (following["event"], following["weight"]) == (game["event"], game["weight"])
        if same and len(run) < 50:
            continue
        answers = await rig.say("裁判老赵", header + "\n".join(run))
        if "相同" in answers[0]:  # the same two with the same result, twice in this case
            answers = await rig.say("裁判老赵", "另记", quote=rig.last().message_id)
        assert answers[0].startswith("收到"), answers
        run = []
    assert rig.games() == len(games)


def check_final(rig: Rig, final: dict[str, Any]) -> None:
    for name, figures in final.items():
        player = rig.league.directory.roster.resolve(name)
        assert player is not None
        standing = rig.league.book.state.look("单跳1v1", player)
        found = (standing.games, standing.wins, standing.draws, standing.losses)
        assert found == (figures["games"], figures["w"], figures["d"], figures["l"]), name
        assert standing.rating == pytest.approx(figures["rating"], abs=1e-9)
        assert shown_rating(standing, rig.clock.at) == pytest.approx(figures["shown"], abs=1e-9)
        peak = figures["peak"]
        assert standing.peak == (None if peak is None else pytest.approx(peak, abs=1e-9)), name


async def confirmed(rig: Rig, command: str) -> int:
    """Type a correction and confirm its preview; return the number of its ledger entry."""
    (shown,) = await rig.say("小周", command, SCORING)
    (done,) = await rig.say("小周", shown.splitlines()[-1], SCORING)
    found = re.match(r"账(\d+) ", done)
    assert found is not None, (shown, done)
    return int(found[1])


async def test_the_independent_case(rig: Rig) -> None:
    """Each correction of tests/cases alone, and its undoing: every figure to 1e-9."""
    await enter(rig)
    check_final(rig, CASE["base"]["final"])
    for correction in CASE["corrections"]:
        number, change = correction["game"] + 1, correction["change"]
        command = f"/撤销 局{number} 没有下过" if change == "void" else f"/改判 局{number} {change} 记错了"
        if change == CASE["base"]["games"][correction["game"]]["result"]:
            (answer,) = await rig.say("小周", command, SCORING)
            assert "没有要改的" in answer
        else:
            seq = await confirmed(rig, command)
            check_final(rig, correction["final"])
            await confirmed(rig, f"/撤销 账{seq} 改错了")
        check_final(rig, CASE["base"]["final"])
    assert "正常" in (await rig.say("小周", "/体检", SCORING))[0]


async def test_two_scorekeepers_confirm_at_the_same_moment(rig: Rig) -> None:
    """One is applied, the other is shown anew: never both, whichever comes first."""
    await rig.league_of("张三", "李四")
    await rig.say("裁判老赵", "张三 胜 李四")
    await rig.say("小周", "/改判 局1 负 报反了", SCORING)
    await rig.say("小吴", "/改判 局1 平 是和棋", SCORING)
    before = len(rig.qq.said_by_bot(SCORING))
    rig.qq.add_member(OFFICIAL, KEEPER_TWO, card="小吴")
    rig.qq.say(SCORING, KEEPER, "确认 预1")
    rig.qq.say(OFFICIAL, KEEPER_TWO, "确认 预2")
    await rig.idle()
    said = [m.text for m in rig.qq.said_by_bot(SCORING)[before:] + rig.qq.said_by_bot(OFFICIAL)]
    assert sum("请看新的" in text for text in said) == 1
    seqs = [row for row, _ in rig.league.book.corrections_of(rig.league.book.columns.seq[0])]
    assert len(seqs) == 1
    assert "正常" in (await rig.say("小周", "/体检", SCORING))[0]


async def test_a_preview_confirmed_twice_at_once_is_applied_once(rig: Rig) -> None:
    await rig.league_of("张三", "李四")
    await rig.say("裁判老赵", "张三 胜 李四")
    await rig.say("小周", "/撤销 局1 没有下过", SCORING)
    rig.qq.say(SCORING, KEEPER, "确认 预1")
    rig.qq.say(OFFICIAL, KEEPER, "确认 预1")
    await rig.idle()
    assert len(list(rig.league.book.corrections_of(rig.league.book.columns.seq[0]))) == 1


async def test_verdicts_that_would_now_differ_are_listed_and_stand(rig: Rig) -> None:
    """§10, L7: after the settlement a game of last season is found not to have been played."""
    rig.clock.at = ms("2026-06-01 12:00")
    await rig.league_of("张三", "李四", "王五")
    await rig.say("小周", "/赛事 新建 春季赛 1", SCORING)
    for opponent in ("李四", "王五"):
        await rig.say("裁判老赵", "#春季赛\n" + "\n".join([f"张三 平 {opponent}"] * 5))
    await rig.say("裁判老赵", "#春季赛\n" + "\n".join(["李四 平 王五"] * 5))
    rig.clock.at = ms("2027-02-02 12:00")
    (shown,) = await rig.say("小周", "/结算 执行 2026", SCORING)
    await rig.say("小周", shown.splitlines()[-1], SCORING)
    assert (2026, "单跳1v1") in rig.league.book.state.settled
    before = rig.rating("张三")
    (shown,) = await rig.say("小周", "/撤销 局1 没有下过", SCORING)
    assert "结算仍按原判" in shown
    assert "2026赛季单跳1v1 张三 判留榜，现在应为封存-20.0" in shown
    assert "2026赛季单跳1v1 李四 判留榜，现在应为封存-20.0" in shown
    assert len(shown) <= 500 and shown.count("\n") < 15
    await rig.say("小周", shown.splitlines()[-1], SCORING)
    assert abs(rig.rating("张三") - before) < 1
    (shown,) = await rig.say("小周", f"/撤销 账{rig.league.book.state.settled[2026, '单跳1v1']} 重来", SCORING)
    assert "/结算 回滚 2026 单跳1v1" in shown.splitlines()[-1]
    assert "正常" in (await rig.say("小周", "/体检", SCORING))[0]


async def test_a_correction_of_many_stays_short(rig: Rig) -> None:
    """commands.md, "Quiet by design": ten people at most, 15 lines and 500 characters; the rest is counted."""
    names = [f"名字特别长的棋手{chr(0x4E00 + number)}号" for number in range(30)]
    await rig.league_of(*names)
    lines = [f"{names[0]} 负 {name}" for name in names[1:]]
    await rig.say("裁判老赵", "\n".join(lines))
    (shown,) = await rig.say("小周", "/撤销 局1 " + "理由很长" * 20, SCORING)
    assert len(shown) <= 500 and shown.count("\n") < 15
    assert re.search(r"影响：30人 29局", shown)
    assert re.search(r"……还有\d+人\n", shown)
    assert shown.splitlines()[-1] == "确认 预1"
    (done,) = await rig.say("小周", "确认 预1", SCORING)
    assert "30人29局" in done and len(done) <= 500
    assert len(rig.last(OFFICIAL).text) <= 500
