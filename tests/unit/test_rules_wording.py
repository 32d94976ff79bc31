"""/规则: every clause is found, with the numbers of the rulebook, and the credit that L16 asks for."""

import pytest

from plugins.rating_bot.wording import rules
from rating_core.rulebook import Rule
from rating_core.times import day_of
from tests.support.rows import ms

TODAY = day_of(ms("2026-11-30"))


def test_the_overview_lists_every_clause_and_credits() -> None:
    text = rules.rules("", TODAY)
    assert all(f"L{number} " in text for number in range(1, 17))
    assert "报分" in text and "挑战者" in text and "规则文字归联盟所有" in text
    assert text.endswith("\n/规则 L6")


@pytest.mark.parametrize("asked", ["L6", "l6", "6", "Ｌ６", "第6条", "防刷分", "刷分", " L 6 ", "净胜"])
def test_a_clause_is_found_by_number_or_word(asked: str) -> None:
    assert (
        rules.rules(asked, TODAY)
        == """\
L6 防刷分
约战盘数不限，但同一对手净胜或净负到4局（胜加1，负减1，平不动）以后，两人再下约战照样记录，不计分，也不算盘数；\
要两人都各与别人再下满4局计分棋，才重新计分，净胜从0算起。
按榜、按赛季各算各的，新赛季从0算起；2v2按两边的组合算，换了搭档就是另一对，四个人都要下满。计不计分在报分生效的时候定。
赛事局一律计分，不动净胜；与别人下的赛事局算下满的局，两人之间的赛事局和不计分的局不算。
看两人的情况：/对战 甲 乙
规则文字归联盟所有，特别鸣谢表格主编「挑战者」（L16）。"""
    )


@pytest.mark.parametrize(
    ("asked", "first"),
    [
        ("报分", "报分"), ("报分格式", "报分"), ("K", "L1 计算公式"), ("原始分", "L4 原始分"), ("系数", "L5 系数"),
        ("请假", "L8 请假"), ("强制约战", "L9 强制约战"), ("IP", "L11 核验IP"), ("未满20盘", "L12 显示分"),
        ("蒙面人公用号", "L13 蒙面人"), ("最高分", "L14 历史最高分"), ("涨跌", "L15 涨跌"), ("挑战者", "L16 鸣谢"),
        ("16", "L16 鸣谢"), ("1", "L1 计算公式"), ("封存", "说到它的有："),
        ("17", "没有找到这一条。"), ("zzz", "没有找到这一条。"), ("。", "没有找到这一条。"),
    ],
)  # fmt: skip
def test_what_a_word_finds(asked: str, first: str) -> None:
    assert rules.rules(asked, TODAY).splitlines()[0] == first


def test_a_word_of_several_clauses_is_asked_back() -> None:
    assert (
        rules.rules("封存", TODAY)
        == """\
说到它的有：
L7 年底结算
L8 请假
L10 高分免封存
看其中一条：
/规则 L7"""
    )


def test_numbers_come_from_the_rulebook(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "未满20盘" in rules.rules("L12", TODAY) and "2017-01-01以前是10盘" in rules.rules("L12", TODAY)
    old = rules.rules("L12", day_of(ms("2016-12-31")))
    assert "未满10盘" in old and "以前是" not in old
    monkeypatch.setattr(Rule, "on", lambda self, day: 77)
    assert "净负到77局" in rules.rules("L6", TODAY)
    assert "扣77分" in rules.rules("L7", TODAY)


def test_leave_and_forced_challenges_say_what_the_rulebook_says() -> None:
    """§8, §9, sentence by sentence."""
    leave, challenge = rules.rules("L8", TODAY), rules.rules("L9", TODAY)
    for said in (
        "在下过的榜里，本赛季有不满10局的，可以请假", "不满的榜马上封存、不扣分，已满的榜留在榜上",
        "到赛季结束所有榜都不能参赛", "被人强制约战还没了结的，不能自己请假", "代办，那次约战随之取消，不扣分",
        "12月29日起）谁也不能请假", "销假只用来作废登记错了的请假",
    ):  # fmt: skip
        assert said in leave
    for said in (
        "一对一的榜里，自己能参赛的人每周（周一零点起）每个榜有1次", "7天（168小时）内应战",
        "发起以后、期限以前报上两人的一局就算，计不计分都行", "扣50分，两边的群都公布",
        "在等确认或有争议就先不扣，它作废或撤回了再扣", "蒙面人不能被约",
        "刷分锁住的两人、已有一次没了结的两人也不能约",
        "期限以前有一方变得不能参赛，约战取消，不扣分，机会退回", "取消（机会退回）、延期、免罚", "到期前72、24小时",
    ):  # fmt: skip
        assert said in challenge
    for text in (rules.rules("L6", TODAY), leave, challenge):
        assert len(text) <= 500 and text.count("\n") < 15


def test_what_peaks_and_changes_mean() -> None:
    """L14 and L15, as the board and the lists have them."""
    assert rules.rules("L14", TODAY).splitlines()[1] == (
        "历史最高分从第20盘起算，是实际分到过的最高值和日期；蒙面人没有。"
    )
    assert rules.rules("榜单", TODAY).splitlines()[:5] == [
        "L15 涨跌",
        "涨跌是显示分和名次与上一期榜单比的结果，上一期没有的人标「新」。",
        "记分员发布的榜单编成第N期，发布以后不再变；更正只改现在的榜。年底结算也发布一期。",
        "看某一期：/排行榜 第1期",
        "看过去某天：/排行榜 2026-11-30",
    ]


def test_the_formula_of_l1_lists_the_bands() -> None:
    assert "不到2100时K=32，2100起K=24，2400起K=16" in rules.rules("L1", TODAY)
