"""Pieces of sentences used everywhere: names, mentions, lists, games in short."""

from collections.abc import Callable, Iterable, Sequence

from plugins.rating_bot.wire.messages import at
from rating_core.directory import Directory
from rating_core.report_text import GameLine, format_report

MAX_LINES = 15
MAX_CHARS = 500
GAMES_A_PAGE = 10
"""Games shown line by line in one message; more are put in short or on further pages."""
GAMES_CHARS = 300
"""Characters that games may take of a message that says other things as well."""

ERROR = "出错了，未记录。请稍后再发一次；总是这样请告诉记分员。"


def names(players: Iterable[int], directory: Directory) -> str:
    """Return names joined by 、."""
    return "、".join(directory.name_of(player) for player in players)


def mention(players: Iterable[int], directory: Directory) -> str:
    """Return an @ of each player's QQ; the plain name where no QQ is bound."""
    parts = []
    for player in players:
        name = directory.name_of(player)
        qqs = directory.qqs_of(player)
        parts += [at(qq, name) for qq in qqs] or [name]
    return " ".join(parts)


def games_in_short(lines: Sequence[GameLine], name_of: Callable[[int], str]) -> str:
    """Return the games line by line, or, when that is too long, a line a pair with the results in order."""
    whole = format_report(lines, name_of).rstrip("\n")
    if len(lines) <= GAMES_A_PAGE and len(whole) <= GAMES_CHARS:
        return whole
    groups: dict[frozenset[tuple[int, ...]], list[GameLine]] = {}
    for line in lines:
        groups.setdefault(frozenset((line.left, line.right)), []).append(line)
    rows = []
    for games in groups.values():
        left, right = games[0].left, games[0].right
        results = "".join((g if g.left == left else g.mirrored()).result.word for g in games)
        sides = ["    ".join(map(name_of, side)) for side in (left, right)]
        rows.append(f"{sides[0]}    {results}    {sides[1]}（{len(games)}局）")
    kept = [row for n, row in enumerate(rows, 1) if n <= GAMES_A_PAGE and len("\n".join(rows[:n])) <= GAMES_CHARS]
    if len(kept) < len(rows):
        kept = [*(kept[: GAMES_A_PAGE - 1] or rows[:1]), f"……共{len(lines)}局"]
    return "\n".join(kept)


def cut(text: str, most: int) -> str:
    """Return a text of at most `most` characters; what is left out is marked."""
    return text if len(text) <= most else text[: most - 1] + "…"


def fits(text: str) -> bool:
    """Return whether a text keeps to the limits of a message."""
    return text.count("\n") < MAX_LINES and len(text) <= MAX_CHARS


def spans(numbers: Sequence[int]) -> str:
    """Return ascending numbers in short: 1、3–5."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and parts[-1][-1] == number - 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return "、".join(str(p[0]) if len(p) == 1 else f"{p[0]}–{p[-1]}" for p in parts)


def fit(lines: Sequence[str], rest: str = "……还有{count}条", *, last: str = "") -> str:
    """Join lines to a message of at most 15 lines and 500 characters; say how many did not fit.

    `last` (a line to type, or more) always stands at the end.
    """
    tail = [last] if last else []
    most_lines = MAX_LINES - last.count("\n") - len(tail)
    most_chars = MAX_CHARS - len(last) - len(tail)
    kept: list[str] = []
    size = 0
    for index, line in enumerate(lines):
        more = rest.format(count=len(lines) - index)
        final = index == len(lines) - 1
        room_lines = most_lines - len(kept) - (0 if final else 1)
        room_chars = most_chars - size - (0 if final else len(more) + 1)
        if line.count("\n") + 1 > room_lines or len(line) > room_chars:
            return "\n".join([*kept, more, *tail])
        kept.append(line)
        size += len(line) + 1
    return "\n".join([*kept, *tail])


def pages_of(rows: Sequence[str], head: str, foot: str, most: int) -> list[list[str]]:
    """Fill pages of at most `most` rows that stay within the limits of a message together with head and foot."""
    most = min(most, MAX_LINES - 2 - head.count("\n") - foot.count("\n"))
    room = MAX_CHARS - len(head) - len(foot) - 2
    pages: list[list[str]] = []
    used = room
    for row in rows:
        used += len(row) + 1
        if used > room or len(pages[-1]) == most:
            pages.append([])
            used = len(row) + 1
        pages[-1].append(row)
    return pages
