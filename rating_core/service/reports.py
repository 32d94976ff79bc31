"""Reports (§4–§6): post, confirm, dispute, withdraw, void; and the desk's part in them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from rating_core.directory import Actor, Directory
from rating_core.ledger import Draft, Games
from rating_core.rulebook import CASUAL_WEIGHT, REPEAT_HOURS
from rating_core.rules import farming
from rating_core.rules.eligibility import bar_of
from rating_core.service import challenges, masked
from rating_core.service.copies import as_copy, overlapping, single_keys
from rating_core.service.events import open_events
from rating_core.service.report_pool import pool_of
from rating_core.service.report_reading import Read, read
from rating_core.service.report_results import (
    Changed,
    ChangeResult,
    Debt,
    Effective,
    NoSuchReport,
    NotEligible,
    NotOpen,
    NotYours,
    Overlap,
    Posted,
    PostResult,
    StillWaiting,
)
from rating_core.service.transaction import Tx
from rating_core.state import pair_code
from rating_core.store.report_store import Report, same_key
from rating_core.times import HOUR_MS, season_of


@dataclass(frozen=True, slots=True)
class Post:
    """A message that looks like a report."""

    text: str
    chat: str
    message_id: str
    said_at: int
    group_pool: str
    """The group's pool, "" if it has none."""
    remind_hours: float
    confirm_hours: float
    homes: Mapping[str, str] = field(default_factory=dict)
    """Of a report said in private (蒙面人公用号; `message_id` is ""): the chat where each pool's players are told."""


async def post(tx: Tx, actor: Actor, message: Post) -> PostResult:
    """Take a report: refuse it, let it wait, take it as a confirmation, or (a referee's) record it at once."""
    events = open_events(tx)
    found = read(tx, actor, message.text, message.said_at, events)
    if not isinstance(found, Read):
        return found
    parsed, players, plays = found.text, found.players, found.plays
    pool = pool_of(tx, parsed, events, message.group_pool)
    if not isinstance(pool, str):
        return pool
    bars = [bar_of(tx.trial.state, pool, player, message.said_at) for player in sorted(players)]
    if any(bars):
        return NotEligible(tuple(bar for bar in bars if bar is not None))
    event_id = events[parsed.event] if parsed.event else None
    weight = tx.trial.state.events[event_id].opened.weight if event_id else CASUAL_WEIGHT
    actor = await tx.known(actor)
    draft = Report(
        0, "waiting", pool, event_id, weight, parsed.lines, message.homes.get(pool, message.chat), message.message_id,
        message.said_at, actor.account_id, actor.player_id if plays else None,
    )  # fmt: skip
    if not plays:
        return await _post_by_judge(tx, actor, draft)
    return await _post_by_player(tx, actor, draft, message)


async def _post_by_judge(tx: Tx, actor: Actor, draft: Report) -> PostResult:
    same = await tx.reports.same(draft.pool, draft.lines, draft.said_at - REPEAT_HOURS * HOUR_MS)
    same = same or await overlapping(tx, draft)
    if same is not None:
        return await as_copy(tx, draft, same)
    report = replace(draft, report_id=await tx.counters.take("report"))
    await tx.reports.add(report)
    return await _take_effect(tx, report, None, draft.said_at)


async def _post_by_player(tx: Tx, actor: Actor, draft: Report, message: Post) -> PostResult:
    waiting = await tx.reports.open_of_pair(draft.pool, draft.lines)
    key = same_key(draft.lines)
    mine = draft.player_id
    for report in waiting:
        if same_key(report.lines) != key or draft.event_id not in (None, report.event_id):
            continue
        if report.state == "confirmed":
            return await as_copy(tx, draft, report)
        if report.player_id is not None and mine in report.sides()[1]:
            if (refusal := _other_side(tx.directory, actor, report)) is not None:
                return await _refused(tx, refusal, draft.said_at)
            return await _both_agree(tx, report, actor, draft.said_at)
        return StillWaiting(report)
    games = Counter(single_keys(draft.lines))
    for report in waiting:
        if games <= Counter(single_keys(report.lines)):
            return await as_copy(tx, draft, report) if report.state == "confirmed" else Overlap(report)
    return await _let_wait(tx, draft, message.remind_hours, message.confirm_hours)


