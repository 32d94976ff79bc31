"""Rulebook §2: every worked figure, the bands, the options, performance ratings, and how figures are shown."""

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rating_core.elo import (
    expected_scores,
    game_changes,
    k_factor,
    performance_ratings,
    round_half_up,
    score,
    show_change,
    show_rating,
)
from rating_core.rulebook import EVENT_WEIGHTS, LEAGUE_RULES, PLACINGS, PROVISIONAL_GAMES, RuleSet
from rating_core.times import day_of
from tests.support.rows import ms

ratings = st.floats(0, 4000)
weights = st.sampled_from([1.0, 1.2, 2.0])


def changes(left: float, right: float, result: str, weight: float = 1.0, rules: RuleSet = LEAGUE_RULES):
    _, _, (mine,), (theirs,) = game_changes([left], [right], result, weight, rules)
    return mine, theirs


# --- worked figures ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("left", "right", "result", "expected"),
    [
        (2000, 2000, "W", (16, -16)),
        (2000, 2200, "W", (24.311901652734655, -18.23392623955099)),
        (2000, 2200, "L", (-7.688098347265347, 5.766073760449012)),
        (2000, 2400, "W", (29.09090909090909, -14.545454545454545)),
        (1613, 1573, "D", (-1.8339722803933682, 1.8339722803933682)),
    ],
)
def test_worked_games(left: float, right: float, result: str, expected: tuple[float, float]) -> None:
    assert changes(left, right, result) == pytest.approx(expected, abs=1e-12)


def test_worked_expectancy() -> None:
    assert expected_scores(1950 - 1700)[0] == pytest.approx(0.808318, abs=5e-7)
    assert expected_scores(0)[0] == 0.5


@pytest.mark.parametrize(
    ("rating", "k"),
    [(-50, 32), (0, 32), (2099.9999999, 32), (2100, 24), (2399.9999999, 24), (2400, 16), (3000, 16)],
)
def test_bands(rating: float, k: int) -> None:
    """L1: by the player's own unrounded rating; from 2100 and from 2400."""
    assert k_factor(rating, LEAGUE_RULES) == k


def test_bands_next_to_the_border() -> None:
    """A rating that is shown as 2100 but is not yet 2100 has K 32."""
    assert show_rating(2099.9999999, 0) == "2100"
    assert changes(2099.9999999, 2099.9999999, "W") == (16, -16)
    assert changes(2100, 2100, "W") == (12, -12)
    assert changes(2400, 2400, "W") == (8, -8)


@pytest.mark.parametrize(("word", "weight"), EVENT_WEIGHTS.items())
def test_weights(word: str, weight: float) -> None:
    """L5: (K·c)·(W − We), in exactly this grouping."""
    assert float(word) == weight
    expected = expected_scores(123.4)[0]
    _, _, (gained,), _ = game_changes([2050], [2050 - 123.4], "W", weight, LEAGUE_RULES)
    assert gained == pytest.approx((32 * weight) * (1.0 - expected), abs=1e-12)


def test_both_sides_use_ratings_from_before_the_game() -> None:
    mine, theirs = changes(2090, 2110, "L")
    assert mine == 32 * (0 - expected_scores(-20)[0])
    assert theirs == 24 * (1 - expected_scores(20)[0])


def test_two_against_two() -> None:
    """§2 D: We from the means, K each his own."""
    we_left, we_right, left, right = game_changes([2000, 2100], [2450, 1950], "W", 1.2, LEAGUE_RULES)
    assert we_left == expected_scores(-150)[0]
    assert we_right == expected_scores(150)[0]
    assert left == ((32 * 1.2) * (1 - we_left), (24 * 1.2) * (1 - we_left))
    assert right == ((16 * 1.2) * (0 - we_right), (32 * 1.2) * (0 - we_right))


def test_bands_are_data() -> None:
    """Another pool can have other bands, such as those of 聚吧棋力."""
    rules = RuleSet(k_bands=((-inf, 40), (1800.0, 10)))
    assert [k_factor(r, rules) for r in (0, 1799.9, 1800)] == [40, 40, 10]


# --- options of a rule set --------------------------------------------------------------------------------


def test_draws_can_be_worth_less() -> None:
    """T: 0.3 against drawing, for each side."""
    rules = RuleSet(draw_score=0.3)
    assert [score(letter, rules) for letter in "WDL"] == [1.0, 0.3, 0.0]
    assert changes(2000, 2000, "D", rules=rules) == (32 * (0.3 - 0.5), 32 * (0.3 - 0.5))


def test_the_first_mover_can_be_expected_to_win_less() -> None:
    """T四: −65 for the first mover, inside dr only."""
    rules = RuleSet(first_move_bonus=-65.0)
    we_left, we_right, left, _ = game_changes([2000], [2000], "D", 1.0, rules)
    assert we_left == pytest.approx(0.4075, abs=5e-5)
    assert we_left + we_right == pytest.approx(1, abs=1e-15)
    assert left == (32 * (0.5 - we_left),)
    assert k_factor(2120, rules) == 24


def test_normal_expectancy() -> None:
    assert expected_scores(0, "normal")[0] == 0.5
    assert expected_scores(2000 / 7, "normal")[0] == pytest.approx(0.8413447, abs=1e-7)


