"""A QQ client in this process: OneBot v11 over a reverse WebSocket, as NapCat would connect to the bot."""

import asyncio
import contextlib
import json
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

from .actions import ActionFailed, Actions, NoAnswer
from .faults import Faults
from .onebot import Event, Style, heartbeat_event, lifecycle_event, message_event, notice_event
from .qq import FakeMessage, FakeQQ
from .values import Happened

__all__ = ["Call", "FakeClient", "Faults", "Style"]

CALLS_KEPT = 10_000


@dataclass(frozen=True, slots=True)
class Call:
    """One action the bot called, and the answer it got (None: none)."""

    action: str
    params: dict[str, Any]
    answer: dict[str, Any] | None


class FakeClient:
    """Connects `qq` to the bot at `url` and stays connected until stopped; all times in seconds.

    What is said while it is offline or the connection is down is in history and never pushed.
    """

    def __init__(
        self,
        qq: FakeQQ,
        url: str,
        *,
        token: str = "",
        style: Style = "napcat",
        faults: Faults | None = None,
        heartbeat: float = 30,
        retry: float = 0.2,
        self_id: int | None = None,
    ):
        self.qq = qq
        self.url = url
        self.faults = faults or Faults()
        self.style = style
        self.calls: deque[Call] = deque(maxlen=CALLS_KEPT)
        self.last_error: Exception | None = None
        self._headers = {"X-Self-ID": str(self_id or qq.self_id), "X-Client-Role": "Universal"}
        if token:
            self._headers["Authorization"] = f"Bearer {token}"
        self._actions = Actions(qq, self.faults, style)
        self._heartbeat = heartbeat
        self._retry = retry
        self._ws: ClientConnection | None = None
        self._outgoing: asyncio.Queue[str] = asyncio.Queue()
        self._held: list[Event] = []
        self._wanted, self._up, self._down = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self._called = asyncio.Condition()
        self._task: asyncio.Task[None] | None = None
        self._unsubscribe: Callable[[], None] = lambda: None

    # --- the connection -----------------------------------------------------------------------------------

    async def start(self, timeout: float | None = 10) -> None:
        """Connect; with `timeout` None return at once and keep trying, else as `connected`."""
        self._wanted.set()
        self._unsubscribe = self.qq.subscribe(self._on)
        self._task = asyncio.create_task(self._run(), name="fake QQ client")
        if timeout is not None:
            await self.connected(timeout)

    async def stop(self) -> None:
        """Disconnect for good."""
        self._unsubscribe()
        if self._task:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
            self._task = None

    async def offline(self) -> None:
        """Go offline: an outage until `online`."""
        self._wanted.clear()
        await self.drop()

    async def online(self, timeout: float = 10) -> None:
        """Connect again."""
        self._wanted.set()
        await self.connected(timeout)

    async def drop(self) -> None:
        """Lose the connection; it comes back by itself unless offline."""
        if self._ws:
            self._ws.transport.abort()
            await self._down.wait()

    @property
    def up(self) -> bool:
        """Whether it is connected."""
        return self._up.is_set()

    async def connected(self, timeout: float = 10) -> None:
        """Wait until connected. Raises ConnectionError with the last reason after `timeout`."""
        try:
            async with asyncio.timeout(timeout):
                await self._up.wait()
        except TimeoutError:
            raise ConnectionError(f"no connection to {self.url}: {self.last_error!r}") from self.last_error

    async def disconnected(self, timeout: float = 10) -> None:
        """Wait until the connection is down, for instance because the bot was killed. Raises TimeoutError."""
        async with asyncio.timeout(timeout):
            if self._ws:
                await self._down.wait()

    async def _run(self) -> None:
        while True:
            await self._wanted.wait()
            try:
                async with connect(
                    self.url, additional_headers=self._headers, proxy=None, ping_interval=None, max_size=None
                ) as ws:
                    if self._wanted.is_set():
                        await self._serve(ws)
            except (OSError, WebSocketException) as error:
                self.last_error = error
            await asyncio.sleep(self._retry)

    async def _serve(self, ws: ClientConnection) -> None:
        self._ws, self._outgoing, self._held = ws, asyncio.Queue(), []
        self._down.clear()
        self.push(lifecycle_event(self.qq))
        self._up.set()
        helpers = [asyncio.create_task(self._write(ws)), asyncio.create_task(self._beat())]
        try:
            async for raw in ws:
                await self._answer(json.loads(raw))
        finally:
            self._ws = None
            self._up.clear()
            self._down.set()
            for task in helpers:
                task.cancel()
            await asyncio.gather(*helpers, return_exceptions=True)

    async def _write(self, ws: ClientConnection) -> None:
        with contextlib.suppress(WebSocketException):
            while True:
                await ws.send(await self._outgoing.get())

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(self._heartbeat)
            self.push(heartbeat_event(self.qq, self._heartbeat))

    # --- events -------------------------------------------------------------------------------------------

    def push(self, event: Event) -> None:
        """Send the bot an event as it is, past all faults; lost when the connection is down."""
        if self._ws:
            self._outgoing.put_nowait(json.dumps(event, ensure_ascii=False))

    def event_of(self, message: FakeMessage) -> Event:
        """Return the event of a message, to push it again or changed."""
        return message_event(self.qq, message, self.style)

    @contextlib.contextmanager
    def silent(self) -> Iterator[None]:
        """Push nothing of what happens inside."""
        self._unsubscribe()
        try:
            yield
        finally:
            self._unsubscribe = self.qq.subscribe(self._on)

    def _on(self, happened: Happened) -> None:
        event: Event | None = None
        if happened.kind == "message" and happened.message:
            if happened.user_id != self.qq.self_id or self.faults.own_messages:
                event = message_event(self.qq, happened.message, self.style)
        else:
            event = notice_event(self.qq, happened, self.style)
        if event is not None:
            self._push_with_faults(event)

    def _push_with_faults(self, event: Event) -> None:
        faults = self.faults
        changed = faults.mangle(event) if faults.mangle else event
        if changed is None or faults.take("lose_events"):
            return
        self._held += [changed] * (2 if faults.duplicate_events else 1)
        if len(self._held) >= faults.reorder_events:
            if faults.reorder_events > 1:
                self._held.reverse()
            for held in self._held:
                self.push(held)
            self._held = []

    # --- actions ------------------------------------------------------------------------------------------

    async def wait_call(self, fits: Callable[[Call], object], timeout: float = 10) -> Call:
        """Return the first call that fits, already made or yet to come. Raises TimeoutError."""

        def find() -> Call | None:
            return next((call for call in self.calls if fits(call)), None)

        async with asyncio.timeout(timeout), self._called:
            await self._called.wait_for(lambda: find() is not None)
        found = find()
        assert found is not None
        return found

    async def _answer(self, frame: dict[str, Any]) -> None:
        action, params = str(frame.get("action")), frame.get("params") or {}
        drop, answer = False, None
        try:
            answer = _answer(frame, self._actions.answer(action, params))
        except ActionFailed as failed:
            answer = _answer(frame, None, failed.retcode, str(failed))
        except NoAnswer as none:
            drop = none.drop
        self.calls.append(Call(action, params, answer))
        async with self._called:
            self._called.notify_all()
        if answer is not None and self._ws:
            self._outgoing.put_nowait(json.dumps(answer, ensure_ascii=False))
        if drop and self._ws:
            self._ws.transport.abort()


def _answer(frame: dict[str, Any], data: Any, retcode: int = 0, text: str = "") -> dict[str, Any]:
    return {
        "status": "failed" if retcode else "ok",
        "retcode": retcode,
        "data": data,
        "message": text,
        "wording": text,
        "echo": frame.get("echo"),
    }
