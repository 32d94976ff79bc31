"""The clock, injected everywhere, so that tests and the sandbox can set the time."""

import time
from collections.abc import Callable
from typing import Protocol

TOLERANCE_MS = 5 * 60_000
"""How far the machine's clock may be from QQ's before it counts as wrong."""
AGREE_MS = 60_000
APART_MS = 10_000
"""That it is ahead is believed when two messages, which came so long after each other, agree to this."""


class Clock(Protocol):
    """Tells the time."""

    def now(self) -> int:
        """Return the current instant in ms since the epoch."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> int:
        return time.time_ns() // 1_000_000


def steady() -> int:
    """Return ms since some moment, whatever is done to the machine's clock; where the system knows, sleep included."""
    clock = getattr(time, "CLOCK_BOOTTIME", None)
    return (time.monotonic_ns() if clock is None else time.clock_gettime_ns(clock)) // 1_000_000


class QQClock:
    """The machine's clock, unless QQ contradicts it.

    QQ's servers date every message, so it is at least as late as the newest one says, and as much later as went by
    since: this is never too late, and right to a second as soon as somebody spoke. An event may come late, so that one
    alone does not prove that the machine's clock is ahead. `since` gives ms that only grow.
    """

    def __init__(self, machine: Clock, since: Callable[[], int] = steady) -> None:
        self._machine = machine
        self._since = since
        self._lead: int | None = None
        """QQ's time less `since`, by the newest message."""
        self._first: int | None = None
        """When the first message came, just now said, that agrees with this; and whether a later one does, too."""
        self._confirmed = False
        self._later: int | None = None
        """The same by a message from the future, as the machine sees it, until a second one agrees."""

    def heard(self, said_at: int, *, live: bool = False) -> None:
        """Take the time (ms) at which QQ says that something was said; `live`: just now."""
        arrived = self._since()
        lead = said_at - arrived
        if said_at > self._machine.now() + TOLERANCE_MS and (self._lead is None or lead > self._lead + TOLERANCE_MS):
            before, self._later = self._later, lead
            if before is None or abs(lead - before) > TOLERANCE_MS:
                return
            lead = min(lead, before)
        if self._lead is None or lead > self._lead + AGREE_MS:
            self._first, self._confirmed = None, False  # what came before came late
        self._lead = lead if self._lead is None else max(lead, self._lead)
        if live and lead > self._lead - AGREE_MS:
            self._first = arrived if self._first is None else self._first
            self._confirmed = self._confirmed or arrived - self._first >= APART_MS

    def sure(self) -> int:
        """Return until when time has passed for certain, by QQ's messages: what cannot be undone is done by this."""
        return self._machine.now() if self._lead is None else min(self.now(), self._since() + self._lead)

    def now(self) -> int:
        ahead = self.ahead()
        return self._machine.now() - (ahead or 0)

    def ahead(self) -> int | None:
        """Return how far the machine's clock is ahead of QQ's (ms, negative: behind), None while they agree."""
        if self._lead is None:
            return None
        ahead = self._machine.now() - self._since() - self._lead
        contradicted = ahead < -TOLERANCE_MS or (ahead > TOLERANCE_MS and self._confirmed)
        return ahead if contradicted else None


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
