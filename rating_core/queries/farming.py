"""The farming meter (L6, 约战<2>): how far a pair is from being locked, and what it owes while it is."""

from dataclasses import dataclass

from rating_core.book import Book
from rating_core.rulebook import FARMING_NET
from rating_core.rules import farming
from rating_core.state import Pair, PairKey, PoolState, Standing, pair_key
from rating_core.times import day_of, season_of

Side = tuple[int, ...]
"""The players of one side: one, or two in 2v2."""


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


def _read(pool: PoolState, key: PairKey, pair: Pair, left: Side, right: Side, at: int) -> Meter:
    """Return what a casual game of the pair would find at `at`, without changing anything."""
    owed = farming.owed(pool, key, pair, at)
    locked = any(owed.values())
    net = 0 if pair.locked and not locked else pair.net
    if tuple(sorted(left)) != key[0]:
        net = -net
    return Meter(
        season_of(at), net, FARMING_NET.on(day_of(at)), locked,
        tuple((player, owed[player]) for player in left + right) if locked else (),
    )  # fmt: skip


def meter(book: Book, pool: str, left: Side, right: Side, at: int) -> Meter:
    """Return the meter of a pair as a casual game posted at `at` (ms) would find it (L6)."""
    state, key = book.state.pools[pool], pair_key(left, right)
    return _read(state, key, state.pairs.get(season_of(at), {}).get(key, Pair()), left, right, at)


def meter_before(book: Book, index: int) -> Meter:
    """Return the meter that the (not void) game at position `index` found, as the book has it now.

    The pair's season is folded again from the columns, by the rules of L6 themselves.
    """
    columns = book.columns
    left, right, at, name = columns.left(index), columns.right(index), columns.at[index], columns.pool[index]
    key, season = pair_key(left, right), season_of(at)
    members = set(left + right)
    pool = PoolState(book.state.pools[name].pool, {player: Standing(0.0) for player in members})
    pair = Pair()
    for game in sorted({g for player in members for g in book.games_of(player) if g < index}):
        if columns.pool[game] != name or book.is_void(game):
            continue
        sides = columns.left(game), columns.right(game)
        met = pair_key(*sides) == key
        same = met and season_of(columns.at[game]) == season
        casual = not columns.event[game]
        if same and casual and not farming.release(pool, key, pair, columns.at[game]):
            continue
        if not book.counted(game):
            continue
        for player in members & {*sides[0], *sides[1]}:
            pool.standings[player].games += 1
        if not met:
            continue
        result = chr(columns.result[game])
        if not same or not casual:
            pair.own += 1
        elif result != "D":
            won = (result == "W") == (tuple(sorted(sides[0])) == key[0])
            farming.enter_result(pool, key, pair, 1 if won else -1, columns.at[game])
    return _read(pool, key, pair, left, right, at)
