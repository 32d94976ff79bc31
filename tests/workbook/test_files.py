"""Files of games as people have them: columns and words in the usual variants, dates, events, errors with their row."""

import datetime
import io
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter
from hypothesis import given
from hypothesis import strategies as st

from rating_core.directory import Directory
from rating_core.importing import FileProblem, Table
from rating_core.importing.detect import read_file
from rating_core.importing.files import GameFile
from rating_core.importing.games_entries import plan_games
from rating_core.importing.games_outcome import outcome
from rating_core.importing.games_plan import GamesPlan, Numbers, Options
from rating_core.importing.values import MAX_PROBLEMS
from rating_core.ledger import EventClosed, EventOpened, Games, OpeningBalance, PlayerRegistered
from rating_core.report_text import Result
from rating_core.shell import games_wording as wording
from rating_core.times import show_day, show_time
from tests.support.books import Books
from tests.support.rows import ms

NOW = ms("2026-11-30 12:08")
POOL, PAIRS = "单跳1v1", "单跳2v2"
NEW = Options(new_players=True)
AS_IT_IS = Options()


def league(*names: str) -> Books:
    books = Books()
    books.join(*(names or ("张三", "李四", "老 顽童", "王五")))
    return books


def games(data: str | bytes) -> GameFile:
    found = read_file(data.encode() if isinstance(data, str) else data)
    assert isinstance(found, GameFile), found
    return found


def plan_of(data: str | bytes, books: Books | None = None, options: Options = AS_IT_IS) -> GamesPlan:
    books = books or league()
    numbers = Numbers(player=len(books.directory.roster))
    return plan_games(games(data), books.book(), books.directory, numbers, options, NOW)


def said(plan: GamesPlan) -> list[str]:
    return wording.against(plan)


def lines(plan: GamesPlan, directory: Directory | None = None) -> list[str]:
    """Return the planned games in words."""
    assert plan.clear, said(plan)
    names = dict(enumerate(("张三", "李四", "老 顽童", "王五"), 1))
    names |= {-number: name for number, name in enumerate(plan.new_players, 1)}
    return [" ".join((*(names[p] for p in g.left), g.result.word, *(names[p] for p in g.right))) for g in plan.games]


# --- tables ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "header",
    [
        "棋手A,结果,棋手B", "选手A,胜负,选手B", "甲方,比赛结果,乙方", "左方,结果,右方", "A,result,B", "甲,胜负,乙",
        "Ａ, 结 果 ,Ｂ", "棋手1,结果,棋手2",
    ],
)  # fmt: skip
@pytest.mark.parametrize("encoding", ["utf-8", "gb18030", "utf-16"])
def test_columns_in_the_usual_variants(header: str, encoding: str) -> None:
    plan = plan_of(f"{header}\n张三,胜,李四\n老 顽童,平,王五\n\n,,\n".encode(encoding))
    assert lines(plan) == ["张三 胜 李四", "老 顽童 平 王五"]


@pytest.mark.parametrize("delimiter", [",", "\t", ";", "；", "，", "|"])
def test_delimiters_and_a_title_above(delimiter: str) -> None:
    rows = [["2026年对局记录"], ["日期", "棋手A", "结果", "棋手B", "备注"], ["2026-03-02", "张三", "负", "李四", "x"]]
    plan = plan_of("\n".join(delimiter.join(row) for row in rows))
    assert lines(plan) == ["张三 负 李四"]
    assert plan.file.about["unused"] == ("备注",)


def test_points_as_results_and_pairs_by_letters() -> None:
    plan = plan_of(
        "日期,棋手A,棋手B,结果,棋手C,棋手D\n2026-03-02,张三,李四,0.5,老 顽童,王五\n", options=Options(pool=PAIRS)
    )
    assert lines(plan) == ["张三 李四 平 老 顽童 王五"]
    plan = plan_of("甲方,甲方2,结果,乙方,乙方2,榜\n张三,李四,1,老 顽童,王五,空跳2v2\n张三,,0,李四,,单跳1V1\n")
    assert lines(plan) == ["张三 李四 胜 老 顽童 王五", "张三 负 李四"]
    assert [game.pool for game in plan.games] == ["空跳2v2", POOL]


