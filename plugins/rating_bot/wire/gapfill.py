"""What was said while the bot or its socket was down: read back from history at each connection."""

import asyncio
import contextlib
import heapq
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from nonebot.log import logger

from rating_core.failpoints import hit
from rating_core.store.database import Database, StorageFailed
from rating_core.store.wire_store import OVERLAP_MS

from ..clock import Clock
from .history import Caller, History, HistoryUnavailable, read_back
from .inbound import is_own, real_seq, to_inbound, to_sent
from .messages import Inbound, Sent, group_chat
from .order import ChatQueues
from .repair import Data
from .serving import groups_of
from .watermarks import NOTHING_YET, Mark, Watermarks

AT_ONCE = 4
"""Groups read at the same time."""
ROUNDS = ((0.0, 5.0), (1.0, 10.0), (3.0, 30.0))
"""Of reading: seconds to wait before it, and for each page. What fails in the last one is told to the desk."""
STORE_RETRY = 3.0
"""Seconds until a message that the database did not take is handed on again."""


@dataclass(frozen=True, slots=True)
class Gap:
    """Why messages of a group may have been missed.

    short: history does not reach back to `since`; limit: there was more than could be read; holes: QQ's numbers have
    `missing` gaps; broken: an older page could not be had; unavailable: the client gives no history. `since` and
    `until` in ms.
    """

    reason: Literal["short", "limit", "holes", "broken", "unavailable"]
    since: int
    until: int
    missing: int = 0


@dataclass(frozen=True, slots=True)
class _Read:
    """What was read of a group whose messages up to `mark` are known."""

    group: str
    chat: str
    history: History
    mark: Mark


