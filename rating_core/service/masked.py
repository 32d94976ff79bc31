"""蒙面人公用号 (§7 D; L4, L13): a public account of the league that one person at a time plays under.

Who holds it is kept beside his roster name and told to nobody. In private he speaks as 蒙面人公用号, in a group he is
only who he is by his roster name.
"""

from dataclasses import dataclass, replace

from rating_core.directory import Account, Actor, Directory
from rating_core.ledger import Draft, IpChecked, PlayerRegistered
from rating_core.rulebook import MASKED_INITIAL, MASKED_NAME
from rating_core.service.people import Place
from rating_core.service.refusal import Refusal
from rating_core.service.transaction import Tx
from rating_core.store.people_store import MASKED, Application
from rating_core.store.report_store import Report


@dataclass(frozen=True, slots=True)
class Taken:
    """蒙面人公用号 was taken back from an account; `waiting` are the reports that nobody can confirm for it now."""

    account: Account
    waiting: tuple[int, ...]


# --- who holds it -------------------------------------------------------------------------------------------


async def apply_for(tx: Tx, actor: Actor, place: Place) -> Application:
    """/蒙面人 申请: ask the superusers for 蒙面人公用号. Raises Refusal."""
    actor = await tx.known(actor)
    if tx.directory.holder is not None and tx.directory.holder.account_id == actor.account_id:
        raise Refusal("masked_yours")
    if (earlier := await _waiting(tx, actor.account_id)) is not None:
        raise Refusal("masked_applied", number=earlier.application_id)
    application = Application(
        await tx.counters.take("application"), MASKED, actor.account_id, MASKED_NAME, None, "", place.chat,
        place.message_id, place.said_at,
    )  # fmt: skip
    await tx.people.add_application(application)
    return application


async def _waiting(tx: Tx, account_id: int) -> Application | None:
    waiting = await tx.people.waiting_applications()
    return next((a for a in waiting if a.kind == MASKED and a.account_id == account_id), None)


async def approve(tx: Tx, actor: Actor, qq: str, said_at: int) -> Application | None:
    """/蒙面人 批准: give it to a QQ, which counts as IP check (§7). Return his application, if he made one.

    Its rating survives a new holder; the first time it is registered with its 原始分 (L4). Raises Refusal.
    """
    account = await tx.account(qq)
    if (holder := tx.directory.holder) is not None:
        raise Refusal("masked_holds_it" if holder.account_id == account.account_id else "masked_held", qq=qq)
    actor = await tx.known(actor)
    player = await _player(tx, actor, said_at)
    if player not in tx.trial.state.ip_checked:
        await tx.append(Draft(IpChecked(player, True), said_at, actor.account_id))
    await tx.hand_out_masked(account, said_at, by=actor.account_id)
    application = await _waiting(tx, account.account_id)
    if application is not None:
        await tx.people.decide_application(application.application_id, "approved", actor.account_id, said_at)
    await tx.journal(actor, said_at, "批准使用", player=player)
    return application


async def _player(tx: Tx, actor: Actor, said_at: int) -> int:
    """Return the player who is 蒙面人公用号, registered where there is none."""
    if (known := tx.directory.masked) is not None:
        return known
    player = await tx.counters.take("player")
    await tx.append(Draft(PlayerRegistered(player, MASKED_INITIAL, MASKED_NAME), said_at, actor.account_id))
    await tx.name_player(player, MASKED_NAME)
    return player


async def take_back(tx: Tx, actor: Actor, said_at: int) -> Taken:
    """/蒙面人 收回: nobody holds it any more; its games stay. Raises Refusal."""
    holder = tx.directory.holder
    if holder is None:
        raise Refusal("masked_free")
    actor = await tx.known(actor)
    await tx.take_back_masked(said_at)
    await tx.journal(actor, said_at, "收回", player=tx.directory.masked)
    waiting = [r.report_id for r in await tx.reports.open_ones() if _waits_for_it(tx.directory, r)]
    return Taken(tx.directory.by_id[holder.account_id], tuple(waiting))


def _waits_for_it(directory: Directory, report: Report) -> bool:
    return report.state == "waiting" and report.player_id is not None and report.sides()[1] == (directory.masked,)


# --- what he may say ----------------------------------------------------------------------------------------


def speaker(directory: Directory, actor: Actor) -> Actor | None:
    """Return 蒙面人公用号, as which its holder speaks in private, without rights; None for everybody else."""
    holder = directory.holder
    if holder is None or holder.account_id != actor.account_id:
        return None
    return replace(actor, player_id=directory.masked, roles=frozenset())


def cannot_answer(directory: Directory, actor: Actor, report: Report) -> str:
    """Return why a player of the other side may not answer a report for a reason of 蒙面人公用号, "" if there is none.

    own_game: he holds it and would confirm to himself; only the desk can decide that (§7 D). held_later: he speaks as
    蒙面人公用号 but did not hold it when the games were played.
    """
    if directory.is_own_game(report.players, report.said_at):
        return "own_game"
    if actor.player_id != directory.masked:
        return ""
    held = directory.is_masked_in(actor.account_id, report.players, report.said_at)
    return "" if held else "held_later"


def to_desk(report: Report, at: int) -> Report:
    """Return a report that only the desk can decide, as one that is disputed without a reason."""
    return replace(report, state="disputed", decided_at=at, remind_at=None, expire_at=None)


def party(directory: Directory, report: Report) -> Account | None:
    """Return who is told in private of a report with 蒙面人公用号: who posted it as such, else who held it then."""
    if directory.masked is None or directory.masked not in report.players:
        return None
    if report.player_id == directory.masked:
        return directory.by_id.get(report.account_id)
    return directory.holder_at(report.said_at)
