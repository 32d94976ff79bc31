"""Ledgers in memory: rows sealed one after the other, as the store would write them."""

from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from rating_core.book import Book
from rating_core.ledger import GENESIS, Draft, Entry, Games, PlayerRegistered, Row, seal
from rating_core.report_text import GameLine, Result
from rating_core.rulebook import DEFAULT_POOL
from rating_core.state import PastSeason, Standing
from rating_core.times import SHANGHAI, to_ms


def ms(text: str) -> int:
    """Return an instant in Shanghai, such as 2026-11-30 12:08 or 2026-11-30, as milliseconds."""
    return to_ms(datetime.fromisoformat(text).replace(tzinfo=SHANGHAI))


def line(left: int | tuple[int, ...], result: str, right: int | tuple[int, ...]) -> GameLine:
    """Return a game; `result` is W, D or L of the left side."""
    sides = [(side,) if isinstance(side, int) else side for side in (left, right)]
    return GameLine(sides[0], Result(result), sides[1])


@dataclass
class Rows:
    """A growing ledger. Reports and games are numbered from 1; without `at` an entry is a minute after the last."""

    rows: list[Row] = field(default_factory=list)
    clock: int = ms("2026-03-02 20:00")
    reports: int = 0
    game: int = 0

    def add(self, entry: Entry, *, at: int | None = None, pool: str = "", refers_to: int | None = None) -> Row:
        """Append an entry said at `at` (ms)."""
        self.clock = self.clock + 60_000 if at is None else at
        previous = self.rows[-1].hash if self.rows else GENESIS
        row = seal(Draft(entry, self.clock, 1, pool, refers_to), len(self.rows) + 1, self.clock, previous)
        self.rows.append(row)
        return row

    def register(self, *initials: float) -> None:
        """Register players 1, 2, 3 … with these initial ratings."""
        for player, initial in enumerate(initials, 1):
            self.add(PlayerRegistered(player, initial, "普通"))

    def play(
        self,
        lines: Iterable[GameLine],
        *,
        at: int | None = None,
        confirmed_at: int | None = None,
        event: int | None = None,
        weight: float = 1.0,
        pool: str = DEFAULT_POOL,
    ) -> Row:
        """Append one report posted at `at`, which takes effect at once or at `confirmed_at`."""
        games = tuple(lines)
        posted = self.clock + 60_000 if at is None else at
        entry = Games(self.reports + 1, self.game + 1, posted, weight, games, 1, event)
        self.reports += 1
        self.game += len(games)
        return self.add(entry, at=posted if confirmed_at is None else confirmed_at, pool=pool)

    def book(self) -> Book:
        """Return the fold of everything written so far."""
        book = Book()
        book.advance(self.rows)
        return book


def snapshot(book: Book) -> dict[str, object]:
    """Return a deep copy of everything a Book holds, for comparing."""
    columns = {name: deepcopy(getattr(book.columns, name)) for name in book.columns.__slots__}
    fields = ("state", "marks", "seq", "hash", "_steps", "_step_seqs", "_played", "_corrections")
    return {"columns": columns, **{name: deepcopy(getattr(book, name)) for name in fields}}


def standing(
    rating: float, games: Mapping[int, int] | None = None, carried: Mapping[int, float] | None = None, **rest: Any
) -> Standing:
    """A Standing with counted games by season, and the ratings brought into seasons (default: the rating itself)."""
    games, carried = games or {}, carried or {}
    past = None
    for each in sorted(games.keys() | carried.keys()):
        past = PastSeason(each, games.get(each, 0), 0, carried.get(each, rating), past)
    total = sum(games.values())
    if past is not None:
        rest |= {"season": past.season, "brought": past.carried, "games_before": total - past.games}
        rest |= {"earlier": past.earlier}
    return Standing(rating, draws=total, **rest)
