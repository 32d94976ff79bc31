"""One line of the log for each message that was for the bot: what it was and what became of it, without who and what.

    decision chat=official who=用户3 what=report did=waiting about=#12 ms=8
    decision chat=official who=用户4 what=confirm did=recorded about=#12 seq=345 ms=11

A person keeps his 用户N as long as the process runs; neither his QQ number nor his words are logged.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from nonebot.log import logger

from plugins.rating_bot.handlers.context import Context
from plugins.rating_bot.settings import Settings
from plugins.rating_bot.wire.messages import Inbound, Out
from rating_core.discretion import PSEUDONYMS

Did = Literal["recorded", "noted", "answered", "refused", "ignored", "duplicate", "limited", "failed", "stored_already"]


@dataclass(frozen=True, slots=True)
class Decision:
    """What became of a message.

    recorded: it led to ledger rows, the last of them `seq`. noted: it led to something that has a number (`about`): a
    report that waits, an application, a preview. answered, refused, ignored: it changed nothing that has a number.
    duplicate: it was handled before. limited: too many queries. failed: nothing was recorded. stored_already: an error
    came after the commit.
    """

    did: Did
    about: str = ""
    seq: int | None = None


def decision_of(context: Context, kind: str, outs: Sequence[Out], due: int) -> Decision:
    """Return what became of a message, from what its handler left behind; `due`: ledger rows that are not its doing."""
    about = context.about
    if context.tx.appended > due:
        return Decision("recorded", about, context.tx.seq)
    if context.refused or (outs and kind != "command" and not about):  # a report or a 确认 that works has a number
        return Decision("refused", about)
    if about:
        return Decision("noted", about)
    return Decision("answered" if outs else "ignored")


def log_decision(message: Inbound, action: tuple[str, Any], decision: Decision, settings: Settings, ms: float) -> None:
    """Write the line; `ms` from when the message's turn came to the commit."""
    kind, detail = action
    group = "scoring" if message.group in settings.scoring_groups else "official"
    if kind == "command":
        kind = f"/{detail[0].word}".replace(" ", "_")
    elif kind == "word":
        kind = detail.kind
    parts = {
        "chat": "private" if message.group is None else group,
        "who": PSEUDONYMS.of(message.user),
        "what": kind,
        "did": decision.did,
        "about": decision.about,
        "seq": decision.seq,
        "made_up": 1 if message.made_up else None,
        "ms": round(ms),
    }
    logger.info("decision " + " ".join(f"{name}={value}" for name, value in parts.items() if value not in (None, "")))
