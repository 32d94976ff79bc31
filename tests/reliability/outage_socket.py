"""A socket that died without a word: released within 15 s, the queue goes on over the new one, nothing is doubled."""

import asyncio
import contextlib
import random
from pathlib import Path
from typing import Literal

from tests.reliability.outage_world import (
    LIVE,
    OFFICIAL,
    OutageWorld,
    Talk,
    living,
    quiet,
    recorded,
    spoken,
    until,
    well,
)
from tests.support.process import free_port

WITHIN = 15.0
"""Seconds from its death until nobody holds on to a dead connection any more."""
Way = Literal["to_bot", "to_qq", "both"]


class Line:
    """A way to the bot's port that can die: what is on it stays open at both ends, and nothing passes any more."""

    def __init__(self, target: int) -> None:
        self.port = free_port()
        self._target = target
        self._alive: dict[str, asyncio.Event] = {"to_bot": asyncio.Event(), "to_qq": asyncio.Event()}
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None
        self._revive()

    def _revive(self) -> None:
        for alive in self._alive.values():
            alive.set()

    async def open(self) -> None:
        self._server = await asyncio.start_server(self._pass, "127.0.0.1", self.port)

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._server is not None:
            self._server.close()

    def die(self, way: Way) -> None:
        """From now on nothing passes this way on the connections there are; later ones are well."""
        for name, alive in self._alive.items():
            if way in (name, "both"):
                alive.clear()
        self._alive = {"to_bot": asyncio.Event(), "to_qq": asyncio.Event()}
        self._revive()

    async def _pass(self, client: asyncio.StreamReader, answer: asyncio.StreamWriter) -> None:
        alive = self._alive
        try:
            upstream, up = await asyncio.open_connection("127.0.0.1", self._target)
        except OSError:
            return answer.transport.abort()
        for source, sink, name in ((client, up, "to_bot"), (upstream, answer, "to_qq")):
            task = asyncio.create_task(self._pump(source, sink, alive[name]))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    @staticmethod
    async def _pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter, alive: asyncio.Event) -> None:
        try:
            with contextlib.suppress(ConnectionError):
                while data := await source.read(65536):
                    await _unless_dead(alive)
                    sink.write(data)
                    await sink.drain()
                await _unless_dead(alive)  # not even that it was closed is heard of
        finally:
            sink.transport.abort()


async def _unless_dead(alive: asyncio.Event) -> None:
    """Return at once while the line lives, and never once it is dead: a line that died stays so."""
    await alive.wait()


async def half_open(folder: Path, rng: random.Random, long: bool) -> str:
    """The connection dies in one direction or both, while something is on its way; a new one comes, or none."""
    lone, replaced = [], []
    world = OutageWorld(folder)
    line = Line(world.port)
    world.client.url = f"ws://127.0.0.1:{line.port}/onebot/v11/ws"
    talk = Talk(rng)
    await line.open()
    try:
        async with living(world):
            ways: list[Way] = ["to_qq", "to_bot", "both"]
            for _ in range(8 if long else 1):
                alone = ways if long else [rng.choice(ways)]
                lone += [await _alone(world, line, talk, way) for way in alone]
                replaced += [await _replaced(world, line, talk, way) for way in ways]
            await well(world)
    finally:
        await line.close()
    return (
        f"{len(lone)} dead sockets released within {max(lone):.1f} s, {len(replaced)} more, with a successor, within"
        f" {max(replaced):.1f} s, nothing lost or doubled"
    )


async def _dying(world: OutageWorld, line: Line, talk: Talk, way: Way) -> None:
    """The line dies while a report has just been confirmed: its 收到 or the answer to it is still on the way."""
    pair = talk.rng.choice([("张三", "李四"), ("王五", "赵六"), ("钱七", "孙八")])
    a, b = pair
    number, _ = await world.report(a, "\n".join(f"{a} {word} {b}" for word in talk.games(pair)))
    await world.settled()
    if way == "to_qq":
        line.die(way)  # the 收到 goes nowhere
        world.say(b, f"确认 {number}")
        await until(lambda: world.rows("SELECT 1 FROM reports WHERE report_id = ? AND state = 'effective'", number),
                    "the 确认 is recorded")  # fmt: skip
    else:
        world.say(b, f"确认 {number}")
        line.die(way)  # it is said into nothing, or its 收到 is never answered


async def _alone(world: OutageWorld, line: Line, talk: Talk, way: Way) -> float:
    """Nobody takes its place: the bot lets go by itself. Return how many seconds that took."""
    loop = asyncio.get_running_loop()
    await _dying(world, line, talk, way)
    begin, before = loop.time(), _released(world)
    await until(lambda: _released(world) > before, "the dead socket is released")
    seconds = loop.time() - begin
    assert seconds <= WITHIN, f"a dead socket ({way}) was held for {seconds:.1f} s"
    await world.client.drop()
    await world.client.connected()
    await _goes_on(world, talk)
    return seconds


def _released(world: OutageWorld) -> int:
    return sum(line.endswith(" disconnected") for line in world.bot.lines)


async def _replaced(world: OutageWorld, line: Line, talk: Talk, way: Way) -> float:
    """The client connects anew while the bot still holds on to the dead connection."""
    loop = asyncio.get_running_loop()
    await _dying(world, line, talk, way)
    begin = loop.time()
    await world.client.drop()
    await world.client.connected(30)
    seconds = loop.time() - begin
    assert seconds <= WITHIN, f"the new connection waited for {seconds:.1f} s ({way})"
    await _goes_on(world, talk)
    return seconds


async def _goes_on(world: OutageWorld, talk: Talk) -> None:
    script = talk.script(3, 3, kinds=LIVE)
    spoken(world, script)
    await recorded(world, script)
    await quiet(world)
    assert world.count(OFFICIAL, "出错了") == 0
