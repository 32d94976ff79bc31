"""How pages are answered: headers, 304, methods, and what happens when something is wrong."""

import asyncio
import json
import re
from pathlib import Path

import pytest
from fastapi import FastAPI

from plugins.rating_bot.site import Site, files, routes
from plugins.rating_bot.site.cache import MOST_BYTES, MOST_PAGES, PageCache
from plugins.rating_bot.site.files import TYPES
from rating_core.book import Book
from rating_core.ledger import Adjustment
from rating_core.times import DAY_MS
from tests.support.books import Books
from tests.support.pages import POOL, Reader, Shown, application, read

STATIC = Path(files.__file__).parent / "static"


# --- headers ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "address",
    ["/board/", "/board/api/", "/board/players/1", "/board/nothing", "/board/api/nothing", "/board/days?day=2026-11-01",
     "/board/static/site.css", "/board/static/nothing"],
)  # fmt: skip
async def test_every_answer_is_strict(reader: Reader, address: str) -> None:
    headers = (await reader.get(address)).headers
    policy = dict(part.split(" ", 1) for part in headers["content-security-policy"].split("; "))
    assert policy.pop("default-src") == policy.pop("base-uri") == policy.pop("frame-ancestors") == "'none'"
    assert set(policy.values()) == {"'self'"}
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-resource-policy"] == headers["cross-origin-opener-policy"] == "same-origin"
    assert headers["x-robots-tag"] == "noindex"
    assert "access-control-allow-origin" not in headers and "set-cookie" not in headers


def test_pages_hold_nothing_that_the_policy_forbids_and_name_no_other_host() -> None:
    for path in STATIC.iterdir():
        text = path.read_text("utf-8").replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?:|//[a-z]+\.|@import|url\(|innerHTML|insertAdjacentHTML|eval\(|\.style\b", text), (
            path
        )
    assert {path.name for path in STATIC.iterdir()} == set(TYPES)


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
@pytest.mark.parametrize("address", ["/board/", "/board/api/players/1", "/board/static/site.js"])
async def test_pages_can_only_be_read(reader: Reader, method: str, address: str) -> None:
    answer = await reader.get(address, method)
    assert answer.status == 405 and set(answer.headers["allow"].split(", ")) == {"GET", "HEAD"}
    assert "只能看" in answer.text if "/api/" not in address else "只能看" in answer.data["error"]


async def test_head_says_what_get_would(reader: Reader) -> None:
    got, head = await reader.get("/board/"), await reader.get("/board/", "HEAD")
    assert head.status == 200 and head.headers == got.headers


async def test_board_without_a_slash_leads_on_and_nothing_else_is_taken(reader: Reader) -> None:
    answer = await reader.get("/board", host="evil.example")
    assert (answer.status, answer.headers["location"]) == (307, "/board/")
    for address in ("/", "/boards/", "/boardroom", "/api/"):
        assert (await reader.get(address)).status == 404


# --- ETag -------------------------------------------------------------------------------------------------


async def test_the_same_is_not_sent_twice(reader: Reader) -> None:
    for address in ("/board/", "/board/api/", "/board/players/1", "/board/games/1", "/board/days/2026-08-15"):
        first = await reader.get(address)
        tag = first.headers["etag"]
        assert re.fullmatch(r'W/"\d+-[0-9a-f]{18}"', tag)
        assert re.fullmatch(r"public, max-age=\d\d", first.headers["cache-control"])
        for known in (tag, tag.removeprefix("W/"), f'"x", {tag}'):
            again = await reader.get(address, if_none_match=known)
            assert (again.status, again.body, again.headers["etag"]) == (304, b"", tag)
        assert (await reader.get(address, if_none_match='W/"1-0"')).status == 200
    assert "etag" not in (await reader.get("/board/nothing")).headers


