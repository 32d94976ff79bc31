"""Day one of an existing league: the roster file, row by row (rulebook §3, §5, §7; commands.md, "A new name")."""

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rating_core import importing
from rating_core.book import Book
from rating_core.directory import Actor, Directory
from rating_core.importing import FileProblem, Plan, Problem, read_table
from rating_core.importing import table as table_module
from rating_core.importing.planner import Openings
from rating_core.ledger import Adjustment, Draft, Games, OpeningBalance, PlayerRegistered, Void
from rating_core.queries import board
from rating_core.service.league import League
from rating_core.service.transaction import Tx
from rating_core.shell import import_wording as wording
from rating_core.shell.import_wording import file_problem, problem_text
from rating_core.times import show_day
from tests.conftest import FakeClock
from tests.support.engines import only_sqlite
from tests.support.rows import line, ms

NOW = ms("2026-11-30 12:08")
POOL, PAIRS = "单跳1v1", "单跳2v2"
FULL = "名字,QQ,名次,等级分,胜,平,负,历史最高分,最高分日期,状态,本季盘数,日期,榜,IP"


def plan_of(text: str | bytes, league: League | None = None, openings: Openings | None = None) -> Plan:
    """Plan an import of a file against a league (default: an empty one)."""
    table = read_table(text if isinstance(text, bytes) else text.encode())
    book, directory = (league.book, league.directory) if league else (Book(), Directory())
    return importing.plan(table, book, directory, openings or {}, NOW)


def only(plan: Plan) -> Problem:
    """Return the one problem of a plan."""
    assert len(plan.problems) == 1, [problem_text(p) for p in plan.problems]
    return plan.problems[0]


def codes(plan: Plan) -> list[tuple[int, str]]:
    return [(problem.row, problem.code) for problem in plan.problems]


async def write(league: League, text: str | bytes) -> Plan:
    """Import a file as the shell does, if it has no problems."""
    async with league.transaction() as tx:
        openings = await importing.openings_of(tx.ledger, tx.book)
        plan = plan_of(text, league, openings)
        if not plan.problems:
            await importing.apply(tx, Actor(""), plan, tx.now)
    return plan


# --- reading the file -------------------------------------------------------------------------------------

LINES = [
    ["名字", "QQ", "等级分", "胜", "平", "负"],
    ["张三", "10001", "2150.5", "12", "3", "8"],
    ["老 顽童", "", "2000", "0", "0", "1"],
]


def joined(delimiter: str, end: str = "\r\n", lines: Iterable[list[str]] = LINES) -> str:
    return "".join(delimiter.join(cells) + end for cells in lines)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gb18030", "utf-16"])
