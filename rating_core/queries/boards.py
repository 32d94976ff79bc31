"""The board (榜) of a pool: who stands where, and what moved since the last published list (§7, L12–L15)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from rating_core.book import Book
from rating_core.directory import Directory
from rating_core.ledger import ListRow
from rating_core.rules.display import Display, Place, board_order
from rating_core.state import PublishedList

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Change:
    """涨跌 (L15): the shown rating and the rank against a published list; `rank` above 0 is a rise.

    Both are None for a player who was not on it: 新.
    """

    rating: float | None = None
    rank: int | None = None

    @property
    def is_new(self) -> bool:
        return self.rank is None


@dataclass(frozen=True, slots=True)
class BoardRow:
    """One player on a board. Ratings in points, unrounded; `peak_at` in ms, 0 without a peak."""

    rank: int
    player: int
    name: str
    shown: float
    """The rating the board goes by: lowered by L12 while games are missing."""
    rating: float
    games: int
    wins: int
    draws: int
    losses: int
    peak: float | None
    peak_at: int
    missing: int
    """Counted games missing to N (L12); 0 when the shown rating is the actual one."""
    ip_checked: bool
    """As it is now (L11), on published lists too."""
    change: Change | None
    """None where there is no list to compare with."""


@dataclass(frozen=True, slots=True)
class Board:
    """A pool's board as of `at` (ms); `needed` is N of that day (L12)."""

    pool: str
    at: int
    needed: int
    rows: tuple[BoardRow, ...]
    against: int | None = None
    """The 涨跌 are against 第`against`期; None where there is none yet."""
    number: int | None = None
    """第`number`期 where this is a published list."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """A published list as it is compared with."""

    number: int
    rows: dict[int, ListRow]
    """By player; a row under a wrong name (§10, merged) is the right player's, unless he has one himself."""

    @classmethod
    def before(cls, book: Book, pool: str, number: int | None = None) -> "Baseline | None":
        """Return the pool's last list, or the last before 第`number`期; None where there is none."""
        lists = [each for each in book.state.lists.get(pool, ()) if number is None or each.number < number]
        return cls.of(book, lists[-1]) if lists else None

    @classmethod
    def of(cls, book: Book, published: PublishedList) -> "Baseline":
        rows = {row[0]: row for row in published.rows}
        for row in published.rows:
            rows.setdefault(book.alias(row[0]), row)
        return cls(published.number, rows)

    def change(self, player: int, rank: int, shown: float) -> Change:
        """Return the 涨跌 of a player who now has this rank and shown rating."""
        row = self.rows.get(player)
        return Change() if row is None else Change(shown - row[2], row[1] - rank)


@dataclass(frozen=True, slots=True)
class Order:
    """Everyone on a board in its order (§7), and the rank of each player. Worked out once it serves many questions."""

    places: list[Place]
    ranks: dict[int, int]

    @classmethod
    def of(cls, book: Book, directory: Directory, pool: str, at: int) -> "Order":
        """Return the order of a pool's board as of `at` (ms); worked out anew where ledger, names or N changed."""

        def work_out() -> Order:
            places = board_order(book.state.pools[pool], directory, at)
            return cls(places, {place[-1]: rank for rank, place in enumerate(places, start=1)})

        return _kept(book, directory, "order", pool, at, work_out)


def _kept(book: Book, directory: Directory, what: str, pool: str, at: int, work_out: Callable[[], T]) -> T:
    """Return what was worked out of this very Book, these names and the N of that day, or work it out."""
    display, merged = Display.on(at), directory.merged
    known = book.kept.get((what, pool))
    if known is None or known[0] is not directory or known[1] is not merged or known[2] != display:
        known = book.kept[what, pool] = directory, merged, display, work_out()
    found: T = known[3]
    return found


def board_row(book: Book, pool: str, rank: int, place: Place, display: Display, baseline: Baseline | None) -> BoardRow:
    """Return the row of the player who stands at a place of an Order (rank counts from 1)."""
    lowered, _, _, name, player = place
    standing = book.state.pools[pool].standings[player]
    return BoardRow(
        rank, player, name, -lowered, standing.rating, standing.games, standing.wins, standing.draws,
        standing.losses, standing.peak, standing.peak_at, display.missing(standing.games),
        player in book.state.ip_checked, None if baseline is None else baseline.change(player, rank, -lowered),
    )  # fmt: skip


def board(
    book: Book, directory: Directory, pool: str, at: int, order: Order | None = None, part: slice = slice(None)
) -> Board:
    """Return the board of a pool as of `at` (ms): the book's standings, N by that day. KeyError: no such pool.

    Archived players (L7, also by leave, L8) and 蒙面人公用号 (L13) are not on it. `order`: that of this very Book,
    pool and day, where it is at hand. `part`: which rows are wanted.
    """
    display, baseline = Display.on(at), Baseline.before(book, pool)
    order = order or Order.of(book, directory, pool, at)

    def rows_of(part: slice) -> tuple[BoardRow, ...]:
        start = part.indices(len(order.places))[0] + 1
        places = enumerate(order.places[part], start=start)
        return tuple(board_row(book, pool, rank, place, display, baseline) for rank, place in places)

    whole = part == slice(None)
    rows = _kept(book, directory, "rows", pool, at, lambda: rows_of(part)) if whole else rows_of(part)
    return Board(pool, at, display.needed, rows, None if baseline is None else baseline.number)
