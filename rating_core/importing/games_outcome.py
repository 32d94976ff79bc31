"""What the book would be with a file of games, and how that differs from the ratings the file itself shows."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from rating_core.book import Book
from rating_core.directory import Directory
from rating_core.importing.games_plan import GamesPlan
from rating_core.ledger import Draft

ROUNDING = 0.05
"""What one decimal hides; 0.5 where the file shows whole points."""


@dataclass(frozen=True, slots=True)
class Off:
    """A rating that the file shows and ours, after the game in a row (`before`: before it)."""

    row: int
    name: str
    theirs: float
    ours: float
    before: bool

    @property
    def size(self) -> float:
        return abs(self.theirs - self.ours)


@dataclass(frozen=True, slots=True)
class Differences:
    """The ratings a file shows against ours; `count` of `compared` differ by more than rounding."""

    compared: int = 0
    count: int = 0
    first: Off | None = None
    """The first that differs by more than rounding."""
    largest: Off | None = None
    """The largest difference, rounding or not."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The book and the names as they would be; how many of the new games count, and L6 keeps from counting."""

    book: Book
    directory: Directory
    counted: int
    uncounted: int
    void: int
    differences: Differences


def outcome(
    plan: GamesPlan, book: Book, directory: Directory,
    watched: Callable[[Sequence[Draft]], Iterable[Draft]] = iter,
) -> Outcome:  # fmt: skip
    """Fold the entries of a plan on a copy of the book. Takes seconds where there are tens of thousands.

    `watched` hands the entries on one by one, so that somebody can see how far it is.
    """
    after = book.with_drafts(watched(plan.drafts))
    names = directory.copy()
    for number, own in plan.names:
        for name in own[:-1]:
            names.roster.add(name, number, current=False)
        names.roster.add(own[-1], number)
    start, stop = len(book.columns), len(after.columns)
    counted = sum(after.counted(index) for index in range(start, stop))
    void = sum(after.is_void(index) for index in range(start, stop))
    return Outcome(
        after, names, counted, stop - start - counted - void, void, _differences(plan, after, names, start)
    )  # fmt: skip


def _differences(plan: GamesPlan, book: Book, directory: Directory, start: int) -> Differences:
    columns = book.columns
    compared = count = 0
    first: Off | None = None
    largest: Off | None = None
    for index, game in enumerate(plan.games, start=start):
        if not game.raw.shown or book.is_void(index):
            continue
        for (slot, player), shown in zip(columns.members(index), game.raw.shown, strict=True):
            before, change = columns.before[slot][index], columns.change[slot][index]
            for theirs, ours, is_before in ((shown[0], before, True), (shown[1], before + change, False)):
                if theirs is None:
                    continue
                compared += 1
                off = Off(game.raw.row, directory.name_of(player), theirs, ours, is_before)
                if largest is None or off.size > largest.size:
                    largest = off
                if off.size > (0.5 if theirs == int(theirs) else ROUNDING) + 1e-6:
                    count += 1
                    first = first or off
    return Differences(compared, count, first, largest)