async def _let_wait(tx: Tx, draft: Report, remind_hours: float, confirm_hours: float) -> Posted:
    """Let a player's report wait for the other side, from now on (§5)."""
    waiting = await tx.reports.open_of_pair(draft.pool, draft.lines)
    since = draft.decided_at or draft.said_at
    report = replace(
        draft, report_id=await tx.counters.take("report"), remind_at=since + int(remind_hours * HOUR_MS),
        expire_at=since + int(confirm_hours * HOUR_MS),
    )  # fmt: skip
    await tx.reports.add(report)
    return Posted(report, report.sides()[1], tuple(r.report_id for r in waiting))


async def _both_agree(tx: Tx, report: Report, confirmer: Actor, said_at: int) -> Effective | Changed:
    """The other side confirmed: it takes effect, or waits for a referee where its event wants one (§5)."""
    if report.event_id is None or not tx.trial.state.events[report.event_id].opened.signoff:
        return await _take_effect(tx, report, confirmer, said_at)
    report = replace(
        report, state="confirmed", confirmed_by=confirmer.account_id, decided_at=said_at, remind_at=None,
        expire_at=None,
    )  # fmt: skip
    await tx.reports.save(report)
    return Changed(report, confirmer.account_id)


async def _take_effect(tx: Tx, report: Report, confirmer: Actor | None, said_at: int, reason: str = "") -> Effective:
    """Enter the games of a report in the ledger (§5, §6); `said_at` is the time of what made it effective.

    `confirmer` is the other side, a scorekeeper in its place or, where it has confirmed already, who signs it off.
    """
    report = replace(report, lines=tuple(line.renamed(tx.book.alias) for line in report.lines))  # of an old copy
    signer = confirmer.account_id if confirmer and report.state == "confirmed" else None
    first = await tx.counters.take("game", len(report.lines))
    entry = Games(
        report=report.report_id,
        first=first,
        posted_at=report.said_at,
        weight=report.weight,
        lines=report.lines,
        by=report.account_id,
        event=report.event_id,
        confirmed_by=report.confirmed_by if signer else confirmer.account_id if confirmer else None,
    )
    by = confirmer.account_id if confirmer else report.account_id
    row, _ = await tx.append(Draft(entry, said_at, by, report.pool, reason=reason))
    done = row.entry()
    assert isinstance(done, Games) and done.announced is not None
    by_desk = confirmer is not None and signer is None and confirmer.player_id not in report.players
    report = replace(
        report, state="effective", seq=row.seq, decided_at=said_at, reason=reason, remind_at=None, expire_at=None,
        confirmed_by=entry.confirmed_by,
    )  # fmt: skip
    await tx.reports.save(report)
    if confirmer is None and tx.directory.masked in report.players:  # its holder's own games look like the others
        await tx.desk.add_docket("look", f"#{report.report_id}", "", said_at)
    fulfilled = await challenges.fulfil(tx, report, by, said_at)
    return Effective(
        report, first, done.announced,
        {player: tx.trial.state.look(report.pool, player).games for player in report.players},
        _debts(tx, report), report.account_id, entry.confirmed_by, by_desk, signer, fulfilled,
    )  # fmt: skip


def _debts(tx: Tx, report: Report) -> tuple[Debt, ...]:
    """Return what the report's pairs owe after it."""
    state, season = tx.trial.state.pools[report.pool], season_of(report.said_at)
    pairs = dict.fromkeys(pair_code(line.left, line.right) for line in report.lines)
    owed = ((pair, farming.owed(state, pair, season, report.said_at)) for pair in pairs)
    return tuple(Debt(tuple(each.items()), state.net(season, pair)) for pair, each in owed if any(each.values()))


# --- what the other side says -----------------------------------------------------------------------------


