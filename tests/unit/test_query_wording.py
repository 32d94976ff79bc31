"""The answers to questions about boards, players and pairs, word for word."""

from plugins.rating_bot.wording import queries
from rating_core.ledger import LeaveTaken, OpeningBalance, Settlement
from rating_core.queries import board, card, head_to_head, history
from rating_core.rulebook import MASKED_NAME
from tests.support.books import Books, sample
from tests.support.rows import ms

POOL, PAIRS = "单跳1v1", "单跳2v2"
NOW = ms("2026-11-30 12:00")
LEAGUE = sample()
BOOK, NAMES = LEAGUE.book(), LEAGUE.directory


def shown_card(books: Books, name: str) -> str:
    return queries.card(card(books.book(), books.directory, POOL, books.id(name), NOW))


# --- boards


def test_the_board() -> None:
    rows = board(BOOK, NAMES, POOL, NOW)
    assert (
        queries.board_page(rows, 1)
        == """\
单跳1v1等级分排行榜 2026-11-30（第1/1页，共4人）
1 张三 1926* 5胜1平0负
2 李四 1827* 1胜1平5负
3 赵六 1819* 1胜0平1负
4 王五 1808* 1胜0平2负
*未满20盘，显示分已扣
表格主编：挑战者"""
    )


def test_the_board_page_by_page() -> None:
    books = Books()
    for number in range(1, 24):
        books.join(f"棋手{number:02}")
        books.add(OpeningBalance(number, 2100.0 - number, 20, 0, 0, NOW))
    rows = board(books.book(), books.directory, POOL, NOW)
    last = queries.board_page(rows, 3)
    assert (
        last
        == """\
单跳1v1等级分排行榜 2026-11-30（第3/3页，共23人）
21 棋手21 2079 20胜0平0负
22 棋手22 2078 20胜0平0负
23 棋手23 2077 20胜0平0负
表格主编：挑战者"""
    )
    first = queries.board_page(rows, 1)
    assert first.splitlines()[1] == "1 棋手01 2099 20胜0平0负"
    assert first.splitlines()[10:] == ["10 棋手10 2090 20胜0平0负", "表格主编：挑战者", "下一页：/排行榜 第2页"]
    assert queries.board_page(rows, 1, 2).splitlines()[1:] == [
        "1 棋手01 2099 20胜0平0负", "2 棋手02 2098 20胜0平0负", "表格主编：挑战者",
    ]  # fmt: skip
    assert "（第1/2页，共23人）" in queries.board_page(rows, 1, 15)
    assert queries.board_page(rows, 4) == "没有第4页，单跳1v1榜共3页。\n/排行榜 第3页"
    assert "未满" not in first


def test_an_empty_board_and_the_next_page_of_another_pool() -> None:
    books = Books()
    assert queries.board_page(board(books.book(), books.directory, PAIRS, NOW), 1) == (
        "单跳2v2还没有人上榜：下过第一局计分棋就上榜。"
    )
    for number in range(1, 12):
        books.join(f"棋手{number:02}")
        books.add(OpeningBalance(number, 2000.0, 20, 0, 0, NOW), pool=PAIRS)
    page = queries.board_page(board(books.book(), books.directory, PAIRS, NOW), 1)
    assert page.endswith("\n下一页：/排行榜 第2页 单跳2v2")


def test_a_hint_names_the_pool_where_the_group_has_another() -> None:
    games = history(BOOK, NAMES, POOL, 1, 1)
    assert queries.history_page(games, 1, NOW, 1, PAIRS).endswith("\n更多：/战绩 张三 单跳1v1")
    assert queries.history_page(games, 1, NOW, 1, POOL).endswith("\n更多：/战绩 张三")
    rows = board(BOOK, NAMES, POOL, NOW)
    assert queries.board_page(rows, 2, here=PAIRS).endswith("\n/排行榜 第1页 单跳1v1")


# --- cards


def test_a_card() -> None:
    assert (
        queries.card(card(BOOK, NAMES, POOL, 2, NOW))
        == """\
李四 第2名，共4人（单跳1v1）
显示分 1827.0，实际分 1957.0，未满20盘，还差13盘
7盘：1胜1平5负，胜率14.3%
历史最高分：满20盘后开始统计
状态：在榜
上面：1 张三 1925.8
下面：3 赵六 1819.5，4 王五 1807.7
最近5局：
局8 胜 王五 +22.8
局7 负 张三 不计分
局6 负 张三 -11.1
局5 负 张三 -12.2
局4 负 张三 -13.3"""
    )


def test_a_card_in_2v2_names_both_opponents() -> None:
    assert queries.card(card(BOOK, NAMES, PAIRS, 4, NOW)).endswith(
        "上面：2 王五 1826.0，3 李四 1794.0\n最近1局：\n局12 负 张三、王五 -16.0"
    )


def test_a_card_of_a_full_player_with_a_peak() -> None:
    books = Books()
    books.join("老手", rating=2250.0)
    books.add(OpeningBalance(1, 2150.25, 10, 5, 5, NOW, peak=2250.35, peak_at=ms("2025-05-05")))
    assert (
        shown_card(books, "老手")
        == """\
老手 第1名，共1人（单跳1v1）
显示分 2150.3，实际分 2150.3
20盘：10胜5平5负，胜率50.0%
历史最高分：2250.4（2025-05-05）
状态：在榜"""
    )


