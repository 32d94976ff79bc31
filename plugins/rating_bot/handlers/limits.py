"""Queries are limited per person and per chat: a polite hint once, then silence (commands.md, "Quiet by design")."""

from collections import deque
from dataclasses import dataclass, field
from typing import Literal

WINDOW_MS = 60_000
PER_PERSON = 8
PER_CHAT = 40
FLOOD_NOTICE_MS = 10 * 60_000
"""Whoever floods is told so once in such a span, wherever he does."""
MOST_KEPT = 5000


@dataclass(slots=True)
class _Window:
    times: deque[int] = field(default_factory=deque)
    hinted: bool = False

    def take(self, now: int, most: int) -> bool:
        while self.times and self.times[0] <= now - WINDOW_MS:
            self.times.popleft()
        if not self.times:
            self.hinted = False
        if len(self.times) >= most:
            return False
        self.times.append(now)
        return True


class QueryLimits:
    """Counts queries in a sliding minute."""

    def __init__(self, per_person: int = PER_PERSON, per_chat: int = PER_CHAT) -> None:
        self._per_person = per_person
        self._per_chat = per_chat
        self._people: dict[tuple[str, str], _Window] = {}
        self._chats: dict[str, _Window] = {}

    def take(self, user: str, chat: str, now: int) -> Literal["ok", "hint", "silent"]:
        """Count a query at `now` (ms). `hint`: the first one too many; `silent`: all after it."""
        if len(self._people) > MOST_KEPT:
            self._people = {k: w for k, w in self._people.items() if w.times and w.times[-1] > now - WINDOW_MS}
        person = self._people.setdefault((user, chat), _Window())
        if not person.take(now, self._per_person):
            return self._over(person)
        whole = self._chats.setdefault(chat, _Window())
        return "ok" if whole.take(now, self._per_chat) else self._over(whole)

    @staticmethod
    def _over(window: _Window) -> Literal["hint", "silent"]:
        if window.hinted:
            return "silent"
        window.hinted = True
        return "hint"


class FloodNotices:
    """Who was told of late that he floods."""

    def __init__(self) -> None:
        self._told: dict[str, int] = {}

    def due(self, user: str, now: int) -> bool:
        """Return whether somebody has not been told since FLOOD_NOTICE_MS before `now` (ms)."""
        return self._told.get(user, now - FLOOD_NOTICE_MS) <= now - FLOOD_NOTICE_MS

    def told(self, user: str, now: int) -> None:
        """Note that somebody is told."""
        if len(self._told) > MOST_KEPT:
            self._told = {one: at for one, at in self._told.items() if at > now - FLOOD_NOTICE_MS}
        self._told[user] = now
