"""Is the live Book what the ledger says? A fresh fold, compared figure by figure (/体检, replay --verify)."""

from collections.abc import Iterable, Sequence
from typing import Any

from rating_core.book import Book
from rating_core.columns import GameColumns
from rating_core.ledger import GENESIS, Announced, Games, Row, continues
from rating_core.rulebook import Pool
from rating_core.state import PoolState, Standing, pair_members
from rating_core.trial import announce

TOLERANCE = 1e-9


def _misannounced(fresh: Book, row: Row) -> str | None:
    """Return the row where the fold that just read it does not confirm the figures as announced."""
    if row.kind != Games.KIND:
        return None
    entry = row.entry()
    if not isinstance(entry, Games) or entry.announced is None:
        return None
    told = announce(fresh.columns, fresh.games_of_row(row.seq), entry.lines)
    return None if _same_figures(told, entry.announced) else f"账{row.seq}"


class Replay:
    """A fresh fold of a ledger that nobody vouches for: each row is looked at before it is read.

    Give it the rows in order, in as many parts as you like, then the head row.
    """

    def __init__(self, pools: dict[str, Pool]) -> None:
        self.book = Book.of(pools)
        self.rows = 0
        self.broken: int | None = None
        """The first row that does not continue the hash chain, or that cannot be read."""
        self.wrong: str | None = None
        """The first report whose announced figures the fold does not confirm."""
        self._hash = GENESIS

    def read(self, rows: Iterable[Row]) -> None:
        """Look at the next rows. Behind a broken one nothing is folded any more."""
        for row in rows:
            self.rows += 1
            if self.broken is not None:
                continue
            if not continues(row, self.rows, self._hash):
                self.broken = self.rows
                continue
            self._hash = row.hash
            try:
                self.book.advance([row])
                self.wrong = self.wrong or _misannounced(self.book, row)
            except Exception:  # what holds nonsense may fail anywhere in the fold
                self.broken = self.rows

    def end(self, head: tuple[int, str] | None, referred_to: int = 0) -> None:
        """All rows were read.

        `head` is the head row, None where the row after the last one cannot be read; `referred_to` the last row of
        which something beside the ledger tells.
        """
        if self.broken is None and (head != (self.rows, self._hash) or referred_to > self.rows):
            self.broken = self.rows + 1


_FIELDS = (
    "initial", "placing", "ip_checked", "leave_until", "leaves", "events", "settled", "challenges", "lists",
)  # fmt: skip
"""Of the state besides its pools."""


def difference(live: Book, fresh: Book) -> str | None:
    """Return the first thing in which two Books differ: a row, a game, a player or pair of a pool, a field."""
    if (live.seq, live.hash) != (fresh.seq, fresh.hash):
        return f"账{min(live.seq, fresh.seq)}"
    if (index := _different_game(live.columns, fresh.columns)) is not None:
        longer = max(live.columns, fresh.columns, key=len)
        return f"局{longer.number[index]}"
    for name, pool in fresh.state.pools.items():
        if (about := _different_in_pool(live.state.pools[name], pool)) is not None:
            return f"{name} {about}"
    for field in _FIELDS:
        if getattr(live.state, field) != getattr(fresh.state, field):
            return field
    return None if live.marks == fresh.marks else "marks"


def _same_figures(told: Announced, written: Announced) -> bool:
    return (
        told.counted == written.counted
        and len(told.ratings) == len(written.ratings)
        and all(
            player == other and _close(before, before_written) and _close(after, after_written)
            for (player, before, after), (other, before_written, after_written) in zip(
                told.ratings, written.ratings, strict=True
            )
        )
    )


def _close(a: float, b: float) -> bool:
    return abs(a - b) <= TOLERANCE


def _different_game(a: GameColumns, b: GameColumns) -> int | None:
    """Return the position of the first game that differs."""
    exact: list[tuple[Sequence[Any], Sequence[Any]]]
    exact = [(a.number, b.number), (a.report, b.report), (a.seq, b.seq), (a.at, b.at), (a.pool, b.pool)]
    exact += [(a.event, b.event), (a.weight, b.weight), (a.result, b.result), (a.flags, b.flags)]
    exact += [(_slot(a, a.players, slot), _slot(b, b.players, slot)) for slot in range(4)]
    found = [index for one, other in exact if (index := _first_unequal(one, other)) is not None]
    figures = [(_slot(a, a.before, slot), _slot(b, b.before, slot)) for slot in range(4)]
    figures += [(_slot(a, a.change, slot), _slot(b, b.change, slot)) for slot in range(4)]
    for one, other in figures:
        if (index := _first_unequal(one, other, TOLERANCE)) is not None:
            found.append(index)
    return min(found, default=None)


def _slot(columns: GameColumns, parts: Sequence[Sequence[Any]], slot: int) -> Sequence[Any]:
    return parts[slot] if slot in columns.slots else bytes(len(columns))


def _first_unequal(one: Sequence[Any], other: Sequence[Any], tolerance: float = 0) -> int | None:
    if one == other:
        return None
    for index, (x, y) in enumerate(zip(one, other, strict=False)):
        if x != y and not (tolerance and _close(x, y)):
            return index
    return None if len(one) == len(other) else min(len(one), len(other))


def _different_in_pool(live: PoolState, fresh: PoolState) -> str | None:
    for player in sorted(live.standings.keys() | fresh.standings.keys()):
        if not _same_standing(live.standings.get(player), fresh.standings.get(player)):
            return str(player)
    for season in sorted(live.nets.keys() | fresh.nets.keys()):
        ours, theirs = (dict(pool.nets[season].items()) if season in pool.nets else {} for pool in (live, fresh))
        if ours != theirs:
            return _pair(min(pair for pair in ours.keys() | theirs.keys() if ours.get(pair) != theirs.get(pair)), fresh)
    if live.locks != fresh.locks:
        pairs = live.locks.keys() | fresh.locks.keys()
        return _pair(min(pair for pair in pairs if live.locks.get(pair) != fresh.locks.get(pair)), fresh)
    return None


def _pair(code: int, pool: PoolState) -> str:
    return "-".join(map(str, pair_members(code, pool.pool.side_size)))


def _same_standing(a: Standing | None, b: Standing | None) -> bool:
    if a is None or b is None:
        return a is b
    if (a.peak is None) != (b.peak is None) or not _close(a.peak or 0.0, b.peak or 0.0):
        return False
    ours, theirs = a.copy(), b.copy()
    brought, other = a.carried, b.carried
    if brought.keys() != other.keys() or not all(_close(brought[s], other[s]) for s in brought):
        return False
    counts = [[(past.season, past.games, past.event_games) for past in each.seasons()] for each in (a, b)]
    for each in (ours, theirs):
        each.rating, each.peak, each.brought, each.earlier = 0.0, None, 0.0, None
    return _close(a.rating, b.rating) and counts[0] == counts[1] and ours == theirs
