"""Pictures and files in the sandbox's chats."""

import base64
import json
from typing import Any

import pytest

from plugins.rating_bot.sandbox.scene import OFFICIAL, SCORING
from tests.sandbox.web import CHAT, ZHANG, Web
from tests.support.qq import FakeQQ

# --- pictures -------------------------------------------------------------------------------------------------

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAIAAAA2iEnWAAAAEUlEQVR4nGP4z8AARAwQCgAf7gP9i18U1AAAAABJRU5ErkJggg=="
)


def image(content: bytes) -> dict[str, Any]:
    return {"type": "image", "data": {"file": "base64://" + base64.b64encode(content).decode()}}


async def test_a_picture_is_shown_from_an_address_of_its_own(web: Web, qq: FakeQQ) -> None:
    said = qq.deliver(CHAT, [{"type": "text", "data": {"text": "排行榜"}}, image(PNG)])
    async with web.live() as page:
        (message,) = (await page.take())["messages"]
    caption, picture = message["parts"]
    assert caption == {"text": "排行榜"}
    assert (picture["width"], picture["height"], picture["text"]) == (2, 3, "[图片]")
    assert "base64" not in json.dumps(message), "its bytes are not told with every message"
    status, headers = await web.get(picture["image"])
    assert (status, headers["content-type"], headers["x-content-type-options"]) == (200, "image/png", "nosniff")
    assert (await web.get(picture["image"], Host="evil.example"))[0] == 403
    for other in (f"{said.message_id}/0", f"{said.message_id}/2", f"{said.message_id}/-1", "1/0", "x/0"):
        assert (await web.get(f"/sandbox/picture/{other}"))[0] in (404, 422)
    qq.recall(OFFICIAL, said.message_id, qq.self_id)
    assert (await web.get(picture["image"]))[0] == 404


@pytest.mark.parametrize(
    "segment",
    [
        image(b"<svg onload=alert(1)>"),
        image(b""),
        {"type": "image", "data": {"file": "base64://!!"}},
        {"type": "image", "data": {"file": "file:///etc/passwd"}},
        {"type": "image", "data": {}},
        {"type": "file", "data": {"file": "base64://" + base64.b64encode(PNG).decode()}},
    ],
)
async def test_nothing_else_is_served_as_a_picture(web: Web, qq: FakeQQ, segment: dict[str, Any]) -> None:
    said = qq.deliver(CHAT, [segment])
    async with web.live() as page:
        ((part,),) = [message["parts"] for message in (await page.take())["messages"]]
    assert "image" not in part and part["text"]
    assert (await web.get(f"/sandbox/picture/{said.message_id}/0"))[0] == 404


# --- files ----------------------------------------------------------------------------------------------------


async def test_a_shared_file_is_said_and_can_be_saved(web: Web, qq: FakeQQ) -> None:
    content = base64.b64encode("张三,2000\n".encode()).decode()
    async with web.live() as page:
        await page.take()
        message = (await page.ask("share", name="名单 一.csv", data=content))["message"]
    (part,) = message["parts"]
    assert (part["file"], part["size"], part["text"]) == ("名单 一.csv", 12, "[文件] 名单 一.csv")
    status, headers = await web.get(part["href"])
    assert (status, headers["content-type"]) == (200, "application/octet-stream")
    assert headers["content-disposition"] == "attachment; filename*=UTF-8''%E5%90%8D%E5%8D%95%20%E4%B8%80.csv"
    assert (await web.get(part["href"], Host="evil.example"))[0] == 403
    assert (await web.get("/sandbox/picture/" + part["href"].removeprefix("/sandbox/file/")))[0] == 404
    for other in ("/sandbox/file/1/0", f"{part['href']}9"):
        assert (await web.get(other))[0] == 404
    qq.forget()
    assert (await web.get(part["href"]))[0] == 404 and not qq.shelf.files


@pytest.mark.parametrize(
    "wrong",
    [
        {"chat": f"u{ZHANG}", "data": "AAAA"},
        {"chat": f"g{SCORING}", "data": "AAAA"},
        {"name": "长" * 101, "data": "AAAA"},
        {"data": 1},
    ],
)
async def test_a_file_that_cannot_be_shared(web: Web, qq: FakeQQ, wrong: dict[str, Any]) -> None:
    async with web.live() as page:
        await page.take()
        refusal = await page.raw({"do": "share", "me": ZHANG, "chat": CHAT, "name": "a.csv"} | wrong)
        assert refusal["type"] == "refused"
    assert not qq.shelf.files
