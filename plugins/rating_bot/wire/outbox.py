"""The sender: takes committed outbox rows to QQ, each at most once unless QQ hides its history."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping

from nonebot.log import logger

from rating_core.failpoints import hit
from rating_core.store.database import Database
from rating_core.store.wire_store import ChatTable, OutboxTable, OutRow

from ..clock import Clock
from .failures import CLOSED, Failure, failure_of
from .history import Caller, HistoryUnavailable
from .lanes import Lane, expired, message_id_of, numbers_of, pause, send
from .lanes import Patience as Patience
from .messages import AT_MARK, Picture, Sent
from .queueing import Queueing
from .reconcile import OwnMessages
from .segments import Segment, picture_segments, to_segments
from .serving import Serving
from .unseen import Unseen

Alarm = Callable[[str, str, str], Awaitable[object]]
"""kind (failed | held | muted | kicked | risk | another), what it is about (short numbers, else the chat), detail."""

Draw = Callable[[Picture], Awaitable[bytes | None]]
"""Returns a picture as PNG; None where it cannot be drawn, or not soon enough."""

REFUSED = "refused: "
"""Begins the error of a row whose next attempt goes out as plain text."""
STORE_RETRY = 5.0
OFFLINE_RETRY = 1.0


class Sender:
    """Sends per chat in order, news before answers.

    `bots` gives the connected accounts, `interval` the seconds between two sends. Without `draw`,
    and where a picture cannot be drawn or QQ refuses it, the row's text goes out. `sure` tells a time (ms) that is not
    later than QQ's.
    """

    def __init__(
        self,
        database: Database,
        clock: Clock,
        *,
        bots: Callable[[], Mapping[str, Caller]],
        interval: float,
        alarm: Alarm,
        patience: Patience | None = None,
        draw: Draw | None = None,
        sure: Callable[[], int] | None = None,
    ) -> None:
        self._database = database
        self._draw = draw
        self._clock = clock
        self._sure = sure or clock.now
        self._interval = interval
        self._alarm = alarm
        self._patience = patience or Patience()
        self._serving = Serving(bots)
        self._own = OwnMessages(database, self._serving.own_ids)
        self._unseen = Unseen(self._own)
        self._lanes: dict[str, Lane] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._running = False

    # --- what others call -----------------------------------------------------------------------------------

    async def start(self) -> None:
        """Take up what an earlier process left; what it was sending may be out. Call it once, after migrations."""
        async with self._database.write() as connection:
            await OutboxTable(connection).recover()
        hit("after_recover")
        self._running = True
        self.wake()

    async def stop(self) -> None:
        """Finish the send under way, begin no other."""
        self._running = False
        tasks = {*self._tasks, *(lane.task for lane in self._lanes.values() if lane.task is not None)}
        for lane in self._lanes.values():
            lane.woken.set()
        if tasks:
            await asyncio.wait(tasks, timeout=self._patience.stop)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if marked := [lane.marked for lane in self._lanes.values() if lane.marked is not None]:
            async with self._database.write() as connection:
                for row in marked:
                    await OutboxTable(connection).mark_pending(row.outbox_id, attempts=row.attempts)

    @contextlib.contextmanager
    def queueing(self) -> Iterator[Queueing]:
        """Call it around a transaction: what it queues is sent when that has committed."""
        queueing = Queueing(self._lane, self._may_begin, self._sure)
        committed = False
        try:
            yield queueing
            committed = True
        finally:
            self.wake(queueing.chats)
            queueing.end(committed=committed)  # last: whoever queues something from here on ends `alone`

    def _lane(self, chat: str) -> Lane:
        return self._lanes.setdefault(chat, Lane(chat))

    def _may_begin(self, chat: str) -> bool:
        """Whether nothing but what is queued already keeps a chat waiting."""
        lane = self._lane(chat)
        resting = lane.paused or lane.doubted or lane.not_before > _loop_time()
        return self._running and not self._tasks and not resting and self._serving.any()

    def wake(self, chats: Iterable[str] | None = None) -> None:
        """Look for work in these chats, or in all; call it after each commit that queued something."""
        if not self._running:
            return
        if chats is None:
            task = asyncio.create_task(self._wake_all(), name="outbox")
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
            return
        for chat in sorted(chats):
            lane = self._lane(chat)
            lane.alone = False
            lane.woken.set()
            if lane.task is None:
                lane.task = asyncio.create_task(self._serve(lane), name=f"outbox {chat}")

    def connected(self, bot: Caller) -> None:
        """An account connected: go on everywhere, without waiting for retries."""
        self._serving.connected(bot.self_id)
        for lane in self._lanes.values():
            lane.go_on()
        self.wake()

    def saw(self, sent: Sent) -> None:
        """The client told of, or history showed, one of the bot's own messages."""
        self._own.saw(sent)
        self._unseen.saw(sent)
        if sent.chat in self._lanes:
            self._lanes[sent.chat].look_at.clear()
            self._lanes[sent.chat].woken.set()

    async def recognise(self, chat: str, message_id: str) -> None:
        """Somebody answers a message: if it is one of which QQ has not said that it is out, it is, under this id."""
        lane = self._lanes.get(chat)
        if not self._tasks and (lane is None or lane.task is None):
            return  # all that is known of is out
        if lane is not None and message_id in lane.out:
            return
        async with self._database.read() as connection:
            rows = await OutboxTable(connection).rows("sending", "unknown", chat=chat)
        bot = await self._serving.pick(chat) if rows else None
        if bot is not None and (row := await self._own.which(bot, rows, chat, message_id)) is not None:
            async with self._database.write() as connection:
                await OutboxTable(connection).mark_sent(row.outbox_id, message_id)
            self.wake([chat])

    async def resume(self, chat: str) -> None:
        """End the rest of a chat (the bot may speak again) and go on."""
        async with self._database.write() as connection:
            await ChatTable(connection).set_pause(chat, None)
        if chat in self._lanes:
            self._lanes[chat].go_on()
        self.wake([chat])

    async def idle(self) -> None:
        """Wait until everything that was queued is out; also for a chat that rests and for an account to connect."""
        while tasks := {*self._tasks, *(lane.task for lane in self._lanes.values() if lane.task is not None)}:
            await asyncio.wait(tasks)

    # --- one chat -------------------------------------------------------------------------------------------

    async def _wake_all(self) -> None:
        while self._running:
            try:
                async with self._database.read() as connection:
                    chats = await OutboxTable(connection).chats_with_work()
            except Exception as error:
                logger.opt(exception=error).error("the outbox could not be read; trying again")
                await asyncio.sleep(STORE_RETRY)
            else:
                self.wake(chats)
                return

    async def _serve(self, lane: Lane) -> None:
        try:
            while self._running:
                lane.woken.clear()
                try:
                    wait = await self._step(lane)
                except Exception as error:  # the database may be full or locked: nothing is lost, try again
                    logger.opt(exception=error).error(f"sending to {lane.chat} failed; trying again")
                    wait = STORE_RETRY
                if wait is None and not lane.woken.is_set():
                    return
                if wait:
                    await pause(lane.woken, wait)
        finally:
            lane.task = None

    async def _step(self, lane: Lane) -> float | None:
        """Do one thing. Return how long nothing else is to be done (seconds), None when all is done."""
        if lane.marked is not None:
            return await self._send_marked(lane, lane.marked)
        async with self._database.read() as connection:
            work = await OutboxTable(connection).work(lane.chat)
        row = work.following
        if not work.unclear and row is None:
            return None
        bot = await self._serving.pick(lane.chat)
        if bot is None or any(one.outbox_id in lane.unconfirmed for one in work.unclear):
            return float("inf")
        lane.paused = work.paused
        waits = []
        for one in work.unclear:
            wait, blocks = await self._settle(lane, bot, one)
            if blocks or wait == 0:
                return wait  # its fate is known soon: what follows waits, to keep the order
            waits.append(wait)
        if row is not None:
            if expired(row, self._clock.now()):
                async with self._database.write() as connection:
                    await OutboxTable(connection).mark_dropped(row.outbox_id)
                return 0.0
            wait = lane.not_before - _loop_time()
            if wait <= 0:
                await self._send(lane, bot, row)
                return 0.0
            waits.append(wait)
        return min(waits)

    async def _send_marked(self, lane: Lane, row: OutRow) -> float | None:
        lane.marked = None
        if (bot := await self._serving.pick(lane.chat)) is not None:
            if await self._send(lane, bot, row, marked=True) and lane.alone:
                return None  # of what was queued since, `woken` tells
        else:
            async with self._database.write() as connection:
                await OutboxTable(connection).mark_pending(row.outbox_id, attempts=row.attempts)
        return 0.0

    async def _send(self, lane: Lane, bot: Caller, row: OutRow, *, marked: bool = False) -> bool:
        """Send a row; return whether QQ took it."""
        decorated = bool(row.picture or row.quote or AT_MARK.search(row.text))
        as_plain = decorated and (row.error.startswith(REFUSED) or row.attempts >= 2)
        message = await self._message(row, as_plain)
        if not marked:
            async with self._database.write() as connection:
                await OutboxTable(connection).mark_sending(row.outbox_id, self._sure())
        lane.begun[row.outbox_id] = _loop_time()
        hit("before_send")
        try:
            answer = await send(bot, row.chat, message)
        except Exception as error:
            lane.not_before = _loop_time() + self._interval
            failure = failure_of(error)
            logger.warning(f"outbox {row.outbox_id} to {row.chat}: {failure.kind}: {failure.text}")
            await self._failed(lane, bot, row, failure, decorated and not as_plain)
            return False
        hit("after_send")
        lane.not_before = _loop_time() + (self._rest(lane) if lane.doubted else self._interval)
        message_id = message_id_of(answer)
        await self._sent(lane, row, message_id)
        self._unseen.taken(row, message_id, self._sure())
        hit("after_mark")
        return True

    async def _message(self, row: OutRow, as_plain: bool) -> list[Segment]:
        """Return what is sent of a row: its picture, else its text, with quote and mentions or without."""
        quote = None if as_plain else row.quote
        if row.picture and self._draw is not None and not as_plain:
            png = await self._draw(Picture.loads(row.picture))
            if png is not None:
                return picture_segments(png, row.caption, quote=quote)
        return to_segments(row.text, quote=quote, mentions=row.chat.startswith("g") and not as_plain)

    async def _sent(self, lane: Lane, row: OutRow, message_id: str) -> None:
        """Note that a row is out; until a power cut that takes it back, history tells the same."""
        async with self._database.write(note=True) as connection:
            await OutboxTable(connection).mark_sent(row.outbox_id, message_id)
            if lane.paused and not lane.doubted:
                await ChatTable(connection).set_pause(row.chat, None)
        lane.out.append(message_id)
        lane.pauses = lane.pauses if lane.doubted else 0
        for known in (lane.look_at, lane.looked, lane.begun):
            known.pop(row.outbox_id, None)

    async def _failed(self, lane: Lane, bot: Caller, row: OutRow, failure: Failure, can_be_plain: bool) -> None:
        """Decide what becomes of a row whose sending failed."""
        if failure.kind in CLOSED:
            await self._closed(lane, bot, row, failure)
        elif failure.kind == "offline":
            async with self._database.write() as connection:
                await OutboxTable(connection).mark_pending(row.outbox_id, row.error, attempts=row.attempts)
            lane.not_before = _loop_time() + OFFLINE_RETRY
        elif failure.kind == "unclear":
            async with self._database.write() as connection:
                await OutboxTable(connection).mark_unknown(row.outbox_id, failure.text)
        elif can_be_plain:
            async with self._database.write() as connection:
                await OutboxTable(connection).mark_pending(row.outbox_id, REFUSED + failure.text)
        else:
            await self._try_again(lane, row, row.attempts + 1, REFUSED + failure.text)

    async def _try_again(self, lane: Lane, row: OutRow, attempts: int, error: str) -> None:
        """Give a row that is certainly not out back to the queue, or give it up (the desk is told before)."""
        retry = self._patience.retry
        given_up = attempts > len(retry)
        if given_up and not expired(row, self._clock.now()):
            await self._tell(lane, ("failed", row.outbox_id), "failed", numbers_of(row), error)
        async with self._database.write() as connection:
            box = OutboxTable(connection)
            if expired(row, self._clock.now()):
                await box.mark_dropped(row.outbox_id)
                return
            await (box.mark_failed if given_up else box.mark_pending)(row.outbox_id, error)
        if not given_up:
            lane.not_before = max(lane.not_before, _loop_time() + retry[max(attempts, 1) - 1])

    async def _closed(self, lane: Lane, bot: Caller, row: OutRow, failure: Failure) -> None:
        """The chat takes nothing: keep its queue and let it rest, unless another account is in the group."""
        another = failure.kind == "kicked" and self._serving.lost(bot.self_id, row.chat)
        rest = self._rest(lane)
        if not another:  # at once: a new connection ends it, also while this is written down
            lane.pauses += 1
            lane.not_before = _loop_time() + rest
        if not another and not lane.paused:
            await self._tell(lane, None, failure.kind, "", failure.text)
        async with self._database.write() as connection:
            await OutboxTable(connection).mark_pending(row.outbox_id, row.error, attempts=row.attempts)
            if not another:
                until = self._clock.now() + int(rest * 1000)
                await ChatTable(connection).set_pause(row.chat, until, failure.kind)

    def _rest(self, lane: Lane) -> float:
        return self._patience.pause[min(lane.pauses, len(self._patience.pause) - 1)]

    async def look(self) -> None:
        """See whether what QQ took stands in the groups; where it does not, keep it and let the group rest."""
        for chat in self._unseen.due():
            lane, bot = self._lane(chat), await self._serving.pick(chat)
            if bot is None:
                continue
            found = await self._unseen.look(bot, chat)
            if found.another:
                await self._tell(lane, "another", "another", "", found.another[0].text.split("\n")[0])
            for row in found.gone:
                async with self._database.write() as connection:
                    await OutboxTable(connection).take_back(row)
            if found.gone:
                lane.doubted = True
                await self._closed(lane, bot, found.gone[0], Failure("risk", "taken, but not in the group's history"))
                lane.paused = True
                self.wake([chat])
            elif found.seen and lane.doubted:
                lane.doubted = False
                await self.resume(chat)

    async def _settle(self, lane: Lane, bot: Caller, row: OutRow) -> tuple[float, bool]:
        """Find out whether a row is out. Return how long to wait (0: decided) and whether the chat waits with it."""
        waits, looked = self._patience.look_again, lane.looked.get(row.outbox_id, 0)
        if (left := lane.look_at.get(row.outbox_id, 0.0) - _loop_time()) > 0:
            return left, looked < len(waits)
        try:
            found = await self._own.find(bot, row)
        except HistoryUnavailable as error:
            if error.offline:
                return OFFLINE_RETRY, True
            lane.looked[row.outbox_id] = looked + 1
            wait = waits[min(looked, len(waits) - 1)]
            lane.look_at[row.outbox_id] = _loop_time() + wait
            if row.state != "unknown":
                async with self._database.write() as connection:
                    await OutboxTable(connection).mark_unknown(row.outbox_id, row.error or str(error))
            if looked + 1 < len(waits):
                return wait, True
            await self._tell(lane, ("held", row.outbox_id), "held", numbers_of(row), str(error))
            return wait, False
        lane.look_at.pop(row.outbox_id, None)
        lane.looked.pop(row.outbox_id, None)
        if found is not None:
            hit("before_found")
            await self._sent(lane, row, found)
            return 0.0, True
        settle = self._patience.settle_picture if row.picture else self._patience.settle
        elapsed = max(0, self._sure() - (row.sending_at or 0)) / 1000
        age = _loop_time() - lane.begun.setdefault(row.outbox_id, _loop_time() - elapsed)
        if age < settle:
            return settle - age, True
        await self._try_again(lane, row, row.attempts, row.error)
        hit("before_resend")
        return 0.0, True

    async def _tell(self, lane: Lane, key: object, kind: str, about: str, detail: str) -> None:
        """Raise an alarm, once for each key (None: each time)."""
        if key in lane.alarmed:
            return
        if key is not None:
            lane.alarmed.add(key)
        logger.error(f"outbox {lane.chat} {about}: {kind}: {detail}")
        try:
            await self._alarm(kind, about or lane.chat, f"{lane.chat} {detail}")
        except Exception as error:
            logger.opt(exception=error).error("the desk could not be told")


def _loop_time() -> float:
    return asyncio.get_running_loop().time()
