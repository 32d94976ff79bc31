"""The sandbox page: who may ask for it, and what it tells and takes over its socket."""

import asyncio
import json
import re
import socket
from typing import Any

import pytest
from fastapi import FastAPI, WebSocket
from websockets.exceptions import InvalidStatus

from plugins.rating_bot.sandbox.client import FakeClient
from plugins.rating_bot.sandbox.routes import FILES, PAGE, install, local_hosts
from plugins.rating_bot.sandbox.scene import CAST, NEWCOMER, OFFICIAL, SCOREKEEPER, SCORING
from plugins.rating_bot.sandbox.view import split_mentions
from tests.sandbox.web import CHAT, LI, ZHANG, Web, serving
from tests.support.qq import FakeQQ


async def test_the_page_and_its_files_come_with_a_strict_policy(web: Web) -> None:
    status, headers = await web.get("/")
    assert status == 200
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy
    assert f"ws://127.0.0.1:{web.port};" in policy
    for name, media_type in FILES.items():
        status, headers = await web.get(f"/sandbox/static/{name}")
        assert (status, headers["content-type"].split(";")[0]) == (200, media_type)
    assert (await web.get("/sandbox/static/index.html"))[0] == 404
    assert (await web.get("/sandbox/static/..%2froutes.py"))[0] == 404


def test_the_page_holds_nothing_the_policy_forbids_and_no_other_host() -> None:
    page = (PAGE / "index.html").read_text("utf-8")
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\son[a-z]+=|\sstyle=", page)
    for path in PAGE.iterdir():
        text = path.read_text("utf-8").replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?://|url\(|innerHTML|insertAdjacentHTML|eval\(", text), path.name
    used = set(re.findall(r"/sandbox/static/([\w.]+)", "".join(p.read_text("utf-8") for p in PAGE.iterdir())))
    imported = {name for p in PAGE.glob("*.js") for name in re.findall(r'from "\./([\w.]+)"', p.read_text("utf-8"))}
    assert used | imported == set(FILES) == {path.name for path in PAGE.iterdir()} - {"index.html"}


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "127.0.0.1:9", "127.0.0.1", ""])
@pytest.mark.parametrize("path", ["/", "/sandbox/static/page.js"])
async def test_another_host_is_refused(web: Web, host: str, path: str) -> None:
    assert (await web.get(path, Host=host))[0] == 403


@pytest.mark.parametrize(
    ("origin", "status"),
    [("http://evil.example", 403), ("null", 403), ("https://127.0.0.1:{port}", 403), ("http://localhost:{port}", 200)],
)
async def test_another_origin_is_refused(web: Web, origin: str, status: int) -> None:
    assert (await web.get("/", Origin=origin))[0] == status
    assert (await web.get("/", Host="localhost:{port}"))[0] == 200


@pytest.mark.parametrize(
    ("origin", "host"),
    [
        (None, "127.0.0.1:{port}"),
        ("http://evil.example", "127.0.0.1:{port}"),
        ("null", "127.0.0.1:{port}"),
        ("https://127.0.0.1:{port}", "127.0.0.1:{port}"),
        ("http://evil.example:{port}", "evil.example:{port}"),
        ("http://127.0.0.1:{port}", "evil.example:{port}"),
    ],
)
async def test_the_socket_opens_to_the_page_only(web: Web, origin: str | None, host: str) -> None:
    with pytest.raises(InvalidStatus) as refused:
        async with web.live(origin, host):
            pass
    assert refused.value.response.status_code == 403


async def test_without_install_there_is_nothing(listening: socket.socket) -> None:
    async with serving(FastAPI(), listening) as bare:
        assert (await bare.get("/"))[0] == 404
        assert (await bare.get("/sandbox/static/page.js"))[0] == 404
        with pytest.raises(InvalidStatus):
            async with bare.live():
                pass


async def test_everything_said_so_far_comes_first(web: Web, qq: FakeQQ) -> None:
    report = qq.say(OFFICIAL, ZHANG, "张三    胜    李四\n张三    平    李四")
    qq.deliver(CHAT, [{"type": "at", "data": {"qq": str(LI)}}, {"type": "text", "data": {"text": " 请确认"}}])
    qq.say_private(ZHANG, "/等级分")
    async with web.live() as page:
        news = await page.take()
    assert [group["chat"] for group in news["groups"]] == [CHAT, f"g{SCORING}"]
    assert [person["name"] for person in news["people"]] == [actor.card or actor.nickname for actor in CAST]
    assert news["members"][CHAT][str(ZHANG)] == {"name": "张三", "role": "member"}
    assert str(ZHANG) not in news["members"][f"g{SCORING}"]
    said, answer, private = news["messages"]
    assert said["parts"] == [{"text": "张三    胜    李四\n张三    平    李四"}]
    assert (said["id"], said["name"], said["chat"]) == (report.message_id, "张三", CHAT)
    assert answer["parts"] == [{"at": LI, "text": "@李四"}, {"text": " 请确认"}]
    assert private["chat"] == f"u{ZHANG}"


