"""The log: NoneBot's, without the lines it writes of every event and request. What the bot decided has its own line."""

import sys
from pathlib import Path
from typing import Any

from nonebot import log

CHATTY = ("/nonebot/message.py", "/nonebot/internal/matcher/matcher.py", "/uvicorn/protocols/")
"""Files whose lines below a warning tell who said what, and who asked for which address with which token.

The names of records do not tell: NoneBot shortens them.
"""


def install() -> None:
    """Put our filter in the place of NoneBot's."""
    log.logger.remove(log.logger_id)
    log.logger_id = log.logger.add(sys.stdout, level=0, diagnose=False, filter=worth_a_line, format=log.default_format)


def worth_a_line(record: Any) -> bool:
    """Return whether a record is written: LOG_LEVEL decides, but for what CHATTY files say below WARNING."""
    if record["level"].no < log.logger.level("WARNING").no:
        path = Path(record["file"].path).as_posix()
        if any(part in path for part in CHATTY):
            return False
    return log.default_filter(record)
