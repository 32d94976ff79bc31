"""Dates as files have them: text in the usual forms, or a spreadsheet's number of days."""

import re
from dataclasses import dataclass
from datetime import datetime

from rating_core.times import HOUR_MS, SHANGHAI, to_ms
from rating_core.workbook.layout import from_serial

NOON_MS = 12 * HOUR_MS
FIRST_YEAR = 1800
_SERIALS = (20_000.0, 80_000.0)
"""1954 to 2119 as a spreadsheet counts days: other numbers are no dates."""
_DAY = r"(\d{4})[-/.年](\d{1,2})[-/.月](\d{1,2})日?"
_TIME = r"(?:[ T](\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d{1,3})\d{0,6})?)?)?"
_TEXT = re.compile(_DAY + _TIME)
_TIGHT = re.compile(r"(\d{4})(\d{2})(\d{2})")
_NUMBER = re.compile(r"\d{5}(?:\.\d{1,20})?")


@dataclass(frozen=True, slots=True)
class Read:
    """An instant (ms), and whether the file gave an hour; without one it is the day's first instant."""

    ms: int
    timed: bool

    @property
    def played(self) -> int:
        """When a game was played: at noon, well within the day, where no hour is given."""
        return self.ms if self.timed else self.ms + NOON_MS


def read_moment(cell: str) -> Read | None:
    """Return what a cell says; None where it is no date."""
    text = " ".join(cell.split())[:40]
    if not text[:1].isdigit():
        return None
    if _NUMBER.fullmatch(text):
        value = float(text)
        if not _SERIALS[0] <= value <= _SERIALS[1]:
            return None
        return Read(from_serial(value), value != int(value))
    match = _TEXT.fullmatch(text) or _TIGHT.fullmatch(text)
    if match is None:
        return None
    year, month, day, *clock = match.groups()
    if int(year) < FIRST_YEAR:
        return None
    timed = bool(clock) and clock[0] is not None
    hour, minute, second, part = clock if timed else ("0", "0", None, None)
    try:
        moment = datetime(int(year), int(month), int(day), int(hour), int(minute), int(second or 0), tzinfo=SHANGHAI)
    except ValueError:
        return None
    return Read(to_ms(moment) + int((part or "0").ljust(3, "0")), timed)
