"""L9: the forced challenge (强制约战): who may issue one against whom, what fulfils it, when it is reminded of (§9)."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from rating_core.report_text import GameLine
from rating_core.rulebook import CHALLENGE_HOURS, CHALLENGE_REMINDERS, CHALLENGES_PER_WEEK
from rating_core.rules import farming
from rating_core.rules.eligibility import Bar, bar_of
from rating_core.state import Challenge, State, pair_code
from rating_core.times import DAY_MS, HOUR_MS, day_of, season_of, week_start

Why = Literal["side_size", "self", "masked", "challenger_barred", "barred", "archived", "open", "quota", "locked"]


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why a forced challenge is refused.

    side_size: not a pool of single players (§9); masked: 蒙面人公用号 (L13); challenger_barred, barred: `bar` keeps the
    challenger or the opponent from playing (L7, L8, L11); archived: the opponent is on the archive list (L7, L8);
    open: the two have 约`number` open; quota: 约`number` was this week's, the next may be issued at `until` (ms, L9);
    locked: what each still owes before casual games of the pair count (L6).
    """

    why: Why
    bar: Bar | None = None
    number: int = 0
    until: int = 0
    owed: dict[int, int] = field(default_factory=dict)


def deadline_of(issued_at: int) -> int:
    """Return the instant from which it is too late (ms)."""
    return issued_at + CHALLENGE_HOURS.on(day_of(issued_at)) * HOUR_MS


def next_reminder(deadline: int, after: int) -> int | None:
    """Return when the first reminder after an instant is due (ms); None when there is none any more."""
    return min((at for hours in CHALLENGE_REMINDERS if (at := deadline - hours * HOUR_MS) > after), default=None)


def of_week(state: State, pool: str, challenger: int, at: int) -> list[Challenge]:
    """Return what a player issued in a pool in the week of `at`; a cancelled one gives the quota back (L9)."""
    start = week_start(at)
    return [
        c
        for c in state.challenges.values()
        if (c.pool, c.challenger) == (pool, challenger)
        and c.state != "cancelled"
        and start <= c.issued_at < start + 7 * DAY_MS
    ]


def quota_left(state: State, pool: str, challenger: int, at: int) -> int:
    """Return how many forced challenges a player may still issue in a pool in the week of `at`."""
    return max(0, CHALLENGES_PER_WEEK.on(day_of(at)) - len(of_week(state, pool, challenger, at)))


def debts(state: State, pool: str, first: int, second: int, at: int) -> dict[int, int]:
    """Return what two players still owe while their pair is locked at `at` (L6); empty when it is not."""
    owed = farming.owed(state.pools[pool], pair_code((first,), (second,)), season_of(at), at)
    return owed if any(owed.values()) else {}


def obstacle(
    state: State, pool: str, challenger: int, opponent: int, at: int, masked: int | None = None
) -> Obstacle | None:
    """Return what forbids a forced challenge at `at` (ms), None if it is allowed. `masked` is 蒙面人公用号."""
    if state.pools[pool].pool.side_size != 1:
        return Obstacle("side_size")
    if challenger == opponent:
        return Obstacle("self")
    if masked in (challenger, opponent):
        return Obstacle("masked")
    if (bar := bar_of(state, pool, challenger, at)) is not None:
        return Obstacle("challenger_barred", bar)
    if (bar := bar_of(state, pool, opponent, at)) is not None:
        return Obstacle("barred", bar)
    if state.look(pool, opponent).archived:
        return Obstacle("archived")
    pair = {challenger, opponent}
    for challenge in state.challenges.values():
        if challenge.state == "open" and challenge.pool == pool and {challenge.challenger, challenge.opponent} == pair:
            return Obstacle("open", number=challenge.number, until=challenge.deadline)
    if owed := debts(state, pool, challenger, opponent, at):
        return Obstacle("locked", owed=owed)
    if not quota_left(state, pool, challenger, at):
        used = of_week(state, pool, challenger, at)
        return Obstacle("quota", number=used[-1].number, until=week_start(at) + 7 * DAY_MS)
    return None


def fulfils(challenge: Challenge, pool: str, lines: Iterable[GameLine], posted_at: int) -> bool:
    """Return whether a report posted at `posted_at` (ms) holds a game of the two, after issue and in time.

    Whether it counts, and who stands left, does not matter; when it takes effect does not either (§9).
    """
    pair = {challenge.challenger, challenge.opponent}
    in_time = challenge.issued_at <= posted_at < challenge.deadline
    return in_time and pool == challenge.pool and any(set(line.players) == pair for line in lines)
