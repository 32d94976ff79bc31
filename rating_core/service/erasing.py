"""注销: a player is forgotten when he asked for it and a scorekeeper agreed.

What the ledger holds of him are numbers, and they stay: nobody else's rating changes. What can be erased goes, and
everywhere else 已注销N stands in the place of his name. Who comes back later is a new player.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from rating_core.directory import Account, Actor
from rating_core.ledger import Row
from rating_core.names import erased_label
from rating_core.retention import expiry
from rating_core.scrubbing import Scrubber
from rating_core.service import challenges
from rating_core.service.challenges import Ended
from rating_core.service.people import Place
from rating_core.service.refusal import Refusal
from rating_core.service.transaction import Tx
from rating_core.store.forgetting import Person
from rating_core.store.people_store import ERASE, ERASE_FOR, ERASING, Application
from rating_core.store.report_store import Report
from rating_core.times import day_of

REASON = "注销"


@dataclass(frozen=True, slots=True)
class Subject:
    """Who is to be forgotten, and what of his is still open."""

    player: int | None
    accounts: tuple[Account, ...]
    name: str
    label: str
    """What will stand in the place of his name."""
    reports: tuple[int, ...]
    challenges: tuple[int, ...]
    roles: bool
    backups_until: date | None
    """When the last backup with him is dropped; None where the bot makes none (PostgreSQL)."""


@dataclass(frozen=True, slots=True)
class Erased:
    """A person was forgotten. `asked` is where he (or the desk for him) asked."""

    subject: Subject
    asked: Place
    ended: tuple[Ended, ...]
    closed: Mapping[str, Sequence[int]]
    """Chat → the reports posted there that waited and are void now."""
    refused: tuple[Application, ...]
    """What others waited for with his name: it cannot be had any more. They bear the label."""
    masked_free: bool
    """He held 蒙面人公用号, which is free now. For the superusers alone."""


# --- asking -------------------------------------------------------------------------------------------------


async def look(tx: Tx, actor: Actor, at: int) -> Subject:
    """Return what /注销 would mean for the speaker. Raises Refusal."""
    if actor.superuser:
        raise Refusal("erase_superuser")
    if not actor.account_id:
        raise Refusal("erase_nothing")
    return await _free_subject(tx, tx.directory.by_id[actor.account_id], actor.player_id, at)


async def look_for(tx: Tx, actor: Actor, player: int, at: int) -> Subject:
    """Return what it would mean for a player without a QQ, for whom a scorekeeper asks. Raises Refusal."""
    if player == tx.directory.masked:
        raise Refusal("masked_fixed")
    if tx.directory.by_player.get(player):
        raise Refusal("erase_himself", name=tx.directory.name_of(player))
    return await _free_subject(tx, None, player, at)


async def _free_subject(tx: Tx, account: Account | None, player: int | None, at: int) -> Subject:
    for waiting in await tx.people.waiting_applications():
        his = account is not None and waiting.account_id == account.account_id and waiting.player_id == player
        if waiting.kind in ERASING and (his or (player is not None and waiting.player_id == player)):
            raise Refusal("erase_applied", number=waiting.application_id)
    return await _subject(tx, account, player, at)


async def _subject(tx: Tx, account: Account | None, player: int | None, at: int) -> Subject:
    directory = tx.directory
    bound = () if player is None else directory.by_player.get(player, ())
    accounts = {account_id: directory.by_id[account_id] for account_id in sorted(bound)}
    if account is not None:
        accounts[account.account_id] = account
    for former in await _former_accounts(tx, player):
        accounts.setdefault(former.account_id, former)
    if player is None:
        assert account is not None
        name, label = directory.account_name(account.account_id), f"账号{account.account_id}"
    else:
        name, label = directory.name_of(player), erased_label(player)
    running = [c for c in tx.state.challenges.values() if c.state == "open"]
    return Subject(
        player, tuple(accounts.values()), name, label,
        tuple(r.report_id for r in await _open_reports(tx, player)),
        tuple(c.number for c in running if player in (c.challenger, c.opponent)),
        any(directory.roles.get(account_id) for account_id in accounts),
        expiry(day_of(at)) if tx.league.database.is_sqlite else None,
    )  # fmt: skip


async def _former_accounts(tx: Tx, player: int | None) -> list[Account]:
    """Return the QQs that were bound to a player before and are nobody's now: nothing else is known of them."""
    directory = tx.directory
    former = {past.account_id for past in directory.past_bindings if past.player_id == player}
    busy = {application.account_id for application in await tx.people.waiting_applications()}
    busy |= {holding.account_id for holding in directory.holdings} | set(directory.roles)
    found = [directory.by_id[account_id] for account_id in sorted(former - busy) if account_id in directory.by_id]
    return [account for account in found if account.player_id is None and account.qq not in tx.league.superusers]


async def _open_reports(tx: Tx, player: int | None) -> list[Report]:
    return [report for report in await tx.reports.open_ones() if player in report.players]


async def apply_for(tx: Tx, actor: Actor, subject: Subject, reason: str, place: Place) -> Application:
    """Ask the scorekeepers to forget somebody; `reason` where a scorekeeper asks for him, "" where he does himself."""
    actor = await tx.known(actor)
    number, kind = await tx.counters.take("application"), ERASE_FOR if reason else ERASE
    application = Application(
        number, kind, actor.account_id, subject.name, subject.player, "", place.chat, place.message_id, place.said_at
    )
    await tx.people.add_application(application)
    await tx.journal(actor, place.said_at, "申请注销", about=f"审{number}", player=subject.player, reason=reason)
    return application


