"""Report text ↔ lines (rulebook §4): what is a report, how it is read, and why one is refused."""

import pytest

from rating_core.report_text import (
    WORDS,
    GameLine,
    ReportProblems,
    ReportText,
    Result,
    format_report,
    looks_like_report,
    parse_report,
    template,
)
from rating_core.roster import Roster

NAMES = ["张三", "李四", "王五", "赵六", "常胜将军", "平安", "孤 独 求败", "A", "B", "A B", "C", "DragonKing"]
ROSTER = Roster([(name, number, True) for number, name in enumerate(NAMES, 1)] + [("老张", 1, False)])
ID = {name: number for number, name in enumerate(NAMES, 1)}


def game(left: str, word: str, right: str) -> GameLine:
    """Build a line from names joined by +."""
    sides = [tuple(ID[name] for name in side.split("+")) for side in (left, right)]
    return GameLine(sides[0], WORDS[word], sides[1])


def read(text: str, side_size: int | None = 1, *, mixed: bool = False) -> tuple[GameLine, ...]:
    report = parse_report(text, ROSTER, side_size=side_size, mixed=mixed)
    assert isinstance(report, ReportText), report
    return report.lines


def refuse(text: str, side_size: int | None = 1, *, mixed: bool = False) -> ReportProblems:
    problems = parse_report(text, ROSTER, side_size=side_size, mixed=mixed)
    assert isinstance(problems, ReportProblems), problems
    return problems


def codes(problems: ReportProblems) -> list[tuple[int, str]]:
    return [(problem.number, problem.code) for problem in problems.problems]


class TestResult:
    def test_words_and_mirrors(self) -> None:
        assert [result.word for result in Result] == ["胜", "平", "负"]
        assert [result.mirrored for result in Result] == [Result.LOSS, Result.DRAW, Result.WIN]
        assert WORDS == {"胜": "W", "平": "D", "负": "L"}

    def test_a_mirrored_game_is_the_same_game(self) -> None:
        line = GameLine((1, 2), Result.WIN, (3, 4))
        assert line.mirrored() == GameLine((3, 4), Result.LOSS, (1, 2))
        assert line.mirrored().mirrored() == line
        assert line.players == (1, 2, 3, 4)