@pytest.mark.parametrize("delimiter", [",", "\t", ";", "，", "；", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_encodings_delimiters_and_line_ends(encoding: str, delimiter: str, end: str) -> None:
    plan = plan_of(joined(delimiter, end).encode(encoding))
    assert [problem_text(p) for p in plan.problems] == []
    assert [new.name for new in plan.players] == ["张三", "老 顽童"]
    assert plan.players[0].qqs == ("10001",)
    opening = plan.openings[0].entry
    assert (opening.rating, opening.wins, opening.draws, opening.losses) == (2150.5, 12, 3, 8)


def test_a_utf8_file_that_also_decodes_as_gb18030_is_read_as_utf8() -> None:
    data = "名字\n张三\n".encode()
    data.decode("gb18030", errors="strict")
    assert read_table(data).encoding == "utf-8"
    assert read_table("名字,QQ\n𠮷野家,\n".encode("gb18030")).rows == ((2, ("𠮷野家", "")),)


def test_the_delimiter_under_which_a_column_of_names_stands_goes_before_one_with_as_many_known_columns() -> None:
    found = read_table("姓名；备注\t胜\n张三；2100\n".encode())
    assert (found.delimiter, set(found.columns)) == ("；", {"name"})


def test_quotes_blank_rows_and_placeholders() -> None:
    text = '\n"名字","QQ","名次","等级分"\n\n"张三","10001",冠军,\n , ,\n李四,无,—,-\n\n'
    plan = plan_of(text)
    assert plan.problems == ()
    assert [(new.row, new.name, new.placing, new.qqs) for new in plan.players] == [
        (4, "张三", "冠军", ("10001",)), (6, "李四", "普通", ()),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("姓名,QQ号,最佳名次", {"name", "qq", "placing"}),
        ("选手,Ｑ　Ｑ,分数,胜局,平局,负局", {"name", "qq", "rating", "wins", "draws", "losses"}),
        ("棋手,现分,胜,平,负,盘数,胜率,涨跌,排名", {"name", "rating", "wins", "draws", "losses", "games"}),
        ("\u200b名字：,今年盘数,截至,项目,已验IP", {"name", "season_games", "as_of", "pool", "ip"}),
    ],
)
def test_headers(header: str, expected: set[str]) -> None:
    assert set(read_table(f"{header}\n张三\n".encode()).columns) == expected


@pytest.mark.parametrize(
    ("data", "code", "says"),
    [
        (b"", "empty", "表头"),
        (b"\n\n , \n", "empty", "表头"),
        ("名字,QQ\n".encode(), "no_rows", "第二行"),
        ("张三,10001\n李四,10002\n".encode(), "no_name_column", "现在是：张三、10001"),
        ("名字,等级份\n张三,2000\n".encode(), "unknown_column", "第2列的表头「等级份」。是不是「等级分」？"),
        ("名字,QO号\n张三,2\n".encode(), "unknown_column", "是不是「QQ」？"),
        ("名字,星座\n张三,狮子\n".encode(), "unknown_column", "备注"),
        ("名字,分数,等级分\n张三,1,2\n".encode(), "double_column", "「分数」和「等级分」是同一项"),
        (b"PK\x03\x04rest", "workbook", "CSV UTF-8"),
        (b"\xd0\xcf\x11\xe0rest", "workbook", "CSV UTF-8"),
        ("名字\x00\n张三\n".encode(), "not_text", "CSV UTF-8"),
        (b"\xff\xff\xff\xff", "encoding", "GB18030"),
        ('名字,QQ\n"张三,10001\n李四,10002\n'.encode(), "quotes", "第2行起引号不成对"),
        (("名字,QQ\n张三,10001\n" + "a" * 2001).encode(), "long_line", "第3行超过2000个字"),
        (b"a" * (importing.MAX_BYTES + 1), "too_big", "5000001字节"),
    ],
)
def test_files_that_cannot_be_read(data: bytes, code: str, says: str) -> None:
    with pytest.raises(FileProblem) as caught:
        read_table(data)
    assert caught.value.code == code
    assert says in file_problem(caught.value)


def test_too_many_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_module, "MAX_ROWS", 2)
    assert len(read_table("名字\n甲甲\n\n乙乙\n".encode()).rows) == 2
    with pytest.raises(FileProblem) as caught:
        read_table("名字\n甲甲\n乙乙\n丙丙\n".encode())
    assert file_problem(caught.value) == "超过2行，请分成几个文件。"


@given(st.binary(max_size=300), st.sampled_from(["", "名字,QQ\n", "名字\t等级分\t胜\t平\t负\n"]))
def test_any_bytes_give_a_plan_or_a_sentence(noise: bytes, head: str) -> None:
    said = []
    try:
        said = [problem_text(problem) for problem in plan_of(head.encode() + noise).problems]
    except FileProblem as problem:
        said.append(file_problem(problem))
    assert all(len(sentence) > 5 for sentence in said)


# --- rows -------------------------------------------------------------------------------------------------


