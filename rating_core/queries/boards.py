"""The board (榜) of a pool: who stands where, and what moved since the last published list (§7, L12–L15)."""

from dataclasses import dataclass

from rating_core.book import Book
from rating_core.directory import Directory
from rating_core.ledger import ListRow
from rating_core.order import Order
from rating_core.rules.display import Display, Place
from rating_core.state import PublishedList


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
    """All, or those from position `first` (counted from 0) that were asked for."""
    of: int
    """How many stand on it."""
    first: int = 0
    against: int | None = None
    """The 涨跌 are against 第`against`期; None where there is none yet."""
    number: int | None = None
    """第`number`期 where this is a published list."""

    def wanted(self, top: int | None) -> int:
        """Return how many are to be shown where only the first `top` are asked for; None: all."""
        return self.of if top is None else min(top, self.of)

    def between(self, start: int, stop: int) -> tuple[BoardRow, ...]:
        """Return the rows from position `start` to before `stop`, of those at hand."""
        return self.rows[max(0, start - self.first) : max(0, stop - self.first)]


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
    of = len(order.places)
    first, stop, _ = part.indices(of)
    rows = tuple(
        board_row(book, pool, rank, place, display, baseline)
        for rank, place in enumerate(order.places[first:stop], start=first + 1)
    )
    return Board(pool, at, display.needed, rows, of, first, None if baseline is None else baseline.number)
