"""The process whose disk is recorded: the real store commits, and marks in the log what was acknowledged.

Run by power.py, with the shim loaded: python -m tests.reliability.power_commits FOLDER SEED COMMITS SYNCHRONOUS.
It goes on with the league in FOLDER, or begins one, and ends without closing anything.
"""

import asyncio
import ctypes
import json
import os
import random
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import event

from rating_core.service import people, reports
from rating_core.service.league import League
from rating_core.store.backup import backup_sqlite
from rating_core.store.database import Database
from rating_core.store.migrate import migrate

PLAYERS = ("张三", "李四", "王五", "赵六", "钱七", "孙八")
OWNER = "10001"
POOL = "单跳1v1"
BEGIN = 1_767_233_000_000
"""2026-01-01 in Shanghai; every commit is a minute later than the one before."""
BACKUPS = "backups"


@dataclass(slots=True)
class Clock:
    """A clock that the commits move."""

    now: int = BEGIN

    def __call__(self) -> int:
        return self.now


def mark(**what: Any) -> None:
    """Note in the log that this is acknowledged from here on."""
    ctypes.CDLL(None).power_mark(json.dumps(what).encode())


async def open_league(folder: Path, synchronous: str = "FULL") -> tuple[Database, League, Clock, Path | None]:
    """Open the league as the bot does. `synchronous` other than FULL weakens what is shipped, to see it break."""
    database = await Database.open(f"sqlite+aiosqlite:///{folder}/ratings.db")
    if synchronous != "FULL":

        @event.listens_for(database.engine.sync_engine, "connect")
        def weaken(connection: Any, _record: Any) -> None:
            connection.execute(f"PRAGMA synchronous={synchronous}")

    saved = await migrate(database, folder / BACKUPS)
    clock = Clock()
    league = await League.open(database, clock, frozenset({OWNER}))
    clock.now += 60_000 * (league.book.seq + 1)
    return database, league, clock, saved


async def register(league: League) -> None:
    """Enter the players, in one transaction."""
    async with league.transaction() as tx:
        owner = await tx.known(tx.directory.actor(OWNER, league.superusers))
        for number, name in enumerate(PLAYERS):
            await people.add_player(tx, owner, name, str(20001 + number), "普通", tx.now, ())


async def commit(league: League, clock: Clock, rng: random.Random) -> dict[str, Any]:
    """One message of a superuser as the dispatcher handles it: inbox row, games, outbox rows. Return what it left."""
    clock.now += 60_000
    one, two = rng.sample(PLAYERS, 2)
    text = "\n".join(f"{one} {rng.choice('胜平负')} {two}" for _ in range(rng.randint(1, 12)))
    async with league.transaction() as tx:
        owner = tx.directory.actor(OWNER, league.superusers)
        number = str(await tx.counters.take("message"))
        inbox = await tx.inbox.take(
            key=f"g1|seq|{number}", twin=f"g1|{OWNER}|{number}", chat="g1", message_id=number, qq=OWNER,
            said_at=tx.now, text=text,
        )  # fmt: skip
        post = reports.Post(text, "g1", number, tx.now, POOL, 24, 72)
        await reports.post(tx, owner, post)
        outbox = 0
        for chat in ("g1", "g2"):
            outbox = await tx.outbox.add(chat=chat, text=text, kind="ack", created_at=tx.now)
    return {"seq": league.book.seq, "hash": league.book.hash, "inbox": inbox, "outbox": outbox}


async def main(folder: Path, seed: int, commits: int, synchronous: str) -> None:
    """Commit, close and open again, back up."""
    rng = random.Random(seed)
    database, league, clock, _ = await open_league(folder, synchronous)
    mark(tables=True)
    if not league.book.seq:
        await register(league)
        mark(seq=league.book.seq, hash=league.book.hash, inbox=0, outbox=0)
    for number in range(commits):
        mark(**await commit(league, clock, rng))
        if rng.random() < 0.02:
            await database.close()
            database, league, clock, _ = await open_league(folder, synchronous)
        if rng.random() < 0.02:
            saved = await backup_sqlite(folder / "ratings.db", folder / BACKUPS, f"{league.book.seq}-{number}")
            mark(backup=saved.name, seq=league.book.seq, hash=league.book.hash)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]))
    sys.stdout.flush()
    os._exit(0)  # as a process that was killed: nothing is closed
