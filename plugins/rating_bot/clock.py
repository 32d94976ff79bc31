"""The clock, injected everywhere, so that tests and the sandbox can set the time."""

import time
from typing import Protocol


class Clock(Protocol):
    """Tells the time."""

    def now(self) -> int:
        """Return the current instant in ms since the epoch."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> int:
        return time.time_ns() // 1_000_000


class ShiftedClock:
    """A clock that can be put forward, for the sandbox; it goes on from where it was put."""

    def __init__(self, base: Clock) -> None:
        self._base = base
        self._shift = 0

    def now(self) -> int:
        return self._base.now() + self._shift

    def put_forward(self, to: int) -> None:
        """Let it be `to` (ms) now; a time that has passed changes nothing: what was said stays said."""
        self._shift += max(0, to - self.now())

    def reset(self) -> None:
        """Tell the base's time again; for a book in which nothing is later."""
        self._shift = 0
