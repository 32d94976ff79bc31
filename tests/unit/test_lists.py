"""Published lists, 涨跌, boards of past days and the archive list (rulebook §7, §8; L7, L8, L12, L14, L15)."""

from collections.abc import AsyncIterator, Sequence
from datetime import date
from pathlib import Path

import pytest

from plugins.rating_bot.wording import lists as wording
from plugins.rating_bot.wording.common import MAX_CHARS, MAX_LINES
from plugins.rating_bot.wording.queries import board_page, card
from rating_core import queries
from rating_core.book import Book
from rating_core.ledger import (
    Adjustment,
    Draft,
    LeaveTaken,
    ListPublished,
    ListRow,
    Merged,
    OpeningBalance,
    PlayerRegistered,
    Settlement,
    Void,
)
from rating_core.past import MOST_KEPT, PastBooks
from rating_core.queries import Board, Change
from rating_core.rulebook import MASKED_NAME
from rating_core.rules.display import board_order
from rating_core.service import lists
from rating_core.service.refusal import Refusal
from rating_core.times import season_start
from tests.support.books import Books
from tests.support.rig import SCORING, Rig, running_rig
from tests.support.rows import ms

POOL, PAIRS = "单跳1v1", "单跳2v2"
NOW = ms("2026-11-30 12:00")


def opened(books: Books, name: str, rating: float, games: int = 20) -> None:
    """Let a player in with an opening balance of so many games, all won; with 20 his shown rating is the actual one."""
    books.join(name)
    books.add(OpeningBalance(books.id(name), rating, games, 0, 0, ms("2026-01-01")))


def publish(books: Books, number: int, at: str, pool: str = POOL) -> None:
    """Publish the board as it stands."""
    state = books.book().state.pools[pool]
    rows: list[ListRow] = []
    for rank, (lowered, rating, _, _, player) in enumerate(board_order(state, books.directory, ms(at)), start=1):
        s = state.standings[player]
        rows.append((player, rank, -lowered, -rating, s.wins, s.draws, s.losses, s.peak, s.peak_at))
    books.add(ListPublished(number, ms(at), tuple(rows)), at=at, pool=pool)


def adjust(books: Books, name: str, amount: float, at: str | None = None) -> None:
    books.add(Adjustment(books.id(name), amount), at=at)


def board(books: Books, at: int = NOW) -> Board:
    return queries.board(books.book(), books.directory, POOL, at)


def published(books: Books, number: int) -> Board:
    book = books.book()
    found = queries.find_list(book, POOL, number)
    assert found is not None
    return queries.published_board(book, books.directory, POOL, found)


def changes(found: Board) -> dict[str, Change | None]:
    return {row.name: row.change for row in found.rows}


# --- 涨跌 ---------------------------------------------------------------------------------------------------


def test_without_a_list_there_is_nothing_to_compare_with() -> None:
    books = Books()
    opened(books, "甲", 2000.0)
    assert changes(board(books)) == {"甲": None}
    assert board(books).against is None
    shown = queries.card(books.book(), books.directory, POOL, books.id("甲"), NOW)
    assert (shown.against, shown.change) == (None, None)
    assert "涨跌" not in card(shown)


def test_a_board_is_sorted_anew_only_when_more_than_games_came() -> None:
    books = Books()
    for name, rating in (("甲", 2100.0), ("乙", 2095.0), ("丙", 2000.0)):
        opened(books, name, rating)
    book = books.book()

    def names(at: int = NOW) -> list[str]:
        book.advance(books.rows.rows[book.seq :])
        return [row.name for row in queries.board(book, books.directory, POOL, at).rows]

    def sorted_anew() -> bool:
        """Whether the last question sorted everybody: a mark put into the order at hand is gone."""
        order = book.orders[POOL].order
        found = -1 not in order.place_of
        order.place_of[-1] = order.places[0]
        return found

    assert names() == ["甲", "乙", "丙"]
    assert sorted_anew()
    assert names() == ["甲", "乙", "丙"]
    assert not sorted_anew()
    books.play("乙 胜 甲")
    assert names() == ["乙", "甲", "丙"]
    assert not sorted_anew()
    books.directory = books.directory.copy()
    books.directory.roster.rename(books.id("甲"), "丁")
    assert names() == ["乙", "丁", "丙"]
    assert sorted_anew()
    adjust(books, "丙", 200.0)
    assert names() == ["丙", "乙", "丁"]
    assert sorted_anew()
    assert names(ms("2016-12-31")) == ["丙", "乙", "丁"]  # by another N (L12)
    assert sorted_anew()


