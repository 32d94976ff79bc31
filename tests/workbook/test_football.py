"""A real history of another game, imported whole, against an independent few lines of the rules.

The first 2,000 of 49,520 games of national football teams since 1872, all of them where TIAOQI_TEST_WHOLE is set. Every
game is a casual one, so that L6 decides: four more wins than losses of a pair in a year lock it.
"""

import csv
import gzip
import os
from collections import defaultdict
from pathlib import Path

import pytest

from rating_core.directory import Actor
from rating_core.importing.detect import read_file
from rating_core.importing.files import GameFile
from rating_core.importing.games_entries import plan_games
from rating_core.importing.games_outcome import outcome
from rating_core.importing.games_plan import Options
from rating_core.importing.games_writer import enter, last_numbers
from rating_core.queries import board
from rating_core.service.league import League
from tests.support.engines import only_sqlite

WHOLE = "TIAOQI_TEST_WHOLE" in os.environ
SAMPLE = 2_000


@pytest.fixture
def history(tmp_path: Path) -> Path:
    """The history as a file to import."""
    with gzip.open(Path(__file__).parents[1] / "data" / "football-internationals.csv.gz", "rb") as packed:
        lines = packed.readlines()
    path = tmp_path / "football.csv"
    path.write_bytes(b"".join(lines if WHOLE else lines[: SAMPLE + 1]))
    return path


def by_hand(path: Path) -> tuple[dict[str, float], dict[str, int], int]:
    """L1, L5 and L6 in a few lines: ratings, counted games, and how many games did not count."""
    rating: dict[str, float] = defaultdict(lambda: 2000.0)
    games: dict[str, int] = defaultdict(int)
    net: dict[tuple[str, str, str], int] = defaultdict(int)
    lock: dict[tuple[str, str, str], tuple[int, int]] = {}
    uncounted = 0
    for row in csv.DictReader(path.open(encoding="utf-8")):
        a, b, won = row["A"], row["B"], float(row["result"])
        first, second = sorted((a, b))
        key = (row["date"][:4], first, second)
        if key in lock:
            if games[first] - lock[key][0] < 4 or games[second] - lock[key][1] < 4:
                uncounted += 1
                continue
            del lock[key]
            net[key] = 0
        k = {name: 16 if rating[name] >= 2400 else 24 if rating[name] >= 2100 else 32 for name in (a, b)}
        we_a = 1 / (10 ** ((rating[b] - rating[a]) / 400) + 1)
        we_b = 1 / (10 ** ((rating[a] - rating[b]) / 400) + 1)
        rating[a], rating[b] = rating[a] + k[a] * (won - we_a), rating[b] + k[b] * (1 - won - we_b)
        games[a], games[b] = games[a] + 1, games[b] + 1
        net[key] += (won > 0.5) - (won < 0.5) if a == first else (won < 0.5) - (won > 0.5)
        if abs(net[key]) >= 4:
            lock[key] = (games[first], games[second])
    return rating, games, uncounted


@pytest.mark.timeout(300)
@only_sqlite
async def test_a_long_history_is_imported_and_its_board_is_right(league: League, history: Path) -> None:
    ratings, games, uncounted = by_hand(history)
    file = read_file(history.read_bytes())
    assert isinstance(file, GameFile) and file.problems == ()
    async with league.transaction() as tx:
        options = Options(new_players=True)
        plan = plan_games(file, tx.book, tx.directory, await last_numbers(tx.counters), options, tx.now)
        assert plan.clear, (plan.problems[:3], plan.unknown[:3])
        tried = outcome(plan, tx.book, tx.directory)
        await enter(tx, Actor(""), plan, "f" * 64, tx.now)
    total = sum(1 for _ in csv.DictReader(history.open(encoding="utf-8")))
    assert (tried.counted, tried.uncounted, len(league.book.columns)) == (total - uncounted, uncounted, total)
    for book, directory in ((tried.book, tried.directory), (league.book, league.directory)):
        found = board(book, directory, "单跳1v1", tx.now)
        assert {row.name: row.games for row in found.rows} == dict(games)
        assert {row.name: row.rating for row in found.rows} == pytest.approx(dict(ratings), abs=1e-9)
        shown = {name: rating - 10 * max(0, 20 - games[name]) for name, rating in ratings.items()}
        order = sorted(shown, key=lambda name: (-round(shown[name], 6), -round(ratings[name], 6), -games[name], name))
        assert [row.name for row in found.rows] == order
    assert (total, uncounted) == ((49_520, 4) if WHOLE else (SAMPLE, 3))


async def test_without_a_word_about_new_players_nobody_is_registered(league: League, history: Path) -> None:
    file = read_file(history.read_bytes())
    assert isinstance(file, GameFile)
    async with league.transaction() as tx:
        plan = plan_games(file, tx.book, tx.directory, await last_numbers(tx.counters), Options(), tx.now)
    assert not plan.clear and plan.drafts == () and plan.problems == ()
    assert (plan.unknown[0].name, plan.unknown[0].row) == ("Scotland", 2) and len(plan.unknown) > 30
