"""Boards: of now, as published, of past days; and 封存名单."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

from plugins.rating_bot.site import data
from plugins.rating_bot.site.answers import Busy, Moved, NotHere
from plugins.rating_bot.site.ask import Ask, Page, number, sheet
from plugins.rating_bot.site.search import needs_readings, wanted
from plugins.rating_bot.wording import pages as wording
from rating_core import queries
from rating_core.queries import Board, BoardRow
from rating_core.rules.display import masked_player
from rating_core.times import day_of, start_of

ROWS = 100
"""Players on one page."""
OFF_THE_BOARD = 20
"""Players that a search finds elsewhere than on the board, at most."""

PARAMETERS = ("pool", "q", "sort", "dir", "page")
SORTS: dict[str, Callable[[BoardRow], Any]] = {
    "rank": lambda row: row.rank,
    "name": lambda row: row.name,
    "change": lambda row: None if row.change is None else row.change.rating,
    "games": lambda row: row.games,
    "rate": lambda row: row.wins / row.games if row.games else None,
    "peak": lambda row: row.peak,
}
"""What a board can be sorted by; who has no such figure stands last."""
RISING = ("rank", "name")
"""Sorted from below unless asked otherwise."""


def sorts_by_sound(query: Callable[[str], str]) -> bool:
    """Return whether names have to be read to answer."""
    return query("sort") == "name" or needs_readings(wanted(query("q")))


def board(ask: Ask) -> Page:
    """The current board; in its own order only the rows to be shown are made."""
    pool, title = ask.pool, wording.board_title(ask.pool)
    if ask.text("q") or _sort(ask) != "rank" or _falling(ask):
        return _board_page(ask, ask.now.board(pool), "", title)
    listed = len(ask.now.order(pool).places)
    part, _ = sheet(listed, ask.page_number, ROWS)
    return _page(ask, ask.now.board(pool, part), listed, "", title, [])


def lists(ask: Ask) -> Page:
    """Which lists were published."""
    pool, book, directory = ask.pool, ask.now.book, ask.now.directory
    published = book.state.lists.get(pool, ())[::-1]
    rows = [queries.published_board(book, directory, pool, one) for one in published]
    context = {"here": "lists", "rows": rows}
    return Page("lists.html", wording.lists_title(pool), pool, context, lambda: {"lists": data.lists(rows)})


def published(ask: Ask) -> Page:
    """A published list."""
    pool, book = ask.pool, ask.now.book
    asked = number(ask.path["number"])
    found = queries.find_list(book, pool, asked)
    if found is None:
        raise NotHere(wording.no_list(pool, asked))
    as_published = queries.published_board(book, ask.now.directory, pool, found)
    return _board_page(ask, as_published, f"lists/{asked}", wording.list_title(as_published))


def _day(typed: str) -> date:
    """Return a day from an address. Raises NotHere."""
    try:
        return date.fromisoformat(typed)
    except ValueError:
        raise NotHere(wording.NO_DAY) from None


def past_day(ask: Ask) -> date | None:
    """Return the past day asked for; None for today. Raises NotHere."""
    when = _day(ask.path["day"])
    began = ask.now.book.began(ask.pool)
    first = None if began is None else day_of(began)
    if first is None or not first <= when <= ask.now.today:
        raise NotHere(wording.no_board_on(ask.pool, first))
    return None if when == ask.now.today else when


def ask_day(ask: Ask) -> Page:
    """A day is asked for by the form; none is today. Raises Moved or NotHere."""
    typed = ask.text("day")
    raise Moved(f"days/{_day(typed) if typed else ask.now.today}")


def day(ask: Ask) -> Page:
    """The board as of the end of a day. Raises Busy where the Book of a past one is not at hand."""
    when = past_day(ask)
    if when is None:
        return _board_page(ask, ask.now.board(ask.pool), f"days/{ask.now.today}", wording.board_title(ask.pool))
    book = ask.now.league.past.kept(ask.now.book, when)
    if book is None:
        raise Busy(wording.BUSY)
    found = queries.board(book, ask.now.directory, ask.pool, start_of(when))
    return _board_page(ask, found, f"days/{when}", wording.day_title(found))


def _board_page(ask: Ask, board: Board, path: str, title: str) -> Page:
    """A board that is at hand as a whole: a part of what was searched for, in the order asked for."""
    typed, sort, falling = ask.text("q"), _sort(ask), _falling(ask)
    rows = _sorted(ask, _found(ask, board.rows, wanted(typed)), sort, falling=falling)
    part, _ = sheet(len(rows), ask.page_number, ROWS)
    elsewhere = _elsewhere(ask, board, wanted(typed)) if typed and not path else []
    return _page(ask, replace(board, rows=tuple(rows[part])), len(rows), path, title, elsewhere)


def _page(ask: Ask, shown: Board, found: int, path: str, title: str, elsewhere: list[tuple[int, str]]) -> Page:
    """The rows `shown` of a board; `found` of those on it were searched for."""
    typed, sort, falling = ask.text("q"), _sort(ask), _falling(ask)
    _, pages = sheet(found, ask.page_number, ROWS)
    context = {
        "here": "lists" if shown.number else "", "path": path, "title": title, "board": shown,
        "q": typed, "sort": sort, "falling": falling,
        "order": _order(sort, falling=falling),
        "orders": {key: _order(key, falling=not falling if key == sort else key not in RISING) for key in SORTS},
        "page": ask.page_number, "pages": pages, "elsewhere": elsewhere,
        "near": _near(ask, typed) if typed and not found and not elsewhere else [],
        "first_day": ask.now.book.began(shown.pool), "today": ask.now.today.isoformat(),
    }  # fmt: skip

    def as_data() -> dict[str, Any]:
        return data.board(shown, found=found, page=ask.page_number, pages=pages)

    return Page("board.html", title, shown.pool, context, as_data)


def _sort(ask: Ask) -> str:
    """Return what to sort by. Raises NotHere."""
    sort = ask.text("sort") or "rank"
    if sort not in SORTS:
        raise NotHere(wording.NO_PAGE)
    return sort


def _falling(ask: Ask) -> bool:
    return ask.text("dir") == "desc" if ask.text("dir") else _sort(ask) not in RISING


def _order(sort: str, *, falling: bool) -> dict[str, str]:
    """Return a way of sorting as the query says it; the usual ways need not be said."""
    order = {} if sort == "rank" else {"sort": sort}
    return order if falling != (sort in RISING) else order | {"dir": "desc" if falling else "asc"}


def _found(ask: Ask, rows: Sequence[BoardRow], text: str) -> list[BoardRow]:
    return [row for row in rows if ask.readings.match(row.name, text)] if text else list(rows)


def _sorted(ask: Ask, rows: list[BoardRow], sort: str, *, falling: bool) -> list[BoardRow]:
    value = SORTS[sort]
    if sort == "name":
        sound = ask.readings.sound
        return sorted(rows, key=lambda row: (sound(row.name), row.name), reverse=falling)
    known = sorted((row for row in rows if value(row) is not None), key=value, reverse=falling)
    return known + [row for row in rows if value(row) is None]


def _elsewhere(ask: Ask, board: Board, text: str) -> list[tuple[int, str]]:
    """Return number and name of players off the board that a search finds (蒙面人公用号 is on no list)."""
    listed = {row.player for row in board.rows} | {masked_player(ask.now.directory)}
    names = ask.now.directory.roster.current_names()
    found = [(p, n) for p, n in names.items() if p not in listed and ask.readings.match(n, text)]
    return [one for one in found if one[0] in ask.now.book.state.initial][:OFF_THE_BOARD]


def _near(ask: Ask, typed: str) -> list[tuple[int, str]]:
    """Return names that may have been meant."""
    roster, masked = ask.now.directory.roster, masked_player(ask.now.directory)
    found = [(roster.resolve(name), name) for name in roster.nearest(typed)]
    return [(player, name) for player, name in found if player is not None and player != masked]


def archive(ask: Ask) -> Page:
    """封存名单."""
    pool = ask.pool
    rows = queries.archived(ask.now.book, ask.now.directory, pool, ask.now.at)
    part, pages = sheet(len(rows), ask.page_number, ROWS)
    shown = rows[part]
    context = {"here": "archive", "rows": shown, "of": len(rows), "start": part.start, "page": ask.page_number,
               "pages": pages}  # fmt: skip

    def as_data() -> dict[str, Any]:
        return {"archived": data.archived(shown), "of": len(rows), "page": ask.page_number, "pages": pages}

    return Page("archive.html", wording.archive_title(pool), pool, context, as_data)
