"""The one way in, on a real server: token, paths, accounts, bad frames, half-open connections."""

import asyncio
import json
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidHandshake

from .test_repair import group_message

TOKEN = "0123456789abcdef-door"
ROOT = Path(__file__).parents[2]


@asynccontextmanager
async def server(token: str = TOKEN) -> AsyncIterator[int]:
    """Run the bot as a process; give its port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.wire.door_server", str(port), token, cwd=ROOT
    )
    try:
        async with asyncio.timeout(30):
            while process.returncode is None:
                try:
                    _, writer = await asyncio.open_connection("127.0.0.1", port)
                except OSError:
                    await asyncio.sleep(0.05)
                else:
                    writer.close()
                    break
        yield port
    finally:
        if process.returncode is None:
            process.terminate()
        async with asyncio.timeout(20):
            await process.wait()


def door(port: int, token: str | None = TOKEN, self_id: str | None = "10000", path: str = "/onebot/v11/ws") -> connect:
    headers = {} if self_id is None else {"X-Self-ID": self_id}
    if token is not None:
        headers["Authorization"] = token if " " in token else f"Bearer {token}"
    return connect(f"ws://127.0.0.1:{port}{path}", additional_headers=headers, proxy=None)


async def seen(ws: ClientConnection) -> dict[str, Any]:
    """Return the next thing a handler saw; other calls are answered."""
    async with asyncio.timeout(10):
        while True:
            frame = json.loads(await ws.recv())
            answer = {"status": "ok", "retcode": 0, "data": None, "echo": frame["echo"]}
            await ws.send(json.dumps(answer))
            if frame["action"] == "seen":
                return dict(frame["params"])


def event(text: str, **changes: Any) -> str:
    return json.dumps(group_message(message=[{"type": "text", "data": {"text": text}}], **changes))


@pytest.fixture(scope="module")
def loop_port() -> Any:
    """One server for all tests of this module, outside of their event loops."""
    runner = asyncio.Runner()
    context = server()
    yield runner.run(context.__aenter__())
    runner.run(context.__aexit__(None, None, None))
    runner.close()


@pytest.mark.parametrize("path", ["/onebot/v11/", "/onebot/v11", "/onebot/v11/http", "/onebot/v11/http/"])
async def test_there_is_no_http_way_in(loop_port: int, path: str) -> None:
    def post() -> int:
        body = event("/任命 裁判 1", user_id=1).encode()
        headers = {"X-Self-ID": "10000", "Content-Type": "application/json"}
        try:
            with urlopen(Request(f"http://127.0.0.1:{loop_port}{path}", body, headers)) as answer:
                return int(answer.status)
        except HTTPError as error:
            return error.code

    assert await asyncio.to_thread(post) == 404


@pytest.mark.parametrize("path", ["/onebot/v11/", "/onebot/v11/ws/", "/", "/ws"])
async def test_there_is_no_other_socket(loop_port: int, path: str) -> None:
    with pytest.raises(InvalidHandshake):
        async with door(loop_port, path=path):
            pass


@pytest.mark.parametrize("token", [None, "", "wrong", TOKEN[:-1], TOKEN + "x", f"Basic {TOKEN}", f"Bearer  {TOKEN}"])
async def test_a_wrong_token_is_refused(loop_port: int, token: str | None) -> None:
    with pytest.raises(InvalidHandshake):
        async with door(loop_port, token):
            pass


@pytest.mark.parametrize("self_id", [None, "", "abc", "1" * 30, "20000", "１００００"])
async def test_another_account_is_refused(loop_port: int, self_id: str | None) -> None:
    with pytest.raises(InvalidHandshake):
        async with door(loop_port, self_id=self_id):
            pass


async def test_an_empty_token_lets_nobody_in() -> None:
    async with server(token="") as port:
        for token in (None, "", "x"):
            with pytest.raises(InvalidHandshake):
                async with door(port, token):
                    pass


async def test_events_of_another_account_are_dropped(loop_port: int) -> None:
    async with door(loop_port) as ws:
        for self_id in (20000, "20000", 1, "x"):
            await ws.send(event("not mine", self_id=self_id))
        await ws.send(event("mine", self_id="10000"))
        await ws.send(event("mine too", self_id=...))
        assert (await seen(ws))["said"] == ["message", "mine", None]
        assert (await seen(ws))["said"] == ["message", "mine too", None]


async def test_bad_frames_are_skipped(loop_port: int) -> None:
    async with door(loop_port) as ws:
        for frame in (
            "", "{", "[]", "null", "5", '"x"', b"\xff\xfe", "[" * 100_000, "{}", '{"echo": "nobody waits"}',
            '{"post_type": 5}', '{"post_type": "message"}', '{"post_type": "message", "user_id": 1, "message": 7}',
            '{"post_type": "notice", "notice_type": "group_recall"}', '{"post_type": "meta_event"}',
            json.dumps({"post_type": "message", "message": "x" * 5_000_000}),
        ):  # fmt: skip
            await ws.send(frame)
        await ws.send(event("still here"))
        while (await seen(ws))["said"] != ["message", "still here", None]:
            pass


async def test_messages_reach_the_handlers_as_they_were_sent(loop_port: int) -> None:
    async with door(loop_port) as ws:
        parts = [
            {"type": "reply", "data": {"id": "404"}},
            {"type": "at", "data": {"qq": "10000"}},
            {"type": "text", "data": {"text": "小跳 确"}},
            None,
            {"type": "text", "data": {"text": "认"}},
        ]
        await ws.send(json.dumps(group_message(message=parts, font=..., sender={"level": 3})))
        frame = json.loads(await ws.recv())
        assert (frame["action"], frame["params"]["said"]) == ("seen", ["message", "小跳 确认", "404"])  # no get_msg


async def test_300_messages_keep_their_order(loop_port: int) -> None:
    async with door(loop_port) as ws:
        for n in range(300):
            await ws.send(event(str(n), message_id=n + 1, user_id=100 + n % 30))
        assert [(await seen(ws))["said"][1] for _ in range(300)] == [str(n) for n in range(300)]


async def test_own_messages_are_not_handled(loop_port: int) -> None:
    async with door(loop_port) as ws:
        await ws.send(event("收到 #1", user_id=10000))
        await ws.send(event("收到 #2", user_id=10000, post_type="message_sent"))
        await ws.send(event("收到 #3", user_id=10001))  # another account of the bot
        await ws.send(event("hello"))
        frame = await seen(ws)
        assert (frame["said"], frame["own"]) == (["message", "hello", None], ["收到 #1", "收到 #2", "收到 #3"])


async def test_the_end_of_a_mute_is_noticed(loop_port: int) -> None:
    async with door(loop_port) as ws:
        for user_id, sub_type in ((1, "lift_ban"), (10000, "ban"), (10000, "lift_ban"), (0, "lift_ban")):
            notice = {"post_type": "notice", "notice_type": "group_ban", "sub_type": sub_type, "time": 1}
            await ws.send(json.dumps(notice | {"self_id": 10000, "group_id": 7, "user_id": user_id}))
        assert [(await seen(ws))["unmuted"] for _ in range(4)][-1] == ["g7", "g7"]


async def test_a_second_connection_is_refused_while_the_first_answers(loop_port: int) -> None:
    async with door(loop_port, self_id="10001") as first:
        answering = asyncio.create_task(seen(first))
        with pytest.raises(InvalidHandshake):
            async with door(loop_port, self_id="10001"):
                pass
        await first.send(event("first", self_id=10001))
        assert (await answering)["said"][1] == "first"


async def test_a_half_open_connection_is_replaced(loop_port: int) -> None:
    async with door(loop_port, self_id="10001") as first:
        await first.send(event("first", self_id=10001))
        assert (await seen(first))["said"][1] == "first"
        async with door(loop_port, self_id="10001") as second:  # the first one answers nothing any more
            await second.send(event("second", self_id=10001))
            assert (await seen(second))["said"][1] == "second"
            async with asyncio.timeout(5):
                await first.wait_closed()
            await second.send(event("still second", self_id=10001))
            assert (await seen(second))["said"][1] == "still second"


async def test_after_a_lost_connection_the_account_comes_back(loop_port: int) -> None:
    for n in range(3):
        async with door(loop_port, self_id="10001") as ws:
            await ws.send(event(f"time {n}", self_id=10001))
            assert (await seen(ws))["said"][1] == f"time {n}"
