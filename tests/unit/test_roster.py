"""The roster (L3): exact lookup, former names, near misses and lookalikes."""

import subprocess
import sys

import pytest

from rating_core.roster import Roster


@pytest.fixture
def roster() -> Roster:
    return Roster(
        [
            ("张三", 1, True),
            ("老张", 1, False),
            ("李四", 2, True),
            ("常胜将军", 3, True),
            ("孤 独 求败", 4, True),
            ("DragonKing", 5, True),
            ("欧阳明月", 6, True),
        ]
    )


def test_names_resolve_exactly_after_normalising(roster: Roster) -> None:
    assert roster.resolve("张三") == 1
    assert roster.resolve(" 张\u200b三\u3164") == 1
    assert roster.resolve("孤\u3000独  求败") == 4
    assert roster.resolve("张山") is None
    assert roster.resolve("dragonking") is None
    assert roster.resolve("") is None
    assert roster.resolve("张" * 5000) is None
    assert "李四" in roster and "王五" not in roster and 2 not in roster


def test_former_names_resolve_to_the_current_one(roster: Roster) -> None:
    assert roster.resolve("老张") == 1
    assert roster.name_of(1) == "张三"
    assert roster.current_names()[1] == "张三"
    assert len(roster) == 6
    assert roster.ids() == [1, 2, 3, 4, 5, 6]


def test_an_unknown_id_has_no_name(roster: Roster) -> None:
    with pytest.raises(KeyError):
        roster.name_of(99)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("张山", "张三"),  # another character
        ("张三丰", "张三"),  # one more
        ("常胜将", "常胜将军"),  # one less
        ("将胜常军", None),  # too far
        ("常将胜军", "常胜将军"),  # two swapped
        ("三张", "张三"),
        ("dragonking", "DragonKing"),  # looks the same
        ("DrаgonKing", "DragonKing"),  # Cyrillic а
        ("DragnoKign", "DragonKing"),  # two swaps in a long name
        ("孤独求败", "孤 独 求败"),
        ("欧阳明日", "欧阳明月"),
        ("李四。", "李四"),
        ("老 张", "张三"),  # looks like a former name: the current one
        ("中国队", None),
        ("今天", None),
        ("三", "张三"),
        ("", None),
        ("张" * 5000, None),
    ],
)
def test_near_misses(roster: Roster, typed: str, meant: str | None) -> None:
    near = roster.nearest(typed)
    assert near[:1] == ([] if meant is None else [meant])


def test_what_looks_the_same_stands_alone() -> None:
    roster = Roster([("Lin", 1, True), ("Lim", 2, True)])
    assert roster.nearest("lin") == ["Lin"]


def test_near_misses_are_few_and_the_best_come_first() -> None:
    roster = Roster([(name, number, True) for number, name in enumerate(["张一", "张二", "张四", "王三", "赵六"])])
    assert roster.nearest("张三") == ["张一", "张二", "张四"]
    assert roster.nearest("张三", limit=1) == ["张一"]
    assert roster.nearest("王四") == ["王三", "张四"]


def test_lookalikes_of_other_players(roster: Roster) -> None:
    assert roster.confusable_with("drag0nking") == "DragonKing"
    assert roster.confusable_with("DrаgonKing", but=5) is None
    assert roster.confusable_with("老\u3000张") == "老张"
    assert roster.confusable_with("老张", but=1) is None
    assert roster.confusable_with("张山") is None


def test_adding(roster: Roster) -> None:
    roster.add("王五", 7)
    assert roster.resolve("王五") == 7 and roster.nearest("王无") == ["王五"]
    roster.add("王五", 7)
    with pytest.raises(ValueError, match="taken"):
        roster.add("张三", 8)
    with pytest.raises(ValueError, match="current name"):
        roster.add("张三丰", 1)
    roster.add("小王", 7, current=False)
    assert roster.resolve("小王") == 7 and roster.name_of(7) == "王五"


def test_renaming_keeps_the_old_name_resolving(roster: Roster) -> None:
    roster.rename(2, "李斯")
    assert roster.name_of(2) == "李斯"
    assert roster.resolve("李四") == roster.resolve("李斯") == 2
    assert "李四" not in roster.nearest("李四一")
    roster.rename(2, "李四")
    assert roster.name_of(2) == "李四" and roster.resolve("李斯") == 2


def test_renaming_to_a_taken_name_changes_nothing(roster: Roster) -> None:
    with pytest.raises(ValueError, match="taken"):
        roster.rename(2, "老张")
    assert roster.name_of(2) == "李四"
    assert roster.nearest("李是") == ["李四"]
    with pytest.raises(KeyError):
        roster.rename(99, "王五")


def test_removing(roster: Roster) -> None:
    roster.remove("老张")
    assert roster.resolve("老张") is None and roster.resolve("张三") == 1
    roster.rename(1, "张三丰")
    roster.remove("张三丰")
    assert roster.resolve("张三") is None
    assert 1 not in roster.ids() and roster.nearest("张山") == []
    assert roster.confusable_with("张三") is None
    with pytest.raises(KeyError):
        roster.remove("张三")


def test_a_copy_is_independent(roster: Roster) -> None:
    copy = roster.copy()
    copy.rename(1, "张 三 丰")
    copy.remove("李四")
    copy.add("王五", 7)
    assert roster.name_of(1) == "张三" and roster.resolve("李四") == 2 and roster.resolve("王五") is None
    assert roster.confusable_with("王五") is None and roster.words_from("张") == 0
    assert copy.resolve("张三") == 1 and copy.words_from("张") == 3


def test_two_players_cannot_have_one_name() -> None:
    with pytest.raises(ValueError, match="taken"):
        Roster([("张三", 1, True), ("张三", 2, True)])


def test_similar_names_are_looked_for_without_further_imports_once_warm() -> None:
    code = (
        "import sys; from rating_core.roster import Roster, warm_up; assert 'rapidfuzz' not in sys.modules\n"
        "warm_up(); known = set(sys.modules)\n"
        "assert Roster([('小李飞刀', 1, True)]).nearest('小李飞力') == ['小李飞刀']\n"
        "assert not {name for name in set(sys.modules) - known if name.startswith('rapidfuzz')}"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=30)
