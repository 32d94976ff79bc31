"""Whatever the ledger says and however it is read, the Book is the same (design.md, "The ledger and the book")."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, target
from hypothesis import strategies as st

from rating_core import book as book_module
from rating_core.book import Book
from rating_core.check import difference
from rating_core.columns import COUNTED
from rating_core.directory import Directory
from rating_core.ledger import (
    Adjustment,
    Amend,
    Draft,
    Entry,
    Games,
    IpChecked,
    LeaveTaken,
    OpeningBalance,
    PlayerRegistered,
    Row,
    Settlement,
    Void,
)
from rating_core.order import Order
from rating_core.report_text import GameLine, Result
from rating_core.rulebook import POOLS
from rating_core.rules.display import board_order
from rating_core.store.snapshot import Snapshot
from rating_core.times import DAY_MS, season_of, season_start
from rating_core.trial import Trial, announce
from tests.support.replaying import first_difference
from tests.support.rows import Rows, ms, snapshot

PLAYERS = 6
POOL, PAIRS = "单跳1v1", "单跳2v2"
INITIALS = [2000.0, 2000.0, 2095.0, 2105.0, 2390.0, 2405.0]
CORRECTABLE = (Games, Adjustment, LeaveTaken, Settlement, OpeningBalance)

# --- random ledgers ---------------------------------------------------------------------------------------

numbers = st.integers(0, 10_000)
operations = st.tuples(
    st.sampled_from(["play"] * 6 + ["correct"] * 3 + ["other"]), st.lists(numbers, min_size=8, max_size=8)
)
ledgers = st.lists(operations, min_size=1, max_size=40)


def players_of(seed: int, size: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return two sides without a common player; few different ones, so that pairs get locked."""
    order = [seed * 7 % PLAYERS, *range(PLAYERS)]
    chosen = list(dict.fromkeys(order[:1] + order[1 + seed % 3 :]))[: 2 * size]
    return tuple(p + 1 for p in chosen[:size]), tuple(p + 1 for p in chosen[size:])


def game(pool: str, side: int, result: int) -> GameLine:
    left, right = players_of(side, POOLS[pool].side_size)
    return GameLine(left, list(Result)[result % 4 % 3], right)


class Writer(Rows):
    """Writes what the operations say; reports carry the figures as announced, as the service does it."""

    def __init__(self) -> None:
        super().__init__()
        self.live = Book()
        self.register(*INITIALS)

    def add(self, entry: Entry, **place: object) -> Row:
        row = super().add(entry, **place)  # type: ignore[arg-type]
        self.live.advance([row])
        return row

    def write(self, kind: str, n: list[int]) -> None:
        self.clock += n[0] % 5 * DAY_MS * (40 if n[0] % 11 == 0 else 1)
        {"play": self._play, "correct": self._correct, "other": self._other}[kind](n)

    def _play(self, n: list[int]) -> None:
        pool = PAIRS if n[1] % 4 == 0 else POOL
        lines = tuple(game(pool, n[2] + (i if n[6] % 3 == 0 else 0), n[3] + i * n[4]) for i in range(1 + n[5] % 5))
        posted = self.clock - (n[7] % 60) * DAY_MS
        event, weight = (1, 1.2) if n[6] % 4 == 0 else (None, 1.0)
        entry = Games(self.reports + 1, self.game + 1, posted, weight, lines, 1, event)
        trial = Trial.of(self.live)
        games = trial.apply(Draft(entry, self.clock, 1, pool))
        entry = replace(entry, announced=announce(trial.columns, games, lines))
        self.reports, self.game = self.reports + 1, self.game + len(lines)
        self.add(entry, at=self.clock, pool=pool)

    def _correct(self, n: list[int]) -> None:
        targets = [row for row in self.rows if row.kind in ("void", "amend") or isinstance(row.entry(), CORRECTABLE)]
        if not targets:
            return
        target = targets[-1 - n[1] % min(len(targets), 12)]
        entry = target.entry()
        correction: Entry = Void()
        if isinstance(entry, Games):
            number = entry.first + n[3] % len(entry.lines)
            choices = [
                Void(),
                Void(game=number),
                Amend(number, game(target.pool, n[4], n[5])),
                Amend(event=2 if n[4] % 2 else None, weight=2.0 if n[5] % 2 else None),
            ]
            correction = choices[n[2] % 4]
        self.add(correction, refers_to=target.seq, pool=target.pool)

    def _other(self, n: list[int]) -> None:
        player, pool = 1 + n[1] % PLAYERS, PAIRS if n[2] % 3 == 0 else POOL
        year = season_of(self.clock)
        entries: list[Entry] = [
            Adjustment(player, float(n[3] % 100 - 50)),
            LeaveTaken(player, season_start(year + 1), (POOL,)),
            Settlement(year, self.clock + 20 * DAY_MS, ((player, 20.0), (player % PLAYERS + 1, 0.0))),
            IpChecked(player, bool(n[4] % 2)),
        ]
        entry = entries[n[5] % 4]
        self.add(entry, pool="" if isinstance(entry, LeaveTaken | IpChecked) else pool)


