"""Games as one player sees them: his history, and his record against another and beside him."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from rating_core.book import Book
from rating_core.directory import Directory
from rating_core.elo import score
from rating_core.queries.farming import Meter, meter
from rating_core.report_text import Result
from rating_core.state import Side


@dataclass(frozen=True, slots=True)
class GameRow:
    """局`number` seen from one player. `at` (ms) is when it was posted; ratings in points, unrounded."""

    number: int
    report: int
    seq: int
    """Ledger row (账) that holds the game."""
    at: int
    pool: str
    own: tuple[str, ...]
    """Names of his side, in the order of the report."""
    others: tuple[str, ...]
    result: Result
    """His own result."""
    before: float | None
    """His rating before the game; None for a void game, which touches no rating."""
    change: float
    counted: bool
    why: Literal["", "farming", "void"]
    """Why it does not count: the pair was locked (L6), or it was declared void (§10)."""
    weight: float
    event: str
    """Name of the event, empty outside events."""
    own_players: Side
    """Numbers of the players named in `own`, in the same order."""
    other_players: Side

    @property
    def after(self) -> float | None:
        """His rating after the game."""
        return None if self.before is None else self.before + self.change


@dataclass(frozen=True, slots=True)
class History:
    """A player's games in a pool, the newest first; `total` counts all of them, void ones too."""

    pool: str
    player: int
    name: str
    total: int
    rows: tuple[GameRow, ...]


@dataclass(frozen=True, slots=True)
class Together:
    """Games of two players on one side (2v2); only counted games make the score, the points and the flow."""

    wins: int
    draws: int
    losses: int
    points: float
    """W of each game (L1) summed up."""
    uncounted: int
    flow_first: float
    """Sum of the first player's rating changes in these games."""
    flow_second: float

    @property
    def games(self) -> int:
        """Counted games."""
        return self.wins + self.draws + self.losses


@dataclass(frozen=True, slots=True)
class HeadToHead:
    """Games of two sides against each other, seen from the first; only counted games make the score and the flow."""

    pool: str
    left: tuple[str, ...]
    right: tuple[str, ...]
    wins: int
    draws: int
    losses: int
    uncounted: int
    """Games that L6 kept from counting (void ones are nowhere)."""
    flow_left: float
    """Sum of the rating changes of the left side's players in these games."""
    flow_right: float
    rows: tuple[GameRow, ...]
    """The last games, the newest first, as the left side's first player sees them."""
    meter: Meter | None
    """None where the players do not make up two whole sides of this pool."""
    together: Together | None = None
    """Of two players in a pool of pairs: their games as partners."""


def event_name(directory: Directory, event: int) -> str:
    """Return an event's name; empty for 0 (约战)."""
    return directory.events.get(event, f"赛事{event}") if event else ""


def names_of(directory: Directory, players: Side) -> tuple[str, ...]:
    """Return the current names of players."""
    return tuple(map(directory.name_of, players))


def game_row(book: Book, directory: Directory, index: int, player: int) -> GameRow:
    """Return the game at a position of the columns as one of its players sees it."""
    columns = book.columns
    slot = next(slot for slot, member in columns.members(index) if member == player)
    left, right = columns.left(index), columns.right(index)
    result = Result(chr(columns.result[index]))
    void, counted = book.is_void(index), book.counted(index)
    own, others = (left, right) if slot < 2 else (right, left)
    return GameRow(
        columns.number[index], columns.report[index], columns.seq[index], columns.at[index], columns.pool[index],
        names_of(directory, own), names_of(directory, others), result if slot < 2 else result.mirrored,
        None if void else columns.before[slot][index], columns.change[slot][index],
        counted, "void" if void else "" if counted else "farming",
        columns.weight[index], event_name(directory, columns.event[index]), own, others,
    )  # fmt: skip


def history(book: Book, directory: Directory, pool: str, player: int, limit: int, skip: int = 0) -> History:
    """Return a player's latest `limit` games in a pool, void ones too, after the latest `skip`."""
    played = [index for index in book.games_of(player) if book.columns.pool[index] == pool]
    last = max(0, len(played) - skip)
    rows = (game_row(book, directory, index, player) for index in reversed(played[max(0, last - limit) : last]))
    return History(pool, player, directory.name_of(player), len(played), tuple(rows))


def _partnerships(book: Book, pool: str, first: int, second: int) -> Iterator[int]:
    """Yield the positions of the games that are not void, in which two players sat on one side."""
    columns = book.columns
    for index in book.games_of(first):
        if columns.pool[index] == pool and not book.is_void(index):
            side = columns.left(index) if first in columns.left(index) else columns.right(index)
            if second in side:
                yield index


def partners(book: Book, directory: Directory, pool: str, first: int, second: int) -> Together:
    """Return the record of two players as partners in a pool of pairs."""
    played = list(_partnerships(book, pool, first, second))
    counted = [index for index in played if book.counted(index)]
    rules = book.state.pools[pool].pool.rules
    results = [game_row(book, directory, index, first).result for index in counted]
    return Together(
        results.count(Result.WIN), results.count(Result.DRAW), results.count(Result.LOSS),
        sum(score(result.value, rules) for result in results), len(played) - len(counted),
        sum(_flow(book, index, (first,)) for index in counted), sum(_flow(book, index, (second,)) for index in counted),
    )  # fmt: skip


def _meetings(book: Book, pool: str, left: Side, right: Side) -> Iterator[int]:
    """Yield the positions of the games that are not void, in which these players sat on opposite sides."""
    columns = book.columns
    for index in book.games_of(left[0]):
        if columns.pool[index] == pool and not book.is_void(index):
            one, other = columns.left(index), columns.right(index)
            if left[0] in other:
                one, other = other, one
            if set(left) <= set(one) and set(right) <= set(other):
                yield index


def _flow(book: Book, index: int, players: Side) -> float:
    return sum(book.columns.change[slot][index] for slot, player in book.columns.members(index) if player in players)


def head_to_head(
    book: Book, directory: Directory, pool: str, left: Side, right: Side, at: int, limit: int = 5
) -> HeadToHead:
    """Return the record of two players, or of two sides of 2v2, against each other, and their farming meter (L6).

    Of two players in a pool of pairs also what they did as partners.
    """
    met = list(_meetings(book, pool, left, right))
    counted = [index for index in met if book.counted(index)]
    results = [game_row(book, directory, index, left[0]).result for index in counted]
    size = book.state.pools[pool].pool.side_size
    whole = len(left) == len(right) == size
    pair = len(left) == len(right) == 1 < size
    return HeadToHead(
        pool, names_of(directory, left), names_of(directory, right),
        results.count(Result.WIN), results.count(Result.DRAW), results.count(Result.LOSS), len(met) - len(counted),
        sum(_flow(book, index, left) for index in counted), sum(_flow(book, index, right) for index in counted),
        tuple(game_row(book, directory, index, left[0]) for index in reversed(met[-limit:])),
        meter(book, pool, left, right, at) if whole else None,
        partners(book, directory, pool, left[0], right[0]) if pair else None,
    )  # fmt: skip