def test_a_full_row() -> None:
    row = "张三,１０００１、10002,16强,２２１１.５分,30盘,4,16,2250.25,2025年5月5日,封存,9,2026/11/1,单跳2V2,是"
    plan = plan_of(f"{FULL}\n{row}\n")
    assert plan.problems == ()
    (player,), (opening,) = plan.players, plan.openings
    assert (player.name, player.placing, player.initial) == ("张三", "16强", 2100.0)
    assert player.qqs == ("10001", "10002") and player.ip_checked
    assert (opening.name, opening.pool) == ("张三", PAIRS)
    assert opening.entry == OpeningBalance(
        0, 2211.5, 30, 4, 16, ms("2026-11-01"), 9, True, 2250.25, ms("2025-05-05")
    )  # fmt: skip


@pytest.mark.parametrize(
    "text", ["2026-11-30", "2026/11/30", "2026年11月30日", "20261130", "2026.11.30", "2026-11-30 00:00:00"]
)
def test_dates(text: str) -> None:
    plan = plan_of(f"名字,等级分,胜,平,负,日期\n张三,2000,1,0,1,{text}\n")
    assert plan.openings[0].entry.as_of == ms("2026-11-30")


def test_without_a_date_the_balance_is_of_today() -> None:
    plan = plan_of("名字,等级分,胜,平,负\n张三,2000,1,0,1\n")
    assert show_day(plan.openings[0].entry.as_of) == "2026-11-30"
    assert plan.openings[0].pool == POOL


@pytest.mark.parametrize(
    ("cells", "column", "says"),
    [
        (",1,", "名字", "没有名字"),
        ("12345,,", "名字", "不能全是数字"),
        ("第3期,,", "名字", "不能像编号"),
        ("16强,,", "名字", "不能是名次"),
        ("胜,,", "名字", "“胜”字"),
        ("强制约战,,", "名字", "不能和机器人的命令"),
        ("张「三,,", "名字", "引号「「」"),
        ("一二三四五六七八九十一二三四五六七,,", "名字", "最长16个字"),
        ("张三,1234,", "QQ", "5到12位"),
        ("张三,1234567890123,", "QQ", "5到12位"),
        ("张三,01234567,", "QQ", "不以0开头"),
        ("张三,QQ10001,", "QQ", "「QQ10001」不是QQ号"),
        ("张三,1.23457E+09,", "QQ", "科学计数法"),
        ("张三,,季军", "名次", "没有「季军」这种名次。只有：普通、32强"),
        ("张三,,3", "名次", "排行榜上的第几名"),
        ("张三,,第3名", "名次", "排行榜上的第几名"),
        ("张三,,普通,多的", "", "比表头多出内容「多的」"),
        ("张三," + "1" * 101 + ",", "QQ", "最多100个字"),
        ('"张\n三",,', "名字", "换行"),
    ],
)
def test_wrong_cells(cells: str, column: str, says: str) -> None:
    problem = plan_of(f"名字,QQ,名次\n好人,10009,普通\n{cells}\n").problems[0]
    assert (problem.row, problem.column) == (3, column)
    assert says in problem_text(problem)
    assert problem_text(problem).startswith("第3行")


