"""The line between a QQ in memory and the bot: events and calls travel over it, and it is as bad as its weather."""

import asyncio
import random
from collections.abc import Callable
from typing import Any

from nonebot.adapters.onebot.v11 import ActionFailed, ApiNotAvailable, NetworkError

from plugins.rating_bot.sandbox import actions
from plugins.rating_bot.sandbox.faults import Faults
from plugins.rating_bot.sandbox.onebot import message_event, notice_event
from plugins.rating_bot.sandbox.qq import FakeQQ
from plugins.rating_bot.sandbox.values import Happened
from plugins.rating_bot.wire.link import ConnectionLost, result_of
from tests.reliability.sim.database import Killed
from tests.reliability.sim.weather import API_TIMEOUT, LATE, SLOW, Weather

SENDS = ("send_group_msg", "send_private_msg")
Event = dict[str, Any]


class Line:
    """One account's connection. `deliver` takes an event on the bot's side, with what happened."""

    def __init__(self, qq: FakeQQ, weather: Weather, rng: random.Random, deliver: Callable[[Event, Happened], None],
                 trace: Callable[[str], None]) -> None:  # fmt: skip
        self.qq = qq
        self.weather = weather
        self.faults = Faults()
        self.up = False
        self.half_open = False
        """Nothing passes any more, and nobody has noticed."""
        self.kind = False
        """Nothing goes wrong any more."""
        self.cuts = 0
        self.dropped: set[int] = set()
        """Ids of messages whose event was dropped while the connection stood."""
        self._rng = rng
        self._deliver = deliver
        self._trace = trace
        self._actions = actions.Actions(qq, self.faults, weather.style)
        self._waiting: set[asyncio.Future[Any]] = set()
        qq.subscribe(self._happened)

    # --- the connection -----------------------------------------------------------------------------------

    def connect(self) -> None:
        self.up = True

    def cut(self) -> None:
        """The connection goes; what is under way on it, too."""
        self.up = self.half_open = False
        self.cuts += 1
        for future in self._waiting:
            if not future.done():
                future.set_exception(ConnectionLost("cut"))
        self._waiting.clear()

    # --- events -------------------------------------------------------------------------------------------

    def _happened(self, happened: Happened) -> None:
        if not self.up:
            return
        own = happened.user_id == self.qq.self_id
        if happened.kind == "message" and happened.message is not None:
            if own and not self.weather.own_messages:
                return
            event: Event | None = message_event(self.qq, happened.message, self.weather.style)
        else:
            event = notice_event(self.qq, happened, self.weather.style)
        if event is None:
            return
        if not self.kind and self._rng.random() < self.weather.dropped:
            self._trace(f"QQ drops the event of {_short(happened)}")
            if happened.kind == "message" and happened.message is not None:
                self.dropped.add(happened.message.message_id)
            return
        self._push(event, happened)

    def _push(self, event: Event, happened: Happened) -> None:
        loop, weather, rng = asyncio.get_running_loop(), self.weather, self._rng
        connection = self.cuts

        def arrive() -> None:
            if self.up and not self.half_open and self.cuts == connection:
                self._deliver(event, happened)

        delay = rng.uniform(0.005, 0.05)
        if not self.kind and rng.random() < weather.late:
            delay = rng.uniform(0.05, LATE)
        loop.call_later(delay, arrive)
        if not self.kind and rng.random() < weather.twice:
            loop.call_later(delay + rng.choice((0.0, 0.5, 20.0, 300.0)), arrive)

    # --- calls --------------------------------------------------------------------------------------------

    async def call(self, api: str, data: dict[str, Any]) -> Any:
        """Carry a call to QQ and its answer back. Raises what the adapter would raise."""
        if not self.up:
            raise ApiNotAvailable
        loop, rng, weather = asyncio.get_running_loop(), self._rng, self.weather
        answer: asyncio.Future[Any] = loop.create_future()
        self._waiting.add(answer)
        lost = "" if self.kind or rng.random() >= weather.call_lost else rng.choice(("call", "answer"))
        there = rng.uniform(0.01, 0.1) if self.kind or rng.random() >= weather.slow else rng.uniform(0.1, SLOW)

        def arrive() -> None:
            if self.half_open or (lost == "call"):
                self._trace(f"QQ never gets {api}")
                return
            result = self._answer(api, data)
            if lost == "answer":
                self._trace(f"QQ does not answer {api}")
            else:
                loop.call_later(0.01, lambda: None if answer.done() or self.half_open else answer.set_result(result))

        loop.call_later(there, arrive)
        try:
            async with asyncio.timeout(API_TIMEOUT):
                return result_of(await answer)
        except TimeoutError:
            raise NetworkError(f"{api}: no answer") from None
        finally:
            self._waiting.discard(answer)

    def _answer(self, api: str, data: dict[str, Any]) -> dict[str, Any]:
        """Let QQ do what a call asks for; return the frame it answers with."""
        unclear = ""
        if api in SENDS and not self.kind and self._rng.random() < self.weather.send_unclear:
            unclear = self._rng.choice(("lose_sends", "fail_delivered"))
            setattr(self.faults, unclear, 1)
        try:
            found = self._actions.answer(api, data)
        except actions.ActionFailed as error:
            self._trace(f"QQ refuses {api}: {error.retcode} {str(error)[:60]!r}")
            return {"status": "failed", "retcode": error.retcode, "message": str(error), "data": None}
        finally:
            if unclear:
                setattr(self.faults, unclear, 0)
        return {"status": "ok", "retcode": 0, "data": found}


class Caller:
    """A connected account as one life of the bot sees it."""

    def __init__(self, line: Line, alive: Callable[[], bool]) -> None:
        self.self_id = str(line.qq.self_id)
        self._line = line
        self._alive = alive

    async def call_api(self, api: str, **data: Any) -> Any:
        if not self._alive():
            raise Killed
        try:
            answer = await self._line.call(api, data)
        except Exception:
            if not self._alive():
                raise Killed from None
            raise
        if not self._alive():
            raise Killed
        return answer


def _short(happened: Happened) -> str:
    message = happened.message
    return happened.kind if message is None else f"{happened.kind} {message.message_id}"


__all__ = ["ActionFailed", "Caller", "Line"]
