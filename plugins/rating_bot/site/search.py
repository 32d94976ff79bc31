"""Finding names by characters and by pinyin.

pypinyin is imported when letters are first searched for or names first sorted by sound. How a name may be read is
kept in memory, once a name.
"""

import asyncio
import os
from collections.abc import Iterable

LONGEST = 32
"""Characters of a search that are looked at."""

Reading = tuple[tuple[str, ...], ...]
"""For each character of a name (spaces left out) the ways to type it: itself, and its pinyin."""


def wanted(typed: str) -> str:
    """Return a search as it is compared: without case, spaces and accents on ü."""
    return "".join(typed[:LONGEST].casefold().split()).replace("ü", "v")


def needs_readings(text: str) -> bool:
    """Return whether there are letters in a search, which may be pinyin."""
    return any(character.isascii() and character.isalpha() for character in text)


class Readings:
    """How names are typed, by name."""

    def __init__(self) -> None:
        self._known: dict[str, Reading] = {}
        self._characters: dict[str, tuple[str, ...]] = {}
        self._reading = asyncio.Lock()

    async def learn(self, names: Iterable[str]) -> None:
        """Find out how these names are read, in a thread: importing the dictionary takes a moment."""
        async with self._reading:
            if new := [name for name in names if name not in self._known]:
                self._known.update(await asyncio.to_thread(self._read, new))

    def _read(self, names: Iterable[str]) -> dict[str, Reading]:
        return {name: tuple(self._typed(c) for c in name.casefold() if not c.isspace()) for name in names}

    def _typed(self, character: str) -> tuple[str, ...]:
        if character.isascii():
            return (character,)
        if (known := self._characters.get(character)) is None:
            # without its phrases, which are for texts, the dictionary takes 15 MB instead of 60
            os.environ.setdefault("PYPINYIN_NO_PHRASES", "true")
            from pypinyin import Style, pinyin

            sounds = pinyin(character, style=Style.NORMAL, heteronym=True, errors="ignore")
            spelt = [sound for sounds_ in sounds for sound in sounds_ if sound]
            spelt += [sound.replace("v", "u") for sound in spelt if "v" in sound]
            known = self._characters[character] = (character, *dict.fromkeys(spelt))
        return known

    def sound(self, name: str) -> tuple[str, ...]:
        """Return what a learnt name sorts by: the first sound of each character."""
        return tuple(typed[min(1, len(typed) - 1)] for typed in self._known.get(name, ()))

    def match(self, name: str, text: str) -> bool:
        """Return whether a search is in a name: characters, or of each character in turn some first letters.

        张三丰 is found by 三, zhang, zsf, zhangsf and sanf. By letters only names that were learnt are found.
        """
        if not needs_readings(text):
            return text in "".join(name.casefold().split())
        reached = {0}
        for ways in self._known.get(name, ()):
            # a match may begin at any character
            reached = {0} | {stop for start in reached for way in ways for stop in _stops(way, text, start)}
            if len(text) in reached:
                return True
        return False


def _stops(way: str, text: str, start: int) -> range:
    """Return where in `text` one can be after the first one, two, … characters of a way to type, from `start` on."""
    stop = start
    for character in way:
        if stop == len(text) or text[stop] != character:
            break
        stop += 1
    return range(start + 1, stop + 1)