def test_a_date_holds_for_the_rows_below_and_without_an_hour_it_is_noon() -> None:
    plan = plan_of("日期,棋手A,结果,棋手B\n2026/3/2,张三,胜,李四\n,张三,平,李四\n2026-03-02 20:05,张三,负,李四\n")
    assert [show_time(game.at) for game in plan.games] == ["2026-03-02 12:00", "2026-03-02 12:00", "2026-03-02 20:05"]
    today = plan_of("棋手A,结果,棋手B\n张三,胜,李四\n")
    assert today.games[0].at == NOW and "没有日期，全部按今天算" in "".join(wording.notes(today))


def test_games_of_one_pair_in_a_row_are_one_report() -> None:
    plan = plan_of(
        "日期,棋手A,结果,棋手B\n2026-03-02,张三,胜,李四\n2026-03-02,李四,胜,张三\n2026-03-02,张三,胜,王五\n"
        "2026-03-03,张三,胜,王五\n"
    )
    entries = [draft.entry for draft in plan.drafts if isinstance(draft.entry, Games)]
    assert [(e.report, e.first, len(e.lines)) for e in entries] == [(1, 1, 2), (2, 3, 1), (3, 4, 1)]
    assert all(e.announced is None for e in entries), "nobody was told these figures"


def test_events_are_made_as_needed() -> None:
    plan = plan_of(
        "日期,棋手A,结果,棋手B,赛事,系数\n2024-03-02,张三,胜,李四,皇后杯,1.2\n2024-03-03,张三,胜,李四,约战,\n"
        "2025-03-03,张三,胜,李四,,2\n2026-03-04,张三,胜,李四,月赛,1\n2026-03-05,张三,平,李四,,1\n"
    )
    assert [(e.name, e.weight, e.pool) for e in plan.events] == [
        ("皇后杯", 1.2, POOL), ("导入的重大比赛", 2.0, POOL), ("月赛", 1.0, POOL),
    ]  # fmt: skip
    found = [draft.entry for draft in plan.drafts]
    kinds = [(e.event, e.weight) for e in found if isinstance(e, Games)]
    assert kinds == [(1, 1.2), (None, 1.0), (2, 2.0), (3, 1.0), (None, 1.0)]
    assert [e.event for e in found if isinstance(e, EventClosed)] == [1, 2], "those of earlier seasons are over"
    assert sum(isinstance(e, EventOpened) for e in found) == 3


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ("2026-03-02,张三,赢,李四,,", "第2行：「赢」不是结果，应写「胜」。只有 胜、平、负"),
        ("2026-03-02,张三,,李四,,", "第2行：没有写结果"),
        ("2026-03-02,张三,胜,张三,,", "第2行：同一个人写了两次"),
        ("2026-03-02,张三,胜,,,", "第2行「棋手B」：没有棋手的名字"),
        ("2026-13-02,张三,胜,李四,,", "第2行「日期」：「2026-13-02」不是日期"),
        (",张三,胜,李四,,", "第2行「日期」：没有日期"),
        ("2026-12-02,张三,胜,李四,,", "第2行：日期还没有到"),
        ("2026-03-02,张三,胜,李四,皇后杯,", "第2行「赛事」：赛事「皇后杯」没有写系数"),
        ("2026-03-02,张三,胜,李四,皇后杯,1.5", "第2行「系数」：「1.5」不是系数，系数只有 1、1.2、2"),
        ("2026-03-02,张三,胜,李四,月赛,1\n2026-03-02,张三,胜,李四,月赛,2", "第3行「赛事」：赛事「月赛」的系数是1"),
        ("2026-03-02,张三,胜,李四,单跳2v2,1", "赛事不能和榜同名"),
        ("2026-03-02,张三,胜,李四,,\n2026-03-01,张三,胜,李四,,\n2026-02-01,张三,胜,李四,,", "第3行：日期比上一局早"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_row(rows: str, says: str) -> None:
    plan = plan_of(f"日期,棋手A,结果,棋手B,赛事,系数\n{rows}\n")
    assert not plan.clear and plan.drafts == ()
    assert says in "\n".join(said(plan))


def test_unknown_names_once_with_near_misses() -> None:
    plan = plan_of("棋手A,结果,棋手B\n张3,胜,李四\n赵六,胜,张3\n老 玩童,平,张三\n")
    found = said(plan)
    assert found[0] == "不在榜上的名字3个："
    assert found[1] == "「张3」（第2行起，2局）：是不是「张三」？"
    assert found[2] == "「赵六」（第3行起，1局）"
    assert "是不是「老 顽童」" in found[3]


def test_both_slips_of_a_row_are_said_at_once() -> None:
    found = said(plan_of("棋手A,结果,棋手B\n张3,赢,李四\n"))
    assert "「赢」不是结果" in found[0] and "「张3」" in found[2]


def test_new_players_are_registered_when_asked_for() -> None:
    plan = plan_of("棋手A,结果,棋手B\n赵六,胜,李四\n赵六,胜,钱七\n", options=NEW)
    assert plan.new_players == ("赵六", "钱七")
    registered = [d.entry for d in plan.drafts if isinstance(d.entry, PlayerRegistered)]
    assert registered == [PlayerRegistered(5, 2000.0, "普通"), PlayerRegistered(6, 2000.0, "普通")]
    assert plan.names == ((5, ("赵六",)), (6, ("钱七",)))
    plan = plan_of("棋手A,结果,棋手B\n12345,胜,李四\n张\u200b三,胜,李四\nZhang,胜,Zhаng\n", options=NEW)
    assert "不能全是数字" in said(plan)[0] and "看起来太像" in said(plan)[1]
    long = "Saint Vincent and the Grenadines"
    assert plan_of(f"A,result,B\n{long},1,李四\n", options=NEW).new_players == (long,), "as wide as 16 characters"
    assert "最长16个字" in said(plan_of(f"A,result,B\n{long}s,1,李四\n", options=NEW))[0]


def test_the_old_spreadsheet_s_reading_is_an_option() -> None:
    text = "棋手A,结果,棋手B\n张三,赢,李四\n张三,和,李四\n张三,,李四\n张三,胜,李四\n"
    assert len(plan_of(text).problems) == 3
    plan = plan_of(text, options=Options(unknown_as_loss=True))
    assert [game.result for game in plan.games] == [Result.LOSS, Result.LOSS, Result.LOSS, Result.WIN]
    assert "按负算的：「赢」1局、「和」1局、空着的1局" in wording.notes(plan)[0]


def test_the_file_s_own_ratings_are_compared() -> None:
    head = "棋手A,结果,棋手B,棋手A旧分,棋手B旧分,棋手A新分,棋手B新分\n"
    books = league()
    right = plan_of(f"{head}张三,胜,李四,2000,2000,2016,1984\n张三,胜,李四,2016,1984,2030.5,1969.5\n", books)
    found = outcome(right, books.book(), books.directory).differences
    assert (found.compared, found.count) == (8, 0) and "一致" in wording.differences(found)
    wrong = plan_of(f"{head}张三,胜,李四,2000,2000,2016,1984\n张三,胜,李四,2016,1984,2031,1969.5\n", books)
    found = outcome(wrong, books.book(), books.directory).differences
    assert found.count == 0, "whole points hide half a point"
    wrong = plan_of(f"{head}张三,胜,李四,2000,2000,2010,1984\n", books)
    text = wording.differences(outcome(wrong, books.book(), books.directory).differences)
    assert "不同的有1处。第一处：第2行「张三」赛后是2010.0，重算是2016.0" in text


def test_farming_holds_in_an_imported_history() -> None:
    books = league()
    plan = plan_of("日期,棋手A,结果,棋手B\n" + "2026-03-02,张三,胜,李四\n" * 6, books)
    found = outcome(plan, books.book(), books.directory)
    assert (found.counted, found.uncounted) == (4, 2)
    assert "计分4局，按L6不计2局" in wording.counts(plan, found)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ("棋手A,结果,棋手B\n", "没有对局"),
        ("棋手A,结果,棋手B,结 果\n张三,胜,李四,平\n", "「结果」和「结 果」是同一项"),
        ("棋手A,结果,棋手B,赛事名秤\n张三,胜,李四,1\n", "看不懂表头「赛事名秤」，是不是「赛事」？"),
        ('棋手A,结果,棋手B\n"张三,胜,李四\n', "引号不成对"),
        ("名字,等级份\n张三,2000\n", "是不是「等级分」"),
        ("张三,李四\n", "没有「名字」这一列"),
        ('"张三"2,李四\n王五,赵六\n', '没有「名字」这一列（现在是："张三"2,李四）'),
        ('名字,等级分\n"张三,2000\n', "第2行起引号不成对"),
        ("", "空的"),
    ],
)
def test_files_that_cannot_be_read(data: str, says: str) -> None:
    with pytest.raises(FileProblem) as caught:
        read_file(data.encode())
    assert says in wording.file_problem(caught.value)


