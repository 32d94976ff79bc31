"""How long boards, pictures and pages take among 10,000 players.

    python -m tests.bench.pages [--games N] [--folder F] [--only boards|pages]

The text of /排行榜 and its picture in this process; players' pages from a real bot, asked for over kept connections.
"""

import argparse
import asyncio
import random
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from plugins.rating_bot.handlers.context import Context
from plugins.rating_bot.handlers.dispatch import load_handlers
from plugins.rating_bot.handlers.table import TABLE
from plugins.rating_bot.pictures.typesetting import Typesetter
from plugins.rating_bot.settings import Settings
from plugins.rating_bot.wire.messages import Inbound, Out
from rating_core.book import Book
from rating_core.ledger import Draft, Games, seal
from rating_core.report_text import GameLine, Result
from rating_core.service.league import League
from rating_core.service.transaction import Tx
from rating_core.store.database import Database
from rating_core.store.migrate import migrate
from tests.bench.figures import shown, verdict
from tests.bench.ledgers import FIRST_QQ, synthetic_league
from tests.bench.stack import Stack, copy_of
from tests.e2e.world import POOL
from tests.reliability.flood import percentile

GAMES, PLAYERS = 100_000, 10_000
ROUNDS, PICTURES = 60, 12
TEXT_MS, PICTURE_MS, PAGE_MS = 5, 100, 15
RATE, SECONDS, CONNECTIONS = 200, 20, 16


async def boards(file: Path) -> None:
    """Time /排行榜 from the command to its text, and from there to its picture."""
    load_handlers()
    database = await Database.open(f"sqlite+aiosqlite:///{file}")
    await migrate(database, file.parent / "backups")
    try:
        league = await League.open(database, lambda: time.time_ns() // 1_000_000)
        async with database.read() as connection:
            tx = Tx(league, connection)
            texts, pictures, chance = [], [], random.Random(1)
            await _answer(_asked(tx, pictures=False, number=0))
            for number in range(ROUNDS):
                play(league.book, chance, tx.now)
                context = _asked(tx, pictures=False, number=number)
                begin = time.perf_counter()
                await _answer(context)
                texts.append(time.perf_counter() - begin)
            shown("/排行榜 as text, after a game", texts)
            typesetter = Typesetter()
            for number in range(1 + PICTURES):
                play(league.book, chance, tx.now)
                context = _asked(tx, pictures=True, number=number)
                begin = time.perf_counter()
                (out,) = await _answer(context, page=1 + number)
                assert out.picture is not None
                typesetter.png(out.picture)
                pictures.append(time.perf_counter() - begin)
            shown("/排行榜 as a picture, warm", pictures[1:])
    finally:
        await database.close()
    verdict("/排行榜 as text, after a game", 1000 * statistics.median(texts), TEXT_MS, " ms")
    verdict("/排行榜 as a picture, warm", 1000 * statistics.median(pictures[1:]), PICTURE_MS, " ms")


def play(book: Book, chance: random.Random, now: int) -> None:
    """Let two of the players play a game, in memory alone."""
    number = book.columns.number[-1] + 1
    left, right = chance.sample(range(1, len(book.state.initial) + 1), 2)
    line = GameLine((left,), Result.WIN, (right,))
    draft = Draft(Games(book.columns.report[-1] + 1, number, now, 1.0, (line,), 1), now, 1, POOL)
    book.advance([seal(draft, book.seq + 1, now, book.hash)])


def _asked(tx: Tx, *, pictures: bool, number: int) -> Context:
    settings = Settings(official_groups={"1": POOL}, scoring_groups=("2",), pictures=pictures)
    message = Inbound(str(number), str(number), "message", "g1", str(FIRST_QQ + 1), str(number), tx.now, "/排行榜")
    return Context(tx, message, tx.directory.actor(message.user), settings)


async def _answer(context: Context, page: int | None = None) -> Sequence[Out]:
    """Return what the command answers; where it is text alone, nothing."""
    values = {"past": None, "page": page, "top": None, "form": None, "pool": None}
    answer = await TABLE.commands["排行榜"].run(context, values)
    return [] if isinstance(answer, str) else answer


async def get(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, path: str) -> int:
    """Ask for a page over a kept connection; return how long it is. Raises AssertionError unless it is there."""
    writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
    assert head.startswith("http/1.1 200"), head
    length = int(head.partition("content-length:")[2].partition("\r\n")[0])
    await reader.readexactly(length)
    return length


async def asking(bot: Stack, path: Callable[[], str], rate: int, seconds: float) -> list[float]:
    """Ask for pages at a rate, whatever the answers take; return how long each took from when it was due."""
    due: asyncio.Queue[float | None] = asyncio.Queue()
    waits: list[float] = []

    async def serve() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", bot.port)
        while (begin := await due.get()) is not None:
            await get(reader, writer, path())
            waits.append(time.perf_counter() - begin)
        writer.close()

    async with asyncio.TaskGroup() as connections:
        for _ in range(CONNECTIONS):
            connections.create_task(serve())
        begin, asked = time.perf_counter(), 0
        while (passed := time.perf_counter() - begin) < seconds:
            while asked < passed * rate:
                due.put_nowait(begin + asked / rate)
                asked += 1
            await asyncio.sleep(0.001)
        for _ in range(CONNECTIONS):
            due.put_nowait(None)
    return waits


async def pages(file: Path, folder: Path) -> None:
    """Ask a bot for pages of players: of the same fifty, and each time of another one."""
    bot = Stack(copy_of(file, folder / "pages"), None, 1)
    chance = random.Random(1)
    try:
        await bot.start()
        few = [chance.randint(1, PLAYERS) for _ in range(50)]
        for name, path in (
            ("of 50 players", lambda: f"/board/players/{chance.choice(few)}"),
            ("of any player", lambda: f"/board/players/{chance.randint(1, PLAYERS)}"),
        ):
            await asking(bot, path, RATE // 10, 3)  # warm
            used = bot.processor
            waits = await asking(bot, path, RATE, SECONDS)
            used = (bot.processor - used) / len(waits)
            shown(f"player's page {name}", waits)
            print(f"processor {1000 * used:.2f} ms a page")
            verdict(f"player's page {name}: p99 at {RATE}/s", 1000 * percentile(waits, 0.99), PAGE_MS, " ms")
    finally:
        await bot.close()


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.pages", description=__doc__)
    parser.add_argument("--games", type=int, default=GAMES, help=f"of the league (default {GAMES})")
    parser.add_argument("--folder", type=Path, help="where leagues are kept for the next run")
    parser.add_argument("--only", choices=("boards", "pages"), help="only this part")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        league = synthetic_league(options.folder or folder / "leagues", options.games, PLAYERS)
        parts: dict[str, Callable[[], Awaitable[None]]] = {
            "boards": lambda: boards(copy_of(league, folder / "boards") / "ratings.db"),
            "pages": lambda: pages(league, folder),
        }
        for name, part in parts.items():
            if options.only in (None, name):
                asyncio.run(part())  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
