"""Boards, cards, histories, records and predictions: rows made from the Book alone (rulebook §6, §7)."""

import pytest

from rating_core.ledger import (
    IpChecked,
    LeaveTaken,
    OpeningBalance,
    PlayerRegistered,
    Settlement,
)
from rating_core.queries import board, calculate, card, head_to_head, history, meter, prediction
from rating_core.report_text import Result
from rating_core.rulebook import MASKED_NAME, RuleSet
from rating_core.rules.display import shown_rating
from rating_core.state import pair_code
from tests.support.books import Books
from tests.support.rows import ms

POOL, PAIRS = "单跳1v1", "单跳2v2"
NOW = ms("2026-11-30 12:00")


def opened(books: Books, name: str, rating: float, games: int, **more: object) -> None:
    """Let a player in with an opening balance of so many games, all won."""
    books.join(name)
    entry = OpeningBalance(books.id(name), rating, games, 0, 0, ms("2026-01-01"), **more)  # type: ignore[arg-type]
    books.add(entry)


def names(books: Books, at: int = NOW, pool: str = POOL) -> list[str]:
    return [row.name for row in board(books.book(), books.directory, pool, at).rows]


# --- boards -----------------------------------------------------------------------------------------------


def test_a_board_goes_by_shown_then_actual_then_games_then_name() -> None:
    books = Books()
    opened(books, "乙", 2000.0, 20)
    opened(books, "丙", 2000.0, 20)
    opened(books, "甲", 2000.0, 20)
    opened(books, "多盘", 2000.0, 21)
    opened(books, "差一盘", 2010.0, 19)
    opened(books, "差十盘", 2100.0, 10)
    opened(books, "零头", 2000.0000001, 20)
    opened(books, "低", 1999.9999999, 500)
    # shown: 零头 a little above 2000, six at 2000, 低 below; 丙 < 乙 < 甲 by code point
    assert names(books) == ["零头", "差十盘", "差一盘", "多盘", *sorted("甲乙丙"), "低"]
    assert [row.rank for row in board(books.book(), books.directory, POOL, NOW).rows] == list(range(1, 9))


def test_two_thousand_beats_two_thousand_then_draws() -> None:
    """Both are announced with the actual rating, and stand on the board 180 lower with 18 games missing."""
    books = Books()
    books.play("张三 胜平 李四")
    first, second = board(books.book(), books.directory, POOL, NOW).rows
    assert (first.name, first.missing, first.games, first.wins, first.draws, first.losses) == ("张三", 18, 2, 1, 1, 0)
    assert first.rating == pytest.approx(2014.5, abs=0.05)
    assert first.shown == first.rating - 180
    assert (second.name, second.missing, second.wins, second.draws, second.losses) == ("李四", 18, 0, 1, 1)
    assert second.rating == pytest.approx(1985.5, abs=0.05)
    assert second.peak is None


@pytest.mark.parametrize(
    ("day", "needed", "shown"),
    [("2016-12-31 23:59", 10, 1980.0), ("2017-01-01", 20, 1880.0), ("2026-11-30", 20, 1880.0)],
)
def test_the_board_lowers_by_the_rule_of_its_own_date(day: str, needed: int, shown: float) -> None:
    books = Books()
    opened(books, "甲", 2000.0, 8)
    rows = board(books.book(), books.directory, POOL, ms(day))
    assert (rows.needed, rows.rows[0].missing, rows.rows[0].shown) == (needed, needed - 8, shown)
    assert shown_rating(books.book().state.look(POOL, 1), ms(day)) == shown


def test_who_is_not_on_a_board() -> None:
    books = Books()
    opened(books, "在榜", 2000.0, 20)
    opened(books, "封存", 2100.0, 20, archived=True)
    opened(books, "请假", 2200.0, 20)
    opened(books, "结算", 2050.0, 20)
    opened(books, MASKED_NAME, 2300.0, 20)
    books.join("没下过")
    books.add(LeaveTaken(books.id("请假"), ms("2027-01-01"), (POOL,)))
    books.add(Settlement(2025, ms("2026-02-01"), ((books.id("结算"), 20.0),)))
    assert names(books) == ["在榜"]
    books.play("结算 平 没下过", at="2026-03-01")
    assert names(books) == ["结算", "在榜", "没下过"]
    assert names(books, pool=PAIRS) == []


