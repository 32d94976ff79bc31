"""The public pages in a headless Chromium: search, order, curve, phones, dark mode, and nothing from elsewhere."""

import asyncio
import re
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from tests.support.pages import HOSTILE, Shown, application, league

CHROMIUM = Path("/usr/bin/chromium")
PHONE, DESK = (390, 844), (1280, 900)
BOUND_QQ = "12345678"
PAIRS = "?pool=%E5%8D%95%E8%B7%B32v2"
PATHS = (
    "", "?q=zs", "?sort=peak", "?q=nobody", "lists", "lists/2", "days/2026-08-15", "archive", "events", "events/1",
    "rules", "versus", "versus/1/2", "versus/1/11", "players/1", "players/1/opponents", "players/5", "players/11",
    "games/1", "games/45", "games/68", "nothing", PAIRS, f"versus/1+2/3+4{PAIRS}",
)  # fmt: skip


@asynccontextmanager
async def served() -> AsyncIterator[str]:
    """The pages of the test league on a port of this machine; their address up to the path."""
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(application(Shown.of(league())), log_level="warning", lifespan="off")
    server = uvicorn.Server(config)
    task = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        await task


@asynccontextmanager
async def browsing(size: tuple[int, int] = DESK, *, path: str = "", **options: Any) -> AsyncIterator[Any]:
    """A page of the board; whatever goes wrong in it, and any request to another host, fails the test."""
    playwright = pytest.importorskip("playwright.async_api", reason="playwright is not installed")
    if not CHROMIUM.exists():
        pytest.skip(f"there is no browser at {CHROMIUM}")
    async with served() as host, playwright.async_playwright() as driver:
        browser = await driver.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        try:
            width, height = size
            context = await browser.new_context(
                viewport={"width": width, "height": height}, locale="zh-CN", base_url=host, **options
            )
            page = await context.new_page()
            page.set_default_timeout(10_000)
            wrong: list[str] = []
            page.on("pageerror", lambda error: wrong.append(str(error)))
            page.on("dialog", lambda dialog: wrong.append(dialog.message))
            page.on("console", lambda line: wrong.append(line.text) if _matters(line.text) else None)
            page.on("request", lambda request: None if request.url.startswith(host) else wrong.append(request.url))
            await page.goto(f"/board/{path}")
            yield page
            assert wrong == []
        finally:
            await browser.close()


def _matters(text: str) -> bool:
    """A page that says 404 is meant to."""
    return "404" not in text


async def names(page: Any) -> list[str]:
    found: list[str] = await page.locator("#results tbody .person").all_inner_texts()
    return found


async def rows(page: Any, count: int) -> None:
    """Wait until the board has so many rows."""
    from playwright.async_api import expect

    await expect(page.locator("#results tbody tr")).to_have_count(count)


async def test_the_board_answers_while_one_types(tmp_path: Path) -> None:
    async with browsing() as page:
        everybody = await names(page)
        assert len(everybody) > 8
        await page.evaluate("window.same = true")
        await page.fill("input[type=search]", "zhang")
        await rows(page, 2)
        assert set(await names(page)) == {"张三", "长孙无忌"}
        assert page.url.endswith("/board/?q=zhang")
        await page.fill("input[type=search]", "张四")
        await page.get_by_text("是不是").wait_for()
        await page.fill("input[type=search]", "")
        await rows(page, len(everybody))
        assert await names(page) == everybody and page.url.endswith("/board/")
        assert await page.evaluate("window.same") is True, "it was not loaded anew"


async def test_the_board_can_be_put_in_another_order() -> None:
    async with browsing() as page:
        await page.evaluate("window.same = true")

        async def ordered(sort: str, column: int) -> list[float]:
            await page.locator(f"th[aria-sort={sort}]").nth(0).wait_for()
            cells = await page.locator(f"#results tbody tr > :nth-child({column})").all_inner_texts()
            return [float(re.sub(r"[%*]", "", cell) or "-1") for cell in cells if cell != "—"]

        await page.click("thead a:has-text('盘数')")
        await page.wait_for_url("**/board/?sort=games")
        games = await ordered("descending", 5)
        assert games == sorted(games, reverse=True) and len(set(games)) > 2
        assert await page.locator("select[name=sort]").input_value() == "games"
        await page.click("thead a:has-text('盘数')")
        await page.wait_for_url("**/board/?sort=games&dir=asc")
        games = await ordered("ascending", 5)
        assert games == sorted(games)
        await page.select_option("select[name=sort]", "rate")
        await page.wait_for_url("**/board/?sort=rate")
        rates = await ordered("descending", 7)
        assert rates == sorted(rates, reverse=True)
        assert await page.evaluate("window.same") is True


