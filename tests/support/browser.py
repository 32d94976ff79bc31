"""A sandbox as a process of its own, and a headless Chromium that looks at it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.process import BotProcess, free_port

CHROMIUM = Path("/usr/bin/chromium")
PHONE, DESK = (390, 844), (1280, 800)
READY = "沙盒已就绪"


@asynccontextmanager
async def sandbox(folder: Path, **settings: str) -> AsyncIterator[tuple[BotProcess, int]]:
    """A bot without any setting but its port (and `settings`); it must end in order."""
    port = free_port()
    bot = BotProcess(folder, {"PORT": str(port), **settings})
    try:
        await bot.start()
        assert f"http://127.0.0.1:{port}/" in await bot.log_line(READY)
        yield bot, port
        await bot.stop()
    finally:
        await bot.close()


@asynccontextmanager
async def browser_page(port: int, size: tuple[int, int], **options: Any) -> AsyncIterator[Any]:
    """A page of a headless Chromium with the sandbox open; whatever goes wrong in its scripts fails the test.

    It asks for less motion, so scenes play without pauses for reading.
    """
    playwright = pytest.importorskip("playwright.async_api", reason="playwright is not installed")
    if not CHROMIUM.exists():
        pytest.skip(f"there is no browser at {CHROMIUM}")
    width, height = size
    options = {"viewport": {"width": width, "height": height}, "locale": "zh-CN", "reduced_motion": "reduce"} | options
    async with playwright.async_playwright() as driver:
        browser = await driver.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        try:
            page = await browser.new_page(**options)
            page.set_default_timeout(15_000)
            wrong: list[str] = []
            page.on("pageerror", lambda error: wrong.append(str(error)))
            page.on("console", lambda line: wrong.append(line.text) if line.type in ("error", "warning") else None)
            page.on("requestfailed", lambda request: wrong.append(request.url))
            await page.goto(f"http://127.0.0.1:{port}/")
            await page.locator("button.person.current").wait_for()
            yield page
            assert wrong == []
        finally:
            await browser.close()


async def type_and_send(page: Any, text: str) -> None:
    """Say something as the person whom the page plays."""
    await page.fill("#text", text)
    await page.click("#send")


async def bot_said(page: Any, text: str) -> Any:
    """Wait for a message of the bot in the open chat; return its bubble."""
    found = page.locator("li.by-bot .bubble", has_text=text).last
    await found.wait_for()
    return found


async def open_panel(page: Any, name: str) -> None:
    """Bring a panel (guide, scenes, time) in sight."""
    button = page.locator(f"#tools [data-panel={name}]")
    if await button.is_visible() and await button.get_attribute("aria-expanded") != "true":
        await button.click()


async def play(page: Any, title: str, *, sure: bool = False, seconds: float = 60) -> str:
    """Click a scene's button and wait for its end; return what is said of it, empty where all went well."""
    number = int(await page.locator("#stage").get_attribute("data-run")) + 1
    await open_panel(page, "scenes")
    await page.click(f".scene:has-text('{title}')")
    if sure:
        await page.click("#sure button[value=yes]")
    over = page.locator(f"#stage[data-run='{number}'][data-state=over]")
    await over.wait_for(state="attached", timeout=seconds * 1000)
    return str(await page.locator("#stage span").text_content())
