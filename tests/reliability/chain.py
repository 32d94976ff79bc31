"""A ledger of which anything was changed behind the bot's back is found, by /体检 and by the next start.

    python -m tests.reliability.chain [--long] [--flips N] [--seed S]

A book of 200 rows with every kind of entry. Bits are flipped in the file itself, in every part of its ledger rows
(with --long in every byte of every row), while a bot has it open and before one starts; rows are removed, exchanged,
cut off, forged, the head is changed. Whole bots then start on such files: they refuse entries, answer questions, tell
desk and superuser once. Last, the check of a large book beside a busy loop: how long the loop has to wait.
"""

import argparse
import asyncio
import os
import random
import shutil
import sqlite3
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rating_core.ledger import Draft, Games, ListPublished, Row, canonical, row_hash
from rating_core.report_text import GameLine, Result
from rating_core.service.health import examine
from rating_core.service.league import League
from rating_core.store.database import Database
from rating_core.store.ledger_store import LedgerStore
from rating_core.store.migrate import migrate
from tests.reliability.cells import Byte, bytes_of
from tests.reliability.chain_bots import bots_on_damaged_files
from tests.support.leagues import large, rich
from tests.support.rows import ms

ROWS = 200
POOL = "单跳1v1"
FLIPS = 300
BOTS_SHORT, BOTS_LONG = 2, 20
STARTS_LONG = 2000
"""Of how many flips it is tried, too, that the next start finds them: the other ones are looked for by /体检 alone."""
LARGE_SHORT, LARGE_LONG = 3000, 20_000
MOST_MS = 50.0


@dataclass
class Outcome:
    """What was tried and found. `same`: flips after which SQLite reads the very same rows."""

    flips: int = 0
    found: int = 0
    same: int = 0
    starts: int = 0
    found_at_start: int = 0
    parts: Counter[str] = field(default_factory=Counter)
    structural: int = 0
    structural_found: int = 0
    bots: int = 0
    waited_ms: float = 0.0
    problems: list[str] = field(default_factory=list)


# --- the book -----------------------------------------------------------------------------------------------


async def make_book(folder: Path, rng: random.Random) -> Path:
    """Write a book of 200 rows through the store; its file has no journal beside it."""
    file = folder / "ratings.db"
    database = await Database.open(f"sqlite+aiosqlite:///{file}")
    await migrate(database, folder / "backups")
    league = await League.open(database, lambda: ms("2026-11-30 12:08"))
    drafts = [Draft(row.entry(), row.said_at, row.actor, row.pool, row.refers_to) for row in rich().rows.rows]
    last = max((d.entry for d in drafts if isinstance(d.entry, Games)), key=lambda games: games.first)
    report, game = last.report, last.first + len(last.lines) - 1
    rows = tuple((n % 5 + 1, n + 1, 2000.0, 2000.123456789, n, 0, 1, None, 0) for n in range(120))
    drafts.append(
        Draft(ListPublished(9, ms("2026-02-01"), rows), ms("2026-03-01 20:00"), 1, POOL)
    )  # several pages long
    while len(drafts) < ROWS:
        left, right = rng.sample((1, 2, 3, 4, 5, 7), 2)
        line = GameLine((left,), Result(rng.choice("WDL")), (right,))
        report, game = report + 1, game + 1
        said_at = ms("2026-03-02 20:00") + len(drafts) * 3_600_000
        drafts.append(Draft(Games(report, game, said_at, 1.0, (line,), 1), said_at, 17, POOL, reason="x"))
    for draft in drafts:
        async with league.transaction() as tx:
            await tx.append(draft)
    assert (await examine(league)).well and league.book.seq == ROWS
    await database.close()
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")
        for trigger in ("ledger_no_update", "ledger_no_delete", "ledger_no_replace"):
            connection.execute(f"DROP TRIGGER {trigger}")
    return file


def as_read(file: Path) -> str:
    """Return the ledger as SQLite reads it, of whatever type the values are."""
    try:
        with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as connection:
            connection.text_factory = bytes
            return repr(connection.execute("SELECT * FROM ledger ORDER BY seq").fetchall())
    except sqlite3.Error as error:
        return f"unreadable: {error}"


@contextmanager
def flipped(file: Path, byte: Byte, bit: int) -> Iterator[None]:
    """Flip a bit of the file in place."""
    descriptor = os.open(file, os.O_RDWR)
    try:
        before = os.pread(descriptor, 1, byte.offset)
        os.pwrite(descriptor, bytes([before[0] ^ 1 << bit]), byte.offset)
        try:
            yield
        finally:
            os.pwrite(descriptor, before, byte.offset)
    finally:
        os.close(descriptor)


# --- flips --------------------------------------------------------------------------------------------------