@pytest.mark.parametrize(
    ("change", "column", "says"),
    [
        ({"等级分": "2,150"}, "等级分", "不带千分位"),
        ({"等级分": "-2000"}, "等级分", "不是分数"),
        ({"等级分": "212"}, "等级分", "不像等级分"),
        ({"等级分": "1e3"}, "等级分", "不是分数"),
        ({"等级分": ""}, "等级分", "写了「胜」却没有写等级分"),
        ({"胜": "", "负": ""}, "等级分", "没有写胜、负"),
        ({"胜": "1.5"}, "胜", "不是盘数"),
        ({"盘数": "31"}, "盘数", "盘数写了31，可是胜+平+负是30"),
        ({"本季盘数": "31"}, "本季盘数", "比总盘数30还多"),
        ({"历史最高分": "2149"}, "历史最高分", "历史最高分2149比现在的等级分2150还低"),
        ({"胜": "3", "盘数": "13"}, "历史最高分", "只有13盘，满20盘"),
        ({"最高分日期": "2026-11-02"}, "最高分日期", "在截至日期之后"),
        ({"历史最高分": ""}, "最高分日期", "没有写历史最高分"),
        ({"最高分日期": "去年"}, "最高分日期", "不是日期"),
        ({"日期": "2026-02-30"}, "日期", "不是日期"),
        ({"日期": "46356"}, "日期", "写成 2026-11-30"),
        ({"日期": "2026-12-01"}, "日期", "还没有到"),
        ({"状态": "退出"}, "状态", "只写「在榜」或「封存」"),
        ({"状态": "请假"}, "状态", "也写「封存」"),
        ({"榜": "围棋"}, "榜", "没有「围棋」这个榜。只有：单跳1v1"),
        ({"IP": "也许"}, "IP", "已核验IP写「是」"),
        (
            {"胜": "0", "平": "0", "负": "0", "盘数": "0", "历史最高分": "", "最高分日期": ""},
            "等级分",
            "普通的原始分2000",
        ),
    ],
)
def test_wrong_figures(change: dict[str, str], column: str, says: str) -> None:
    good = {
        "名字": "张三", "等级分": "2150", "胜": "20", "平": "5", "负": "5", "盘数": "30", "历史最高分": "2200",
        "最高分日期": "2026-10-01", "日期": "2026-11-01", "状态": "在榜", "本季盘数": "", "榜": "", "IP": "",
    }  # fmt: skip
    assert plan_of(joined(",", "\n", [list(good), list(good.values())])).problems == ()
    bad = good | change
    problem = only(plan_of(joined(",", "\n", [list(bad), [f'"{value}"' for value in bad.values()]])))
    assert (problem.row, problem.column) == (2, column)
    assert says in problem_text(problem)


def test_every_problem_of_every_row_is_told() -> None:
    rows = ["12345,1,x,1,,,", "张三,10001,普通,9999,1,1,1", "李四,10001,,,,,", "王五,1,,2000,1,,"]
    plan = plan_of("名字,QQ,名次,等级分,胜,平,负\n" + "\n".join(rows))
    assert codes(plan) == [
        (2, "bad_name"), (2, "bad_qq"), (2, "bad_placing"), (2, "unlikely_rating"),
        (3, "unlikely_rating"),
        (5, "bad_qq"), (5, "no_counts"),
    ]  # fmt: skip


def test_a_row_of_zeros_is_a_player_without_a_balance() -> None:
    text = "名字,名次,等级分,胜,平,负\n张三,,2000,0,0,0\n李四,冠军,2300,0,0,0\n王五,,2050,0,0,0\n赵六,32强,,0,0,0\n"
    plan = plan_of(text)
    assert codes(plan) == [(4, "rating_without_games")]
    assert [new.name for new in plan.players] == ["张三", "李四", "赵六"]
    assert plan.openings == ()


# --- rows among each other --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "expected", "says"),
    [
        (["张三,10001", "张三,10001"], [(3, "double_row")], "「张三」在第2行已经写过"),
        (["张三,10001", "李四,10001"], [(3, "qq_twice")], "已经写在第2行「张三」"),
        (["abc,", "ABC,"], [(3, "confusable")], "第2行的「abc」看起来太像"),
        (["张 三,", "张三,"], [(3, "confusable")], "第2行的「张 三」看起来太像"),
        (["张三,1", "张三,10001"], [(2, "bad_qq")], "5到12位"),
    ],
)
def test_rows_that_do_not_go_together(rows: list[str], expected: list[tuple[int, str]], says: str) -> None:
    plan = plan_of("\n".join(["名字,QQ", *rows]))
    assert codes(plan) == expected
    assert says in problem_text(plan.problems[0])


def test_one_player_in_two_pools() -> None:
    text = "名字,QQ,名次,榜,等级分,胜,平,负\n张三,10001,冠军,,2310,5,0,1\n张三,10002,,单跳2v2,2290,1,0,1\n"
    plan = plan_of(text)
    assert plan.problems == ()
    (player,) = plan.players
    assert (player.placing, player.qqs) == ("冠军", ("10001", "10002"))
    assert [(new.name, new.pool) for new in plan.openings] == [("张三", POOL), ("张三", PAIRS)]
    other = plan_of(text.replace("10002,,单", "10002,亚军,单"))
    assert problem_text(only(other)) == "第3行「名次」：名次写了亚军，可是第2行同一个人写的是冠军。请写成一样，或空着。"