def test_a_leave_that_archives_nothing_leaves_him_on_the_board() -> None:
    books = Books()
    opened(books, "甲", 2000.0, 20)
    books.add(LeaveTaken(1, ms("2027-01-01"), ()))
    assert names(books) == ["甲"]


def test_a_board_says_who_is_checked_and_what_his_peak_is() -> None:
    books = Books()
    opened(books, "甲", 2250.0, 30, peak=2290.5, peak_at=ms("2025-05-05"))
    opened(books, "乙", 2240.0, 30)
    books.add(IpChecked(1, True))
    first, second = board(books.book(), books.directory, POOL, NOW).rows
    assert (first.peak, first.peak_at, first.ip_checked) == (2290.5, ms("2025-05-05"), True)
    assert (second.peak, second.ip_checked) == (2240.0, False)


def test_a_forgotten_player_stands_under_his_number() -> None:
    books = Books()
    opened(books, "甲", 2000.0, 20)
    books.directory.roster.remove("甲")
    assert names(books) == ["已注销1"]


# --- cards ------------------------------------------------------------------------------------------------


def test_a_card_knows_rank_record_and_neighbours() -> None:
    books = Books()
    for number in range(7):
        opened(books, f"棋手{number}", 2000.0 + number, 20)
    found = card(books.book(), books.directory, POOL, books.id("棋手3"), NOW)
    assert (found.rank, found.of, found.state, found.missing) == (4, 7, "listed", 0)
    assert [(row.rank, row.name) for row in found.above] == [(2, "棋手5"), (3, "棋手4")]
    assert [(row.rank, row.name) for row in found.below] == [(5, "棋手2"), (6, "棋手1")]
    first = card(books.book(), books.directory, POOL, books.id("棋手6"), NOW)
    assert (first.rank, first.above, len(first.below)) == (1, (), 2)
    last = card(books.book(), books.directory, POOL, books.id("棋手0"), NOW)
    assert (last.rank, len(last.above), last.below) == (7, 2, ())


def test_a_card_shows_the_last_five_games_without_void_ones() -> None:
    books = Books()
    books.play("甲 胜负 乙", "甲 平 乙")
    row = books.play("甲 胜 丙")
    books.play("丁 胜胜 甲", "甲 胜 丁")
    books.play("甲 丁 胜 乙 丙", pool=PAIRS)
    books.void(row)
    found = card(books.book(), books.directory, POOL, books.id("甲"), NOW)
    assert [game.number for game in found.recent] == [7, 6, 5, 3, 2]
    assert [game.result.word for game in found.recent] == ["胜", "负", "负", "平", "负"]
    assert (found.games, found.wins, found.draws, found.losses) == (6, 2, 1, 3)
    assert found.win_rate == pytest.approx(1 / 3)


def state_of(books: Books, name: str, at: int = NOW) -> tuple[str, int | None, int | None, str | None]:
    found = card(books.book(), books.directory, POOL, books.id(name), at)
    return found.state, found.leave_until, found.barred_until, found.bar.clause if found.bar else None


