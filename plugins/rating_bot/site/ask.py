"""What a page is asked for and what it answers, without HTTP."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from plugins.rating_bot.site.answers import NotHere
from plugins.rating_bot.site.search import Readings
from plugins.rating_bot.site.snapshot import Snapshot
from plugins.rating_bot.wording import pages as wording
from rating_core.rulebook import DEFAULT_POOL


@dataclass(frozen=True, slots=True)
class Page:
    """A page made: for the templates, and as data for JSON."""

    template: str
    title: str
    pool: str
    context: Mapping[str, Any]
    data: Callable[[], Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Ask:
    """A request: the league as it stands, and the variable parts of the address."""

    now: Snapshot
    path: Mapping[str, str]
    query: Mapping[str, str]
    readings: Readings

    def text(self, name: str) -> str:
        """Return a value of the query, "" where it is missing."""
        return self.query.get(name, "").strip()

    @property
    def pool(self) -> str:
        """The pool asked for. Raises NotHere."""
        pool = self.text("pool") or DEFAULT_POOL
        if pool not in self.now.book.state.pools:
            raise NotHere(wording.NO_POOL)
        return pool

    @property
    def page_number(self) -> int:
        """The page asked for, 1 by default. Raises NotHere."""
        typed = self.text("page") or "1"
        return number(typed)

    def registered(self, typed: str) -> int:
        """Return the player with a number; he may have been merged with another. Raises NotHere."""
        player = number(typed)
        if player not in self.now.book.state.initial:
            raise NotHere(wording.NO_PLAYER)
        return player


def number(typed: str) -> int:
    """Return a number from an address. Raises NotHere."""
    if not re.fullmatch(r"[1-9][0-9]{0,8}", typed):
        raise NotHere(wording.NO_PAGE)
    return int(typed)


def sheet(count: int, page: int, size: int) -> tuple[slice, int]:
    """Return which of `count` rows stand on a page, and how many pages there are. Raises NotHere."""
    pages = max(1, -(-count // size))
    if page > pages:
        raise NotHere(wording.NO_PAGE)
    return slice((page - 1) * size, page * size), pages
