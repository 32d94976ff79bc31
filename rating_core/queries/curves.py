"""A player's rating over time, and everybody he met: what a curve and a player's page show."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple, cast

from rating_core.book import Book
from rating_core.directory import Directory
from rating_core.rules.display import masked_player

PointKind = Literal["start", "game", "opening_balance", "adjustment", "settlement", "challenge_forfeited"]


class CurvePoint(NamedTuple):
    """The rating after one change of it, in points, unrounded."""

    at: int
    """When (ms). Never before the point before it: what took effect late stands where it took effect."""
    rating: float
    change: float
    kind: PointKind
    number: int
    """局 of a game, 账 of anything else; 0 at the start."""


@dataclass(frozen=True, slots=True)
class Curve:
    """A player's rating in a pool from his first change on; no points where there is none."""

    pool: str
    player: int
    name: str
    points: tuple[CurvePoint, ...]
    peak: float | None
    """历史最高分 (L14) and when (ms); none for 蒙面人公用号."""
    peak_at: int


def _changes(book: Book, pool: str, player: int) -> Iterator[tuple[int, float, CurvePoint]]:
    """Yield (seq, rating before, point) of his counted games, then of the changes that are no games."""
    columns = book.columns
    for index in book.games_of(player):
        if columns.pool[index] == pool and book.counted(index):
            slot = next(slot for slot, member in columns.members(index) if member == player)
            before, change = columns.before[slot][index], columns.change[slot][index]
            point = CurvePoint(columns.at[index], before + change, change, "game", columns.number[index])
            yield columns.seq[index], before, point
    for mark in book.marks:
        if mark.player == player and mark.pool == pool:
            kind = cast(PointKind, mark.kind)
            yield mark.seq, mark.before, CurvePoint(mark.at, mark.after, mark.after - mark.before, kind, mark.seq)


def curve(book: Book, directory: Directory, pool: str, player: int) -> Curve:
    """Return a player's rating curve in a pool, in the order in which things took effect."""
    points: list[CurvePoint] = []
    # the games of one report keep their order: sorting is stable
    for _, before, point in sorted(_changes(book, pool, player), key=lambda change: change[0]):
        if not points:
            points.append(CurvePoint(point.at, before, 0.0, "start", 0))
        points.append(point if point.at >= points[-1].at else point._replace(at=points[-1].at))
    standing = book.state.pools[pool].standings.get(player)
    peak = None if standing is None or player == masked_player(directory) else standing.peak
    peak_at = 0 if standing is None or peak is None else standing.peak_at
    return Curve(pool, player, directory.name_of(player), tuple(points), peak, peak_at)


# --- whom he met ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Met:
    """What a player did against (or with) another; only counted games make the score and the flow."""

    player: int
    name: str
    wins: int
    draws: int
    losses: int
    uncounted: int
    """Games that L6 kept from counting (void ones are nowhere)."""
    flow: float
    """Sum of his own rating changes in these games."""
    last_at: int
    """When the last of them was posted (ms)."""

    @property
    def games(self) -> int:
        """Counted games."""
        return self.wins + self.draws + self.losses


@dataclass(frozen=True, slots=True)
class Company:
    """Everybody a player met in a pool, most games first, then the latest."""

    opponents: tuple[Met, ...]
    partners: tuple[Met, ...]
    """Who sat on his side (2v2)."""


@dataclass(slots=True)
class _Tally:
    wins: int = 0
    draws: int = 0
    losses: int = 0
    uncounted: int = 0
    flow: float = 0.0
    last_at: int = 0


def company(book: Book, directory: Directory, pool: str, player: int) -> Company:
    """Return everybody a player met in a pool, and what came of it."""
    columns = book.columns
    against: dict[int, _Tally] = {}
    beside: dict[int, _Tally] = {}
    for index in book.games_of(player):
        if columns.pool[index] != pool or book.is_void(index):
            continue
        members = list(columns.members(index))
        own = next(slot for slot, member in members if member == player)
        result, counted, at = chr(columns.result[index]), book.counted(index), columns.at[index]
        won = result != "D" and (result == "W") == (own < 2)
        for slot, member in members:
            if slot == own:
                continue
            tally = (beside if (slot < 2) == (own < 2) else against).setdefault(member, _Tally())
            tally.last_at = max(tally.last_at, at)
            if not counted:
                tally.uncounted += 1
                continue
            tally.flow += columns.change[own][index]
            if result == "D":
                tally.draws += 1
            elif won:
                tally.wins += 1
            else:
                tally.losses += 1
    return Company(_ranked(directory, against), _ranked(directory, beside))


def _ranked(directory: Directory, tallies: dict[int, _Tally]) -> tuple[Met, ...]:
    rows = [
        Met(player, directory.name_of(player), t.wins, t.draws, t.losses, t.uncounted, t.flow, t.last_at)
        for player, t in tallies.items()
    ]
    return tuple(sorted(rows, key=lambda row: (-row.games, -row.last_at, row.name)))
