"""Queueing what a transaction says. What nothing keeps waiting is marked as being sent with it, and sent once it is
committed: that spares a transaction, and a wait for the disk, between the commit and the call.
"""

from collections.abc import Callable
from typing import Any

from rating_core.store.wire_store import OutboxTable, OutRow

from .lanes import Lane


class Queueing:
    """The messages of one transaction. `may_begin(chat)`: it could be sent now; `sure` as Sender has it."""

    def __init__(
        self, lane_of: Callable[[str], Lane], may_begin: Callable[[str], bool], sure: Callable[[], int]
    ) -> None:  # fmt: skip
        self._lane_of = lane_of
        self._may_begin = may_begin
        self._sure = sure
        self._begun: list[OutRow] = []
        self._busy: set[str] | None = None
        """Chats in which something waits, once that was asked for, and those in which something was queued here."""
        self._followed: set[str] = set()
        self.chats: set[str] = set()

    async def add(self, box: OutboxTable, *, chat: str, held: bool = False, **row: Any) -> None:
        """Queue a message as `OutboxTable.add` does, or begin with it."""
        self.chats.add(chat)
        if self._busy is None:
            self._busy = await box.chats_that_wait()
        free, plain = chat not in self._busy, not held and row.get("picture") is None
        self._busy.add(chat)
        if not (free and plain and self._may_begin(chat)):  # a picture has to be drawn before
            await box.add(chat=chat, held=held, **row)
            self._followed.add(chat)
            return
        begun = await box.begin(chat=chat, at=self._sure(), **row)
        self._lane_of(chat).unconfirmed.add(begun.outbox_id)
        self._begun.append(begun)

    def end(self, *, committed: bool) -> None:
        """Hand over what was begun; what may not have been committed is looked for like all that is unclear."""
        for row in self._begun:
            lane = self._lane_of(row.chat)
            lane.unconfirmed.discard(row.outbox_id)
            if committed:
                lane.marked, lane.alone = row, row.chat not in self._followed
