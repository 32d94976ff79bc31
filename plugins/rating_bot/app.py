"""The bot as a NoneBot application: which mode, which adapter, what happens at start, by the clock and at the end."""

import asyncio
import gc
import os
import secrets
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import nonebot
from nonebot.log import logger
from pydantic import BaseModel, Field, ValidationError

from plugins.rating_bot import jobs, logs, running
from plugins.rating_bot.clock import Clock, QQClock, ShiftedClock, SystemClock
from plugins.rating_bot.health import HealthPage
from plugins.rating_bot.settings import Settings, SettingsError, check
from plugins.rating_bot.wire.adapter import UVICORN_OPTIONS, RatingAdapter, RatingBot
from plugins.rating_bot.wiring import Parts
from rating_core.discretion import PSEUDONYMS
from rating_core.roster import warm_up
from rating_core.store.backup import BackupFailed
from rating_core.store.database import ProcessLock, StorageFailed
from rating_core.store.migrate import SchemaTooNew

if TYPE_CHECKING:
    from plugins.rating_bot.sandbox import Sandbox

__all__ = ["SettingsError", "prepare"]

TICK_SECONDS = 30
WARM_UP_SECONDS = 5
"""After the start: what the first misspelt name would wait for."""
FLUSH_SECONDS = 5
LOOK_SECONDS = 5.0
LOCK_LOST = 75
"""Exit code where PostgreSQL's lock was lost (sysexits: a temporary failure)."""


class _Config(BaseModel):
    """What stands in the environment is in nobody's model but this one; NoneBot's own config only knows .env."""

    tiaoqi: Settings = Field(default_factory=Settings)
    onebot_access_token: str | None = None


def _settings() -> tuple[Settings, str]:
    try:
        config = nonebot.get_plugin_config(_Config)
        return config.tiaoqi, (config.onebot_access_token or "").strip()
    except ValidationError as error:
        first = error.errors()[0]
        name = "__".join(str(part) for part in first["loc"][:2]).upper()
        raise SettingsError(f"设置 {name} 写得不对：{first['msg']}。写法见 .env.example。") from None


def prepare() -> dict[str, Any]:
    """Set the application up after nonebot.init(); return the options for nonebot.run(). Raises SettingsError."""
    logs.install()
    settings, token = _settings()
    sandbox = not token and not settings.groups
    if sandbox:
        settings = _sandbox_settings(settings)
    PSEUDONYMS.publish(settings.groups)
    if sandbox:
        _install(settings, secrets.token_urlsafe(24), ShiftedClock(SystemClock()))
    else:
        check(settings, token)
        _install(settings, token, None)
    return dict(UVICORN_OPTIONS)


def _sandbox_settings(settings: Settings) -> Settings:
    """The sandbox: on 127.0.0.1 only, with its own groups, superuser and database. Raises SettingsError."""
    from plugins.rating_bot.sandbox import own_book, scene

    if "database_url" in settings.model_fields_set:
        logger.warning("沙盒不用 TIAOQI__DATABASE_URL，只用自己的 data/sandbox.db")
    config = nonebot.get_driver().config
    config.host = "127.0.0.1"  # type: ignore[assignment]
    config.superusers = {str(scene.SUPERUSER)}
    settings = settings.model_copy(
        update={
            "official_groups": {str(scene.OFFICIAL): "单跳1v1"},
            "scoring_groups": (str(scene.SCORING),),
            "database_url": own_book.URL,
            "send_interval": 0.0,
            "bot_ids": (str(scene.BOT),),
        }
    )
    try:
        own_book.own_book(settings)
    except own_book.NotOurs as error:
        raise SettingsError(str(error)) from None
    return settings


