"""What is said to a report that cannot be recorded."""

import pytest

from plugins.rating_bot.wording.report_errors import refused_report
from rating_core.report_text import ReportProblems, ReportText, parse_report
from rating_core.roster import Roster

NAMES = ["张三", "李四", "王五", "赵六", "常胜将军"]
ROSTER = Roster([(name, number, True) for number, name in enumerate(NAMES, 1)])


def answer(text: str, side_size: int | None = 1) -> str:
    problems = parse_report(text, ROSTER, side_size=side_size, events=["春季赛"])
    assert isinstance(problems, ReportProblems)
    return "\n".join(refused_report(problems))


def test_a_wrong_word_is_answered_with_the_whole_report_to_copy() -> None:
    assert answer("张三 胜 李四\n张三 赢 李四\n") == (
        "未记录，整份报分都没有记：\n"
        "第2行“张三 赢 李四”：结果只能写胜、平、负，「赢」请写「胜」。\n"
        "改好的在下面，核对无误后整段复制发送：\n"
        "张三    胜    李四\n"
        "张三    胜    李四"
    )


def test_the_copied_part_is_a_report() -> None:
    said = answer("刚打完\n#春季塞\n张三 输 李四\n张山 和 李四\n张三胜李四")
    assert "改好的" not in said
    said = answer("#春季塞\n张三 输 李四\n张山 和 李四\n张三胜李四")
    copied = said.split("复制发送：\n")[1]
    assert isinstance(parse_report(copied, ROSTER, side_size=1, events=["春季赛"]), ReportText)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("张三 输 李四", ["第1行", "「输」请写「负」"]),
        ("张三 和 李四", ["「和」请写「平」"]),
        ("张三 胜胜 李四", ["看不懂「胜胜」", "请把下面这份改对后整段重发"]),
        ("张山 胜 李四", ["榜上没有「张山」", "是不是「张三」？", "张三    胜    李四"]),
        ("张三 胜 无名氏来也", ["榜上没有「无名氏来也」。"]),
        ("张三 胜 张三", ["「张三」在这一行出现了两次"]),
        ("张三 胜 李四\n张三 胜 王五", ["第2行", "请按对手分开报"]),
        ("张三 胜 李四 王五", ["两边的人数不对"]),
        ("张三 胜 李四\n你好", ["第2行“你好”", "这一行不是对局"]),
        ("张三胜李四", ["名字和结果之间要有空格"]),
        ("张三 胜 李四\n还有一盘胜了", ["看不出哪是名字"]),
        ("#夏季大赛\n张三 胜 李四", ["没有叫「夏季大赛」的赛事或榜。"]),
        ("#春季塞\n张三 胜 李四", ["是不是「春季赛」？"]),
        ("#春季赛\n#春季赛\n张三 胜 李四", ["各写一行"]),
        ("张三 胜 李四\n#春季赛", ["要写在最前面"]),
        ("张三 胜 李四\n" * 51, ["一次最多报50局"]),
        ("张三 胜 李四".ljust(5000), ["一次最多4000个字"]),
        ("", ["里面没有对局"]),
    ],
)
def test_the_reason_is_given(text: str, parts: list[str]) -> None:
    said = answer(text)
    assert said.startswith("未记录")
    for part in parts:
        assert part in said


def test_two_readings_are_shown() -> None:
    roster = Roster([(name, number, True) for number, name in enumerate(["A", "B C", "A B", "C", "甲", "乙"])])
    problems = parse_report("A B C 胜 甲 乙", roster, side_size=2)
    assert isinstance(problems, ReportProblems)
    assert "A / B C / 甲 / 乙；A B / C / 甲 / 乙" in refused_report(problems)[0]


def test_several_pairs_are_said_first() -> None:
    said = answer("张三 赢 李四\n" * 5 + "张三 胜 王五")
    assert said.splitlines()[1].endswith("请按对手分开报。")
    assert "另有3处。" in said and "复制" not in said


def test_all_that_is_wrong_with_a_line_is_said_together() -> None:
    said = answer("张山 赢 李四")
    assert said.splitlines()[1] == (
        "第1行“张山 赢 李四”：结果只能写胜、平、负，「赢」请写「胜」。榜上没有「张山」，是不是「张三」？"
    )


def test_many_problems_stay_short() -> None:
    problems = parse_report(
        "\n".join(f"{'很长的名字' * 5}{number} 赢 {'另一个' * 9}" for number in range(8)), ROSTER, side_size=1
    )
    assert isinstance(problems, ReportProblems)
    reasons, *pages = refused_report(problems)
    assert "另有5处。" in reasons and "改对后" in reasons
    assert "\n".join(pages) == (problems.corrected or "").rstrip("\n")
    assert all(len(page) <= 500 and len(page.splitlines()) <= 15 for page in (reasons, *pages))


def test_a_long_report_to_copy_is_on_pages_of_its_own() -> None:
    problems = parse_report("#春季赛\n" + "张三 赢 李四\n" * 50, ROSTER, side_size=1, events=["春季赛"])
    assert isinstance(problems, ReportProblems)
    reasons, *pages = refused_report(problems)
    assert reasons.endswith(f"整份在下面{len(pages)}条里，核对无误后按顺序接成一份发送。")
    assert isinstance(parse_report("\n".join(pages), ROSTER, side_size=1, events=["春季赛"]), ReportText)
    assert all(len(page) <= 500 and len(page.splitlines()) <= 15 for page in (reasons, *pages))
