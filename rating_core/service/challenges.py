"""The forced challenge (强制约战, L9, §9): issue, extend, cancel; what ends it, and whether the penalty is due."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from rating_core.directory import Actor
from rating_core.ledger import (
    ChallengeCancelled,
    ChallengeExtended,
    ChallengeForfeited,
    ChallengeFulfilled,
    ChallengeIssued,
    Draft,
)
from rating_core.report_text import GameLine, Result
from rating_core.rulebook import CHALLENGE_PENALTY
from rating_core.rules import challenge as rules
from rating_core.rules.display import masked_player
from rating_core.rules.eligibility import Bar, bar_of
from rating_core.service.own_case import check_own_case
from rating_core.service.people import Place
from rating_core.service.refusal import Refusal
from rating_core.service.transaction import Tx
from rating_core.state import Challenge, State
from rating_core.store.report_store import Report
from rating_core.times import DAY_MS, day_of, week_start

BOT = Actor("")
"""What happens by the clock is nobody's doing: account 0."""


@dataclass(frozen=True, slots=True)
class Issued:
    """A challenge as issued or as extended by ledger row `seq`; `chat` is where it was issued."""

    challenge: Challenge
    seq: int
    chat: str
    message_id: str


@dataclass(frozen=True, slots=True)
class Ended:
    """A challenge that came to its end, and why.

    forfeited: `amount` points were taken, the opponent has `rating` now; `report` is the one that kept the penalty
    waiting, 0 if none did. cancelled: `bar` arose meanwhile, or a scorekeeper (`by`) did it with a `reason`.
    """

    challenge: Challenge
    chat: str
    message_id: str
    outcome: Literal["forfeited", "cancelled"]
    amount: float = 0.0
    rating: float = 0.0
    report: int = 0
    bar: Bar | None = None
    by: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Open:
    """An open challenge; `waits_for` are the reports that may still fulfil it."""

    challenge: Challenge
    waits_for: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Overview:
    """What is open in a pool, and what one player may still issue this week; `quota` is None where nobody asked."""

    pool: str
    open: tuple[Open, ...]
    quota: int | None
    resets_at: int


# --- a player's or a scorekeeper's doing -------------------------------------------------------------------


async def issue(tx: Tx, actor: Actor, challenger: int, opponent: int, pool: str, place: Place) -> Issued:
    """Issue a challenge; the opponent has 7 × 24 h. Raises Refusal("challenge") with the obstacle and its clause.

    A scorekeeper may do it for a player, but not against himself (§5 D).
    """
    if challenger not in (opponent, actor.player_id):
        check_own_case(tx.directory, actor, {opponent})
    at = place.said_at
    masked = masked_player(tx.directory)
    if (found := rules.obstacle(tx.state, pool, challenger, opponent, at, masked)) is not None:
        raise Refusal("challenge", obstacle=found, challenger=challenger, opponent=opponent, pool=pool)
    actor = await tx.known(actor)
    number, deadline = await tx.counters.take("challenge"), rules.deadline_of(at)
    entry = ChallengeIssued(number, challenger, opponent, deadline)
    row, _ = await tx.append(Draft(entry, at, actor.account_id, pool))
    await tx.challenges.add(number, place.chat, place.message_id, rules.next_reminder(deadline, at))
    if actor.player_id != challenger:
        await tx.journal(
            actor, at, "代发强制约战", about=f"约{number}", player=opponent,
            detail=f"{tx.directory.name_of(challenger)}约{tx.directory.name_of(opponent)}",
        )  # fmt: skip
    return Issued(tx.state.challenges[number].copy(), row.seq, place.chat, place.message_id)


def _open(tx: Tx, actor: Actor, number: int) -> Challenge:
    """Return an open challenge in which the actor does not play. Raises Refusal."""
    challenge = tx.state.challenges.get(number)
    if challenge is None:
        raise Refusal("no_challenge", number=number)
    check_own_case(tx.directory, actor, {challenge.challenger, challenge.opponent})
    if challenge.state != "open":
        raise Refusal("challenge_ended", challenge=challenge)
    return challenge


