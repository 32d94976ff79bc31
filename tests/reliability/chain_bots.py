"""Whole bots (without sockets) that start on a file with a flipped byte: what they refuse, answer and tell."""

import os
import random
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

from plugins.rating_bot.wording.integrity import FOR_WHAT_IT_IS_WORTH, NOT_RECORDED
from tests.reliability.cells import bytes_of
from tests.support.rig import OWNER, SCORING, Rig, SetClock

PLAYERS = ("张三", "李四", "王五", "赵六")
TOLD = "和写下时不一样"


async def bots_on_damaged_files(folder: Path, rng: random.Random, count: int) -> list[str]:
    """Let so many bots start on a damaged book and on its repaired file; return what they did wrong."""
    found = []
    for number in range(count):
        home = folder / f"bot{number}"
        home.mkdir()
        found += [f"bot {number}: {problem}" for problem in await _one(home, rng)]
    return found


@asynccontextmanager
async def _started(rig: Rig) -> AsyncIterator[None]:
    await rig.start()
    try:
        yield
    finally:
        await rig.stop()


async def _one(folder: Path, rng: random.Random) -> list[str]:
    rig = Rig(folder, SetClock())
    async with _started(rig):
        await rig.league_of(*PLAYERS)
        for one, two in (PLAYERS[:2], PLAYERS[2:]):
            await rig.say(one, f"{one} 胜 {two}")
            await rig.say(two, "确认")
    file = folder / "ratings.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")
        (rows,) = connection.execute("SELECT count(*) FROM ledger").fetchone()
    byte = rng.choice([b for b in bytes_of(file, "ledger") if b.part in ("payload", "hash", "said_at", "kind", "pool")])
    _flip(file, byte.offset)
    problems = []

    def must(true: bool, what: str) -> None:
        if not true:
            problems.append(f"{byte}: {what}")

    for start in ("first", "second"):
        async with _started(rig):
            must(len(_told(rig)) == 1, f"{start} start: told {len(_told(rig))} times in the scoring group")
            must(len(_told_owner(rig)) == 1, f"{start} start: the superuser was told {len(_told_owner(rig))} times")
            said = await rig.say("张三", "张三 胜 王五" if start == "first" else "张三 平 赵六")
            must(said == [NOT_RECORDED], f"{start} start: a report is answered {said}")
            (rating,) = await rig.say("张三", "/等级分")
            must("张三" in rating and FOR_WHAT_IT_IS_WORTH in rating, f"{start} start: a question is answered {rating}")
            said = await rig.say("小周", "/体检", SCORING)
            must(len(said) == 1 and f"账{byte.row}断了" in said[0], f"{start} start: /体检 says {said}")
            must(rig.parts is not None and rig.parts.integrity.last is not None, "nothing was checked")
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")
    _flip(file, byte.offset)
    async with _started(rig):
        must(rig.league.damage is None, "still damaged after the repair")
        must(len(_told(rig)) == 1, "told of a repaired book")
        await rig.say("王五", "确认")
        await rig.say("赵六", "确认")
        must(rig.games() == 4 and rig.league.book.seq == rows + 2, f"{rig.games()} games after the repair")
        (health,) = await rig.say("小周", "/体检", SCORING)
        must("体检：正常" in health, f"after the repair /体检 says {health}")
    return problems


def _flip(file: Path, offset: int) -> None:
    descriptor = os.open(file, os.O_RDWR)
    os.pwrite(descriptor, bytes([os.pread(descriptor, 1, offset)[0] ^ 1]), offset)
    os.close(descriptor)


def _told(rig: Rig) -> list[str]:
    return [message.text for message in rig.qq.said_by_bot(SCORING) if TOLD in message.text]


def _told_owner(rig: Rig) -> list[str]:
    history = rig.qq.private_history(OWNER)
    return [message.text for message in history if message.user_id == rig.qq.self_id and TOLD in message.text]
