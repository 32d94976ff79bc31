"""Work in a process of its own that dies at its n-th step: a statement, a commit, or a line of a function."""

import asyncio
import os
import sys
import threading
import traceback
from collections.abc import Awaitable, Callable, Collection
from types import CodeType, FrameType
from typing import Any

from sqlalchemy import event
from sqlalchemy.engine import Engine

KILLED, FAILED = 137, 99
Work = Callable[["Steps"], Awaitable[object]]


class Steps:
    """Counts steps once it is armed and dies before the `last` one."""

    def __init__(self, last: int) -> None:
        self._last = last
        self._armed = False
        self.taken = 0

    def arm(self) -> None:
        """From here on steps count."""
        self._armed = True

    def disarm(self) -> None:
        """From here on they do not."""
        self._armed = False

    def statements(self) -> None:
        """Let each statement and each commit be a step."""
        event.listen(Engine, "before_cursor_execute", lambda *_: self._step())
        event.listen(Engine, "commit", lambda *_: self._step())

    def lines(self, codes: Collection[CodeType]) -> None:
        """Let each line of these functions be a step, in this thread and in those that are yet to begin."""

        def trace(frame: FrameType, kind: str, _argument: Any) -> Any:
            if frame.f_code not in codes:
                return None
            if kind == "line":
                self._step()
            return trace

        threading.settrace(trace)
        sys.settrace(trace)

    def _step(self) -> None:
        if not self._armed:
            return
        self.taken += 1
        if self.taken == self._last:
            os._exit(KILLED)


def run_apart(work: Work, last: int) -> int | None:
    """Run `work` in a child process that dies at step `last` (0: not at all).

    Return how many steps there were, None where it died. Raises AssertionError with the child's traceback.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        steps, code, said = Steps(last), FAILED, ""
        try:
            os.close(reader)
            sink = os.open(os.devnull, os.O_WRONLY)
            os.dup2(sink, 1)
            os.dup2(sink, 2)
            asyncio.run(_work(work, steps))
            code, said = 0, str(steps.taken)
        except BaseException:
            said = traceback.format_exc()
        finally:
            os.write(writer, said.encode()[-60_000:])
            os._exit(code)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        said = pipe.read().decode("utf-8", "replace")
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status == KILLED:
        return None
    assert status == 0, f"exit code {status} with death at step {last}:\n{said}"
    return int(said)


async def _work(work: Work, steps: Steps) -> None:
    await work(steps)
    steps.disarm()
