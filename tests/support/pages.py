"""The public pages without a socket: a league to show, somebody who asks for pages, and what is in them."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from fastapi import FastAPI
from starlette.types import Message

from plugins.rating_bot.site import install
from rating_core.book import Book
from rating_core.directory import Directory
from rating_core.ledger import Adjustment, IpChecked, LeaveTaken, ListPublished, ListRow
from rating_core.past import PastBooks
from rating_core.rules.display import board_order
from tests.support.books import Books
from tests.support.rig import Rig
from tests.support.rows import ms

NOW = "2026-11-30 12:00"
POOL = "单跳1v1"
HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "a'b\"c&d</td>",
    "\u05d0\u05d1 \u05d2",
    "𠮷田𠮷",
    "一二三四五六七八九十甲乙丙丁戊己",
)
"""Names as an old table may hold them: markup, quotes, right to left, rare and wide characters."""


@dataclass
class Shown:
    """A league as the pages read it, which the test may move on."""

    book: Book
    directory: Directory
    past: PastBooks = field(default_factory=PastBooks)
    at: int = ms(NOW)

    @classmethod
    def of(cls, books: Books) -> "Shown":
        return cls(books.book(), books.directory)


def publish(books: Books, at: str) -> None:
    """Publish the board as it stands as the next list of 单跳1v1."""
    pool, moment = books.book().state.pools[POOL], ms(at)
    rows: list[ListRow] = []
    for rank, (shown, rating, _, _, player) in enumerate(board_order(pool, books.directory, moment), start=1):
        s = pool.standings[player]
        rows.append((player, rank, -shown, -rating, s.wins, s.draws, s.losses, s.peak, s.peak_at))
    number = len(books.book().state.lists.get(POOL, ())) + 1
    books.add(ListPublished(number, moment, tuple(rows)), at=at, pool=POOL)


def league() -> Books:
    """Some seventy games of 1v1 with everything that pages show, and two of 2v2."""
    books = Books()
    books.join("张三", "李四", "王五", "赵六", "蒙面人公用号", "长孙无忌", *HOSTILE)
    books.bind("张三", "12345678")
    for month in range(1, 8):
        books.play("张三 胜负平 李四", "王五 负胜平 张三", at=f"2026-0{month}-05 20:00")
    hostile = [books.id(name) for name in HOSTILE]
    publish(books, "2026-07-20 12:00")
    event = books.event("皇后杯", 1.2)
    games = ("李四 胜 王五", "赵六 平 王五", "张三 负 赵六", "蒙面人公用号 胜 张三")
    books.play(*games, at="2026-08-01 20:00", event=event, weight=1.2)
    row = books.play("赵六 胜胜负 长孙无忌", at="2026-09-01 20:00")
    first = books.rows.game - 2
    books.amend(row, first, "赵六 负 长孙无忌")
    books.void(row, first + 1)
    books.play("张三 胜胜胜胜胜胜 赵六", at="2026-09-15 20:00")
    for number, player in enumerate(hostile):
        other = hostile[number - 1]
        line = books.line("张三 胜 李四")
        games = [type(line)((player,), line.result, (other,)), type(line)((1,), line.result, (player,))]
        books.rows.play(games, at=ms(f"2026-10-0{number + 1} 20:00"))
    publish(books, "2026-10-20 12:00")
    books.add(Adjustment(1, -12.5), pool=POOL, at="2026-10-21 12:00")
    books.add(IpChecked(1, True), at="2026-10-22 12:00")
    books.add(LeaveTaken(books.id("王五"), ms("2027-01-01"), (POOL,)), at="2026-10-23 12:00")
    books.play("张三 李四 胜 王五 赵六", "张三 王五 负 李四 赵六", at="2026-11-01 20:00", pool="单跳2v2")
    books.play("李四 胜 张三", at="2026-11-02 20:00")
    return books


def application(shown: Shown | None) -> FastAPI:
    """Return an application with the pages of a league, or of none."""
    app = FastAPI()
    install(app, lambda: shown, lambda: shown.at if shown else 0)  # type: ignore[arg-type, return-value]
    return app


def of_rig(rig: Rig) -> FastAPI:
    """Return an application with the pages of a whole bot."""
    app = FastAPI()
    install(app, lambda: rig.league, rig.clock.now)
    return app


# --- asking -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Answer:
    """What came back; header names in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def data(self) -> Any:
        return json.loads(self.body)


class Reader:
    """Somebody who asks an application for pages."""

    def __init__(self, app: Any) -> None:
        self.app = app
        self.errors: list[Exception] = []

    async def get(self, address: str, method: str = "GET", **headers: str) -> Answer:
        """Ask for an address; `_` in header names stands for `-`."""
        parts = urlsplit(address)
        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http",
            "path": unquote(parts.path), "raw_path": parts.path.encode(),
            "query_string": quote(parts.query, safe="%=&+/").encode(),
            "root_path": "", "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80),
            "headers": [(name.replace("_", "-").lower().encode(), value.encode()) for name, value in headers.items()],
        }  # fmt: skip
        sent: list[Message] = []

        async def receive() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Message) -> None:
            sent.append(message)

        try:
            await self.app(scope, receive, send)
        except Exception as error:  # after the answer it goes on to the server's log
            self.errors.append(error)
            if not sent:
                raise
        start = sent[0]
        named = {name.decode(): value.decode() for name, value in start["headers"]}
        return Answer(start["status"], named, b"".join(message.get("body", b"") for message in sent[1:]))

    async def page(self, path: str) -> str:
        """Return the page at a path below /board/; it must be there."""
        answer = await self.get(f"/board/{path}")
        assert answer.status == 200, f"{path}: {answer.status} {answer.text[:200]}"
        return answer.text

    async def data(self, path: str) -> Any:
        """Return the same as data."""
        answer = await self.get(f"/board/api/{path}")
        assert (answer.status, answer.headers["content-type"]) == (200, "application/json"), path
        return answer.data


# --- what is in a page ------------------------------------------------------------------------------------


class _Reading(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.addresses: list[str] = []
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.texts: list[str] = []
        self._cell = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.tags.append((tag, given))
        self.addresses += [given[name] for name in ("href", "src", "action") if name in given]
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
            self._cell = True

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th"):
            self._cell = False

    def handle_data(self, data: str) -> None:
        self.texts.append(data)
        if self._cell:
            self.rows[-1][-1] += data


def read(page: str) -> _Reading:
    """Return a page's table rows, addresses, tags with their attributes, and texts."""
    reading = _Reading()
    reading.feed(page)
    return reading


def rows(page: str) -> list[list[str]]:
    """Return the cells of all rows of a page's tables, white space made single."""
    return [[" ".join(cell.split()) for cell in row] for row in read(page).rows]


async def crawl(reader: Reader, *starts: str) -> Iterator[tuple[str, Answer]]:
    """Follow every link from these addresses; return (address, answer) of all that was found under /board/."""
    seen: dict[str, Answer] = {}
    waiting = list(starts)
    while waiting:
        address = waiting.pop().split("#")[0]
        if address in seen:
            continue
        answer = seen[address] = await reader.get(address)
        if answer.status in (301, 302, 307, 308):
            waiting.append(answer.headers["location"])
        if answer.headers.get("content-type", "").startswith("text/html"):
            waiting += [found for found in read(answer.text).addresses if not found.startswith("#")]
    return iter(seen.items())
