"""The sandbox, started with no settings: its page, its league, and a newcomer's minute in a real browser."""

import asyncio
import json
import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect

from plugins.rating_bot.sandbox.scene import CAST, OFFICIAL, SCORING, SEED
from plugins.rating_bot.sandbox.scenes import SCENES
from rating_core.service.health import examine
from rating_core.service.league import League
from rating_core.store.database import Database
from tests.e2e.world import running
from tests.support.browser import DESK, PHONE, bot_said, browser_page, open_panel, play, sandbox, type_and_send
from tests.support.process import BotProcess, free_port

SIZES = {"phone": PHONE, "desk": DESK}
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

    async def ask(self, asked: dict[str, Any]) -> None:
        await self._socket.send(json.dumps(asked))

    async def say(self, who: int, text: str, **more: Any) -> None:
        await self.ask({"do": "say", "chat": f"g{OFFICIAL}", "me": who, "text": text, **more})


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
        await visitor.news("message", "等级分排行榜", "[图片]")
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


async def test_a_database_in_the_settings_is_not_the_sandboxs(tmp_path: Path) -> None:
    """Somebody who forgot the token must not play in the league's own book."""
    real = tmp_path / "data" / "ratings.db"
    async with running(tmp_path / "real", "张三", "李四") as world:
        await world.stop()
        real.parent.mkdir()
        shutil.copy(world.file, real)
    before = real.read_bytes()
    url = f"sqlite+aiosqlite:///{real}"
    async with sandbox(tmp_path, TIAOQI__DATABASE_URL=url) as (bot, port), visit(port) as visitor:
        assert bot.find("沙盒不用 TIAOQI__DATABASE_URL")
        await visitor.ask({"do": "reset"})
        await visitor.news("all")
        while (await visitor.news("stage"))["busy"]:
            pass
    assert real.read_bytes() == before and sorted(p.name for p in real.parent.glob("ratings*")) == ["ratings.db"]
    assert (tmp_path / "data" / "sandbox.db").is_file()


@pytest.mark.parametrize("link", [os.symlink, os.link])
async def test_a_link_to_a_real_book_is_not_started_on(tmp_path: Path, link: Any) -> None:
    (tmp_path / "data").mkdir()
    real = tmp_path / "ratings.db"
    real.write_bytes(b"real")
    link(real, tmp_path / "data" / "sandbox.db")
    bot = BotProcess(tmp_path, {"PORT": str(free_port())})
    await bot.spawn()
    assert await bot.ended() == 2
    assert "没有启动" in bot.log and "链接" in bot.log
    assert real.read_bytes() == b"real"


async def test_time_goes_on_after_a_restart_and_a_reset_brings_back_today(tmp_path: Path) -> None:
    async with sandbox(tmp_path) as (_, port), visit(port) as visitor:
        today = (await visitor.news("all"))["stage"]["now"]
        await visitor.ask({"do": "play", "what": "settlement"})
        while (news := await visitor.news("stage"))["busy"]:
            pass
        assert news["said"] == "" and news["now"] > today
        later = news["now"]
    async with sandbox(tmp_path) as (_, port), visit(port) as visitor:
        assert (await visitor.news("all"))["stage"]["now"] >= later - 60_000, "where the book ends"
        await visitor.say(FIRST.qq, "/排行榜 第3期")
        await visitor.news("message", "最终排行榜")
        await visitor.ask({"do": "reset"})
        assert (await visitor.news("all"))["stage"]["now"] < today + 600_000
        while (await visitor.news("stage"))["busy"]:
            pass
        await visitor.say(FIRST.qq, GAMES)
        await visitor.news("message", "待确认", GAMES)


# --- in a browser ---------------------------------------------------------------------------------------------


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


@pytest.mark.timeout(120)
@pytest.mark.parametrize("size", SIZES)
async def test_every_scene_plays_to_its_end(tmp_path: Path, size: str) -> None:
    async with sandbox(tmp_path) as (bot, port), browser_page(port, SIZES[size]) as page:
        for scene in SCENES:
            if not scene.big:
                assert await play(page, scene.title) == "", scene.name
                await assert_it_fits(page)
                await page.screenshot(path=tmp_path / f"{size}-{scene.name}.png")
        await bot_said(page, "封存名单")
        assert "比现实快" in await page.locator("#ahead").text_content()
        shown = page.locator("#log .picture img").first
        await shown.scroll_into_view_if_needed()
        assert await shown.evaluate("image => image.complete && image.naturalWidth > 300")
        assert "ERROR" not in bot.log