def _install(settings: Settings, token: str, sandbox_clock: ShiftedClock | None) -> None:
    """Register the adapter and the hooks. `sandbox_clock` is given in the sandbox only."""
    driver = nonebot.get_driver()
    RatingAdapter.access_token = token
    RatingAdapter.allowed_self_ids = frozenset(settings.bot_ids)
    driver.register_adapter(RatingAdapter)
    nonebot.require("nonebot_plugin_apscheduler")
    from nonebot_plugin_apscheduler import scheduler

    superusers = frozenset(str(user) for user in driver.config.superusers)
    clock = sandbox_clock or QQClock(SystemClock())
    engine = Engine(settings, clock, superusers, fresh_chats=sandbox_clock is not None)
    box: list[Sandbox] = []

    @driver.on_startup
    async def start() -> None:
        try:
            await engine.up()
        except (SchemaTooNew, BackupFailed, StorageFailed) as error:
            logger.error(_why_not(error))
            raise
        _schedule(scheduler, engine)
        pulses = nonebot.get_adapter(RatingAdapter).pulses
        nonebot.get_app().router.routes.append(HealthPage(lambda: running.parts, pulses, clock).route())
        if sandbox_clock is not None or settings.public_site:
            _open_pages(clock)
        if sandbox_clock is not None:
            box.append(await _start_sandbox(engine, sandbox_clock, token))

    @driver.on_shutdown
    async def stop() -> None:
        for sandbox_ in box:
            await sandbox_.stop()
        await engine.down()


class Engine:
    """The running parts, and how NoneBot reaches them. The sandbox takes them down and up again to begin anew."""

    def __init__(self, settings: Settings, clock: Clock, superusers: frozenset[str], *, fresh_chats: bool) -> None:
        self.settings = settings
        self._clock = clock
        self._superusers = superusers
        self._fresh_chats = fresh_chats
        self._under_way: set[asyncio.Future[object]] = set()

    @property
    def parts(self) -> Parts:
        """The running parts; only between `up` and `down`."""
        assert running.parts is not None
        return running.parts

    async def up(self) -> None:
        """Open the database and let messages in. Raises SchemaTooNew or StorageFailed."""
        if not gc.isenabled():  # since bot.py began
            gc.freeze()  # what was imported stays
            gc.enable()
        adapter = nonebot.get_adapter(RatingAdapter)
        parts = await Parts.start(
            self.settings, self._clock, superusers=self._superusers, queues=adapter.queues, bots=_bots,
            fresh_chats=self._fresh_chats,
        )  # fmt: skip
        running.parts = parts
        gc.collect()
        gc.freeze()  # the Book stays: the collector need not walk through it, for up to some 100 ms each time
        parts.spawn(_end_without(parts.lock))
        adapter.on_connect = parts.connected
        adapter.on_sent = parts.sender.saw
        adapter.on_handled = parts.watermarks.note
        adapter.on_shed = parts.dispatcher.shed
        adapter.on_unmuted = parts.unmuted
        adapter.on_return = parts.came_back
        adapter.clock = self._clock if isinstance(self._clock, QQClock) else None
        parts.spawn(_every(TICK_SECONDS, self.job(Parts.tick)))
        parts.spawn(_every(FLUSH_SECONDS, self.job(Parts.flush)))

    async def down(self) -> None:
        """Finish what is under way and close the database; nothing happens where it is closed already."""
        parts, running.parts = running.parts, None
        if parts is None:
            return
        # what is still queued is not handled any more: it must not count as read, or the next start passes over it
        nonebot.get_adapter(RatingAdapter).on_handled = None
        nonebot.get_adapter(RatingAdapter).on_shed = None
        await asyncio.gather(*self._under_way, return_exceptions=True)
        await parts.stop()

    async def idle(self) -> None:
        """Wait until all that came in is handled and all that was to be said is out."""
        await nonebot.get_adapter(RatingAdapter).queues.idle()
        await self.parts.sender.idle()

    def job(self, work: Callable[[Parts], Awaitable[object]]) -> Callable[[], Awaitable[None]]:
        """Return what the scheduler runs: `work` with the running parts, nothing while there are none."""

        async def run() -> None:
            if running.parts is not None:
                task = asyncio.ensure_future(work(running.parts))
                self._under_way.add(task)
                task.add_done_callback(self._under_way.discard)
                await task

        return run


