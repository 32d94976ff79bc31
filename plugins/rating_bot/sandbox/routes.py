"""The sandbox page and its live socket. These routes exist only where `install` was called.

Every request must name an allowed host (no DNS rebinding), and the socket, through which everything is done,
must come from a page of that host (no cross-site requests). There is no route that changes anything by itself.
"""

import asyncio
import contextlib
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import quote

from fastapi import APIRouter, Depends, FastAPI, HTTPException, WebSocket, WebSocketException
from fastapi.responses import FileResponse, Response
from pydantic import Base64Bytes, BaseModel, Field, TypeAdapter, ValidationError
from starlette.requests import HTTPConnection

from ..wire.messages import private_chat
from . import view
from .director import Director, News, Refused
from .qq import FakeQQ
from .scene import CAST, LINES, OFFICIAL, SCORING
from .scenes import SCENES
from .values import Happened, QQRefused, quoting

PAGE = Path(__file__).parent / "page"
FILES = {
    "page.css": "text/css",
    "tools.css": "text/css",
    "page.js": "text/javascript",
    "chat.js": "text/javascript",
    "guide.js": "text/javascript",
    "tools.js": "text/javascript",
    "icon.svg": "image/svg+xml",
}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self' ws://{host}; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
TEXT_LIMIT = 8000
"""More than the bot takes in one report, so that its refusal can be seen."""
NAME_LIMIT = 100
FILE_LIMIT = 8_000_000
"""Bytes; the socket takes twice as much."""
REFUSED = 1008


class Deed(BaseModel):
    """What the page asks for on behalf of a person."""

    do: Literal["say", "recall", "react", "share"]
    chat: str = Field(pattern="^[gu][0-9]{1,20}$")
    me: int
    text: str = Field("", max_length=TEXT_LIMIT)
    message_id: int | None = None
    emoji_id: str = Field("76", pattern="^[0-9]{1,6}$")
    name: str = Field("", max_length=NAME_LIMIT)
    data: Base64Bytes = Field(b"", max_length=FILE_LIMIT)
    """What is in a shared file."""


class Control(BaseModel):
    """What the page asks of the sandbox itself. `pace` is in seconds."""

    do: Literal["travel", "play", "stop", "reset"]
    what: str = Field("", max_length=20)
    pace: float = Field(0, ge=0, le=3)


ASKED: TypeAdapter[Deed | Control] = TypeAdapter(Annotated[Deed | Control, Field(discriminator="do")])


def local_hosts(port: int) -> frozenset[str]:
    """Return the Host headers by which this machine itself asks for `port`."""
    names = ("127.0.0.1", "localhost")
    return frozenset(f"{name}:{port}" for name in names) | (frozenset(names) if port == 80 else frozenset())


def install(app: FastAPI, qq: FakeQQ, *, host_allowed: Collection[str], director: Director | None = None) -> None:
    """Add the page at / and everything under /sandbox; `host_allowed` holds the Host headers to answer.

    Without a director people can talk, and nothing else can be done.
    """
    guarded = APIRouter(dependencies=[Depends(_guard(host_allowed))])

    @guarded.get("/", include_in_schema=False)
    async def page(connection: HTTPConnection) -> FileResponse:
        headers = _headers() | {"Content-Security-Policy": POLICY.format(host=connection.headers["host"])}
        return FileResponse(PAGE / "index.html", headers=headers)

    @guarded.get("/sandbox/static/{name}", include_in_schema=False)
    async def static(name: str) -> FileResponse:
        if name not in FILES:
            raise HTTPException(404)
        return FileResponse(PAGE / name, media_type=FILES[name], headers=_headers())

    @guarded.get("/sandbox/picture/{message_id}/{index}", include_in_schema=False)
    async def picture(message_id: int, index: int) -> Response:
        message = qq.find(message_id)
        found = None if message is None else view.picture(message, index)
        if found is None:
            raise HTTPException(404)
        return Response(found[0], media_type=found[1], headers=_headers() | {"Cache-Control": "private, max-age=3600"})

    @guarded.get("/sandbox/file/{message_id}/{index}", include_in_schema=False)
    async def file(message_id: int, index: int) -> Response:
        message = qq.find(message_id)
        found = None if message is None else view.shared_file(qq, message, index)
        if found is None:
            raise HTTPException(404)
        named = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(found.name, safe='')}"}
        return Response(found.data, media_type="application/octet-stream", headers=_headers() | named)

    @guarded.websocket("/sandbox/live")
    async def live(socket: WebSocket) -> None:
        await socket.accept()
        await _serve(socket, qq, director)

    app.include_router(guarded)


