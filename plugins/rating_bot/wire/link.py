"""One connection of a QQ client: the calls that wait for its answers."""

import asyncio
import contextlib
import json
from typing import Any

from nonebot.adapters.onebot.v11 import ActionFailed, NetworkError
from nonebot.drivers import WebSocket
from nonebot.utils import DataclassEncoder

from .repair import Data, whole


class ConnectionLost(NetworkError):
    """The connection went while an answer was awaited; the next one can be asked again."""


class Link:
    """Calls over one socket. A call whose answer can no longer come fails at once, not after its timeout."""

    def __init__(self, self_id: str, websocket: WebSocket) -> None:
        self.self_id = self_id
        self.websocket = websocket
        self.closed = False
        self._waiting: dict[str, asyncio.Future[Data]] = {}
        self._last = 0

    async def call(self, api: str, params: Data, timeout: float) -> Data:
        """Call an API and return the whole answer. Raises NetworkError when none comes within `timeout` seconds."""
        if self.closed:
            raise ConnectionLost(f"{api}: the connection is closed")
        self._last += 1
        echo = str(self._last)
        frame = json.dumps({"action": api, "params": params, "echo": echo}, cls=DataclassEncoder)
        answer: asyncio.Future[Data] = asyncio.get_running_loop().create_future()
        self._waiting[echo] = answer
        try:
            async with asyncio.timeout(timeout):
                await self.websocket.send(frame)
                return await answer
        except TimeoutError:
            raise NetworkError(f"{api}: no answer within {timeout:g} s") from None
        except NetworkError:
            raise
        except Exception as error:  # what a closed socket raises differs between drivers and their versions
            raise ConnectionLost(f"{api}: {error!r}") from error
        finally:
            self._waiting.pop(echo, None)

    def answer(self, frame: Data) -> None:
        """Hand an answer to the call that waits for it; late and unknown ones are dropped."""
        waiting = self._waiting.get(str(frame.get("echo")))
        if waiting is not None and not waiting.done():
            waiting.set_result(frame)

    async def answers(self, timeout: float) -> bool:
        """Return whether the client at the other end still answers at all."""
        try:
            await self.call("get_status", {}, timeout)
        except NetworkError:
            return False
        return True

    def shut(self) -> None:
        """Fail all calls that wait."""
        self.closed = True
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(ConnectionLost("the connection was lost before the answer came"))

    async def close(self, code: int = 1000, reason: str = "") -> None:
        """Close the socket; a half-open one is not waited for."""
        with contextlib.suppress(Exception):
            async with asyncio.timeout(1):
                await self.websocket.close(code, reason)


def result_of(answer: Data) -> Any:
    """Return the data of an answer. Raises ActionFailed when status or retcode says that it failed."""
    retcode = whole(answer.get("retcode"))
    if answer.get("status") == "failed" or (retcode not in (None, 0) and answer.get("status") != "async"):
        raise ActionFailed(**{str(name): value for name, value in answer.items() if name != "self"})
    return answer.get("data")
