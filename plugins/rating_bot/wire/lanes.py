"""The lanes of the sender: one per chat, with what it waits for; and the call that sends."""

import asyncio
import contextlib
import re
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rating_core.store.wire_store import OutRow

from .history import Caller
from .repair import whole
from .segments import Segment

KNOWN_OUT = 200
"""Ids of a chat's own messages that are remembered."""
_NUMBER = re.compile("^(?:收到 )?(#[0-9]{1,9})", re.MULTILINE)
"""What a merged message tells of: each of its answers begins so."""
MOST_NUMBERS = 10
"""Numbers named to the desk when a merged message did not go out."""


@dataclass(frozen=True, slots=True)
class Patience:
    """Waiting times in seconds.

    settle: from the start of a sending until "not in history" means not sent; settle_picture: of a picture, which the
    client first has to upload. retry: before the 2nd, 3rd … attempt after a failure; after the last one the row is
    given up. pause: of a chat that takes nothing, growing. look_again: before history that was unavailable is asked
    for again, each time; before the last one, which is repeated, the desk is told, and what follows waits no longer.
    stop: for what is under way at shutdown.
    """

    settle: float = 5.0
    settle_picture: float = 15.0
    retry: tuple[float, ...] = (0.0, 15.0, 60.0, 300.0)
    pause: tuple[float, ...] = (60.0, 120.0, 300.0, 600.0, 1800.0)
    look_again: tuple[float, ...] = (1.0, 3.0, 60.0)
    stop: float = 3.0


@dataclass(slots=True)
class Lane:
    """The sending of one chat. Times are loop times.

    A rest is kept here and noted in the database: after a restart or a new connection one send is tried.
    """

    chat: str
    woken: asyncio.Event = field(default_factory=asyncio.Event)
    task: "asyncio.Task[None] | None" = None
    not_before: float = 0.0
    paused: bool = False
    pauses: int = 0
    marked: OutRow | None = None
    """What was marked as being sent when it was queued, and is to be sent now."""
    alone: bool = False
    """Nothing that follows it was queued with it, nor before."""
    unconfirmed: set[int] = field(default_factory=set)
    """Rows so marked by a transaction that has not ended: nothing is to be done about them, or sent before them."""
    begun: dict[int, float] = field(default_factory=dict)
    """When the sending of rows began whose fate is not known."""
    look_at: dict[int, float] = field(default_factory=dict)
    """When to look again for rows that history could not tell of."""
    looked: dict[int, int] = field(default_factory=dict)
    """How often it was looked for them."""
    out: deque[str] = field(default_factory=lambda: deque(maxlen=KNOWN_OUT))
    """Under which ids messages of this chat went out last."""
    alarmed: set[object] = field(default_factory=set)
    doubted: bool = False
    """QQ took messages that nobody saw: that it takes another proves nothing until that one is seen."""

    def go_on(self) -> None:
        """Forget all waiting."""
        self.not_before = 0.0
        self.look_at.clear()


async def send(bot: Caller, chat: str, message: list[Segment]) -> Any:
    """Send a message to a group or a person; return what the client answers. Raises what call_api raises."""
    peer = int(chat[1:])
    if chat.startswith("u"):
        return await bot.call_api("send_private_msg", user_id=peer, message=message)
    return await bot.call_api("send_group_msg", group_id=peer, message=message)


def message_id_of(answer: object) -> str:
    """Return the id in an answer to `send`, "" where the client names none."""
    number = whole(answer.get("message_id")) if isinstance(answer, Mapping) else None
    return str(number or "")


def expired(row: OutRow, now: int) -> bool:
    """Return whether nobody waits for a row any more."""
    return row.expires_at is not None and row.expires_at <= now


def numbers_of(row: OutRow) -> str:
    """Return the short number that a row is about; of answers merged into one message those that stand in it."""
    found = [*dict.fromkeys(_NUMBER.findall(row.text))]
    return row.about or " ".join(found[:MOST_NUMBERS]) + ("…" if len(found) > MOST_NUMBERS else "")


async def pause(event: asyncio.Event, seconds: float) -> None:
    """Wait for an event, at most so long."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(None if seconds == float("inf") else seconds):
            await event.wait()
