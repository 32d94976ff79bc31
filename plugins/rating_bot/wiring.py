"""The one place where the parts are put together."""

import asyncio
import signal
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from nonebot.exception import AdapterException
from nonebot.log import logger

from plugins.rating_bot import jobs
from plugins.rating_bot.backups import DailyBackup
from plugins.rating_bot.clock import Clock, QQClock
from plugins.rating_bot.handlers.dispatch import Dispatcher, load_handlers
from plugins.rating_bot.handlers.makeup import merge_held
from plugins.rating_bot.integrity import Integrity
from plugins.rating_bot.pictures.painter import Painter
from plugins.rating_bot.runtime import BACKUPS, Runtime
from plugins.rating_bot.settings import Settings, data_folder, snapshot_file
from plugins.rating_bot.wire.files import GroupFiles
from plugins.rating_bot.wire.gapfill import Gap, GapFill
from plugins.rating_bot.wire.history import Caller
from plugins.rating_bot.wire.order import ChatQueues
from plugins.rating_bot.wire.outbox import Patience, Sender
from plugins.rating_bot.wire.segments import clean_card
from plugins.rating_bot.wire.watermarks import Watermarks
from plugins.rating_bot.wording import desk as wording
from rating_core.importing.detect import LARGEST
from rating_core.service.league import League
from rating_core.service.people import Member, admit_admins
from rating_core.store.database import Database, ProcessLock, StorageFailed
from rating_core.store.migrate import migrate
from rating_core.store.snapshot import Snapshot
from rating_core.store.wire_store import forget_chats
from rating_core.times import HOUR_MS

LOCK_POLL_SECONDS = 1.0
HELD_RETRY_SECONDS = 5.0


