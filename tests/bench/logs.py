"""The logs that are folded: real football results with draws, and made-up ones of 100,000 and 1,000,000 games."""

import csv
import gzip
import random
from collections.abc import Sequence
from datetime import date
from functools import cache
from pathlib import Path
from typing import NamedTuple

from rating_core.columns import GameColumns
from rating_core.rulebook import DEFAULT_POOL
from rating_core.state import State
from rating_core.times import season_of, start_of

INITIAL = 2000.0
FOOTBALL = Path(__file__).parents[1] / "data" / "football-internationals.csv.gz"
FIRST, LAST = start_of(date(2018, 1, 1)), start_of(date(2026, 11, 1))
LETTERS = {"1": "W", "0.5": "D", "0": "L"}


class Game(NamedTuple):
    """A game as a log tells it; `at` in ms."""

    left: int
    right: int
    result: str
    at: int
    season: int
    weight: float


@cache
def football() -> Sequence[Game]:
    """Return 49,520 games between national teams, 1872 to 2026 (tests/data/README.md)."""
    teams: dict[str, int] = {}
    games = []
    with gzip.open(FOOTBALL, "rt", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            left, right = (teams.setdefault(row[side], len(teams) + 1) for side in "AB")
            at = start_of(date.fromisoformat(row["date"]))
            games.append(Game(left, right, LETTERS[row["result"]], at, season_of(at), 1.0))
    return games


@cache
def synthetic(count: int, players: int | None = None) -> Sequence[Game]:
    """Return games spread evenly over nine seasons, a hundred times as many as players, some of double weight."""
    rng = random.Random(count)
    players = players or max(count // 100, 50)
    games = []
    for number in range(count):
        left, right = rng.sample(range(1, players + 1), 2)
        at = FIRST + (LAST - FIRST) * number // count
        weight = rng.choice((1.0, 1.0, 1.0, 1.0, 2.0))
        games.append(Game(left, right, rng.choice("WWWLLLD"), at, season_of(at), weight))
    return games


LOGS = {
    "football": football,
    "100k": lambda: synthetic(100_000),
    "1M": lambda: synthetic(1_000_000),
}


def columns_of(games: Sequence[Game], pool: str = DEFAULT_POOL) -> GameColumns:
    """Return the games as the Book keeps them."""
    columns = GameColumns()
    for number, game in enumerate(games, 1):
        columns.append(
            number, number, number, game.at, game.at, pool, 0, game.weight, game.result, (game.left,), (game.right,)
        )
    return columns


def opened(games: Sequence[Game]) -> State:
    """Return a state in which everybody who plays is registered."""
    state = State.empty()
    for game in games:
        state.initial[game.left] = state.initial[game.right] = INITIAL
    return state
