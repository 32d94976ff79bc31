"""A QQ in the browser for trying the bot: real bot, real socket, made-up people. Never part of the real mode."""

from collections.abc import Callable
from dataclasses import dataclass

from fastapi import FastAPI

from .client import FakeClient
from .qq import FakeQQ, wall_clock
from .routes import install, local_hosts
from .scene import build

__all__ = ["Sandbox", "start"]


@dataclass(frozen=True, slots=True)
class Sandbox:
    """What `start` put together."""

    qq: FakeQQ
    client: FakeClient

    async def stop(self) -> None:
        """Disconnect the client."""
        await self.client.stop()


async def start(app: FastAPI, *, port: int, token: str, now: Callable[[], int] = wall_clock) -> Sandbox:
    """Add the page to `app` and connect a QQ with the whole cast to the bot on 127.0.0.1:`port`.

    May be called before the server listens: the client keeps trying. `now` gives ms since the epoch.
    """
    qq = build(now)
    install(app, qq, host_allowed=local_hosts(port))
    client = FakeClient(qq, f"ws://127.0.0.1:{port}/onebot/v11/ws", token=token)
    await client.start(timeout=None)
    return Sandbox(qq, client)