@dataclass(slots=True)
class Parts:
    """The running bot, without NoneBot: tests put the same parts together with their own clock and client."""

    runtime: Runtime
    database: Database
    lock: ProcessLock
    sender: Sender
    painter: Painter | None
    watermarks: Watermarks
    gapfill: GapFill
    dispatcher: Dispatcher
    integrity: Integrity
    backup: DailyBackup
    sure: Callable[[], int]
    """A time (ms) that is not later than QQ's: what cannot be undone is done by this."""
    caught_up: Callable[[], bool]
    """A QQ client is connected and what was said while none was has been handled: deadlines may be judged by now."""
    _tasks: set["asyncio.Future[Any]"]
    _clock_told: bool = False

    @classmethod
    async def start(
        cls, settings: Settings, clock: Clock, *, superusers: frozenset[str], queues: ChatQueues,
        bots: Callable[[], Mapping[str, Caller]], fresh_chats: bool = False, patience: Patience | None = None,
    ) -> "Parts":  # fmt: skip
        """Open and migrate the database, fold the book and take up the work an earlier process left.

        Waits as a standby while another process holds the database. `fresh_chats` (the sandbox) forgets what was
        said and what was to be sent: its chats begin empty with each start.
        """
        load_handlers()
        folder = data_folder(settings)
        database = await Database.open(settings.database_url)
        lock = ProcessLock(database)
        if not await lock.try_acquire():
            await _stand_by(lock)
        upgrade = await migrate(database, folder / BACKUPS)
        if upgrade is not None and upgrade.saved is not None:
            logger.info(f"数据库已升级，升级前的备份：{upgrade.saved}")
        elif upgrade is not None:
            logger.warning("数据库已升级；这台机器上没有 pg_dump，升级前没有备份。")
        if fresh_chats:
            async with database.write() as connection:
                await forget_chats(connection)
        snapshot = Snapshot(snapshot_file(settings))
        league = await League.open(database, clock.now, superusers, snapshot)
        if snapshot.refused:
            logger.warning(f"启动快照不能用（{snapshot.refused}），已删除，账本从头算过。")

        async def members(group: str) -> list[Member]:
            return await _members(next(iter(bots().values()), None), group, clock.now())

        tasks: set[asyncio.Future[Any]] = set()
        qq_clock = clock if isinstance(clock, QQClock) else None
        sure = qq_clock.sure if qq_clock else clock.now

        async def tell(kind: str, about: str, text: str) -> None:
            await jobs.alert(runtime, sender, kind, about, text)

        integrity = Integrity(league, tell)
        runtime = Runtime(league, settings, clock, folder, members, GroupFiles(bots, LARGEST), integrity.examine)

        async def alarm(kind: str, about: str, detail: str) -> None:
            if kind == "another":
                return await tell(kind, "", wording.another_bot())
            sender.wake(await jobs.tell_desk(runtime, kind, about, detail))

        async def missed(group: str, gap: Gap) -> None:
            async with league.transaction(entries=False) as tx:
                await tx.desk.add_docket("missed", "", wording.missed(group, gap), tx.now)

        painter = Painter() if settings.pictures else None
        sender = Sender(
            database, clock, bots=bots, interval=settings.send_interval, alarm=alarm, patience=patience,
            draw=None if painter is None else painter.draw, sure=sure,
        )  # fmt: skip

        def say_now(chat: str, text: str, quote: str | None) -> None:
            _spawn(tasks, _say(next(iter(bots().values()), None), chat, text, quote))

        watermarks = Watermarks(lambda: league.damage is not None)
        for mark in await watermarks.load(database):
            if qq_clock:
                qq_clock.heard(mark.at)

        def caught_up() -> bool:
            return bool(bots()) and not gapfill.reading

        dispatcher = Dispatcher(runtime, sender, watermarks, say_now, caught_up, sure)

        async def filled(group: str) -> None:
            logger.info(f"history of group {group} read")

        gapfill = GapFill(
            database, clock, groups=lambda: settings.groups, watermarks=watermarks, queues=queues,
            handle=dispatcher.handle, missed=missed, filled=filled, sent=sender.saw,
            done=_releasing(runtime, sender, sure, caught_up, tasks), heard=qq_clock.heard if qq_clock else None,
        )  # fmt: skip
        await sender.start()

        async def examine() -> None:
            if (await integrity.examine()).well:
                await league.save_snapshot()

        _spawn(tasks, examine())
        return cls(
            runtime, database, lock, sender, painter, watermarks, gapfill, dispatcher, integrity,
            DailyBackup(runtime, tell), sure, caught_up, tasks,
        )  # fmt: skip

    def connected(self, bot: Caller) -> None:
        """A QQ account connected: read what was missed, then send the merged answers, and go on sending."""
        filling = self.gapfill.connected(bot)
        self.sender.connected(bot)

        async def afterwards() -> None:
            await asyncio.wait([filling])
            await self._admit_admins()

        self.spawn(afterwards())

    async def _admit_admins(self) -> None:
        """Owner and admins of a scoring group are scorekeepers from the start."""
        try:
            found = [m for group in self.runtime.settings.scoring_groups for m in await self.runtime.members(group)]
            directory = self.runtime.league.directory
            if any(member.admin and not directory.actor(member.qq).desk for member in found):
                async with self.runtime.league.transaction() as tx:
                    await admit_admins(tx, found)
        except (AdapterException, StorageFailed) as error:
            logger.warning(f"who runs the scoring groups is not known: {error!r}")

    def spawn(self, work: Awaitable[Any]) -> None:
        """Run something in the background, at most until the bot stops."""
        _spawn(self._tasks, work)

    def unmuted(self, chat: str) -> None:
        """QQ lets the bot speak again in a group."""
        self.spawn(self.sender.resume(chat))

    def came_back(self, seconds: float, why: str) -> None:
        """QQ itself was away for so long while its client was connected, or until that connected anew."""
        self.spawn(jobs.tell_return(self.runtime, self.sender, seconds, why))

    async def tick(self) -> None:
        """Do what is due by now, while all that was said before is known; nothing while the ledger is damaged."""
        if self.runtime.league.damage is not None:
            await self.integrity.tell_damage()
        elif self.caught_up():
            await jobs.tick(self.runtime, self.sender, self.sure())

    async def _watch_clock(self) -> None:
        """Tell, once each time, that the machine's clock is wrong."""
        clock = self.runtime.clock
        ahead = clock.ahead() if isinstance(clock, QQClock) else None
        if ahead is not None and not self._clock_told:
            logger.error(f"the machine's clock is {ahead / HOUR_MS:.1f} h ahead of QQ's")
            await jobs.alert(self.runtime, self.sender, "clock", "", wording.clock_wrong(ahead))
        self._clock_told = ahead is not None

    async def flush(self) -> None:
        """Write the watermarks and look after clock and sends; where the database took nothing, try whether it does."""
        if self.database.failing:
            try:
                await self.database.try_writing()
            except StorageFailed:
                return  # /health tells
            logger.warning("the database takes writes again")
        await self.watermarks.flush(self.database)
        await self._watch_clock()
        await self.sender.look()

    async def stop(self) -> None:
        """End in order: no new work, finish what runs, write the watermarks, let go of the database."""
        await self.gapfill.stop()
        await self.dispatcher.finish()
        await self.sender.stop()
        if self.painter is not None:
            await self.painter.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        try:
            await self.flush()
            if self.integrity.last is not None and self.integrity.last.well:
                await self.runtime.league.save_snapshot()
        finally:
            await self.lock.release()
            await self.database.close()


