"""The league's calendar: Asia/Shanghai, fixed UTC+8; instants are integer milliseconds since the epoch."""

from datetime import UTC, date, datetime, timedelta, timezone

SHANGHAI = timezone(timedelta(hours=8), "Asia/Shanghai")
HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
_OFFSET_MS = 8 * HOUR_MS
_EPOCH = date(1970, 1, 1)
_years: dict[int, int] = {}


def to_datetime(ms: int) -> datetime:
    """Return an instant as an aware datetime in Shanghai."""
    return datetime.fromtimestamp(ms / 1000, UTC).astimezone(SHANGHAI)


def to_ms(moment: datetime) -> int:
    """Return an aware datetime as milliseconds since the epoch."""
    return int(moment.timestamp() * 1000)


def day_of(ms: int) -> date:
    """Return the calendar day in Shanghai."""
    return _EPOCH + timedelta(days=(ms + _OFFSET_MS) // DAY_MS)


def start_of(day: date) -> int:
    """Return the first instant of a day in Shanghai."""
    return (day - _EPOCH).days * DAY_MS - _OFFSET_MS


def week_start(ms: int) -> int:
    """Return the first instant of the week an instant belongs to: Monday 00:00 in Shanghai."""
    day = day_of(ms)
    return start_of(day - timedelta(days=day.weekday()))


def season_of(ms: int) -> int:
    """Return the season (赛季) an instant belongs to: the calendar year in Shanghai (§8 D)."""
    number = (ms + _OFFSET_MS) // DAY_MS
    try:
        return _years[number]
    except KeyError:
        return _years.setdefault(number, (_EPOCH + timedelta(days=number)).year)


def season_start(season: int) -> int:
    """Return the first instant of a season; the season ends where the next one starts."""
    return start_of(date(season, 1, 1))


def show_time(ms: int) -> str:
    """Return an instant for people: 2026-11-30 12:08."""
    return to_datetime(ms).strftime("%Y-%m-%d %H:%M")


def show_day(ms: int) -> str:
    """Return the day of an instant for people: 2026-11-30."""
    return day_of(ms).isoformat()