class TestReading:
    @pytest.mark.parametrize(
        "text",
        [
            "张三    胜    李四\n",
            "张三 胜 李四",
            "张三\u3000胜\u3000李四",
            "张三\u00a0\u00a0胜\u00a0李四",
            "张三\t胜\t\t李四",
            "张三\u3164胜\u115f李四",
            "\ufeff\u200b张三 \u200b胜 李\u200b四\u200b",
            "\n\n   张三 胜 李四\r\n\r\n",
            "张三 胜 李四\r",
            "\u2028张三 胜 李四\u2029",
            "老张 胜 李四",
            "<%\u0100\u0100\u0007\u00d0>张三 胜 李四",
        ],
    )
    def test_any_run_of_white_space_separates(self, text: str) -> None:
        assert read(text) == (game("张三", "胜", "李四"),)
        assert looks_like_report(text, ROSTER, False)

    def test_names_may_contain_result_words(self) -> None:
        assert read("常胜将军 胜 平安") == (game("常胜将军", "胜", "平安"),)
        assert read("平安 平 常胜将军") == (game("平安", "平", "常胜将军"),)

    def test_names_may_contain_spaces(self) -> None:
        assert read("孤 独 求败 负 张三") == (game("孤 独 求败", "负", "张三"),)
        assert read("张三 胜 孤   独\t求败") == (game("张三", "胜", "孤 独 求败"),)

    def test_lines_are_games_in_order_in_either_orientation(self) -> None:
        assert read("张三 胜 李四\n\n李四 平 张三\r张三 负 李四") == (
            game("张三", "胜", "李四"),
            game("李四", "平", "张三"),
            game("张三", "负", "李四"),
        )

    @pytest.mark.parametrize("side_size", [2, None])
    def test_sides_of_two(self, side_size: int | None) -> None:
        text = "张三 李四 胜 王五 赵六\n赵六 王五 平 李四 张三"
        assert read(text, side_size) == (game("张三+李四", "胜", "王五+赵六"), game("赵六+王五", "平", "李四+张三"))

    @pytest.mark.parametrize(
        ("text", "line"),
        [
            ("张三 A B 胜 李四 王五", game("张三+A B", "胜", "李四+王五")),
            ("A B C 胜 李四 王五", game("A B+C", "胜", "李四+王五")),
            ("A  B 胜 李四 王五", game("A+B", "胜", "李四+王五")),
            ("A B 胜 李四 王五", game("A+B", "胜", "李四+王五")),
            ("孤 独 求败 C 负 A B 张三", game("孤 独 求败+C", "负", "A B+张三")),
        ],
    )
    def test_the_roster_splits_a_side(self, text: str, line: GameLine) -> None:
        assert read(text, 2) == (line,)

    def test_several_splits_are_told_apart_by_runs_of_spaces(self) -> None:
        assert read("A B 胜 张三", None) == (game("A B", "胜", "张三"),)
        roster = Roster(
            [("A", 1, True), ("B C", 2, True), ("A B", 3, True), ("C", 4, True), ("甲", 5, True), ("乙", 6, True)]
        )
        spaced = parse_report("A  B C 胜 甲  乙", roster, side_size=2)
        assert spaced == ReportText(None, None, (GameLine((1, 2), Result.WIN, (5, 6)),))
        spaced = parse_report("A B    C 胜 甲  乙", roster, side_size=2)
        assert spaced == ReportText(None, None, (GameLine((3, 4), Result.WIN, (5, 6)),))
        vague = parse_report("A B C 胜 甲  乙", roster, side_size=2)
        assert isinstance(vague, ReportProblems) and codes(vague) == [(1, "ambiguous")]
        assert vague.problems[0].names == ("A / B C / 甲 / 乙", "A B / C / 甲 / 乙") and not vague.complete

    def test_one_or_two_a_side_is_told_apart_by_runs_of_spaces(self) -> None:
        names = ["A", "B", "C", "D", "A B", "C D"]
        roster = Roster([(name, number, True) for number, name in enumerate(names, 1)])
        single = parse_report("A B  胜  C D", roster, side_size=None)
        assert single == ReportText(None, None, (GameLine((5,), Result.WIN, (6,)),))
        double = parse_report("A  B  胜  C  D", roster, side_size=None)
        assert double == ReportText(None, None, (GameLine((1, 2), Result.WIN, (3, 4)),))
        mixture = parse_report("A  B  胜  C D", roster, side_size=None)
        assert isinstance(mixture, ReportProblems) and codes(mixture) == [(1, "ambiguous")]

    def test_headers(self) -> None:
        def head(text: str) -> ReportText | ReportProblems:
            return parse_report(text, ROSTER, side_size=1, events=["春季赛", "Cup 2"], pools=["单跳1v1"])

        lines = (game("张三", "胜", "李四"),)
        assert head("#春季赛\n张三 胜 李四") == ReportText("春季赛", None, lines)
        assert head("＃ 单跳1v1\n\n#Cup\u30002\n张三 胜 李四") == ReportText("Cup 2", "单跳1v1", lines)
        for text, code in (
            ("#夏季赛事\n张三 胜 李四", "unknown_header"),
            ("#12\n张三 胜 李四", "unknown_header"),
            ("#\n张三 胜 李四", "unknown_header"),
            ("#春季赛\n#春季赛\n张三 胜 李四", "repeated_header"),
            ("张三 胜 李四\n#春季赛", "late_header"),
            ("好\n#春季赛\n张三 胜 李四", "not_a_game late_header"),
        ):
            problems = head(text)
            assert isinstance(problems, ReportProblems) and " ".join(p.code for p in problems.problems) == code, text
            assert not problems.complete
        near = head("#春季塞\n张三 胜 李四")
        assert isinstance(near, ReportProblems) and near.corrected == "#春季赛\n张三    胜    李四\n" and near.complete
        for text in ("#春季塞\n#春季赛", "#春季塞\n#春季塞", "#单跳1v2\n#单跳1v1"):  # two of a kind cannot be meant
            twice = head(f"{text}\n张三 胜 李四")
            assert isinstance(twice, ReportProblems) and not twice.complete, text

    def test_a_referee_may_mix_pairs(self) -> None:
        text = "张三 胜 李四\n王五 负 赵六"
        assert read(text, mixed=True) == (game("张三", "胜", "李四"), game("王五", "负", "赵六"))

    def test_fifty_lines_with_blank_ones_between(self) -> None:
        assert len(read("张三 胜 李四\n\n" * 50)) == 50


