"""The sandbox, started with no settings: its page, its league, and a newcomer's minute in a real browser."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect

from plugins.rating_bot.sandbox.scene import CAST, OFFICIAL, SCORING, SEED
from rating_core.service.health import examine
from rating_core.service.league import League
from rating_core.store.database import Database
from tests.support.process import BotProcess, free_port

CHROMIUM = Path("/usr/bin/chromium")
SIZES = {"phone": (390, 844), "desk": (1280, 800)}
READY = "沙盒已就绪"
FIRST, SECOND = CAST[0], CAST[1]
GAMES = f"{FIRST.card}    胜    {SECOND.card}"


class Visitor:
    """What the page does, over the page's own socket."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket

    async def news(self, kind: str, *parts: str) -> dict[str, Any]:
        """Return the next news of a kind that holds all of `parts`."""
        async with asyncio.timeout(15):
            while True:
                news: dict[str, Any] = json.loads(await self._socket.recv())
                said = "".join(part["text"] for part in news.get("message", {}).get("parts", ()))
                if news["type"] == kind and all(part in said for part in parts):
                    return news

    async def say(self, who: int, text: str, **more: Any) -> None:
        deed = {"do": "say", "chat": f"g{OFFICIAL}", "me": who, "text": text, **more}
        await self._socket.send(json.dumps(deed))


@asynccontextmanager
async def sandbox(folder: Path) -> AsyncIterator[tuple[BotProcess, int]]:
    """A bot without any setting but its port; it must end in order."""
    port = free_port()
    bot = BotProcess(folder, {"PORT": str(port)})
    try:
        await bot.start()
        assert f"http://127.0.0.1:{port}/" in await bot.log_line(READY)
        yield bot, port
        await bot.stop()
    finally:
        await bot.close()


@asynccontextmanager
async def visit(port: int) -> AsyncIterator[Visitor]:
    address = f"ws://127.0.0.1:{port}/sandbox/live"
    async with connect(address, origin=f"http://127.0.0.1:{port}", proxy=None) as socket:  # type: ignore[arg-type]
        yield Visitor(socket)


async def test_a_league_is_there_and_a_report_goes_the_whole_way(tmp_path: Path) -> None:
    async with sandbox(tmp_path) as (_, port), visit(port) as visitor:
        everything = await visitor.news("all")
        assert [group["name"] for group in everything["groups"]] == ["官方群", "记分群"]
        assert everything["messages"] == []
        assert {person["qq"] for person in everything["people"]} == {actor.qq for actor in CAST}
        await visitor.say(FIRST.qq, "/排行榜")
        await visitor.news("message", "等级分排行榜", "[image]")
        await visitor.say(FIRST.qq, GAMES)
        prompt = await visitor.news("message", "待确认", GAMES)
        await visitor.say(SECOND.qq, "确认", message_id=prompt["message"]["id"])
        number = prompt["message"]["parts"][0]["text"].split()[0]
        told = [(await visitor.news("message", number))["message"] for _ in ("收到", "forward")]
        assert {message["chat"] for message in told} == {f"g{OFFICIAL}", f"g{SCORING}"}
    database = await Database.open(f"sqlite+aiosqlite:///{tmp_path}/data/sandbox.db", read_only=True)
    try:
        league = await League.open(database, lambda: 0)
        assert (await examine(league)).well
        assert len(league.book.columns) == len(SEED.games) + 1
        assert set(league.directory.roster.current_names().values()) == {player.name for player in SEED.players}
    finally:
        await database.close()


async def test_the_next_start_has_the_same_league_and_empty_chats(tmp_path: Path) -> None:
    async with sandbox(tmp_path) as (_, port), visit(port) as visitor:
        await visitor.say(FIRST.qq, GAMES)
        await visitor.news("message", "待确认", GAMES)
        await visitor.say(SECOND.qq, "确认")
        await visitor.news("message", "收到 #")
    async with sandbox(tmp_path) as (bot, port), visit(port) as visitor:
        assert (await visitor.news("all"))["messages"] == []
        await visitor.say(FIRST.qq, "/战绩")
        told = await visitor.news("message", f"{FIRST.card}的战绩")
        assert f"局{len(SEED.games) + 1} " in "".join(part["text"] for part in told["message"]["parts"])
        assert "可能漏收" not in bot.log


# --- in a browser ---------------------------------------------------------------------------------------------


@asynccontextmanager
async def browser_page(port: int, size: tuple[int, int]) -> AsyncIterator[Any]:
    """A page of a headless Chromium with the sandbox open; whatever goes wrong in its scripts fails the test."""
    playwright = pytest.importorskip("playwright.async_api", reason="playwright is not installed")
    if not CHROMIUM.exists():
        pytest.skip(f"there is no browser at {CHROMIUM}")
    width, height = size
    async with playwright.async_playwright() as driver:
        browser = await driver.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        try:
            page = await browser.new_page(viewport={"width": width, "height": height}, locale="zh-CN")
            page.set_default_timeout(10_000)
            wrong: list[str] = []
            page.on("pageerror", lambda error: wrong.append(str(error)))
            page.on("console", lambda line: wrong.append(line.text) if line.type in ("error", "warning") else None)
            page.on("requestfailed", lambda request: wrong.append(request.url))
            await page.goto(f"http://127.0.0.1:{port}/")
            yield page
            assert wrong == []
        finally:
            await browser.close()


async def type_and_send(page: Any, text: str) -> None:
    await page.fill("#text", text)
    await page.click("#send")


async def bot_said(page: Any, text: str) -> Any:
    """Wait for a message of the bot in the open chat; return its bubble."""
    found = page.locator("li.by-bot .bubble", has_text=text).last
    await found.wait_for()
    return found


async def assert_it_fits(page: Any) -> None:
    """Nothing is wider than the window, and what one types into is in sight."""
    widths = await page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert widths[0] <= widths[1], widths
    box, height = await page.locator("#send").bounding_box(), page.viewport_size["height"]
    assert box["y"] + box["height"] <= height, box


@pytest.mark.parametrize("size", SIZES)
async def test_a_newcomers_minute(tmp_path: Path, size: str) -> None:
    async with sandbox(tmp_path) as (_, port), browser_page(port, SIZES[size]) as page:

        async def shot(name: str) -> None:
            await assert_it_fits(page)
            await page.screenshot(path=tmp_path / f"{size}-{name}.png")

        await page.locator("button.person.current", has_text=FIRST.card).wait_for()
        await shot("1-opened")
        await type_and_send(page, GAMES)
        prompt = await bot_said(page, "待确认")
        await shot("2-prompt")
        await page.click(f"button.person:has-text('{SECOND.card}')")
        await page.locator("button.person.current", has_text=SECOND.card).wait_for()
        await prompt.locator("p").click(position={"x": 5, "y": 5})
        await page.click(".deeds button:has-text('引用')")
        await type_and_send(page, "确认")
        receipt = await bot_said(page, "收到")
        assert FIRST.card in await receipt.inner_text() and SECOND.card in await receipt.inner_text()
        await shot("3-receipt")
        await page.click("#chats button.tab:has-text('记分群')")
        forward = await bot_said(page, GAMES)
        assert GAMES in (await forward.locator("p").inner_text()).split("\n")
        await page.screenshot(path=tmp_path / f"{size}-4-forward.png")
        await page.click("#chats button.tab:has-text('官方群')")
        await type_and_send(page, "/排行榜")
        await bot_said(page, "等级分排行榜")
        await page.locator("#guide-count", has_text="6/6").wait_for(state="attached")
        await shot("5-board")
