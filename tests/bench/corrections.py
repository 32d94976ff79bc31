"""What a correction costs, by how far back it reaches: `python -m tests.bench.corrections [--games N] [--folder F]`.

In a book of N games (a million): the fold after a correction beside a full fold; then a correction as scorekeepers make
it, previewed, applied and committed to the file, beside the fold of all games after the corrected one, and how long the
loop was held meanwhile. Last the first game of 10,000, beside LibreOffice with the exported workbook open.
"""

import argparse
import asyncio
import gc
import shutil
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
from rating_core.workbook.layout import RESULT, GameColumns
from tests.bench.figures import verdict
from tests.bench.fold import book_of
from tests.bench.ledgers import synthetic_league
from tests.bench.logs import LAST, Game, synthetic
from tests.bench.timing import Timed, show
from tests.support import office

SHARES = {0.99: 6.0, 0.5: 60.0}
"""How far into the book the corrected game stands, and how many percent of a full fold it may cost."""
WANTED_FOLDS, WANTED_LAG, WANTED_OFFICE = 2.2, 50, 100
ROUNDS = 5
SMALL = 10_000
KEEPER = Actor("1", 0, roles=frozenset({SCOREKEEPER}))


def full_fold(book: Book) -> float:
    """Return the seconds of a fold of all games, which leaves the checkpoints a fold leaves."""
    book._checkpoints.clear()
    begin = time.process_time()
    book._refold(0)
    return time.process_time() - begin


def folds(games: Sequence[Game], rounds: int) -> None:
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
    for share, seconds in found.items():
        timed = Timed(tuple(seconds))
        show(f"folding again from {share:.0%} on", timed)
        verdict(f"from {share:.0%} on, beside a full fold", 100 * timed.median / full.median, SHARES[share], " %")


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


async def _in_a_file(path: Path, shares: Sequence[float], rounds: int) -> None:
    database = await Database.open(f"sqlite+aiosqlite:///{path}")
    league = await League.open(database, lambda: LAST)
    gc.collect()
    gc.freeze()  # as the bot does after its start
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
        timed, folded = Timed(tuple(both)), Timed(tuple(tail))
        show(f"preview and apply at {share:.0%}", timed)
        verdict(f"at {share:.0%}, beside a fold of the tail", timed.median / folded.median, WANTED_FOLDS, "×")
        verdict(f"at {share:.0%}, the loop was held", 1000 * worst, WANTED_LAG, " ms")
    await database.close()


async def _first_game(path: Path, book: Path, rounds: int) -> None:
    database = await Database.open(f"sqlite+aiosqlite:///{path}")
    league = await League.open(database, lambda: LAST)
    export(league.book, league.directory, LAST, str(book))
    ours, applied, computed, saved = [], [], [], []
    with office.opened(book) as edit:
        for _ in range(rounds):
            result = other_result(league, 1)
            preview, apply = await correct(league, 1, result)
            ours.append(preview + apply)
            applied.append(apply)
            seconds = edit(1, GameColumns(1).places[RESULT], result.word)
            computed.append(seconds[0])
            saved.append(seconds[1])
    await database.close()
    libre, bot = Timed(tuple(saved)), Timed(tuple(applied))
    typed = Timed(tuple(computed))
    show(
        "LibreOffice, first of 10,000",
        typed,
        f"typed into the open workbook and computed; × {typed.median / bot.median:.0f}",
    )
    show("the same, and saved", libre, "as the bot's correction is")
    show("the bot, preview and apply", Timed(tuple(ours)), f"× {libre.median / Timed(tuple(ours)).median:.0f}")
    show("the bot, applied and committed", bot)
    verdict("first of 10,000, beside LibreOffice", libre.median / bot.median, WANTED_OFFICE, "×", most=False)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.corrections", description=__doc__.split("\n")[0])
    parser.add_argument("--games", type=int, default=1_000_000)
    parser.add_argument("--folder", type=Path, help="where the database files stay, to be used again")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args()
    folds(synthetic(options.games), options.rounds)
    synthetic.cache_clear()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        path = synthetic_league(folder, options.games)
        used = shutil.copy(path, Path(temporary) / "used.db")
        asyncio.run(_in_a_file(Path(used), tuple(SHARES), min(options.rounds, 3)))
        if office.SOFFICE is None or office.uno_python() is None:
            print("LibreOffice or its Python (python3-uno) is not installed: not compared")
        else:
            small = synthetic_league(folder, SMALL)
            used = shutil.copy(small, Path(temporary) / "small.db")
            asyncio.run(_first_game(Path(used), Path(temporary) / "book.xlsx", options.rounds))


if __name__ == "__main__":
    main()
