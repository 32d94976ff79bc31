"""Names: cleaning, the form in which they are compared, lookalikes, and what a new name may be."""

import sys
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rating_core import names
from rating_core.names import check_new_name, clean_text, normalize_name, skeleton
from rating_core.rulebook import PLACINGS

COLOUR = "<%\u0100\u0100\u0007\u00d0>"
COLOUR2 = "<$\u00ff\u0100\u000e>"
AWKWARD = "<>%$&\u0100\u00d0\x07\x00\u200b\u3164\ufe0f\u0301\u030aAＫ\u212a \u3000\n\r\u2028张三"

awkward_text = st.text(st.one_of(st.sampled_from(AWKWARD), st.characters(exclude_categories=())), max_size=40)


class TestCleanText:
    @pytest.mark.parametrize("end", ["\r\n", "\r", "\x0b", "\x0c", "\x85", "\u2028", "\u2029"])
    def test_every_line_end_becomes_a_newline(self, end: str) -> None:
        assert clean_text(f"甲{end}乙\n") == "甲\n乙\n"

    @pytest.mark.parametrize(
        "mark",
        "\u200b\u200c\u200d\u200e\u202e\u2060\u2066\ufeff\u00ad\ufe0f\u034f\u180e\x00\x07\x7f\x9f\U000e0101\ud800",
    )
    def test_invisible_characters_go(self, mark: str) -> None:
        assert clean_text(f"{mark}张{mark}三{mark}") == "张三"

    @pytest.mark.parametrize("space", "\t\u00a0\u1680\u2003\u202f\u205f\u3000\u3164\u115f\u1160\uffa0\u2800")
    def test_every_blank_becomes_one_space(self, space: str) -> None:
        assert clean_text(f"张三{space}{space}胜") == "张三  胜"

    @pytest.mark.parametrize("code", [COLOUR, COLOUR2, f"<%\u0100{COLOUR}\u0100>", "<&\u00ff\u00ff5@>"])
    def test_colour_codes_go(self, code: str) -> None:
        assert clean_text(f"{code}张{code}三{code}") == "张三"

    @pytest.mark.parametrize(
        "text", ["<red>", "a<b>c", "<%d>", "<$abc>", "<", "><", "<%张三>", "a < b > c", "<%>\u0100>"]
    )
    def test_what_only_resembles_a_colour_code_stays(self, text: str) -> None:
        assert clean_text(text) == text

    def test_marks_of_mentions_are_left_to_the_wire(self) -> None:
        assert clean_text("\ue000100\ue001") == "\ue000100\ue001"


class TestNormalizeName:
    @pytest.mark.parametrize(
        ("typed", "name"),
        [
            ("  张三\n", "张三"),
            ("张\u3000 三", "张 三"),
            (f"{COLOUR}张三{COLOUR2}", "张三"),
            ("e\u0301", "é"),
            ("张\r\n三", "张 三"),
            ("\u3164", ""),
            ("", ""),
        ],
    )
    def test_form(self, typed: str, name: str) -> None:
        assert normalize_name(typed) == name

    @given(awkward_text)
    @settings(max_examples=500, deadline=None)
    def test_is_idempotent_and_clean(self, text: str) -> None:
        name = normalize_name(text)
        assert normalize_name(name) == name
        assert unicodedata.is_normalized("NFC", name)
        assert "  " not in name and name == name.strip() and "\n" not in name

    @given(st.text(st.sampled_from("<>%\u0100\x07A\u030a\u212a\u200b"), max_size=30))
    @settings(max_examples=500, deadline=None)
    def test_is_idempotent_on_nested_colour_codes(self, text: str) -> None:
        assert normalize_name(normalize_name(text)) == normalize_name(text)