def test_states_on_a_card() -> None:
    books = Books()
    for name in ("请假", "在榜请假", "封存", "可回"):
        books.join(name)
        books.add(OpeningBalance(books.id(name), 2000.0, 20, 0, 0, NOW, archived=name == "可回"))
    books.join("新人", "高分", MASKED_NAME, rating=2300.0)
    books.add(OpeningBalance(books.id("高分"), 2200.0, 20, 0, 0, NOW))
    books.add(LeaveTaken(books.id("请假"), ms("2027-01-01"), (POOL,)))
    books.add(LeaveTaken(books.id("在榜请假"), ms("2027-01-01"), ()))
    books.add(Settlement(2026, ms("2027-02-01"), ((books.id("封存"), 20.0),)))
    lines = {
        name: [line for line in shown_card(books, name).splitlines() if line[:2] in ("状态", "现在", "历史")]
        for name in ("请假", "在榜请假", "封存", "可回", "新人", "高分", MASKED_NAME)
    }
    assert lines["请假"][1:] == ["状态：请假（封存），2027-01-01起可参赛"]
    assert lines["在榜请假"][1:] == ["状态：请假（在榜），2027-01-01起可参赛"]
    assert lines["封存"][1:] == ["状态：封存，2027-02-01起可参赛"]
    assert lines["可回"][1:] == ["状态：封存，再有一次报分生效就回到榜上"]
    assert lines["新人"][1] == "状态：还没有计分对局，未上榜"
    assert lines["高分"][1:] == ["状态：在榜", "现在不能报分：实际分满2200，还没有核验IP截图（L11）。"]
    assert lines[MASKED_NAME][:2] == ["历史最高分：公用号不统计", "状态：公用号，不参与排名（L13）"]
    assert shown_card(books, "封存").startswith("封存 不在榜上（单跳1v1）\n显示分 1980.0，实际分 1980.0\n")
    assert shown_card(books, "新人").splitlines()[2] == "0盘：0胜0平0负"


# --- histories and records


def test_a_history() -> None:
    games = history(BOOK, NAMES, POOL, 3, queries.HISTORY_PAGE)
    assert (
        queries.history_page(games, 1, NOW)
        == """\
王五的战绩（单跳1v1，共4局，新的在前）
局11 05-01 负 赵六 已作废
局10 05-01 负 赵六 1994.3→1977.7
局9 05-01 胜 赵六 1977.2→1994.3
局8 04-01 负 李四 2000.0→1977.2 皇后杯×1.2"""
    )


def test_a_history_names_the_year_of_older_games_and_says_what_does_not_count() -> None:
    text = queries.history_page(history(BOOK, NAMES, POOL, 1, queries.HISTORY_PAGE), 1, NOW)
    assert text.splitlines()[1] == "局7 03-02 胜 李四 不计分（L6）"
    assert text.splitlines()[-1] == "局1 2025-12-30 胜 李四 2000.0→2016.0"


def test_a_history_in_2v2() -> None:
    text = queries.history_page(history(BOOK, NAMES, PAIRS, 4, queries.HISTORY_PAGE), 1, NOW)
    assert text.splitlines()[1] == "局12 06-01 负 张三、王五（同李四） 2000.0→1984.0"


def test_pages_of_a_history_show_every_game_once() -> None:
    books = Books()
    for _ in range(12):
        books.play("甲 胜负 乙")
    total: list[str] = []
    for page in (1, 2, 3):
        games = history(books.book(), books.directory, POOL, 1, page * queries.HISTORY_PAGE)
        lines = queries.history_page(games, page, NOW).splitlines()
        total += [line.split()[0] for line in lines[1:] if line.startswith("局")]
        assert (lines[-1] == f"更早的：/战绩 甲 第{page + 1}页") == (page < 3)
    assert total == [f"局{number}" for number in range(24, 0, -1)]
    games = history(books.book(), books.directory, POOL, 1, 4 * queries.HISTORY_PAGE)
    assert queries.history_page(games, 4, NOW) == "没有第4页，甲的战绩（单跳1v1）共3页。"
    few = queries.history_page(history(books.book(), books.directory, POOL, 1, 2), 1, NOW, 2)
    assert [line.split()[0] for line in few.splitlines()[1:]] == ["局24", "局23", "更多：/战绩"]
    many = queries.history_page(history(books.book(), books.directory, POOL, 1, 15), 1, NOW, 15)
    assert many.splitlines()[-1] == "更早的：/战绩 甲 第2页"


def test_nobody_has_played() -> None:
    books = Books()
    books.join("甲", "乙")
    empty = history(books.book(), books.directory, POOL, 1, 10)
    assert queries.history_page(empty, 1, NOW) == "甲在单跳1v1还没有对局。"
    record = head_to_head(books.book(), books.directory, POOL, (1,), (2,), NOW)
    assert (
        queries.head_to_head(record, NOW, books.directory.name_of)
        == """\
甲 对 乙（单跳1v1）
两边还没有交过手。
防刷分（L6）：2026年约战净胜0局，到4局就暂停计分"""
    )


def test_a_record_of_two() -> None:
    record = head_to_head(BOOK, NAMES, POOL, (1,), (2,), NOW)
    assert (
        queries.head_to_head(record, NOW, NAMES.name_of)
        == """\
张三 对 李四（单跳1v1）
比分：张三 5胜1平0负，另有1局不计分
分数往来：张三 +65.8，李四 -65.8
防刷分（L6）：净胜负已到4局，约战暂不计分；要各与别人下满4局计分棋：张三还差4局，李四还差3局
最近5局（张三的）：
局7 03-02 胜 不计分
局6 03-02 胜 +11.1
局5 03-02 胜 +12.2
局4 03-02 胜 +13.3
局3 03-02 胜 +14.7"""
    )


def test_the_meter_names_who_is_ahead() -> None:
    record = head_to_head(BOOK, NAMES, PAIRS, (4, 2), (1, 3), NOW)
    assert "防刷分（L6）：2026年约战张三、王五净胜1局，到4局就暂停计分" in queries.head_to_head(
        record, NOW, NAMES.name_of
    )