def _other_side(directory: Directory, actor: Actor, report: Report) -> NotYours | None:
    """Return why this account is not the other side of a player's report; None if it is (§5)."""
    if report.player_id is None:
        return NotYours(report, (), "third")
    mine, theirs = report.sides()
    if actor.player_id is None:
        return NotYours(report, theirs, "not_bound")
    if actor.player_id in mine:
        return NotYours(report, theirs, "own_side")
    if actor.player_id not in theirs:
        return NotYours(report, theirs, "third")
    if why := masked.cannot_answer(directory, actor, report):
        return NotYours(report, theirs, why)
    if actor.account_id == report.account_id:
        return NotYours(report, theirs, "same_account")
    if not directory.players_of(actor.account_id, report.said_at).isdisjoint(mine):
        return NotYours(report, theirs, "both_sides")
    return None


async def _refused(tx: Tx, refusal: NotYours, said_at: int) -> NotYours:
    """A game of 蒙面人公用号 against its holder that somebody would confirm is disputed from then on (§7 D)."""
    if refusal.why == "own_game" and refusal.report.state == "waiting":
        refusal = replace(refusal, report=masked.to_desk(refusal.report, said_at), disputed=True)
        await tx.reports.save(refusal.report)
    return refusal


async def confirm(tx: Tx, actor: Actor, number: int, said_at: int) -> ChangeResult:
    """The other side confirms a report that waits, is disputed or went to the desk; a referee one that it confirmed."""
    report = await tx.reports.get(number)
    if report is None:
        return NoSuchReport(number)
    if report.state == "confirmed":
        return await _sign_off(tx, actor, report, said_at)
    if (refusal := _other_side(tx.directory, actor, report)) is not None:
        return NotOpen(report) if actor.judge and not report.open else await _refused(tx, refusal, said_at)
    if not report.open:
        return NotOpen(report)
    return await _both_agree(tx, report, actor, said_at)


async def _sign_off(tx: Tx, actor: Actor, report: Report, said_at: int) -> Effective | NotYours | NotOpen:
    """A referee or scorekeeper who plays in none of its games confirms an event's report after the players did (§5)."""
    if not actor.judge:
        return NotOpen(report) if actor.player_id in report.players else NotYours(report, (), "signoff")
    if (own := _own_case(tx.directory, actor, report)) is not None:
        return own
    actor = await tx.known(actor)
    await tx.journal(actor, said_at, "裁判确认", about=f"#{report.report_id}")
    return await _take_effect(tx, report, actor, said_at)


async def dispute(tx: Tx, actor: Actor, number: int, reason: str, said_at: int) -> ChangeResult:
    """The other side says it is wrong: the desk decides. After effect nothing changes, the desk is told.

    What both sides have confirmed, either of them or a referee can still dispute before it is signed off. A dispute
    that says nothing new changes nothing.
    """
    report = await tx.reports.get(number)
    if report is None:
        return NoSuchReport(number)
    if report.state == "effective" and actor.player_id in report.players:
        await tx.desk.add_docket("late_objection", f"#{number}", reason, said_at)
        return NotOpen(report)
    may = report.state == "confirmed" and _may_object(actor, report)
    refusal = None if may else _other_side(tx.directory, actor, report)
    if refusal is not None and refusal.why != "own_game":
        return refusal
    if not report.open or (report.state == "disputed" and reason in ("", report.reason)):
        return NotOpen(report)  # or nothing that is not known
    actor = await tx.known(actor)
    report = replace(report, state="disputed", reason=reason, decided_at=said_at, confirmed_by=None)
    await tx.reports.save(report)
    return Changed(report, actor.account_id, reason, player=actor.player_id)


def _may_object(actor: Actor, report: Report) -> bool:
    return actor.judge or actor.player_id in report.players


async def withdraw(tx: Tx, actor: Actor, number: int, said_at: int, *, recalled: bool = False) -> ChangeResult:
    """The reporter takes it back, or recalls his message; before effect only."""
    report = await tx.reports.get(number)
    if report is None:
        return NoSuchReport(number)
    as_masked = report.player_id is not None and report.player_id == tx.directory.masked
    if actor.account_id != report.account_id or (as_masked and actor.player_id != report.player_id):
        return NotYours(report, (), "only_reporter")
    if report.state == "effective":
        await tx.desk.add_docket("late_objection", f"#{number}", "撤回了消息" if recalled else "想撤回", said_at)
        return NotOpen(report)
    if not report.open:
        return NotOpen(report)
    report = replace(report, state="withdrawn", decided_at=said_at, remind_at=None, expire_at=None)
    await tx.reports.save(report)
    return Changed(report, actor.account_id, ended=await challenges.after_report(tx, report, said_at))


