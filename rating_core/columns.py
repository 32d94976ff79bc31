"""The columns in which the Book keeps games: some ninety bytes a game, where objects would take a thousand."""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import overload

VOID = 1
COUNTED = 2


class Names(Sequence[str]):
    """A column of texts of which there are few different ones: a byte each. Raises OverflowError at the 257th."""

    __slots__ = ("_codes", "_texts")

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._codes = array("B")

    def __len__(self) -> int:
        return len(self._codes)

    def __iter__(self) -> Iterator[str]:
        return map(self._texts.__getitem__, self._codes)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> "Names": ...
    def __getitem__(self, index: int | slice) -> "str | Names":
        if not isinstance(index, slice):
            return self._texts[self._codes[index]]
        part = Names()
        part._texts, part._codes = list(self._texts), self._codes[index]
        return part

    def __delitem__(self, index: slice) -> None:
        del self._codes[index]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Names):
            return NotImplemented
        if self._texts == other._texts:
            return self._codes == other._codes
        return len(self) == len(other) and all(map(str.__eq__, self, other))

    __hash__ = None  # type: ignore[assignment]

    def append(self, text: str) -> None:
        if text not in self._texts:
            self._texts.append(text)
        self._codes.append(self._texts.index(text))

    def extend(self, texts: Iterable[str]) -> None:
        for text in texts:
            self.append(text)

    def alike(self, start: int, stop: int) -> int:
        """Return up to where, from position `start` and at most to `stop`, the text is the same."""
        code = self._codes[start]
        if self._codes[start:stop].count(code) == stop - start:
            return stop
        return next(index for index in range(start, stop) if self._codes[index] != code)


class GameColumns:
    """Games as columns, one position a game, in the ledger's order; positions of unused player slots hold 0.

    What belongs to a slot stands in `slots` alone: in a league of singles, second players have no columns at all.
    """

    COLUMNS = (
        "number", "report", "seq", "at", "said_at", "pool", "event", "weight", "result", "flags",
        "players", "before", "change",
    )  # fmt: skip
    __slots__ = (*COLUMNS, "slots")

    def __init__(self) -> None:
        self.number = array("I")
        self.report = array("I")
        self.seq = array("I")
        self.at = array("q")
        """When it was posted: decides its season (§8)."""
        self.said_at = array("q")
        """When its report took effect."""
        self.pool = Names()
        self.event = array("I")
        self.weight = array("d")
        self.result = array("B")
        self.flags = array("B")
        self.players = tuple(array("I") for _ in range(4))
        """Left first, left second, right first, right second."""
        self.before = tuple(array("d") for _ in range(4))
        self.change = tuple(array("d") for _ in range(4))
        self.slots: tuple[int, ...] = (0, 2)

    def __len__(self) -> int:
        return len(self.number)

    def append(
        self, number: int, report: int, seq: int, at: int, said_at: int, pool: str, event: int, weight: float,
        result: str, left: tuple[int, ...], right: tuple[int, ...],
    ) -> None:  # fmt: skip
        """Add a game not yet folded. Raises OverflowError where a number does not fit its column."""
        if len(left) > 1:
            self._add_second_players()
        self.number.append(number)
        self.report.append(report)
        self.seq.append(seq)
        self.at.append(at)
        self.said_at.append(said_at)
        self.pool.append(pool)
        self.event.append(event)
        self.weight.append(weight)
        self.result.append(ord(result))
        self.flags.append(0)
        players = _slots(left, right)
        for slot in self.slots:
            self.players[slot].append(players[slot])
            self.before[slot].append(0.0)
            self.change[slot].append(0.0)

    def _add_second_players(self) -> None:
        if len(self.slots) < 4:
            self.slots = (0, 1, 2, 3)
            for parts in (self.players, self.before, self.change):
                for column in parts[1::2]:
                    column.frombytes(bytes(column.itemsize * len(self)))

    def same_pool(self, start: int, stop: int) -> int:
        """Return up to where, from position `start` and at most to `stop`, games are of the same pool."""
        return self.pool.alike(start, stop)

    def copy(self) -> "GameColumns":
        """Return independent columns with the same games."""
        twin = GameColumns()
        twin.slots = self.slots
        for name in self.COLUMNS:
            column = getattr(self, name)
            setattr(twin, name, tuple(c[:] for c in column) if isinstance(column, tuple) else column[:])
        return twin

    def pick(self, indexes: Sequence[int]) -> "GameColumns":
        """Return independent columns with the games at these positions."""
        twin = GameColumns()
        twin.slots = self.slots
        for name in self.COLUMNS:
            column, own = getattr(self, name), getattr(twin, name)
            for part, into in zip(column, own, strict=True) if isinstance(column, tuple) else ((column, own),):
                if part:
                    into.extend(part[index] for index in indexes)
        return twin

    def truncate(self, length: int) -> None:
        """Drop the games from position `length` on."""
        for name in self.COLUMNS:
            column = getattr(self, name)
            for part in column if isinstance(column, tuple) else (column,):
                del part[length:]

    def set_line(self, index: int, left: tuple[int, ...], result: str, right: tuple[int, ...]) -> None:
        """Replace who played and the result, as an amendment says."""
        if len(left) > 1:
            self._add_second_players()
        self.result[index] = ord(result)
        players = _slots(left, right)
        for slot in self.slots:
            self.players[slot][index] = players[slot]

    def clear(self, index: int) -> None:
        """Take the figures of a game that is void."""
        self.flags[index] = VOID
        for slot in self.slots:
            self.before[slot][index] = self.change[slot][index] = 0.0

    def left(self, index: int) -> tuple[int, ...]:
        first, second = self.players[0][index], self.players[1][index] if len(self.slots) > 2 else 0
        return (first, second) if second else (first,)

    def right(self, index: int) -> tuple[int, ...]:
        first, second = self.players[2][index], self.players[3][index] if len(self.slots) > 2 else 0
        return (first, second) if second else (first,)

    def members(self, index: int) -> Iterator[tuple[int, int]]:
        """Yield (slot, player) of a game's players."""
        for slot in self.slots:
            if player := self.players[slot][index]:
                yield slot, player


def _slots(left: tuple[int, ...], right: tuple[int, ...]) -> tuple[int, int, int, int]:
    return (left[0], left[1] if len(left) > 1 else 0, right[0], right[1] if len(right) > 1 else 0)
