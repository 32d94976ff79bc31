"""Boards of past days: the Book as it stood at the end of a day, with all corrections known now (§7, §10)."""

import asyncio
from collections import OrderedDict
from datetime import date, timedelta

from rating_core.book import Book
from rating_core.times import start_of

MOST_KEPT = 8
"""Books of past days kept at a time; each holds the games up to its day."""


class PastBooks:
    """Books of past days, made when asked for; the last ones are kept, so that the next page costs nothing."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[date, str], Book] = OrderedDict()

    def kept(self, book: Book, day: date) -> Book | None:
        """Return the Book at the end of a day if it is at hand."""
        return self._kept.get((day, book.hash))

    async def at_end_of(self, book: Book, day: date) -> Book:
        """Return the Book at the end of a day in Shanghai; `book` must not advance meanwhile.

        The fold runs in a thread, so that the bot goes on answering.
        """
        key = (day, book.hash)
        if (found := self._kept.get(key)) is None:
            found = await asyncio.to_thread(book.as_of, start_of(day + timedelta(days=1)))
            self._kept[key] = found
        self._kept.move_to_end(key)
        while len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)
        return found
