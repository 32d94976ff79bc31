"""What is due by the clock, in the order of its own time (design.md, "Time").

Before anything said at t is handled, every deadline at or before t is entered, each with its own time; reminders are
sent by the tick alone. After downtime the same runs between the messages read from history, so that a deadline that
passed meanwhile stands in the ledger where it belongs.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from rating_core.rulebook import QUIET_FROM, QUIET_UNTIL
from rating_core.rules import challenge as rules
from rating_core.service import challenges
from rating_core.service.challenges import Ended
from rating_core.service.transaction import Tx
from rating_core.state import Challenge, State
from rating_core.store.report_store import Report
from rating_core.times import season_of, season_start, to_datetime


@dataclass(frozen=True, slots=True)
class Remind:
    """A report still waits for the other side after 24 h (§5)."""

    report: Report


@dataclass(frozen=True, slots=True)
class Expired:
    """Nobody confirmed a report in time: it is on the desk's list, the opponent can still confirm (§5)."""

    report: Report


@dataclass(frozen=True, slots=True)
class ChallengeReminder:
    """A forced challenge is to be played within 72 h or 24 h (§9)."""

    challenge: Challenge
    chat: str
    message_id: str


Happening = Remind | Expired | ChallengeReminder | Ended
_Act = Callable[[], Awaitable[Sequence[Happening]]]
_Item = tuple[int, int, _Act]
"""(when due in ms, number of the thing, what to do)."""


def is_quiet(at: int) -> bool:
    """Return whether no reminder is sent at this hour (commands.md, "Quiet by design")."""
    return not QUIET_UNTIL <= to_datetime(at).hour < QUIET_FROM


async def run(tx: Tx, until: int, *, reminders: bool = False) -> list[Happening]:
    """Do everything due at or before `until` (ms), in order of its time; return what happened.

    Deadlines are entered at their own time. With `reminders` what is to be said by day is done as well: reminders,
    and moving unconfirmed reports to the desk's list. Costs no query while nothing is due and `reminders` is False.
    """
    items = _deadlines(tx, until)
    if reminders and not is_quiet(until):
        items += await _reports(tx, until) + await _challenge_reminders(tx, until)
    happened: list[Happening] = []
    for _, _, act in sorted(items, key=lambda item: item[:2]):
        happened += await act()
    tx.read_own()
    return happened


# --- forced challenges (§9) ----------------------------------------------------------------------------------


def _deadlines(tx: Tx, until: int) -> list[_Item]:
    """What becomes of open challenges: at the turn of a season (the bar from 01-01, §8 D) and at the deadline."""
    items: list[_Item] = []
    for challenge in _open(tx.state):
        turn = season_start(season_of(challenge.issued_at) + 1)
        if turn <= until and turn < challenge.deadline:
            items.append((turn, challenge.number, partial(_bar_from, tx, turn, challenge.number, until)))
        if challenge.deadline <= until:
            items.append((challenge.deadline, challenge.number, partial(_judge, tx, challenge)))
    return items


def _open(state: State) -> list[Challenge]:
    return [challenge for challenge in state.challenges.values() if challenge.state == "open"]


async def _bar_from(tx: Tx, turn: int, number: int, until: int) -> Sequence[Happening]:
    """The bar from 01-01 on; not looked at any more once the deadline is over and only a report keeps it waiting."""
    if tx.state.challenges[number].deadline <= until and await challenges.is_waited_for(tx, number):
        return []
    return await challenges.cancel_barred(tx, turn, number)


async def _judge(tx: Tx, challenge: Challenge) -> Sequence[Happening]:
    ended = await challenges.judge(tx, challenge.number, challenge.deadline)
    return [] if ended is None else [ended]


async def _challenge_reminders(tx: Tx, until: int) -> list[_Item]:
    due = await tx.challenges.reminders_due(until)
    return [(at, number, partial(_remind_of_challenge, tx, number, until)) for at, number in due]


async def _remind_of_challenge(tx: Tx, number: int, until: int) -> Sequence[Happening]:
    """One reminder for all that came due; none when it is over, cannot be played or only waits for a 确认."""
    challenge = tx.state.challenges[number]
    await tx.challenges.set_reminder(number, rules.next_reminder(challenge.deadline, until))
    if challenge.state != "open" or challenge.deadline <= until or not challenges.can_be_played(tx, challenge, until):
        return []
    if await challenges.is_waited_for(tx, number):
        return []
    return [ChallengeReminder(challenge.copy(), *await tx.challenges.place(number))]


# --- reports (§5) --------------------------------------------------------------------------------------------


async def _reports(tx: Tx, until: int) -> list[_Item]:
    """The one reminder of a report, unless its time is over as well; and the end of that time."""
    over = await tx.reports.expiries_due(until)
    late = {report.report_id for report in over}
    items: list[_Item] = [(r.expire_at or until, r.report_id, partial(_expire, tx, r)) for r in over]
    waiting = await tx.reports.reminders_due(until)
    items += [(r.remind_at or until, r.report_id, partial(_remind, tx, r)) for r in waiting if r.report_id not in late]
    return items


async def _remind(tx: Tx, report: Report) -> Sequence[Happening]:
    await tx.reports.save(replace(report, remind_at=None))
    return [Remind(report)]


async def _expire(tx: Tx, report: Report) -> Sequence[Happening]:
    await tx.reports.save(replace(report, state="expired", remind_at=None, expire_at=None))
    return [Expired(report)]
