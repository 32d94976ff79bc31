"""A QQ in the browser for trying the bot: real bot, real socket, made-up people. Never part of the real mode."""

from dataclasses import dataclass

from fastapi import FastAPI

from plugins.rating_bot.clock import ShiftedClock

from .client import FakeClient
from .director import Bot, Director, Seeder
from .qq import FakeQQ
from .routes import install, local_hosts
from .scene import build
from .travel import latest

__all__ = ["Sandbox", "start"]


@dataclass(frozen=True, slots=True)
class Sandbox:
    """What `start` put together."""

    qq: FakeQQ
    client: FakeClient
    director: Director

    async def stop(self) -> None:
        """End what is under way and disconnect the client."""
        await self.director.close()
        await self.client.stop()


async def start(app: FastAPI, bot: Bot, clock: ShiftedClock, seed: Seeder, *, port: int, token: str) -> Sandbox:
    """Fill an empty book, add the page to `app`, and connect a QQ with the whole cast to the bot on 127.0.0.1:`port`.

    May be called before the server listens: the client keeps trying. The clock goes on where the book ends.
    """
    await seed(bot.parts, False, lambda _: None)
    clock.put_forward(await latest(bot.parts.runtime.league))
    qq = build(clock.now)
    client = FakeClient(qq, f"ws://127.0.0.1:{port}/onebot/v11/ws", token=token)
    director = Director(qq, client, bot, clock, seed)
    install(app, qq, host_allowed=local_hosts(port), director=director)
    await client.start(timeout=None)
    return Sandbox(qq, client, director)
