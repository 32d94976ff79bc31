"""Time travel: the sandbox's clock goes forward, and what is due meanwhile happens at its own time, in its order."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

from plugins.rating_bot import jobs
from plugins.rating_bot.clock import ShiftedClock
from plugins.rating_bot.jobs import DIGEST_HOUR
from plugins.rating_bot.wiring import Parts
from rating_core.rulebook import QUIET_UNTIL
from rating_core.service.due import is_quiet
from rating_core.service.league import League
from rating_core.store.challenge_store import ChallengeStore
from rating_core.store.ledger_store import LedgerStore
from rating_core.store.report_store import ReportStore
from rating_core.times import DAY_MS, HOUR_MS, SHANGHAI, day_of, season_of, season_start, start_of, to_datetime, to_ms

STEPS = {"hour": HOUR_MS, "day": DAY_MS, "week": 7 * DAY_MS}
TURNS = {"leave": (12, 28, 23, 50), "new-year": (1, 1, 0, 10), "february": (2, 1, 0, 10)}
"""Where seasons turn: the last minutes in which leave may be taken (L8), settlement (L7), the end of its bar."""
LAST_YEAR = 2099
"""The clock is not put beyond its end."""
FARTHEST_DAYS = 400
"""How far one journey goes; every day of it takes the bot a moment."""
DIGEST_DAYS = 7
"""Of a long journey only the last days' digests are said: what waits would be told every day."""
SENDING_SECONDS = 30


def target(where: str, now: int) -> int:
    """Return where a button or a date (2027-01-01T12:00, in Shanghai) leads from `now` (ms).

    Raises ValueError with the reason in Chinese.
    """
    year = to_datetime(now).year
    if where in STEPS:
        to = now + STEPS[where]
    elif where in TURNS:
        turns = (to_ms(datetime(y, *TURNS[where], tzinfo=SHANGHAI)) for y in (year, year + 1))
        to = next(at for at in turns if at > now)
    else:
        try:
            to = to_ms(datetime.fromisoformat(where).replace(tzinfo=SHANGHAI))
        except (ValueError, OverflowError):
            raise ValueError("看不懂这个时间") from None
    if to <= now:
        raise ValueError("时间只能往后走；要回到现在请点「重置」")
    if to > now + FARTHEST_DAYS * DAY_MS or to_datetime(to).year > LAST_YEAR:
        raise ValueError(f"一次最多往后{FARTHEST_DAYS}天，最远到{LAST_YEAR}年")
    return to


async def travel(
    parts: Parts, clock: ShiftedClock, to: int, passed: Callable[[], Awaitable[object]] | None = None
) -> None:
    """Go forward to `to` (ms), stopping wherever something is due; what the bot says is out before the next stop.

    `passed` is called at each stop. Raises TimeoutError where the bot's messages do not go out.
    """
    while (now := clock.now()) < to:
        digest = _next(DIGEST_HOUR, now)
        stops = [digest, *await _due(parts.runtime.league, to)]
        stop = min((at for at in stops if now < at < to), default=to)
        clock.put_forward(stop)
        await parts.tick()
        if stop == digest and to - stop < DIGEST_DAYS * DAY_MS:
            await jobs.digest(parts.runtime, parts.sender)
        async with asyncio.timeout(SENDING_SECONDS):
            await parts.sender.idle()
        if passed is not None:
            await passed()


async def _due(league: League, to: int) -> list[int]:
    """Return when ticks find something that is due before `to`."""
    deadlines = []
    for challenge in league.book.state.challenges.values():
        if challenge.state == "open":
            deadlines += [challenge.deadline, season_start(season_of(challenge.issued_at) + 1)]
    async with league.database.read() as connection:
        reports = ReportStore(connection)
        due = [report.remind_at for report in await reports.reminders_due(to)]
        due += [report.expire_at for report in await reports.expiries_due(to)]
        due += [at for at, _ in await ChallengeStore(connection).reminders_due(to)]
    by_day = [_next(QUIET_UNTIL, at) if is_quiet(at) else at for at in due if at is not None]
    return [at + jobs.ON_THE_WAY_MS for at in (*deadlines, *by_day)]


def _next(hour: int, after: int) -> int:
    """Return when it is next so late in Shanghai."""
    today = start_of(day_of(after)) + hour * HOUR_MS
    return today if today > after else start_of(day_of(after) + timedelta(days=1)) + hour * HOUR_MS


async def latest(league: League) -> int:
    """Return the time (ms) of the last thing a book tells of; 0 for an empty one."""
    async with league.database.read() as connection:
        row = await LedgerStore(connection).row(league.book.seq)
        said = [report.said_at for report in await ReportStore(connection).open_ones()]
    return max([0 if row is None else row.at, *said])