async def waiting_for(tx: Tx, actor: Actor, chat: str | None) -> list[Report]:
    """Return the reports in a chat (None: wherever they are) that this account could confirm."""
    if actor.player_id is None:
        return []
    reports = await tx.reports.open_ones()
    here = [r for r in reports if chat in (None, r.chat) and r.state != "confirmed"]
    return [r for r in here if _other_side(tx.directory, actor, r) is None]


def _own_case(directory: Directory, actor: Actor, report: Report) -> NotYours | None:
    """§5 D: he plays in it, by whatever name he is or was bound to, or as 蒙面人公用号."""
    if directory.is_or_was_in(actor.account_id, report.players):
        return NotYours(report, (), "own_case")
    secret = directory.is_masked_in(actor.account_id, report.players, report.said_at)
    return NotYours(report, (), "secret_case") if secret else None


# --- the desk ---------------------------------------------------------------------------------------------


async def confirm_by_desk(tx: Tx, actor: Actor, number: int, reason: str, said_at: int) -> ChangeResult:
    """A scorekeeper confirms in the other side's place; never in his own games (§5)."""
    report = await tx.reports.get(number)
    if report is None:
        return NoSuchReport(number)
    if (own := _own_case(tx.directory, actor, report)) is not None:
        return own
    if not report.open:
        return NotOpen(report)
    actor = await tx.known(actor)
    await tx.journal(actor, said_at, "代确认", about=f"#{number}", reason=reason)
    return await _take_effect(tx, report, actor, said_at, reason)


async def void_by_desk(tx: Tx, actor: Actor, number: int, reason: str, said_at: int) -> ChangeResult:
    """A scorekeeper voids a report that has not taken effect; never in his own games."""
    report = await tx.reports.get(number)
    if report is None:
        return NoSuchReport(number)
    if (own := _own_case(tx.directory, actor, report)) is not None:
        return own
    if not report.open:
        return NotOpen(report)
    actor = await tx.known(actor)
    report = replace(
        report, state="void", reason=reason, decided_at=said_at, confirmed_by=actor.account_id, remind_at=None,
        expire_at=None,
    )  # fmt: skip
    await tx.reports.save(report)
    await tx.journal(actor, said_at, "作废", about=f"#{number}", reason=reason)
    return Changed(report, actor.account_id, reason, await challenges.after_report(tx, report, said_at))


async def record_copy(
    tx: Tx, actor: Actor, message_ids: Sequence[str], chat: str, said_at: int, *, remind_hours: float,
    confirm_hours: float,
) -> Effective | Posted | None:  # fmt: skip
    """另记: a post that was answered 「与#12相同」 (one of these messages) is another set of games; record it.

    A player's own post then waits for the other side. None when no unused post is among them, or it is not his to say.
    """
    copy = await tx.reports.copy_of(chat, message_ids)
    if copy is None or said_at - copy.said_at > REPEAT_HOURS * HOUR_MS:
        return None
    plays = any(actor.player_id in line.players for line in copy.lines)
    players = {player for line in copy.lines for player in line.players}
    if tx.directory.is_masked_in(actor.account_id, players, copy.said_at):
        return None
    judges = actor.judge and not tx.directory.is_or_was_in(actor.account_id, players)
    if copy.account_id != actor.account_id if plays else not judges:
        return None
    await tx.reports.use_copy(copy)
    report = Report(
        0, "waiting", copy.pool, copy.event_id, copy.weight, copy.lines, copy.chat, copy.message_id, copy.said_at,
        copy.account_id, actor.player_id if plays else None, decided_at=said_at,
    )  # fmt: skip
    if plays:
        return await _let_wait(tx, report, remind_hours, confirm_hours)
    report = replace(report, report_id=await tx.counters.take("report"))
    await tx.reports.add(report)
    await tx.journal(actor, said_at, "另记", about=f"#{report.report_id}", detail=f"与#{copy.report_id}相同")
    return await _take_effect(tx, report, None, said_at)