def test_states_of_a_card() -> None:
    books, until = Books(), ms("2027-02-01")
    books.join("没下过")
    opened(books, "在榜", 2000.0, 20)
    opened(books, "高分", 2200.0, 20)
    opened(books, "请假封存", 2000.0, 20)
    opened(books, "请假在榜", 2000.0, 20)
    opened(books, "封存", 2000.0, 20)
    opened(books, "早封存", 2000.0, 20, archived=True)
    books.join(MASKED_NAME, rating=2300.0)
    books.play(f"在榜 胜 {MASKED_NAME}")
    year_end = ms("2027-01-01")
    books.add(LeaveTaken(books.id("请假封存"), year_end, (POOL,)))
    books.add(LeaveTaken(books.id("请假在榜"), year_end, ()))
    books.add(Settlement(2026, until, ((books.id("封存"), 20.0),)))
    assert state_of(books, "没下过") == ("unlisted", None, None, None)
    assert state_of(books, "在榜") == ("listed", None, None, None)
    assert state_of(books, "高分") == ("listed", None, None, "L11")
    assert state_of(books, "请假封存") == ("archived", year_end, year_end, "L8")
    assert state_of(books, "请假封存", year_end) == ("archived", None, None, None)
    assert state_of(books, "请假在榜") == ("listed", year_end, None, "L8")
    assert state_of(books, "封存") == ("archived", None, until, "L7")
    assert state_of(books, "封存", until - 1) == ("archived", None, until, "L7")
    assert state_of(books, "封存", until) == ("archived", None, None, None)
    assert state_of(books, "早封存") == ("archived", None, None, None)
    assert state_of(books, MASKED_NAME)[0] == "masked"
    masked = card(books.book(), books.directory, POOL, books.id(MASKED_NAME), NOW)
    assert (masked.rank, masked.peak) == (None, None)


def test_a_masked_player_has_no_peak_even_with_many_games() -> None:
    books = Books()
    opened(books, MASKED_NAME, 2300.0, 40)
    assert card(books.book(), books.directory, POOL, 1, NOW).peak is None


def test_asking_adds_nobody_to_the_book() -> None:
    books = Books()
    books.join("没下过", "也没下过")
    book = books.book()
    card(book, books.directory, POOL, 1, NOW)
    prediction(book, books.directory, POOL, (1,), (2,), NOW)
    head_to_head(book, books.directory, POOL, (1,), (2,), NOW)
    assert book.state.pools[POOL].standings == {}
    assert book.state.pools[POOL].nets == {}


# --- histories --------------------------------------------------------------------------------------------


def test_a_history_is_seen_from_the_player_and_starts_with_the_newest() -> None:
    books = Books()
    event = books.event("皇后杯", 1.2)
    books.play("甲 胜 乙", at="2026-10-01 20:00")
    books.play("乙 胜 甲", at="2026-10-02 20:00", event=event, weight=1.2)
    books.play("丙 平 乙", at="2026-10-03 20:00")
    book = books.book()
    games = history(book, books.directory, POOL, books.id("甲"), 10)
    assert (games.name, games.total, [g.number for g in games.rows]) == ("甲", 2, [2, 1])
    newest, first = games.rows
    assert (newest.own, newest.others, newest.result, newest.event, newest.weight) == (
        ("甲",), ("乙",), Result.LOSS, "皇后杯", 1.2,
    )  # fmt: skip
    assert (first.before, first.change, first.after, first.counted, first.why) == (2000.0, 16.0, 2016.0, True, "")
    assert (first.at, first.report, first.event) == (ms("2026-10-01 20:00"), 1, "")
    assert newest.before == 2016.0
    assert newest.after == book.state.look(POOL, books.id("甲")).rating
    assert [g.number for g in history(book, books.directory, POOL, books.id("甲"), 1).rows] == [2]


def test_games_that_do_not_count_say_why() -> None:
    books = Books()
    books.play("甲 胜胜胜胜 乙")
    books.play("乙 负 甲")
    row = books.play("丙 胜胜 甲")
    books.void(row, 7)
    farmed, void = (
        next(g for g in history(books.book(), books.directory, POOL, 1, 9).rows if g.number == n) for n in (5, 7)
    )
    assert (farmed.counted, farmed.why, farmed.change, farmed.result) == (False, "farming", 0.0, Result.WIN)
    assert farmed.after == farmed.before
    assert (void.counted, void.why, void.before, void.after, void.change) == (False, "void", None, None, 0.0)


