"""The formula in words, word for word: /计算, /预测 and /解释."""

from plugins.rating_bot.wording import formula
from rating_core.elo import show_change
from rating_core.ledger import Amend, IpChecked, LeaveTaken
from rating_core.queries import calculate, explain, prediction
from rating_core.report_text import Result
from rating_core.rulebook import LEAGUE_RULES, RuleSet
from tests.support.books import Books, sample
from tests.support.rows import ms

POOL, PAIRS = "单跳1v1", "单跳2v2"
NOW = ms("2026-11-30 12:00")
LEAGUE = sample()
BOOK, NAMES = LEAGUE.book(), LEAGUE.directory


def explained(number: int) -> str:
    found = explain(BOOK, NAMES, number)
    assert found is not None
    return formula.explanation(found, NAMES.name_of)


# --- calculations and predictions


def test_a_calculation() -> None:
    assert (
        formula.calculation(calculate([2000.0], Result.WIN, [2200.0]), LEAGUE_RULES)
        == """\
2000.0 胜 2200.0，系数c=1
新分=旧分+K×c×(W-We)（L1）
We=1÷(10^(-dr÷400)+1)，dr=-200.0，We=0.2403
左：K=32（不到2100）
2000.0+32×1×(1-0.2403)=2024.3（+24.3）
右：K=24（2100起、不到2400），We=0.7597
2200.0+24×1×(0-0.7597)=2181.8（-18.2）"""
    )


def test_no_negative_zero() -> None:
    text = formula.calculation(calculate([2400.0], Result.DRAW, [2400.0], 1.2), LEAGUE_RULES)
    assert "dr=+0.0，We=0.5000" in text
    assert text.count("2400.0+16×1.2×(0.5-0.5000)=2400.0（+0.0）") == 2
    assert "-0.0" not in text
    assert show_change(-0.04) == "+0.0"


def test_another_expectancy_prints_no_logistic_formula() -> None:
    normal = RuleSet(expectancy="normal")
    text = formula.calculation(calculate([2000.0], Result.WIN, [2200.0], 1.0, normal), normal)
    assert "10^" not in text
    assert "分差dr=-200.0，We=0.2420" in text


def test_a_prediction() -> None:
    foretold = prediction(BOOK, NAMES, POOL, (1,), (4,), NOW)
    assert (
        formula.prediction(foretold, NAMES.name_of)
        == """\
张三 对 赵六（单跳1v1，约战系数1）
现在的分：2065.8 对 1999.5
期望得分We：0.5943 对 0.4057
张三胜：张三 +13.0，赵六 -13.0
张三平：张三 -3.0，赵六 +3.0
张三负：张三 -19.0，赵六 +19.0
防刷分（L6）：2026年约战净胜0局，到4局就暂停计分
现在下约战：计分。"""
    )


def test_a_prediction_that_does_not_count() -> None:
    foretold = prediction(BOOK, NAMES, POOL, (1,), (2,), NOW)
    text = formula.prediction(foretold, NAMES.name_of)
    assert text.endswith("张三还差4局，李四还差3局\n现在下约战：不计分。")
    books = Books()
    books.join("甲", "高分", rating=2300.0)
    books.add(IpChecked(1, True))
    books.add(LeaveTaken(1, ms("2027-01-01"), ()))
    foretold = prediction(books.book(), books.directory, POOL, (1,), (2,), NOW)
    barred = [line for line in formula.prediction(foretold, books.directory.name_of).splitlines() if "不能" in line]
    assert barred == [
        "现在不能报分：甲请假中，2027-01-01起才能参赛（L8）。",
        "现在不能报分：高分实际分满2200，还没有核验IP截图（L11）。",
    ]
    assert "现在下约战" not in formula.prediction(foretold, books.directory.name_of)


def test_a_prediction_in_2v2() -> None:
    foretold = prediction(BOOK, NAMES, PAIRS, (1, 3), (2, 4), NOW)
    assert formula.prediction(foretold, NAMES.name_of).splitlines()[:4] == [
        "张三、王五 对 李四、赵六（单跳2v2，约战系数1）",
        "现在的分：2016.0、2016.0 对 1984.0、1984.0",
        "期望得分We：0.5459 对 0.4541",
        "左边胜：左边 +14.5、+14.5，右边 -14.5、-14.5",
    ]


# --- explanations


def test_an_explanation() -> None:
    assert (
        explained(4)
        == """\
局4（#2，账4）单跳1v1 2026-03-02 20:00
张三 胜 李四，约战，系数c=1（L5）
新分=旧分+K×c×(W-We)（L1），We=1÷(10^(-dr÷400)+1)，dr=+58.4，We=0.5832
张三：K=32（不到2100），W=1，We=0.5832
2029.2+32×1×(1-0.5832)=2042.5（+13.3）
李四：K=32（不到2100），W=0，We=0.4168
1970.8+32×1×(0-0.4168)=1957.5（-13.3）
计分（L6）：赛前张三净胜1局，没到4局
未满20盘（L12）：下完这局依次还差16、16盘"""
    )


def test_an_explanation_of_a_game_that_does_not_count() -> None:
    assert (
        explained(7)
        == """\
局7（#2，账4）单跳1v1 2026-03-02 20:00
张三 胜 李四，约战，系数c=1（L5）
不计分（L6）：赛前净胜负已到4局，当时还要与别人下计分棋：张三4局，李四4局
分数不变：张三 2065.8，李四 1934.2"""
    )


def test_an_explanation_of_an_event_game() -> None:
    text = explained(8)
    assert text.splitlines()[1] == "王五 负 李四，赛事皇后杯，系数c=1.2（L5）"
    assert "赛事局一律计分，不算进防刷分（L6）" in text


def test_explanations_of_corrected_games() -> None:
    assert explained(10).splitlines()[2] == "更正过，这里是更正后的：账11 改判为负"
    assert (
        explained(11)
        == """\
局11（#4，账9）单跳1v1 2026-05-01 20:00
王五 负 赵六，约战，系数c=1（L5）
更正过，这里是更正后的：账10 作废
已作废，不影响任何人的分数和盘数"""
    )


def test_an_explanation_in_2v2() -> None:
    assert (
        explained(12)
        == """\
局12（#5，账12）单跳2v2 2026-06-01 20:00
张三、王五 胜 李四、赵六，约战，系数c=1（L5）
新分=旧分+K×c×(W-We)（L1），K按各人自己的分
两边平均 2000.0 对 2000.0，dr=+0.0，We=0.5000 对 0.5000
张三：2000.0+32×1×(1-0.5000)=2016.0（+16.0）
王五：2000.0+32×1×(1-0.5000)=2016.0（+16.0）
李四：2000.0+32×1×(0-0.5000)=1984.0（-16.0）
赵六：2000.0+32×1×(0-0.5000)=1984.0（-16.0）
计分（L6）：赛前净胜0局，没到4局
未满20盘（L12）：下完这局依次还差19、19、19、19盘"""
    )


def test_many_corrections_are_named_the_newest_first() -> None:
    books = Books()
    row = books.play("甲 胜 乙")
    event = books.event("皇后杯", 2.0)
    for word in "负平胜":
        books.amend(row, 1, f"甲 {word} 乙")
    books.add(Amend(event=event, weight=2.0), about=row)
    books.add(Amend(event=None, weight=1.0), about=row)
    found = explain(books.book(), books.directory, 1)
    assert found is not None
    assert formula.explanation(found, books.directory.name_of).splitlines()[2] == (
        "更正过，这里是更正后的：账9 改为约战系数1、账8 改为皇后杯系数2、账7 改判为胜、账6 改判为平等5次"
    )
