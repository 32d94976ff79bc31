"""Order: one queue per chat with one worker, a gate before it, and a limit on what one person may pile up.

NoneBot runs each event as a task of its own, so messages overtake each other. Here everything of one chat happens
one after the other, in the order it came in; chats do not wait for each other.
"""

import asyncio
from collections import Counter, deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from nonebot.log import logger

Work = Callable[[], Awaitable[object]]


CALM_SECONDS = 5.0
"""A flood of which nothing had to be dropped for so long is over."""
TOLD_EVERY = 60.0
"""A flood that goes on is told of so often."""


@dataclass(slots=True)
class _Allowance:
    """Token bucket of one person in one chat; `left` at `since` (loop time)."""

    left: float
    since: float
    shed: int = 0
    """How many were dropped since `began` (loop time), the last one at `dropped`."""
    began: float = 0.0
    dropped: float = 0.0


@dataclass(slots=True)
class _Item:
    work: Work
    user: str
    keys: tuple[str, ...]
    passing_over: bool = False
    """It stands for messages that were dropped."""


@dataclass(slots=True)
class _Lane:
    """The queue of one chat."""

    items: deque[_Item] = field(default_factory=deque)
    more: asyncio.Event = field(default_factory=asyncio.Event)
    waiting: Counter[str] = field(default_factory=Counter)
    """How many items of each person wait or run."""
    allowances: dict[str, _Allowance] = field(default_factory=dict)
    holds: int = 0
    open_at: float = 0.0
    """Loop time at which a held gate opens by itself."""
    opened: asyncio.Event = field(default_factory=asyncio.Event)
    worker: asyncio.Task[None] | None = None
    busy: bool = False


