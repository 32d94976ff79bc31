"""What the sandbox page is told: messages and people as JSON."""

import base64
import binascii
from collections.abc import Iterable
from typing import Any

from ..wire.messages import group_chat
from .files import SharedFile
from .onebot import BASE64
from .qq import FakeMessage, FakeQQ
from .scene import Actor
from .values import Segment, text_segment

PREVIEW = 80
"""Characters of a quoted message shown above the answer."""
PICTURES = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg"}
"""What is shown as a picture, by its first bytes."""
PNG_HEADER = 24
"""Bytes of a PNG up to and including its width and height."""


def split_mentions(qq: FakeQQ, group_id: int, text: str) -> list[Segment]:
    """Return the segments of a text in which @name of a member, the longest that fits, is a mention."""
    names = {qq.shown_name(group_chat(group_id), user_id): user_id for user_id in qq.group(group_id).members}
    longest_first = sorted(names, key=len, reverse=True)
    first, *rest = text.split("@")
    parts = [text_segment(first)] if first else []
    for piece in rest:
        name = next((name for name in longest_first if piece.startswith(name)), None)
        if name is None:
            parts.append(text_segment(f"@{piece}"))
            continue
        parts.append({"type": "at", "data": {"qq": str(names[name])}})
        if after := piece[len(name) :]:
            parts.append(text_segment(after))
    return parts or [text_segment("")]


def message_view(qq: FakeQQ, message: FakeMessage) -> dict[str, Any]:
    """Return a message as the page shows it; mentions carry the name the chat knows."""
    view: dict[str, Any] = {
        "chat": message.chat,
        "id": message.message_id,
        "seq": message.real_seq,
        "who": message.user_id,
        "name": message.card or message.nickname,
        "role": message.role,
        "time": message.time,
        "parts": [
            _part(qq, message.chat, segment) | _image(message, index) | _file(qq, message, index)
            for index, segment in enumerate(message.segments)
            if segment["type"] != "reply"
        ],
        "likes": {
            emoji: [qq.shown_name(message.chat, user_id) for user_id in sorted(people)]
            for emoji, people in message.reactions.items()
        },
    }
    if message.recalled_by is not None:
        view["recalled_by"] = message.recalled_by
    if message.quote is not None:
        view["quote"] = _quote(qq, message.quote)
    return view


def picture(message: FakeMessage, index: int) -> tuple[bytes, str] | None:
    """Return the bytes and the type of a picture in a message; None where that part is none."""
    if message.recalled or not 0 <= index < len(message.segments):
        return None
    content = _bytes(message.segments[index])
    kind = next((kind for first, kind in PICTURES.items() if content.startswith(first)), None)
    return None if kind is None else (content, kind)


def _bytes(segment: Segment, most: int | None = None) -> bytes:
    """Return the first bytes that a picture carries along, none where it carries nothing readable."""
    file = str(segment["data"].get("file", ""))
    if segment["type"] != "image" or not file.startswith(BASE64):
        return b""
    encoded = file[len(BASE64) :] if most is None else file[len(BASE64) : len(BASE64) + -(-most // 3) * 4]
    try:
        return base64.b64decode(encoded, validate=True)
    except binascii.Error:
        return b""


def _image(message: FakeMessage, index: int) -> dict[str, Any]:
    """Return where the page finds a picture and how large it is; nothing for other parts."""
    head = _bytes(message.segments[index], PNG_HEADER)
    if not any(head.startswith(first) for first in PICTURES):
        return {}
    view: dict[str, Any] = {"image": f"/sandbox/picture/{message.message_id}/{index}"}
    if head.startswith(b"\x89PNG") and len(head) >= PNG_HEADER:
        view |= {"width": int.from_bytes(head[16:20]), "height": int.from_bytes(head[20:24])}
    return view


def shared_file(qq: FakeQQ, message: FakeMessage, index: int) -> SharedFile | None:
    """Return the file that a part of a message is; None for other parts."""
    if message.recalled or not 0 <= index < len(message.segments):
        return None
    segment = message.segments[index]
    return qq.shelf.files.get(str(segment["data"].get("file_id"))) if segment["type"] == "file" else None


def _file(qq: FakeQQ, message: FakeMessage, index: int) -> dict[str, Any]:
    """Return where the page finds a file, what it is called and how large it is; nothing for other parts."""
    found = shared_file(qq, message, index)
    if found is None:
        return {}
    return {"file": found.name, "size": len(found.data), "href": f"/sandbox/file/{message.message_id}/{index}"}


def people_view(qq: FakeQQ, cast: Iterable[Actor]) -> dict[str, Any]:
    """Return who can be played, and who is in which group under which name and role."""
    members = {
        group_chat(group.group_id): {
            str(member.user_id): {
                "name": qq.shown_name(group_chat(group.group_id), member.user_id),
                "role": member.role,
            }
            for member in group.members.values()
        }
        for group in qq.groups.values()
    }
    people = [
        {"qq": actor.qq, "name": actor.card or actor.nickname, "part": actor.part, "who": actor.who} for actor in cast
    ]
    return {"people": people, "members": members}


def _part(qq: FakeQQ, chat: str, segment: Segment) -> dict[str, Any]:
    kind, data = segment["type"], segment["data"]
    if kind == "text":
        return {"text": data["text"]}
    if kind == "at":
        if data["qq"] == "all":
            return {"text": "@全体成员"}
        return {"at": int(data["qq"]), "text": "@" + qq.shown_name(chat, int(data["qq"]))}
    if kind == "file":
        return {"text": f"[文件] {data.get('file', '')}"}
    return {"text": "[图片]" if kind == "image" else f"[{kind}]"}


def _quote(qq: FakeQQ, message_id: int) -> dict[str, Any]:
    quoted = qq.find(message_id)
    if quoted is None or quoted.recalled:
        return {"id": message_id, "name": "", "text": "引用的消息已撤回或不存在"}
    parts = (_part(qq, quoted.chat, segment)["text"] for segment in quoted.segments if segment["type"] != "reply")
    text = "".join(parts)
    return {
        "id": message_id,
        "name": quoted.card or quoted.nickname,
        "text": text if len(text) <= PREVIEW else text[:PREVIEW] + "…",
    }