def _releasing(
    runtime: Runtime,
    sender: Sender,
    sure: Callable[[], int],
    caught_up: Callable[[], bool],
    tasks: set["asyncio.Future[Any]"],
) -> Callable[[], Awaitable[None]]:
    """Return what is to be done after an outage, once history was handled: what is due by now, the merged answers."""

    async def release() -> None:
        if caught_up() and runtime.league.damage is None:
            await jobs.tick(runtime, sender, sure(), held=True)
        sender.wake(await merge_held(runtime))

    async def later() -> None:
        while True:
            await asyncio.sleep(HELD_RETRY_SECONDS)
            with suppress(StorageFailed):
                return await release()

    async def done() -> None:
        try:
            await release()
        except StorageFailed as error:
            logger.warning(f"the answers to what was made up for wait: {error}")
            _spawn(tasks, later())

    return done


async def _stand_by(lock: ProcessLock) -> None:
    """Wait until the other process is gone.

    The server only notes a signal until the start is over. Nothing is held yet that wants an orderly end, so let
    SIGTERM and Ctrl+C end a standby at once.
    """
    before = {number: signal.signal(number, signal.SIG_DFL) for number in (signal.SIGINT, signal.SIGTERM)}
    logger.warning("另一个机器人进程正在使用这个数据库；本进程等它结束后接手。")
    try:
        await lock.acquire(LOCK_POLL_SECONDS)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    logger.warning("那个进程结束了，现在由本进程接手。")


def _spawn(tasks: set["asyncio.Future[Any]"], work: Awaitable[Any]) -> None:
    """Run something in the background; its failure is logged."""

    async def guarded() -> None:
        try:
            await work
        except Exception as error:
            logger.opt(exception=error).error("background work failed")

    task = asyncio.ensure_future(guarded())
    tasks.add(task)
    task.add_done_callback(tasks.discard)


async def _say(bot: Caller | None, chat: str, text: str, quote: str | None) -> None:
    """Speak at once, without the outbox and without trying again: used when the database takes nothing."""
    if bot is None:
        return
    reply: list[dict[str, Any]] = [{"type": "reply", "data": {"id": quote}}] if quote else []
    message = [*reply, {"type": "text", "data": {"text": text}}]
    if chat.startswith("g"):
        await bot.call_api("send_group_msg", group_id=int(chat[1:]), message=message)
    else:
        await bot.call_api("send_private_msg", user_id=int(chat[1:]), message=message)


async def _members(bot: Caller | None, group: str, now: int) -> list[Member]:
    """Return a group's members as QQ tells; who joined at an unknown time counts as new.

    Raises an adapter error when QQ does not tell.
    """
    from nonebot.adapters.onebot.v11 import NetworkError

    if bot is None:
        raise NetworkError("no QQ client is connected")
    answer = await bot.call_api("get_group_member_list", group_id=int(group))
    return [
        Member(
            str(item["user_id"]),
            clean_card(item.get("card"), item.get("nickname")),
            int(item.get("join_time") or 0) * 1000 or now,
            item.get("role") in ("owner", "admin"),
        )
        for item in answer
    ]
