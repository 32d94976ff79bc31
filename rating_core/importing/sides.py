"""Who plays in the games of a file: names against the roster, new ones if they are wanted, near misses if not."""

import unicodedata
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field

from rating_core.book import Book
from rating_core.directory import Directory
from rating_core.importing.files import RawGame, RawPlayer
from rating_core.importing.values import Problem
from rating_core.names import MAX_NAME_LENGTH, NameProblem, check_new_name, is_erased_label, normalize_name
from rating_core.report_lines import (
    Line,
    cut_lines,
    is_right_word,
    is_wrong_word,
    readings_of,
    uniform_sizes,
)
from rating_core.roster import Roster

WIDEST = 2 * MAX_NAME_LENGTH
"""A name that a history brings along may be as wide as 16 Chinese characters, narrow letters counting half."""
NEAR_LOOKED_UP = 200
"""Near misses are looked for of so many unknown names."""


@dataclass(slots=True)
class Unknown:
    """A name on no board: where it stands first, how often, and what may have been meant."""

    name: str
    row: int
    count: int = 0
    near: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Sides:
    """A game's players by number (below 0: new ones) and its result as written."""

    left: tuple[int, ...]
    right: tuple[int, ...]
    result: str


def history_name(name: str, reserved: Container[str]) -> NameProblem | None:
    """Return what is wrong with a name that a history brings along.

    It may be longer than one given today, and it may be none: of who was forgotten where the history comes from.
    """
    problem = check_new_name(name, reserved)
    if problem is not None and problem.code == "too_long" and width(name) <= WIDEST:
        return None
    return None if is_erased_label(name) else problem


def known_names(book: Book, directory: Directory) -> Roster:
    """Return a copy of the roster in which also the forgotten can be found, by what stands in the place of names."""
    roster = directory.roster.copy()
    for player in book.state.initial:
        if book.alias(player) == player and not directory.is_named(player):
            roster.add(directory.name_of(player), player)
    return roster


def width(name: str) -> int:
    """Return how much room a name takes, in halves of a Chinese character."""
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in name if not unicodedata.combining(c))


@dataclass(slots=True)
class Names:
    """Resolves names; those that the file introduces, and new ones if they are wanted, get numbers below 0."""

    roster: Roster
    """A copy, to which new names are added."""
    reserved: Container[str]
    new_players: bool
    problems: list[Problem] = field(default_factory=list)
    new: list[RawPlayer] = field(default_factory=list)
    """The new players, number −1 first."""
    unknown: dict[str, Unknown] = field(default_factory=dict)
    _known: dict[str, int | None] = field(default_factory=dict)

    def introduce(self, player: RawPlayer) -> int | None:
        """Enter a player whom the file states; return his number, None if his name cannot be."""
        name = normalize_name(player.name)
        found = self.roster.resolve(name)
        if found is None and (found := self._add(name, player)) is None:
            self._known[player.name] = None  # said once, not again in every game
        return found

    def _add(self, name: str, player: RawPlayer) -> int | None:
        if (problem := history_name(name, self.reserved)) is not None:
            self._wrong(player, "bad_name", name=name, problem=problem)
            return None
        if (alike := self.roster.confusable_with(name)) is not None:
            self._wrong(player, "confusable", name=name, alike=alike, other=None)
            return None
        self.new.append(RawPlayer(player.row, name, player.placing, player.initial, player.ip_checked, player.former))
        number = -len(self.new)
        self.roster.add(name, number)
        self._known[name] = number
        return number

    def _wrong(self, player: RawPlayer, code: str, **facts: object) -> None:
        self.problems.append(Problem(player.row, "", code, facts, player.sheet))

    def number(self, written: str, row: int) -> int | None:
        """Return the number of a name in a game, None where it is unknown (and noted)."""
        try:
            found = self._known[written]
        except KeyError:
            name = normalize_name(written)
            found = self.roster.resolve(name)
            if found is None and self.new_players:
                found = self._add(name, RawPlayer(row, name))
            elif found is None:
                near = tuple(self.roster.nearest(name)) if len(self.unknown) < NEAR_LOOKED_UP else ()
                self.unknown[written] = Unknown(name, row, near=near)
            self._known[written] = found
        if found is None and written in self.unknown:
            self.unknown[written].count += 1
        return found

    def sides(self, game: RawGame, size: int | None, *, any_word: bool) -> Sides | str | None:
        """Return who plays; a problem's code where the line or row is no game; None where names are unknown.

        `size` is the pool's side size, None where it is not known yet; `any_word`: any word may be the result.
        """
        if game.line:
            return self._of_line(game, size, any_word=any_word)
        if not 1 <= len(game.left) <= 2 or len(game.left) != len(game.right) or size not in (None, len(game.left)):
            return "sides"
        return self._resolved(game.left, game.right, game.result, game.row)

    def _resolved(self, left: Sequence[str], right: Sequence[str], result: str, row: int) -> Sides | None:
        numbers = [self.number(name, row) for name in (*left, *right)]
        players = tuple(number for number in numbers if number is not None)
        if len(players) < len(numbers):
            return None
        return Sides(players[: len(left)], players[len(left) :], result)

    # --- report lines ---------------------------------------------------------------------------------------

    def _of_line(self, game: RawGame, size: int | None, *, any_word: bool) -> Sides | str | None:
        lines = cut_lines(game.line, self.roster, 1)
        if not lines:
            return "no_game_line"
        line = lines[0]
        inner = range(1, len(line.tokens) - 1)
        for places in (line.places(is_right_word), line.places(is_wrong_word), inner):
            found = readings_of(line, places, uniform_sizes(size))
            choices = list(found) if len(found) == 1 else [reading for reading, agrees in found.items() if agrees]
            if len(choices) == 1:
                (reading,) = choices
                return Sides(reading.left, reading.right, line.tokens[reading.at])
            if found:
                return "ambiguous_line"
        return self._of_parts(line, game.row, size, any_word=any_word)

    def _of_parts(self, line: Line, row: int, size: int | None, *, any_word: bool) -> Sides | str | None:
        """Split a line with unknown names by its spaces: wide ones if there are any."""
        parts = list(_parts(line))
        places = [at for at in range(1, len(parts) - 1) if is_right_word(parts[at])]
        places = places or [at for at in range(1, len(parts) - 1) if is_wrong_word(parts[at])]
        if not places and any_word and len(parts) in (3, 5):
            places = [len(parts) // 2]
        sizes = [(at, len(parts) - at - 1) for at in places]
        fitting = [at for at, (left, right) in zip(places, sizes, strict=True) if left == right and left in (1, 2)]
        fitting = [at for at in fitting if size in (None, at)]
        if len(fitting) != 1:
            return "no_game_line"
        (at,) = fitting
        return self._resolved(parts[:at], parts[at + 1 :], parts[at], row)


def _parts(line: Line) -> Iterable[str]:
    """Yield what stands between wide gaps; between all gaps where none is wide."""
    wide = any(line.wide)
    start = 0
    for end in range(1, len(line.tokens) + 1):
        if end == len(line.tokens) or line.wide[end - 1] or not wide:
            yield line.name(start, end)
            start = end
