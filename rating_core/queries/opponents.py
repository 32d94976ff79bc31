"""Whom to play (/推荐对手): near in rating, playable now, met least lately."""

from dataclasses import dataclass

from rating_core.book import Book
from rating_core.directory import Directory
from rating_core.queries.farming import meter
from rating_core.rulebook import LATELY_DAYS, SUGGESTED_OPPONENTS, SUGGESTED_RANGE
from rating_core.rules.display import masked_player
from rating_core.rules.eligibility import Bar, bar_of
from rating_core.times import DAY_MS


@dataclass(frozen=True, slots=True)
class Opponent:
    """Somebody to play. Points, unrounded; `difference` is his rating less one's own."""

    player: int
    rating: float
    difference: float
    lately: int
    """Games of the two within the last 90 days."""


@dataclass(frozen=True, slots=True)
class Opponents:
    """Whom a player may meet in a pool, best first; `bar` is what keeps himself from playing."""

    pool: str
    bar: Bar | None
    rows: tuple[Opponent, ...]


def opponents(book: Book, directory: Directory, pool: str, player: int, at: int) -> Opponents:
    """Return up to 5 players of the board within 150 points who may play a counted game with `player` at `at` (ms).

    Met least lately first, then the longest ago, then the nearest in rating. For pools of side size 1.
    """
    if (bar := bar_of(book.state, pool, player, at)) is not None:
        return Opponents(pool, bar, ())
    own = book.state.look(pool, player).rating
    met, last = _met(book, pool, player, at)
    masked = masked_player(directory)
    near = [
        (other, standing.rating - own)
        for other, standing in book.state.pools[pool].standings.items()
        if standing.listed and not standing.archived and other not in (player, masked)
        and directory.is_named(other) and abs(standing.rating - own) <= SUGGESTED_RANGE
    ]  # fmt: skip
    near.sort(key=lambda one: (met.get(one[0], 0), last.get(one[0], 0), abs(one[1]), directory.name_of(one[0])))
    rows: list[Opponent] = []
    for other, difference in near:
        if len(rows) == SUGGESTED_OPPONENTS:
            break
        if bar_of(book.state, pool, other, at) or meter(book, pool, (player,), (other,), at).locked:
            continue
        rows.append(Opponent(other, own + difference, difference, met.get(other, 0)))
    return Opponents(pool, None, tuple(rows))


def _met(book: Book, pool: str, player: int, at: int) -> tuple[dict[int, int], dict[int, int]]:
    """Return whom a player met: how often lately, and when last (ms)."""
    columns = book.columns
    met: dict[int, int] = {}
    last: dict[int, int] = {}
    for index in book.games_of(player):
        if columns.pool[index] != pool or book.is_void(index):
            continue
        when = columns.at[index]
        for _, other in columns.members(index):
            if other != player:
                last[other] = max(last.get(other, 0), when)
                met[other] = met.get(other, 0) + (when > at - LATELY_DAYS * DAY_MS)
    return met, last
