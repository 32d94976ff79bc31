"""What is wrong with a line of a report, and how it should read (rulebook §4, commands.md "Reporting")."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from rating_core.names import MAX_NAME_LENGTH
from rating_core.report_lines import (
    MIXED,
    SEPARATOR,
    WORDS,
    GameLine,
    Line,
    Reading,
    best_guess,
    format_line,
    intended,
    is_right_word,
    is_wrong_word,
    readings_of,
    speaks_of_a_result,
    uniform_sizes,
)
from rating_core.roster import Roster

_MAX_GUESSES = 6
"""Different unknown names per message for which near misses are looked up."""
_MAX_PLACES = 2
"""Places of the result that are tried for a line whose names are not all known."""


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


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a line: a game, or problems, or both; and how it stands in the corrected report."""

    game: GameLine | None
    """The game, when the names are certain."""
    problems: tuple[LineProblem, ...]
    text: str
    guess: GameLine | None = None
    """The game if every near miss was meant."""
    as_typed: str = ""
    """How it stands in the corrected report if none was."""

    def unsure(self) -> "Outcome":
        """Return the same without its guess: near misses stay as typed."""
        problems = tuple(replace(problem, fixed=None) for problem in self.problems)
        return Outcome(self.game, problems, self.as_typed)


class Guesses:
    """Near misses of unknown names, remembered, with a cap on how many are looked up."""

    def __init__(self, roster: Roster) -> None:
        self._roster = roster
        self._known: dict[str, tuple[str, ...]] = {}

    def near(self, text: str) -> tuple[str, ...]:
        """Return the current names that a text may mean; the name itself when it is one."""
        if (player := self._roster.find(text)) is not None:
            return (self._roster.name_of(player),)
        if text not in self._known:
            if len(self._known) >= _MAX_GUESSES:
                return ()
            self._known[text] = tuple(self._roster.nearest(text)) or self._contained(text)
        return self._known[text]

    def _contained(self, text: str) -> tuple[str, ...]:
        """The only roster name among the words of a text, as in 李四 第三盘."""
        words = text.split(" ")
        if not 1 < len(words) <= 4:
            return ()
        found = {player for player in map(self._roster.find, words) if player is not None}
        return tuple(map(self._roster.name_of, found)) if len(found) == 1 else ()