def test_rating_and_rank_against_the_last_list() -> None:
    """Rank change = old − new; who was not on the list is 新."""
    books = Books()
    for name, rating in (("甲", 2040.0), ("乙", 2030.0), ("丙", 2020.0)):
        opened(books, name, rating)
    publish(books, 1, "2026-10-31 20:00")
    adjust(books, "丙", 30.0)
    opened(books, "丁", 2035.0)
    found = board(books)
    assert [row.name for row in found.rows] == ["丙", "甲", "丁", "乙"]
    assert changes(found) == {"丙": Change(30.0, 2), "甲": Change(0.0, -1), "丁": Change(), "乙": Change(0.0, -2)}
    assert [row.name for row in found.rows if row.change is not None and row.change.is_new] == ["丁"]
    assert found.against == 1
    one = queries.card(books.book(), books.directory, POOL, books.id("丙"), NOW)
    assert (one.rank, one.change, one.against) == (1, Change(30.0, 2), 1)
    assert "涨跌（比第1期）：+30.0分，名次升2" in card(one)


def test_equal_shown_ratings_have_ranks_of_their_own() -> None:
    """§7: equal on the board, ranked by games and name; the rank change follows these ranks."""
    books = Books()
    for name, games in (("甲", 20), ("乙", 21), ("丙", 22)):
        opened(books, name, 2000.0, games)
    publish(books, 1, "2026-10-31 20:00")
    assert [row.name for row in board(books).rows] == ["丙", "乙", "甲"]
    adjust(books, "丙", -1.0)
    adjust(books, "甲", 1.0)
    assert changes(board(books)) == {"甲": Change(1.0, 2), "乙": Change(0.0, 0), "丙": Change(-1.0, -2)}
    adjust(books, "丙", 1.0)
    adjust(books, "甲", -1.0)
    assert changes(board(books)) == dict.fromkeys("甲乙丙", Change(0.0, 0))


def test_the_shown_rating_is_compared_not_the_actual_one() -> None:
    """L15 with L12: a game played takes 10 points off the deduction."""
    books = Books()
    books.play("甲 平 乙", at="2026-10-01 20:00")
    publish(books, 1, "2026-10-31 20:00")
    books.play("甲 平 乙", at="2026-11-01 20:00")
    assert {name: c.rating for name, c in changes(board(books)).items() if c} == {"甲": 10.0, "乙": 10.0}


def test_only_lists_of_the_pool_count_and_the_last_of_them() -> None:
    books = Books()
    opened(books, "甲", 2000.0)
    publish(books, 1, "2026-10-01 20:00")
    adjust(books, "甲", 5.0)
    publish(books, 2, "2026-10-31 20:00")
    adjust(books, "甲", 7.0)
    assert changes(board(books)) == {"甲": Change(7.0, 0)}
    assert queries.board(books.book(), books.directory, PAIRS, NOW).against is None


def test_a_merged_name_is_compared_with_the_row_under_the_wrong_name() -> None:
    books = Books()
    opened(books, "甲", 2040.0)
    opened(books, "错名", 2030.0)
    publish(books, 1, "2026-10-31 20:00")
    books.join("正名")
    books.add(Merged(books.id("错名"), books.id("正名")))
    books.directory.merged = books.book().merged
    assert changes(board(books))["正名"] == Change(0.0, 0)
    assert [row.name for row in published(books, 1).rows] == ["甲", "正名"]


# --- published lists ----------------------------------------------------------------------------------------


def test_a_list_is_frozen() -> None:
    """A correction changes the board and every past day, never a list; names are those of now."""
    books = Books()
    row = books.play("甲 胜 乙", at="2026-10-01 20:00")
    publish(books, 1, "2026-10-31 20:00")
    before = published(books, 1)
    assert [(r.name, r.wins, round(r.shown)) for r in before.rows] == [("甲", 1, 1826), ("乙", 0, 1794)]
    books.amend(row, 1, "甲 负 乙")
    books.directory.roster.rename(books.id("甲"), "新甲")
    assert [(r.name, r.rank, r.shown) for r in published(books, 1).rows] == [
        ("新甲", 1, before.rows[0].shown),
        ("乙", 2, before.rows[1].shown),
    ]
    assert [(r.name, r.wins) for r in board(books).rows] == [("乙", 1), ("新甲", 0)]
    assert changes(board(books))["乙"] == Change(32.0, 1)


