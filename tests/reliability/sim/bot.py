"""One life of the bot after the other: the product's parts on one file, started, stopped and killed."""

import asyncio
import contextvars
import random
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any
from unittest import mock

from plugins.rating_bot import wiring
from plugins.rating_bot.clock import Clock
from plugins.rating_bot.settings import Settings
from plugins.rating_bot.wire.inbound import chat_of, is_own, to_inbound, to_sent
from plugins.rating_bot.wire.order import ChatQueues
from plugins.rating_bot.wire.outbox import Patience
from plugins.rating_bot.wire.repair import repair
from plugins.rating_bot.wiring import Parts
from tests.reliability.sim.database import Disk, Engines, Killed, NoLock
from tests.reliability.sim.line import Caller, Line
from tests.reliability.sim.loop import OWNER, SimTask

TICK_SECONDS, FLUSH_SECONDS = 30, 5
"""As plugins.rating_bot.app has them, which is not imported: it wants a driver."""


PATIENCE = Patience(look_again=(1.0, 3.0, 3600.0))
"""Days go by in a simulation: QQ is not asked each minute for history that it does not give."""


class Life:
    """One process of the bot, from start to stop or kill."""

    def __init__(self, disk: Disk, line: Line, begun: float) -> None:
        self.disk = disk
        self.begun = begun
        self.ended: float | None = None
        self.parts: Parts | None = None
        self.queues = ChatQueues()
        self.caller = Caller(line, lambda: not disk.dead)
        self.noting = True
        """Whether what was handled still counts as read (app.Engine.down)."""
        self.context = contextvars.copy_context()
        self.context.run(OWNER.set, self)
        self._line = line

    def bots(self) -> dict[str, Any]:
        return {self.caller.self_id: self.caller} if self._line.up and not self.disk.dead else {}

    def spawn(self, work: Coroutine[Any, Any, Any]) -> "asyncio.Task[Any]":
        return self.context.run(asyncio.get_running_loop().create_task, work)

    def push(self, data: dict[str, Any]) -> bool:
        """Take an event as the adapter does (wire.adapter); return whether it is queued for the handlers."""
        return self.context.run(self._push, data)

    def _push(self, data: dict[str, Any]) -> bool:
        parts, fixed = self.parts, repair(data, now=0)
        if parts is None or fixed is None:
            return False
        if is_own(fixed):
            if (sent := to_sent(fixed)) is not None:
                parts.sender.saw(sent)
            return False
        if fixed.get("notice_type") == "group_ban":
            parts.unmuted(chat_of(fixed))
        inbound = to_inbound(fixed)
        if inbound is None:
            return False

        async def work() -> None:
            await parts.dispatcher.handle(inbound)
            if self.noting:
                parts.watermarks.note(inbound)

        return self.queues.submit(inbound.chat, work, user=inbound.user, keys=(inbound.key, inbound.twin))


class Bot:
    """The bot over its lives. `nap(seconds)` gives how long a job of so many seconds really sleeps."""

    def __init__(
        self, file: Path, settings: Settings, clock: Clock, line: Line, rng: random.Random, *, give_way: float,
        superusers: frozenset[str], nap: Callable[[float], float], committed: Callable[[Any, set[str]], None],
    ) -> None:  # fmt: skip
        self.life: Life | None = None
        self.lives: list[Life] = []
        self._file = file
        self._settings = settings
        self._clock = clock
        self._line = line
        self._rng = rng
        self._chance = give_way
        self._superusers = superusers
        self._nap = nap
        self._committed = committed

    @property
    def stopping(self) -> bool:
        """Whether it was told to end, and has not ended yet."""
        return self.life is not None and not self.life.noting

    async def _give_way(self) -> None:
        draw = self._rng.random()
        if draw < self._chance:
            await asyncio.sleep(0 if draw < 0.7 * self._chance else self._rng.uniform(0.0, 0.02))

    async def up(self) -> bool:
        """Start it; False when it was killed on the way."""
        loop = asyncio.get_running_loop()
        disk = Disk(self._file, self._give_way, self._committed)
        life = self.life = Life(disk, self._line, loop.time())
        disk.on_fuse = self.kill
        self.lives.append(life)
        try:
            life.parts = await life.spawn(
                Parts.start(
                    self._settings, self._clock, superusers=self._superusers, queues=life.queues, bots=life.bots,
                    patience=PATIENCE,
                )
            )  # fmt: skip
        except (Killed, asyncio.CancelledError):
            return False
        life.spawn(self._jobs(life.parts))
        life.spawn(self._flushes(life.parts))
        return True

    def connected(self) -> None:
        """The client connected: before any event is handled."""
        life = self.life
        if life is not None and life.parts is not None:
            life.context.run(life.parts.connected, life.caller)

    async def _jobs(self, parts: Parts) -> None:
        while True:
            await asyncio.sleep(self._nap(TICK_SECONDS))
            await parts.tick()

    async def _flushes(self, parts: Parts) -> None:
        while True:
            await asyncio.sleep(self._nap(FLUSH_SECONDS))
            await parts.flush()

    def kill(self) -> None:
        """As kill -9: nothing more happens in this life, what was committed stays."""
        life, self.life = self.life, None
        if life is None:
            return
        life.disk.close()
        life.ended = asyncio.get_running_loop().time()
        self._line.cut()
        for task in self._tasks_of(life):
            task.cancel()

    async def down(self) -> None:
        """As SIGTERM: end in order (app.Engine.down). Also where it is killed on the way."""
        life = self.life
        if life is None or life.parts is None:
            return self.kill()
        self._line.cut()
        life.noting = False
        try:
            await life.spawn(self._stop(life, life.parts))
        except (Killed, asyncio.CancelledError):
            return
        life.ended = asyncio.get_running_loop().time()
        for task in self._tasks_of(life):
            task.cancel()
        if self.life is life:
            self.life = None

    @staticmethod
    async def _stop(life: Life, parts: Parts) -> None:
        await life.queues.close()
        await parts.stop()

    @staticmethod
    def _tasks_of(life: Life) -> list[SimTask]:
        tasks = [task for task in asyncio.all_tasks() if isinstance(task, SimTask) and task.owner is life]
        return sorted(tasks, key=lambda task: task.number)


def installed() -> Any:
    """Let `Parts.start` open the simulated disk of the life that starts; it is migrated, no process competes."""

    def disk() -> Disk:
        life = OWNER.get()
        assert isinstance(life, Life)
        return life.disk

    engines = Engines(disk)

    async def open_database(_url: str) -> Any:
        return engines.open()

    async def migrated(*_: Any) -> None:
        return None

    database = mock.Mock(open=open_database)
    return mock.patch.multiple(wiring, Database=database, ProcessLock=NoLock, migrate=migrated)
