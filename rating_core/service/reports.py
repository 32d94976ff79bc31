"""Reports (§4–§6): post, confirm, dispute, withdraw, void; and the desk's part in them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rating_core.directory import Actor
from rating_core.ledger import Draft, Games
from rating_core.names import clean_text
from rating_core.report_text import GameLine, ReportProblems, ReportText, parse_report
from rating_core.rulebook import CASUAL_WEIGHT, POOLS, REPEAT_HOURS
from rating_core.rules import farming
from rating_core.rules.eligibility import bar_of
from rating_core.service.league import Tx
from rating_core.service.report_results import (
    AskPool,
    Changed,
    ChangeResult,
    Debt,
    Effective,
    NoSuchReport,
    NotEligible,
    NotOpen,
    NotYours,
    Outsider,
    Overlap,
    Posted,
    PostResult,
    Refused,
    SameAs,
    StillWaiting,
)
from rating_core.state import Pair, pair_key
from rating_core.store.report_store import Copy, Report, pair_text, same_key
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


def open_events(tx: Tx) -> dict[str, int]:
    """Return the events that take reports, by name."""
    return {tx.directory.events[n]: n for n, event in tx.trial.state.events.items() if event.open}


async def post(tx: Tx, actor: Actor, message: Post) -> PostResult:
    """Take a report: refuse it, let it wait, take it as a confirmation, or (a referee's) record it at once."""
    events = open_events(tx)
    parsed = parse_report(
        message.text, tx.directory.roster, side_size=None, events=tuple(events), pools=tuple(POOLS),
        mixed=actor.judge,
    )  # fmt: skip
    if isinstance(parsed, ReportProblems):
        return Refused(parsed) if actor.judge or _is_named(tx, actor, message.text, parsed) else Outsider()
    players = {player for line in parsed.lines for player in line.players}
    plays = actor.player_id in players
    if not plays and not actor.judge:
        return Outsider()
    if plays and len({pair_key(line.left, line.right) for line in parsed.lines}) > 1:
        own = parse_report(
            message.text, tx.directory.roster, side_size=None, events=tuple(events), pools=tuple(POOLS), mixed=False
        )
        if isinstance(own, ReportProblems):
            return Refused(own)
    pool = _pool_of(tx, parsed, events, message.group_pool)
    if isinstance(pool, AskPool):
        return pool
    bars = [bar_of(tx.trial.state, pool, player, message.said_at) for player in sorted(players)]
    if any(bars):
        return NotEligible(tuple(bar for bar in bars if bar is not None))
    event_id = events[parsed.event] if parsed.event else None
    weight = tx.trial.state.events[event_id].opened.weight if event_id else CASUAL_WEIGHT
    actor = await tx.known(actor)
    draft = Report(
        0, "waiting", pool, event_id, weight, parsed.lines, message.chat, message.message_id, message.said_at,
        actor.account_id, actor.player_id if plays else None,
    )  # fmt: skip
    if not plays:
        return await _post_by_judge(tx, actor, draft)
    return await _post_by_player(tx, actor, draft, message)


def _is_named(tx: Tx, actor: Actor, text: str, found: ReportProblems) -> bool:
    """Whether a player's own name stands in a report that cannot be read, or may be meant in it."""
    if actor.player_id is None:
        return False
    name = tx.directory.name_of(actor.player_id)
    return name in clean_text(text) or any(name in near for p in found.problems for near in p.suggestions)


def _pool_of(tx: Tx, parsed: ReportText, events: dict[str, int], group_pool: str) -> str | AskPool:
    """§1 D: the event's pool; else #榜名; else the group's; else the only pool of that side size with entries."""
    size = len(parsed.lines[0].left)
    if parsed.event:
        return tx.trial.state.events[events[parsed.event]].pool
    if parsed.pool:
        return parsed.pool if POOLS[parsed.pool].side_size == size else AskPool(_pools_of_size(size))
    if group_pool and POOLS[group_pool].side_size == size:
        return group_pool
    fitting = _pools_of_size(size)
    used = [p for p in fitting if any(s.listed for s in tx.book.state.pools[p].standings.values())]
    candidates = used or list(fitting)
    return candidates[0] if len(candidates) == 1 else AskPool(fitting)


def _pools_of_size(size: int) -> tuple[str, ...]:
    return tuple(name for name, pool in POOLS.items() if pool.side_size == size)


async def _post_by_judge(tx: Tx, actor: Actor, draft: Report) -> PostResult:
    same = await tx.reports.same(draft.pool, draft.lines, draft.said_at - REPEAT_HOURS * HOUR_MS)
    same = same or await _overlapping(tx, draft)
    if same is not None:
        await tx.reports.add_copy(
            Copy(
                draft.chat,
                draft.message_id,
                same.report_id,
                draft.lines,
                draft.pool,
                draft.event_id,
                draft.weight,
                actor.account_id,
                draft.said_at,
            )
        )
        return SameAs(same)
    report = replace(draft, report_id=await tx.counters.take("report"))
    await tx.reports.add(report)
    return await _take_effect(tx, report, None, draft.said_at)


async def _overlapping(tx: Tx, draft: Report) -> Report | None:
    """Return an open report of a pair of the draft whose games are all in the draft, or the other way round."""
    pairs: dict[str, list[GameLine]] = {}
    for line in draft.lines:
        pairs.setdefault(pair_text([line]), []).append(line)
    for lines in pairs.values():
        games = Counter(_single_keys(lines))
        for report in await tx.reports.open_of_pair(draft.pool, lines):
            others = Counter(_single_keys(report.lines))
            if games <= others or others <= games:
                return report
    return None


async def _post_by_player(tx: Tx, actor: Actor, draft: Report, message: Post) -> PostResult:
    waiting = await tx.reports.open_of_pair(draft.pool, draft.lines)
    key = same_key(draft.lines)
    mine = draft.player_id
    for report in waiting:
        if same_key(report.lines) != key or draft.event_id not in (None, report.event_id):
            continue
        if report.player_id is not None and mine in report.sides()[1]:
            if report.account_id == actor.account_id:
                return NotYours(report, report.sides()[1], "same_account")
            return await _take_effect(tx, report, actor, draft.said_at)
        return StillWaiting(report)
    games = Counter(_single_keys(draft.lines))
    for report in waiting:
        if games <= Counter(_single_keys(report.lines)):
            return Overlap(report)
    report = replace(
        draft,
        report_id=await tx.counters.take("report"),
        remind_at=draft.said_at + int(message.remind_hours * HOUR_MS),
        expire_at=draft.said_at + int(message.confirm_hours * HOUR_MS),
    )
    await tx.reports.add(report)
    return Posted(report, report.sides()[1], tuple(r.report_id for r in waiting))


def _single_keys(lines: Sequence[GameLine]) -> list[str]:
    return [same_key([line]) for line in lines]


async def _take_effect(tx: Tx, report: Report, confirmer: Actor | None, said_at: int, reason: str = "") -> Effective:
    """Enter the games of a report in the ledger (§5, §6); `said_at` is the time of what made it effective."""
    first = await tx.counters.take("game", len(report.lines))
    entry = Games(
        report=report.report_id,
        first=first,
        posted_at=report.said_at,
        weight=report.weight,
        lines=report.lines,
        by=report.account_id,
        event=report.event_id,
        confirmed_by=confirmer.account_id if confirmer else None,
    )
    by = confirmer.account_id if confirmer else report.account_id
    row, _ = await tx.append(Draft(entry, said_at, by, report.pool, reason=reason))
    done = row.entry()
    assert isinstance(done, Games) and done.announced is not None
    by_desk = confirmer is not None and confirmer.player_id not in report.players
    report = replace(
        report, state="effective", seq=row.seq, decided_at=said_at, reason=reason, remind_at=None, expire_at=None,
        confirmed_by=entry.confirmed_by,
    )  # fmt: skip
    await tx.reports.save(report)
    return Effective(
        report, first, done.announced,
        {player: tx.trial.state.look(report.pool, player).games for player in report.players},
        _debts(tx, report), report.account_id, entry.confirmed_by, by_desk,
    )  # fmt: skip


def _debts(tx: Tx, report: Report) -> tuple[Debt, ...]:
    """Return what the report's pairs owe after it."""
    state = tx.trial.state.pools[report.pool]
    pairs = state.pairs_in(season_of(report.said_at))
    debts = []
    for key in dict.fromkeys(pair_key(line.left, line.right) for line in report.lines):
        try:
            pair = pairs[key]
        except KeyError:
            pair = Pair()
        if any((owed := farming.owed(state, key, pair, report.said_at)).values()):
            debts.append(Debt(tuple(owed.items()), pair.net))
    return tuple(debts)


# --- what the other side says -----------------------------------------------------------------------------


def _other_side(actor: Actor, report: Report) -> NotYours | None:
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
    if actor.account_id == report.account_id:
        return NotYours(report, theirs, "same_account")
    return None


async def confirm(tx: Tx, actor: Actor, number: int, said_at: int) -> ChangeResult:
    """The other side confirms a report that waits, is disputed or went to the desk."""
    report = await tx.reports.get(number)
    if report is None:
        return NoSuchReport(number)
    if (refusal := _other_side(actor, report)) is not None:
        return refusal
    if not report.open:
        return NotOpen(report)
    return await _take_effect(tx, report, actor, said_at)


async def dispute(tx: Tx, actor: Actor, number: int, reason: str, said_at: int) -> ChangeResult:
    """The other side says it is wrong: the desk decides. After effect nothing changes, the desk is told."""
    report = await tx.reports.get(number)
    if report is None:
        return NoSuchReport(number)
    if report.state == "effective" and actor.player_id in report.players:
        await tx.desk.add_docket("late_objection", f"#{number}", reason, said_at)
        return NotOpen(report)
    if (refusal := _other_side(actor, report)) is not None:
        return refusal
    if not report.open:
        return NotOpen(report)
    report = replace(report, state="disputed", reason=reason, decided_at=said_at)
    await tx.reports.save(report)
    return Changed(report, actor.account_id, reason)


async def withdraw(tx: Tx, actor: Actor, number: int, said_at: int, *, recalled: bool = False) -> ChangeResult:
    """The reporter takes it back, or recalls his message; before effect only."""
    report = await tx.reports.get(number)
    if report is None:
        return NoSuchReport(number)
    if actor.account_id != report.account_id:
        return NotYours(report, (), "only_reporter")
    if report.state == "effective":
        await tx.desk.add_docket("late_objection", f"#{number}", "撤回了消息" if recalled else "想撤回", said_at)
        return NotOpen(report)
    if not report.open:
        return NotOpen(report)
    report = replace(report, state="withdrawn", decided_at=said_at, remind_at=None, expire_at=None)
    await tx.reports.save(report)
    return Changed(report, actor.account_id)


async def waiting_for(tx: Tx, actor: Actor, chat: str) -> list[Report]:
    """Return the reports in a chat that this account could confirm."""
    if actor.player_id is None:
        return []
    reports = await tx.reports.open_ones()
    return [r for r in reports if r.chat == chat and _other_side(actor, r) is None]


def _own_case(actor: Actor, report: Report) -> bool:
    """§5 D: he plays in it, or posted it as a player of it (whoever he is bound to by now)."""
    return actor.player_id in report.players or (report.player_id is not None and actor.account_id == report.account_id)


# --- the desk ---------------------------------------------------------------------------------------------


async def confirm_by_desk(tx: Tx, actor: Actor, number: int, reason: str, said_at: int) -> ChangeResult:
    """A scorekeeper confirms in the other side's place; never in his own games (§5)."""
    report = await tx.reports.get(number)
    if report is None:
        return NoSuchReport(number)
    if _own_case(actor, report):
        return NotYours(report, (), "own_case")
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
    if _own_case(actor, report):
        return NotYours(report, (), "own_case")
    if not report.open:
        return NotOpen(report)
    actor = await tx.known(actor)
    report = replace(
        report, state="void", reason=reason, decided_at=said_at, confirmed_by=actor.account_id, remind_at=None,
        expire_at=None,
    )  # fmt: skip
    await tx.reports.save(report)
    await tx.journal(actor, said_at, "作废", about=f"#{number}", reason=reason)
    return Changed(report, actor.account_id, reason)


async def record_copy(tx: Tx, actor: Actor, chat: str, message_ids: Sequence[str], said_at: int) -> Effective | None:
    """另记: a post that was answered 「与#12相同」 (one of these messages) is another set of games; record it.

    None when no unused post is among them, or the actor plays in it.
    """
    copy = await tx.reports.take_copy(chat, message_ids)
    if copy is None or any(actor.player_id in line.players for line in copy.lines):
        return None
    report = Report(
        await tx.counters.take("report"), "waiting", copy.pool, copy.event_id, copy.weight, copy.lines, copy.chat,
        copy.message_id, copy.said_at, copy.account_id, None,
    )  # fmt: skip
    await tx.reports.add(report)
    await tx.journal(actor, said_at, "另记", about=f"#{report.report_id}", detail=f"与#{copy.report_id}相同")
    return await _take_effect(tx, report, None, said_at)


# --- time -------------------------------------------------------------------------------------------------


async def reminders(tx: Tx, at: int) -> list[Report]:
    """Return the reports whose one reminder is due, and mark it sent."""
    due = await tx.reports.reminders_due(at)
    for report in due:
        await tx.reports.save(replace(report, remind_at=None))
    return due


async def expire(tx: Tx, at: int) -> list[Report]:
    """Move reports nobody confirmed in time to the desk's list; the opponent can still confirm."""
    due = await tx.reports.expiries_due(at)
    for report in due:
        await tx.reports.save(replace(report, state="expired", remind_at=None, expire_at=None))
    return due
