"""A pool is data (rulebook §1, §2): other K bands and every option, through the Book; partners in pools of pairs."""

from math import erf, inf, sqrt

import pytest

from plugins.rating_bot.wording import queries as wording
from rating_core.book import Book
from rating_core.ledger import Draft, EventOpened, Games, PlayerRegistered, Void
from rating_core.queries import calculate, explain, head_to_head, season_performance
from rating_core.report_text import GameLine, Result
from rating_core.rulebook import Pool, RuleSet
from tests.support.books import Books
from tests.support.rows import Rows, line, ms, snapshot

TEST, PAIRS, AIR = "试验", "单跳2v2", "空跳2v2"
NOW = ms("2026-11-30 12:00")


def ledger(*ratings: float) -> Rows:
    rows = Rows()
    for player, rating in enumerate(ratings, 1):
        rows.add(PlayerRegistered(player, rating, "普通"))
    return rows


def book_of(rows: Rows, rules: RuleSet, side_size: int = 1) -> Book:
    """Fold a ledger with the test pool alone."""
    book = Book.of({TEST: Pool(TEST, side_size, rules)})
    book.advance(rows.rows)
    return book


def ratings(book: Book, count: int = 2) -> list[float]:
    return [book.state.look(TEST, player).rating for player in range(1, count + 1)]


# --- each option by data alone ----------------------------------------------------------------------------------


def test_other_k_bands_as_those_of_another_league() -> None:
    """L1's bands are data: from 1200 and from 1600 inclusive, by each player's own unrounded rating."""
    rules = RuleSet(k_bands=((-inf, 40), (1200.0, 30), (1600.0, 20)))
    rows = ledger(1199.999, 1200.0, 1600.0)
    rows.play([line(1, "W", 2)], pool=TEST)
    book = book_of(rows, rules)
    gained, lost = book.columns.change[0][0], book.columns.change[2][0]
    assert gained / lost == pytest.approx(-40 / 30)
    rows.play([line(3, "D", 2)], pool=TEST)  # 2 is below 1200 by now
    book = book_of(rows, rules)
    assert book.columns.change[0][1] / book.columns.change[2][1] == pytest.approx(-20 / 40)


def test_a_draw_may_be_worth_less() -> None:
    """T三: 0.3 against drawing; each drawing side gets it, in the rating and in the points."""
    rows = ledger(2000.0, 2000.0)
    rows.play([line(1, "D", 2), line(2, "W", 1)], pool=TEST)
    book = book_of(rows, RuleSet(draw_score=0.3))
    assert book.columns.change[0][0] == book.columns.change[2][0] == 32 * (0.3 - 0.5)
    found = season_performance(book, TEST, 2, 2026)
    assert found is not None and found.points == 1.3


def test_the_first_mover_of_equals_is_expected_to_get_four_tenths() -> None:
    """T四: −65 for the left side, which moved first; We(left) = 0.4075… of equal players, inside dr only."""
    rows = ledger(2000.0, 2000.0)
    rows.play([line(1, "W", 2)], pool=TEST)
    rules = RuleSet(first_move_bonus=-65.0)
    book = book_of(rows, rules)
    expected = 1 / (10 ** (65 / 400) + 1)
    assert expected == pytest.approx(0.4075, abs=1e-4)
    assert ratings(book) == pytest.approx([2000 + 32 * (1 - expected), 2000 - 32 * (1 - expected)], abs=1e-9)
    found = explain(book, Books().directory, 1)
    assert found is not None and found.dr == -65.0
    assert found.ours[0].term.expected == pytest.approx(expected)
    assert calculate([2000.0], Result.DRAW, [2000.0], rules=rules).left[0].change > 0
    # told from the other side it is another game: the other one moved first
    mirrored = ledger(2000.0, 2000.0)
    mirrored.play([line(2, "L", 1)], pool=TEST)
    assert ratings(book_of(mirrored, rules))[0] < ratings(book)[0]


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        (RuleSet(expectancy="normal"), 0.5 * (1 + erf(200 / (2000 / 7 * sqrt(2))))),
        (RuleSet(expectancy="fide_table"), 0.76),
        (RuleSet(expectancy="fide_table", first_move_bonus=-65.0), 0.68),
        (RuleSet(), 1 / (10 ** (-200 / 400) + 1)),
    ],
)
def test_expectancies(rules: RuleSet, expected: float) -> None:
    """§2 options: normal with σ = 2000/7, E's table two (200 → 0.76; 135 → 0.68), logistic by default."""
    rows = ledger(2050.0, 1850.0)
    rows.play([line(1, "W", 2)], pool=TEST)
    book = book_of(rows, rules)
    assert ratings(book) == pytest.approx([2050 + 32 * (1 - expected), 1850 - 32 * (1 - expected)], abs=1e-9)


def test_all_options_at_once_in_a_pool_of_pairs() -> None:
    rules = RuleSet(((-inf, 10), (2000.0, 5)), draw_score=0.3, first_move_bonus=-65.0, expectancy="fide_table")
    rows = ledger(2100.0, 1900.0, 1960.0, 1910.0)
    rows.add(EventOpened(1, 2.0), pool=TEST)
    rows.play([line((1, 2), "D", (3, 4))], pool=TEST, event=1, weight=2.0)
    book = book_of(rows, rules, 2)
    # means 2000 and 1935: dr 65 − 65 = 0, so 0.50 each
    assert ratings(book, 4) == pytest.approx([2100 - 2.0, 1900 - 4.0, 1960 - 4.0, 1910 - 4.0], abs=1e-9)