def test_a_list_is_compared_with_the_one_before_it() -> None:
    books = Books()
    opened(books, "甲", 2000.0)
    for number, at in ((1, "2026-09-30"), (2, "2026-10-31"), (3, "2026-11-29")):
        adjust(books, "甲", float(number))
        publish(books, number, at)
    assert [(published(books, n).against, changes(published(books, n))["甲"]) for n in (1, 2, 3)] == [
        (None, None),
        (1, Change(2.0, 0)),
        (2, Change(3.0, 0)),
    ]


def test_a_list_bears_peaks_and_games_missing_as_of_its_day() -> None:
    """L12 (N of the list's day), L14 (peak with its date)."""
    books = Books()
    books.join("甲")
    books.add(OpeningBalance(books.id("甲"), 2100.0, 15, 0, 0, ms("2016-06-01"), 0, False, 2150.0, ms("2016-05-01")))
    publish(books, 1, "2016-12-31 23:59")
    publish(books, 2, "2017-01-01")
    first, second = published(books, 1), published(books, 2)
    assert [(b.needed, b.rows[0].missing, b.rows[0].shown) for b in (first, second)] == [
        (10, 0, 2100.0),
        (20, 5, 2050.0),
    ]
    assert (second.rows[0].peak, second.rows[0].peak_at) == (2150.0, ms("2016-05-01"))
    assert changes(second)["甲"] == Change(-50.0, 0)


def test_a_voided_list_is_not_read_and_not_compared_with() -> None:
    books = Books()
    opened(books, "甲", 2000.0)
    publish(books, 1, "2026-10-01")
    adjust(books, "甲", 5.0)
    publish(books, 2, "2026-10-31")
    books.add(Void(), about=books.rows.rows[-1])
    assert queries.find_list(books.book(), POOL, 2) is None
    assert changes(board(books)) == {"甲": Change(5.0, 0)}


# --- past days ----------------------------------------------------------------------------------------------


def test_a_past_day_with_what_is_known_now() -> None:
    """The board at the end of a day; a correction entered later is in it, a game played later is not."""
    books = Books()
    first = books.play("甲 胜 乙", at="2026-10-01 20:00")
    publish(books, 1, "2026-10-01 21:00")
    books.play("甲 负 丙", at="2026-10-02 20:00")
    publish(books, 2, "2026-10-02 21:00")
    books.amend(first, 1, "甲 负 乙")
    past = books.book().as_of(ms("2026-10-02"))
    found = queries.board(past, books.directory, POOL, ms("2026-10-01"))
    assert [(row.name, row.wins, row.change) for row in found.rows] == [
        ("乙", 1, Change(32.0, 1)),
        ("甲", 0, Change(-32.0, -1)),
    ]
    assert found.against == 1


async def test_books_of_past_days_are_made_once() -> None:
    books = Books()
    books.play("甲 胜 乙", at="2026-10-01 20:00")
    books.play("甲 胜 乙", at="2026-10-02 20:00")
    book, kept = books.book(), PastBooks()
    first = await kept.at_end_of(book, date(2026, 10, 1))
    assert len(first.columns) == 1
    assert await kept.at_end_of(book, date(2026, 10, 1)) is first
    assert len((await kept.at_end_of(book, date(2026, 10, 2))).columns) == 2
    books.void(books.rows.rows[-1])
    assert await kept.at_end_of(books.book(), date(2026, 10, 1)) is not first
    for day in range(1, MOST_KEPT + 1):
        await kept.at_end_of(book, date(2026, 9, day))
    assert await kept.at_end_of(book, date(2026, 10, 1)) is not first


def test_when_a_pool_began() -> None:
    books = Books()
    assert books.book().began(POOL) is None
    void = books.play("甲 胜 乙", at="2026-10-01 20:00")
    books.play("甲 胜 乙", at="2026-10-03 20:00")
    assert books.book().began(POOL) == ms("2026-10-01 20:00")
    books.void(void)
    assert books.book().began(POOL) == ms("2026-10-03 20:00")
    assert books.book().began(PAIRS) is None


