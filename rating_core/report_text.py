"""Report text ↔ game lines (rulebook §4): pure, synchronous, total.

Every step is bounded by the caps below, so that no message costs more than a few milliseconds.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from rating_core.names import normalize_name, skeleton
from rating_core.report_diagnosis import Guesses, LineParser, LineProblem, Outcome
from rating_core.report_lines import (
    MIXED,
    SEPARATOR,
    WORDS,
    WRONG_WORDS,
    GameLine,
    Line,
    Result,
    cut_lines,
    format_line,
    intended,
    is_plain_and,
    is_right_word,
    is_wrong_word,
    readings_of,
)
from rating_core.roster import Roster
from rating_core.rulebook import MAX_REPORT_CHARS, MAX_REPORT_LINES

__all__ = [
    "WORDS",
    "WRONG_WORDS",
    "GameLine",
    "LineProblem",
    "ReportProblems",
    "ReportText",
    "Result",
    "format_line",
    "format_report",
    "intended",
    "looks_like_report",
    "near_header",
    "parse_report",
    "template",
]

_MAX_HEADERS = 4
_ENOUGH_LINES = _MAX_HEADERS + MAX_REPORT_LINES + 1
"""So many lines say whether a message is a report, and whether it is too long."""
_LONGEST_HEADER = 40


@dataclass(frozen=True, slots=True)
class ReportText:
    """A report that can be recorded: its headers (as written in the given names) and its games in order."""

    event: str | None
    pool: str | None
    lines: tuple[GameLine, ...]


@dataclass(frozen=True)
class ReportProblems:
    """Why a report is refused, and the whole report to copy with every safe correction made (None: there is none)."""

    problems: tuple[LineProblem, ...]
    corrected: str | None

    @property
    def complete(self) -> bool:
        """Whether the corrected text can be sent as it is."""
        if self.corrected is None or len(self.corrected) > MAX_REPORT_CHARS:
            return False
        return all(problem.fixed is not None for problem in self.problems)


# --- is it a report? --------------------------------------------------------------------------------------


def _result_like(token: str) -> bool:
    return is_right_word(token) or is_wrong_word(token)


def _names_two_players(line: Line, at: int) -> bool:
    """Whether a line with its result at a token has two names on the roster; beside 和, nothing but such names."""
    if is_plain_and(line.tokens[at]):
        return bool(readings_of(line, (at,), MIXED))
    if len(line.known) < 2:
        return False
    return line.known_names(0, at) + line.known_names(at + 1, len(line.tokens)) >= 2


def _near_roster(line: Line, at: int, guesses: Guesses) -> bool:
    """Whether a line's sides look like misspelt names: one of them, or both beside an everyday 和."""
    sides = (
        any(guesses.near(name) for name in dict.fromkeys((line.name(start, end), *line.tokens[start:end])))
        for start, end in ((0, at), (at + 1, len(line.tokens)))
    )
    return all(sides) if is_plain_and(line.tokens[at]) else any(sides)


def looks_like_report(text: str, roster: Roster, sender_is_player: bool) -> bool:
    """Return whether a message is meant as a report (commands.md, "Reporting"); ordinary chat is not.

    Either one line has the shape 名 结果字 名 with two names on the roster; or a player sends nothing but such lines
    and at least one of their names is on the roster or near a name on it. Wrong result words have the shape too.
    """
    if len(text) > MAX_REPORT_CHARS:
        text = text[:MAX_REPORT_CHARS]
        text = text.rpartition("\n")[0] or text
    shaped: list[tuple[Line, int]] = []
    all_shaped = True
    for line in cut_lines(text, roster, _ENOUGH_LINES):
        if line.is_header:
            continue
        places = line.places(_result_like)
        if any(_names_two_players(line, at) for at in places):
            return True
        all_shaped = all_shaped and bool(places)
        shaped += [(line, at) for at in places[:2]]
    if not (sender_is_player and all_shaped):
        return False
    guesses = Guesses(roster)
    return any(_near_roster(line, at, guesses) for line, at in shaped)


# --- parsing ----------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Headers:
    """The #-lines on top of a report."""

    event: str | None = None
    pool: str | None = None
    problems: tuple[LineProblem, ...] = ()
    corrected: str = ""


def _read_headers(lines: Sequence[Line], events: Collection[str], pools: Collection[str]) -> _Headers:
    headers = _Headers()
    known = {normalize_name(name): name for name in (*pools, *events)}
    names = [normalize_name(line.text[1:]) for line in lines]
    taken = {known[name] in events for name in names if name in known}  # True: an event is named, False: a pool
    for line, name in zip(lines, names, strict=True):
        found, guess = known.get(name), None
        code = ""
        near: tuple[str, ...] = ()
        if found is None:
            code, near = "unknown_header", near_header(name, known)
            if len(near) == 1 and (near[0] in events) not in taken:  # two of a kind cannot be meant
                guess = near[0]
                taken.add(guess in events)
        elif found in events and headers.event is None:
            headers.event = found
        elif found in pools and headers.pool is None:
            headers.pool = found
        else:
            code = "repeated_header"
        if code:
            fixed = None if guess is None else f"#{guess}"
            headers.problems += (LineProblem(line.number, line.text, code, (name,), (near,), fixed=fixed),)
        headers.corrected += f"#{found or guess or name}\n"
    return headers


