"""The log: NoneBot's, without the lines it writes of every event and request. What the bot decided has its own line."""

import sys
from typing import TYPE_CHECKING

from nonebot import log

if TYPE_CHECKING:
    from loguru import Record

CHATTY = ("nonebot.message", "nonebot.internal.matcher", "uvicorn.protocols")
"""Modules whose lines below a warning tell who said what, and who asked for which address with which token."""


def install() -> None:
    """Put our filter in the place of NoneBot's."""
    log.logger.remove(log.logger_id)
    log.logger_id = log.logger.add(sys.stdout, level=0, diagnose=False, filter=worth_a_line, format=log.default_format)


def worth_a_line(record: "Record") -> bool:
    """Return whether a record is written: LOG_LEVEL decides, but for what CHATTY modules say below WARNING."""
    chatty = (record["name"] or "").startswith(CHATTY) and record["level"].no < log.logger.level("WARNING").no
    return not chatty and log.default_filter(record)