class TestSkeleton:
    @pytest.mark.parametrize(
        ("name", "lookalike"),
        [
            ("A", "А"),  # Cyrillic
            ("A", "Α"),  # Greek
            ("Abc", "ａｂｃ"),
            ("ABC", "abc"),
            ("张三", "张\u200b 三"),
            ("龙", "⻰"),
            ("一", "⼀"),
            ("一", "ー"),
            ("一", "—"),
            ("〇", "O"),
            ("○", "0"),
            ("Il1", "lII"),
            ("棋手1", "棋手l"),
            ("口", "ロ"),
            ("工", "エ"),
            ("Jose", "José"),
            ("mom", "rnom"),
            ("张三", "张\u2800三"),
            ("o\u0338", "ø"),
        ],
    )
    def test_lookalikes_have_one_skeleton(self, name: str, lookalike: str) -> None:
        assert skeleton(name) == skeleton(lookalike)

    @pytest.mark.parametrize(
        ("name", "other"),
        [("张三", "张山"), ("平安", "平按"), ("a", "b"), ("棋手1", "棋手2"), ("末", "未"), ("か", "が")],
    )
    def test_other_names_have_another(self, name: str, other: str) -> None:
        assert skeleton(name) != skeleton(other)

    def test_every_character_has_a_skeleton_that_stays(self) -> None:
        for code in range(sys.maxunicode + 1):
            key = skeleton(chr(code))
            assert skeleton(key) == key, f"U+{code:04X}"

    @given(awkward_text)
    @settings(max_examples=300, deadline=None)
    def test_is_idempotent_and_sees_through_form(self, text: str) -> None:
        assert skeleton(skeleton(text)) == skeleton(text)
        assert skeleton(normalize_name(text)) == skeleton(text)


class TestNewName:
    @pytest.mark.parametrize(
        "name",
        [
            "张三",
            "常胜将军",
            "平安",
            "和平",
            "平平",
            "A B",
            "孤 独 求败",
            "Ace",
            "棋手1",
            "十三",
            "一",
            "🐉龙",
            "ナルト",
            "José",
            "前锋",
            "局长",
            "第一期待",
            "甲" * 16,
            "e\u0323\u0302" * 16,
        ],
    )
    def test_is_allowed(self, name: str) -> None:
        assert check_new_name(normalize_name(name)) is None

    @pytest.mark.parametrize(
        ("name", "code"),
        [
            ("", "empty"),
            ("\u3164", "empty"),
            ("甲" * 17, "too_long"),
            ("甲" * 4000, "too_long"),
            ("a" + "\u0316" * 40, "character"),
            ("张  三", "spaces"),
            (" 张三", "spaces"),
            ("张\u200b三", "character"),
            ("张\n三", "character"),
            ("张\u3000三", "spaces"),
            ("张三\ue000", "character"),
            ("张三\u0378", "character"),
            ("\u0301a", "invisible"),
            ("……", "invisible"),
            ("¨", "invisible"),
            ("12", "digits"),
            ("１２", "digits"),
            ("1 2", "digits"),
            ("1.2", "digits"),
            ("+16", "digits"),
            ("②", "digits"),
            ("2026-10-01", "date"),
            ("2026/1/2", "date"),
            ("2026年10月1日", "date"),
            ("10月1日", "date"),
            ("10-01", "date"),
            ("2026年", "date"),
            ("32强", "placing"),
            ("３２强", "placing"),
            ("旧前十", "placing"),
            ("胜", "result_word"),
            ("张 胜", "result_word"),
            ("风 和 日丽", "result_word"),
            ("贏", "result_word"),
            ("单跳1v1", "pool_name"),
            ("单跳1Ｖ1", "pool_name"),
            ("空跳 2v2", "pool_name"),
            ("第3期", "number_word"),
            ("第十期", "number_word"),
            ("第2页", "number_word"),
            ("前30", "number_word"),
            ("前十", "number_word"),
            ("局34", "number_word"),
            ("约5", "number_word"),
            ("审 3", "number_word"),
            ("预7", "number_word"),
            ("账56", "number_word"),
            ("#12", "start"),
            ("＃春季赛", "start"),
            ("/帮助", "start"),
            ("／帮助", "start"),
            ("「张三」", "quote"),
            ('"张三"', "quote"),
            ("“张三”", "quote"),
            ("@张三", "at"),
            ("张＠三", "at"),
            ("确认", "command_word"),
            ("OK", "command_word"),
            ("等级分", "command_word"),
        ],
    )
    def test_is_refused(self, name: str, code: str) -> None:
        problem = check_new_name(name, {"确认", "ok", "等级分"})
        assert problem is not None and problem.code == code

    @pytest.mark.parametrize("placing", PLACINGS)
    def test_no_placing_is_a_name(self, placing: str) -> None:
        assert check_new_name(placing) is not None

    @given(awkward_text)
    @settings(max_examples=500, deadline=None)
    def test_an_allowed_name_is_in_normal_form_and_can_be_seen(self, text: str) -> None:
        if check_new_name(text) is None:
            assert normalize_name(text) == text
            assert skeleton(text)
            assert len(text) <= 2 * names.MAX_NAME_LENGTH