async def test_saying_quoting_liking_and_recalling(web: Web, qq: FakeQQ) -> None:
    async with web.live() as page:
        await page.take()
        first = (await page.ask("say", text="第一行\n  第二行"))["message"]
        assert (first["parts"], first["who"]) == ([{"text": "第一行\n  第二行"}], ZHANG)
        answer = (await page.ask("say", LI, text="确认 @张三 好", message_id=first["id"]))["message"]
        assert answer["quote"] == {"id": first["id"], "name": "张三", "text": "第一行\n  第二行"}
        assert answer["parts"] == [{"text": "确认 "}, {"at": ZHANG, "text": "@张三"}, {"text": " 好"}]
        assert (await page.ask("react", LI, message_id=first["id"]))["message"]["likes"] == {"76": ["李四"]}
        assert (await page.ask("recall", message_id=first["id"]))["message"]["recalled_by"] == ZHANG
        assert (await page.ask("say", chat=f"u{ZHANG}", text="/帮助"))["message"]["chat"] == f"u{ZHANG}"
    assert [m.text for m in qq.history(OFFICIAL)] == ["第一行\n  第二行", f"确认 @{ZHANG} 好"]
    assert qq.history(OFFICIAL)[1].quote == first["id"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"do": "say", "me": ZHANG, "chat": f"g{SCORING}", "text": "不在群里"},
        {"do": "say", "me": ZHANG, "chat": "g5", "text": "没有这个群"},
        {"do": "say", "me": 10000, "chat": CHAT, "text": "冒充机器人"},
        {"do": "say", "me": 77, "chat": CHAT, "text": "没有这个人"},
        {"do": "say", "me": ZHANG, "chat": f"u{LI}", "text": "别人的私聊"},
        {"do": "react", "me": ZHANG, "chat": f"u{ZHANG}", "message_id": 1},
        {"do": "recall", "me": ZHANG, "chat": CHAT, "message_id": 1},
        {"do": "recall", "me": ZHANG, "chat": CHAT},
        {"do": "say", "me": ZHANG, "chat": CHAT, "text": "长" * 8001},
        {"do": "say", "me": ZHANG, "chat": "x"},
        {"do": "drop table", "me": ZHANG, "chat": CHAT},
        {},
        [],
    ],
)
async def test_what_cannot_be_done_is_said_and_not_done(web: Web, qq: FakeQQ, wrong: Any) -> None:
    async with web.live() as page:
        await page.take()
        refusal = await page.raw(wrong)
        assert refusal["type"] == "refused" and refusal["text"]
    assert qq.history(OFFICIAL) == qq.history(SCORING) == []


async def test_what_others_do_reaches_every_page(web: Web, qq: FakeQQ) -> None:
    async with web.live() as one, web.live() as other:
        await one.take()
        await other.take()
        await one.ask("say", text="看得到吗")
        assert (await other.take())["message"]["parts"] == [{"text": "看得到吗"}]
        qq.set_card(OFFICIAL, ZHANG, "张三丰")
        assert (await other.take())["members"][CHAT][str(ZHANG)]["name"] == "张三丰"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("@张三", [("at", str(ZHANG))]),
        ("@张三丰", [("at", str(ZHANG)), ("text", "丰")]),
        ("@老 顽童 好", [("at", "10020"), ("text", " 好")]),
        ("@记分机器人 @新朋友", [("at", "10000"), ("text", " "), ("at", str(NEWCOMER))]),
        ("a@b @小周", [("text", "a"), ("text", "@b "), ("at", str(SCOREKEEPER))]),
        ("@", [("text", "@")]),
        ("", [("text", "")]),
    ],
)
def test_typed_mentions(qq: FakeQQ, text: str, expected: list[tuple[str, str]]) -> None:
    parts = split_mentions(qq, OFFICIAL, text)
    assert [(part["type"], next(iter(part["data"].values()))) for part in parts] == expected


def test_the_longest_name_wins(qq: FakeQQ) -> None:
    qq.set_card(OFFICIAL, LI, "张三丰")
    assert split_mentions(qq, OFFICIAL, "@张三丰")[0]["data"]["qq"] == str(LI)


async def test_a_qq_connects_to_the_bot_even_when_it_was_started_first(qq: FakeQQ, listening: socket.socket) -> None:
    app, token = FastAPI(), "0123456789abcdef"
    arrived: asyncio.Queue[tuple[str | None, Any]] = asyncio.Queue()
    port = listening.getsockname()[1]

    @app.websocket("/onebot/v11/ws")
    async def bot(ws: WebSocket) -> None:
        await ws.accept()
        async for raw in ws.iter_text():
            arrived.put_nowait((ws.headers.get("authorization"), json.loads(raw)))

    install(app, qq, host_allowed=local_hosts(port))
    client = FakeClient(qq, f"ws://127.0.0.1:{port}/onebot/v11/ws", token=token)
    await client.start(timeout=None)
    async with serving(app, listening) as web, asyncio.timeout(10):
        await client.connected()
        async with web.live() as page:
            await page.take()
            await page.ask("say", text="张三    胜    李四")
        assert (await arrived.get())[1]["meta_event_type"] == "lifecycle"
        authorization, event = await arrived.get()
        assert authorization == f"Bearer {token}"
        assert (event["raw_message"], event["sender"]["card"]) == ("张三    胜    李四", "张三")
        await client.stop()
