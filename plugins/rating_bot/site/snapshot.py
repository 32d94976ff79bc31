"""What pages are made from: the Book and the names as they stand at one moment, and a tag that says which moment."""

from collections.abc import Callable
from datetime import date
from hashlib import blake2b

from plugins.rating_bot.site.answers import Busy
from plugins.rating_bot.wording import pages as wording
from rating_core import queries
from rating_core.book import Book
from rating_core.directory import Directory
from rating_core.order import Order
from rating_core.queries import Board
from rating_core.rulebook import DEFAULT_POOL
from rating_core.service.league import League
from rating_core.times import day_of


class Snapshot:
    """The league at one moment. Only good until the next await: the Book moves on in place."""

    def __init__(self, league: League, at: int, tag: str) -> None:
        self.league = league
        self.book: Book = league.book
        self.directory: Directory = league.directory
        self.at = at
        self.tag = tag
        """Changes with everything a page may show: ledger, names, day, and the pages' own code."""
        self._orders: dict[str, Order] = {}
        self._boards: dict[str, Board] = {}

    @property
    def today(self) -> date:
        return day_of(self.at)

    @property
    def pools(self) -> list[str]:
        """The pools in use, and the default one."""
        pools = self.book.state.pools
        return [name for name, pool in pools.items() if name == DEFAULT_POOL or pool.standings]

    def order(self, pool: str) -> Order:
        """Return everyone on a board in its order, sorted once."""
        if (order := self._orders.get(pool)) is None:
            order = self._orders[pool] = Order.of(self.book, self.directory, pool, self.at)
        return order

    def board(self, pool: str, part: slice = slice(None)) -> Board:
        """Return a pool's board or some rows of it; the whole is made once."""
        if part != slice(None):
            return queries.board(self.book, self.directory, pool, self.at, self.order(pool), part)
        if (board := self._boards.get(pool)) is None:
            board = self._boards[pool] = queries.board(self.book, self.directory, pool, self.at, self.order(pool))
        return board


class Source:
    """Gives the current Snapshot. `code` stands for the pages' own code in the tags."""

    def __init__(self, league: Callable[[], League | None], clock: Callable[[], int], code: str) -> None:
        self._league = league
        self._clock = clock
        self._code = code
        self._last: Snapshot | None = None
        self._names: tuple[Directory, object, str] | None = None

    def now(self) -> Snapshot:
        """Return the league as it stands now. Raises Busy while the bot begins anew."""
        league, at = self._league(), self._clock()
        if league is None:
            raise Busy(wording.AWAY)
        book, directory = league.book, league.directory
        parts = (self._code, book.hash, self._names_digest(directory), day_of(at).isoformat())
        tag = f"{book.seq}-{blake2b(repr(parts).encode(), digest_size=9).hexdigest()}"
        last = self._last
        if last is None or last.tag != tag or last.book is not book or last.directory is not directory:
            last = self._last = Snapshot(league, at, tag)
        return last

    def _names_digest(self, directory: Directory) -> str:
        """Return what stands for all names that pages show, worked out anew when the directory was replaced."""
        known = self._names
        if known is None or known[0] is not directory or known[1] is not directory.merged:
            shown = (directory.roster.current_names(), directory.events, dict(directory.merged))
            digest = blake2b(repr(shown).encode(), digest_size=9).hexdigest()
            known = self._names = directory, directory.merged, digest
        return known[2]