def near_header(name: str, known: Collection[str]) -> tuple[str, ...]:
    """Event and pool names that a header may have meant: at most a third of its characters are wrong."""
    from rapidfuzz import process  # rarely needed, and many modules
    from rapidfuzz.distance import OSA

    if len(name) > _LONGEST_HEADER:
        return ()
    choices = {choice: skeleton(choice) for choice in known}
    wanted = skeleton(name)
    cutoff = max(1, len(wanted) // 3)
    found = process.extract(wanted, choices, scorer=OSA.distance, score_cutoff=cutoff, limit=3)
    return tuple(choice for other, distance, choice in found if distance < max(len(other), len(wanted)))


def _sides(game: GameLine) -> frozenset[frozenset[int]]:
    return frozenset((frozenset(game.left), frozenset(game.right)))


def _agrees(game: GameLine, first: GameLine, mixed: bool) -> bool:
    return len(game.left) == len(first.left) and (mixed or _sides(game) == _sides(first))


def _safe_guesses(outcomes: Sequence[Outcome], mixed: bool) -> list[Outcome]:
    """Drop near misses that do not fit to the rest of the report: they were hardly meant."""
    games = [outcome.game for outcome in outcomes if outcome.game is not None]
    games += [outcome.guess for outcome in outcomes if outcome.guess is not None]
    return [
        outcome.unsure() if outcome.guess is not None and not _agrees(outcome.guess, games[0], mixed) else outcome
        for outcome in outcomes
    ]


def _against_the_first(
    lines: Sequence[Line], outcomes: Sequence[Outcome], roster: Roster, mixed: bool
) -> list[LineProblem]:
    """Return what does not go with the first game: another side size, or (first case only) another pair (§4 D)."""
    games = [(line, outcome.game) for line, outcome in zip(lines, outcomes, strict=True) if outcome.game is not None]
    problems: list[LineProblem] = []
    seen_other_pair = False
    for line, game in games[1:]:
        first = games[0][1]
        names = tuple(map(roster.name_of, game.players))
        if len(game.left) != len(first.left):
            problems.append(LineProblem(line.number, line.text, "wrong_side", names))
        elif not seen_other_pair and not _agrees(game, first, mixed):
            seen_other_pair = True
            problems.append(LineProblem(line.number, line.text, "several_pairs", names))
    return problems


def _whole(code: str) -> ReportProblems:
    """Refuse the message as a whole."""
    return ReportProblems((LineProblem(0, "", code),), None)


def parse_report(
    text: str,
    roster: Roster,
    *,
    side_size: int | None,
    events: Collection[str] = (),
    pools: Collection[str] = (),
    mixed: bool = False,
) -> ReportText | ReportProblems:
    """Read a report, all or nothing (rulebook §4); never raises.

    `side_size` is the pool's, None when the pool is not known yet: then all lines must agree. `mixed` lets a referee
    or scorekeeper report several pairs. Mentions and quotes are the caller's to remove.
    """
    if len(text) > MAX_REPORT_CHARS:
        return _whole("too_long")
    lines = cut_lines(text, roster, _ENOUGH_LINES)
    top = 0
    while top < min(len(lines), _MAX_HEADERS) and lines[top].is_header:
        top += 1
    games = lines[top:]
    if not games:
        return _whole("empty")
    if len(games) > MAX_REPORT_LINES:
        return _whole("too_many_lines")
    headers = _read_headers(lines[:top], events, pools)
    parser = LineParser(roster, side_size)
    outcomes = _safe_guesses([parser.read(line) for line in games], mixed)
    problems = [*headers.problems, *(problem for outcome in outcomes for problem in outcome.problems)]
    problems += _against_the_first(games, outcomes, roster, mixed)
    if not problems:
        return ReportText(headers.event, headers.pool, tuple(o.game for o in outcomes if o.game is not None))
    corrected = None
    body = "".join(f"{outcome.text}\n" for outcome in outcomes if outcome.text)
    if body and all(problem.code != "several_pairs" for problem in problems):
        corrected = headers.corrected + body
    return ReportProblems(tuple(sorted(problems, key=lambda problem: problem.number)), corrected)


# --- writing ----------------------------------------------------------------------------------------------


def format_report(
    lines: Iterable[GameLine], name_of: Callable[[int], str], *, event: str | None = None, pool: str | None = None
) -> str:
    """Return the canonical text of a report; each line ends in a newline (rulebook §4)."""
    headers = "".join(f"#{header}\n" for header in (event, pool) if header is not None)
    return headers + "".join(f"{format_line(line, name_of)}\n" for line in lines)


def template(left: str | Sequence[str] = (), right: str | Sequence[str] = (), *, side_size: int = 1) -> str:
    """Return the report form to copy (`/格式`): one line with the given names, 棋手A 棋手B … for missing ones."""
    sides = [(side,) if isinstance(side, str) else tuple(side) for side in (left, right)]
    blanks = [f"棋手{letter}" for letter in "ABCD"]
    filled = [
        (*side, *blanks[number * side_size + len(side) : (number + 1) * side_size]) for number, side in enumerate(sides)
    ]
    return SEPARATOR.join((*filled[0], Result.WIN.word, *filled[1])) + "\n"