# --- report lines -----------------------------------------------------------------------------------------------


def test_report_lines_may_begin_with_a_quotation_mark() -> None:
    found = games('"小李"飞刀 胜 张三\n')
    assert (found.form, found.games[0].line) == ("text", '"小李"飞刀 胜 张三')


def test_a_weight_stands_behind_as_many_spaces_as_there_are() -> None:
    (game,) = games(f"#皇后杯{' ' * 70}1.2\n张三 胜 李四\n").games
    assert (game.event, game.weight) == ("皇后杯", 1.2)


def test_of_a_file_full_of_mistakes_the_rest_is_not_read() -> None:
    assert len(games("棋手A,结果,棋手B\n" + "张三,胜,\n" * 3000).problems) == MAX_PROBLEMS
    text = games("张三 胜 李四\n" + "#\n" * 3000)
    assert (len(text.problems), len(text.games)) == (MAX_PROBLEMS, 1)


TEXT = """\
张三 2100
新来的    16强
赵六 2137.5
2026-03-02
张三    胜    李四
老 顽童 平 王五
#皇后杯 1.2
张三 胜 新来的
2026年3月3日
李四\t负\t老 顽童
#约战
赵六 胜 王五
#单跳2v2
张三 李四 胜 老 顽童 王五
"""


def test_report_lines_with_dates_events_and_starting_ratings() -> None:
    books = league("李四", "老 顽童", "王五")
    plan = plan_of(TEXT, books)
    assert plan.clear, said(plan)
    assert plan.new_players == ("张三", "新来的", "赵六")
    assert [(show_day(g.at), g.event, g.weight, g.pool, len(g.left)) for g in plan.games] == [
        ("2026-03-02", "", 1.0, POOL, 1), ("2026-03-02", "", 1.0, POOL, 1), ("2026-03-02", "皇后杯", 1.2, POOL, 1),
        ("2026-03-03", "皇后杯", 1.2, POOL, 1), ("2026-03-03", "", 1.0, POOL, 1), ("2026-03-03", "", 1.0, PAIRS, 2),
    ]  # fmt: skip
    entries = [draft.entry for draft in plan.drafts]
    assert [(e.initial, e.placing) for e in entries if isinstance(e, PlayerRegistered)] == [
        (2100.0, "16强"), (2100.0, "16强"), (2000.0, "普通"),
    ]  # fmt: skip
    openings = [e for e in entries if isinstance(e, OpeningBalance)]
    assert [(e.player, e.rating, e.wins) for e in openings] == [(6, 2137.5, 0)], "a rating that is none of L4's"
    found = outcome(plan, books.book(), books.directory)
    assert found.counted == 6 and found.book.state.look(POOL, 6).rating > 2137.5


