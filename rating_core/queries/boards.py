"""The board (榜) of a pool: who stands where (§7, L12–L14)."""

from dataclasses import dataclass

from rating_core.book import Book
from rating_core.directory import Directory
from rating_core.rules.display import Display, Place, board_order


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


@dataclass(frozen=True, slots=True)
class Board:
    """A pool's board as of `at` (ms); `needed` is N of that day (L12)."""

    pool: str
    at: int
    needed: int
    rows: tuple[BoardRow, ...]


def places(book: Book, directory: Directory, pool: str, at: int) -> list[Place]:
    """Return everyone on the board in its order (§7)."""
    return board_order(book.state.pools[pool], directory, at)


def board_row(book: Book, pool: str, rank: int, place: Place, display: Display) -> BoardRow:
    """Return the row of the player who stands at a place of `places` (rank counts from 1)."""
    lowered, _, _, name, player = place
    standing = book.state.pools[pool].standings[player]
    return BoardRow(
        rank, player, name, -lowered, standing.rating, standing.games, standing.wins, standing.draws,
        standing.losses, standing.peak, standing.peak_at, display.missing(standing.games),
        player in book.state.ip_checked,
    )  # fmt: skip


def board(book: Book, directory: Directory, pool: str, at: int) -> Board:
    """Return the board of a pool as of `at` (ms): the book's standings, N by that day. KeyError: no such pool.

    Archived players (L7, also by leave, L8) and 蒙面人公用号 (L13) are not on it.
    """
    display = Display.on(at)
    order = places(book, directory, pool, at)
    rows = tuple(board_row(book, pool, rank, place, display) for rank, place in enumerate(order, start=1))
    return Board(pool, at, display.needed, rows)
