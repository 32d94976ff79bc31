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