async def test_without_scripts_the_board_does_the_same() -> None:
    async with browsing(PHONE, java_script_enabled=False) as page:
        await page.fill("input[type=search]", "zs")
        await page.select_option("select[name=sort]", "games")
        await page.click("#find button")
        await page.wait_for_url("**/board/?q=zs&sort=games")
        assert set(await names(page)) == {"张三", "长孙无忌"}
        await page.click("thead a:has-text('名次')")
        await page.wait_for_url("**/board/?q=zs")
        await page.goto("/board/players/1")
        assert await page.locator(".curve-line").get_attribute("d")
        await page.goto("/board/")
        await page.fill("input[type=date]", "2026-08-15")
        await page.click(".past button")
        await page.wait_for_url("**/board/days/2026-08-15")


async def test_the_curve_tells_of_each_point() -> None:
    async with browsing(path="players/1") as page:
        reading, box = page.locator("#reading"), await page.locator("#curve .plot").bounding_box()
        last = await reading.inner_text()
        assert "局" in last and "（" in last
        await page.mouse.move(box["x"] + 2, box["y"] + 50)
        first = await reading.inner_text()
        assert first != last and first.startswith("2026-01-05")
        assert await page.locator("#hair").get_attribute("visibility") == "visible"
        await page.locator("#curve").focus()
        await page.keyboard.press("Home")
        assert "起点" in await reading.inner_text()
        await page.keyboard.press("ArrowRight")
        told = await reading.inner_text()
        assert "局1 胜 李四" in told and "+16.0" in told
        await page.keyboard.press("End")
        assert await reading.inner_text() == last
        await page.keyboard.press("Home")
        await page.keyboard.press("ArrowRight")
        await page.click("#reading a")
        await page.wait_for_url("**/board/games/1")
        assert "怎么算的" in await page.inner_text("main")


async def test_the_curve_answers_a_finger_on_a_phone() -> None:
    async with browsing(PHONE, path="players/1", has_touch=True, is_mobile=True) as page:
        box = await page.locator("#curve .plot").bounding_box()
        seen = set()
        for part in (0.02, 0.5, 0.98):
            await page.touchscreen.tap(box["x"] + part * box["width"], box["y"] + 80)
            seen.add(await page.inner_text("#reading"))
        assert len(seen) == 3


CUT = """() => [...document.querySelectorAll("td, th, h1, p, a")]
  .filter((part) => part.getClientRects().length && part.closest(".scroll, .tabs") === null)
  .filter((part) => {
    const { left, right } = part.getBoundingClientRect();
    return right > innerWidth + 0.5 || left < -0.5;
  })
  .map((part) => part.textContent.trim().slice(0, 20))"""
"""Texts that reach beyond the window, though the page itself does not scroll."""

CONTRAST = """() => {
  const rgb = (text) => (text.match(/[\\d.]+/g) ?? [0, 0, 0, 0]).map(Number);
  const linear = (v) => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4);
  const light = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  const behind = (part) => {
    for (let one = part; one; one = one.parentElement) {
      const found = rgb(getComputedStyle(one).backgroundColor);
      if (found.length < 4 || found[3] > 0) return found;
    }
  };
  const poor = [];
  for (const part of document.querySelectorAll("body *")) {
    const text = [...part.childNodes].filter((node) => node.nodeType === 3).map((node) => node.data.trim()).join("");
    if (!text || part.closest("svg, .dim")) continue;
    const [a, b] = [light(rgb(getComputedStyle(part).color)), light(behind(part))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < (part.closest(".place") ? 2 : 4.5)) poor.push(`${part.className} ${text} ${ratio.toFixed(2)}`);
  }
  return poor;
}"""
"""Texts with less contrast than WCAG AA asks for; the numbers on medals are bold, and their order tells them too."""


@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (340, "dark"), (1280, "light")])
async def test_every_page_fits_and_can_be_read(width: int, scheme: str) -> None:
    async with browsing((width, 844), color_scheme=scheme, is_mobile=width < 700) as page:
        back = await page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
        assert (sum(map(int, re.findall(r"\d+", back))) > 600) is (scheme == "light")
        for path in PATHS:
            await page.goto(f"/board/{path}")
            widths = await page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
            assert widths[0] <= widths[1] == width, path
            assert await page.evaluate(CUT) == [], path
            assert await page.evaluate(CONTRAST) == [], path


async def test_hostile_names_are_text_and_no_page_shows_a_qq_number() -> None:
    async with browsing(path="") as page:
        shown = await page.inner_text("#results")
        assert all(name in shown for name in HOSTILE)
        seen: set[str] = set()
        waiting = ["/board/"]
        while waiting:
            address = waiting.pop()
            if address in seen or "/api/" in address:
                continue
            seen.add(address)
            await page.goto(address)
            assert BOUND_QQ not in await page.content()
            assert await page.locator("main img, main script, main iframe").count() == 0
            found = await page.evaluate("[...document.links].map((link) => link.pathname + link.search)")
            waiting += [one for one in found if "sort=" not in one and "games/" not in one and "versus/" not in one]
        assert len(seen) > 20
