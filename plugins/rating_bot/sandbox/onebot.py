"""What QQ clients make of its messages: OneBot v11 events as NapCat, LLOneBot, Lagrange and go-cqhttp send them."""

import hashlib
from typing import Any, Literal

from nonebot.adapters.onebot.v11 import Message, MessageSegment

from .qq import FakeMessage, FakeQQ
from .values import Happened, Segment

Style = Literal["napcat", "llonebot", "lagrange", "gocqhttp"]
Event = dict[str, Any]

BASE64 = "base64://"
"""Begins the file of a picture that carries its bytes along."""
LAGRANGE_HISTORY_ID = 0x2A2A2A2A
"""Lagrange gives another message id in history than in the event; here the two differ by this xor."""


def message_event(qq: FakeQQ, message: FakeMessage, style: Style = "napcat", *, history: bool = False) -> Event:
    """Return the event (or history entry) of a message."""
    own = message.user_id == qq.self_id
    message_id = message.message_id
    parts = [_told(part) for part in message.segments]
    if history and style == "lagrange":
        message_id ^= LAGRANGE_HISTORY_ID
    event: Event = {
        "time": message.time // 1000,
        "self_id": qq.self_id,
        "post_type": "message_sent" if own else "message",
        "message_type": "private" if message.group_id is None else "group",
        "sub_type": "friend" if message.group_id is None else "normal",
        "message_id": message_id,
        "user_id": message.user_id,
        "message": parts,
        "raw_message": "".join(str(MessageSegment(part["type"], part["data"])) for part in parts),
        "font": 14 if style in ("napcat", "llonebot") else 0,
        "sender": _sender(message),
    }
    if message.group_id is not None:
        event["group_id"] = message.group_id
    if style in ("napcat", "llonebot"):
        event |= {
            "message_format": "array",
            "message_seq": message_id,
            "real_id": message_id,
            "real_seq": str(message.real_seq),
        }
        if own:
            event["message_sent_type"] = "self"
        if own or message.group_id is None:
            event["target_id"] = int(message.chat[1:])
        if message.group_id is not None:
            event["group_name"] = qq.groups[message.group_id].name
    elif style == "gocqhttp":
        event["message_seq"] = message.real_seq
    else:
        event["anonymous"] = None
    return event


def notice_event(qq: FakeQQ, event: Happened, style: Style = "napcat") -> Event | None:
    """Return the notice of a recall or reaction; None where that client sends none."""
    message = event.message
    if message is None or event.kind not in ("recall", "reaction"):
        return None
    notice: Event = {"time": qq.now() // 1000, "self_id": qq.self_id, "post_type": "notice"}
    notice["message_id"] = message.message_id
    if message.group_id is not None:
        notice["group_id"] = message.group_id
    if event.kind == "recall":
        kind = "friend_recall" if message.group_id is None else "group_recall"
        return notice | {"notice_type": kind, "user_id": message.user_id, "operator_id": event.user_id}
    count = len(message.reactions[event.emoji_id])
    if style == "lagrange":
        reaction = {"notice_type": "reaction", "sub_type": "add", "operator_id": event.user_id}
        return notice | reaction | {"code": event.emoji_id, "count": count}
    if style == "gocqhttp" or message.user_id != qq.self_id:
        return None
    likes = [{"emoji_id": event.emoji_id, "count": count}]
    return notice | {"notice_type": "group_msg_emoji_like", "user_id": event.user_id, "likes": likes, "is_add": True}


def lifecycle_event(qq: FakeQQ) -> Event:
    """Return the first event of a connection."""
    return _meta(qq, "lifecycle") | {"sub_type": "connect"}


def heartbeat_event(qq: FakeQQ, interval: float) -> Event:
    """Return a heartbeat; `interval` in seconds."""
    return _meta(qq, "heartbeat") | {"status": {"online": True, "good": True}, "interval": int(interval * 1000)}


def read_segments(message: object) -> list[Segment]:
    """Return the segments of a `message` parameter: a list, one segment, or a string with CQ codes."""
    if isinstance(message, str):
        return [{"type": part.type, "data": dict(part.data)} for part in Message(message)]
    parts: list[Any] = message if isinstance(message, list) else [message]
    return [{"type": str(part["type"]), "data": dict(part.get("data") or {})} for part in parts]


def member_info(qq: FakeQQ, group_id: int, user_id: int) -> dict[str, Any]:
    """Return one entry of the member list."""
    member, person = qq.member(group_id, user_id), qq.people[user_id]
    return {
        "group_id": group_id,
        "user_id": user_id,
        "nickname": person.nickname,
        "card": member.card,
        "role": member.role,
        "join_time": member.joined_at // 1000,
        "last_sent_time": 0,
        "level": "1",
        "title": "",
        "sex": "unknown",
        "age": 0,
        "area": "",
        "unfriendly": False,
        "card_changeable": True,
        "is_robot": False,
        "shut_up_timestamp": 0,
    }


def _told(part: Segment) -> Segment:
    """Return a segment as QQ tells of it: a picture by its file name, never with its bytes."""
    file = str(part["data"].get("file", ""))
    if part["type"] != "image" or not file.startswith(BASE64):
        return {"type": part["type"], "data": dict(part["data"])}
    name = hashlib.md5(file.encode(), usedforsecurity=False).hexdigest().upper()
    return {"type": "image", "data": {"file": f"{name}.png", "sub_type": 0, "file_size": str(len(file) * 3 // 4)}}


def _sender(message: FakeMessage) -> dict[str, Any]:
    sender: dict[str, Any] = {"user_id": message.user_id, "nickname": message.nickname}
    if message.group_id is not None:
        sender |= {"card": message.card, "role": message.role}
    return sender


def _meta(qq: FakeQQ, kind: str) -> Event:
    return {
        "time": qq.now() // 1000,
        "self_id": qq.self_id,
        "post_type": "meta_event",
        "meta_event_type": kind,
    }
