"""The sandbox page's buttons: the clock, scenes, and beginning anew."""

import socket
from pathlib import Path

import pytest
from fastapi import FastAPI

from plugins.rating_bot.sandbox.routes import install, local_hosts
from plugins.rating_bot.sandbox.scenes import SCENES
from rating_core.times import DAY_MS
from tests.sandbox.house import open_house
from tests.sandbox.web import CHAT, Web, serving
from tests.support.rows import ms

# --- the clock, scenes, and beginning anew --------------------------------------------------------------------


@pytest.mark.parametrize("do", ["travel", "play", "stop", "reset"])
async def test_without_a_bot_only_talk_is_possible(web: Web, do: str) -> None:
    async with web.live() as page:
        assert (await page.take())["stage"] is None
        assert (await page.raw({"do": do, "what": "day"}))["type"] == "refused"


async def test_the_page_drives_the_director(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    app, listening = FastAPI(), socket.create_server(("127.0.0.1", 0))
    async with open_house(ms("2026-11-30 12:00")) as house:
        hosts = local_hosts(listening.getsockname()[1])
        install(app, house.qq, host_allowed=hosts, director=house.director)
        async with serving(app, listening) as web, web.live() as page:
            first = await page.take()
            assert [scene["name"] for scene in first["scenes"]] == [scene.name for scene in SCENES]
            assert first["stage"]["now"] == house.clock.now() and first["stage"]["busy"] is None
            for wrong in (
                {"do": "travel", "what": "1999-01-01T00:00"},
                {"do": "travel", "what": "x" * 99},
                {"do": "play", "what": "没有"},
                {"do": "play", "what": "report", "pace": 99},
            ):
                assert (await page.raw(wrong))["type"] == "refused"
            news = await page.raw({"do": "travel", "what": "day"})
            assert (news["type"], news["busy"]["what"]) == ("stage", "travel")
            while news["type"] != "stage" or news["busy"]:
                news = await page.take()
            assert news["now"] - first["stage"]["now"] >= DAY_MS
            news = await page.raw({"do": "reset"})
            while news["type"] != "all":
                news = await page.take()
            assert news["messages"] == [] and news["stage"]["now"] == house.clock.now()
            assert (await page.take())["busy"] is None
            async with web.live() as later:
                assert (await later.take())["stage"]["busy"] is None


async def test_notes_stand_where_they_were_told(web: Web, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    app, listening = FastAPI(), socket.create_server(("127.0.0.1", 0))
    async with open_house(ms("2026-11-30 12:00")) as house:
        hosts = local_hosts(listening.getsockname()[1])
        install(app, house.qq, host_allowed=hosts, director=house.director)
        house.director.play("report", 0)
        assert await house.director.done() == ""
        async with serving(app, listening) as web, web.live() as page:
            official = [m for m in (await page.take())["messages"] if m["chat"] == CHAT]
    kinds = "".join("n" if "note" in message else "m" for message in official)
    assert kinds.startswith("nmmnmm"), kinds
    assert [m["seq"] for m in official] == sorted(m["seq"] for m in official)