# --- 封存名单 -----------------------------------------------------------------------------------------------


def archive() -> Books:
    """甲 took leave, 乙 and 丙 were archived at settlement (丙 was on leave then), 丁 came here archived, 戊 plays."""
    books = Books()
    for name, rating in (("甲", 2000.0), ("乙", 2050.0), ("丙", 2000.0), ("戊", 2100.0)):
        opened(books, name, rating)
    books.join("丁")
    books.add(OpeningBalance(books.id("丁"), 1990.0, 20, 0, 0, ms("2025-12-31"), archived=True))
    books.add(LeaveTaken(books.id("甲"), season_start(2027), (POOL,)), at="2026-05-01 20:00")
    verdicts = ((books.id("乙"), 20.0), (books.id("丙"), 0.0))
    books.add(Settlement(2026, ms("2027-02-01"), verdicts), at="2027-01-02 20:00")
    return books


def listed(books: Books, at: str) -> Sequence[tuple[str, str, int | None]]:
    rows = queries.archived(books.book(), books.directory, POOL, ms(at))
    return [(row.name, row.reason, row.barred_until) for row in rows]


def test_the_archive_list() -> None:
    books = archive()
    assert listed(books, "2027-01-10") == [
        ("乙", "few_games", ms("2027-02-01")),
        ("丙", "leave", ms("2027-02-01")),
        ("甲", "leave", None),
        ("丁", "opening", None),
    ]
    assert [until for *_, until in listed(books, "2027-02-01")] == [None] * 4
    rows = queries.archived(books.book(), books.directory, POOL, ms("2027-01-10"))
    assert [row.since for row in rows] == list(
        map(ms, ("2027-01-02 20:00", "2027-01-02 20:00", "2026-05-01 20:00", "2025-12-31"))
    )
    assert (
        wording.archive_page(POOL, rows, 1, POOL)
        == """\
单跳1v1封存名单（第1/1页，共4人）
1 乙 2030.0 2027-01-02封存，2027-02-01起可参赛
2 丙 2000.0 2027-01-02请假，2027-02-01起可参赛
3 甲 2000.0 2026-05-01请假，现在就可参赛
4 丁 1990.0 2025-12-31封存，现在就可参赛
可参赛后再有一次报分生效就回到榜上"""
    )


def test_who_came_back_leaves_the_archive_list_and_a_new_archiving_has_its_own_reason() -> None:
    books = archive()
    books.play("甲 平 乙", at="2027-02-02 20:00")
    assert [name for name, *_ in listed(books, "2027-02-03")] == ["丙", "丁"]
    books.add(LeaveTaken(books.id("乙"), season_start(2028), (POOL,)), at="2027-03-01 20:00")
    books.add(Settlement(2027, ms("2028-02-01"), ((books.id("甲"), 20.0),)), at="2028-01-02 20:00")
    assert [(name, reason) for name, reason, _ in listed(books, "2028-01-10")] == [
        ("乙", "leave"),
        ("丙", "leave"),
        ("丁", "opening"),
        ("甲", "few_games"),
    ]


def test_a_leave_for_another_pool_keeps_an_archived_player_barred() -> None:
    """L8: a leave bars him in all pools."""
    books = archive()
    books.add(LeaveTaken(books.id("丁"), season_start(2028), (PAIRS,)), at="2027-03-01 20:00")
    assert {name: (why, until) for name, why, until in listed(books, "2027-03-02")}["丁"] == (
        "opening",
        season_start(2028),
    )


def test_the_masked_player_is_on_no_list() -> None:
    """L13: neither published nor archived."""
    books = Books()
    opened(books, "甲", 2000.0)
    opened(books, MASKED_NAME, 2300.0)
    publish(books, 1, "2026-10-31")
    assert [row.name for row in published(books, 1).rows] == ["甲"]
    books.add(LeaveTaken(books.id(MASKED_NAME), season_start(2027), (POOL,)), at="2026-11-01")
    assert listed(books, "2026-11-02") == []


# --- the words ----------------------------------------------------------------------------------------------