def chosen_flips(file: Path, count: int | None, rng: random.Random) -> list[tuple[Byte, int]]:
    """Return every byte with a bit to flip, or `count` of them: as many in each part of the rows."""
    every = bytes_of(file, "ledger")
    if count is None:
        return [(byte, rng.randrange(8)) for byte in every]
    parts: dict[str, list[Byte]] = {}
    for byte in every:
        parts.setdefault(byte.part, []).append(byte)
    chosen: list[Byte] = []
    while len(chosen) < count:
        chosen += [rng.choice(found) for found in parts.values()]
    return [(byte, rng.randrange(8)) for byte in chosen[:count]]


async def look(league: League) -> bool:
    """Return whether /体检 of the running bot finds the file damaged; the next look begins anew."""
    health = await examine(league)
    found = health.broken_row is not None and league.damage is not None and not health.well
    league.damage = None
    return found


async def damaged_at_start(url: str) -> bool:
    """Return whether a bot that starts now takes no entries."""
    database = await Database.open(url, read_only=True)
    try:
        return (await League.open(database, lambda: 0)).damage is not None
    finally:
        await database.close()


async def try_flips(file: Path, flips: Sequence[tuple[Byte, int]], starts: int, outcome: Outcome) -> None:
    """Flip and look, each flip by itself; the first `starts` also at a start."""
    url = f"sqlite+aiosqlite:///{file}"
    original = as_read(file)
    database = await Database.open(url, read_only=True)
    league = await League.open(database, lambda: ms("2026-11-30 12:08"))
    assert not await look(league)
    for number, (byte, bit) in enumerate(flips):
        with flipped(file, byte, bit):
            outcome.flips += 1
            outcome.parts[byte.part] += 1
            found = await look(league)
            outcome.found += found
            same = not found and as_read(file) == original
            outcome.same += same
            if not found and not same:
                outcome.problems.append(f"{byte}, bit {bit}: not found")
            if number < starts and not same:
                at_start = await damaged_at_start(url)
                outcome.starts += 1
                outcome.found_at_start += at_start
                if not at_start:
                    outcome.problems.append(f"{byte}, bit {bit}: not found at a start")
    if await look(league):
        outcome.problems.append("the unchanged file is said to be damaged")
    await database.close()


# --- rows and the head --------------------------------------------------------------------------------------


def forged(previous: Row, lines: tuple[GameLine, ...], number: int) -> Row:
    """Return a report as a forger would add it: with the right hash, and figures that no fold confirms."""
    payload = Games(900 + number, 9000 + number, previous.at, 1.0, lines, 1).payload()
    payload["announced"] = {"counted": "1", "ratings": [[1, 2000.0, 2999.0], [2, 2000.0, 1001.0]]}
    row = Row(previous.seq + 1, previous.at, previous.at, "games", 1, POOL, canonical(payload), 1, None, "")
    return replace(row, hash=row_hash(previous.hash, row))


