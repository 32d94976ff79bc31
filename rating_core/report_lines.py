"""One line of a report: its values, its possible readings, and what is wrong with it (rulebook §4).

A line is cut at every run of white space; the reading that counts is the one whose names are all on the roster.
The public names are those of rating_core.report_text; this half only keeps the files readable.
"""

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from rating_core.names import clean_text
from rating_core.roster import Roster

SEPARATOR = " " * 4
_MAX_GUESSES = 8
"""Different unknown names per message for which near misses are looked up."""


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
PUNCTUATION = ",.!?:;，。！？：；、"


@dataclass(frozen=True, slots=True)
class GameLine:
    """One game: the player ids of both sides and the left side's result."""

    left: tuple[int, ...]
    result: Result
    right: tuple[int, ...]

    def mirrored(self) -> "GameLine":
        """Return the same game told from the other side."""
        return GameLine(self.right, self.result.mirrored, self.left)

    @property
    def players(self) -> tuple[int, ...]:
        """All players, left side first."""
        return self.left + self.right


def format_line(game: GameLine, name_of: Callable[[int], str]) -> str:
    """Return the canonical line, without its line end: tokens joined by exactly four U+0020 (rulebook §4)."""
    return SEPARATOR.join((*map(name_of, game.left), game.result.word, *map(name_of, game.right)))


@dataclass(frozen=True, slots=True)
class LineProblem:
    """What is wrong with one line.

    `number` is the line's place in the message from 1, 0 when the message as a whole is meant. `suggestions` go with
    `names`. `word` stands where a result should. `fixed` is the whole line as it should read, None if unsure, "" if
    the line does not belong into a report.
    """

    number: int
    line: str
    code: str
    names: tuple[str, ...] = ()
    suggestions: tuple[tuple[str, ...], ...] = ()
    word: str = ""
    fixed: str | None = None


# --- lines and readings -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Line:
    number: int
    text: str
    tokens: tuple[str, ...]
    wide: tuple[bool, ...]
    """wide[i]: two or more spaces stand between token i and the next."""

    def name(self, start: int, end: int) -> str:
        return " ".join(self.tokens[start:end])

    def joins(self, start: int, end: int) -> bool:
        """Whether only single spaces stand inside this part."""
        return not any(self.wide[start : end - 1])


def _tokenize(number: int, text: str) -> Line:
    tokens: list[str] = []
    wide: list[bool] = []
    gap = 0
    for part in text.split(" "):
        if not part:
            gap += 1
            continue
        if tokens:
            wide.append(gap > 1)
        tokens.append(part)
        gap = 1
    return Line(number, text.strip(), tuple(tokens), tuple(wide))


def cut_lines(text: str) -> list[Line]:
    """Cut cleaned text into its non-blank lines."""
    normal = unicodedata.normalize("NFC", clean_text(text))
    return [_tokenize(number, line) for number, line in enumerate(normal.split("\n"), 1) if line.strip(" ")]


def is_header(line: Line) -> bool:
    return line.text[0] in "#＃"


def is_wrong_word(token: str) -> bool:
    """Whether a token stands for a result without being 胜 平 负: 赢, 胜胜, 负。"""
    bare = token.strip(PUNCTUATION)
    if bare in WRONG_WORDS:
        return True
    if not 0 < len(bare) <= 8 or token in WORDS:
        return False
    return all(c in _RESULT_CHARACTERS for c in bare) or set(bare) == {"和"}


def intended(token: str) -> Result | None:
    """Return the result that a word in the result's place clearly means, or None (胜胜 may be two games)."""
    bare = token.strip(PUNCTUATION)
    return WORDS.get(bare) or WRONG_WORDS.get(bare)


def places_of(line: Line, roster: Roster, test: Callable[[str], bool], size: int = 2) -> list[int]:
    """Where in a line a result may stand: the tokens that pass, with room for `size` names on either side."""
    room = size * roster.longest_words
    first, last = max(1, len(line.tokens) - 1 - room), min(room, len(line.tokens) - 2)
    return [at for at in range(first, last + 1) if test(line.tokens[at])]


def _side(line: Line, roster: Roster, start: int, end: int, size: int) -> Iterator[tuple[tuple[int, ...], bool]]:
    """Yield the readings of a side as `size` roster names, each with whether its spaces say the same (§4 D)."""
    words = roster.longest_words
    if size == 1:
        if end - start <= words and (player := roster.resolve(line.name(start, end))) is not None:
            yield (player,), line.joins(start, end)
        return
    for cut in range(max(start + 1, end - words), min(end - 1, start + words) + 1):
        first = roster.resolve(line.name(start, cut))
        if first is None:
            continue
        second = roster.resolve(line.name(cut, end))
        if second is not None:
            yield (first, second), line.wide[cut - 1] and line.joins(start, cut) and line.joins(cut, end)