def written(plan: list[tuple[str, list[int]]]) -> Writer:
    writer = Writer()
    for kind, n in plan:
        writer.write(kind, n)
    return writer


# --- the same Book, however it is read --------------------------------------------------------------------


@pytest.fixture(params=[1, 3, 10, 2000], scope="module", autouse=True)
def checkpoints(request: pytest.FixtureRequest) -> Iterator[int]:
    """Take a checkpoint every so many games."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(book_module, "CHECKPOINT_GAMES", request.param)
        yield request.param


@given(ledgers)
def test_in_one_go_and_row_by_row(plan: list[tuple[str, list[int]]]) -> None:
    writer = written(plan)
    at_once = writer.book()
    assert snapshot(at_once) == snapshot(writer.live)
    assert difference(writer.live, at_once) is None


@given(ledgers)
def test_corrected_is_as_if_written_right_at_once(plan: list[tuple[str, list[int]]]) -> None:
    """§10: the old entry is treated as never made or as amended, in its old place."""
    writer = written(plan)
    clean = Rows()
    seqs = {}
    for row, entry in resolved(writer.rows):
        seqs[clean.add(entry, at=row.said_at, pool=row.pool).seq] = row.seq
    right = clean.book()
    live = writer.live
    for rows_of in (right.state.leaves, right.state.settled):
        rows_of.update({about: seqs[seq] for about, seq in rows_of.items()})  # type: ignore[arg-type]
    assert right.state == live.state
    assert [replace(mark, seq=seqs[mark.seq]) for mark in right.marks] == live.marks
    kept = [index for index in range(len(live.columns)) if not live.is_void(index)]
    assert [live.columns.number[i] for i in kept] == list(right.columns.number)
    for name in ("result", "flags", "event", "weight", "at"):
        assert [getattr(live.columns, name)[i] for i in kept] == list(getattr(right.columns, name)), name
    for name in ("players", "before", "change"):
        for slot in right.columns.slots:
            ours, theirs = getattr(live.columns, name)[slot], getattr(right.columns, name)[slot]
            assert [ours[i] for i in kept] == list(theirs), (name, slot)
    for index in set(range(len(live.columns))) - set(kept):
        assert not live.counted(index)
        columns = live.columns
        assert all(columns.before[slot][index] == columns.change[slot][index] == 0.0 for slot in columns.slots)


def resolved(rows: list[Row]) -> Iterator[tuple[Row, Entry]]:
    """Return the ledger as it would be had everything been written right: a second, slower way to say §10."""
    void: set[int] = set()
    corrections: dict[int, list[Entry]] = {}
    for row in reversed(rows):  # whether a correction holds depends on later rows only
        entry = row.entry()
        if isinstance(entry, Void | Amend) and row.seq not in void:
            assert row.refers_to is not None
            if isinstance(entry, Void) and (entry.game is None or rows[row.refers_to - 1].kind != "games"):
                void.add(row.refers_to)
            corrections.setdefault(row.refers_to, []).insert(0, entry)
    for row in rows:
        entry = row.entry()
        if row.seq in void or isinstance(entry, Void | Amend):
            continue
        if not isinstance(entry, Games):
            yield row, entry
            continue
        for offset, line in enumerate(entry.lines):
            number = entry.first + offset
            one = replace(entry, first=number, lines=(line,), announced=None)
            dropped = False
            for correction in corrections.get(row.seq, ()):
                if isinstance(correction, Void):
                    dropped |= correction.game == number
                elif isinstance(correction, Amend) and correction.line is not None:
                    if correction.game == number:
                        one = replace(one, lines=(correction.line,))
                elif isinstance(correction, Amend):
                    weight = one.weight if correction.weight is None else correction.weight
                    one = replace(one, event=correction.event, weight=weight)
            if not dropped:
                yield row, one


@given(ledgers)
def test_announced_figures_equal_the_fold_at_their_seq(plan: list[tuple[str, list[int]]]) -> None:
    writer = written(plan)
    assert first_difference(writer.live, writer.rows) is None


@given(ledgers, numbers, numbers)
def test_a_trial_leaves_the_book_alone(plan: list[tuple[str, list[int]]], side: int, result: int) -> None:
    book = written(plan).live
    before = snapshot(book)
    trial = Trial.of(book)
    at = ms("2027-05-05")
    for first, pool in ((9001, POOL), (9101, PAIRS), (9201, POOL)):
        lines = tuple(game(pool, side, result + i) for i in range(6))
        trial.apply(Draft(Games(900, first, at, 1.0, lines, 1), at, 1, pool))
    trial.apply(Draft(Settlement(2027, at, ((1, 20.0),)), at, 1, POOL))
    assert snapshot(book) == before


@given(ledgers)
def test_counts_and_ratings_fit_together(plan: list[tuple[str, list[int]]]) -> None:
    """Wins, draws and losses of all players come from the counted games; so do ratings, with the marks."""
    writer = written(plan)
    book = writer.live
    for name, pool in book.state.pools.items():
        for player, standing in pool.standings.items():
            games = [i for i in book.games_of(player) if book.columns.pool[i] == name]
            counted = [i for i in games if book.columns.flags[i] & COUNTED]
            assert standing.games == len(counted) == standing.wins + standing.draws + standing.losses
            assert sum(standing.season_games.values()) == standing.games
            gained = sum(
                book.columns.change[slot][i] for i in counted for slot, p in book.columns.members(i) if p == player
            )
            moved = sum(m.after - m.before for m in book.marks if (m.pool, m.player) == (name, player))
            assert standing.rating == pytest.approx(INITIALS[player - 1] + gained + moved, abs=1e-6)
            if standing.peak is not None:
                assert standing.peak >= standing.rating - 1e-9 and standing.games >= 20


@given(ledgers, st.integers(0, 1000))
def test_a_book_from_its_file_goes_on_as_if_it_had_never_stopped(plan: list[tuple[str, list[int]]], n: int) -> None:
    writer = written(plan)
    with TemporaryDirectory() as folder:
        file = Snapshot(Path(folder) / "ratings.snapshot")
        assert file.save(writer.live, lambda: True)
        again = file.load()
    assert snapshot(again) == snapshot(writer.live)
    assert [(p.steps, p.games, p.marks) for p in again._checkpoints] == [
        (p.steps, p.games, p.marks) for p in writer.live._checkpoints
    ]
    writer.write("correct", [n, n, n, n, n, n, n, n])
    writer.write("play", [n, n, n, n, n, n, n, n])
    again.advance(writer.rows[again.seq :])
    assert snapshot(again) == snapshot(writer.live)
    assert difference(again, writer.live) is None


def test_the_random_ledgers_are_worth_reading() -> None:
    """They hold locked pairs, games of both pools, and corrections of corrections."""
    seed = [(("play", "play", "correct", "play", "other", "correct")[i % 6], [i * 37 % 101 + j * i for j in range(8)])
            for i in range(200)]  # fmt: skip
    writer = written(seed)
    kinds = {row.kind for row in writer.rows}
    assert {"games", "void", "amend", "settlement", "leave_taken", "adjustment", "ip_checked"} <= kinds
    assert any(not writer.live.counted(i) and not writer.live.is_void(i) for i in range(len(writer.live.columns)))
    assert {POOL, PAIRS} == set(writer.live.columns.pool)
    targets = {row.refers_to for row in writer.rows if row.refers_to}
    assert any(writer.rows[seq - 1].kind in ("void", "amend") for seq in targets)


def test_checkpoints_are_few_and_near_the_end(checkpoints: int) -> None:
    rows = Rows()
    rows.register(*INITIALS)
    for number in range(300):
        rows.play([game(POOL, number, number)] * 3, event=1)
    book = rows.book()
    kept = [point.games for point in book._checkpoints]
    assert kept == sorted(set(kept))
    assert len(kept) <= 32
    if checkpoints <= 10:
        assert 900 - kept[-1] <= 3 + max(checkpoints, 900 // 30)
        assert kept[0] <= 900 // 8 + 3
    unpatched = PlayerRegistered(7, 2000.0, "普通")
    book.advance([rows.add(unpatched), rows.add(Void(), refers_to=rows.rows[100].seq)])
    assert difference(book, rows.book()) is None


@given(ledgers, st.lists(st.booleans(), min_size=41, max_size=41))
def test_an_order_that_is_kept_is_as_if_sorted_anew(plan: list[tuple[str, list[int]]], asked: list[bool]) -> None:
    """§7: whatever was read since the board was last asked for, and whether N or names changed meanwhile."""
    directory = Directory()
    for player in range(1, PLAYERS + 1):
        directory.roster.add(f"棋手{player}", player)
    writer = Writer()
    kept = 0
    for number, (kind, n) in enumerate(plan):
        writer.write(kind, n)
        if not asked[number]:
            continue
        if n[0] % 13 == 0:
            directory = directory.copy()
            directory.roster.rename(1 + n[1] % PLAYERS, f"改名{number}")
        for pool in (POOL, PAIRS):
            before = writer.live.orders.get(pool)
            order = Order.of(writer.live, directory, pool, writer.clock)
            places = board_order(writer.live.state.pools[pool], directory, writer.clock)
            assert order.places == places
            assert {player: order.rank(player) for player in range(1, PLAYERS + 1)} == dict.fromkeys(
                range(1, PLAYERS + 1)
            ) | {place[-1]: rank for rank, place in enumerate(places, start=1)}
            kept += before is not None and before.stirred == writer.live.stirred
    target(kept)
