"""One line of a report: its values, its words and its possible readings (rulebook §4).

A line is cut at every run of white space; the reading that counts is the one whose names are all on the roster.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from rating_core.names import clean_text
from rating_core.roster import Roster

SEPARATOR = " " * 4
_LONGEST_TOKEN = 64
_FROM_FIRST_WORD = re.compile("[^\n ].*")


class Result(StrEnum):
    """The result of a game, of its left side."""

    WIN = "W"
    DRAW = "D"
    LOSS = "L"

    @property
    def word(self) -> str:
        """The one word a report may use for it: 胜 平 负."""
        return _WORD_OF[self]

    @property
    def mirrored(self) -> "Result":
        """The same game's result seen from the other side."""
        return _MIRROR[self]


_WORD_OF = {Result.WIN: "胜", Result.DRAW: "平", Result.LOSS: "负"}
_MIRROR = {Result.WIN: Result.LOSS, Result.DRAW: Result.DRAW, Result.LOSS: Result.WIN}

WORDS: dict[str, Result] = {word: result for result, word in _WORD_OF.items()}
"""The only words that count as a result (rulebook §4)."""

WRONG_WORDS: dict[str, Result] = {
    **dict.fromkeys(("赢", "勝", "贏", "赢了", "胜了", "胜利"), Result.WIN),
    **dict.fromkeys(("输", "負", "輸", "输了", "负了"), Result.LOSS),
    **dict.fromkeys(("和", "和了", "平了", "和棋", "平局", "平手", "打平"), Result.DRAW),
}
"""Words people use instead, with what they clearly mean; a report with one is refused and corrected."""

_RESULT_CHARACTERS = frozenset("胜平负赢输勝負贏輸")
_PUNCTUATION = ",.!?:;，。！？：；、"


@dataclass(frozen=True, slots=True)
class GameLine:
    """One game: the player ids of both sides and the left side's result."""

    left: tuple[int, ...]
    result: Result
    right: tuple[int, ...]

    def mirrored(self) -> "GameLine":
        """Return the same game told from the other side."""
        return GameLine(self.right, self.result.mirrored, self.left)

    def renamed(self, who: Callable[[int], int]) -> "GameLine":
        """Return the same game with other player ids, after a merge."""
        return GameLine(tuple(map(who, self.left)), self.result, tuple(map(who, self.right)))

    @property
    def players(self) -> tuple[int, ...]:
        """All players, left side first."""
        return self.left + self.right


def format_line(game: GameLine, name_of: Callable[[int], str]) -> str:
    """Return the canonical line, without its line end: tokens joined by exactly four U+0020 (rulebook §4)."""
    return SEPARATOR.join((*map(name_of, game.left), game.result.word, *map(name_of, game.right)))


# --- words ------------------------------------------------------------------------------------------------


def is_right_word(token: str) -> bool:
    """Whether a token is 胜, 平 or 负."""
    return token in WORDS


def is_wrong_word(token: str) -> bool:
    """Whether a token stands for a result without being 胜 平 负: 赢, 胜胜, 负。"""
    if token in WORDS or len(token) > 8:
        return False
    bare = token.strip(_PUNCTUATION)
    return bare != "" and (bare in WRONG_WORDS or _RESULT_CHARACTERS.issuperset(bare) or set(bare) == {"和"})


def is_plain_and(token: str) -> bool:
    """Whether a token is 和, the everyday "and"."""
    return token.strip(_PUNCTUATION) == "和"


def intended(token: str) -> Result | None:
    """Return the result that a word in the result's place clearly means, or None (胜胜 may be two games)."""
    bare = token.strip(_PUNCTUATION)
    return WORDS.get(bare) or WRONG_WORDS.get(bare)


def speaks_of_a_result(text: str) -> bool:
    """Whether a result may hide anywhere in a text, as in 张三胜李四."""
    return any(c in _RESULT_CHARACTERS or c == "和" for c in text)


# --- lines ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Line:
    """A non-blank line of a message, cut into tokens, with every roster name that stands in it."""

    number: int
    """Place in the message, from 1, blank lines counted."""
    text: str
    tokens: tuple[str, ...]
    wide: tuple[bool, ...]
    """wide[i]: two or more spaces stand between token i and the next."""
    room: int
    """How many tokens a side can have at most."""
    known: dict[int, dict[int, int]]
    """First token → token after the last → player, for every roster name in the line."""

    @property
    def is_header(self) -> bool:
        """Whether the line is a #赛事名 or #榜名."""
        return self.text[0] in "#＃"

    def name(self, start: int, end: int) -> str:
        """Return tokens start to end (exclusive) as one name."""
        return " ".join(self.tokens[start:end])

    def player(self, start: int, end: int) -> int | None:
        """Return the player whose name these tokens are."""
        return self.known.get(start, {}).get(end)

    def joins(self, start: int, end: int) -> bool:
        """Whether only single spaces stand inside this part."""
        return True not in self.wide[start : end - 1]

    def places(self, test: Callable[[str], bool]) -> list[int]:
        """Return where a result may stand: the tokens that pass, with room for the names on either side."""
        first, last = max(1, len(self.tokens) - 1 - self.room), min(self.room, len(self.tokens) - 2)
        return [at for at in range(first, last + 1) if test(self.tokens[at])]

    def known_names(self, start: int, end: int) -> int:
        """Return how many names of a part are on the roster in its best reading as one or two names."""
        firsts = self.known.get(start, {})
        if any(self.player(cut, end) is not None for cut in firsts):
            return 2
        in_front = any(cut <= end for cut in firsts)
        return int(in_front or any(start < first < end and end in ends for first, ends in self.known.items()))