def test_rows_of_2v2_name_partner_and_opponents() -> None:
    books = Books()
    books.play("甲 乙 负 丙 丁", pool=PAIRS)
    (row,) = history(books.book(), books.directory, PAIRS, books.id("丁"), 5).rows
    assert (row.own, row.others, row.result, row.change) == (("丙", "丁"), ("甲", "乙"), Result.WIN, 16.0)
    assert history(books.book(), books.directory, POOL, books.id("丁"), 5).rows == ()


# --- two players ------------------------------------------------------------------------------------------


def test_a_record_counts_what_counts_and_sums_the_flow() -> None:
    books = Books()
    row = books.play("甲 胜 乙", "乙 负 甲", "甲 平 乙", "乙 胜 甲")
    books.play("甲 胜 丙")
    books.play("甲 胜胜胜胜胜 乙")
    books.void(row, 1)
    book = books.book()
    found = head_to_head(book, books.directory, POOL, (1,), (2,), NOW, limit=3)
    assert (found.wins, found.draws, found.losses, found.uncounted) == (5, 1, 1, 1)
    assert [game.number for game in found.rows] == [10, 9, 8]
    others = book.state.look(POOL, 3).rating - 2000
    assert found.flow_right == pytest.approx(book.state.look(POOL, 2).rating - 2000, abs=1e-9)
    assert found.flow_left == pytest.approx(book.state.look(POOL, 1).rating - 2000 + others, abs=1e-9)
    mirrored = head_to_head(book, books.directory, POOL, (2,), (1,), NOW)
    assert (mirrored.wins, mirrored.draws, mirrored.losses) == (1, 1, 5)


def test_a_record_in_2v2_is_of_opponents_and_of_whole_sides() -> None:
    books = Books()
    books.play("甲 乙 胜 丙 丁", "丙 丁 平 乙 甲", "甲 丙 胜 乙 丁", pool=PAIRS)
    book = books.book()
    single = head_to_head(book, books.directory, PAIRS, (1,), (3,), NOW)
    assert (single.wins, single.draws, single.losses, single.meter) == (1, 1, 0, None)
    whole = head_to_head(book, books.directory, PAIRS, (1, 2), (4, 3), NOW)
    assert (whole.wins, whole.draws, whole.losses) == (1, 1, 0)
    assert whole.meter is not None and (whole.meter.net, whole.meter.locked) == (1, False)
    assert whole.flow_left == pytest.approx(32 + sum(book.columns.change[s][1] for s in (2, 3)), abs=1e-9)


def test_the_meter_in_all_its_states() -> None:
    books = Books()
    books.join("甲", "乙", "丙", "丁")

    def seen(left: int = 1, right: int = 2, at: int = NOW) -> tuple[int, bool, tuple[tuple[int, int], ...]]:
        found = meter(books.book(), POOL, (left,), (right,), at)
        assert found.limit == 4
        return found.net, found.locked, found.owed

    assert seen() == (0, False, ())
    books.play("甲 胜胜平负胜 乙")
    assert (seen(), seen(2, 1)) == ((2, False, ()), (-2, False, ()))
    event = books.event("杯赛", 1.2)
    books.play("甲 胜胜胜胜 乙", event=event, weight=1.2)
    assert seen() == (2, False, ())
    books.play("乙 负负 甲")
    assert (seen(), seen(2, 1)) == ((4, True, ((1, 4), (2, 4))), (-4, True, ((2, 4), (1, 4))))
    books.play("甲 胜 乙", event=event, weight=1.2)
    assert seen() == (4, True, ((1, 4), (2, 4)))
    books.play("甲 胜平负 丙")
    books.play("乙 胜平负胜平 丁")
    assert seen() == (4, True, ((1, 1), (2, 0)))
    assert seen(at=ms("2027-01-01")) == (0, False, ())
    books.play("甲 平 丁", event=event, weight=1.2)
    book = books.book()
    before = book.state.pools[POOL].copy()
    assert before.locks[pair_code((1,), (2,))]
    assert seen() == (0, False, ())
    assert book.state.pools[POOL] == before
    books.play("乙 胜 甲")
    assert seen() == (-1, False, ())


