"""The fold with all rules of the rulebook beside `elote` in a wrapper: `python -m tests.bench.fold [--rounds N]`.

Both read the same log in memory and end with the same ratings, which is looked at before anything is timed. "book" is
the same fold as the Book runs it, with its checkpoints.
"""

import argparse
from array import array
from collections.abc import Callable, Sequence

from rating_core.book import Book
from rating_core.fold import fold_games
from rating_core.rulebook import DEFAULT_POOL
from tests.bench.figures import verdict
from tests.bench.logs import LOGS, Game, columns_of, opened
from tests.bench.peers import with_elote
from tests.bench.timing import in_turns

ROUNDS = 5
WANTED = 3.0
TOLERANCE = 1e-9


def _fold(games: Sequence[Game]) -> Callable[[], Callable[[], object]]:
    columns = columns_of(games)

    def prepared() -> Callable[[], object]:
        state = opened(games)
        return lambda: (fold_games(state, columns, 0, len(columns)), state)[1]

    return prepared


def book_of(games: Sequence[Game]) -> Book:
    """Return a Book with these games, of players registered before the first of them."""
    book = Book()
    book.columns, book.state, book.seq = columns_of(games), opened(games), len(games)
    for index, game in enumerate(games):
        for player in (game.left, game.right):
            book._played.setdefault(player, array("i")).append(index)
    return book


def _book(games: Sequence[Game]) -> Callable[[], Callable[[], object]]:
    book = book_of(games)

    def prepared() -> Callable[[], object]:
        book._checkpoints.clear()
        return lambda: book._refold(0)

    return prepared


def same(games: Sequence[Game]) -> None:
    """Raise AssertionError where the two do not agree on a player."""
    peers, state = with_elote(games), _fold(games)()()
    standings = state.pools[DEFAULT_POOL].standings  # type: ignore[attr-defined]
    assert peers.keys() == standings.keys()
    for number, peer in peers.items():
        ours = standings[number]
        assert abs(ours.rating - peer.elo.rating) < 1e-6, (number, ours.rating, peer.elo.rating)
        assert (ours.wins, ours.draws, ours.losses) == (peer.wins, peer.draws, peer.losses), number


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.fold", description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    rounds = parser.parse_args().rounds
    print(f"{'log':10}{'':8}{'games/s':>12}{'spread':>8}{'× elote':>9}")
    ratios = {}
    for name, log in LOGS.items():
        games = log()
        same(games)
        work = {"elote": lambda games=games: lambda: with_elote(games), "fold": _fold(games), "book": _book(games)}
        found = in_turns(work, rounds)
        for who, timed in found.items():
            ratios[name, who] = found["elote"].median / timed.median
            print(f"{name:10}{who:8}{len(games) / timed.median:12,.0f}{timed.spread:8.0%}{ratios[name, who]:9.2f}")
    for name in LOGS:
        verdict(f"fold of {name} beside elote", ratios[name, "fold"], WANTED, "×", most=False)


if __name__ == "__main__":
    main()