def _open_pages(clock: Clock) -> None:
    """Add the public pages, under /board/ alone: mounted at / they would hide the door."""
    from plugins.rating_bot import site

    site.install(nonebot.get_app(), lambda: running.parts.runtime.league if running.parts else None, clock.now)


def _why_not(error: Exception) -> str:
    """Say in words why the database cannot be used; what is raised follows in the log."""
    if isinstance(error, SchemaTooNew):
        return f"没有启动：数据库是更新的版本写的（{error}）。请换回新版本，或者用升级前的备份。"
    if isinstance(error, BackupFailed):
        return f"没有启动：升级数据库之前的备份没有做成（{error}），所以没有升级。"
    return f"没有启动：数据库打不开（{error}）。请检查磁盘空间、文件权限和 TIAOQI__DATABASE_URL。"


async def _end_without(lock: ProcessLock) -> None:
    """End at once when the database's lock is gone, as kill -9 would: another process may be the bot by now.

    Whoever keeps this process running starts it again, and it stands by or goes on from what the database holds.
    """
    await lock.until_lost(LOOK_SECONDS)
    logger.critical("和数据库的连接断了，它带着的锁也没有了：本进程结束，由守护程序重新启动。")
    os._exit(LOCK_LOST)


def _bots() -> dict[str, RatingBot]:
    """The accounts through which QQ can be reached now."""
    pulses = nonebot.get_adapter(RatingAdapter).pulses
    bots = {self_id: bot for self_id, bot in nonebot.get_bots().items() if isinstance(bot, RatingBot)}
    return {self_id: bot for self_id, bot in bots.items() if pulses.is_online(self_id)}


async def _every(seconds: float, work: Callable[[], Awaitable[None]]) -> None:
    """Do it again and again, whatever is done to the machine's clock (the scheduler waits until it is so late)."""
    while True:
        await asyncio.sleep(seconds)
        try:
            await work()
        except Exception as error:
            logger.opt(exception=error).error("a job failed")


def _schedule(scheduler: Any, engine: Engine) -> None:
    """Daily jobs; one that was late runs once, however late."""
    options = {"misfire_grace_time": None, "coalesce": True, "max_instances": 1}
    daily = {**options, "timezone": "Asia/Shanghai", "hour": 4}
    morning = {**daily, "hour": jobs.DIGEST_HOUR}
    scheduler.add_job(engine.job(lambda parts: parts.backup.run()), "cron", minute=0, **options)
    scheduler.add_job(engine.job(lambda parts: jobs.forget_raw(parts.runtime)), "cron", minute=30, **options)
    scheduler.add_job(engine.job(lambda parts: jobs.digest(parts.runtime, parts.sender)), "cron", **morning)

    async def look() -> None:
        scheduler.wakeup()  # it sleeps until it is so late by the machine's clock, which may be put right meanwhile

    async def warm() -> None:
        await asyncio.sleep(WARM_UP_SECONDS)
        await asyncio.to_thread(warm_up)

    engine.parts.spawn(_every(TICK_SECONDS, look))
    engine.parts.spawn(warm())


async def _start_sandbox(engine: Engine, clock: ShiftedClock, token: str) -> "Sandbox":
    from plugins.rating_bot import sandbox
    from plugins.rating_bot.seeding import seed_league

    config = nonebot.get_driver().config
    box = await sandbox.start(nonebot.get_app(), engine, clock, seed_league, port=config.port, token=token)

    async def announce() -> None:
        await box.client.connected()  # what is said before is old to the bot
        logger.opt(colors=True).success(
            f"沙盒已就绪，用浏览器打开 <u>http://127.0.0.1:{config.port}/</u> ；不会连任何QQ，只改 data/sandbox.db"
        )

    engine.parts.spawn(announce())
    return box
