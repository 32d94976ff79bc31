"""Messages that QQ took and shows to nobody: under risk control a sending succeeds and never stands in the group.

What a client tells of its own messages clears them at once; else history is looked at, some seconds later. A message
is gone where history shows what was said before and after it, without a hole in QQ's numbers where it could be hidden.
The same look finds what the bot's QQ said and this bot did not: another one is connected to it.
"""

import asyncio
import re
from collections import OrderedDict, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from rating_core.store.wire_store import OutRow

from .history import Caller, History, HistoryUnavailable, read_back
from .inbound import real_seq
from .messages import Sent
from .reconcile import OwnMessages, fits
from .repair import Data

LOOK_AFTER = 10.0
LOOK_AGAIN = 30.0
LOOKS = 10
"""Seconds after a sending until history is looked at, and again while nobody has spoken since; how often at most."""
MARGIN_MS = 5_000
"""QQ's seconds and ours differ by less."""
PAGES = 4
ACKNOWLEDGEMENT = re.compile("收到 #[0-9]+（")
"""Begins what no person says by hand with the bot's account."""
MOST = 50
"""So many of a chat are remembered."""


@dataclass(slots=True)
class _Taken:
    """A message that QQ took at `at` (ms, by QQ's time) under an id; `look_at` by loop time."""

    row: OutRow
    message_id: str
    at: int
    look_at: float
    looks: int = 0


@dataclass(frozen=True, slots=True)
class Look:
    """What history showed: the rows that are `gone`, in order; whether a message was `seen`; messages of `another`."""

    gone: Sequence[OutRow]
    seen: bool
    another: Sequence[Sent]


class Unseen:
    """What was taken and not yet seen, per group."""

    def __init__(self, own: OwnMessages) -> None:
        self._own = own
        self._taken: dict[str, OrderedDict[str, _Taken]] = defaultdict(OrderedDict)

    def taken(self, row: OutRow, message_id: str, at: int) -> None:
        """QQ took a message, under this id."""
        if not message_id or not row.chat.startswith("g") or self._own.told_of(row.chat, message_id):
            return
        taken = self._taken[row.chat]
        taken[message_id] = _Taken(row, message_id, at, asyncio.get_running_loop().time() + LOOK_AFTER)
        if len(taken) > MOST:
            taken.popitem(last=False)

    def saw(self, sent: Sent) -> None:
        """One of the bot's own messages was seen."""
        self._taken[sent.chat].pop(sent.message_id, None)

    def due(self) -> list[str]:
        """Return the chats whose history is to be looked at now."""
        now = asyncio.get_running_loop().time()
        return [chat for chat, taken in self._taken.items() if any(one.look_at <= now for one in taken.values())]

    async def look(self, bot: Caller, chat: str) -> "Look":
        """Look at a chat's history."""
        now = asyncio.get_running_loop().time()
        due = [one for one in self._taken[chat].values() if one.look_at <= now]
        since = min(one.at for one in due) - 2 * MARGIN_MS
        try:
            history = await read_back(bot, chat, lambda item: item["time"] * 1000 < since, max_calls=PAGES)
        except HistoryUnavailable:
            history = History()
        own = self._own.own_of(history)
        numbered = {str(item["message_id"]) for item in history.items if real_seq(item) is not None}
        acks = [s for s in own if s.said_at >= since and s.message_id in numbered and ACKNOWLEDGEMENT.match(s.text)]
        gone: list[OutRow] = []
        seen = False
        for one in due:
            shown = any(sent.message_id == one.message_id or fits(one.row, sent, one.at - MARGIN_MS) for sent in own)
            verdict = True if shown else _is_there(history.items, one.at)
            one.looks += 1
            one.look_at = now + LOOK_AGAIN
            if verdict is None and one.looks < LOOKS and history.items:
                continue
            self._taken[chat].pop(one.message_id, None)
            seen = seen or shown
            if verdict is False:
                gone.append(one.row)
        return Look(gone, seen, await self._own.strangers(chat, acks))


def _is_there(items: Sequence[Data], at: int) -> bool | None:
    """Whether a message taken at `at` that history does not show may stand there all the same.

    None: nobody has spoken since.
    """
    before = [item for item in items if item["time"] * 1000 < at - MARGIN_MS]
    after = [item for item in items if item["time"] * 1000 > at + MARGIN_MS]
    if not after:
        return None
    low, high = (real_seq(before[-1]) if before else None), real_seq(after[0])
    if low is None or high is None:
        return True
    between = {seq for item in items if (seq := real_seq(item)) is not None and low < seq < high}
    return len(between) < high - low - 1
