"""What a failed send means: refused, unclear, or the whole chat is closed to the bot.

Clients agree on little. NapCat and LLOneBot answer 1200 to everything that goes wrong, a timeout included, and say
more in the text; Lagrange passes QQ's own result as retcode; go-cqhttp says 100 and hides the rest in its log.
"""

import re
from dataclasses import dataclass
from typing import Literal

from nonebot.exception import ActionFailed, ApiNotAvailable

FailureKind = Literal["refused", "unclear", "muted", "kicked", "risk", "offline"]

CLOSED: frozenset[FailureKind] = frozenset({"muted", "kicked", "risk"})
"""The chat as a whole takes nothing: its queue is kept and rests."""

_RESULT = re.compile(r'"?result"?\s?[:=]\s?(-?[0-9]{1,6})')
_TIMED_OUT = re.compile(r"timeout|timed out|超时", re.IGNORECASE)
_MUTED = re.compile(r"禁言|shut ?up|muted", re.IGNORECASE)
_KICKED = re.compile(
    r"移出|已退群|不在群|不是群成员|群不存在|群聊不存在|GROUP_NOT_FOUND|not in (?:the )?group", re.IGNORECASE
)
_RISK = re.compile(r"风控|频繁|risk|SEND_MSG_API_ERROR", re.IGNORECASE)
"""The last one is all that go-cqhttp says when QQ takes nothing (muted or under risk control)."""
_BEFORE_SENDING = re.compile(
    r"EventChecker Failed|rich media transfer failed|Get Uid Error"
    r"|不存在|无法解析|无法获取|不支持|参数|成员|schema|payload|invalid",
    re.IGNORECASE,
)
"""Raised by the client before anything was sent."""
_BY_RESULT: dict[int, FailureKind] = {110: "kicked", 120: "muted", 299: "risk"}
_UNCLEAR_CODES = frozenset({1200, 200, 9000})
"""1200/200: "something went wrong" of NapCat and LLOneBot; 9000: Lagrange sent it and got no number back."""
MAX_TEXT = 2_000


@dataclass(frozen=True, slots=True)
class Failure:
    """Kind and, for the desk and the log, the client's words."""

    kind: FailureKind
    text: str


def failure_of(error: Exception) -> Failure:
    """Return what an exception of a send means. Whatever is not certain is unclear: the message may be out."""
    if isinstance(error, ApiNotAvailable):
        return Failure("offline", "not connected")
    if not isinstance(error, ActionFailed):
        return Failure("unclear", repr(error)[:MAX_TEXT])
    info = getattr(error, "info", {})
    words = [str(info[name]) for name in ("message", "msg", "wording", "errMsg") if info.get(name)]
    text = " ".join(dict.fromkeys(words))[:MAX_TEXT]
    retcode = info.get("retcode")
    shown = f"{retcode} {text}".strip()
    return Failure(_kind(retcode, text), shown)


def _kind(retcode: object, text: str) -> FailureKind:
    result = _RESULT.search(text)
    code = int(result[1]) if result else retcode if isinstance(retcode, int) else 0
    if code in _BY_RESULT:
        return _BY_RESULT[code]
    for pattern, kind in ((_MUTED, "muted"), (_KICKED, "kicked"), (_RISK, "risk")):
        if pattern.search(text):
            return kind  # type: ignore[return-value]
    if _TIMED_OUT.search(text):
        return "unclear"
    if _BEFORE_SENDING.search(text):
        return "refused"
    return "unclear" if retcode in _UNCLEAR_CODES else "refused"