class TestRefusal:
    @pytest.mark.parametrize(
        ("word", "right"),
        [
            ("赢", "胜"),
            ("输", "负"),
            ("和", "平"),
            ("赢了", "胜"),
            ("和棋", "平"),
            ("勝", "胜"),
            ("負", "负"),
            ("胜。", "胜"),
        ],
    )
    def test_wrong_words_are_corrected(self, word: str, right: str) -> None:
        text = f"张三 胜 李四\n张三 {word} 李四"
        assert looks_like_report(text, ROSTER, False)
        problems = refuse(text)
        assert codes(problems) == [(2, "result_word")]
        assert problems.problems[0].word == word
        assert problems.problems[0].fixed == f"张三    {right}    李四"
        assert problems.corrected == f"张三    胜    李四\n张三    {right}    李四\n"
        assert problems.complete

    @pytest.mark.parametrize("word", ["胜胜", "负负", "胜负", "和和", "吊打", "2:1"])
    def test_words_that_may_mean_anything_are_not(self, word: str) -> None:
        problems = refuse(f"张三 {word} 李四")
        assert codes(problems) == [(1, "result_word")]
        assert problems.corrected == f"张三 {word} 李四\n"
        assert not problems.complete

    def test_a_near_miss_is_never_taken(self) -> None:
        problems = refuse("张山 胜 李四")
        assert codes(problems) == [(1, "unknown_name")]
        assert problems.problems[0].names == ("张山",)
        assert problems.problems[0].suggestions == (("张三",),)
        assert problems.corrected == "张三    胜    李四\n"
        assert problems.complete

    def test_lookalikes_are_not_taken_either(self) -> None:
        problems = refuse("DrаgonKing 胜 李四")  # Cyrillic а
        assert problems.problems[0].suggestions == (("DragonKing",),)

    def test_an_unclear_near_miss_stays_as_typed(self) -> None:
        roster = Roster([("张三", 1, True), ("张四", 2, True), ("赵六", 3, True)])
        problems = parse_report("张五 赢 赵六", roster, side_size=1)
        assert isinstance(problems, ReportProblems)
        assert codes(problems) == [(1, "result_word"), (1, "unknown_name")]
        assert problems.problems[1].suggestions == (("张三", "张四"),)
        assert problems.corrected == "张五    胜    赵六\n" and not problems.complete

    def test_an_unknown_name_without_near_miss(self) -> None:
        problems = refuse("张三 胜 无名氏来也")
        assert codes(problems) == [(1, "unknown_name")]
        assert problems.problems[0].suggestions == ((),)
        assert not problems.complete

    def test_a_near_miss_that_does_not_fit_the_pair_is_no_correction(self) -> None:
        problems = refuse("张三 胜 李四\n张三 胜 王舞")
        assert codes(problems) == [(2, "unknown_name")]
        assert problems.problems[0].suggestions == (("王五",),)
        assert problems.corrected == "张三    胜    李四\n张三    胜    王舞\n" and not problems.complete

    def test_words_beside_a_name(self) -> None:
        for text in ("1. 张三 胜 李四", "张三 胜 李四 第三盘"):
            problems = refuse(text)
            assert codes(problems) == [(1, "unknown_name")]
            assert problems.corrected == "张三    胜    李四\n" and problems.complete

    @pytest.mark.parametrize(
        ("text", "side_size", "name"),
        [
            ("张三 胜 张三", 1, "张三"),
            ("张三 胜 老张", 1, "张三"),
            ("张三 张三 胜 李四 王五", 2, "张三"),
            ("张三 李四 胜 王五 张三", None, "张三"),
        ],
    )
    def test_the_same_player_twice(self, text: str, side_size: int | None, name: str) -> None:
        assert looks_like_report(text, ROSTER, False)
        problems = refuse(text, side_size)
        assert codes(problems) == [(1, "same_player")]
        assert problems.problems[0].names == (name,) and not problems.complete

    def test_the_same_player_twice_with_a_wrong_word(self) -> None:
        assert codes(refuse("张三 赢 张三")) == [(1, "result_word"), (1, "same_player")]

    @pytest.mark.parametrize(
        ("text", "side_size"),
        [
            ("张三 李四 胜 王五 赵六", 1),
            ("张三 胜 李四", 2),
            ("张三 胜 李四 王五", 1),
            ("张三 胜 李四 王五", 2),
            ("张三 胜 李四 王五", None),
            ("张三 胜 无名", 2),
        ],
    )
    def test_a_side_of_the_wrong_size(self, text: str, side_size: int | None) -> None:
        assert codes(refuse(text, side_size)) == [(1, "wrong_side")]

    def test_sizes_do_not_change_inside_a_report(self) -> None:
        text = "张三 胜 李四\n张三 李四 胜 王五 赵六"
        assert codes(refuse(text, None)) == codes(refuse(text, None, mixed=True)) == [(2, "wrong_side")]

    @pytest.mark.parametrize("other", ["张三 胜 王五", "王五 胜 李四", "李四 胜 王五"])
    def test_two_pairs(self, other: str) -> None:
        problems = refuse(f"张三 胜 李四\n李四 胜 张三\n{other}\n{other}")
        assert codes(problems) == [(3, "several_pairs")]
        assert problems.corrected is None and not problems.complete

    def test_two_pairs_of_sides(self) -> None:
        assert codes(refuse("张三 李四 胜 王五 赵六\n张三 王五 胜 李四 赵六", 2)) == [(2, "several_pairs")]

    def test_one_bad_line_of_five_records_nothing(self) -> None:
        text = "张三 胜 李四\n张三 负 李四\n张三 输 李四\n李四 平 张三\n张三 胜 李四\n"
        problems = refuse(text)
        assert codes(problems) == [(3, "result_word")]
        assert problems.corrected is not None and problems.corrected.count("\n") == 5
        assert len(read(problems.corrected)) == 5

    def test_talk_around_the_games_is_left_out_of_the_corrected_report(self) -> None:
        problems = refuse("刚下完\n张三 胜 李四\n辛苦了")
        assert codes(problems) == [(1, "not_a_game"), (3, "not_a_game")]
        assert problems.corrected == "张三    胜    李四\n" and problems.complete

    def test_a_line_that_may_hide_a_game_is_not_left_out(self) -> None:
        problems = refuse("张三 胜 李四\n还有一盘胜了")
        assert problems.corrected == "张三    胜    李四\n还有一盘胜了\n" and not problems.complete

    def test_lost_spaces(self) -> None:
        problems = refuse("张三 胜 李四\n张三平李四\n常胜将军胜平安")
        assert codes(problems) == [(2, "not_a_game"), (3, "not_a_game"), (3, "several_pairs")]
        assert [problem.fixed for problem in problems.problems[:2]] == ["张三    平    李四", "常胜将军    胜    平安"]

    @pytest.mark.parametrize(
        ("text", "code"),
        [
            ("张三 胜 李四\n" * 51, "too_many_lines"),
            ("张三 胜 李四\n" * 49 + "张三 赢 李四\n张三 赢 李四", "too_many_lines"),
            ("张三 胜 李四".ljust(5000), "too_long"),
            ("x" * 4001, "too_long"),
            ("", "empty"),
            ("\u200b\n \r\n", "empty"),
        ],
    )
    def test_the_message_as_a_whole(self, text: str, code: str) -> None:
        problems = refuse(text)
        assert codes(problems) == [(0, code)]
        assert problems.corrected is None and not problems.complete

    def test_line_numbers_are_those_of_the_message(self) -> None:
        assert codes(refuse("\n张三 胜 李四\n\n张三 输 李四")) == [(4, "result_word")]


