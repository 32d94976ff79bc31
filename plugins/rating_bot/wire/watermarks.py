"""Up to where each group was read, so that what was said during an outage is found again, once."""

import contextlib
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from rating_core.store.database import Database
from rating_core.store.wire_store import OVERLAP_MS, ChatTable

from .messages import Inbound

KEYS_KEPT = 1000
NOTHING_YET = 0
"""watermark_seq of a chat in which nothing was seen since its first connection."""


@dataclass(frozen=True, slots=True)
class Mark:
    """said_at (ms) and QQ's running number (where known) of the newest message handled or passed over."""

    at: int
    seq: int | None


class Watermarks:
    """Marks in memory, written with `persist` and `flush`. Only chats begun with `start` have one.

    While `kept_back()` nothing is written: what is refused meanwhile is to be found again after the next start.
    """

    def __init__(self, kept_back: Callable[[], bool] = lambda: False) -> None:
        self._kept_back = kept_back
        self._marks: dict[str, Mark] = {}
        self._dirty: set[str] = set()
        self._seen: dict[str, OrderedDict[str, None]] = {}
        self._frozen: dict[str, list[Inbound]] = {}

    async def load(self, database: Database) -> list[Mark]:
        """Read all marks at start, and return them."""
        async with database.read() as connection:
            for row in await ChatTable(connection).all():
                if row.watermark_at:
                    self._marks[row.chat] = Mark(row.watermark_at, row.watermark_seq)
        return [*self._marks.values()]

    def get(self, chat: str) -> Mark | None:
        """Return a chat's mark, None before its first connection."""
        return self._marks.get(chat)

    async def start(self, database: Database, chat: str, at: int, seq: int | None) -> None:
        """Begin a chat at its first connection: nothing said at or before `at` (ms) is ever handled.

        `seq` is that of its newest message, None when unknown, NOTHING_YET when there is none.
        """
        mark = self._marks[chat] = Mark(at + OVERLAP_MS + 1, seq)  # so that the overlap reaches back to nothing
        if self._kept_back():
            return
        async with database.write() as connection:
            await ChatTable(connection).set_watermark(chat, mark.at, mark.seq)

    def note(self, inbound: Inbound) -> None:
        """Move the mark over a message that was handled or passed over."""
        if inbound.kind != "message" or inbound.chat not in self._marks:
            return
        self.remember(inbound)
        if inbound.chat in self._frozen and not inbound.made_up:
            self._frozen[inbound.chat].append(inbound)
        else:
            self._advance(inbound)

    def remember(self, inbound: Inbound) -> None:
        """Let `seen` know a message, whether its mark moves or not."""
        if inbound.kind != "message" or inbound.chat not in self._marks:
            return
        seen = self._seen.setdefault(inbound.chat, OrderedDict())
        seen[inbound.key] = None
        if inbound.seq is None:
            seen[inbound.twin] = None
        while len(seen) > KEYS_KEPT:
            seen.popitem(last=False)

    def seen(self, inbound: Inbound) -> bool:
        """Return whether this process noted the message before."""
        seen = self._seen.get(inbound.chat)
        return seen is not None and (inbound.key in seen or inbound.twin in seen)

    @contextlib.contextmanager
    def frozen(self, chat: str) -> Iterator[None]:
        """While a gap is being filled: live messages do not move the mark past what was not filled yet."""
        self._frozen.setdefault(chat, [])
        try:
            yield
        finally:
            for inbound in self._frozen.pop(chat, []):
                self._advance(inbound)

    async def persist(self, chats: ChatTable, inbound: Inbound) -> None:
        """Write the mark as it will be after this message, in the transaction that handles it."""
        mark = self._marks.get(inbound.chat)
        if self._kept_back():
            return
        if mark is not None and inbound.kind == "message" and (inbound.made_up or inbound.chat not in self._frozen):
            moved = _over(mark, inbound)
            await chats.set_watermark(inbound.chat, moved.at, moved.seq)

    async def flush(self, database: Database) -> None:
        """Write all marks that moved; call it every few seconds and at shutdown."""
        moved = {chat: self._marks[chat] for chat in self._dirty}
        if not moved or self._kept_back():
            return
        async with database.write() as connection:
            for chat, mark in moved.items():
                await ChatTable(connection).set_watermark(chat, mark.at, mark.seq)
        self._dirty -= {chat for chat, mark in moved.items() if self._marks[chat] == mark}

    def _advance(self, inbound: Inbound) -> None:
        moved = _over(self._marks[inbound.chat], inbound)
        if moved != self._marks[inbound.chat]:
            self._marks[inbound.chat] = moved
            self._dirty.add(inbound.chat)


def _over(mark: Mark, inbound: Inbound) -> Mark:
    seq = inbound.seq if mark.seq in (None, NOTHING_YET) else max(mark.seq or 0, inbound.seq or 0)
    return Mark(max(mark.at, inbound.said_at), seq)