async def cancel(tx: Tx, actor: Actor, number: int, reason: str, said_at: int) -> Ended:
    """/取消约战: a scorekeeper ends it without penalty, the quota is given back. Raises Refusal."""
    challenge = _open(tx, actor, number)
    actor = await tx.known(actor)
    await tx.journal(actor, said_at, "取消约战", about=f"约{number}", player=challenge.opponent, reason=reason)
    return await _cancel(tx, challenge, said_at, by=actor.account_id, reason=reason)


async def extend(tx: Tx, actor: Actor, number: int, days: int, reason: str, said_at: int) -> Issued:
    """/延期约战: a scorekeeper gives more time, from the old deadline on. Raises Refusal."""
    challenge = _open(tx, actor, number)
    deadline = challenge.deadline + days * DAY_MS
    if deadline <= said_at:
        raise Refusal("extended_too_little", number=number, deadline=deadline)
    actor = await tx.known(actor)
    entry = ChallengeExtended(number, deadline)
    row, _ = await tx.append(Draft(entry, said_at, actor.account_id, challenge.pool, reason=reason))
    await tx.challenges.set_reminder(number, rules.next_reminder(deadline, said_at))
    await tx.journal(
        actor, said_at, "延期约战", about=f"约{number}", player=challenge.opponent, detail=f"账{row.seq} {days}天",
        reason=reason,
    )  # fmt: skip
    return Issued(tx.state.challenges[number].copy(), row.seq, *await tx.challenges.place(number))


async def overview(tx: Tx, pool: str, player: int | None, at: int) -> Overview:
    """/约战: what is open in a pool, and the quota of the player who asks."""
    found = sorted((c for c in tx.state.challenges.values() if c.state == "open" and c.pool == pool), key=_by_deadline)
    rows = [Open(c.copy(), tuple(r.report_id for r in await _waiting(tx, c))) for c in found]
    start = week_start(at)
    quota = None if player is None else rules.quota_left(tx.state, pool, player, at)
    return Overview(pool, tuple(rows), quota, start + 7 * DAY_MS)


def _by_deadline(challenge: Challenge) -> tuple[int, int]:
    return challenge.deadline, challenge.number


# --- what a report does to it -------------------------------------------------------------------------------


async def fulfil(tx: Tx, report: Report, by: int, said_at: int) -> tuple[tuple[int, int], ...]:
    """Enter which challenges a report fulfils that takes effect at `said_at`; return their numbers and ledger rows.

    A report that was posted in time but came to the bot after the forfeit is put on the desk's list.
    """
    fulfilled: list[tuple[int, int]] = []
    for challenge in list(tx.state.challenges.values()):
        if not rules.fulfils(challenge, report.pool, report.lines, report.said_at):
            continue
        if challenge.state == "open":
            entry = ChallengeFulfilled(challenge.number, report.report_id)
            row, _ = await tx.append(Draft(entry, said_at, by, report.pool))
            await tx.challenges.set_reminder(challenge.number, None)
            await tx.journal(
                Actor("", by), said_at, "应战", about=f"约{challenge.number}", player=challenge.opponent,
                detail=f"账{row.seq} #{report.report_id}",
            )  # fmt: skip
            fulfilled.append((challenge.number, row.seq))
        elif challenge.state == "forfeited":
            await tx.desk.add_docket("late_game", f"约{challenge.number}", f"#{report.report_id}", said_at)
    return tuple(fulfilled)


async def after_report(tx: Tx, report: Report, said_at: int) -> tuple[Ended, ...]:
    """Judge the overdue challenges whose penalty a report kept waiting, now that it ended void or withdrawn."""
    ended: list[Ended] = []
    for challenge in list(tx.state.challenges.values()):
        kept = challenge.state == "open" and challenge.deadline <= said_at
        if kept and rules.fulfils(challenge, report.pool, report.lines, report.said_at):
            end = await judge(tx, challenge.number, said_at, report.report_id)
            ended += [end] if end is not None else []
    return tuple(ended)


