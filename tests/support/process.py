"""The real bot as a process of its own: `python bot.py` in its folder, waited for, killed, stopped, started again."""

import asyncio
import contextlib
import os
import signal
import socket
import sys
from collections.abc import Mapping
from pathlib import Path

BOT_PY = Path(__file__).resolve().parents[2] / "bot.py"
KEPT_VARIABLES = ("PATH", "HOME", "LANG", "LD_LIBRARY_PATH", "TMPDIR")
"""All of our environment that the bot gets: its settings must come from the test alone."""
LISTENING = "Uvicorn running on"
KILLED = 137
"""Exit code at a failpoint."""
START_SECONDS = 30
END_SECONDS = 20
LOG_TAIL = 60


def free_port() -> int:
    """Return a port of 127.0.0.1 that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def environment(settings: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a bot with these settings and no others."""
    kept = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
    return kept | {"PYTHONUNBUFFERED": "1", "PYTHONUTF8": "1"} | dict(settings)


class BotProcess:
    """One bot, run in `folder` with `settings` as its environment; its log is in `lines`, over all its starts.

    `script` is what runs: another bot, for comparison.
    """

    def __init__(self, folder: Path, settings: Mapping[str, str], script: Path = BOT_PY) -> None:
        self.folder = folder
        self.script = script
        self.settings = dict(settings)
        self.lines: list[str] = []
        self._begin = 0
        self._process: asyncio.subprocess.Process | None = None
        self._reader: asyncio.Task[None] | None = None
        self._news = asyncio.Condition()
        self._ended = True

    # --- start --------------------------------------------------------------------------------------------

    async def spawn(self, **more: str) -> None:
        """Start the process without waiting for anything; `more` are further variables, for this start only."""
        assert not self.running, "it runs already"
        self._begin, self._ended = len(self.lines), False
        self._process = await asyncio.create_subprocess_exec(
            sys.executable, str(self.script), cwd=self.folder, env=environment(self.settings | more),
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT, stdin=asyncio.subprocess.DEVNULL,
            limit=1 << 24,
        )  # fmt: skip
        assert self._process.stdout is not None
        self._reader = asyncio.create_task(self._read(self._process.stdout), name="log of the bot")

    async def start(self, *, within: float = START_SECONDS, **more: str) -> None:
        """Start the process and wait until it listens, at most so many seconds."""
        await self.spawn(**more)
        await self.log_line(LISTENING, within)

    # --- what it says -------------------------------------------------------------------------------------

    async def log_line(self, text: str, timeout: float = 10) -> str:
        """Return the first line of this start's log with `text` in it, written already or yet to come.

        Raises AssertionError with the log when the process ends first, and after `timeout` seconds.
        """
        try:
            async with asyncio.timeout(timeout), self._news:
                await self._news.wait_for(lambda: self.find(text) or self._ended)
        except TimeoutError:
            raise AssertionError(f"no {text!r} in the log within {timeout} s:\n{self.tail}") from None
        line = self.find(text)
        assert line is not None, f"the bot ended before it logged {text!r}:\n{self.tail}"
        return line

    def find(self, text: str) -> str | None:
        """Return the first line of this start's log with `text` in it."""
        return next((line for line in self.lines[self._begin :] if text in line), None)

    @property
    def log(self) -> str:
        """The log of this start."""
        return "\n".join(self.lines[self._begin :])

    @property
    def tail(self) -> str:
        """The end of the log, for messages."""
        return "\n".join(self.lines[-LOG_TAIL:])

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.returncode is None

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    # --- end ----------------------------------------------------------------------------------------------

    async def ended(self, timeout: float = END_SECONDS) -> int:
        """Wait until the process has ended and its log is read; return its exit code (−N: by signal N)."""
        assert self._process is not None and self._reader is not None
        try:
            async with asyncio.timeout(timeout):
                code = await self._process.wait()
                await self._reader
        except TimeoutError:
            raise AssertionError(f"the bot did not end within {timeout} s:\n{self.tail}") from None
        return code

    async def kill(self) -> None:
        """kill -9, as a power cut would end it."""
        assert self._process is not None
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        await self.ended()

    async def stop(self, *, clean: bool = True) -> None:
        """SIGTERM; it must end in order, and unless `clean` is off without a traceback anywhere in its log."""
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)
        code = await self.ended()
        # uvicorn ends in order and then lets the signal act, so that whoever sent it sees that it worked
        assert code in (0, -signal.SIGTERM), f"exit code {code}:\n{self.tail}"
        assert self.find("Application shutdown complete"), f"it did not end in order:\n{self.tail}"
        if clean:
            assert "Traceback" not in self.log, f"an error in the log:\n{self.log[-8000:]}"

    async def close(self) -> None:
        """End it whatever state it is in."""
        if self.running:
            await self.kill()

    # --- inside -------------------------------------------------------------------------------------------

    async def _read(self, stream: asyncio.StreamReader) -> None:
        async for raw in stream:
            async with self._news:
                self.lines.append(raw.decode("utf-8", "replace").rstrip("\n"))
                self._news.notify_all()
        async with self._news:
            self._ended = True
            self._news.notify_all()
