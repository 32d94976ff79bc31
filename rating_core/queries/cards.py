"""The card of one player: where he stands, what he has, whom he met last, and what keeps him from playing."""

from dataclasses import dataclass
from typing import Literal

from rating_core.book import Book
from rating_core.directory import Directory
from rating_core.order import Order
from rating_core.queries.boards import Baseline, BoardRow, Change, board_row
from rating_core.queries.games import GameRow, game_row
from rating_core.rules.display import Display, masked_player
from rating_core.rules.eligibility import Bar, bar_of

RECENT_GAMES = 5
NEIGHBOURS = 2

CardState = Literal["listed", "unlisted", "archived", "masked"]


@dataclass(frozen=True, slots=True)
class Card:
    """A player in a pool as of `at` (ms). Ratings in points, unrounded; times in ms."""

    pool: str
    at: int
    player: int
    name: str
    rank: int | None
    """None off the board; `of` counts those on it."""
    of: int
    shown: float
    rating: float
    needed: int
    """N (L12); `missing` counted games are missing to it."""
    missing: int
    games: int
    wins: int
    draws: int
    losses: int
    peak: float | None
    peak_at: int
    state: CardState
    """unlisted: no counted game in this pool yet; masked: 蒙面人公用号, on no board (L13)."""
    leave_until: int | None
    """End of a leave (L8) in force."""
    barred_until: int | None
    """End of the bar after archiving (L7); None when there is none or it is over."""
    bar: Bar | None
    """What keeps him from reporting a game now."""
    recent: tuple[GameRow, ...]
    """Last games, the newest first, without void ones."""
    against: int | None
    """第`against`期, the pool's last published list (L15); None where there is none yet."""
    change: Change | None
    """His 涨跌 against it; None off the board or where there is no list."""
    above: tuple[BoardRow, ...]
    below: tuple[BoardRow, ...]

    @property
    def win_rate(self) -> float | None:
        """Wins per counted game, 0…1; None without games."""
        return self.wins / self.games if self.games else None


def _recent(book: Book, directory: Directory, pool: str, player: int) -> tuple[GameRow, ...]:
    rows: list[GameRow] = []
    for index in reversed(book.games_of(player)):
        if len(rows) == RECENT_GAMES:
            break
        if book.columns.pool[index] == pool and not book.is_void(index):
            rows.append(game_row(book, directory, index, player))
    return tuple(rows)


def card(book: Book, directory: Directory, pool: str, player: int, at: int, order: Order | None = None) -> Card:
    """Return a player's card in a pool as of `at` (ms). KeyError for an unregistered player.

    `order`: that of this very Book, pool and day, where it is at hand.
    """
    standing = book.state.look(pool, player)
    display, baseline = Display.on(at), Baseline.before(book, pool)
    order = order or Order.of(book, directory, pool, at)
    rank, of = order.rank(player), len(order.places)
    near = range(0) if rank is None else range(max(1, rank - NEIGHBOURS), min(of, rank + NEIGHBOURS) + 1)
    rows = [board_row(book, pool, number, order.places[number - 1], display, baseline) for number in near]
    state: CardState = "unlisted"
    if player == masked_player(directory):
        state = "masked"
    elif standing.archived:
        state = "archived"
    elif standing.listed:
        state = "listed"
    change = baseline.change(player, rank, display.shown(standing)) if baseline and rank else None
    leave = book.state.leave_until.get(player, 0)
    return Card(
        pool, at, player, directory.name_of(player), rank, of,
        display.shown(standing), standing.rating, display.needed, display.missing(standing.games), standing.games,
        standing.wins, standing.draws, standing.losses, None if state == "masked" else standing.peak,
        standing.peak_at, state,
        leave if leave > at else None,
        standing.barred_until if standing.archived and standing.barred_until > at else None,
        bar_of(book.state, pool, player, at), _recent(book, directory, pool, player),
        None if baseline is None else baseline.number, change,
        tuple(row for row in rows if rank is not None and row.rank < rank),
        tuple(row for row in rows if rank is not None and row.rank > rank),
    )  # fmt: skip
