"""Leave (请假, L8): taken by the player himself or granted by a scorekeeper; and 销假, which undoes a mistake."""

from dataclasses import dataclass

from rating_core.directory import Actor
from rating_core.ledger import Draft, LeaveTaken, Void
from rating_core.rules import season as rules
from rating_core.rules.season import LeavePools
from rating_core.service import challenges
from rating_core.service.challenges import Ended
from rating_core.service.own_case import check_own_case
from rating_core.service.refusal import Refusal
from rating_core.service.transaction import Tx
from rating_core.times import season_of, season_start


@dataclass(frozen=True, slots=True)
class Leave:
    """What a leave means: until when (ms), in which pools, and which open challenges of his own it ends."""

    player: int
    until: int
    pools: LeavePools
    issued: tuple[int, ...] = ()
    """Forced challenges he issued himself: they end without penalty."""


@dataclass(frozen=True, slots=True)
class Taken:
    """A leave that was entered as ledger row `seq`, and the forced challenges it ended without penalty."""

    leave: Leave
    seq: int
    ended: tuple[Ended, ...]


@dataclass(frozen=True, slots=True)
class Entered:
    """A leave in force: ledger row, when and by which account it was entered, and where it archived."""

    player: int
    until: int
    seq: int
    entered_at: int
    by: int
    pools: tuple[str, ...]


def look(tx: Tx, player: int, at: int, *, granted: bool) -> Leave:
    """Return what a leave from `at` (ms) on would mean. Raises Refusal with the clause.

    granted: a scorekeeper enters it; a forced challenge against the player then does not stand in the way (§8).
    """
    state, season, name = tx.state, season_of(at), tx.directory.name_of(player)
    if rules.is_masked(state, player):
        raise Refusal("leave_masked", name=name)
    if (until := state.leave_until.get(player, 0)) > at:
        raise Refusal("leave_already", name=name, until=until)
    if at >= (closes := rules.leave_closes(season)):
        raise Refusal("leave_closed", since=closes)
    pools = rules.leave_pools(state, player, season)
    if not pools.archived:
        code = "leave_enough" if pools.listed else "leave_archived" if pools.before else "leave_nowhere"
        raise Refusal(code, name=name, pools=pools, needed=rules.games_needed(season))
    running = [c for c in state.challenges.values() if c.state == "open"]
    against = [c.number for c in running if c.opponent == player]
    if against and not granted:
        raise Refusal("leave_challenged", name=name, numbers=against)
    issued = tuple(c.number for c in running if c.challenger == player and at < c.deadline)
    return Leave(player, season_start(season + 1), pools, issued)


async def take(tx: Tx, actor: Actor, leave: Leave, reason: str, said_at: int) -> Taken:
    """Enter a leave that `look` allowed: archive without deduction, end his open forced challenges without penalty."""
    actor = await tx.known(actor)
    pools = tuple(name for name, _ in leave.pools.archived)
    entry = LeaveTaken(leave.player, leave.until, pools)
    row, _ = await tx.append(Draft(entry, said_at, actor.account_id, reason=reason))
    ended = await challenges.cancel_barred(tx, said_at)
    detail = f"账{row.seq} {'、'.join(pools)}"
    await tx.journal(actor, said_at, "请假", player=leave.player, detail=detail, reason=reason)
    return Taken(leave, row.seq, tuple(ended))


async def grant(tx: Tx, actor: Actor, player: int, reason: str, said_at: int) -> Taken:
    """/请假 给: a scorekeeper enters a leave for somebody else, at once. Raises Refusal."""
    check_own_case(tx.directory, actor, {player})
    return await take(tx, actor, look(tx, player, said_at, granted=True), reason, said_at)


async def in_force(tx: Tx, actor: Actor, player: int, at: int) -> Entered:
    """Return the leave of another player that is in force at `at` (ms). Raises Refusal."""
    check_own_case(tx.directory, actor, {player})
    until = tx.state.leave_until.get(player, 0)
    if until <= at:
        raise Refusal("not_on_leave", name=tx.directory.name_of(player))
    seq = tx.state.leaves[player, until]
    row = await tx.ledger.row(seq)
    assert row is not None
    entry = row.entry()
    assert isinstance(entry, LeaveTaken)
    return Entered(player, until, seq, row.said_at, row.actor, entry.pools)


async def undo(tx: Tx, actor: Actor, leave: Entered, reason: str, said_at: int) -> None:
    """/销假: a leave entered by mistake is treated as never made (§10)."""
    actor = await tx.known(actor)
    await tx.append(Draft(Void(), said_at, actor.account_id, refers_to=leave.seq, reason=reason))
    await tx.journal(actor, said_at, "销假", about=f"账{leave.seq}", player=leave.player, reason=reason)