def _tokenize(text: str) -> tuple[tuple[str, ...], tuple[bool, ...]]:
    tokens: list[str] = []
    wide: list[bool] = []
    gap = 0
    for part in text.split(" "):
        if not part:
            gap += 1
            continue
        if tokens:
            wide.append(gap > 1)
        tokens.append(unicodedata.normalize("NFC", part) if len(part) <= _LONGEST_TOKEN else part)
        gap = 1
    return tuple(tokens), tuple(wide)


def _known_spans(tokens: tuple[str, ...], roster: Roster) -> dict[int, dict[int, int]]:
    known: dict[int, dict[int, int]] = {}
    for start, name in enumerate(tokens):
        most = min(start + roster.words_from(name), len(tokens))
        for end in range(start + 1, most + 1):
            if (player := roster.find(name)) is not None:
                known.setdefault(start, {})[end] = player
            if end < most:
                name = f"{name} {tokens[end]}"
    return known


def cut_lines(text: str, roster: Roster, limit: int) -> list[Line]:
    """Clean a message and cut it into its first non-blank lines. The text's length is the caller's to limit."""
    lines: list[Line] = []
    room = 2 * roster.longest_words
    text = clean_text(text)
    number, seen = 1, 0
    for found in _FROM_FIRST_WORD.finditer(text):
        number += text.count("\n", seen, found.start())
        seen = found.start()
        stripped = found[0].rstrip(" ")
        tokens, wide = _tokenize(stripped)
        known = _known_spans(tokens, roster) if len(tokens) <= 2 * room + 1 else {}
        lines.append(Line(number, stripped, tokens, wide, room, known))
        if len(lines) == limit:
            break
    return lines


# --- readings ---------------------------------------------------------------------------------------------

Sizes = tuple[tuple[int, int], ...]
"""Names on the left and on the right side."""
MIXED: Sizes = ((1, 1), (2, 2), (1, 2), (2, 1))


def uniform_sizes(side_size: int | None) -> Sizes:
    """Return what a line may be in a pool: as many names on both sides; None: one or two."""
    return ((1, 1), (2, 2)) if side_size is None else ((side_size, side_size),)


@dataclass(frozen=True, slots=True)
class Reading:
    """A way to read a line: who plays whom, and which token is the result."""

    left: tuple[int, ...]
    at: int
    right: tuple[int, ...]


def _sides(line: Line, start: int, end: int, size: int) -> Iterator[tuple[tuple[int, ...], bool]]:
    """Yield the readings of a side as `size` roster names, each with whether its spaces say the same (§4 D)."""
    if size == 1:
        if (player := line.player(start, end)) is not None:
            yield (player,), line.joins(start, end)
        return
    for cut, first in line.known.get(start, {}).items():
        if (second := line.player(cut, end)) is not None:
            yield (first, second), line.wide[cut - 1] and line.joins(start, cut) and line.joins(cut, end)


def readings_of(line: Line, places: Iterable[int], sizes: Sizes) -> dict[Reading, bool]:
    """Return every reading whose names are all on the roster, with whether the spaces say the same (§4 D)."""
    found: dict[Reading, bool] = {}
    firsts = line.known.get(0, {})
    left_ends = {*firsts, *(end for cut in firsts for end in line.known.get(cut, ()))}
    for at in places:
        if at not in left_ends:
            continue
        for left_size, right_size in sizes:
            for left, left_agrees in _sides(line, 0, at, left_size):
                for right, right_agrees in _sides(line, at + 1, len(line.tokens), right_size):
                    reading = Reading(left, at, right)
                    found[reading] = found.get(reading, False) or (left_agrees and right_agrees)
    return found


# --- the reading that was probably meant ------------------------------------------------------------------

Parts = tuple[tuple[int, int], ...]
"""Names as (first token, token after the last)."""
_Cost = tuple[int, int]
"""Known names, negated; spaces that contradict the reading."""


def _cheapest(line: Line, start: int, end: int, size: int) -> tuple[_Cost, Parts] | None:
    if size == 1:
        return (-(line.player(start, end) is not None), not line.joins(start, end)), ((start, end),)
    best: tuple[_Cost, Parts] | None = None
    firsts = line.known.get(start, {})
    gaps = line.wide[start : end - 1]
    first_wide = gaps.index(True) if True in gaps else len(gaps)
    last_wide = len(gaps) - 1 - gaps[::-1].index(True) if True in gaps else -1
    for gap, wide in enumerate(gaps):
        cut = start + gap + 1
        known = (cut in firsts) + (line.player(cut, end) is not None)
        against = (first_wide < gap) + (last_wide > gap) + (not wide)
        if best is None or (-known, against) < best[0]:
            best = (-known, against), ((start, cut), (cut, end))
    return best


def best_guess(line: Line, places: Iterable[int], sizes: Sizes) -> tuple[int, Parts] | None:
    """Return where the result stands and the parts that are names, in the reading with most known names."""
    best: tuple[_Cost, int, Parts] | None = None
    for at in places:
        for left_size, right_size in sizes:
            left = _cheapest(line, 0, at, left_size)
            right = _cheapest(line, at + 1, len(line.tokens), right_size)
            if left is None or right is None:
                continue
            cost = (left[0][0] + right[0][0], left[0][1] + right[0][1])
            if best is None or cost < best[0]:
                best = cost, at, left[1] + right[1]
    return None if best is None else (best[1], best[2])
