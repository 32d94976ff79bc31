"""A browser and a page's socket, for the sandbox's routes."""

import asyncio
import contextlib
import http.client
import json
import socket
from collections.abc import AsyncIterator
from typing import Any

import uvicorn
from fastapi import FastAPI
from websockets.asyncio.client import ClientConnection, connect

from plugins.rating_bot.sandbox.scene import OFFICIAL

CHAT = f"g{OFFICIAL}"
ZHANG, LI = 10011, 10012


class Web:
    """A browser that can lie about Host and Origin; {port} in them is the real port."""

    def __init__(self, port: int):
        self.port = port

    async def get(self, path: str, **headers: str) -> tuple[int, dict[str, str]]:
        """Return status and headers (names in lower case)."""
        return await asyncio.to_thread(self._get, path, headers)

    def _get(self, path: str, headers: dict[str, str]) -> tuple[int, dict[str, str]]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        with contextlib.closing(connection):
            connection.request("GET", path, headers={k: v.format(port=self.port) for k, v in headers.items()})
            answer = connection.getresponse()
            answer.read()
            return answer.status, {name.lower(): value for name, value in answer.getheaders()}

    @contextlib.asynccontextmanager
    async def live(
        self, origin: str | None = "http://127.0.0.1:{port}", host: str = "127.0.0.1:{port}"
    ) -> "AsyncIterator[Page]":
        """Open the socket as a page of `origin` that asks for `host`."""
        where = f"ws://{host.format(port=self.port)}/sandbox/live"
        said = origin.format(port=self.port) if origin else None
        async with connect(where, host="127.0.0.1", port=self.port, origin=said, proxy=None) as ws:  # type: ignore[arg-type]
            yield Page(ws)


class Page:
    """The page's end of the socket."""

    def __init__(self, ws: ClientConnection):
        self.ws = ws

    async def take(self) -> Any:
        """Return the next news."""
        async with asyncio.timeout(5):
            return json.loads(await self.ws.recv())

    async def ask(self, do: str, me: int = ZHANG, chat: str = CHAT, **more: Any) -> Any:
        """Do something and return the news that follow."""
        return await self.raw({"do": do, "me": me, "chat": chat} | more)

    async def raw(self, deed: Any) -> Any:
        """Send anything and return the news that follow."""
        await self.ws.send(json.dumps(deed))
        return await self.take()


@contextlib.asynccontextmanager
async def serving(app: FastAPI, listening: socket.socket) -> AsyncIterator[Web]:
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="off"))
    task = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        yield Web(listening.getsockname()[1])
    finally:
        server.should_exit = True
        await task
