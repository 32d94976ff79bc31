"""How costs grow with the league: `python -m tests.bench.curves [--most N] [--folder F] [--draw FILE]`.

For n games (1,000 to 1,000,000, a hundredth as many players, at least 50): fold, start, one more game appended and
committed, a correction of the game in the middle tried, a page of the board after a game, card, head-to-head, export
and import of all games. The picture has a line for each; what grows like n is parallel to the grey lines.
"""

import argparse
import asyncio
import csv
import json
import random
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from plugins.rating_bot.wording.queries import BOARD_PAGE
from rating_core.directory import Actor
from rating_core.importing.detect import read_file
from rating_core.importing.files import MAX_GAMES, GameFile
from rating_core.importing.games_entries import plan_games
from rating_core.importing.games_outcome import outcome
from rating_core.importing.games_plan import Options
from rating_core.importing.games_writer import enter, last_numbers
from rating_core.ledger import Draft, Games, Void
from rating_core.queries import board, card, head_to_head
from rating_core.report_text import GameLine, Result
from rating_core.rulebook import DEFAULT_POOL
from rating_core.service.league import League
from rating_core.store.database import Database
from rating_core.times import to_datetime
from rating_core.workbook.export import export
from tests.bench.chart import Line, chart
from tests.bench.corrections import full_fold
from tests.bench.fold import book_of
from tests.bench.ledgers import names, synthetic_league
from tests.bench.logs import LAST, Game, synthetic
from tests.bench.pages import play

SIZES = (1_000, 10_000, 100_000, 1_000_000)
TITLES = {
    "fold": "全部重算", "start": "启动", "append": "记一局（写盘）", "correction": "改正中间一局（试算）",
    "board": "又一局以后的排行榜", "card": "等级分卡片", "head_to_head": "对战", "export": "导出工作簿",
    "import": "导入（写盘）",
}  # fmt: skip
REPEATED = 15
Costs = dict[str, dict[int, float]]
"""Operation → games → seconds."""


def best(work: Callable[[], object], rounds: int = REPEATED) -> float:
    """Return the seconds of the fastest round: what else runs here only adds to it."""
    seconds = []
    for _ in range(rounds):
        begin = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - begin)
    return min(seconds)


async def best_of(work: Callable[[], Awaitable[object]], rounds: int = REPEATED) -> float:
    """Do the same for what waits."""
    seconds = []
    for _ in range(rounds):
        begin = time.perf_counter()
        await work()
        seconds.append(time.perf_counter() - begin)
    return min(seconds)


async def _append(league: League) -> None:
    async with league.transaction() as tx:
        number = len(tx.book.columns) + 1
        line = GameLine((1,), Result.WIN, (2,))
        await tx.append(Draft(Games(number, number, LAST, 1.0, (line,), 1), LAST, 1, DEFAULT_POOL))


