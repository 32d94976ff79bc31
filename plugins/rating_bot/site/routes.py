"""The routes under /board/: addresses, headers, 304, and what is answered when something is not there."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import date
from functools import partial

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from plugins.rating_bot.site import boards, more, players
from plugins.rating_bot.site.answers import Busy, Moved, NotHere
from plugins.rating_bot.site.ask import Ask, Page
from plugins.rating_bot.site.cache import PageCache
from plugins.rating_bot.site.files import Files
from plugins.rating_bot.site.html import ROOT, Html, address
from plugins.rating_bot.site.search import Readings
from plugins.rating_bot.site.snapshot import Source
from plugins.rating_bot.wording import pages as wording
from rating_core.rulebook import CHIEF_EDITOR, DEFAULT_POOL
from rating_core.service.league import League

API = "api/"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    # a name that is erased here could not be taken back from a search engine
    "X-Robots-Tag": "noindex",
}
FRESH_SECONDS = 15
"""How long a page may be shown again without asking."""
MOST_WAITING = 3
"""Past days that are worked out one after the other; who comes then is asked to come again."""
RETRY_SECONDS = 5
LONGEST_VALUE = 80
"""Characters of a value in the query that are looked at."""

Prepare = Callable[["Site", Ask], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class View:
    """A page: its path below /board/, what makes it, and which parameters it knows."""

    path: str
    make: Callable[[Ask], Page]
    parameters: tuple[str, ...] = ("pool",)
    prepare: Prepare | None = None
    """What takes time and must be done before it is made."""


class Site:
    """The public pages of a league. They read what is in memory and change nothing."""

    def __init__(self, league: Callable[[], League | None], clock: Callable[[], int]) -> None:
        self.files = Files()
        self.html = Html(self.files.addresses)
        self.source = Source(league, clock, self.files.code)
        self.readings = Readings()
        self._cache = PageCache()
        self._past = asyncio.Lock()
        self._waiting = 0
        routes = [Route(f"/{prefix}{view.path}", partial(self._answer, view, prefix))
                  for view in VIEWS for prefix in (API, "")]  # fmt: skip
        app = Starlette(
            routes=[*routes, Route("/static/{name}", self.files.answer)],
            exception_handlers={
                NotHere: self._missing, Moved: _lead_on, Busy: self._later, HTTPException: self._refuse,
                Exception: self._broken,
            },
        )  # fmt: skip
        app.router.redirect_slashes = False  # they would lead to whatever host was named
        self.app: ASGIApp = partial(_with_headers, app)

    async def _answer(self, view: View, prefix: str, request: Request) -> Response:
        """Answer with a page from memory, a new one, or that the asker's is still the same."""
        given = request.query_params
        query = {name: given[name][:LONGEST_VALUE] for name in view.parameters if name in given}
        key = (prefix, request.url.path, *(f"{name}={value}" for name, value in query.items()))
        now = self.source.now()
        if _known(request, now.tag):
            return Response(status_code=304, headers=_caching(now.tag))
        if (body := self._cache.get(now.tag, key)) is None:
            ask = Ask(now, request.path_params, query, self.readings)
            if view.prepare is not None:
                await view.prepare(self, ask)
                ask = replace(ask, now=self.source.now())
            body = self._render(view.make(ask), ask, prefix, request)
            now = ask.now
            self._cache.put(now.tag, key, body)
        return Response(body, media_type=_type(prefix), headers=_caching(now.tag))

    def _render(self, page: Page, ask: Ask, prefix: str, request: Request) -> bytes:
        if prefix:
            whole = {"title": page.title, "pool": page.pool, "seq": ask.now.book.seq, **page.data()}
            return json.dumps(whole | {"credit": CHIEF_EDITOR}, ensure_ascii=False).encode()
        path = request.url.path.removeprefix(ROOT)
        return self.html.page(page, ask.now, data_address=address(API + path, **ask.query))

    async def _missing(self, request: Request, error: Exception) -> Response:
        return self._error(request, 404, str(error), {})

    async def _later(self, request: Request, error: Exception) -> Response:
        return self._error(request, 503, str(error), {"Retry-After": str(RETRY_SECONDS)})

    async def _refuse(self, request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        text = {404: wording.NO_PAGE, 405: wording.ONLY_READ}.get(error.status_code, wording.BROKEN)
        return self._error(request, error.status_code, text, dict(error.headers or {}))

    async def _broken(self, request: Request, error: Exception) -> Response:
        """Answer; the error itself goes on to the log."""
        return self._error(request, 500, wording.BROKEN, {})

    def _error(self, request: Request, status: int, text: str, headers: dict[str, str]) -> Response:
        headers |= {"Cache-Control": "no-store"}
        if request.url.path.startswith(ROOT + API):
            body = json.dumps({"error": text}, ensure_ascii=False).encode()
            return Response(body, status, headers, _type(API))
        return Response(self.html.error(status, text), status, headers, _type(""))

    async def read_names(self, ask: Ask) -> None:
        """Find out how all names are read, where that is needed."""
        if boards.sorts_by_sound(ask.text):
            await self.readings.learn(ask.now.directory.roster.current_names().values())

    async def fold_day(self, ask: Ask) -> None:
        """Have the Book of a past day at hand. The days asked for are worked out one after the other. Raises Busy."""
        await self.read_names(ask)
        day = boards.past_day(ask)
        if day is None or ask.now.league.past.kept(ask.now.book, day) is not None:
            return
        if self._waiting >= MOST_WAITING:
            raise Busy(wording.BUSY)
        self._waiting += 1
        try:
            async with self._past:
                await self._fold(day)
        finally:
            self._waiting -= 1

    async def _fold(self, day: date) -> None:
        now = self.source.now()
        if now.league.past.kept(now.book, day) is None:
            await now.league.past.at_end_of(now.book.fork(), day)  # of a copy: the bot goes on meanwhile


VIEWS = (
    View("", boards.board, boards.PARAMETERS, Site.read_names),
    View("archive", boards.archive, ("pool", "page")),
    View("lists", boards.lists),
    View("lists/{number}", boards.published, boards.PARAMETERS, Site.read_names),
    View("days", boards.ask_day, ("pool", "day")),
    View("days/{day}", boards.day, boards.PARAMETERS, Site.fold_day),
    View("players/{player}", players.player, ("pool", "page")),
    View("players/{player}/opponents", players.opponents, ("pool", "page")),
    View("versus", players.ask_versus, ("pool", "a", "b")),
    View("versus/{left}/{right}", players.versus),
    View("games/{game}", players.game),
    View("events", more.events),
    View("events/{event}", more.event),
    View("rules", more.rules),
)


def _type(prefix: str) -> str:
    return "application/json" if prefix else "text/html; charset=utf-8"


def _caching(tag: str) -> dict[str, str]:
    return {"ETag": f'W/"{tag}"', "Cache-Control": f"public, max-age={FRESH_SECONDS}"}


def _known(request: Request, tag: str) -> bool:
    """Return whether the asker has the page as it stands in the state `tag`."""
    asked = request.headers.get("if-none-match", "")
    return any(one.strip().removeprefix("W/") == f'"{tag}"' for one in asked.split(","))


async def _with_headers(app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
    """Add the headers that every answer bears, whatever it says."""

    async def bearing(message: Message) -> None:
        if message["type"] == "http.response.start":
            added = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
            message["headers"] = [*message["headers"], *added]
        await send(message)

    await app(scope, receive, bearing)


async def _lead_on(request: Request, moved: Exception) -> Response:
    """Lead to where a page stands now, as data if it was asked for as data."""
    prefix = API if request.url.path.startswith(ROOT + API) else ""
    pool = request.query_params.get("pool", DEFAULT_POOL)[:LONGEST_VALUE]
    return RedirectResponse(address(prefix + str(moved), pool), 307, {"Cache-Control": "no-cache"})


def to_root(request: Request) -> Response:
    """Lead from /board to /board/."""
    return RedirectResponse(ROOT, 307)