async def _waiting(tx: Tx, challenge: Challenge) -> Sequence[Report]:
    """Return the reports that wait or are disputed and would fulfil a challenge."""
    game = [GameLine((challenge.challenger,), Result.WIN, (challenge.opponent,))]
    found = await tx.reports.open_of_pair(challenge.pool, game)
    return [r for r in found if rules.fulfils(challenge, r.pool, r.lines, r.said_at)]


async def is_waited_for(tx: Tx, number: int) -> bool:
    """Return whether a report of the two waits that may still fulfil the challenge."""
    return bool(await _waiting(tx, tx.state.challenges[number]))


# --- the end -------------------------------------------------------------------------------------------------


async def judge(tx: Tx, number: int, at: int, report: int = 0) -> Ended | None:
    """End a challenge at or after its deadline; None while a report keeps the penalty waiting, or if it has ended.

    A bar of either player (L7, L8, L11) that arose before the deadline cancels it, however late this is; else the
    opponent forfeits. The entry is made at `at`.
    """
    challenge = tx.state.challenges[number]
    if challenge.state != "open" or await _waiting(tx, challenge):
        return None
    tx.read_own()
    then = await asyncio.to_thread(tx.book.as_of, challenge.deadline)
    if (bar := next(_bars(then.state, challenge, challenge.deadline - 1), None)) is not None:
        return await _cancel(tx, challenge, at, bar=bar)
    amount = CHALLENGE_PENALTY.on(day_of(challenge.deadline))
    entry = ChallengeForfeited(number, challenge.opponent, amount)
    await tx.append(Draft(entry, at, BOT.account_id, challenge.pool))
    await tx.challenges.set_reminder(number, None)
    await tx.journal(BOT, at, "约战扣分", about=f"约{number}", player=challenge.opponent, detail=f"{-amount:g}")
    rating = tx.state.look(challenge.pool, challenge.opponent).rating
    place = await tx.challenges.place(number)
    ended = tx.state.challenges[number].copy()
    return Ended(ended, *place, "forfeited", amount=amount, rating=rating, report=report)


async def cancel_barred(tx: Tx, at: int, only: int | None = None) -> list[Ended]:
    """Cancel every open challenge (or one) of which a player may not play any more by L7 or L8 at `at` (§9).

    To be called after a settlement or a leave was entered. L11 is looked at when the deadline comes: an IP check can
    be made until then. A bar that arises after the deadline, while a report keeps the penalty waiting, changes nothing.
    """
    ended: list[Ended] = []
    for challenge in list(tx.state.challenges.values()):
        if challenge.state != "open" or challenge.deadline <= at or only not in (None, challenge.number):
            continue
        bar = next((bar for bar in _bars(tx.state, challenge, at) if bar.clause != "L11"), None)
        if bar is not None:
            ended.append(await _cancel(tx, challenge, at, bar=bar))
    return ended


async def cancel_all_of(tx: Tx, player: int, at: int, *, by: int, reason: str) -> list[Ended]:
    """Cancel every open challenge of a player without penalty."""
    found = [c for c in tx.state.challenges.values() if c.state == "open" and player in (c.challenger, c.opponent)]
    return [await _cancel(tx, challenge, at, by=by, reason=reason) for challenge in found]


def can_be_played(tx: Tx, challenge: Challenge, at: int) -> bool:
    """Return whether both may play now."""
    return next(_bars(tx.state, challenge, at), None) is None


def _bars(state: State, challenge: Challenge, at: int) -> Iterator[Bar]:
    """Yield what keeps the opponent and the challenger from playing."""
    for player in (challenge.opponent, challenge.challenger):
        if (bar := bar_of(state, challenge.pool, player, at)) is not None:
            yield bar


async def _cancel(
    tx: Tx, challenge: Challenge, at: int, *, bar: Bar | None = None, by: int = 0, reason: str = ""
) -> Ended:
    await tx.append(Draft(ChallengeCancelled(challenge.number), at, by, challenge.pool, reason=reason))
    await tx.challenges.set_reminder(challenge.number, None)
    place = await tx.challenges.place(challenge.number)
    ended = tx.state.challenges[challenge.number].copy()
    return Ended(ended, *place, "cancelled", bar=bar, by=by, reason=reason)