async def test_the_tag_changes_with_ledger_names_and_day_and_with_nothing_else(shown: Shown, books: Books) -> None:
    reader = Reader(application(shown))

    async def tag() -> str:
        return (await reader.get("/board/")).headers["etag"]

    first = await tag()
    shown.at += 3 * 3_600_000
    shown.directory = shown.directory.copy()  # somebody's card was noted
    shown.directory.merged = dict(shown.directory.merged)
    assert await tag() == first
    assert (await Reader(application(Shown.of(books))).get("/board/")).headers["etag"] == first  # after a restart
    shown.at += DAY_MS
    second = await tag()
    shown.directory = shown.directory.copy()
    shown.directory.roster.rename(1, "张三丰")
    third = await tag()
    assert "张三丰" in (await reader.get("/board/", if_none_match=second)).text
    shown.directory = shown.directory.copy()
    shown.directory.events[1] = "别的杯"
    fourth = await tag()
    books.add(Adjustment(1, 5.0), pool=POOL)
    shown.book.advance(books.rows.rows[shown.book.seq :])
    fifth = await tag()
    assert len({first, second, third, fourth, fifth}) == 5
    assert fifth.startswith(f'W/"{shown.book.seq}-')


async def test_another_ledger_of_the_same_length_is_another_page() -> None:
    tags = set()
    for result in "胜负":
        books = Books()
        books.play(f"甲 {result} 乙", at="2026-11-01 20:00")
        tags.add((await Reader(application(Shown.of(books))).get("/board/")).headers["etag"])
    assert len(tags) == 2


async def test_a_page_is_made_once_and_anew_when_the_ledger_moved(shown: Shown, books: Books) -> None:
    app = FastAPI()
    site = Site(lambda: shown, lambda: shown.at)  # type: ignore[arg-type, return-value]
    app.mount("/board", site.app)
    reader, made = Reader(app), []
    render = site.html.page
    site.html.page = lambda *given, **more: made.append(1) or render(*given, **more)  # type: ignore[method-assign, func-returns-value]
    first = await reader.get("/board/players/1")
    assert (await reader.get("/board/players/1?utm=1&x=2")).body == first.body and len(made) == 1
    assert (await reader.get("/board/players/1?page=2")).body != first.body and len(made) == 2
    books.add(Adjustment(1, 5.0), pool=POOL)
    shown.book.advance(books.rows.rows[shown.book.seq :])
    assert (await reader.get("/board/players/1")).body != first.body and len(made) == 3


def test_few_pages_are_kept_and_of_one_state_only() -> None:
    cache = PageCache()
    for number in range(MOST_PAGES + 10):
        cache.put("a", (str(number),), b"x")
    assert cache.get("a", ("0",)) is None and cache.get("a", (str(MOST_PAGES + 9),)) == b"x"
    cache.put("a", ("big",), b"x" * (MOST_BYTES - 5))
    assert cache.get("a", (str(MOST_PAGES + 9),)) == b"x" and cache.get("a", ("11",)) is None
    cache.put("a", ("giant",), b"x" * (MOST_BYTES + 1))
    assert cache.get("a", ("giant",)) is None and cache.get("a", ("big",)) is None
    cache.put("b", ("1",), b"y")
    assert cache.get("a", ("big",)) is None and cache.get("b", ("1",)) == b"y"


# --- files ------------------------------------------------------------------------------------------------


async def test_files_stay_with_the_reader_until_they_change(reader: Reader) -> None:
    page = read((await reader.get("/board/")).text)
    addresses = [address for address in page.addresses if "/static/" in address]
    assert {address.split("?")[0].rsplit("/", 1)[1] for address in addresses} == set(TYPES)
    for address in addresses:
        answer = await reader.get(address)
        name = address.split("?")[0].rsplit("/", 1)[1]
        assert answer.body == (STATIC / name).read_bytes()
        assert answer.headers["content-type"].split(";")[0] == TYPES[name]
        assert "immutable" in answer.headers["cache-control"]
        other = await reader.get(f"/board/static/{name}?v=0")
        assert "immutable" not in other.headers["cache-control"]
        assert (await reader.get(address, if_none_match=answer.headers["etag"])).status == 304


# --- when it is not possible ------------------------------------------------------------------------------