@pytest.mark.timeout(180)
async def test_the_league_of_300_and_back(tmp_path: Path) -> None:
    async with sandbox(tmp_path) as (bot, port), browser_page(port, PHONE) as page:
        await type_and_send(page, GAMES)
        await bot_said(page, "待确认")
        await open_panel(page, "scenes")
        await page.click(".scene:has-text('重置')")
        await page.click("#sure button[value='']")
        assert await page.locator("#log li.said").count() == 2, "not sure: nothing happens"
        assert await play(page, "300人的联赛", sure=True, seconds=120) == ""
        await assert_it_fits(page)
        await bot_said(page, "等级分曲线")
        await page.screenshot(path=tmp_path / "phone-league.png")
        async with page.context.expect_page() as opened:
            await page.click("#tools a:has-text('网页榜单')")
        board = await opened.value
        await board.get_by_text("常胜将军").first.wait_for()
        await board.screenshot(path=tmp_path / "phone-board.png")
        await board.close()
        assert await play(page, "重置", sure=True) == ""
        assert await page.locator("#log li.said").count() == 0
        assert "ERROR" not in bot.log


@pytest.mark.parametrize("size", SIZES)
async def test_a_picture_is_enlarged_and_time_moves_by_keyboard_alone(tmp_path: Path, size: str) -> None:
    async with sandbox(tmp_path) as (_, port), browser_page(port, SIZES[size]) as page:
        await page.focus("#text")
        await page.keyboard.type("/排行榜")
        await page.keyboard.press("Enter")
        picture = page.locator("#log .picture").first
        await picture.wait_for()
        await picture.focus()
        await page.keyboard.press("Enter")
        await page.locator("#viewer[open] img").wait_for()
        small, large = await picture.bounding_box(), await page.locator("#viewer img").bounding_box()
        assert large["width"] > small["width"]
        await page.screenshot(path=tmp_path / f"{size}-enlarged.png")
        await page.keyboard.press("Escape")
        await page.locator("#viewer").wait_for(state="hidden")
        before = await page.locator("time.long").text_content()
        if size == "phone":
            await page.focus("#tools [data-panel=time]")
            await page.keyboard.press("Enter")
        await page.focus("#jumps [data-jump=week]")
        await page.keyboard.press("Space")
        await page.locator("li.note", has_text="时间到了").wait_for()
        await page.locator("#stage[data-run='1'][data-state=over]").wait_for(state="attached")
        assert await page.locator("time.long").text_content() != before
        assert "7天" in await page.locator("#ahead").text_content()
        await assert_it_fits(page)


async def test_a_file_goes_into_the_group_and_comes_out_again(tmp_path: Path) -> None:
    async with sandbox(tmp_path) as (_, port), browser_page(port, PHONE) as page:
        await page.set_input_files("#file", {"name": "名单.csv", "mimeType": "text/csv", "buffer": b"\xe5\xbc\xa0"})
        link = page.locator("#log a.file", has_text="名单.csv")
        await link.wait_for()
        await assert_it_fits(page)
        async with page.expect_download() as loading:
            await link.click()
        saved = await loading.value
        assert saved.suggested_filename == "名单.csv"
        assert Path(await saved.path()).read_bytes() == b"\xe5\xbc\xa0"


async def test_the_workbook_comes_out_of_the_group_and_is_read_again(tmp_path: Path) -> None:
    async with sandbox(tmp_path) as (_, port), browser_page(port, DESK) as page:
        await page.click("button.person:has-text('小周')")
        await page.click("#chats button.tab:has-text('记分群')")
        await type_and_send(page, "/导出")
        link = page.locator("#log a.file", has_text=".xlsx")
        await link.wait_for()
        async with page.expect_download() as loading:
            await link.click()
        assert Path(await (await loading.value).path()).read_bytes().startswith(b"PK")
        await (
            page.locator("#log li.by-bot", has=page.locator("a.file"))
            .locator(".bubble")
            .click(position={"x": 3, "y": 3})
        )
        await page.click(".deeds button:has-text('引用')")
        await type_and_send(page, "/导入")
        answer = page.locator("#log li.by-bot", has_text="/导入").last
        await answer.wait_for()
        assert "出错了" not in await answer.inner_text()
        await page.screenshot(path=tmp_path / "workbook.png")
