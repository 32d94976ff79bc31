"""Drawing pictures beside the event loop: one at a time, each content once, none waited for longer than 5 s."""

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future

from nonebot.log import logger

from plugins.rating_bot.wire.messages import Picture

LIMIT_SECONDS = 5.0
KEPT = 32
"""Pictures kept, the latest used; a board is about half a megabyte."""

Press = Callable[[Picture], bytes]
"""Makes the PNG of a picture, in a thread."""


class Painter:
    """Makes PNGs of pictures. `press` replaces typst in tests."""

    def __init__(self, press: Press | None = None, *, limit: float = LIMIT_SECONDS, kept: int = KEPT) -> None:
        self._press = press
        self._limit = limit
        self._kept = kept
        self._done: OrderedDict[Picture, bytes] = OrderedDict()
        self._under_way: dict[Picture, asyncio.Task[bytes]] = {}
        self._turn = asyncio.Lock()

    async def draw(self, picture: Picture) -> bytes | None:
        """Return a picture as PNG; None where it cannot be drawn, or not within the limit.

        What is late is finished all the same: who asks again finds it. Its turn is over only then.
        """
        if picture in self._done:
            self._done.move_to_end(picture)
            return self._done[picture]
        task = self._under_way.get(picture)
        if task is None:
            task = self._under_way[picture] = asyncio.create_task(self._work(picture), name="picture")
            task.add_done_callback(lambda done: self._finished(picture, done))
        try:
            async with asyncio.timeout(self._limit):
                return await asyncio.shield(task)
        except TimeoutError:
            logger.warning(f"a picture ({picture.template}) was not drawn within {self._limit:g} s: text instead")
        except Exception as error:
            logger.opt(exception=error).error(f"a picture ({picture.template}) cannot be drawn: text instead")
        return None

    async def close(self) -> None:
        """Draw no more."""
        tasks = list(self._under_way.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _work(self, picture: Picture) -> bytes:
        async with self._turn:
            return await asyncio.wrap_future(_in_thread(lambda: self._make(picture)))

    def _make(self, picture: Picture) -> bytes:
        if self._press is None:
            from plugins.rating_bot.pictures.typesetting import Typesetter

            self._press = Typesetter().png
        return self._press(picture)

    def _finished(self, picture: Picture, done: "asyncio.Task[bytes]") -> None:
        del self._under_way[picture]
        if not done.cancelled() and done.exception() is None:
            self._done[picture] = done.result()
            while len(self._done) > self._kept:
                self._done.popitem(last=False)


def _in_thread(work: Callable[[], bytes]) -> Future[bytes]:
    """Run something in a thread of its own, for which the end of the process does not wait."""
    future: Future[bytes] = Future()

    def run() -> None:
        if not future.set_running_or_notify_cancel():
            return
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, name="picture", daemon=True).start()
    return future
