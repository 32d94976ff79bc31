"""The values of the QQ in memory: people, groups, messages, what listeners are told."""

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Role = Literal["owner", "admin", "member"]
Segment = dict[str, Any]
"""One OneBot v11 message segment: {"type": "text", "data": {"text": "…"}}."""


class QQRefused(Exception):
    """What QQ would not do: an unknown group, person or message, or a recall without the right to it."""


@dataclass(slots=True)
class Person:
    """Someone with a QQ account."""

    user_id: int
    nickname: str


@dataclass(slots=True)
class Member:
    """Someone's place in one group. `joined_at` in ms."""

    user_id: int
    card: str
    role: Role
    joined_at: int


@dataclass(slots=True)
class Group:
    """A group and who is in it."""

    group_id: int
    name: str
    members: dict[int, Member] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class FakeMessage:
    """One message as QQ keeps it."""

    chat: str
    """Chat key: g<group> or u<person the bot talks to>."""
    message_id: int
    real_seq: int
    """Running number within the chat, without holes."""
    user_id: int
    segments: list[Segment]
    time: int
    """ms since the epoch; QQ itself shows whole seconds."""
    nickname: str
    card: str = ""
    role: Role = "member"
    recalled_by: int | None = None
    reactions: dict[str, set[int]] = field(default_factory=dict)
    """Emoji id to the people who reacted with it."""

    @property
    def group_id(self) -> int | None:
        """Number of the group, None in a private chat."""
        return int(self.chat[1:]) if self.chat.startswith("g") else None

    @property
    def recalled(self) -> bool:
        """Whether it was taken back."""
        return self.recalled_by is not None

    @property
    def text(self) -> str:
        """What one reads, a mention as @<QQ number>, without the quoted message."""
        return "".join(_readable(segment) for segment in self.segments)

    @property
    def quote(self) -> int | None:
        """Id of the quoted message; None also where it is no number."""
        for segment in self.segments:
            if segment["type"] == "reply":
                with contextlib.suppress(KeyError, ValueError):
                    return int(segment["data"]["id"])
        return None

    @property
    def mentions(self) -> tuple[int, ...]:
        """QQ numbers mentioned, in order; 0 is 全体成员."""
        found = (segment["data"]["qq"] for segment in self.segments if segment["type"] == "at")
        return tuple(0 if qq == "all" else int(qq) for qq in found)


@dataclass(frozen=True, slots=True)
class Happened:
    """What listeners are told."""

    kind: Literal["message", "recall", "reaction", "card"]
    chat: str
    message: FakeMessage | None = None
    user_id: int = 0
    """Who did it."""
    emoji_id: str = ""


Listener = Callable[[Happened], None]
Predicate = Callable[[FakeMessage], object]


def text_segment(text: str) -> Segment:
    """Return a text segment."""
    return {"type": "text", "data": {"text": text}}


def quoting(quote: int | None) -> list[Segment]:
    """Return the segment of a quote, none without one."""
    return [] if quote is None else [{"type": "reply", "data": {"id": str(quote)}}]


def compose(text: str, quote: int | None = None, at: Sequence[int] = ()) -> list[Segment]:
    """Return the segments QQ makes of a quote, mentions in front and a text."""
    parts = quoting(quote)
    for qq in at:
        parts.append({"type": "at", "data": {"qq": str(qq)}})
        parts.append(text_segment(" "))
    if text or not parts:
        parts.append(text_segment(text))
    return parts


def _readable(segment: Segment) -> str:
    match segment["type"]:
        case "text":
            return str(segment["data"]["text"])
        case "at":
            return f"@{segment['data']['qq']}"
        case "reply" | "image":
            return ""
        case "file":
            return f"[文件] {segment['data'].get('file', '')}"
        case other:
            return f"[{other}]"
