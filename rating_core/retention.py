"""Which backups are kept: 7 daily, 8 weekly, 12 monthly (grandfather, father, son)."""

from collections.abc import Iterable
from datetime import date

DAILY, WEEKLY, MONTHLY = 7, 8, 12


def kept(days: Iterable[date]) -> set[date]:
    """Return those of the days whose backup is kept: what `days` do not name (missed days) is nobody's loss.

    Kept are the newest 7; of each of the 8 weeks (from Monday) that end with the newest day's, the newest; of each of
    the 12 months that end with the newest day's, the newest. So what was dropped is never missed later, and a backup
    goes at the latest when the month one year after its own brings a new one (`expiry`) and 7 newer ones are there.
    """
    found = sorted(set(days), reverse=True)
    if not found:
        return set()
    weeks: dict[int, date] = {}
    months: dict[int, date] = {}
    for day in found:
        weeks.setdefault(_week(day), day)
        months.setdefault(_month(day), day)
    newest = found[0]
    return {
        *found[:DAILY],
        *(day for week, day in weeks.items() if week > _week(newest) - WEEKLY),
        *(day for month, day in months.items() if month > _month(newest) - MONTHLY),
    }


def expiry(day: date) -> date:
    """Return the day on which a backup made on `day` is gone, with a backup made every day."""
    return date(day.year + 1, day.month, 1)


def _week(day: date) -> int:
    return (day.toordinal() - 1) // 7  # day 1 of the calendar is a Monday


def _month(day: date) -> int:
    return day.year * 12 + day.month