async def _of_a_file(path: Path, size: int, costs: Costs, scratch: Path) -> None:
    """Measure what needs a league with its database."""
    database = await Database.open(f"sqlite+aiosqlite:///{path}")
    begin = time.perf_counter()
    league = await League.open(database, lambda: LAST)
    costs["start"][size] = time.perf_counter() - begin
    book, directory = league.book, league.directory
    draft = Draft(Void(), LAST, 0, refers_to=book.columns.seq[size // 2])
    costs["correction"][size] = best(lambda: book.with_drafts([draft]), 3)
    costs["card"][size] = best(lambda: card(book, directory, DEFAULT_POOL, 1, LAST))
    costs["head_to_head"][size] = best(lambda: head_to_head(book, directory, DEFAULT_POOL, (1,), (2,), LAST))
    costs["export"][size] = best(lambda: export(book, directory, LAST, str(scratch / "book.xlsx")), 1)
    costs["append"][size] = await best_of(lambda: _append(league))
    # last: these games are not in the file
    chance, page = random.Random(1), slice(0, BOARD_PAGE)
    board(book, directory, DEFAULT_POOL, LAST)
    costs["board"][size] = best(
        lambda: (play(book, chance, LAST), board(book, directory, DEFAULT_POOL, LAST, part=page))
    )
    await database.close()


def _written(games: Sequence[Game], path: Path) -> Path:
    called = dict(enumerate(names(), 1))
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(("date", "A", "B", "result"))
        points = {"W": "1", "D": "0.5", "L": "0"}
        rows.writerows(
            (to_datetime(g.at).strftime("%Y-%m-%d %H:%M:%S"), called[g.left], called[g.right], points[g.result])
            for g in games
        )
    return path


async def _import(games: Sequence[Game], folder: Path) -> float:
    """Return the seconds of importing all games into an empty league, in files as large as may be: tried, written."""
    files = [
        _written(games[first : first + MAX_GAMES], folder / f"games-{first}.csv")
        for first in range(0, len(games), MAX_GAMES)
    ]
    database = await Database.open(f"sqlite+aiosqlite:///{synthetic_league(folder / 'empty', 0)}")
    league = await League.open(database, lambda: LAST)
    begin = time.perf_counter()
    for path in files:
        file = read_file(path.read_bytes())
        assert isinstance(file, GameFile)
        async with league.transaction() as tx:
            numbers = await last_numbers(tx.counters)
            plan = plan_games(file, tx.book, tx.directory, numbers, Options(new_players=True), LAST)
            outcome(plan, tx.book, tx.directory)
            await enter(tx, Actor(""), plan, f"{len(tx.book.columns):064}", LAST)
    seconds = time.perf_counter() - begin
    assert len(league.book.columns) == len(games)
    await database.close()
    return seconds


def measure(sizes: Sequence[int], folder: Path) -> Costs:
    """Return what everything costs at each size."""
    costs: Costs = {name: {} for name in TITLES}
    for size in sizes:
        games = synthetic(size)
        book = book_of(games)
        costs["fold"][size] = min(full_fold(book) for _ in range(3))
        del book
        path = synthetic_league(folder, size)
        with tempfile.TemporaryDirectory() as scratch:
            copied = Path(scratch) / "ratings.db"
            copied.write_bytes(path.read_bytes())
            asyncio.run(_of_a_file(copied, size, costs, Path(scratch)))
        with tempfile.TemporaryDirectory() as scratch:
            (Path(scratch) / "empty").mkdir()
            synthetic_league(Path(scratch) / "empty", 0)
            costs["import"][size] = asyncio.run(_import(games, Path(scratch)))
        synthetic.cache_clear()
        print(
            f"{size:>9,} games: " + ", ".join(f"{name} {1000 * costs[name][size]:.1f}" for name in TITLES), flush=True
        )
    return costs


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.curves", description=__doc__.split("\n")[0])
    parser.add_argument("--most", type=int, default=SIZES[-1], help="the largest league")
    parser.add_argument("--folder", type=Path, help="where the database files stay, to be used again")
    parser.add_argument("--draw", type=Path, help="write the picture (SVG), and the figures beside it (JSON)")
    options = parser.parse_args()
    sizes = [size for size in SIZES if size <= options.most]
    with tempfile.TemporaryDirectory() as temporary:
        costs = measure(sizes, options.folder or Path(temporary))
    print(f"{'ms':14}" + "".join(f"{size:>12,}" for size in sizes))
    for name, found in costs.items():
        print(f"{name:14}" + "".join(f"{1000 * found[size]:12.2f}" for size in sizes))
    if options.draw is not None:
        options.draw.with_suffix(".json").write_text(json.dumps(costs, indent=1) + "\n", "utf-8")
        lines = [
            Line(TITLES[name], [(n, 1000 * seconds) for n, seconds in found.items()]) for name, found in costs.items()
        ]
        options.draw.write_text(chart(lines, "局数", "毫秒"), "utf-8")


if __name__ == "__main__":
    main()