def damages(
    rows: Sequence[Row], rng: random.Random, each: int
) -> Iterator[tuple[str, list[tuple[str, tuple[Any, ...]]]]]:
    """Yield ways to change a ledger: a name and statements."""
    last = rows[-1]
    columns = ", ".join(Row.__dataclass_fields__)
    insert = f"INSERT INTO ledger ({columns}) VALUES ({', '.join('?' * len(Row.__dataclass_fields__))})"
    head = "UPDATE ledger_head SET seq = ?, hash = ?"
    line = (GameLine((1,), Result.WIN, (2,)),)
    for number in range(each):
        seq = rng.randint(1, len(rows) - 1)
        yield f"row {seq} removed", [("DELETE FROM ledger WHERE seq = ?", (seq,))]
        renumber = ("UPDATE ledger SET seq = seq - 1 WHERE seq > ?", (seq,))
        yield f"row {seq} removed, the rest renumbered", [("DELETE FROM ledger WHERE seq = ?", (seq,)), renumber]
        one, two = sorted(rng.sample(range(1, len(rows) + 1), 2))
        swap = "UPDATE ledger SET seq = ? WHERE seq = ?"
        yield f"rows {one} and {two} exchanged", [(swap, (-1, one)), (swap, (one, two)), (swap, (two, -1))]
        keep = rng.randint(len(rows) // 2, len(rows) - 1)
        cut = ("DELETE FROM ledger WHERE seq > ?", (keep,))
        yield f"cut after {keep}", [cut]
        yield f"cut after {keep}, the head too", [cut, (head, (keep, rows[keep - 1].hash))]
        wrong = forged(last, line, number)
        values = tuple(getattr(wrong, name) for name in Row.__dataclass_fields__)
        yield "a forged row, the head left", [(insert, values)]
        yield "a forged row with another's hash", [(insert, (*values[:-1], last.hash)), (head, (wrong.seq, last.hash))]
        yield "a forged row, the head too", [(insert, values), (head, (wrong.seq, wrong.hash))]
        yield "another head hash", [("UPDATE ledger_head SET hash = ?", (rows[seq - 1].hash,))]
        yield "another head number", [("UPDATE ledger_head SET seq = ?", (seq,))]
    yield "no head", [("DELETE FROM ledger_head", ())]
    yield "nothing left", [("DELETE FROM ledger", ())]


async def try_damages(file: Path, rng: random.Random, each: int, outcome: Outcome) -> None:
    """Change rows and the head; a bot that has the book open looks, then one that has just started."""
    database = await Database.open(f"sqlite+aiosqlite:///{file}", read_only=True)
    async with database.read() as connection:
        rows = [row async for row in LedgerStore(connection).rows_after(0)]
    await database.close()
    for name, statements in damages(rows, rng, each):
        copy = file.with_name("changed.db")
        shutil.copyfile(file, copy)
        database = await Database.open(f"sqlite+aiosqlite:///{copy}", read_only=True)
        live = await League.open(database, lambda: 0)
        with closing(sqlite3.connect(copy)) as connection:
            for statement, values in statements:
                connection.execute(statement, values)
            connection.commit()
        found = [not (await examine(live)).well, not (await examine(await League.open(database, lambda: 0))).well]
        await database.close()
        outcome.structural += 2
        outcome.structural_found += sum(found)
        if not all(found):
            outcome.problems.append(f"{name}: found while running and after a start: {found}")


# --- the loop -----------------------------------------------------------------------------------------------


async def longest_wait(folder: Path, games: int) -> float:
    """Check a large book beside a busy loop; return for how much (ms) the check kept the loop waiting at the longest.

    In time of the processor, of which other programs of the machine take nothing away.
    """
    database = await Database.open(f"sqlite+aiosqlite:///{folder / 'large.db'}")
    await migrate(database, folder / "backups")
    async with database.write() as connection:
        drafts = [Draft(r.entry(), r.said_at, 1, r.pool, r.refers_to) for r in large(games).rows.rows]
        await LedgerStore(connection).append(drafts, ms("2026-11-30 12:08"))
    league = await League.open(database, lambda: ms("2026-11-30 12:08"))
    checking = asyncio.create_task(examine(league))
    longest = 0.0
    while not checking.done():
        begin = time.process_time()
        await asyncio.sleep(0.001)
        longest = max(longest, 1000 * (time.process_time() - begin))
    assert (await checking).well
    await database.close()
    return longest


# --- all ----------------------------------------------------------------------------------------------------


async def run(folder: Path, seed: int, flips: int | None, *, bots: int, games: int, each: int) -> Outcome:
    """Try everything; `flips` None: every byte."""
    rng, outcome = random.Random(seed), Outcome()
    file = await make_book(folder, rng)
    chosen = chosen_flips(file, flips, rng)
    rng.shuffle(chosen)
    await try_flips(file, chosen, STARTS_LONG if flips is None else len(chosen), outcome)
    await try_damages(file, rng, each, outcome)
    outcome.problems += await bots_on_damaged_files(folder, rng, bots)
    outcome.bots = bots
    outcome.waited_ms = await longest_wait(folder, games)
    if outcome.waited_ms > MOST_MS:
        outcome.problems.append(f"the loop waited {outcome.waited_ms:.0f} ms")
    return outcome


def figure(outcome: Outcome, games: int, seconds: float) -> str:
    """Return the line of figures."""
    real = outcome.flips - outcome.same
    return (
        f"FIGURE chain: {outcome.found}/{real} flipped bytes of ledger rows found by /体检 ({outcome.same} more change"
        f" nothing that SQLite reads), {outcome.found_at_start}/{outcome.starts} of those tried at a start found there;"
        f" {outcome.structural_found}/{outcome.structural} removed, exchanged, cut and forged rows and changed heads;"
        f" {outcome.bots} whole bots refused entries, answered and told once; the loop waited at most"
        f" {outcome.waited_ms:.0f} ms beside the check of {games} games; {seconds:.0f} s"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.reliability.chain", description=__doc__)
    parser.add_argument("--long", action="store_true", help="every byte of every row")
    parser.add_argument("--flips", type=int, help=f"how many flips (default {FLIPS}, long: every byte)")
    parser.add_argument("--seed", type=int, help="repeat an earlier run")
    options = parser.parse_args(arguments)
    seed = random.randrange(1_000_000) if options.seed is None else options.seed
    flips = options.flips or (None if options.long else FLIPS)
    bots, games = (BOTS_LONG, LARGE_LONG) if options.long else (BOTS_SHORT, LARGE_SHORT)
    print(f"seed {seed}", flush=True)
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        each = 20 if options.long else 3
        outcome = asyncio.run(run(Path(folder), seed, flips, bots=bots, games=games, each=each))
    print("flips by part: " + ", ".join(f"{part} {count}" for part, count in sorted(outcome.parts.items())))
    for problem in outcome.problems:
        print(f"seed {seed}: {problem}")
    if outcome.problems:
        print(f"BROKEN: python -m tests.reliability.chain --seed {seed}{' --long' if options.long else ''}")
        return 1
    print(figure(outcome, games, time.monotonic() - begin))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