async def test_while_the_bot_begins_anew_it_is_said(reader: Reader) -> None:
    answer = await Reader(application(None)).get("/board/players/1")
    assert answer.status == 503 and "重新开始" in answer.text and int(answer.headers["retry-after"]) > 0
    assert answer.headers["cache-control"] == "no-store"


async def test_an_error_is_answered_without_its_inside(shown: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("secret path /data/ratings.db")

    monkeypatch.setattr(Book, "find_game", broken)
    reader = Reader(application(shown))
    answer = await reader.get("/board/games/1")
    assert answer.status == 500 and "网页出错了" in answer.text and "secret" not in answer.text
    assert [str(error) for error in reader.errors] == ["secret path /data/ratings.db"]


async def test_past_days_are_worked_out_one_by_one_and_never_too_many(
    shown: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, going_on = asyncio.Event(), asyncio.Event()
    folded: list[object] = []
    fold = shown.past.at_end_of

    async def slow(book: Book, day: object) -> Book:
        assert book is not shown.book, "the bot's own book may move meanwhile"
        folded.append(day)
        begun.set()
        await going_on.wait()
        return await fold(book, day)  # type: ignore[arg-type]

    monkeypatch.setattr(shown.past, "at_end_of", slow)
    reader = Reader(application(shown))
    days = [f"2026-08-{day:02}" for day in range(10, 10 + routes.MOST_WAITING)]
    asked = [asyncio.create_task(reader.get(f"/board/days/{day}")) for day in days]
    await begun.wait()
    await asyncio.sleep(0)
    late = await reader.get("/board/days/2026-09-09")
    assert late.status == 503 and "过几秒再试" in late.text and "retry-after" in late.headers
    assert len(folded) == 1
    assert (await reader.get("/board/")).status == 200
    going_on.set()
    assert [(await task).status for task in asked] == [200] * len(days)
    assert (await reader.get("/board/days/2026-09-09")).status == 200
    count = len(folded)
    assert (await reader.get("/board/days/2026-09-09?sort=games")).status == 200 and len(folded) == count


async def test_the_book_moves_on_while_a_day_is_worked_out(
    shown: Shown, books: Books, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page is of one state all the same: of the old one nothing is kept under the new one's tag."""
    fold = shown.past.at_end_of

    async def moving(book: Book, day: object) -> Book:
        found = await fold(book, day)  # type: ignore[arg-type]
        if len(books.rows.rows) == shown.book.seq:
            books.add(Adjustment(1, 5.0), pool=POOL)
            shown.book.advance(books.rows.rows[shown.book.seq :])
        return found

    monkeypatch.setattr(shown.past, "at_end_of", moving)
    reader = Reader(application(shown))
    first = await reader.get("/board/api/days/2026-08-15")
    monkeypatch.undo()
    second = await reader.get("/board/api/days/2026-08-15")
    assert first.status == 503 or json.loads(first.body)["seq"] == shown.book.seq
    assert second.status == 200 and second.data["seq"] == shown.book.seq


# --- what is written about it -----------------------------------------------------------------------------


async def test_the_document_names_every_page_and_its_data(reader: Reader) -> None:
    """But those two to which only forms lead."""
    document = (Path(__file__).parents[2] / "docs" / "网页.md").read_text("utf-8")
    rows = re.findall(r"^\| `/board/(\S*)` \| `/board/api/(\S*)` \|", document, re.MULTILINE)
    assert all(page == data for page, data in rows)
    written = {page for page, _ in rows}
    patterns = {view.path: re.compile(re.sub(r"{\w+}", "[^/]+", view.path)) for view in routes.VIEWS}
    named = {path for path, pattern in patterns.items() if any(pattern.fullmatch(page) for page in written)}
    assert set(patterns) - named == {"days", "versus"}
    for page in written:
        assert any(pattern.fullmatch(page) for pattern in patterns.values()), page
        answer = await reader.get(f"/board/api/{page}")
        assert answer.status in (200, 404) and "没有这一页" not in answer.text, page
