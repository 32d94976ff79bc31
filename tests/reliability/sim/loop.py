"""An event loop with a clock of its own and a seeded scheduler: one seed, one order of everything.

Time stands still while anything is ready to run and jumps to the next timer when nothing is, so an hour costs
nothing. What asyncio leaves open, which of the tasks that are ready goes first, is drawn from the seed.
"""

import asyncio
import contextvars
import random
from collections.abc import Callable, Coroutine
from typing import Any

OWNER: contextvars.ContextVar[object] = contextvars.ContextVar("OWNER", default=None)
"""To whom the running code belongs; a task inherits it from whoever made it."""


class Stuck(Exception):
    """Nothing is ready and no timer is set: the simulation would wait for ever."""


class SimTask(asyncio.Task[Any]):
    """A task whose hash is its number: sets of tasks, of which the bot has many, are gone through in one order."""

    def __init__(self, coroutine: Coroutine[Any, Any, Any], *, loop: "VirtualLoop", **options: Any) -> None:
        loop.tasks_made += 1
        self.number = loop.tasks_made
        self.owner = OWNER.get()
        super().__init__(coroutine, loop=loop, **options)

    def __hash__(self) -> int:
        return self.number


class _Selector:
    """Stands where asyncio waits for sockets: nothing ever comes from outside, so it only lets time pass."""

    def __init__(self, loop: "VirtualLoop") -> None:
        self._loop = loop

    def select(self, timeout: float | None) -> list[object]:
        self._loop.turn(timeout)
        return []

    def close(self) -> None:
        pass


class VirtualLoop(asyncio.BaseEventLoop):
    """Runs in virtual time. `shuffle`: how often ready callbacks change places (0 to 1)."""

    def __init__(self, rng: random.Random, shuffle: float) -> None:
        super().__init__()
        self._selector = _Selector(self)
        self._now = 0.0
        self._rng = rng
        self._shuffle = shuffle
        self.tasks_made = 0
        self.turns = 0
        self.set_task_factory(lambda loop, coroutine, **options: SimTask(coroutine, loop=self, **options))  # type: ignore[arg-type]

    def time(self) -> float:
        return self._now

    def turn(self, timeout: float | None) -> None:
        """Before a round of callbacks: let time jump where nothing is ready, else draw who goes first."""
        self.turns += 1
        if timeout is None:
            raise Stuck(f"at {self._now:.3f} s nothing is left to do")
        if timeout > 0:
            self._now = max(self._now, self._scheduled[0].when())  # type: ignore[attr-defined]
            return
        ready = self._ready  # type: ignore[attr-defined]
        if len(ready) > 1 and self._rng.random() < self._shuffle:
            handles = list(ready)
            self._rng.shuffle(handles)
            ready.clear()
            ready.extend(handles)

    def run_in_executor(self, executor: Any, func: Callable[..., Any], *args: Any) -> Any:
        """Run it here and now: there are no threads in a simulation."""
        done = self.create_future()
        try:
            done.set_result(func(*args))
        except Exception as error:
            done.set_exception(error)
        return done

    def _process_events(self, event_list: list[object]) -> None:
        pass

    def _write_to_self(self) -> None:
        pass

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """What a killed bot leaves behind is nobody's matter; all else is found by the checks."""