@pytest.mark.parametrize("encoding", ["utf-8", "gb18030", "utf-16"])
def test_report_lines_in_other_encodings(encoding: str) -> None:
    assert lines(plan_of("张三    胜    李四\r\n老 顽童  负  王五\r\n".encode(encoding))) == [
        "张三 胜 李四",
        "老 顽童 负 王五",
    ]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("张三 胜 李四\n今天人真多\n", "第2行：「今天人真多」不是一局棋"),
        ("张三 赢 李四\n", "第1行：「赢」不是结果，应写「胜」"),
        ("张三 胜 张三\n", "第1行：同一个人写了两次"),
        ("张三 胜 李四\n2026-03-02\n张三 胜 李四\n", "第1行：没有日期"),
        ("#皇后杯\n张三 胜 李四\n", "赛事「皇后杯」没有写系数"),
        ("张三 胜 李四\n张三 胜 钱七\n", "「钱七」（第2行起，1局）"),
        ("张三 李四 胜 老 顽童 王五\n", "双人的对局不知道算哪个榜"),
        ("张三 16弄\n张三 胜 李四\n", "「张三 16弄」不是一局棋"),
    ],
)
def test_lines_that_are_wrong(text: str, says: str) -> None:
    plan = plan_of(text)
    assert says in "\n".join(said(plan))


def test_any_word_is_a_loss_in_lines_too() -> None:
    plan = plan_of("张三 赢 李四\n张三 V 李四\n王五 胜 李四\n", options=Options(unknown_as_loss=True))
    assert [game.result.value for game in plan.games] == ["L", "L", "W"]
    plan = plan_of("赵六    战胜了    钱七\n王五 胜 李四\n", options=Options(True, True))
    assert plan.new_players == ("赵六", "钱七") and plan.games[0].result is Result.LOSS


# --- other people's workbooks -----------------------------------------------------------------------------------