def test_the_masked_player() -> None:
    """L13, L14: 2300, no peak, and who uses him is nobody's to say in a file."""
    head = "名字,QQ,名次,等级分,胜,平,负,历史最高分\n"
    plan = plan_of(head + "蒙面人公用号,,,2345.5,30,0,10,\n")
    assert plan.problems == ()
    assert (plan.players[0].initial, plan.players[0].placing) == (2300.0, "蒙面人公用号")
    assert plan.notes.need_ip_check == ()
    wrong = plan_of(head + "蒙面人公用号,10001,冠军,2345.5,30,0,10,2400\n")
    assert {code for _, code in codes(wrong)} == {"masked_qq", "masked_placing", "masked_peak"}


# --- notes ------------------------------------------------------------------------------------------------


def test_notes() -> None:
    text = (
        "名字,名次,等级分,胜,平,负,本季盘数,IP\n甲甲,4强,,,,,,\n乙乙,冠军,,,,,,是\n丙丙,,2200,10,0,10,3,\n"
        "丁丁,,2300,10,0,9,,是\n戊戊,,2199.9,10,0,10,,\n"
    )
    plan = plan_of(text)
    assert plan.notes.need_ip_check == ("甲甲", "丙丙")
    assert (plan.notes.provisional, plan.notes.no_season_games) == (1, 2)
    lines = wording.notes(plan)
    assert len(lines) == 3
    assert "2200分以上" in lines[0] and "甲甲、丙丙" in lines[0] and "/核验" in lines[0]
    assert wording.notes(plan_of("名字\n张三\n")) == []
    many = plan_of("名字,名次\n" + "".join(f"棋手{chr(0x4E00 + n)},冠军\n" for n in range(12)))
    assert "等12人" in wording.notes(many)[0]


# --- against a league that is there -----------------------------------------------------------------------

ROSTER = (
    "名字,QQ,名次,等级分,胜,平,负,历史最高分,最高分日期,状态,本季盘数,日期,榜,IP\n"
    "张三,10001,冠军,2351.25,40,5,15,2400,2024-05-06,在榜,12,2026-11-01,,是\n"
    "李四,10002,,2050,3,0,2,,,封存,1,2026-11-01,,\n"
    "王五,10003、10004,16强,,,,,,,,,,,\n"
    "赵六,,,,,,,,,,,,,\n"
    "张三,,,2200.5,10,0,10,,,,,2026-11-01,单跳2v2,\n"
)


async def test_an_import_writes_players_bindings_and_balances(league: League) -> None:
    plan = await write(league, ROSTER)
    assert [problem_text(p) for p in plan.problems] == []
    names = {league.directory.name_of(player): player for player in league.directory.roster.ids()}
    assert list(names) == ["张三", "李四", "王五", "赵六"]
    state = league.book.state
    assert [state.initial[p] for p in names.values()] == [2300, 2000, 2100, 2000]
    assert state.placing[names["王五"]] == "16强"
    assert league.directory.qqs_of(names["王五"]) == ["10003", "10004"]
    assert state.ip_checked == {names["张三"]}
    a = state.look(POOL, names["张三"])
    assert (a.rating, a.games, a.wins, a.draws, a.losses) == (2351.25, 60, 40, 5, 15)
    assert (a.peak, a.peak_at, a.season_games) == (2400, ms("2024-05-06"), {2026: 12})
    assert state.look(PAIRS, names["张三"]).rating == 2200.5
    assert state.look(PAIRS, names["张三"]).peak == 2200.5, "20 games: the peak starts with the balance"
    assert state.look(POOL, names["李四"]).archived
    assert not state.look(POOL, names["王五"]).listed and state.look(POOL, names["王五"]).rating == 2100
    async with league.database.read() as connection:
        journal = (await connection.exec_driver_sql("SELECT action, detail FROM journal")).all()
    assert journal == [("导入", "新棋手4，绑定4，期初分3")]