def test_corrections_and_trials_keep_the_pool_s_own_rules() -> None:
    """§10: folded again from the start, the test pool is still the test pool."""
    rules = RuleSet(k_bands=((-inf, 10),), draw_score=0.3, first_move_bonus=-65.0)
    rows = ledger(2000.0, 2000.0, 2000.0)
    wrong = rows.play([line(1, "W", 3)], pool=TEST)
    rows.play([line(1, "D", 2)], pool=TEST)
    book = book_of(rows, rules)
    after = book.with_drafts([Draft(Void(), rows.clock, 1, refers_to=wrong.seq)])
    rows.add(Void(), refers_to=wrong.seq)
    assert ratings(after, 3) == ratings(book_of(rows, rules), 3)
    only = ledger(2000.0, 2000.0, 2000.0)
    only.play([line(1, "D", 2)], pool=TEST)
    assert ratings(after, 3) == ratings(book_of(only, rules), 3)
    tried = after.with_drafts([Draft(Games(9, 9, NOW, 1.0, (GameLine((1,), Result.DRAW, (2,)),), 1), NOW, 1, TEST)])
    assert tried.columns.change[0][2] == pytest.approx(10 * (0.3 - 0.4075), abs=0.05)


def test_pools_know_nothing_of_each_other() -> None:
    """§1: ratings, farming and statistics are each pool's own."""
    books = Books()
    books.play("甲 乙 胜胜胜胜胜 丙 丁", pool=PAIRS)
    books.play("甲 乙 胜 丙 丁", pool=AIR)
    books.play("甲 胜 丙")
    book = books.book()
    assert [book.counted(index) for index in range(7)] == [True] * 4 + [False, True, True]
    look = [book.state.look(pool, 1).games for pool in (PAIRS, AIR, "单跳1v1")]
    assert look == [4, 1, 1]
    alone = Books()
    alone.join("甲", "乙", "丙", "丁")
    alone.play("甲 乙 胜 丙 丁", pool=AIR)
    standings = snapshot(alone.book())["state"].pools[AIR].standings  # type: ignore[attr-defined]
    assert book.state.pools[AIR].standings[1].rating == standings[1].rating


# --- partners -------------------------------------------------------------------------------------------------------


def of_pairs() -> Books:
    books = Books()
    books.play("甲 乙 胜 丙 丁", "丁 丙 平 乙 甲", "甲 丙 负 乙 丁", pool=PAIRS, at="2026-03-02 20:00")
    books.play("甲 乙 胜 丙 丁", pool=AIR)
    return books


def test_two_players_of_a_pool_of_pairs_as_opponents_and_as_partners() -> None:
    books = of_pairs()
    book = books.book()
    record = head_to_head(book, books.directory, PAIRS, (1,), (2,), NOW)
    assert (record.wins, record.draws, record.losses, record.meter) == (0, 0, 1, None)
    together = record.together
    assert together is not None
    assert (together.games, together.wins, together.draws, together.losses) == (2, 1, 1, 0)
    assert (together.points, together.uncounted) == (1.5, 0)
    changes = book.columns.change
    assert together.flow_first == pytest.approx(changes[0][0] + changes[3][1])
    assert together.flow_second == pytest.approx(changes[1][0] + changes[2][1])
    text = wording.head_to_head(record, NOW, books.directory.name_of)
    assert "搭档2局：1胜1平0负，得1.5分；甲 +14.5，乙 +14.5" in text
    assert "比分：甲 0胜0平1负" in text


def test_partners_of_the_same_pool_only_and_without_void_games() -> None:
    books = of_pairs()
    row = books.play("甲 乙 负 丙 丁", pool=PAIRS)
    books.void(row)
    record = head_to_head(books.book(), books.directory, PAIRS, (1,), (2,), NOW)
    assert record.together is not None and record.together.games == 2
    air = head_to_head(books.book(), books.directory, AIR, (1,), (2,), NOW)
    assert air.together is not None and (air.together.games, air.together.wins) == (1, 1)


def test_games_that_do_not_count_are_said_apart() -> None:
    """L6: the fifth is recorded, but makes no score, no points and no flow."""
    books = Books()
    books.play("甲 乙 胜胜胜胜胜 丙 丁", pool=PAIRS)
    record = head_to_head(books.book(), books.directory, PAIRS, (1,), (2,), NOW)
    together = record.together
    assert together is not None and (together.games, together.points, together.uncounted) == (4, 4.0, 1)
    assert "搭档4局：4胜0平0负，得4分，另有1局不计分" in wording.head_to_head(record, NOW, books.directory.name_of)


def test_never_partners() -> None:
    books = of_pairs()
    books.join("戊")
    record = head_to_head(books.book(), books.directory, PAIRS, (1,), (5,), NOW)
    text = wording.head_to_head(record, NOW, books.directory.name_of)
    assert text == "甲 对 戊（单跳2v2）\n两边还没有交过手。\n两人还没有搭档过。"


def test_no_partners_in_a_pool_of_single_players_nor_of_whole_sides() -> None:
    books = of_pairs()
    books.play("甲 胜 乙")
    assert head_to_head(books.book(), books.directory, "单跳1v1", (1,), (2,), NOW).together is None
    assert head_to_head(books.book(), books.directory, PAIRS, (1, 2), (3, 4), NOW).together is None
