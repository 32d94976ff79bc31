"""Reading a chat's history back, whatever the client's way of paging.

`get_group_msg_history` differs: NapCat goes from message_seq (a message id there) towards the present unless told
reverse_order, which older versions do not know; LLOneBot and go-cqhttp always go back from message_seq (QQ's own
number); Lagrange goes back from message_id, but not from the ids it gives in history. So one call carries all the
names, what comes back decides whether it went back, and where nothing does, the newest page is asked for longer.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from nonebot.exception import ActionFailed, ApiNotAvailable, NetworkError

from .inbound import real_seq
from .link import ConnectionLost
from .repair import Data, repair, whole

ONE_SECONDS = 5.0
"""How long somebody's word waits for the message that it quotes."""
PAGE = 50
MAX_CALLS = 40
MAX_GROWN = 3_200
"""Longest single page asked for where a client cannot page."""


class Caller(Protocol):
    """What is needed of a bot."""

    self_id: str

    async def call_api(self, api: str, **data: Any) -> Any: ...


class HistoryUnavailable(Exception):
    """The client gives no history of this chat. `offline`: because it is not connected."""

    def __init__(self, chat: str, cause: Exception | str) -> None:
        super().__init__(f"{chat}: {cause!r}" if isinstance(cause, Exception) else f"{chat}: {cause}")
        self.offline = isinstance(cause, ApiNotAvailable | ConnectionLost)


@dataclass(slots=True)
class History:
    """What was read: repaired messages, oldest first. `reached`: back to where the caller wanted."""

    items: list[Data] = field(default_factory=list)
    reached: bool = False
    exhausted: bool = True
    """The client has nothing older; False when it refused to go on or the limit of calls was reached."""
    broken: bool = False
    """An older page was refused or not answered; another reading may get it."""


async def read_back(
    bot: Caller,
    chat: str,
    enough: Callable[[Data], bool],
    *,
    page: int = PAGE,
    max_calls: int = MAX_CALLS,
    patience: float | None = None,
) -> History:
    """Read a chat back until a message satisfies `enough`. `patience`: seconds for each call (None: the adapter's).

    Raises HistoryUnavailable when the first call fails, or when the connection goes.
    """
    reader = _Reader(bot, chat, page, patience)
    history = History()
    try:
        reader.merge(history, await reader.call())
        while not any(enough(item) for item in history.items):
            if reader.calls >= max_calls:
                history.exhausted = False
                return history
            if not history.items or not await reader.older(history):
                history.broken = not history.exhausted
                return history
    except (ActionFailed, ApiNotAvailable, NetworkError, _NoList) as error:
        unavailable = HistoryUnavailable(chat, error)
        if unavailable.offline or not history.items:
            raise unavailable from error
        history.exhausted, history.broken = False, True
        return history
    history.reached = True
    return history


class _NoList(Exception):
    """An answer without messages in it."""


class _Reader:
    """One reading of one chat; remembers which way of asking went back."""

    def __init__(self, bot: Caller, chat: str, page: int, patience: float | None) -> None:
        self._bot = bot
        self._options: Data = {} if patience is None else {"_timeout": patience}
        self._group = chat.startswith("g")
        self._api = "get_group_msg_history" if self._group else "get_friend_msg_history"
        self._peer = int(chat[1:])
        self._page = page
        self._grown = page
        self._ways = [self._flagged, self._unflagged, self._longer]
        self._known: set[object] = set()
        self.calls = 0

    async def older(self, history: History) -> bool:
        """Add older messages; False when no way of asking brings any. Raises when a call is not answered."""
        while self._ways:
            try:
                found = self.merge(history, await self._ways[0](history))
                history.exhausted = True
            except (ActionFailed, _NoList):
                found = history.exhausted = False
            if found:
                del self._ways[1:]  # this is the way: when it ends, history ends
                return True
            del self._ways[0]
        return False

    async def _flagged(self, history: History) -> list[Data]:
        anchor = self._anchor(history)
        return await self.call(**anchor, count=self._page, reverse_order=True, reverseOrder=True)

    async def _unflagged(self, history: History) -> list[Data]:
        return await self.call(**self._anchor(history), count=self._page)

    async def _longer(self, history: History) -> list[Data]:
        if self._grown >= MAX_GROWN:
            return []
        self._grown *= 4
        return await self.call(count=self._grown)

    def _anchor(self, history: History) -> Data:
        oldest = history.items[0]
        seq = whole(oldest.get("message_seq"))
        return {"message_seq": seq or oldest["message_id"], "message_id": oldest["message_id"]}

    async def call(self, **params: Any) -> list[Data]:
        """Ask for one page. Raises what call_api raises."""
        self.calls += 1
        peer = {"group_id": self._peer} if self._group else {"user_id": self._peer}
        params = {"count": self._page, "disable_get_url": True, "parse_mult_msg": False} | params
        answer = await self._bot.call_api(self._api, **peer, **params, **self._options)
        found = answer.get("messages") if isinstance(answer, Mapping) else None
        if not isinstance(found, list):
            raise _NoList(repr(answer)[:200])
        return [item for entry in found if (item := _item(self._bot, self._group, self._peer, entry)) is not None]

    def merge(self, history: History, page: list[Data]) -> bool:
        """Put a page before what is known; return whether it brought anything older."""
        if page and page[0]["time"] > page[-1]["time"]:
            page = page[::-1]
        before = _place(history.items[0]) if history.items else None
        new = [item for item in page if _identity(item) not in self._known]
        self._known.update(_identity(item) for item in new)
        history.items = [*new, *history.items]
        if all(_seq(item) is not None for item in history.items):
            history.items.sort(key=_place)
        else:
            history.items.sort(key=lambda item: item["time"])
        return any(before is None or _place(item) <= before for item in new)


async def read_one(bot: Caller, chat: str, message_id: str) -> Data | None:
    """Return a message of a chat, repaired; None where the client does not know it or does not answer."""
    try:
        async with asyncio.timeout(ONE_SECONDS):
            entry = await bot.call_api("get_msg", message_id=int(message_id))
    except (ActionFailed, ApiNotAvailable, NetworkError, TimeoutError, ValueError):
        return None
    return _item(bot, chat.startswith("g"), int(chat[1:]), entry)


def _item(bot: Caller, group: bool, peer: int, entry: object) -> Data | None:
    if not isinstance(entry, Mapping) or not whole(entry.get("time")):
        return None
    sure: Data = {"self_id": int(bot.self_id)}
    sure |= {"group_id": peer, "message_type": "group"} if group else {"target_id": peer, "message_type": "private"}
    return repair({"post_type": "message"} | dict(entry) | sure)


def _seq(item: Data) -> int | None:
    """Return QQ's own number, under whichever name the client gives it."""
    seq = whole(item.get("message_seq"))
    return real_seq(item) or (seq if seq and seq != item["message_id"] and seq > 0 else None)


def _place(item: Data) -> tuple[int, int]:
    return item["time"], _seq(item) or 0


def _identity(item: Data) -> object:
    return _seq(item) or (item["message_id"], item["time"], item["user_id"], repr(item["message"]))
