"""The cases in tests/cases come from an independent implementation of the rulebook; ours must agree to 1e-9."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from rating_core.book import Book
from rating_core.ledger import Amend, EventOpened, PlayerRegistered, Settlement, Void
from rating_core.report_text import Result
from rating_core.rulebook import PLACINGS, PROVISIONAL_GAMES, PROVISIONAL_STEP
from rating_core.rules import season
from rating_core.times import day_of, season_start
from tests.support.rows import Rows, line, ms

CASES = Path(__file__).resolve().parents[1] / "cases"
LETTERS = {result.word: result.value for result in Result}
LEAGUES = ["league-1v1", "league-casual", "league-2v2", "league-2v2-casual"]
EVENT = 7
close = pytest.approx


@cache
def load(name: str) -> dict[str, Any]:
    return json.loads((CASES / f"{name}.json").read_text("utf-8"))


def enter(case: dict[str, Any], pool: str) -> tuple[Rows, dict[str, int]]:
    """Write a case's players and games, one report a game, all in one season."""
    rows = Rows()
    ids = {name: number for number, name in enumerate(case["start"], 1)}
    for name, placing in case["start"].items():
        rows.add(PlayerRegistered(ids[name], PLACINGS[placing], placing))
    rows.add(EventOpened(EVENT, 1.0), pool=pool)
    for game in case["games"]:
        sides = [tuple(ids[name] for name in game[side]) for side in ("left", "right")]
        rows.play(
            [line(sides[0], LETTERS[game["result"]], sides[1])],
            event=EVENT if game["event"] else None, weight=float(game["weight"]), pool=pool,
        )  # fmt: skip
    return rows, ids


def check_final(book: Book, pool: str, case: dict[str, Any], ids: dict[str, int]) -> None:
    """Compare standings, shown ratings and the order of the board."""
    day = day_of(ms("2026-11-30"))
    shown = {}
    for name, final in case["final"].items():
        standing = book.state.look(pool, ids[name])
        figures = (standing.games, standing.wins, standing.draws, standing.losses)
        assert figures == (final["games"], final["w"], final["d"], final["l"]), name
        assert standing.rating == close(final["rating"], abs=1e-9)
        assert standing.peak == (None if final["peak"] is None else close(final["peak"], abs=1e-9)), name
        missing = max(0, PROVISIONAL_GAMES.on(day) - standing.games)
        shown[name] = standing.rating - PROVISIONAL_STEP.now * missing
        assert shown[name] == close(final["shown"], abs=1e-9)
    assert sorted(shown, key=lambda name: -shown[name]) == case["board"]


def pool_of(name: str) -> str:
    return "单跳2v2" if "2v2" in name else "单跳1v1"


@pytest.mark.parametrize("name", LEAGUES)
def test_league(name: str) -> None:
    case, pool = load(name), pool_of(name)
    rows, ids = enter(case, pool)
    book = rows.book()
    assert len(book.columns) == len(case["games"])
    for index, game in enumerate(case["games"]):
        assert book.counted(index) == game["counted"], index
        players = (*game["left"], *game["right"])
        if not game["counted"]:
            assert all(book.columns.change[slot][index] == 0.0 for slot, _ in book.columns.members(index))
            continue
        for slot, player in book.columns.members(index):
            (who,) = (n for n in players if ids[n] == player)
            assert book.columns.change[slot][index] == close(game["change"][who], abs=1e-9), (index, who)
    check_final(book, pool, case, ids)


@pytest.mark.parametrize("index", range(4))
def test_correction(index: int) -> None:
    """Each correction alone, as ledger rows after the whole league; then undone by voiding it."""
    case, pool = load("corrections"), "单跳1v1"
    rows, ids = enter(case["base"], pool)
    book = rows.book()
    check_final(book, pool, case["base"], ids)
    correction = case["corrections"][index]
    number = correction["game"] + 1
    seq = book.columns.seq[correction["game"]]
    if correction["change"] == "void":
        entry: Void | Amend = Void()
    else:
        played = case["base"]["games"][correction["game"]]
        amended = line(ids[played["left"][0]], LETTERS[correction["change"]], ids[played["right"][0]])
        entry = Amend(number, amended)
    row = rows.add(entry, refers_to=seq)
    book.advance([row])
    check_final(book, pool, correction, ids)
    book.advance([rows.add(Void(), refers_to=row.seq)])
    check_final(book, pool, case["base"], ids)


def test_settlement() -> None:
    case, pool = load("settlement"), "单跳1v1"
    rows = Rows()
    ids = {name: number for number, name in enumerate(case["start"], 1)}
    for name, placing in case["start"].items():
        rows.add(PlayerRegistered(ids[name], PLACINGS[placing], placing), at=ms("2025-12-31 12:00"))
    for position, game in enumerate(case["games"]):
        at = ms(game["day"]) + position * 1000
        rows.play([line(ids[game["left"]], LETTERS[game["result"]], ids[game["right"]])], at=at)
    book = rows.book()
    verdicts: dict[str, season.Verdict] = {}
    for name, before in case["before"].items():
        standing = book.state.look(pool, ids[name])
        assert standing.rating == close(before["rating"], abs=1e-9)
        assert standing.season_games == {2026: before["season_games"]}
        assert day_of(standing.first_at).isoformat() == before["first"]
        verdict = season.judge(standing, 2026, on_leave=name in case["on_leave"])
        if verdict is not None:
            verdicts[name] = verdict
    assert [book.counted(i) for i in range(len(book.columns))] == [game["counted"] for game in case["games"]]
    archived = {n: "leave" if v.reason == "leave" else f"-{v.taken:g}" for n, v in verdicts.items() if v.archived}
    assert archived == case["verdicts"]
    assert verdicts["选手06"].reason == "high_rating"
    assert verdicts["选手09"].reason == "newcomer"
    executed = tuple((ids[name], verdict.taken) for name, verdict in verdicts.items() if verdict.archived)
    entry = Settlement(2026, season.return_day(2026), executed)
    book.advance([rows.add(entry, pool=pool, at=season_start(2027) + 1)])
    for name, after in case["after"].items():
        standing = book.state.look(pool, ids[name])
        assert standing.rating == close(after, abs=1e-9)
        assert standing.archived == (name in case["verdicts"])
    assert [(mark.player, mark.kind) for mark in book.marks] == [(ids["选手08"], "settlement")]
