"""What a correction costs, by how far back it reaches: `python -m tests.bench.corrections [--games N] [--folder F]`.

In a book of N games (a million): the fold after a correction beside a full fold; then a correction as scorekeepers make
it, previewed, applied and committed to the file, beside the fold of all games after the corrected one, and how long the
loop was held meanwhile. Last the first game of 10,000, beside LibreOffice computing the exported workbook anew.
"""

import argparse
import asyncio
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from rating_core.book import Book
from rating_core.directory import SCOREKEEPER, Actor
from rating_core.ledger import Draft, Void, seal
from rating_core.report_text import Result
from rating_core.service import corrections
from rating_core.service.correction_plans import Request
from rating_core.service.league import League
from rating_core.service.people import Place
from rating_core.store.database import Database
from rating_core.workbook.export import export
from tests.bench.fold import book_of
from tests.bench.ledgers import synthetic_league
from tests.bench.logs import LAST, Game, synthetic
from tests.bench.timing import Timed, show
from tests.support import office

SHARES = {0.99: 0.06, 0.5: 0.60}
"""How far into the book the corrected game stands, and how much of a full fold it may cost."""
WANTED_FOLDS, WANTED_LAG, WANTED_OFFICE = 2.2, 0.05, 100
ROUNDS = 5
SMALL = 10_000
KEEPER = Actor("1", 0, roles=frozenset({SCOREKEEPER}))


def full_fold(book: Book) -> float:
    """Return the seconds of a fold of all games, which leaves the checkpoints a fold leaves."""
    book._checkpoints.clear()
    begin = time.process_time()
    book._refold(0)
    return time.process_time() - begin


def folds(games: Sequence[Game], rounds: int) -> bool:
    """Void games at each share of a book; print what folding again costs beside a full fold."""
    book = book_of(games)
    found: dict[float, list[float]] = {0.0: [], **{share: [] for share in SHARES}}
    for number in range(rounds):
        found[0.0].append(full_fold(book))
        for share in SHARES:
            seq = int(len(games) * share) + number + 1
            row = seal(Draft(Void(), LAST, 0, refers_to=seq), book.seq + 1, LAST, book.hash)
            begin = time.process_time()
            book.advance([row])
            found[share].append(time.process_time() - begin)
    full = Timed(tuple(found.pop(0.0)))
    show(f"full fold of {len(games):,}", full)
    enough = True
    for share, seconds in found.items():
        timed = Timed(tuple(seconds))
        part = timed.median / full.median
        enough = enough and part <= SHARES[share]
        show(f"correction at {share:.0%}", timed, f"{part:.1%} of a full fold (at most {SHARES[share]:.0%})")
    return enough


class Lag:
    """How long the loop was held, seen by a task that wants to run every millisecond."""

    def __init__(self) -> None:
        self.worst = 0.0

    async def __aenter__(self) -> "Lag":
        self._task = asyncio.create_task(self._watch())
        await asyncio.sleep(0.01)
        self.worst = 0.0
        return self

    async def __aexit__(self, *_: object) -> None:
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task

    async def _watch(self) -> None:
        while True:
            begin = time.perf_counter()
            await asyncio.sleep(0.001)
            self.worst = max(self.worst, time.perf_counter() - begin - 0.001)


async def correct(league: League, number: int, result: Result) -> tuple[float, float]:
    """Amend a game as a scorekeeper does; return the seconds of the preview, and of applying and committing it."""
    place = Place("g1", "1", LAST)
    begin = time.perf_counter()
    async with league.transaction() as tx:
        proposed = await corrections.propose(tx, KEEPER, Request("result", number, "", LAST, result), place)
    previewed = time.perf_counter()
    async with league.transaction() as tx:
        done = await corrections.apply(tx, KEEPER, proposed.preview, place)
    assert isinstance(done, corrections.Applied)
    return previewed - begin, time.perf_counter() - previewed


def other_result(league: League, number: int) -> Result:
    index = league.book.find_game(number)
    assert index is not None
    return Result.DRAW if chr(league.book.columns.result[index]) != "D" else Result.WIN


async def _in_a_file(path: Path, shares: Sequence[float], rounds: int) -> bool:
    database = await Database.open(f"sqlite+aiosqlite:///{path}")
    league, enough = await League.open(database, lambda: LAST), True
    for share in shares:
        games, both, worst, tail = len(league.book.columns), [], 0.0, []
        for n in range(rounds):
            number = int(games * share) + n + 1
            begin = time.perf_counter()
            twin = league.book.fork()
            forked = time.perf_counter()
            twin._checkpoints = [each for each in twin._checkpoints if each.games <= number]
            twin._refold(twin.columns.seq[number - 1])
            tail.append(time.perf_counter() - forked)
            del twin
            async with Lag() as lag:
                preview, apply = await correct(league, number, other_result(league, number))
            both.append(preview + apply)
            worst = max(worst, lag.worst)
            print(
                f"    preview {preview:.3f} s, apply {apply:.3f} s, a copy of the book {forked - begin:.3f} s",
                flush=True,
            )
        times = Timed(tuple(both)).median / Timed(tuple(tail)).median
        enough = enough and times <= WANTED_FOLDS and worst <= WANTED_LAG
        said = f"{times:.2f} folds of the tail (at most {WANTED_FOLDS}), loop held {1000 * worst:.0f} ms"
        show(f"preview and apply at {share:.0%}", Timed(tuple(both)), said)
    await database.close()
    return enough


async def _first_game(path: Path, book: Path, rounds: int) -> bool:
    database = await Database.open(f"sqlite+aiosqlite:///{path}")
    league = await League.open(database, lambda: LAST)
    export(league.book, league.directory, LAST, str(book))
    ours, applied, theirs = [], [], []
    for _ in range(rounds):
        preview, apply = await correct(league, 1, other_result(league, 1))
        ours.append(preview + apply)
        applied.append(apply)
        seconds = {}
        for recalculate in (False, True):
            with tempfile.TemporaryDirectory() as profile:
                begin = time.perf_counter()
                office.recalculated(book, Path(profile), recalculate=recalculate)
                seconds[recalculate] = time.perf_counter() - begin
        theirs.append(seconds[True] - seconds[False])
    await database.close()
    libre, bot = Timed(tuple(theirs)), Timed(tuple(applied))
    show("LibreOffice, first of 10,000", libre, "computing all formulas anew; loading and saving are not counted")
    show("the bot, preview and apply", Timed(tuple(ours)), f"× {libre.median / Timed(tuple(ours)).median:.0f}")
    show("the bot, applied and committed", bot, f"× {libre.median / bot.median:.0f} (at least {WANTED_OFFICE})")
    return libre.median / bot.median >= WANTED_OFFICE


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.corrections", description=__doc__.split("\n")[0])
    parser.add_argument("--games", type=int, default=1_000_000)
    parser.add_argument("--folder", type=Path, help="where the database files stay, to be used again")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args()
    enough = folds(synthetic(options.games), options.rounds)
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        path = synthetic_league(folder, options.games)
        enough = asyncio.run(_in_a_file(path, (0.99, 0.5), min(options.rounds, 3))) and enough
        if office.SOFFICE is None:
            print("LibreOffice is not installed: not compared")
        else:
            small = synthetic_league(folder, SMALL)
            enough = asyncio.run(_first_game(small, small.with_name("book.xlsx"), options.rounds)) and enough
    print(f"all limits kept: {'yes' if enough else 'NO'}")


if __name__ == "__main__":
    main()