async def test_the_board_foretold_is_the_board_that_comes(league: League) -> None:
    before = plan_of(ROSTER, league)
    foretold = {p: board(*importing.outcome(before, league.book, league.directory), p, NOW) for p in (POOL, PAIRS)}
    assert league.book.state.initial == {} and len(league.directory.roster) == 0
    await write(league, ROSTER)
    for pool, expected in foretold.items():
        assert board(league.book, league.directory, pool, NOW) == expected
    assert [row.name for row in foretold[POOL].rows] == ["张三"]


async def test_the_same_file_again_changes_nothing(league: League, clock: FakeClock) -> None:
    await write(league, ROSTER)
    seq = league.book.seq
    async with league.transaction() as tx:
        lines = (line(1, "W", 2), line(1, "L", 2))
        await tx.append(Draft(Games(1, 1, tx.now, 1.0, lines, 0), tx.now, 0, POOL))
    clock.forward(days=40)
    plan = await write(league, ROSTER)
    assert plan.problems == () and not plan.changes and plan.known == 5
    assert league.book.seq == seq + 1
    undated = await write(league, ROSTER.replace(",2026-11-01", ","))
    assert undated.problems == () and undated.known == 5


async def test_new_rows_in_a_file_that_is_partly_known(league: League) -> None:
    await write(league, ROSTER)
    more = ROSTER + "孙七,10005,,,,,,,,,,,,\n赵六,,,2010,1,1,0,,,,,2026-11-02,,\n"
    plan = await write(league, more.replace("赵六,,,,,,,,,,,,,\n", ""))
    assert plan.problems == ()
    assert ([new.name for new in plan.players], plan.known) == (["孙七"], 4)
    assert [(new.name, new.pool) for new in plan.openings] == [("赵六", POOL)]
    assert league.book.state.look(POOL, 4).rating == 2010
    assert league.directory.roster.resolve("孙七") == 5


@pytest.mark.parametrize(
    ("old", "new", "row", "says"),
    [
        ("2351.25", "2351.5", 2, "第2行「等级分」：已在榜，榜上是2351.25，文件里是2351.5。"),
        (",40,5,15", ",40,6,14", 2, "榜上是5，文件里是6"),
        ("2400,2024-05-06", "2401,2024-05-06", 2, "第2行「历史最高分」：已在榜，榜上是2400，文件里是2401。"),
        ("2024-05-06", "2024-05-07", 2, "榜上是2024-05-06，文件里是2024-05-07"),
        ("封存", "在榜", 3, "榜上是封存，文件里是在榜"),
        ("16强", "8强", 4, "榜上是16强，文件里是8强"),
        ("10003、10004", "10009", 4, "没有绑定QQ 10009。请清空这一格，再在群里发 /绑定 王五 10009"),
        ("10003、10004", "10001", 4, "QQ 10001 已经写在第2行「张三」"),
        ("赵六,,", "赵六,10077,", 5, "没有绑定QQ 10077"),
        ("赵六,,,,,,,,,,,,,", "赵六,,,,,,,,,,,,,是", 5, "/核验 赵六"),
        ("赵六", "赵　六", 5, "榜上的「赵六」看起来太像"),
        ("赵六", "老赵", 5, "「老赵」是「赵六」的旧名。请写现在的名字「赵六」。"),
        ("李四,10002,,2050,3,0,2,,,封存,1", "孙七,10002,,,,,,,,,", 3, "QQ 10002 已经绑定「李四」"),
    ],
)
async def test_what_differs_is_an_error_and_nothing_is_written(
    league: League, old: str, new: str, row: int, says: str
) -> None:
    await write(league, ROSTER)
    async with league.transaction() as tx:
        tx.edit_directory().roster.add("老赵", 4, current=False)
    seq = league.book.seq
    assert ROSTER.count(old) == 1
    plan = await write(league, ROSTER.replace(old, new) + "孙九,,,,,,,,,,,,,\n")
    assert {problem.row for problem in plan.problems} == {row}
    assert any(says in problem_text(problem) for problem in plan.problems), [problem_text(p) for p in plan.problems]
    assert league.book.seq == seq and "孙九" not in league.directory.roster


