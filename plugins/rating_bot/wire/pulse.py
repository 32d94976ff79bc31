"""Is each account still there? By its connection, its client's heartbeats and what the client tells of QQ itself.

A client can be connected while QQ is not: it was logged out (NapCat's notice bot_offline) or says so in its heartbeat
(status.online false). Then nothing is sent through it, and when it is back it counts as newly connected.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .repair import whole

MISSED_BEATS = 3
"""So many intervals without a word and the connection counts as dead."""
LEAST_PATIENCE = 1.0
LONGEST_INTERVAL = 3600.0


@dataclass(slots=True)
class _Account:
    """Times by `now`; `offline_since` is set while QQ itself is away."""

    connected_at: float | None = None
    beat_at: float | None = None
    interval: float | None = None
    offline_since: float | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Pulse:
    """What is known now, in seconds."""

    connected: float | None
    """For how long; None while nobody is."""
    online: bool
    beat: float | None
    """Since the last heartbeat; None where none came."""
    awaited: float = 0.0
    """How long nobody has ever been connected."""


class Pulses:
    """The pulse of all accounts. `now` gives seconds that only grow."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._began = now()
        self._accounts: dict[str, _Account] = {}

    def connected(self, self_id: str) -> tuple[float, str] | None:
        """A client connected; return how long QQ was away before, and why, if it was."""
        account = self._accounts.setdefault(self_id, _Account())
        account.connected_at, account.beat_at, account.interval = self._now(), None, None
        return self._returned(account)

    def disconnected(self, self_id: str) -> None:
        """Its connection is gone."""
        self._accounts[self_id].connected_at = None

    def offline(self, self_id: str, why: str) -> bool:
        """QQ itself is away; return whether that is news."""
        account = self._accounts.setdefault(self_id, _Account())
        if account.offline_since is not None:
            return False
        account.offline_since, account.why = self._now(), why
        return True

    def beat(self, self_id: str, event: Mapping[str, Any]) -> bool | None:
        """Take a heartbeat event; return whether QQ is there, None where the client does not say."""
        account = self._accounts.setdefault(self_id, _Account())
        account.beat_at = self._now()
        interval = (whole(event.get("interval")) or 0) / 1000
        account.interval = interval if 0 < interval <= LONGEST_INTERVAL else None
        status = event.get("status")
        online = status.get("online") if isinstance(status, Mapping) else None
        return online if isinstance(online, bool) else None

    def online_again(self, self_id: str) -> tuple[float, str] | None:
        """The client says QQ is there; return how long it was away, and why, if it was."""
        return self._returned(self._accounts[self_id])

    def _returned(self, account: _Account) -> tuple[float, str] | None:
        since, account.offline_since = account.offline_since, None
        return None if since is None else (self._now() - since, account.why)

    def is_online(self, self_id: str) -> bool:
        """Return whether messages can go through a connected account."""
        account = self._accounts.get(self_id)
        return account is None or account.offline_since is None

    def patience(self, self_id: str) -> float | None:
        """Return how long its client may be silent, None where it sends no heartbeats."""
        interval = self._accounts[self_id].interval
        return None if interval is None else max(MISSED_BEATS * interval, LEAST_PATIENCE)

    def look(self) -> Pulse:
        """Return the best of all accounts."""
        now = self._now()
        there = [account for account in self._accounts.values() if account.connected_at is not None]
        there.sort(key=lambda account: (account.offline_since is None, now - (account.connected_at or 0)))
        if not there:
            return Pulse(None, False, None, 0.0 if self._accounts else now - self._began)
        best = there[-1]
        beat = None if best.beat_at is None else now - best.beat_at
        return Pulse(now - (best.connected_at or 0), best.offline_since is None, beat)