def test_a_page_of_a_board_with_its_changes() -> None:
    books = Books()
    for name, rating in (("甲", 2040.0), ("乙", 2030.0), ("丙", 2020.0), ("己", 1900.0)):
        opened(books, name, rating)
    publish(books, 4, "2026-10-31 20:00")
    books.play("丙 胜 甲", at="2026-11-02 20:00")
    opened(books, "丁", 2200.0, 15)
    assert (
        board_page(board(books), 1)
        == """\
单跳1v1等级分排行榜 2026-11-30（第1/1页，共5人，涨跌比第4期）
1 丁 2150* 新 15胜0平0负
2 丙 2037 +16.9↑1 21胜0平0负
3 乙 2030 ↓1 20胜0平0负
4 甲 2023 -16.9↓3 20胜0平1负
5 己 1900 ↓1 20胜0平0负
*未满20盘，显示分已扣
表格主编：挑战者"""
    )


def test_where_names_and_changes_are_long_records_are_left_out() -> None:
    books = Books()
    for number in range(1, 301):
        opened(books, f"名字很长很长很长很长的棋手{number:03}", 2300.0 - number, 123)
    publish(books, 1, "2026-10-31 20:00")
    for number in range(1, 301):
        adjust(books, f"名字很长很长很长很长的棋手{number:03}", 100.0 * (number % 3))
    found = board(books)
    title = "标" * lists.MAX_TITLE
    seen: list[str] = []
    for page in range(1, 31):
        said = board_page(found, page, here=PAIRS, title=title, asked="2026-11-30")
        assert len(said) <= MAX_CHARS and said.count("\n") < MAX_LINES
        seen += [line for line in said.splitlines() if "名字" in line]
        last = "表格主编：挑战者" if page == 30 else f"下一页：/排行榜 2026-11-30 第{page + 1}页 单跳1v1"
        assert said.endswith(last)
    assert [line.split(" ", 1)[0] for line in seen] == [str(rank) for rank in range(1, 301)]
    assert "胜" not in seen[0]
    assert "123胜0平0负" in board_page(found, 1)


def test_a_long_archive_list_in_pages() -> None:
    books = Books()
    for number in range(1, 26):
        name = f"名字很长很长很长很长的棋手{number:03}"
        books.join(name)
        books.add(OpeningBalance(books.id(name), 2300.0 - number, 20, 0, 0, ms("2026-01-01"), archived=True))
    rows = queries.archived(books.book(), books.directory, POOL, NOW)
    first = wording.archive_page(POOL, rows, 1, POOL)
    assert len(first) <= MAX_CHARS and first.count("\n") < MAX_LINES
    assert first.endswith("下一页：/封存名单 第2页")
    assert wording.archive_page(POOL, rows, 9, PAIRS).endswith("\n/封存名单 第3页 单跳1v1")


@pytest.mark.parametrize(
    ("known", "number", "gone", "said"),
    [
        ((), 3, False, "单跳1v1还没有发布过榜单。看现在的：\n/排行榜"),
        ((), 1, True, "单跳1v1没有还有效的榜单。看现在的：\n/排行榜"),
        ((1, 2, 3), 7, False, "单跳1v1没有第7期，可看的有第1–3期。例如：\n/排行榜 第3期"),
        ((1, 3), 2, True, "单跳1v1第2期已经撤销，可看的有第1、3期。例如：\n/排行榜 第3期"),
    ],
)
def test_a_list_that_is_not_there(known: tuple[int, ...], number: int, gone: bool, said: str) -> None:
    assert wording.no_list(POOL, number, known, POOL, gone=gone) == said
    assert wording.no_list(POOL, number, known, PAIRS, gone=gone) == f"{said} 单跳1v1"


# --- publishing ---------------------------------------------------------------------------------------------


@pytest.fixture
async def rig(tmp_path: Path) -> AsyncIterator[Rig]:
    """张三 beat 李四 (#1)."""
    async with running_rig(tmp_path) as rig:
        await rig.league_of("张三", "李四")
        await rig.say("裁判老赵", "张三 胜 李四")
        yield rig