async def test_a_player_with_games_gets_no_balance(league: League) -> None:
    async with league.transaction() as tx:
        for number, name in ((1, "张三"), (2, "李四")):
            await tx.counters.take("player")
            await tx.append(Draft(PlayerRegistered(number, 2000.0, "普通"), tx.now, 0))
            await tx.name_player(number, name)
        await tx.append(Draft(Games(1, 1, tx.now, 1.0, (line(1, "W", 2),), 0), tx.now, 0, POOL))
    plan = await write(league, "名字,等级分,胜,平,负\n张三,2100,5,0,0\n")
    assert problem_text(only(plan)) == (
        "第2行「等级分」：「张三」已经在单跳1v1里有成绩，不能再写期初分。请清空等级分和胜平负。"
    )
    assert (await write(league, "名字,榜,等级分,胜,平,负\n张三,单跳2v2,2100,5,0,0\n")).problems == ()


async def test_a_balance_that_was_undone_can_be_entered_anew(league: League) -> None:
    text = "名字,等级分,胜,平,负\n张三,2100,5,0,0\n"
    await write(league, text)
    (seq,) = [mark.seq for mark in league.book.marks]
    async with league.transaction() as tx:
        await tx.ledger.append([Draft(Void(), tx.now, 0, POOL, seq)], tx.now)
        tx.appended += 1
    plan = await write(league, text.replace("2100", "2111"))
    assert plan.problems == () and len(plan.openings) == 1
    assert league.book.state.look(POOL, 1).rating == 2111


async def test_a_failure_half_way_writes_nothing(league: League, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    async def fail(self: Tx, player: int, name: str) -> None:
        calls.append(name)
        if len(calls) == 3:
            raise RuntimeError("half way")
        await original(self, player, name)

    original = Tx.name_player
    monkeypatch.setattr(Tx, "name_player", fail)
    with pytest.raises(RuntimeError, match="half way"):
        await write(league, ROSTER)
    assert league.book.seq == 0 and len(league.directory.roster) == 0 and league.directory.by_qq == {}
    async with league.database.read() as connection:
        for table in ("ledger", "names", "accounts", "counters", "journal"):
            assert (await connection.exec_driver_sql(f"SELECT count(*) FROM {table}")).scalar() == 0, table


async def test_a_plan_with_problems_is_never_applied(league: League) -> None:
    plan = plan_of("名字\n12345\n")
    async with league.transaction() as tx:
        with pytest.raises(ValueError, match="problems"):
            await importing.apply(tx, Actor(""), plan, tx.now)


@only_sqlite
async def test_a_league_of_three_hundred(league: League) -> None:
    rows = [
        f"棋手{chr(0x4E00 + 7 * n)},{20000 + n},{2000 + n % 250}.5,{n % 40},{n % 7},{n % 33 + 1}" for n in range(300)
    ]
    plan = await write(league, "名字,QQ,等级分,胜,平,负\n" + "\n".join(rows))
    assert [problem_text(p) for p in plan.problems] == []
    assert len(league.directory.roster) == 300 and len(league.directory.by_qq) == 300
    shown = board(league.book, league.directory, POOL, NOW)
    assert len(shown.rows) == 300
    assert sum(row.rating for row in shown.rows) == sum(2000 + n % 250 + 0.5 for n in range(300))


async def test_adjustments_after_the_balance_do_not_make_it_differ(league: League) -> None:
    await write(league, ROSTER)
    async with league.transaction() as tx:
        await tx.append(Draft(Adjustment(1, -30.0), tx.now, 0, POOL))
    assert (await write(league, ROSTER)).known == 5
