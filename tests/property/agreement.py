"""What must hold between the service and the plain league after every step."""

from collections.abc import Mapping

import pytest

from rating_core.book import Book
from rating_core.columns import COUNTED
from rating_core.ledger import Row
from rating_core.queries.boards import board
from rating_core.rules.challenge import debts
from rating_core.rules.eligibility import bar_of
from rating_core.service.league import League
from rating_core.store.ledger_store import LedgerStore
from tests.support.plain_book import pair_of, year_of
from tests.support.plain_league import PlainLeague
from tests.support.replaying import broken_row, first_difference

EXPLAINS = ("opening_balance", "adjustment", "settlement", "challenge_forfeited")


async def check_agreement(league: League, plain: PlainLeague, now: int, names: Mapping[int, str]) -> None:
    """Compare everything. Raises AssertionError with what differs."""
    async with league.database.read() as connection:
        ledger = LedgerStore(connection)
        rows = [row async for row in ledger.rows_after(0)]
        assert await broken_row(connection) is None
    book = league.book
    same_entries(rows, plain)
    assert first_difference(book, rows) is None
    same_games(book, plain)
    same_standings(book, plain)
    same_challenges_and_leaves(book, plain, now)
    same_bars(book, plain, now)
    same_boards(league, plain, now, names)
    every_change_is_explained(book, rows, plain)


def same_entries(rows: list[Row], plain: PlainLeague) -> None:
    """The ledger grew by what was foretold and by nothing else."""
    ours = [(row.kind, row.said_at, row.pool, row.refers_to) for row in rows]
    theirs = [(item.kind, item.at, item.pool, item.refers_to) for item in plain.items]
    assert ours == theirs


def same_games(book: Book, plain: PlainLeague) -> None:
    """Who played, what counts, what was gained. No casual game counts that the plain league finds locked."""
    columns = book.columns
    games = plain.tally().games
    assert len(columns) == len(games)
    for index, game in enumerate(games):
        where = f"局{game.number}"
        assert (columns.number[index], columns.pool[index], columns.at[index]) == (game.number, game.pool, game.posted)
        assert (columns.left(index), chr(columns.result[index]), columns.right(index)) == game.line, where
        assert (columns.event[index] or None, columns.weight[index]) == (game.event, game.weight), where
        assert (book.is_void(index), book.counted(index)) == (game.void, game.counted), where
        for slot, player in columns.members(index):
            assert columns.change[slot][index] == pytest.approx(game.change.get(player, 0.0), abs=1e-9), where
            before = 0.0 if game.void else game.before[player]
            assert columns.before[slot][index] == pytest.approx(before, abs=1e-9), where


def same_standings(book: Book, plain: PlainLeague) -> None:
    """Ratings, counts, peaks, archive."""
    for name in book.state.pools:
        for player in plain.initial:
            ours, theirs = book.state.look(name, player), plain.man(plain.tally(), name, player)
            where = (name, player)
            assert ours.rating == pytest.approx(theirs.rating, abs=1e-9), where
            assert (ours.games, ours.wins, ours.draws, ours.losses) == (
                theirs.games, theirs.wins, theirs.draws, theirs.losses,
            ), where  # fmt: skip
            assert {y: n for y, n in ours.season_games.items() if n} == theirs.season_games, where
            assert (ours.peak is None) == (theirs.peak is None), where
            if theirs.peak is not None:
                assert (ours.peak, ours.peak_at) == (pytest.approx(theirs.peak, abs=1e-9), theirs.peak_at), where
            assert (ours.archived, ours.barred_until) == (theirs.archived, theirs.until), where
            assert ours.listed == theirs.listed, where


def same_challenges_and_leaves(book: Book, plain: PlainLeague, now: int) -> None:
    ours = {n: (c.challenger, c.opponent, c.deadline, c.state) for n, c in book.state.challenges.items()}
    theirs = {n: (d.challenger, d.opponent, d.deadline, d.state) for n, d in plain.duels().items()}
    assert ours == theirs
    for player in plain.initial:
        until = book.state.leave_until.get(player, 0)
        assert (until if until > now else None) == plain.leave_until(player, now), player


def same_bars(book: Book, plain: PlainLeague, now: int) -> None:
    """Who may not play now, and which pairs are locked."""
    for name in book.state.pools:
        for player in plain.initial:
            bar = bar_of(book.state, name, player, now)
            assert (None if bar is None else (bar.clause, bar.until)) == plain.bar(name, player, now), (name, player)
    for name, pool in book.state.pools.items():
        if pool.pool.side_size != 1:
            continue
        for one in plain.initial:
            for other in plain.initial:
                if one < other:
                    owed = plain.tally().owes(name, pair_of((one,), (other,)), year_of(now))
                    assert debts(book.state, name, one, other, now) == owed, (name, one, other)


def same_boards(league: League, plain: PlainLeague, now: int, names: Mapping[int, str]) -> None:
    """Ranks are 1 … n over everyone who is listed, in the plain league's order."""
    for name in league.book.state.pools:
        rows = board(league.book, league.directory, name, now).rows
        assert [row.rank for row in rows] == list(range(1, len(rows) + 1)), name
        assert [row.player for row in rows] == plain.board(name, now, dict(names)), name


def every_change_is_explained(book: Book, rows: list[Row], plain: PlainLeague) -> None:
    """Each player's rating goes from his 原始分 to what it is in steps, each by one entry that is in force."""
    columns = book.columns
    for name in book.state.pools:
        for player, initial in plain.initial.items():
            steps = [
                (columns.seq[index], columns.number[index], columns.before[slot][index], columns.change[slot][index])
                for index in book.games_of(player)
                for slot, member in columns.members(index)
                if member == player and columns.pool[index] == name and columns.flags[index] & COUNTED
            ]
            for mark in book.marks:
                if (mark.pool, mark.player) == (name, player):
                    assert rows[mark.seq - 1].kind in EXPLAINS and book.in_force(mark.seq)
                    steps.append((mark.seq, 0, mark.before, mark.after - mark.before))
            assert len({step[:2] for step in steps}) == len(steps)
            rating = initial
            for _, _, before, change in sorted(steps):
                assert before == pytest.approx(rating, abs=1e-9), (name, player)
                rating = before + change
            assert book.state.look(name, player).rating == pytest.approx(rating, abs=1e-9), (name, player)
