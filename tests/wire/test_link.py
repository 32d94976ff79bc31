"""Calls over one connection: answers, late ones, none, and a connection that goes."""

import asyncio
import json
from typing import Any

import pytest
from nonebot.adapters.onebot.v11 import ActionFailed, NetworkError

from plugins.rating_bot.wire.link import ConnectionLost, Link, result_of


class Socket:
    """Keeps what is sent."""

    def __init__(self, error: Exception | None = None) -> None:
        self.frames: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.error = error

    async def send(self, data: str) -> None:
        if self.error:
            raise self.error
        self.frames.put_nowait(json.loads(data))


def link(socket: Socket) -> Link:
    return Link("10000", socket)  # type: ignore[arg-type]


async def test_answers_find_their_calls_in_any_order() -> None:
    socket = Socket()
    line = link(socket)
    calls = [asyncio.create_task(line.call(api, {"n": api}, 5)) for api in ("a", "b")]
    first, second = await socket.frames.get(), await socket.frames.get()
    line.answer({"status": "ok", "data": 2, "echo": second["echo"]})
    line.answer({"status": "ok", "data": 1, "echo": first["echo"]})
    line.answer({"status": "ok", "data": 3, "echo": first["echo"]})  # twice
    line.answer({"echo": None})
    assert [(await call)["data"] for call in calls] == [1, 2]
    assert (first["action"], first["params"]) == ("a", {"n": "a"})


async def test_no_answer_in_time() -> None:
    with pytest.raises(NetworkError) as caught:
        await link(Socket()).call("a", {}, 0.01)
    assert not isinstance(caught.value, ConnectionLost)


async def test_a_lost_connection_fails_what_waits_at_once() -> None:
    socket = Socket()
    line = link(socket)
    call = asyncio.create_task(line.call("a", {}, 60))
    await socket.frames.get()
    line.shut()
    with pytest.raises(ConnectionLost):
        await call
    with pytest.raises(ConnectionLost):
        await line.call("a", {}, 60)


async def test_a_socket_that_cannot_send() -> None:
    with pytest.raises(ConnectionLost):
        await link(Socket(RuntimeError("closed"))).call("a", {}, 60)


@pytest.mark.parametrize(
    "answer",
    [
        {"status": "failed", "retcode": 1200, "message": "no"},
        {"status": "failed"},
        {"status": "ok", "retcode": 100},
        {"retcode": "1404", "self": 1},
    ],
)
def test_failed_answers(answer: dict[str, Any]) -> None:
    with pytest.raises(ActionFailed) as caught:
        result_of(answer)
    assert caught.value.info.get("retcode") == answer.get("retcode")


@pytest.mark.parametrize(
    "answer", [{"status": "ok", "retcode": 0, "data": 5}, {"data": 5}, {"status": "async", "retcode": 1, "data": 5}]
)
def test_good_answers(answer: dict[str, Any]) -> None:
    assert result_of(answer) == 5