def test_the_meter_of_2v2_waits_for_all_four() -> None:
    books = Books()
    books.play("甲 乙 胜胜胜胜胜 丙 丁", pool=PAIRS)
    books.play("甲 丙 胜平负平 乙 丁", pool=PAIRS)
    left, right = (books.id("丁"), books.id("丙")), (books.id("甲"), books.id("乙"))
    free = meter(books.book(), PAIRS, left, right, NOW)
    assert (free.net, free.locked, free.owed) == (0, False, ())
    books = Books()
    books.play("甲 乙 胜胜胜胜胜 丙 丁", pool=PAIRS)
    books.play("甲 丙 胜平负平 乙 戊", pool=PAIRS)
    found = meter(books.book(), PAIRS, (4, 3), (1, 2), NOW)
    assert (found.net, found.locked, found.owed) == (-4, True, ((4, 4), (3, 0), (1, 0), (2, 0)))


# --- the formula ------------------------------------------------------------------------------------------


def test_worked_figures_of_the_rulebook() -> None:
    win = calculate([2000.0], Result.WIN, [2200.0])
    assert (win.dr, win.left[0].k, win.right[0].k, win.left[0].won, win.right[0].won) == (-200.0, 32, 24, 1.0, 0.0)
    assert win.left[0].change == pytest.approx(24.311901652734655, abs=1e-12)
    assert win.right[0].change == pytest.approx(-18.23392623955099, abs=1e-12)
    assert win.left[0].after == 2000.0 + win.left[0].change
    event = calculate([2000.0], Result.WIN, [2400.0], 2.0)
    assert event.left[0].change == pytest.approx(2 * 29.09090909090909, abs=1e-9)
    assert event.right[0].change == pytest.approx(-2 * 14.545454545454545, abs=1e-9)


def test_options_of_a_rule_set_show_in_the_numbers() -> None:
    rules = RuleSet(draw_score=0.3, first_move_bonus=-65.0)
    drawn = calculate([2000.0], Result.DRAW, [2000.0], 1.0, rules)
    assert (drawn.dr, drawn.left[0].won, drawn.right[0].won) == (-65.0, 0.3, 0.3)
    assert drawn.left[0].expected == pytest.approx(0.4075, abs=5e-5)
    assert drawn.left[0].expected + drawn.right[0].expected == pytest.approx(1.0)


@pytest.mark.parametrize(("number", "word"), [(0, "胜"), (1, "平"), (2, "负")])
def test_a_prediction_comes_true(number: int, word: str) -> None:
    books = Books()
    books.join("甲", rating=2099.0)
    books.join("乙", rating=2150.0)
    foretold = prediction(books.book(), books.directory, POOL, (1,), (2,), NOW).outcomes[number]
    books.play(f"甲 {word} 乙", at="2026-11-30 12:00")
    book = books.book()
    assert book.columns.change[0][0] == pytest.approx(foretold.left[0].change, abs=1e-12)
    assert book.columns.change[2][0] == pytest.approx(foretold.right[0].change, abs=1e-12)


def test_a_prediction_says_whether_a_game_counts() -> None:
    books = Books()
    books.play("甲 胜胜胜胜 乙")
    books.join("高分", rating=2200.0)
    book = books.book()
    locked = prediction(book, books.directory, POOL, (1,), (2,), NOW)
    assert (locked.counts, locked.bars, locked.meter.locked) == (False, (), True)
    barred = prediction(book, books.directory, POOL, (1,), (3,), NOW)
    assert (barred.counts, [(bar.player, bar.clause) for bar in barred.bars]) == (False, [(3, "L11")])
    books.add(IpChecked(3, True))
    assert prediction(books.book(), books.directory, POOL, (1,), (3,), NOW).counts


def test_an_unregistered_player_is_an_error() -> None:
    books = Books()
    books.rows.add(PlayerRegistered(1, 2000.0, "普通"))
    with pytest.raises(KeyError):
        card(books.book(), books.directory, POOL, 2, NOW)
