"""Slots that know the league: a pool's name, an event's name, a page."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from plugins.rating_bot.handlers.grammar import Slot, Token, matching
from rating_core.directory import Directory
from rating_core.names import normalize_name
from rating_core.rulebook import POOLS

_POOLS = {name.casefold(): name for name in POOLS}
_MAX_WORDS = 8
"""Words of the longest event name: single characters with spaces between."""


@dataclass(frozen=True, slots=True)
class EventNamed:
    """An event named in a command; `event` is None when there is none of that name."""

    event: int | None
    typed: str


def pool(key: str = "pool") -> Slot:
    """A pool's name, with or without #; left out it is the group's (§1)."""
    names = "|".join(map(re.escape, POOLS))
    return matching(key, f"(?i:[#＃]?({names}))", lambda m: _POOLS[m.group(1).casefold()], optional=True)


def count(key: str, pattern: str) -> Slot:
    """A word with a number in it, such as 前30: the pattern's first group as int."""
    return matching(key, pattern, lambda m: int(m.group(1)), optional=True)


def page(key: str = "page") -> Slot:
    """第2页: int."""
    return count(key, r"第([0-9]{1,3})页")


def event(key: str, *, optional: bool = False) -> Slot:
    """An event's name, with or without #: EventNamed. Where it is optional, an unknown name needs its #."""

    def take(tokens: Sequence[Token], directory: Directory) -> Iterator[tuple[int, Any]]:
        marked = tokens[0].text[:1] in ("#", "＃")
        read: list[tuple[int, EventNamed]] = []
        for used in range(1, min(len(tokens), _MAX_WORDS) + 1):
            if tokens[used - 1].kind == "at":
                break
            name = normalize_name(" ".join(token.text for token in tokens[:used]).lstrip("#＃"))
            read.append((used, EventNamed(directory.event_id(name), name)))
        known = [reading for reading in reversed(read) if reading[1].event is not None]
        if known and not marked and optional:  # a player of that name goes first
            known = [reading for reading in known if directory.roster.resolve(reading[1].typed) is None]
        elif not known and (marked or not optional):
            known = [reading for reading in read if reading[1].typed.casefold() not in _POOLS]
        yield from known

    return Slot(key, take, optional)
