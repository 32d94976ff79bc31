"""L12: the rating that boards show of a player with few games; and the order in which they stand there (§7)."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rating_core.directory import Directory
from rating_core.rulebook import PROVISIONAL_GAMES, PROVISIONAL_STEP
from rating_core.state import PoolState, Standing
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


Place = tuple[float, float, int, str, int]
"""Sorts as boards do: −shown, −actual, −games, name; then the player."""


def masked_player(directory: Directory) -> int | None:
    """Return the player who is 蒙面人公用号 (L13), who stands on no board; None where there is none."""
    return directory.masked


def places(pool: PoolState, directory: Directory, at: int, players: Iterable[int]) -> Iterator[Place]:
    """Yield the places of those of the players who are on a pool's board. N is that of the day of `at` (ms).

    Archived players and 蒙面人公用号 are not on it.
    """
    shown, name_of, masked = Display.on(at).shown, directory.name_of, masked_player(directory)
    for player in players:
        s = pool.standings.get(player)
        if s is not None and s.listed and not s.archived and player != masked:
            yield -shown(s), -s.rating, -s.games, name_of(player), player


def board_order(pool: PoolState, directory: Directory, at: int) -> list[Place]:
    """Return everyone on a pool's board in its order: by shown rating, actual rating, games, name (§7)."""
    return sorted(places(pool, directory, at, pool.standings))
