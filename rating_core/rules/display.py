"""L12: the rating that boards show of a player with few games."""

from dataclasses import dataclass

from rating_core.rulebook import PROVISIONAL_GAMES, PROVISIONAL_STEP
from rating_core.state import Standing
from rating_core.times import day_of


@dataclass(frozen=True, slots=True)
class Display:
    """L12 as it holds on one day: N, and the points that each game missing to N takes off the shown rating."""

    needed: int
    step: float

    @classmethod
    def on(cls, at: int) -> "Display":
        """Return what holds on the day of `at` (ms), a board's as-of date."""
        day = day_of(at)
        return cls(PROVISIONAL_GAMES.on(day), PROVISIONAL_STEP.on(day))

    def missing(self, games: int) -> int:
        """Return how many counted games are missing to N; 0 from N games on."""
        return max(0, self.needed - games)

    def shown(self, standing: Standing) -> float:
        """Return the rating a board shows, unrounded."""
        return standing.rating - self.step * self.missing(standing.games)


def shown_rating(standing: Standing, at: int) -> float:
    """Return the rating a board as of `at` (ms) shows, unrounded: lowered for every game missing to N (L12, §7)."""
    return Display.on(at).shown(standing)
