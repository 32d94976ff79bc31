"""Properties of report text: what is written is read back, and parsing never fails with an exception."""

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from rating_core.names import check_new_name, normalize_name
from rating_core.report_text import (
    GameLine,
    ReportProblems,
    ReportText,
    Result,
    format_report,
    looks_like_report,
    parse_report,
)
from rating_core.roster import Roster

NAMES = ["张三", "李四", "王五", "赵六", "常胜将军", "平安", "孤 独 求败", "A", "B", "A B", "C", "DragonKing"]
ROSTER = Roster([(name, number, True) for number, name in enumerate(NAMES, 1)])

words = st.one_of(
    st.text(st.sampled_from("AB胜平负"), min_size=1, max_size=2),
    st.text(st.sampled_from("胜平负赢输和张三李é一🐉A1b"), min_size=1, max_size=6),
    st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=8),
)
legal_names = (
    st.lists(words, min_size=1, max_size=4)
    .map(lambda parts: normalize_name(" ".join(parts)))
    .filter(lambda name: check_new_name(name) is None)
)
rosters = st.lists(legal_names, min_size=4, max_size=12, unique=True).map(
    lambda names: Roster((name, number, True) for number, name in enumerate(names, 1))
)


@st.composite
def reports(draw: st.DrawFn) -> tuple[Roster, int, list[GameLine]]:
    """Draw a roster and legal games of any pairs on it."""
    roster = draw(rosters)
    size = draw(st.sampled_from([1, 2]))
    lines = []
    for _ in range(draw(st.integers(1, 8))):
        players = draw(st.permutations(roster.ids()))[: 2 * size]
        lines.append(GameLine(tuple(players[:size]), draw(st.sampled_from(Result)), tuple(players[size:])))
    return roster, size, lines


nasty_text = st.one_of(
    st.text(max_size=200),
    st.text(st.sampled_from("张三李四A B胜平负赢输和\n \t\u3000\u200b#<%\u0100>.，"), max_size=200),
    st.lists(
        st.sampled_from([*NAMES, "张山", "胜", "平", "负", "赢", "胜胜", "  ", "\n", "#春季赛", "好"]), max_size=40
    ).map(" ".join),
)


@given(reports(), st.booleans())
@settings(max_examples=300, deadline=None)
def test_what_is_written_is_read_back(drawn: tuple[Roster, int, list[GameLine]], size_known: bool) -> None:
    roster, size, lines = drawn
    text = format_report(lines, roster.name_of)
    assert parse_report(text, roster, side_size=size if size_known else None, mixed=True) == ReportText(
        None, None, tuple(lines)
    )
    assert looks_like_report(text, roster, False)


@given(reports())
@settings(max_examples=100, deadline=None)
def test_a_mirrored_report_is_the_same_games(drawn: tuple[Roster, int, list[GameLine]]) -> None:
    roster, size, lines = drawn
    text = format_report([line.mirrored() for line in lines], roster.name_of)
    report = parse_report(text, roster, side_size=size, mixed=True)
    assert isinstance(report, ReportText)
    assert [line.mirrored() for line in report.lines] == lines


@given(nasty_text, st.sampled_from([1, 2, None]), st.booleans(), st.booleans())
@settings(max_examples=500, deadline=None)
def test_parsing_is_total_and_a_complete_correction_is_a_report(
    text: str, side_size: int | None, mixed: bool, player: bool
) -> None:
    assert looks_like_report(text, ROSTER, player) in (True, False)
    report = parse_report(text, ROSTER, side_size=side_size, events=["春季赛"], mixed=mixed)
    if isinstance(report, ReportText):
        canonical = format_report(report.lines, ROSTER.name_of, event=report.event, pool=report.pool)
        assert parse_report(canonical, ROSTER, side_size=side_size, events=["春季赛"], mixed=mixed) == report
        assert all(len(set(line.players)) == len(line.players) for line in report.lines)
        assert looks_like_report(text, ROSTER, False)
    else:
        assert report.problems
        if report.complete:
            assert report.corrected is not None
            again = parse_report(report.corrected, ROSTER, side_size=side_size, events=["春季赛"], mixed=mixed)
            assert isinstance(again, ReportText)


@given(reports(), st.data())
@settings(max_examples=100, deadline=None)
def test_a_name_that_is_not_on_the_roster_is_never_read(
    drawn: tuple[Roster, int, list[GameLine]], data: st.DataObject
) -> None:
    roster, _, lines = drawn
    stranger = data.draw(legal_names)
    assume(roster.resolve(stranger) is None and all(stranger not in name for name in roster.current_names().values()))
    line = lines[0]
    text = "    ".join([stranger, line.result.word, roster.name_of(line.right[0])])
    assume(all(roster.resolve(word) is None for word in stranger.split(" ")))
    assert isinstance(parse_report(text, roster, side_size=1), ReportProblems)
