"""What QQ told, reduced to what the bot acts on: events and history entries to Inbound, own messages to Sent."""

import hashlib
import re
from collections.abc import Mapping
from typing import Any

from nonebot.adapters.onebot.v11 import Event, MessageEvent
from nonebot.compat import model_dump

from rating_core.store.wire_store import REACTION, SEQ_KEY

from .messages import Inbound, Sent, group_chat, private_chat
from .repair import Data, clean, repair, whole
from .segments import clean_card, text_of

CONFIRMING_EMOJI = frozenset({"76", "128077", "124", "128076"})
"""👍 as QQ's own face and as emoji, 👌 (OK) likewise: what counts as 确认 on a prompt."""
_EMOJI_ID = re.compile("[0-9]{1,10}")


def to_inbound(source: Event | Mapping[str, Any], *, made_up: bool = False) -> Inbound | None:
    """Return what an event or history entry says to the bot; None for everything else.

    None: the bot's own messages, a reaction taken back, requests, meta events, other notices.
    """
    data = repair(_raw(source))
    if data is None or is_own(data):
        return None
    if data.get("post_type") == "message":
        return _message(data, made_up)
    if data.get("post_type") == "notice":
        return _notice(data)
    return None


def is_own(data: Mapping[str, Any]) -> bool:
    """Return whether a message is the bot's own."""
    post_type = data.get("post_type")
    return post_type == "message_sent" or (post_type == "message" and data.get("user_id") == data.get("self_id"))


def to_sent(data: Mapping[str, Any]) -> Sent | None:
    """Return one of the bot's own messages (repaired), told by the client or found in history."""
    if data.get("group_id"):
        chat = group_chat(data["group_id"])
    elif (peer := whole(data.get("target_id"))) and peer != data.get("self_id"):
        chat = private_chat(peer)
    else:
        return None
    text, _ = text_of(data["message"], str(data.get("self_id", "")))
    picture = any(part["type"] == "image" for part in data["message"])
    return Sent(chat, str(data["message_id"] or ""), text, data["time"] * 1000, picture)


def chat_of(data: Mapping[str, Any]) -> str:
    """Return the chat key an event belongs to, empty for none."""
    group, user = whole(data.get("group_id")), whole(data.get("user_id"))
    if group and data.get("message_type") != "private":
        return group_chat(group)
    return private_chat(user) if user else ""


def real_seq(data: Mapping[str, Any]) -> int | None:
    """Return the running number of a message in its chat, where the client tells it (NapCat)."""
    seq = whole(data.get("real_seq"))
    return seq if seq and seq > 0 else None


def _raw(source: Event | Mapping[str, Any]) -> Data:
    if not isinstance(source, Event):
        return dict(source)
    data = model_dump(source)
    if isinstance(source, MessageEvent):
        data["message"] = [{"type": part.type, "data": dict(part.data)} for part in source.original_message]
    return data


def _message(data: Data, made_up: bool) -> Inbound | None:
    if data.get("sub_type") == "anonymous":
        return None  # nobody in particular said it
    if data.get("message_type") not in ("group", "private"):
        return None
    self_id, user = str(data.get("self_id", "")), str(data["user_id"])
    chat, when, seq = chat_of(data), data["time"], real_seq(data)
    text, quote = text_of(data["message"], self_id)
    message_id = str(data["message_id"] or "")
    digest = hashlib.sha256(f"{user}\n{''.join(text.split())}\n{quote or ''}".encode()).hexdigest()[:20]
    twin = f"{chat}|{when}|{digest}"  # it is kept longer than who said it
    if seq is not None:
        key = f"{chat}{SEQ_KEY}{seq}"
    else:
        key = f"{chat}|id|{message_id}|{when}" if message_id else f"{chat}|text|{twin}"
    sender = data.get("sender") or {}
    role = sender.get("role")
    return Inbound(
        key=key,
        twin=twin,
        kind="message",
        chat=chat,
        user=user,
        message_id=message_id,
        said_at=when * 1000,
        text=text,
        quote=quote,
        seq=seq,
        self_id=self_id,
        sender_role=role if role in ("owner", "admin") and data["message_type"] == "group" else "member",
        card=clean_card(sender.get("card"), sender.get("nickname")),
        made_up=made_up,
    )


def _notice(data: Data) -> Inbound | None:
    kind, message_id, chat = data.get("notice_type"), str(data.get("message_id") or ""), chat_of(data)
    if not message_id or not chat:
        return None
    if kind in ("group_recall", "friend_recall"):
        user = str(data.get("user_id") or "")
        if not user or user == str(data.get("self_id")):
            return None
        by = str(data.get("operator_id") or user)
        return _notice_inbound(data, "recall", f"{chat}|recall|{message_id}", user, by=by)
    if kind == "group_msg_emoji_like":
        emoji = [] if data.get("is_add") is False else _liked(data.get("likes"))
        user = str(data.get("user_id") or "")
    elif kind == "reaction":
        emoji = [clean(data.get("code") or "")] if data.get("sub_type") != "remove" else []
        user = str(data.get("operator_id") or data.get("user_id") or "")
    else:
        return None
    emoji = [one for one in emoji if _EMOJI_ID.fullmatch(one)]
    if not emoji or not user or user == str(data.get("self_id")):
        return None
    chosen = next((one for one in emoji if one in CONFIRMING_EMOJI), emoji[0])
    return _notice_inbound(data, "reaction", f"{chat}{REACTION}{message_id}|{user}|{chosen}", user, text=chosen)


def _liked(likes: object) -> list[str]:
    entries = likes if isinstance(likes, list) else []
    return [str(entry.get("emoji_id", "")) for entry in entries if isinstance(entry, Mapping)]


def _notice_inbound(data: Data, kind: Any, key: str, user: str, *, text: str = "", by: str = "") -> Inbound:
    return Inbound(
        key=key,
        twin=key,
        kind=kind,
        chat=chat_of(data),
        user=user,
        message_id=str(data["message_id"]),
        said_at=data["time"] * 1000,
        text=text,
        self_id=str(data.get("self_id", "")),
        by=by or user,
    )