class GapFill:
    """Reads the configured groups back to their watermarks and hands on what is newer, all in the order of its time.

    `groups` names the configured groups. `handle` takes each message (made_up is set; taking one twice must change
    nothing). `missed` is told of each gap that may remain, `filled` after each group, `sent` of own messages seen,
    `heard` of the times (ms) of messages; `done` runs after all of them, before the live messages that waited.
    """

    def __init__(
        self,
        database: Database,
        clock: Clock,
        *,
        groups: Callable[[], Iterable[str]],
        watermarks: Watermarks,
        queues: ChatQueues,
        handle: Callable[[Inbound], Awaitable[object]],
        missed: Callable[[str, Gap], Awaitable[object]],
        filled: Callable[[str], Awaitable[object]],
        sent: Callable[[Sent], object] | None = None,
        heard: Callable[[int], object] | None = None,
        done: Callable[[], Awaitable[object]] | None = None,
        rounds: Sequence[tuple[float, float]] = ROUNDS,
    ) -> None:
        self._database = database
        self._clock = clock
        self._groups = groups
        self._watermarks = watermarks
        self._queues = queues
        self._handle = handle
        self._missed = missed
        self._filled = filled
        self._sent = sent
        self._heard = heard
        self._done = done
        self._rounds = rounds
        self._one_at_a_time = asyncio.Lock()
        self._owed: dict[str, Mark] = {}
        """Chats that could not be read, and from where on; at the next connection it is tried again from there."""
        self._untold: set[str] = set()
        """Chats connected to since the desk was told last."""
        self._told: dict[str, int] = {}
        """Up to when (ms) the desk was told that a chat's history cannot be had."""
        self._frozen: dict[str, contextlib.ExitStack] = {}
        self._own_ids: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._under_way = 0

    @property
    def reading(self) -> bool:
        """Whether something said before now may still be read and handed on."""
        return self._under_way > 0

    def connected(self, bot: Caller) -> "asyncio.Task[None]":
        """Begin filling; the groups' live messages wait from now on. Call it before any event is handled."""
        self._own_ids.add(bot.self_id)
        groups = sorted(str(group) for group in self._groups())
        for group in groups:
            self._queues.hold(group_chat(group))
            self._freeze(group_chat(group))
            self._untold.add(group_chat(group))
        self._under_way += 1
        task = asyncio.create_task(self._fill_all(bot, groups), name=f"history for {bot.self_id}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _freeze(self, chat: str) -> None:
        if chat not in self._frozen:
            self._frozen[chat] = contextlib.ExitStack()
            self._frozen[chat].enter_context(self._watermarks.frozen(chat))

    def _thaw(self) -> None:
        """Let the marks move on, but for chats that could not be read at the last connection, nor the desk told."""
        for chat in [*self._frozen] if not self._under_way else ():
            if chat not in self._owed or chat not in self._untold:
                self._frozen.pop(chat).close()

    async def stop(self) -> None:
        """End all filling; the watermarks stay where they are."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _fill_all(self, bot: Caller, groups: list[str]) -> None:
        """Read all groups and hand on what they hold, then let the live messages pass."""
        waiting = set(groups)
        try:
            try:
                async with self._one_at_a_time:
                    known = await groups_of(bot)
                    left = [group for group in groups if known is None or group in known]
                    for number, (pause, patience) in enumerate(self._rounds, 1):
                        await asyncio.sleep(pause)
                        left = await self._read_all(bot, left, patience, last=number == len(self._rounds))
                        if not left:
                            break
                        await self._pass(waiting - set(left))
                        waiting &= set(left)
            finally:
                self._under_way -= 1
            self._thaw()
            await self._pass(())
        except Exception as error:
            logger.opt(exception=error).error(f"what {bot.self_id} missed could not be made up for")
        finally:
            for group in sorted(waiting):
                self._queues.release(group_chat(group))

    async def _pass(self, groups: Iterable[str]) -> None:
        """Say that what was read is handed on; the live messages of these groups pass."""
        if self._done is not None:
            await self._done()
        for group in sorted(groups):
            self._queues.release(group_chat(group))

    async def _read_all(self, bot: Caller, groups: list[str], patience: float, *, last: bool) -> list[str]:
        """Read groups, then hand on what they hold in the order of its time, across the groups.

        Return those that could not be read, and are to be read again unless this was the last round.
        """
        found = await asyncio.gather(*(self._read(bot, group, patience, last=last) for group in groups))
        reads = [read for read in found if isinstance(read, _Read)]
        hit("history_read")
        streams = [[(item, read) for item in read.history.items] for read in reads]
        for item, read in heapq.merge(*streams, key=lambda pair: int(pair[0]["time"])):
            await self._pass_on(read.chat, item, read.mark)
        hit("history_handed_on")
        await self._finish(reads)
        return [read for read in found if isinstance(read, str)]

    async def _read(self, bot: Caller, group: str, patience: float, *, last: bool) -> "_Read | str | None":
        """Read one group back to its mark; the group itself where that failed, None when nothing is to be handed on."""
        chat = group_chat(group)
        try:
            async with self._slots:
                mark = self._owed.get(chat) or self._watermarks.get(chat)
                if mark is None:
                    await self._begin(bot, chat)
                    return None
                try:
                    history = await read_back(bot, chat, lambda item: _is_before(item, mark), patience=patience)
                except HistoryUnavailable as error:
                    logger.warning(f"no history: {error}")
                    self._owed[chat] = mark
                    if error.offline or not last:
                        return None if error.offline else group
                    await self._tell(group)
                    return None
                self._hear(history)
                if history.broken and not last:
                    logger.warning(f"the history of {chat} broke off; reading it again")
                    self._owed[chat] = mark
                    return group
                self._owed.pop(chat, None)
                return _Read(group, chat, history, mark)
        except Exception as error:
            logger.opt(exception=error).error(f"the history of {chat} could not be read")
            return None

    async def _tell(self, group: str) -> None:
        """Tell the desk of what a group may have said unseen, since its last message or since it was told last."""
        chat, now = group_chat(group), self._clock.now()
        mark = self._watermarks.get(chat)
        assert mark is not None
        since = max(mark.at, self._told.get(chat, 0))
        await self._missed(group, Gap("unavailable", min(since, now), now))
        self._told[chat] = now
        self._untold.discard(chat)

    async def _finish(self, reads: "list[_Read]") -> None:
        """Write the marks, and tell of what may still be missing."""
        try:
            await self._watermarks.flush(self._database)
        except StorageFailed as error:
            logger.warning(f"the watermarks could not be written: {error}")
        for read in reads:
            try:
                if (gap := _gap(read.history, read.mark, self._clock.now())) is not None:
                    await self._missed(read.group, gap)
                await self._filled(read.group)
            except Exception as error:
                logger.opt(exception=error).error(f"the history of {read.chat} could not be finished")

    async def _begin(self, bot: Caller, chat: str) -> None:
        """First connection ever: everything said so far is passed over, but for what came as an event already."""
        now = self._clock.now()
        newest: Data | None = None
        seq: int | None = None  # where history cannot be had, nobody knows whether there was anything
        try:
            history = await read_back(bot, chat, lambda _: True)
            self._hear(history)
            newest = next((item for item in reversed(history.items) if not self._waits(chat, item)), None)
            seq = real_seq(newest) if newest else NOTHING_YET
        except HistoryUnavailable as error:
            logger.info(f"no history: {error}")
        # QQ's clock decides, not ours; where it gives no numbers, what was said in the same second is old too
        at = newest["time"] * 1000 if newest else now
        await self._watermarks.start(self._database, chat, at, seq)

    def _hear(self, history: History) -> None:
        if self._heard is not None:
            for item in history.items:
                self._heard(item["time"] * 1000)

    def _waits(self, chat: str, item: Data) -> bool:
        """Whether the event of a history entry waits behind the gate."""
        inbound = to_inbound(item)
        return inbound is not None and self._queues.has(chat, inbound.key, inbound.twin)

    async def _pass_on(self, chat: str, item: Data, mark: Mark) -> None:
        if is_own(item) or str(item["user_id"]) in self._own_ids:
            if self._sent is not None and (sent := to_sent(item)) is not None:
                self._sent(sent)
            return
        if not _is_newer(item, mark):
            return
        inbound = to_inbound(item, made_up=True)
        if inbound is None or self._watermarks.seen(inbound):
            return
        if self._queues.has(chat, inbound.key, inbound.twin):
            return  # its event came too and waits behind the gate: not made up
        await self._hand_on(inbound)
        self._watermarks.note(inbound)

    async def _hand_on(self, inbound: Inbound) -> None:
        """Have a message handled. While the database takes nothing it waits: nobody would say it again."""
        while True:
            try:
                await self._handle(inbound)
            except StorageFailed as error:
                logger.warning(f"a message of {inbound.chat} from history waits for the database: {error}")
                await asyncio.sleep(STORE_RETRY)
            except Exception as error:
                return logger.opt(exception=error).error(f"a message of {inbound.chat} could not be handled")
            else:
                return


def _is_newer(item: Data, mark: Mark) -> bool:
    """Whether a message may not have been handled: events overtake each other, also before a restart."""
    seq = real_seq(item)
    return bool(seq is not None and mark.seq and seq > mark.seq) or not _is_before(item, mark)


def _is_before(item: Data, mark: Mark) -> bool:
    """Whether nothing older than this message is wanted."""
    return bool(item["time"] * 1000 < mark.at - OVERLAP_MS)


def _gap(history: History, mark: Mark, now: int) -> Gap | None:
    """Return what may be missing between the mark and a history read at `now` (ms).

    What begins in the overlap is not whole: the mark may have passed an event that was overtaken, and then lost.
    """
    items = history.items
    oldest, newest = (items[0]["time"] * 1000, items[-1]["time"] * 1000) if items else (now, now)
    if not history.reached and not history.exhausted:
        return Gap("broken" if history.broken else "limit", min(mark.at, oldest), oldest)
    if not history.reached and mark.seq != NOTHING_YET:
        return Gap("short", min(mark.at, oldest), oldest)
    if mark.seq:
        seqs = {seq for item in items if (seq := real_seq(item)) is not None and seq > mark.seq}
        missing = max(seqs, default=mark.seq) - mark.seq - len(seqs)
        if missing > 0:
            return Gap("holes", mark.at, newest, missing)
    return None
