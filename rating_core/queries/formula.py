"""The formula (L1, L5) filled in: for ratings anyone names, for a game that may be played, for one that was."""

from collections.abc import Sequence
from dataclasses import dataclass

from rating_core.book import Book
from rating_core.directory import Directory
from rating_core.elo import game_changes, k_factor, score
from rating_core.queries.farming import Meter, meter
from rating_core.report_text import Result
from rating_core.rulebook import CASUAL_WEIGHT, LEAGUE_RULES, RuleSet
from rating_core.rules.eligibility import Bar, bar_of
from rating_core.state import Side


@dataclass(frozen=True, slots=True)
class Term:
    """One player's numbers: Rn = Ro + (K·c)·(W − We). Ratings in points, unrounded."""

    rating: float
    """Ro, before the game."""
    k: int
    won: float
    """W of his side."""
    expected: float
    """We of his side."""
    change: float

    @property
    def after(self) -> float:
        """Rn."""
        return self.rating + self.change


@dataclass(frozen=True, slots=True)
class Calculation:
    """A game worked out; `dr` is the left side's mean rating less the right side's, with a first-move bonus if any."""

    result: Result
    weight: float
    dr: float
    left: tuple[Term, ...]
    right: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Prediction:
    """What a counted casual game of two sides would bring, and whether they may play one now."""

    pool: str
    left: tuple[str, ...]
    right: tuple[str, ...]
    outcomes: tuple[Calculation, Calculation, Calculation]
    """For 胜, 平 and 负 of the left side."""
    bars: tuple[Bar, ...]
    """What keeps players from reporting a game now (L7, L8, L11)."""
    meter: Meter

    @property
    def counts(self) -> bool:
        """Whether a casual game posted now would count."""
        return not self.bars and not self.meter.locked


def calculate(
    left: Sequence[float], result: Result, right: Sequence[float], weight: float = CASUAL_WEIGHT,
    rules: RuleSet = LEAGUE_RULES,
) -> Calculation:  # fmt: skip
    """Work out a game from the ratings before it (L1; in 2v2 a side's rating is its players' mean, §2 D)."""
    ours, theirs, gained, lost = game_changes(left, right, result.value, weight, rules)
    won, won_other = score(result.value, rules), score(result.mirrored.value, rules)
    dr = sum(left) / len(left) - sum(right) / len(right) + rules.first_move_bonus
    return Calculation(
        result, weight, dr,
        tuple(Term(r, k_factor(r, rules), won, ours, change) for r, change in zip(left, gained, strict=True)),
        tuple(Term(r, k_factor(r, rules), won_other, theirs, change) for r, change in zip(right, lost, strict=True)),
    )  # fmt: skip


def prediction(book: Book, directory: Directory, pool: str, left: Side, right: Side, at: int) -> Prediction:
    """Work out a casual game between two sides at `at` (ms). KeyError for an unregistered player.

    The sides must have the pool's size and share no player.
    """
    state, rules = book.state, book.state.pools[pool].pool.rules
    ours = [state.look(pool, player).rating for player in left]
    theirs = [state.look(pool, player).rating for player in right]
    win, draw, loss = (calculate(ours, result, theirs, CASUAL_WEIGHT, rules) for result in Result)
    bars = (bar_of(state, pool, player, at) for player in left + right)
    return Prediction(
        pool, tuple(map(directory.name_of, left)), tuple(map(directory.name_of, right)), (win, draw, loss),
        tuple(bar for bar in bars if bar is not None), meter(book, pool, left, right, at),
    )  # fmt: skip