# --- doing --------------------------------------------------------------------------------------------------


async def erase(tx: Tx, actor: Actor, number: int, said_at: int, mark: tuple[str, str]) -> Erased:
    """/通过 of an application to be forgotten. `mark`: the characters around a mention in stored texts. Raises Refusal.

    Nobody approves his own, whatever he is, nor that of somebody with whom he has something open (§5 D).
    """
    application = await tx.people.application(number)
    assert application is not None and application.kind in ERASING
    subject = await _asked_for(tx, application, said_at)
    await _check_own_case(tx, actor, application, subject)
    actor = await tx.known(actor)
    closed: dict[str, list[int]] = {}
    for report in await _open_reports(tx, subject.player):
        closed.setdefault(report.chat, []).append(report.report_id)
    ended = await _end_what_is_open(tx, actor, subject, said_at)
    others = [a for a in await tx.people.waiting_applications() if _concerns(a, subject) and a != application]
    for other in others:
        await tx.people.decide_application(other.application_id, "refused", actor.account_id, said_at)
    await tx.people.decide_application(number, "approved", actor.account_id, said_at)
    holder, mine = tx.directory.holder, {account.account_id for account in subject.accounts}
    masked_free = holder is not None and holder.account_id in mine
    await _forget(tx, subject, mark)
    await tx.journal(actor, said_at, REASON, about=f"审{number}", player=subject.player)
    asked = Place(application.chat, application.message_id, application.said_at)
    refused = [replace(other, name=subject.label) for other in others if other.account_id not in mine]
    return Erased(subject, asked, tuple(ended), closed, tuple(refused), masked_free)


async def _asked_for(tx: Tx, application: Application, at: int) -> Subject:
    """Return who is to be forgotten, if that is still who was meant. Raises Refusal."""
    player = application.player_id
    if application.kind == ERASE:
        account = tx.directory.by_id[application.account_id]
        changed = account.player_id != player
    else:
        account, changed = None, bool(player is not None and tx.directory.by_player.get(player))
    if changed:
        raise Refusal("erase_changed", number=application.application_id, name=application.name)
    return await _subject(tx, account, player, at)


async def _check_own_case(tx: Tx, actor: Actor, application: Application, subject: Subject) -> None:
    mine = actor.account_id == application.account_id or actor.account_id in {a.account_id for a in subject.accounts}
    if mine or (subject.player is not None and actor.player_id == subject.player):
        raise Refusal("own_case")
    if actor.player_id is None:
        return
    reports = [report for report in await _open_reports(tx, subject.player) if actor.player_id in report.players]
    challenges_ = [tx.state.challenges[number] for number in subject.challenges]
    if reports or any(actor.player_id in (c.challenger, c.opponent) for c in challenges_):
        raise Refusal("own_case")


def _concerns(application: Application, subject: Subject) -> bool:
    mine = application.account_id in {account.account_id for account in subject.accounts}
    return mine or (subject.player is not None and application.player_id == subject.player)


async def _end_what_is_open(tx: Tx, actor: Actor, subject: Subject, at: int) -> list[Ended]:
    """End his challenges without penalty and void what waits of his reports."""
    if subject.player is None:
        return []
    ended = await challenges.cancel_all_of(tx, subject.player, at, by=actor.account_id, reason=REASON)
    for report in await _open_reports(tx, subject.player):
        closed = replace(
            report, state="void", reason="", decided_at=at, confirmed_by=actor.account_id, remind_at=None,
            expire_at=None,
        )  # fmt: skip
        await tx.reports.save(closed)
        ended += await challenges.after_report(tx, closed, at)
    return ended


async def _forget(tx: Tx, subject: Subject, mark: tuple[str, str]) -> None:
    player, accounts = subject.player, [account.account_id for account in subject.accounts]
    names = [] if player is None else [name for name, _ in await tx.people.names_of(player)]
    qqs = [account.qq for account in subject.accounts if account.qq is not None]
    others = {name for name, owner, _ in await tx.people.names() if owner != player}
    names += [name for name in await tx.people.names_applied_for(accounts) if name not in {*names, *others}]
    cards = [account.card for account in subject.accounts]
    scrubber = Scrubber(subject.label, names=names, qqs=qqs, cards=cards, others=others, mark=mark)
    seqs = [seq for seq in await tx.forgetting.noted() if await _is_about(tx, seq, player, accounts)]
    await tx.forgetting.erase_notes(seqs)
    await tx.forgetting.erase(Person(player, accounts, qqs), names, scrubber, subject.label)
    await tx.read_directory()


async def _is_about(tx: Tx, seq: int, player: int | None, accounts: list[int]) -> bool:
    """Return whether the reason of a ledger row is his own, or about him alone."""
    row = await tx.ledger.row(seq)
    assert row is not None
    if row.actor in accounts:
        return True
    while row.refers_to is not None:
        found: Row | None = await tx.ledger.row(row.refers_to)
        assert found is not None
        row = found
    about = getattr(row.entry(), "player", None)
    return player is not None and about is not None and tx.book.alias(about) == player