class TestIsItAReport:
    @pytest.mark.parametrize(
        "text",
        [
            "今天中国队 胜 日本队",
            "请假的人真多",
            "张三 李四",
            "张三胜李四",
            "胜",
            "张三 胜",
            "胜 张三",
            "张三 和 你们 今晚来吗",
            "我 和 张三 说过了",
            "今天 和 昨天",
            "输 赢 都 一样",
            "#春季赛",
            "",
            "\n\u200b",
            "确认",
            "/等级分 张三",
        ],
    )
    @pytest.mark.parametrize("player", [True, False])
    def test_chat_is_not(self, text: str, player: bool) -> None:
        assert not looks_like_report(text, ROSTER, player)

    @pytest.mark.parametrize(
        "text",
        [
            "张三 胜 李四",
            "张三 和 李四",
            "张三 胜胜 李四",
            "刚打完\n张三 胜 李四",
            "#春季赛\n张三 负 李四",
            "张三 胜 李四 王五",
            "张三 李四 胜 谁 也不是",
            "张三 胜 李四\n" * 51,
            "张三 胜 李四\n" * 600,
            "孤 独 求败 胜 A B",
        ],
    )
    def test_two_known_names_in_a_line_are(self, text: str) -> None:
        assert looks_like_report(text, ROSTER, False)

    @pytest.mark.parametrize(
        "text",
        [
            "张三 胜 无名氏来也",
            "张山 胜 李思",
            "#春季赛\n张山 胜 谁谁谁\n\n",
            "我 输 李四",
            "张三 和 李思",
            "dragonking 胜 谁谁谁",
        ],
    )
    def test_a_players_message_of_nothing_but_lines_is(self, text: str) -> None:
        assert looks_like_report(text, ROSTER, True)
        assert not looks_like_report(text, ROSTER, False)

    def test_a_players_talk_with_such_a_line_in_it_is_not(self) -> None:
        assert not looks_like_report("刚才\n张三 胜 无名氏来也", ROSTER, True)


class TestWriting:
    def test_the_canonical_form(self) -> None:
        lines = [game("张三", "胜", "李四"), game("A B", "负", "张三")]
        text = format_report(lines, ROSTER.name_of, event="春季赛", pool="单跳1v1")
        assert text == "#春季赛\n#单跳1v1\n张三    胜    李四\nA B    负    张三\n"
        assert format_report([game("张三+A B", "平", "李四+C")], ROSTER.name_of) == "张三    A B    平    李四    C\n"

    def test_the_template(self) -> None:
        assert template() == "棋手A    胜    棋手B\n"
        assert template("张三", "李四") == "张三    胜    李四\n"
        assert template("张三") == "张三    胜    棋手B\n"
        assert template(side_size=2) == "棋手A    棋手B    胜    棋手C    棋手D\n"
        assert template(["张三", "李四"], ["王五"], side_size=2) == "张三    李四    胜    王五    棋手D\n"
        assert read(template("张三", "A B")) == (game("张三", "胜", "A B"),)
