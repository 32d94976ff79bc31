"""What crosses the border between QQ and the bot: plain values, no OneBot types.

Inside texts an @ is a mark, so that it survives parsing and storing: AT_OPEN qq [| name] AT_CLOSE. The two
characters are private-use code points which the event repair removes from what people type.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

AT_OPEN = "\ue000"
AT_CLOSE = "\ue001"
AT_MARK = re.compile(f"{AT_OPEN}([0-9]{{1,20}})(?:\\|([^{AT_OPEN}{AT_CLOSE}]*))?{AT_CLOSE}")


def at(qq: str, name: str = "") -> str:
    """Return the mark of a mention; `name` is what plain text shows when QQ refuses the mention."""
    return f"{AT_OPEN}{qq}|{name}{AT_CLOSE}" if name else f"{AT_OPEN}{qq}{AT_CLOSE}"


def group_chat(group: str | int) -> str:
    """Return the chat key of a group, g<number>."""
    return f"g{group}"


def private_chat(user: str | int) -> str:
    """Return the chat key of a private conversation, u<number>."""
    return f"u{user}"


@dataclass(frozen=True, slots=True)
class Inbound:
    """One message or notice from QQ, repaired and reduced to what the bot acts on."""

    key: str
    """Idempotency key: (chat, real_seq), else (chat, message_id, time), else time + user + text + quote."""
    twin: str
    """Second key: chat, user, time, text hash; equal for one message seen under two message ids."""
    kind: Literal["message", "recall", "reaction"]
    chat: str
    user: str
    """QQ number of the sender (of a recall: of the one whose message it was)."""
    message_id: str
    """Of a recall or reaction: the id of the message it concerns."""
    said_at: int
    """QQ's time of the message, ms since the epoch."""
    text: str = ""
    """Text with @ marks; reply segments removed; line ends are \\n. Of a reaction: the emoji id."""
    quote: str | None = None
    """Message id quoted, as QQ gave it; resolve it from our own tables only."""
    seq: int | None = None
    self_id: str = ""
    sender_role: str = "member"
    """owner | admin | member in that group; counts only in scoring groups."""
    card: str = ""
    """Group card or nickname, cleaned. Proves nothing."""
    made_up: bool = False
    """True when it was read from history after an outage."""
    by: str = ""
    """Of a recall: who took the message back (an admin can recall another's). Of a reaction: the same as user."""

    @property
    def group(self) -> str | None:
        """Group number, None in private chat."""
        return self.chat[1:] if self.chat.startswith("g") else None

    @property
    def plain(self) -> str:
        """The text without its @ marks."""
        return AT_MARK.sub(" ", self.text)

    @property
    def mentions(self) -> tuple[str, ...]:
        """QQ numbers mentioned, in order."""
        return tuple(m.group(1) for m in AT_MARK.finditer(self.text))


OutKind = Literal["prompt", "ack", "forward", "notice", "reminder", "answer"]


@dataclass(frozen=True, slots=True)
class Picture:
    """What a picture shows: the template, and its data as canonical JSON. Drawn when it is sent, not before."""

    template: str
    data: str

    @classmethod
    def of(cls, template: str, data: Mapping[str, Any]) -> "Picture":
        """Return a picture of these data (text, numbers, lists, maps)."""
        return cls(template, json.dumps(data, ensure_ascii=False, sort_keys=True, separators=(",", ":")))

    @classmethod
    def loads(cls, kept: str) -> "Picture":
        """Return a picture as `dumps` wrote it."""
        template, _, data = kept.partition(" ")
        return cls(template, data)

    def dumps(self) -> str:
        """Return the one text in which the outbox keeps a picture."""
        return f"{self.template} {self.data}"


@dataclass(frozen=True, slots=True)
class Out:
    """One message the bot wants to send; becomes an outbox row in the transaction that made it.

    With a picture, what goes out is `caption` and the picture; `text` says all of it where no picture can be sent.
    """

    chat: str
    text: str
    kind: OutKind = "answer"
    about: str = ""
    """Short number the message is about (#12, 审3); a reply that quotes the message resolves to it."""
    quote: str | None = None
    picture: Picture | None = None
    caption: str = ""
    """A line or two beside a picture: what it shows, and what to type for more. Without mentions."""


@dataclass(frozen=True, slots=True)
class Sent:
    """One of the bot's own messages as found in history or told by the client."""

    chat: str
    message_id: str
    text: str = field(default="")
    said_at: int = 0
    picture: bool = False
    """Whether there was a picture in it."""
