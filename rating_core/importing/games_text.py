"""A plain text of report lines: dates, #赛事 [系数] and #榜 on lines of their own, starting ratings, games (§4)."""

import re
import unicodedata

from rating_core.importing.files import MAX_GAMES, GameFile, RawGame, RawPlayer
from rating_core.importing.games_table import CASUAL_WORDS
from rating_core.importing.moments import read_moment
from rating_core.importing.table import MAX_LINE, FileProblem
from rating_core.importing.values import MAX_PROBLEMS, Problem
from rating_core.names import clean_text, normalize_name
from rating_core.report_lines import is_right_word, is_wrong_word
from rating_core.rulebook import PLACINGS, POOLS

_RATING = re.compile(r"\d{3,4}(?:\.\d{1,20})?")
_WEIGHT = re.compile(r"(.+?) +(?:系数)?(\d(?:\.\d)?)")
_LOOKED_AT = 200
"""So many lines say whether a text holds report lines."""


def looks_like_games(text: str) -> bool:
    """Return whether a text holds report lines: one with a free-standing result among its words, or a #header."""
    for line in clean_text(text[: _LOOKED_AT * MAX_LINE]).split("\n")[:_LOOKED_AT]:
        words = line[:MAX_LINE].split()
        if words and words[0][0] in "#＃":
            return True
        if len(words) in range(3, 12) and any(is_right_word(w) or is_wrong_word(w) for w in words[1:-1]):
            return True
    return False


def read_text(text: str, encoding: str) -> GameFile:
    """Read a text; what its lines mean is told by the roster later. Raises FileProblem."""
    reader = _Reader()
    for number, line in enumerate(clean_text(text).split("\n"), start=1):
        if len(line) > MAX_LINE:
            raise FileProblem("long_line", row=number, most=MAX_LINE)
        if line.strip():
            reader.read(number, line.strip(" "))
        if len(reader.problems) >= MAX_PROBLEMS:
            break
    if not reader.games and not reader.problems:
        raise FileProblem("no_games")
    about = {"encoding": encoding}
    return GameFile("text", tuple(reader.games), tuple(reader.players), (), tuple(reader.problems), about)


class _Reader:
    """Reads line after line; a date, an event and a pool hold until the next one."""

    def __init__(self) -> None:
        self.games: list[RawGame] = []
        self.players: list[RawPlayer] = []
        self.problems: list[Problem] = []
        self._at: int | None = None
        self._pool = self._event = ""
        self._weight: float | None = None

    def read(self, row: int, line: str) -> None:
        if line[0] in "#＃":
            self._header(row, line[1:].strip())
        elif (found := read_moment(line)) is not None:
            self._at = found.played
        elif (player := _starting(row, line)) is not None:
            self.players.append(player)
        else:
            self.games.append(
                RawGame(row, (), (), "", line, self._at, self._pool, self._event, self._weight)
            )  # fmt: skip
            if len(self.games) > MAX_GAMES:
                raise FileProblem("too_many_games", most=MAX_GAMES)

    def _header(self, row: int, words: str) -> None:
        """#榜, #赛事 with or without its weight, or #约战, which ends an event."""
        name = normalize_name(words)
        for pool in POOLS:
            if name.casefold().replace(" ", "") == pool.casefold():
                self._pool, self._event, self._weight = pool, "", None
                return
        match = _WEIGHT.fullmatch(unicodedata.normalize("NFKC", name[:60]))
        self._weight = float(match[2]) if match else None
        self._event = normalize_name(match[1]) if match else name
        if self._event in CASUAL_WORDS:
            self._event, self._weight = "", None
        elif not self._event:
            self.problems.append(Problem(row, "", "no_event_name"))


def _starting(row: int, line: str) -> RawPlayer | None:
    """Read a starting rating: a name and a placing or a number, without a result anywhere."""
    *name, last = line.split()
    if not name or any(is_right_word(word) or is_wrong_word(word) for word in name):
        return None
    last = unicodedata.normalize("NFKC", last)
    if last in PLACINGS:
        return RawPlayer(row, " ".join(name), placing=last)
    if _RATING.fullmatch(last):
        return RawPlayer(row, " ".join(name), initial=float(last))
    return None
