"""The rating formula (L1, T三, T四, E): expectancy, K, change, performance rating, and how figures are shown.

Everything here is pure arithmetic on IEEE doubles; nothing is rounded except where a figure is shown.
"""

import json
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_UP, Decimal
from functools import cache
from importlib import resources
from math import erf, inf, log10, sqrt

from rating_core.rulebook import (
    FIDE_TABLE_LIMIT,
    LOGISTIC_SCALE,
    NORMAL_SIGMA,
    Expectancy,
    RuleSet,
)


def round_half_up(value: float, digits: int = 0) -> Decimal:
    """Round half-up on the shortest decimal representation (0.15 → 0.2, 2008.5 → 2009), never −0 (§2 D)."""
    rounded = Decimal(repr(value)).quantize(_unit(digits), ROUND_HALF_UP)
    return rounded if rounded else abs(rounded)


@cache
def _unit(digits: int) -> Decimal:
    """Return one in the last of so many digits behind the point."""
    return Decimal(1).scaleb(-digits)


def show_rating(value: float, digits: int = 1) -> str:
    """Return a rating as people see it: cards with one decimal, boards with none."""
    return str(round_half_up(value, digits))


def show_change(value: float, digits: int = 1) -> str:
    """Return a change with its sign, such as +16.0 or -7.7; zero is +0.0."""
    rounded = round_half_up(value, digits)
    return f"{rounded:+}"


@cache
def _fide_tables() -> tuple[dict[int, int | None], list[int], list[float]]:
    """Return table one (hundredths of P → D) and table two (upper bounds of |dr|, expectancy of the higher)."""
    data = json.loads(resources.files("rating_core").joinpath("data/fide_pe.json").read_text("utf-8"))
    one = {round(float(p) * 100): d for p, d in data["table_one_score_to_difference"].items()}
    rows = [row for row in data["table_two_difference_to_score"] if row["max_difference"] is not None]
    return one, [int(row["max_difference"]) for row in rows], [float(row["higher"]) for row in rows]


def fide_steps() -> tuple[list[int], list[float]]:
    """Return E's table two: from which |dr| on each expectancy of the higher side holds, and that expectancy."""
    _, bounds, scores = _fide_tables()
    return [0, *(bound + 1 for bound in bounds[:-1])], scores


def _logistic(dr: float) -> tuple[float, float]:
    try:
        odds = 10.0 ** (abs(dr) / LOGISTIC_SCALE)
    except OverflowError:
        odds = inf
    lower = 1.0 / (odds + 1.0)
    return (1.0 - lower, lower) if dr > 0 else (lower, 1.0 - lower)


def _normal(dr: float) -> tuple[float, float]:
    part = erf(dr / (NORMAL_SIGMA * sqrt(2.0)))
    return 0.5 * (1.0 + part), 0.5 * (1.0 - part)


def _fide_table(dr: float) -> tuple[float, float]:
    size = int(round_half_up(abs(dr)))
    if size > FIDE_TABLE_LIMIT:
        higher = 1.0
    else:
        _, bounds, shares = _fide_tables()
        higher = shares[bisect_left(bounds, size)]
    lower = float(Decimal(1) - Decimal(repr(higher)))
    return (higher, lower) if dr >= 0 else (lower, higher)


_EXPECTATIONS: dict[Expectancy, Callable[[float], tuple[float, float]]] = {
    "logistic": _logistic, "normal": _normal, "fide_table": _fide_table,
}  # fmt: skip


def expected_scores(dr: float, expectancy: Expectancy = "logistic") -> tuple[float, float]:
    """Return We of both sides for a rating difference `dr` (the first one's less the other's, before the game; L1)."""
    return _EXPECTATIONS[expectancy](dr)


@cache
def _bands(rules: RuleSet) -> tuple[list[float], list[int]]:
    """Return the bounds from which each K but the first holds, and all K."""
    return [bound for bound, _ in rules.k_bands[1:]], [value for _, value in rules.k_bands]


def k_factor(rating: float, rules: RuleSet) -> int:
    """Return K for a player's own unrounded rating before the game (L1)."""
    bounds, values = _bands(rules)
    return values[bisect_right(bounds, rating)]


@cache
def changes_by(rules: RuleSet) -> Callable[[float, float, float, float, float, float], tuple[float, float]]:
    """Return the function that says what a game changes, by a pool's rules: (K·c)·(W − We), so grouped (L1, L5).

    It takes the ratings of two opponents, dr of the left one's side, the weight c, and W of each; it returns both
    changes. `rules` cannot change; that is why this is a function made once and not a lookup a game.
    """
    bounds, values = _bands(rules)
    expected, bonus = _EXPECTATIONS[rules.expectancy], rules.first_move_bonus

    def changes(left: float, right: float, dr: float, weight: float, won: float, lost: float) -> tuple[float, float]:
        ours, theirs = expected(dr + bonus)
        return (
            values[bisect_right(bounds, left)] * weight * (won - ours),
            values[bisect_right(bounds, right)] * weight * (lost - theirs),
        )

    return changes


MIRRORED = {"W": "L", "D": "D", "L": "W"}
"""A result letter as the other side sees it."""


def score(result: str, rules: RuleSet) -> float:
    """Return W for a result letter seen from one's own side: W, D or L."""
    return 1.0 if result == "W" else 0.0 if result == "L" else rules.draw_score


def game_changes(
    left: Sequence[float], right: Sequence[float], result: str, weight: float, rules: RuleSet
) -> tuple[float, float, tuple[float, ...], tuple[float, ...]]:
    """Return We of both sides and each player's change for one counted game.

    Ratings are those before the game; a side's rating is the mean of its players (§2 D), the left side moves
    first where the rule set gives a first-move bonus (T四).
    """
    dr = sum(left) / len(left) - sum(right) / len(right)
    won, lost = score(result, rules), score(MIRRORED[result], rules)
    changes = changes_by(rules)
    ours, theirs = expected_scores(dr + rules.first_move_bonus, rules.expectancy)
    both = [changes(one, other, dr, weight, won, lost) for one, other in zip(left, right, strict=True)]
    return (
        ours,
        theirs,
        tuple(gained for gained, _ in both),
        tuple(given for _, given in both),
    )


def competition_rating(opponents: Sequence[float]) -> int:
    """Return Rc of E formula 1: the mean of the opponents' ratings, half-up to an integer. Raises ValueError."""
    if not opponents:
        raise ValueError("no counted games")
    return int(round_half_up(sum(opponents) / len(opponents)))


def performance_ratings(opponents: Sequence[float], points: float) -> tuple[float | None, int | None]:
    """Return the performance rating by the logistic D and by E's table one (E formula 1, §2).

    `opponents`: each opponent's rating before the counted game; `points`: 1, 0.5 or 0 a game summed up.
    None where P is (or, for the table, rounds to) 0 or 1 and so has no D. Raises ValueError without games.
    """
    base = competition_rating(opponents)
    share = points / len(opponents)
    logistic = base - LOGISTIC_SCALE * log10(1 / share - 1) if 0 < share < 1 else None
    difference = _fide_tables()[0][int(round_half_up(share, 2) * 100)]
    return logistic, None if difference is None else base + difference