async def test_a_list_shows_what_the_same_transaction_did(rig: Rig) -> None:
    """A settlement or an adjustment entered before it in one transaction is on it."""
    league = rig.league
    player = league.directory.roster.resolve("李四")
    assert player is not None
    async with league.transaction() as tx:
        actor = await tx.known(tx.directory.actor(str(rig.people["小周"])))
        await tx.append(Draft(Adjustment(player, 100.0), rig.clock.at, actor.account_id, POOL))
        done = await lists.publish(tx, actor, POOL, rig.clock.at, rig.clock.at)
    assert (done.number, done.title) == (1, "传统单跳1v1跳棋等级分排行榜2026年11月30日")
    assert [(row[0] == player, row[1], round(row[3])) for row in done.rows] == [(True, 1, 2084), (False, 2, 2016)]
    kept = queries.find_list(league.book, POOL, 1)
    assert kept is not None and (kept.rows, kept.seq) == (done.rows, done.seq)


async def test_a_number_is_given_once(rig: Rig) -> None:
    """Also where its list was voided; each pool counts for itself; a transaction that fails gives none."""
    league, numbers = rig.league, []
    for _ in range(2):
        async with league.transaction() as tx:
            done = await lists.publish(tx, tx.directory.actor(str(rig.people["小周"])), POOL, NOW, NOW, "测试")
            await tx.append(Draft(Void(), NOW, 0, POOL, refers_to=done.seq))
            numbers.append(done.number)
    with pytest.raises(RuntimeError):
        async with league.transaction() as tx:
            await lists.publish(tx, tx.directory.actor(str(rig.people["小周"])), POOL, NOW, NOW)
            raise RuntimeError
    async with league.transaction() as tx:
        numbers.append((await lists.publish(tx, tx.directory.actor(str(rig.people["小周"])), POOL, NOW, NOW)).number)
    assert numbers == [1, 2, 3]
    assert [each.number for each in league.book.state.lists[POOL]] == [3]


@pytest.mark.parametrize(
    ("title", "code"),
    [
        ("「」", "list_title_empty"),
        ("标" * 41, "list_title_long"),
        ("看@全体成员", "list_title_at"),
        ("看＠全体成员", "list_title_at"),
    ],
)
async def test_titles_that_cannot_be(rig: Rig, title: str, code: str) -> None:
    with pytest.raises(Refusal) as caught:
        async with rig.league.transaction() as tx:
            await lists.publish(tx, tx.directory.actor(str(rig.people["小周"])), POOL, NOW, NOW, title)
    assert caught.value.code == code
    assert "/发布榜单" in wording.refusal(caught.value)
    assert POOL not in rig.league.book.state.lists


def test_a_title_is_one_line() -> None:
    assert lists.check_title(" 十一月\n总榜\u200b ") == "十一月 总榜"
    assert lists.check_title("{pool}%s") == "{pool}%s"


async def test_a_title_with_braces_and_pages(rig: Rig) -> None:
    await rig.say("小周", "/发布榜单 {0}月%s榜", SCORING)
    (said,) = await rig.say("张三", "/排行榜 第1期 第1页")
    assert said.startswith("单跳1v1第1期 {0}月%s榜（第1/1页，共2人）\n1 张三 1826*")
    (said,) = await rig.say("张三", "/排行榜 第1期 前1")
    assert "李四" not in said


async def test_a_pool_without_a_group_of_its_own(rig: Rig) -> None:
    """The list is not posted anywhere else; the answer says so."""
    league = rig.league
    async with league.transaction() as tx:
        entry = PlayerRegistered(99, 2000.0, "普通")
        await tx.append(Draft(entry, NOW, 0))
        await tx.name_player(99, "双人")
        await tx.append(Draft(OpeningBalance(99, 2000.0, 20, 0, 0, NOW), NOW, 0, PAIRS))
    said = await rig.say("小周", "/发布榜单 单跳2v2 试发", SCORING)
    assert said == [
        "单跳2v2第1期已发布（账6），共1人，没有群对应这个榜，没有发到群里：试发。以后的涨跌和这一期比。\n"
        "/排行榜 第1期 单跳2v2"
    ]
    (shown,) = await rig.say("张三", "/排行榜 第1期 单跳2v2")
    assert shown.startswith("单跳2v2第1期 试发（第1/1页，共1人）\n1 双人 2000 20胜0平0负")


def test_an_empty_book_has_no_past_lists() -> None:
    assert queries.find_list(Book(), POOL, 1) is None
