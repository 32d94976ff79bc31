"""Message segments to text with @ marks, and back."""

import base64
import re
from collections.abc import Sequence
from typing import Any

from .messages import AT_MARK, at
from .repair import MAX_TEXT, clean

Segment = dict[str, Any]

RESULT_WORDS = frozenset("胜平负赢输和")
MAX_CARD = 60
AT_ALL = "@全体成员"

_LINE_ENDS = re.compile("\r\n|[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_COLOUR_CODE = re.compile(r"<[$%&](?=[^>]{0,7}[^\x20-\x7e])[^>]{1,8}>")
"""QQ's invisible colours in cards: < and one of $ % &, then code points that nobody types, then >."""
_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u115f\u1160\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe0f\ufeff\uffa0]"
)


def text_of(parts: Sequence[Segment], self_id: str = "") -> tuple[str, str | None]:
    """Return what was said, mentions as marks, and the id of the quoted message ("0" and empty ids are none).

    Text segments are joined as QQ shows them, without a separator, except between whole report lines. Mentions of
    the bot and the mention that QQ puts beside a quote are left out; pictures and faces leave a space.
    """
    reply = next((i for i, part in enumerate(parts) if part["type"] == "reply"), None)
    beside = None if reply is None else _quote_mention(parts, reply)
    said: list[str] = []
    line, size = "", 0  # the line that is being written; all characters so far
    for index, part in enumerate(parts):
        kind, data = part["type"], part["data"]
        if kind == "reply" or index == beside:
            continue
        text = " "
        if kind == "text":
            text = _LINE_ENDS.sub("\n", str(data.get("text", "")))
            if _is_report_line(text.partition("\n")[0]) and _is_report_line(line):
                text = f"\n{text}"
        elif kind == "at":
            text = _mention(str(data.get("qq", "")), self_id)
        said.append(text)
        _, new_line, last = text.rpartition("\n")
        line = last if new_line else line + last
        size += len(text)
        if size >= MAX_TEXT:
            break
    quote = "" if reply is None else str(parts[reply]["data"].get("id") or "")
    return "".join(said)[:MAX_TEXT].strip(), quote if quote not in ("", "0") else None


def _quote_mention(parts: Sequence[Segment], reply: int) -> int | None:
    """Return the index of the mention beside a quote, after it or else before it, blank text aside."""
    for step in (1, -1):
        index = reply + step
        while 0 <= index < len(parts) and _is_blank(parts[index]):
            index += step
        if 0 <= index < len(parts) and parts[index]["type"] == "at":
            return index
    return None


def _is_blank(part: Segment) -> bool:
    return part["type"] == "text" and not str(part["data"].get("text", "")).strip()


def _mention(qq: str, self_id: str) -> str:
    if qq == "all":
        return AT_ALL
    return " " if qq == self_id or not qq.isdigit() else at(qq)


def _is_report_line(line: str) -> bool:
    words = AT_MARK.sub(" @ ", line[:MAX_TEXT]).split()
    return any(word in RESULT_WORDS for word in words[1:-1])


def clean_card(*names: object) -> str:
    """Return the first of card and nickname that shows anything, without QQ's colours and what nobody sees."""
    for name in names:
        if isinstance(name, str):
            shown = _UNSEEN.sub(" ", _COLOUR_CODE.sub("", clean(name)[: 4 * MAX_CARD]))
            if shown := " ".join(shown.split())[:MAX_CARD]:
                return shown
    return ""


def plain(text: str) -> str:
    """Return a text with its marks as @name, or @number where no name is known."""
    return AT_MARK.sub(lambda mark: f"@{mark[2] or mark[1]}", text)


def to_segments(text: str, *, quote: str | None = None, mentions: bool = True) -> list[Segment]:
    """Return what to send: the quote, then text with real mentions, or with @name when `mentions` is off."""
    parts: list[Segment] = []
    if quote:
        parts.append({"type": "reply", "data": {"id": quote}})
    if not mentions:
        return [*parts, _text(plain(text))]
    end = 0
    for mark in AT_MARK.finditer(text):
        if mark.start() > end:
            parts.append(_text(text[end : mark.start()]))
        parts.append({"type": "at", "data": {"qq": mark[1]}})
        end = mark.end()
    if end < len(text):
        parts.append(_text(text[end:]))
    return parts


def picture_segments(png: bytes, caption: str, *, quote: str | None = None) -> list[Segment]:
    """Return what to send of a picture. Its bytes go along: the QQ client often runs on another machine."""
    image = {"type": "image", "data": {"file": "base64://" + base64.b64encode(png).decode("ascii")}}
    return [*to_segments(caption, quote=quote, mentions=False), image]


def _text(text: str) -> Segment:
    return {"type": "text", "data": {"text": text}}


def fingerprint(text: str) -> str:
    """Return a text without white space and mentions, to compare what was sent with what QQ shows."""
    return "".join(AT_MARK.sub("", text).split())