@pytest.mark.parametrize(
    ("dr", "expected"),
    [
        (0, 0.50), (3, 0.50), (3.49, 0.50), (3.5, 0.51), (4, 0.51), (-4, 0.49), (400, 0.92), (-400, 0.08),
        (735, 0.99), (735.4, 0.99), (735.5, 1.0), (736, 1.0), (-736, 0.0), (2000, 1.0), (-2000, 0.0),
    ],
)  # fmt: skip
def test_fide_expectancy(dr: float, expected: float) -> None:
    """E table two, by |dr| half-up to an integer; above 735 it is 1.00."""
    assert expected_scores(dr, "fide_table")[0] == expected


def test_enormous_differences_do_not_overflow() -> None:
    assert expected_scores(-1e9)[0] == 0.0
    assert expected_scores(1e9)[0] == 1.0


# --- performance rating -----------------------------------------------------------------------------------


def test_performance_rating_of_the_worked_example() -> None:
    """E: 1782.5 → 1783; the logistic D gives 1974, table one 1976."""
    opponents = [1780.0, 1785.0] * 2
    logistic, table = performance_ratings(opponents, 3.0)
    assert logistic is not None
    assert table == 1783 + 193
    assert show_rating(logistic, 0) == "1974"


@pytest.mark.parametrize(
    ("games", "points", "logistic", "table"),
    [(4, 0, False, False), (4, 4, False, False), (4, 2, True, True), (300, 1, True, False), (300, 299, True, False)],
)
def test_performance_without_a_difference(games: int, points: float, logistic: bool, table: bool) -> None:
    """P that is (or, for the table, rounds to) 0 or 1 has no D."""
    by_formula, by_table = performance_ratings([2000.0] * games, points)
    assert (by_formula is not None, by_table is not None) == (logistic, table)


def test_performance_needs_games() -> None:
    with pytest.raises(ValueError, match="no counted games"):
        performance_ratings([], 0)


def test_table_one_rounds_the_share() -> None:
    """P half-up to two decimals: 2/3 → 0.67 → 125; 1/8 = 0.125 → 0.13 → −322."""
    assert performance_ratings([2000.0] * 3, 2)[1] == 2125
    assert performance_ratings([2000.0] * 8, 1)[1] == 2000 - 322


# --- figures as shown -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "digits", "shown"),
    [
        (0.15, 1, "0.2"), (0.25, 1, "0.3"), (2008.5, 0, "2009"), (2008.4999999, 0, "2008"), (2009.5, 0, "2010"),
        (-0.04, 1, "0.0"), (-0.0, 0, "0"), (1e-12, 1, "0.0"), (2016.0, 1, "2016.0"), (1e16, 0, "10000000000000000"),
    ],
)  # fmt: skip
def test_rounding(value: float, digits: int, shown: str) -> None:
    """§2 D: half-up on the shortest decimal representation, never −0."""
    assert show_rating(value, digits) == shown
    assert str(round_half_up(value, digits)) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [(16.0, "+16.0"), (-7.688098347265347, "-7.7"), (-0.01, "+0.0"), (0.0, "+0.0"), (0.05, "+0.1"), (-0.05, "-0.1")],
)
def test_changes_carry_their_sign(value: float, shown: str) -> None:
    assert show_change(value) == shown


def test_numbers_of_the_rules_by_date() -> None:
    """L4; L12: 10 games until 2016-12-31, 20 from 2017-01-01."""
    assert PLACINGS["普通"] == 2000 and PLACINGS["冠军"] == 2300 and PLACINGS["旧前十"] == 2050
    days = [day_of(ms(text)) for text in ("2015-01-01", "2016-12-31 23:59:59", "2017-01-01", "2026-11-30")]
    assert [PROVISIONAL_GAMES.on(day) for day in days] == [10, 10, 20, 20]
    assert PROVISIONAL_GAMES.now == 20


# --- properties -------------------------------------------------------------------------------------------


@given(ratings, ratings, st.sampled_from(["logistic", "normal", "fide_table"]))
def test_expectancies_of_both_sides_add_up_to_one(a: float, b: float, kind: str) -> None:
    assert expected_scores(a - b, kind)[0] + expected_scores(b - a, kind)[0] == pytest.approx(1, abs=1e-15)  # type: ignore[arg-type]


@given(ratings, ratings, weights)
def test_a_win_never_lowers_and_a_loss_never_raises(a: float, b: float, weight: float) -> None:
    won, lost = changes(a, b, "W", weight)
    assert won >= 0 >= lost
    mirrored = changes(b, a, "L", weight)
    assert mirrored == (lost, won)


@given(st.tuples(ratings, ratings), st.sampled_from("WDL"), weights)
def test_equal_bands_conserve_the_sum(pair: tuple[float, float], result: str, weight: float) -> None:
    one_band = RuleSet(k_bands=((-inf, 32),))
    mine, theirs = changes(*pair, result, weight, one_band)
    assert mine + theirs == pytest.approx(0, abs=1e-9)


@given(ratings, ratings, ratings, weights)
def test_the_stronger_the_opponent_the_more_a_win_gives(own: float, a: float, b: float, weight: float) -> None:
    weak, strong = sorted((a, b))
    assert changes(own, strong, "W", weight)[0] >= changes(own, weak, "W", weight)[0]
    assert changes(own, strong, "D", weight)[0] >= changes(own, weak, "D", weight)[0]