def workbook(path: Path, rows: list[list[Any]], merge: tuple[int, int, int, int] | None = None) -> bytes:
    """Write somebody's sheet; `merge`: first row, first column, last row, last column of a merged cell."""
    book = xlsxwriter.Workbook(str(path))
    sheet = book.add_worksheet("记录")
    day = book.add_format({"num_format": "yyyy/m/d"})
    for number, row in enumerate(rows):
        for column, value in enumerate(row):
            if isinstance(value, datetime.date):
                sheet.write_datetime(number, column, value, day)
            else:
                sheet.write(number, column, value)
    if merge is not None:
        top, left, bottom, right = merge
        sheet.merge_range(top, left, bottom, right, rows[top][left], day)
    book.close()
    return path.read_bytes()


def test_dates_as_dates_as_text_and_as_serials(tmp_path: Path) -> None:
    head = ["日期", "棋手A", "结果", "棋手B"]
    rows = [[datetime.date(2026, 3, 2), "张三", "胜", "李四"], ["2026-03-02", "张三", 0.5, "李四"]]
    rows += [[46084, "张三", "负", "李四"], ["2026年3月3日", "张三", 1, "李四"]]
    plan = plan_of(workbook(tmp_path / "a.xlsx", [["记录"], head, *rows]))
    assert [show_day(game.at) for game in plan.games] == ["2026-03-02", "2026-03-02", "2026-03-03", "2026-03-03"]
    assert [game.result.value for game in plan.games] == ["W", "D", "L", "W"]
    assert [game.raw.row for game in plan.games] == [3, 4, 5, 6]


def test_merged_cells_hold_for_all_they_cover(tmp_path: Path) -> None:
    rows = [["日期", "棋手A", "结果", "棋手B"], [datetime.date(2026, 3, 2), "张三", "胜", "李四"]]
    rows += [["", "王五", "胜", "李四"], ["", "老 顽童", "平", "李四"]]
    plan = plan_of(workbook(tmp_path / "a.xlsx", rows, merge=(1, 3, 3, 3)))
    assert lines(plan) == ["张三 胜 李四", "王五 胜 李四", "老 顽童 平 李四"]


def test_a_roster_may_be_a_sheet(tmp_path: Path) -> None:
    rows = [
        ["名字", "QQ", "等级分", "胜", "平", "负"],
        ["张三", 12345678, 2150.25, 30, 5, 12],
        ["李四", "", "", "", "", ""],
    ]
    found = read_file(workbook(tmp_path / "a.xlsx", rows))
    assert isinstance(found, Table)
    assert found.rows == ((2, ("张三", "12345678", "2150.25", "30", "5", "12")), (3, ("李四", "", "", "", "", "")))
    assert "Excel工作簿" in wording.read_as(found)


def test_a_sheet_without_headers_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileProblem) as caught:
        read_file(workbook(tmp_path / "a.xlsx", [["张三", "胜", "李四"]]))
    assert "工作表「记录」的前20行里没有对局的表头" in wording.file_problem(caught.value)


@given(st.binary(max_size=200), st.sampled_from(["", "棋手A,结果,棋手B\n", "#赛事 1.2\n张三 胜 ", "2026-03-02\n"]))
def test_any_bytes_give_a_plan_or_a_sentence(noise: bytes, head: str) -> None:
    said_of_it, found = "", None
    try:
        found = read_file(head.encode() + noise)
    except FileProblem as problem:
        said_of_it = wording.file_problem(problem)
    assert found is not None or len(said_of_it) > 5
    if isinstance(found, GameFile):
        books = league()
        for options in (Options(), Options(True, True)):
            plan = plan_games(found, books.book(), books.directory, Numbers(player=4), options, NOW)
            assert all(len(text) > 3 for text in said(plan))
            if plan.clear:
                outcome(plan, books.book(), books.directory)


def test_the_readme_s_sample_can_be_imported() -> None:
    text = (Path(__file__).resolve().parents[2] / "README.md").read_text("utf-8")
    sample = text.split("**2. 全部战绩。**")[1].split("```csv\n")[1].split("```")[0]
    plan = plan_of(sample, league("张三", "李四", "王五", "赵六"))
    assert plan.clear and len(plan.games) == 3 and [event.name for event in plan.events] == ["皇后杯"]


def test_a_stream_of_bytes_is_no_workbook() -> None:
    with pytest.raises(FileProblem) as caught:
        read_file(b"PK" + io.BytesIO(b"\x00" * 100).getvalue())
    assert "打不开" in wording.file_problem(caught.value)
