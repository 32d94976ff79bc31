"""Repairs of what QQ clients send, before NoneBot's event models see it.

A missing font, an int level or a null segment would turn a message into a base Event that no matcher sees: the
message would vanish without a word. `repair` fills in and converts, so that the typed model always validates.
"""

import time
from collections.abc import Iterable, Mapping
from typing import Any

from nonebot.adapters.onebot.v11 import Message

from .messages import AT_CLOSE, AT_OPEN

Data = dict[str, Any]

MAX_TEXT = 20_000
"""Characters kept of one message, or in the last of its texts; QQ itself allows about 5,000."""
MAX_SEGMENTS = 1_000
MAX_CODES = 60
"""CQ codes in one string; more are not read as codes, because reading them takes time squared."""
MILLISECONDS_FROM = 100_000_000_000
"""A time at or above this is in milliseconds (NapCat falls back to Date.now()); a thousand times more is no time."""

_KINDS = {
    "message": "message_type", "message_sent": "message_type", "notice": "notice_type", "request": "request_type",
    "meta_event": "meta_event_type",
}  # fmt: skip
"""Post type → the field that says which kind of it."""
_NOTHING_SAID: Data = {"type": "text", "data": {"text": ""}}
"""NoneBot expects at least one segment."""
_DROPPED = {ord(AT_OPEN): None, ord(AT_CLOSE): None, 0: None}
_SENDER_TEXTS = ("nickname", "sex", "card", "area", "level", "role", "title")
_IDS = ("self_id", "user_id", "group_id", "operator_id", "target_id", "message_id", "sender_id")
_NOTICE_DEFAULTS: dict[str, Data] = {
    "group_recall": {"user_id": 0, "operator_id": 0, "message_id": 0},
    "friend_recall": {"user_id": 0, "message_id": 0},
    "group_ban": {"user_id": 0, "operator_id": 0, "duration": 0, "sub_type": "ban"},
    "group_increase": {"user_id": 0, "operator_id": 0, "sub_type": "approve"},
    "group_decrease": {"user_id": 0, "operator_id": 0, "sub_type": "leave"},
    "group_admin": {"user_id": 0, "sub_type": "set"},
}


def repair(data: Mapping[str, Any], *, now: int | None = None) -> Data | None:
    """Return a copy of an event that its model accepts; None when it names no sender, no chat or no kind of event.

    `now` in seconds stands in for a missing time (default: the machine's clock). Repairing twice changes nothing.
    """
    fixed = dict(data)
    post_type = fixed.get("post_type")
    if not isinstance(post_type, str) or post_type not in _KINDS:
        return None
    for name in {"sub_type", *_KINDS.values()} & fixed.keys():
        if not isinstance(fixed[name], str):
            del fixed[name]
    for name in _IDS:
        if name in fixed and (number := whole(fixed[name])) is not None:
            fixed[name] = number
    fixed["time"] = _seconds(fixed.get("time"), now)
    if post_type in ("message", "message_sent"):
        return _message(fixed)
    if not fixed.get(_KINDS[post_type]):
        return None
    if post_type == "notice":
        kind = fixed["notice_type"]
        for name, value in _NOTICE_DEFAULTS.get(kind, {}).items():
            if not isinstance(fixed.get(name), type(value)):
                fixed[name] = (whole(fixed.get(name)) or value) if isinstance(value, int) else value
    return fixed


def clean(text: object) -> str:
    """Return text without NUL, lone surrogates (no database stores them) and the private marks of mentions."""
    kept = str(text)[:MAX_TEXT].translate(_DROPPED)
    return kept if kept.isascii() else kept.encode("utf-8", "ignore").decode("utf-8")


def whole(value: object) -> int | None:
    """Return an id or time as int, whether it came as int, float or string; None when it is none of these.

    What no database takes as a number is none.
    """
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, str) and len(value) > 20:
        return None
    try:
        number = int(value) if isinstance(value, int | float | str) else None
    except (ValueError, OverflowError):
        return None
    return number if number is not None and abs(number) < 1 << 63 else None


def _seconds(value: object, now: int | None) -> int:
    seconds = whole(value)
    if seconds is None or seconds <= 0:
        return int(time.time()) if now is None else now
    if seconds >= MILLISECONDS_FROM:
        return _seconds(seconds // 1000 if seconds < 1000 * MILLISECONDS_FROM else None, now)
    return seconds


def _message(fixed: Data) -> Data | None:
    sender = _sender(fixed.get("sender"))
    user_id = whole(fixed.get("user_id")) or sender.get("user_id")
    if not user_id:
        return None
    fixed["user_id"], fixed["sender"] = user_id, sender
    fixed["message_id"] = whole(fixed.get("message_id")) or 0
    fixed["font"] = whole(fixed.get("font")) or 0
    source = fixed.get("message")
    raw = fixed.get("raw_message")
    fixed["raw_message"] = raw[:MAX_TEXT] if isinstance(raw, str) else ""
    fixed["message"] = segments(fixed["raw_message"] if source is None else source) or [_NOTHING_SAID]
    if fixed.get("message_type") not in ("group", "private"):
        if fixed.get("message_type"):
            return fixed  # guilds and the like: not ours, their own models may take them
        fixed["message_type"] = "group" if whole(fixed.get("group_id")) else "private"
    if fixed["message_type"] == "group" and not whole(fixed.get("group_id")):
        return None
    if not isinstance(fixed.get("sub_type"), str):
        fixed["sub_type"] = "normal" if fixed["message_type"] == "group" else "friend"
    for name in ("reply", "to_me", "original_message", "anonymous"):
        fixed.pop(name, None)
    return fixed


def _sender(source: object) -> Data:
    if not isinstance(source, Mapping):
        return {}
    sender = {str(name): value for name, value in source.items() if value is not None}
    for name in ("user_id", "age"):
        if name in sender:
            number = whole(sender.pop(name))
            if number is not None:
                sender[name] = number
    for name in _SENDER_TEXTS:
        if name in sender:
            value = sender.pop(name)
            if isinstance(value, str | int | float):
                sender[name] = clean(value)
    return sender


def segments(source: object) -> list[Data]:
    """Return the segments of a `message` field: an array, one segment, or a string with CQ codes."""
    found: Iterable[object]
    if isinstance(source, str):
        source = source[:MAX_TEXT]
        if source.count("[CQ:") > MAX_CODES:
            found = ({"type": "text", "data": {"text": source}},)
        else:
            found = ({"type": part.type, "data": part.data} for part in Message(source))
    elif isinstance(source, Mapping):
        found = (source,)
    else:
        found = source[:MAX_SEGMENTS] if isinstance(source, list) else ()
    kept: list[Data] = []
    size = 0
    for part in found:
        if (fixed := _segment(part)) is not None:
            kept.append(fixed)
            size += len(fixed["data"]["text"]) if fixed["type"] == "text" else 0
        if size >= MAX_TEXT:
            break
    return kept


def _segment(part: object) -> Data | None:
    if not isinstance(part, Mapping):
        return None
    kind, data = part.get("type"), part.get("data")
    if not isinstance(kind, str) or not kind:
        return None
    kept = {str(name): value for name, value in data.items()} if isinstance(data, Mapping) else {}
    if kind == "text":
        text = kept.get("text")
        if not isinstance(text, str | int | float):
            return None
        kept["text"] = clean(text)
    elif kind == "at":
        qq = kept.get("qq", kept.get("user_id"))
        kept["qq"] = "all" if qq == "all" else str(whole(qq) or "")
    elif kind == "reply":
        kept["id"] = str(whole(kept.get("id")) or "")
    return {"type": kind, "data": kept}