@dataclass(frozen=True, slots=True)
class _Reading:
    left: tuple[int, ...]
    at: int
    right: tuple[int, ...]


def readings_of(
    line: Line, roster: Roster, places: Iterable[int], sizes: Iterable[tuple[int, int]]
) -> dict[_Reading, bool]:
    """Return every reading whose names are all on the roster, with whether the spaces say the same."""
    found: dict[_Reading, bool] = {}
    for at in places:
        for left_size, right_size in sizes:
            for left, left_exact in _side(line, roster, 0, at, left_size):
                for right, right_exact in _side(line, roster, at + 1, len(line.tokens), right_size):
                    reading = _Reading(left, at, right)
                    found[reading] = found.get(reading, False) or (left_exact and right_exact)
    return found


MIXED = ((1, 1), (2, 2), (1, 2), (2, 1))


def _uniform(side_size: int | None) -> tuple[tuple[int, int], ...]:
    return ((1, 1), (2, 2)) if side_size is None else ((side_size, side_size),)


# --- parsing ----------------------------------------------------------------------------------------------


class Guesses:
    """Near misses of unknown names, remembered, with a cap on how many are looked up."""

    def __init__(self, roster: Roster) -> None:
        self._roster = roster
        self._known: dict[str, tuple[str, ...]] = {}

    def near(self, text: str) -> tuple[str, ...]:
        if (player := self._roster.resolve(text)) is not None:
            return (self._roster.name_of(player),)
        if text not in self._known:
            if len(self._known) >= _MAX_GUESSES:
                return ()
            self._known[text] = tuple(self._roster.nearest(text)) or self._contained(text)
        return self._known[text]

    def _contained(self, text: str) -> tuple[str, ...]:
        """The one roster name among the words of a text, as in 李四 第三盘."""
        words = text.split(" ")
        if not 1 < len(words) <= 4:
            return ()
        known = {self._roster.resolve(word) for word in words} - {None}
        return tuple(self._roster.name_of(player) for player in known if player is not None) if len(known) == 1 else ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a line: a game, or problems; and how it stands in the corrected report."""

    game: GameLine | None
    problems: tuple[LineProblem, ...]
    text: str


class LineParser:
    def __init__(self, roster: Roster, side_size: int | None) -> None:
        self._roster = roster
        self._sizes = _uniform(side_size)
        self._guesses = Guesses(roster)

    def line(self, line: Line) -> Outcome:
        exact = places_of(line, self._roster, WORDS.__contains__)
        found = readings_of(line, self._roster, exact, self._sizes)
        if found:
            return self._decided(line, found)
        if mixed := readings_of(line, self._roster, exact, MIXED):
            reading = next(iter(mixed))
            return self._refused(line, "wrong_side", names=self._names(reading.left + reading.right))
        wrong = places_of(line, self._roster, is_wrong_word)
        for places in (wrong, places_of(line, self._roster, lambda _: True)):
            if found := readings_of(line, self._roster, places, self._sizes):
                return self._wrong_word(line, next(iter(found)))
        if exact or wrong:
            return self._unknown(line, exact or wrong)
        return self._no_game(line)

    def _names(self, players: Iterable[int]) -> tuple[str, ...]:
        return tuple(self._roster.name_of(player) for player in players)

    def _canonical(self, game: GameLine) -> str:
        return format_line(game, self._roster.name_of)

    def _refused(self, line: Line, code: str, *, names: tuple[str, ...] = ()) -> Outcome:
        return Outcome(None, (LineProblem(line.number, line.text, code, names),), line.text)

    def _decided(self, line: Line, found: dict[_Reading, bool]) -> Outcome:
        """Take the only reading, or the only one that the spaces agree with (rulebook §4 D)."""
        choices = list(found) if len(found) == 1 else [reading for reading, agrees in found.items() if agrees]
        if len(choices) != 1:
            variants = tuple(" / ".join(self._names(r.left + r.right)) for r in list(found)[:3])
            return self._refused(line, "ambiguous", names=variants)
        reading = choices[0]
        game = GameLine(reading.left, WORDS[line.tokens[reading.at]], reading.right)
        if repeated := _repeated(game.players):
            return self._refused(line, "same_player", names=self._names(repeated))
        return Outcome(game, (), self._canonical(game))

    def _wrong_word(self, line: Line, reading: _Reading) -> Outcome:
        word = line.tokens[reading.at]
        result = intended(word)
        repeated = _repeated(reading.left + reading.right)
        fixed = None
        if result is not None and not repeated:
            fixed = self._canonical(GameLine(reading.left, result, reading.right))
        problems = [LineProblem(line.number, line.text, "result_word", word=word, fixed=fixed)]
        if repeated:
            problems.append(LineProblem(line.number, line.text, "same_player", self._names(repeated)))
        return Outcome(None, tuple(problems), fixed or line.text)

    def _unknown(self, line: Line, places: Sequence[int]) -> Outcome:
        """Name the unknown names of the most plausible reading, with what they may have meant."""
        best = _best_guess(line, self._roster, places, self._sizes)
        if best is None:
            return self._refused(line, "wrong_side")
        at, parts = best
        left_count = sum(end <= at for _, end in parts)
        names = [line.name(start, end) for start, end in parts]
        unknown = tuple(dict.fromkeys(name for name in names if self._roster.resolve(name) is None))
        suggestions = tuple(self._guesses.near(name) for name in unknown)
        certain = {name: near[0] for name, near in zip(unknown, suggestions, strict=True) if len(near) == 1}
        result = intended(line.tokens[at])
        word = result.word if result is not None else line.tokens[at]
        tokens = [certain.get(name, name) for name in names]
        text = SEPARATOR.join((*tokens[:left_count], word, *tokens[left_count:]))
        sure = result is not None and len(certain) == len(unknown)
        players = [self._roster.resolve(name) for name in tokens]
        fixed = text if sure and len(set(players)) == len(players) else None
        problems = [LineProblem(line.number, line.text, "unknown_name", unknown, suggestions, fixed=fixed)]
        if line.tokens[at] not in WORDS:
            problems.insert(0, LineProblem(line.number, line.text, "result_word", word=line.tokens[at], fixed=fixed))
        return Outcome(None, tuple(problems), text)

    def _no_game(self, line: Line) -> Outcome:
        """A line without a free-standing result: names and result run together, or words that belong elsewhere."""
        fixed = self._unglued(line)
        if fixed is None and not any(c in _RESULT_CHARACTERS or c == "和" for c in line.text):
            fixed = ""
        problem = LineProblem(line.number, line.text, "not_a_game", fixed=fixed)
        return Outcome(None, (problem,), line.text if fixed is None else fixed)

    def _unglued(self, line: Line) -> str | None:
        """Return 张三胜李四 with its spaces, when there is exactly one way to set them."""
        text = line.name(0, len(line.tokens))
        if len(text) > 100 or (1, 1) not in self._sizes:
            return None
        found = set()
        for at, c in enumerate(text):
            if c in WORDS:
                left, right = self._roster.resolve(text[:at]), self._roster.resolve(text[at + 1 :])
                if left is not None and right is not None and left != right:
                    found.add(GameLine((left,), WORDS[c], (right,)))
        return self._canonical(found.pop()) if len(found) == 1 else None


def _repeated(players: Sequence[int]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(player for player in players if players.count(player) > 1))


_Parts = tuple[tuple[int, int], ...]
"""Names as (first token, token after the last)."""
_Cost = tuple[int, int]
"""Known names, negated; spaces that contradict the reading."""


def _cuts(line: Line, start: int, end: int, size: int) -> Iterator[_Parts]:
    if size == 1:
        yield ((start, end),)
        return
    for cut in range(start + 1, end):
        yield ((start, cut), (cut, end))


def _best_guess(
    line: Line, roster: Roster, places: Iterable[int], sizes: Iterable[tuple[int, int]]
) -> tuple[int, _Parts] | None:
    """Return where the result stands and the parts that are names, in the reading with most known names."""

    def cost(parts: _Parts) -> _Cost:
        known = sum(roster.resolve(line.name(start, end)) is not None for start, end in parts)
        against = sum(not line.joins(start, end) for start, end in parts)
        return -known, against + (len(parts) == 2 and not line.wide[parts[0][1] - 1])

    best: tuple[_Cost, int, _Parts] | None = None
    for at in places:
        for left_size, right_size in sizes:
            left = min(((cost(p), p) for p in _cuts(line, 0, at, left_size)), default=None)
            right = min(((cost(p), p) for p in _cuts(line, at + 1, len(line.tokens), right_size)), default=None)
            if left is None or right is None:
                continue
            total = (left[0][0] + right[0][0], left[0][1] + right[0][1])
            if best is None or total < best[0]:
                best = total, at, left[1] + right[1]
    return None if best is None else (best[1], best[2])