class LineParser:
    """Reads lines one by one; remembers near misses over a whole message."""

    def __init__(self, roster: Roster, side_size: int | None) -> None:
        """`side_size` is 1 or 2, None when both will do."""
        self._roster = roster
        self._sizes = uniform_sizes(side_size)
        self._guesses = Guesses(roster)

    def read(self, line: Line) -> Outcome:
        """Return the line's game, or everything that is wrong with it."""
        if line.is_header:
            return _refused(line, "late_header")
        right = line.places(is_right_word)
        if found := readings_of(line, right, self._sizes):
            return self._decided(line, found)
        if mixed := readings_of(line, right, MIXED):
            reading = next(iter(mixed))
            return _refused(line, "wrong_side", self._names(reading.left + reading.right))
        wrong = line.places(is_wrong_word)
        for places in (wrong, range(1, len(line.tokens) - 1)):
            if found := readings_of(line, places, self._sizes):
                return self._wrong_word(line, next(iter(found)))
        if right or wrong:
            return self._unknown(line, right or wrong)
        return self._no_game(line)

    def _names(self, players: Iterable[int]) -> tuple[str, ...]:
        return tuple(map(self._roster.name_of, players))

    def _canonical(self, game: GameLine) -> str:
        return format_line(game, self._roster.name_of)

    def _decided(self, line: Line, found: dict[Reading, bool]) -> Outcome:
        """Take the only reading, or the only one that the spaces agree with (rulebook §4 D)."""
        choices = list(found) if len(found) == 1 else [reading for reading, agrees in found.items() if agrees]
        if len(choices) != 1:
            variants = tuple(" / ".join(self._names(reading.left + reading.right)) for reading in list(found)[:3])
            return _refused(line, "ambiguous", variants)
        reading = choices[0]
        game = GameLine(reading.left, WORDS[line.tokens[reading.at]], reading.right)
        if repeated := _repeated(game.players):
            return _refused(line, "same_player", self._names(repeated))
        return Outcome(game, (), self._canonical(game))

    def _wrong_word(self, line: Line, reading: Reading) -> Outcome:
        word = line.tokens[reading.at]
        problem = LineProblem(line.number, line.text, "result_word", word=word)
        if repeated := _repeated(reading.left + reading.right):
            same = LineProblem(line.number, line.text, "same_player", self._names(repeated))
            return Outcome(None, (problem, same), line.text)
        result = intended(word)
        if result is None:
            return Outcome(None, (problem,), line.text)
        game = GameLine(reading.left, result, reading.right)
        fixed = self._canonical(game)
        return Outcome(game, (replace(problem, fixed=fixed),), fixed)

    def _unknown(self, line: Line, places: Sequence[int]) -> Outcome:
        """Name the unknown names of the most plausible reading, with what they may have meant."""
        best = best_guess(line, places[:_MAX_PLACES], self._sizes)
        if best is None:
            return _refused(line, "wrong_side")
        at, parts = best
        names = [line.name(*part) for part in parts]
        unknown = tuple(dict.fromkeys(line.name(*part) for part in parts if line.player(*part) is None))
        near = {name: self._guesses.near(name) for name in unknown}
        tokens = [near[name][0] if len(near.get(name, ())) == 1 else name for name in names]
        left = sum(end <= at for _, end in parts)
        typed = line.tokens[at]
        result = intended(typed)
        word = typed if result is None else result.word
        text = SEPARATOR.join((*tokens[:left], word, *tokens[left:]))
        as_typed = SEPARATOR.join((*names[:left], word, *names[left:]))
        players = tuple(player for player in map(self._roster.find, tokens) if player is not None)
        guess = None
        if result is not None and len(players) == len(tokens) and not _repeated(players):
            guess = GameLine(players[:left], result, players[left:])
        fixed = None if guess is None else self._canonical(guess)
        problems = [LineProblem(line.number, line.text, "unknown_name", unknown, tuple(near.values()), fixed=fixed)]
        if not is_right_word(typed):
            problems.insert(0, LineProblem(line.number, line.text, "result_word", word=typed, fixed=fixed))
        return Outcome(None, tuple(problems), fixed or text, guess, as_typed)

    def _no_game(self, line: Line) -> Outcome:
        """A line without a free-standing result: names and result run together, or words that belong elsewhere."""
        game = self._unglued(line)
        fixed = None if game is None else self._canonical(game)
        if fixed is None and not speaks_of_a_result(line.text):
            fixed = ""
        problem = LineProblem(line.number, line.text, "not_a_game", fixed=fixed)
        return Outcome(game, (problem,), line.text if fixed is None else fixed)

    def _unglued(self, line: Line) -> GameLine | None:
        """Read 张三胜李四, when there is exactly one way to set its spaces."""
        text = line.name(0, len(line.tokens))
        if len(text) > 2 * MAX_NAME_LENGTH + 3 or (1, 1) not in self._sizes:
            return None
        found: set[GameLine] = set()
        for at, c in enumerate(text):
            if c in WORDS:
                left = self._roster.find(text[:at].strip(" "))
                right = self._roster.find(text[at + 1 :].strip(" "))
                if left is not None and right is not None and left != right:
                    found.add(GameLine((left,), WORDS[c], (right,)))
        return found.pop() if len(found) == 1 else None


def _refused(line: Line, code: str, names: tuple[str, ...] = ()) -> Outcome:
    return Outcome(None, (LineProblem(line.number, line.text, code, names),), line.text)


def _repeated(players: Sequence[int]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(player for player in players if players.count(player) > 1))