class ChatQueues:
    """The queues of all chats. All times in seconds.

    `gate`: how long a held chat waits at most. `pending`: messages one person may have waiting in one chat.
    `burst` and `rate`: messages one person may send at once and then per second; who sends more, and while he goes on,
    is not heard. `limit`: how long one piece of work may hold up its chat. `idle`: when a worker with nothing to do
    ends.
    """

    def __init__(
        self,
        *,
        gate: float = 10.0,
        pending: int = 12,
        burst: int = 60,
        rate: float = 2.0,
        limit: float = 120.0,
        idle: float = 30.0,
    ) -> None:
        self._gate = gate
        self._pending = pending
        self._burst = burst
        self._rate = rate
        self._limit = limit
        self._idle = idle
        self._lanes: dict[str, _Lane] = {}
        self._late: set[asyncio.Future[object]] = set()
        self._floods: dict[tuple[str, str], _Allowance] = {}
        self._settled = asyncio.Event()

    def submit(
        self, chat: str, work: Work, *, user: str = "", keys: tuple[str, ...] = (), dropped: Work | None = None
    ) -> bool:
        """Queue `work` behind everything of its chat; False when its user floods the chat and it was dropped.

        `keys` are the inbound's key and twin, by which `has` finds what waits. `dropped` is what is done in its turn
        when it was; of several in a row the last one does it for all.
        """
        lane = self._lane(chat)
        if user and not self._allowed(lane, chat, user):
            if dropped is not None:
                if lane.items and lane.items[-1].passing_over:
                    lane.items.pop()
                self._append(chat, lane, _Item(dropped, "", (), passing_over=True))
            return False
        lane.waiting[user] += 1
        self._append(chat, lane, _Item(work, user, keys))
        return True

    def _append(self, chat: str, lane: _Lane, item: _Item) -> None:
        lane.items.append(item)
        lane.more.set()
        if lane.worker is None:
            lane.worker = asyncio.create_task(self._serve(chat, lane), name=f"chat {chat}")

    def has(self, chat: str, *keys: str) -> bool:
        """Return whether something with one of these keys waits in the chat."""
        lane = self._lanes.get(chat)
        return lane is not None and any(key in item.keys for item in lane.items for key in keys)

    def hold(self, chat: str) -> None:
        """Close the chat's gate until `release`, or until its time is over. Holds add up."""
        lane = self._lane(chat)
        lane.holds += 1
        lane.open_at = asyncio.get_running_loop().time() + self._gate
        lane.opened.clear()

    def release(self, chat: str) -> None:
        """Open the gate that `hold` closed."""
        lane = self._lanes.get(chat)
        if lane is None or lane.holds == 0:
            return
        lane.holds -= 1
        if lane.holds == 0:
            lane.opened.set()
            if lane.worker is None:
                self._lanes.pop(chat, None)

    async def idle(self) -> None:
        """Wait until nothing waits and nothing runs."""
        while any(lane.items or lane.busy for lane in self._lanes.values()):
            self._settled.clear()
            await self._settled.wait()

    async def close(self) -> None:
        """End all workers; what still waits is dropped (history gives it back after the next start)."""
        for (chat, user), flood in self._floods.items():
            self._tell_of_flood(chat, user, flood)
        self._floods.clear()
        tasks: list[asyncio.Future[Any]] = [*self._late]
        tasks += [lane.worker for lane in self._lanes.values() if lane.worker is not None]
        self._lanes.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._settled.set()

    def _lane(self, chat: str) -> _Lane:
        return self._lanes.setdefault(chat, _Lane())

    def _allowed(self, lane: _Lane, chat: str, user: str) -> bool:
        now = asyncio.get_running_loop().time()
        allowance = lane.allowances.setdefault(user, _Allowance(self._burst, now))
        allowance.left = min(self._burst, allowance.left + (now - allowance.since) * self._rate)
        allowance.since = now
        if allowance.left >= 1 and lane.waiting[user] < self._pending:
            allowance.left -= 1
            return True
        allowance.left = 0.0  # only a pause fills it again
        allowance.dropped = now
        allowance.shed += 1
        if (chat, user) not in self._floods:
            allowance.began = now
            self._floods[chat, user] = allowance
            asyncio.get_running_loop().call_later(CALM_SECONDS, self._look_at_flood, chat, user)
        return False

    def _look_at_flood(self, chat: str, user: str) -> None:
        """Tell of a flood when it is over, or has gone on for long."""
        if (flood := self._floods.get((chat, user))) is None:
            return
        loop = asyncio.get_running_loop()
        calm = loop.time() - flood.dropped >= CALM_SECONDS
        if calm or loop.time() - flood.began >= TOLD_EVERY:
            self._tell_of_flood(chat, user, flood)
        if calm:
            del self._floods[chat, user]
        else:
            loop.call_later(CALM_SECONDS, self._look_at_flood, chat, user)

    def _tell_of_flood(self, chat: str, user: str, flood: _Allowance) -> None:
        """Count in one line what was dropped."""
        if flood.shed:
            seconds = flood.dropped - flood.began
            logger.warning(f"flood chat={chat} who={user} shed={flood.shed} seconds={seconds:.0f}")
        flood.shed, flood.began = 0, asyncio.get_running_loop().time()

    async def _serve(self, chat: str, lane: _Lane) -> None:
        while True:
            if not lane.items:
                lane.more.clear()
                self._settled.set()
                try:
                    async with asyncio.timeout(self._idle):
                        await lane.more.wait()
                except TimeoutError:
                    if not lane.items:
                        break
            await self._pass_gate(chat, lane)
            item = lane.items.popleft()
            lane.busy = True
            try:
                await self._run(chat, item)
            finally:
                lane.busy = False
                lane.waiting[item.user] -= 1
        lane.worker = None
        if lane.holds == 0:
            self._lanes.pop(chat, None)

    async def _pass_gate(self, chat: str, lane: _Lane) -> None:
        loop = asyncio.get_running_loop()
        while lane.holds and (left := lane.open_at - loop.time()) > 0:
            try:
                async with asyncio.timeout(left):
                    await lane.opened.wait()
            except TimeoutError:
                logger.warning(f"{chat} waited {self._gate:g} s for its history; going on without")

    async def _run(self, chat: str, item: _Item) -> None:
        task = asyncio.ensure_future(item.work())
        try:
            done, _ = await asyncio.wait({task}, timeout=self._limit)
        except asyncio.CancelledError:
            task.cancel()
            raise
        if not done:
            logger.error(f"work in {chat} takes longer than {self._limit:g} s; going on without waiting for it")
            self._late.add(task)
            task.add_done_callback(self._late.discard)
        elif not task.cancelled() and (error := task.exception()) is not None:
            logger.opt(exception=error).error(f"work in {chat} failed")
