"""The product broken on purpose, to see that the simulation sees it."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

from sqlalchemy import update

from plugins.rating_bot.wire.gapfill import GapFill
from plugins.rating_bot.wire.reconcile import OwnMessages
from plugins.rating_bot.wiring import Parts
from rating_core.service import reports
from rating_core.store.tables import outbox
from rating_core.store.wire_store import InboxTable, OutboxTable

Broken = contextlib.AbstractContextManager[Any]


def _no_dedupe() -> Broken:
    """A message is entered each time it comes."""
    take, serial = InboxTable.take, iter(range(1, 1 << 60))

    async def always(self: InboxTable, *, key: str, twin: str, **rest: Any) -> int | None:
        number = next(serial)
        return await take(self, key=f"{key}|{number}", twin=f"{twin}|{number}", **rest)

    return mock.patch.object(InboxTable, "take", always)


def _blind_resend() -> Broken:
    """What may be out is sent again without looking."""

    async def nowhere(*_: object) -> None:
        return None

    return mock.patch.object(OwnMessages, "find", nowhere)


def _no_gap_fill() -> Broken:
    """What was said while the connection was down is not read."""

    async def nothing(*_: object) -> None:
        return None

    return mock.patch.object(GapFill, "_pass_on", nothing)


def _forgets_sending() -> Broken:
    """After a start, what was being sent counts as sent."""

    async def recover(self: OutboxTable) -> int:
        statement = update(outbox).where(outbox.c.state == "sending").values(state="sent")
        return int((await self._connection.execute(statement)).rowcount)

    return mock.patch.object(OutboxTable, "recover", recover)


def _anybody_confirms() -> Broken:
    """Nobody asks whether it is the other side that confirms."""
    return mock.patch.object(reports, "_other_side", return_value=None)


def _no_deadlines() -> Broken:
    """The clock does nothing."""

    async def tick(self: Parts) -> None:
        return None

    return mock.patch.object(Parts, "tick", tick)


MUTANTS: dict[str, Callable[[], Broken]] = {
    "dedupe": _no_dedupe,
    "resend": _blind_resend,
    "gap": _no_gap_fill,
    "recover": _forgets_sending,
    "confirm": _anybody_confirms,
    "tick": _no_deadlines,
}


@contextlib.contextmanager
def broken_on_purpose(name: str) -> Iterator[None]:
    """Put one of the faults into the product; nothing where the name is empty."""
    with MUTANTS[name]() if name else contextlib.nullcontext():
        yield
