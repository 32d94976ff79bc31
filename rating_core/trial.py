"""Trying entries before they are written, on a fork of the Book's state; and the figures that are announced."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from rating_core.book import Book
from rating_core.columns import COUNTED, GameColumns
from rating_core.fold import fold_entry, fold_games
from rating_core.ledger import Announced, Draft, Games
from rating_core.report_text import GameLine
from rating_core.state import State


@dataclass(slots=True)
class Trial:
    """Entries tried on a fork of the Book's state; the Book itself does not move."""

    state: State
    columns: GameColumns = field(default_factory=GameColumns)
    _parted: bool = False

    @classmethod
    def of(cls, book: Book) -> "Trial":
        """Return a trial that starts where the Book stands."""
        return cls(book.state.fork())

    def apply(self, draft: Draft, seq: int = 0) -> range:
        """Try an entry; return the positions of its games in `columns` (empty if it holds none).

        `seq` is the ledger row that it will be, where that is known.
        """
        entry = draft.entry
        if not isinstance(entry, Games):
            if not self._parted:
                self.state.part()
                self._parted = True
            fold_entry(self.state, entry, seq, draft.said_at, draft.pool)
            return range(0)
        start = len(self.columns)
        for offset, line in enumerate(entry.lines):
            self.columns.append(
                entry.first + offset, entry.report, seq, entry.posted_at, draft.said_at, draft.pool, entry.event or 0,
                entry.weight, line.result.value, line.left, line.right,
            )  # fmt: skip
        stop = len(self.columns)
        fold_games(self.state, self.columns, start, stop)
        return range(start, stop)


def announce(columns: GameColumns, games: range, lines: Iterable[GameLine]) -> Announced:
    """Return the figures of folded games as they are told: which counted; each player's first and last rating."""
    order = dict.fromkeys(player for line in lines for player in line.players)
    before: dict[int, float] = {}
    after: dict[int, float] = {}
    for index in games:
        for slot, player in columns.members(index):
            before.setdefault(player, columns.before[slot][index])
            after[player] = columns.before[slot][index] + columns.change[slot][index]
    counted = tuple(bool(columns.flags[index] & COUNTED) for index in games)
    return Announced(counted, tuple((player, before[player], after[player]) for player in order))
