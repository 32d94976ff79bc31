"""The farming meter (L6, 约战<2>): how far a pair is from being locked, and what it owes while it is."""

from dataclasses import dataclass

from rating_core.book import Book
from rating_core.rulebook import FARMING_NET
from rating_core.rules import farming
from rating_core.rules.era import Era
from rating_core.state import PoolState, Side, Standing, pair_code, side_code
from rating_core.times import day_of, season_of


@dataclass(frozen=True, slots=True)
class Meter:
    """Farming state of a pair of sides in one pool and season, for games outside events."""

    season: int
    net: int
    """Net score of the left side: wins less losses since the last release."""
    limit: int
    """The pair is locked when |net| reaches it."""
    locked: bool
    owed: tuple[tuple[int, int], ...]
    """While locked: (player, counted games with others he still owes), left side first; else empty."""


def _read(pool: PoolState, left: Side, right: Side, at: int) -> Meter:
    """Return what a casual game of the pair would find at `at`, without changing anything."""
    pair, season = pair_code(left, right), season_of(at)
    owed = farming.owed(pool, pair, season, at)
    locked = any(owed.values())
    net = 0 if owed and not locked else pool.net(season, pair)
    if side_code(left) > side_code(right):
        net = -net
    return Meter(
        season, net, FARMING_NET.on(day_of(at)), locked,
        tuple((player, owed[player]) for player in left + right) if locked else (),
    )  # fmt: skip


def meter(book: Book, pool: str, left: Side, right: Side, at: int) -> Meter:
    """Return the meter of a pair as a casual game posted at `at` (ms) would find it (L6)."""
    return _read(book.state.pools[pool], left, right, at)


def meter_before(book: Book, index: int) -> Meter:
    """Return the meter that the (not void) game at position `index` found, as the book has it now.

    The games of its players before it are entered again from the columns, by the rules of L6 themselves.
    """
    columns = book.columns
    left, right, at, name = columns.left(index), columns.right(index), columns.at[index], columns.pool[index]
    pair, members = pair_code(left, right), set(left + right)
    pool = PoolState(book.state.pools[name].pool, {player: Standing(0.0) for player in members})
    for game in sorted({g for player in members for g in book.games_of(player) if g < index}):
        if columns.pool[game] != name or book.is_void(game):
            continue
        sides, posted, casual = (columns.left(game), columns.right(game)), columns.at[game], not columns.event[game]
        same, season = pair_code(*sides) == pair, season_of(posted)
        if same and casual and not farming.release(pool, pair, season, posted):
            continue
        if not book.counted(game):
            continue
        for player in members & {*sides[0], *sides[1]}:
            pool.standings[player].draws += 1  # only how many matters
        if not same:
            continue
        farming.enter_own(pool, pair)
        result = chr(columns.result[game])
        if casual and result != "D":
            won = (result == "W") == (side_code(sides[0]) < side_code(sides[1]))
            farming.enter_result(pool, pool.nets_of(season), pair, 1 if won else -1, Era.of(posted))
    return _read(pool, left, right, at)
