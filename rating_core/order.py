"""The order of a pool's board, kept from question to question: only who moved is put in his new place (§7)."""

from bisect import bisect_left, insort
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from rating_core.book import Book
from rating_core.directory import Directory
from rating_core.rules.display import Display, Place, board_order, places


@dataclass(frozen=True, slots=True)
class Order:
    """Everyone on a board in its order (§7), best first. Worked out once it serves many questions."""

    places: list[Place]
    place_of: dict[int, Place]
    """By player."""

    @classmethod
    def of(cls, book: Book, directory: Directory, pool: str, at: int) -> "Order":
        """Return the order of a pool's board as of `at` (ms).

        After games alone only those who played them are put in their new places; where anything else happened, names
        or N changed, all is sorted anew.
        """
        display, games = Display.on(at), len(book.columns)
        last: _LastOrder | None = book.orders.get(pool)
        if last is None or not last.same_but_for_games(book, directory, display):
            found = board_order(book.state.pools[pool], directory, at)
            order = cls(found, {place[-1]: place for place in found})
        elif last.games == games:
            return last.order
        else:
            played = {player for index in range(last.games, games) for _, player in book.columns.members(index)}
            return last.order.moved(book, directory, pool, at, played)
        book.orders[pool] = _LastOrder(order, games, book.stirred, display, directory, directory.merged)
        return order

    def moved(self, book: Book, directory: Directory, pool: str, at: int, players: Collection[int]) -> "Order":
        """Return the order of a pool's board in a Book where none but these players stand otherwise than in this one.

        It is of the same names and the same N.
        """
        order = Order(self.places.copy(), self.place_of.copy())
        for player in players:
            if (old := order.place_of.pop(player, None)) is not None:
                del order.places[bisect_left(order.places, old)]
        for place in places(book.state.pools[pool], directory, at, players):
            insort(order.places, place)
            order.place_of[place[-1]] = place
        book.orders[pool] = _LastOrder(
            order, len(book.columns), book.stirred, Display.on(at), directory, directory.merged
        )  # fmt: skip
        return order

    def ranks(self) -> dict[int, int]:
        """Return the ranks of all players on the board, from 1."""
        return {place[-1]: rank for rank, place in enumerate(self.places, start=1)}

    def rank(self, player: int) -> int | None:
        """Return a player's rank, from 1; None: he is not on the board."""
        place = self.place_of.get(player)
        return None if place is None else bisect_left(self.places, place) + 1


@dataclass(frozen=True, slots=True)
class _LastOrder:
    """The Order that was asked for last, and what it stands on."""

    order: Order
    games: int
    """So many games there were."""
    stirred: int
    display: Display
    directory: Directory
    merged: Mapping[int, int]

    def same_but_for_games(self, book: Book, directory: Directory, display: Display) -> bool:
        """Return whether nothing but new games can have changed it: these are the very names, and N is the same."""
        same_names = self.directory is directory and self.merged == directory.merged
        return same_names and self.display == display and self.stirred == book.stirred
