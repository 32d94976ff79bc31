"""The disk is full: who said something is told that it is not recorded, nothing is half there, and it mends by itself.

The kernel refuses what the bot writes beyond some byte of a file, as a full disk would; where that is differs, so that
writes fail before, within and after what they belong to.
"""

import asyncio
import contextlib
import random
import resource
from collections.abc import Iterator
from pathlib import Path

from plugins.rating_bot.wording.common import ERROR
from tests.e2e.world import BOT
from tests.reliability.outage_world import (
    GROUPS,
    OutageWorld,
    Script,
    Talk,
    at_most,
    living,
    missing,
    quiet,
    recorded,
    said_so_far,
    spoken,
    until,
    well,
)

SAID_AGAIN = ("confirm", "quote", "referee")
AGAIN = 15.0
"""Seconds after there is room again until all is made up for that was said while the client was away."""


@contextlib.contextmanager
def full_disk(world: OutageWorld, room: int) -> Iterator[None]:
    """Let the bot write `room` bytes from each file's beginning and nothing beyond."""
    soft, hard = resource.prlimit(world.bot.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(world.bot.pid, resource.RLIMIT_FSIZE, (room, hard))
    try:
        yield
    finally:
        resource.prlimit(world.bot.pid, resource.RLIMIT_FSIZE, (soft, hard))


async def disk(folder: Path, rng: random.Random, long: bool) -> str:
    """The disk fills up while people talk, and while what was said in an outage is read."""
    world = OutageWorld(folder)
    talk = Talk(rng)
    refused = taken = 0
    slowest = 0.0
    rounds = 30 if long else 3
    async with living(world):
        for _ in range(rounds):
            one, two = await _while_people_talk(world, talk)
            refused, taken = refused + one, taken + two
            slowest = max(slowest, await _during_an_outage(world, talk))
        await well(world)
    return (
        f"{rounds} times full while people talked: {taken} messages recorded, {refused} told that they are not, none"
        f" half; {rounds} times full after an outage: all made up for within {slowest:.1f} s of there being room"
    )


def _room(world: OutageWorld, rng: random.Random) -> int:
    """Return where the log or the file is cut off: often nowhere near its end."""
    wal = world.file.with_name("ratings.db-wal")
    size = wal.stat().st_size if wal.exists() else 0
    return rng.choice((0, rng.randint(0, size), size + rng.randint(0, 30_000)))


async def _while_people_talk(world: OutageWorld, talk: Talk) -> tuple[int, int]:
    """Each is told once: by an answer, or that it is not recorded. Return how many were refused and how many taken.

    Who is refused says it again when there is room, and is recorded then, once.
    """
    script = talk.script(6, 0, kinds=SAID_AGAIN)
    with full_disk(world, _room(world, talk.rng)):
        spoken(world, script)
        for line in script.lines:
            assert line.message is not None
            number = line.message.message_id
            await until(lambda n=number: _answered(world, n) or _known(world, n), "an answer", 40)
    await until(lambda: _writes(world), "the database is written again")
    await quiet(world)
    refused = [line for line in script.lines if line.message and _refused(world, line.message.message_id)]
    for line in refused:
        assert line.message is not None
        assert not _known(world, line.message.message_id), f"told that it is not recorded, and it is: {line.text!r}"
    await _say_again(world, script)
    return len(refused), len(script.lines) - len(refused)


async def _say_again(world: OutageWorld, script: Script) -> None:
    """Whoever was refused says it again, and then his opponent answers again; what was taken is not said again."""
    for report in script.reports:
        again = False
        for line in report.lines:
            assert line.message is not None
            if again or not _known(world, line.message.message_id):
                again = True
                quote = line.answers.message.message_id if line.answers and line.answers.message else None
                line.message = world.say(line.who, line.text, line.group, quote=quote)
                number = line.message.message_id
                await until(lambda n=number: _known(world, n), "it is taken the second time")
    await recorded(world, script)
    await quiet(world)


def _answered(world: OutageWorld, message_id: int) -> bool:
    return any(m.quote == message_id for group in GROUPS for m in world.qq.history(group) if m.user_id == BOT)


def _refused(world: OutageWorld, message_id: int) -> bool:
    said = [m for group in GROUPS for m in world.qq.said_by_bot(group) if m.quote == message_id]
    told = [m for m in said if m.text == ERROR]
    assert len(told) <= 1, f"told {len(told)} times that it is not recorded"
    return bool(told)


def _known(world: OutageWorld, message_id: int) -> bool:
    return bool(world.rows("SELECT 1 FROM inbox WHERE message_id = ?", str(message_id)))


def _writes(world: OutageWorld) -> bool:
    """Whether the bot has found out that there is room again; it looks every five seconds."""
    fails = [n for n, line in enumerate(world.bot.lines) if "could not be handled" in line]
    mends = [n for n, line in enumerate(world.bot.lines) if "the database takes writes again" in line]
    return not fails or bool(mends and mends[-1] > fails[-1])


def _waited(world: OutageWorld) -> int:
    return sum("waits for the database" in line for line in world.bot.lines)


async def _during_an_outage(world: OutageWorld, talk: Talk) -> float:
    """What was said while the client was away waits for room, and for nobody to say it again."""
    await world.client.offline()
    script = talk.script(8, 4)
    before, waited = said_so_far(world), _waited(world)
    with full_disk(world, 0):
        spoken(world, script)
        await world.client.online()
        await until(lambda: _waited(world) > waited, "what was read waits for room")
        assert missing(world, script)
        await asyncio.sleep(talk.rng.uniform(0, 2))
    seconds = await recorded(world, script)
    assert seconds <= AGAIN, f"it took {seconds:.1f} s to make up for it"
    await quiet(world)
    at_most(3, world, before)
    return seconds