def _headers() -> dict[str, str]:
    return {
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cache-Control": "no-store",
    }


def _guard(hosts: Collection[str]) -> Callable[[HTTPConnection], None]:
    origins = {f"http://{host}" for host in hosts}

    def check(connection: HTTPConnection) -> None:
        origin = connection.headers.get("origin")
        is_socket = connection.scope["type"] == "websocket"
        known_origin = origin in origins or (origin is None and not is_socket)
        if connection.headers.get("host", "").lower() in hosts and known_origin:
            return
        if is_socket:
            raise WebSocketException(REFUSED)
        raise HTTPException(403, "only for this machine")

    return check


async def _serve(socket: WebSocket, qq: FakeQQ, director: Director | None) -> None:
    """Tell the page all that was said and happens, and do what it asks, until it leaves."""
    news: asyncio.Queue[News] = asyncio.Queue()

    def tell(event: Happened) -> None:
        if event.message:
            news.put_nowait({"type": "message", "message": view.message_view(qq, event.message)})
        else:
            news.put_nowait({"type": "people"} | view.people_view(qq, CAST))

    def tell_of_stage(told: News) -> None:
        news.put_nowait(_snapshot(qq, director) if told["type"] == "renewed" else told)

    stops = [qq.subscribe(tell)] + ([director.subscribe(tell_of_stage)] if director else [])
    news.put_nowait(_snapshot(qq, director))
    writer = asyncio.create_task(_write(socket, news))
    try:
        async for raw in socket.iter_text():
            if refusal := _perform(qq, director, raw):
                news.put_nowait({"type": "refused", "text": refusal})
    finally:
        for stop in stops:
            stop()
        writer.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await writer


async def _write(socket: WebSocket, news: "asyncio.Queue[News]") -> None:
    with contextlib.suppress(RuntimeError, OSError):
        while True:
            await socket.send_json(await news.get())


def _snapshot(qq: FakeQQ, director: Director | None) -> News:
    chats = [f"g{OFFICIAL}", f"g{SCORING}", *(private_chat(actor.qq) for actor in CAST)]
    shown = [view.message_view(qq, message) for chat in chats for message in qq.messages(chat)]
    shown += director.notes if director else []
    shown.sort(key=lambda one: (chats.index(one["chat"]), one["seq"], "note" in one))
    return {
        "type": "all",
        "bot": qq.self_id,
        "groups": [{"chat": f"g{number}", "name": qq.groups[number].name} for number in (OFFICIAL, SCORING)],
        "lines": LINES,
        "scenes": [{"name": one.name, "title": one.title, "about": one.about, "big": one.big} for one in SCENES],
        "messages": shown,
        "stage": director.view() if director else None,
    } | view.people_view(qq, CAST)


def _perform(qq: FakeQQ, director: Director | None, raw: str) -> str:
    """Do what the page asks and return why not, or nothing."""
    try:
        asked = ASKED.validate_json(raw)
        if isinstance(asked, Control):
            _control(director, asked)
        elif asked.me not in {actor.qq for actor in CAST}:
            raise QQRefused("没有这个人")
        else:
            _do(qq, asked)
    except ValidationError:
        return f"没有发出：一条消息最多 {TEXT_LIMIT} 字，一个文件最多 {FILE_LIMIT // 1_000_000} MB"
    except (QQRefused, Refused) as refused:
        return str(refused)
    return ""


def _control(director: Director | None, asked: Control) -> None:
    if director is None:
        raise Refused("这里做不到")
    match asked.do:
        case "travel":
            director.travel(asked.what)
        case "play":
            director.play(asked.what, asked.pace)
        case "reset":
            director.reset()
        case "stop":
            director.stop()


def _do(qq: FakeQQ, deed: Deed) -> None:
    number = int(deed.chat[1:])
    if deed.chat.startswith("u"):
        if number != deed.me or deed.do in ("react", "share"):
            raise QQRefused("这里做不到")
        if deed.do == "say":
            qq.say_private(deed.me, deed.text, quote=deed.message_id)
        else:
            qq.recall_private(deed.me, deed.message_id or 0)
    elif deed.do == "say":
        segments = quoting(deed.message_id) + view.split_mentions(qq, number, deed.text)
        qq.say(number, deed.me, segments=segments)
    elif deed.do == "share":
        qq.member(number, deed.me)
        qq.shelf.share(qq, number, deed.me, deed.name or "文件", deed.data)
    elif deed.do == "recall":
        qq.recall(number, deed.message_id or 0, deed.me)
    else:
        qq.react(number, deed.message_id or 0, deed.me, deed.emoji_id)
