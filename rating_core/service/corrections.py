"""Corrections (§10): tried on a copy of the Book and shown as 预N, then appended unchanged on 确认.

The ledger only grows: a correction is an entry that refers to an old one, and the fold treats that as never made or
as amended in its old place.
"""

import json
from dataclasses import dataclass, replace
from typing import Any

from rating_core.book import Book
from rating_core.directory import Actor
from rating_core.ledger import Adjustment, Amend, Draft, Games, Merged, Void, canonical, decode
from rating_core.report_text import GameLine, format_line
from rating_core.rules import challenge as challenges
from rating_core.service import merging
from rating_core.service.collector import collector_paused
from rating_core.service.correction_plans import Plan, Request, plan
from rating_core.service.impact import Impact, view
from rating_core.service.people import Place
from rating_core.service.previews import book_moved, keep_preview
from rating_core.service.refusal import Refusal
from rating_core.service.transaction import Tx
from rating_core.store.desk_store import Preview

CORRECTION = "correction"
"""Kind of the previews made here."""
_JOURNAL = {
    "result": "改判", "line": "改判", "event": "改赛事", "game": "撤销", "row": "撤销", "report": "作废",
    "penalty": "免罚", "merge": "合并", "adjust": "调分",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Proposed:
    """A correction shown as 预N: what it is and what it changes."""

    preview: Preview
    plan: Plan
    impact: Impact
    new: GameLine | None = None
    """The game as it will be, where one is amended."""
    ends_at: int = 0
    """Where a forced challenge is open again: its deadline (ms)."""
    again: bool = False
    """Shown anew, as the book moved after an earlier preview."""


@dataclass(frozen=True, slots=True)
class Applied:
    """A correction in the ledger as row `seq`; `stay`: reports whose games an undone merge leaves where they are."""

    seq: int
    plan: Plan
    impact: Impact
    new: GameLine | None = None
    stay: tuple[int, ...] = ()


def dump_draft(draft: Draft) -> dict[str, Any]:
    """Return an entry that waits for 确认 as JSON values."""
    entry = draft.entry
    return {
        "kind": entry.KIND, "v": entry.V, "payload": canonical(entry.payload()), "said_at": draft.said_at,
        "actor": draft.actor, "pool": draft.pool, "refers_to": draft.refers_to, "reason": draft.reason,
    }  # fmt: skip


def load_draft(data: dict[str, Any]) -> Draft:
    """Return the entry that `dump_draft` kept. Raises LedgerError."""
    entry = decode(data["kind"], data["v"], data["payload"])
    return Draft(entry, data["said_at"], data["actor"], data["pool"], data["refers_to"], data["reason"])


async def propose(tx: Tx, actor: Actor, request: Request, place: Place, *, again: bool = False) -> Proposed:
    """Try a correction and keep it as 预N. Raises Refusal with what to do instead."""
    with collector_paused(keep=True):
        return await _propose(tx, actor, request, place, again=again)


async def _propose(tx: Tx, actor: Actor, request: Request, place: Place, *, again: bool) -> Proposed:
    actor = await tx.known(actor)
    found = await plan(tx, actor, request)
    tried = await tx.try_out(found.draft, request.said_at)
    _check_games(tried.impact)
    ends_at = _check_challenges(tried.impact, request.said_at)
    data = {"request": request.dump(), "draft": dump_draft(found.draft)}
    preview = await keep_preview(tx, actor, CORRECTION, data, place)
    return Proposed(preview, found, tried.impact, _new_line(tried.book, found), ends_at, again)


async def apply(tx: Tx, actor: Actor, preview: Preview, place: Place) -> Applied | Proposed:
    """Append what a preview showed; where the book moved since, show it anew instead (§10). Raises Refusal."""
    with collector_paused(keep=True):
        return await _apply(tx, actor, preview, place)


async def _apply(tx: Tx, actor: Actor, preview: Preview, place: Place) -> Applied | Proposed:
    data = json.loads(preview.payload)
    request, draft = Request.load(data["request"]), load_draft(data["draft"])
    if book_moved(tx, preview):
        return await _propose(tx, actor, request, place, again=True)
    found = await plan(tx, actor, request)  # he may have been bound to a name of the matter since
    before = tx.book
    row, _ = await tx.append(draft)
    tx.read_own()
    impact = await tx.impact(before, place.said_at)
    await _save_reports(tx, impact, found)
    await _save_reminders(tx, impact, place.said_at)
    stay: tuple[int, ...] = ()
    if isinstance(draft.entry, Merged):
        await merging.take_over(tx, row.seq, draft.entry, actor.account_id)
    elif isinstance(found.entry, Merged) and found.row is not None:
        stay = await merging.give_back(tx, found.row.seq, found.entry, actor.account_id)
    new = _new_line(tx.book, found)
    await tx.journal(
        actor, place.said_at, _JOURNAL[request.action], about=found.about, player=_player(found),
        detail=f"账{row.seq}{_detail(tx, found, new)}", reason=request.reason,
    )  # fmt: skip
    return Applied(row.seq, found, impact, new, stay)


# --- trying ---------------------------------------------------------------------------------------------------


def _check_games(impact: Impact) -> None:
    """Raise Refusal where a game would come back in which somebody plays against or beside himself (after a merge)."""
    for change in impact.rewritten:
        players = change.after.line.players
        if not change.after.void and len(set(players)) < len(players):
            raise Refusal("game_self", number=change.number)


def _check_challenges(impact: Impact, at: int) -> int:
    """Return the deadline of a forced challenge that is open again, 0 if none is.

    Raises Refusal where an open one would have been over already.
    """
    for change in impact.challenges:
        if change.was.state == change.now.state == "open" and change.now.deadline <= at:
            raise Refusal("extension_over", challenge=change.now)
    return max((c.now.deadline for c in impact.challenges if c.now.state == "open" != c.was.state), default=0)


def _new_line(book: Book, found: Plan) -> GameLine | None:
    if found.game is None or not isinstance(found.draft.entry, Amend):
        return None
    index = book.find_game(found.game)
    assert index is not None
    return view(book, index).line


# --- what follows ---------------------------------------------------------------------------------------------


async def _save_reports(tx: Tx, impact: Impact, found: Plan) -> None:
    """Let the reports whose games changed say what stands: state, lines, event and weight."""
    book = tx.book
    seqs = {book.columns.seq[index] for c in impact.rewritten if (index := book.find_game(c.number)) is not None}
    if isinstance(found.root or found.entry, Games) and found.report is not None and found.report.seq is not None:
        seqs.add(found.report.seq)
    for seq in sorted(seqs):
        games = book.games_of_row(seq)
        report = await tx.reports.get(book.columns.report[games[0]])
        if report is None or report.seq != seq:
            continue
        views = [view(book, index) for index in games]
        void = all(game.void for game in views)
        saved = replace(
            report, state="void" if void else "effective", lines=tuple(game.line for game in views),
            event_id=views[0].event or None, weight=views[0].weight,
        )  # fmt: skip
        if saved != report:
            await tx.reports.save(saved)


async def _save_reminders(tx: Tx, impact: Impact, at: int) -> None:
    """Remind of a forced challenge that is open again, or that has another deadline (§9)."""
    for change in impact.challenges:
        if change.now.state == "open":
            remind_at = challenges.next_reminder(change.now.deadline, at)
            await tx.challenges.set_reminder(change.now.number, remind_at)


def _player(found: Plan) -> int | None:
    """Return the one player whom a correction is about (/日志 名字); None where there are several."""
    if isinstance(found.draft.entry, Merged):
        return found.draft.entry.into
    return next(iter(found.subjects)) if len(found.subjects) == 1 else None


def _detail(tx: Tx, found: Plan, new: GameLine | None) -> str:
    """Return what became what, in short."""
    if isinstance(found.draft.entry, Adjustment):
        return f" {found.draft.pool} {found.draft.entry.amount:+g}"
    if found.names is not None:
        return f" {found.names[0]} → {found.names[1]}"

    def said(line: GameLine) -> str:
        return " ".join(format_line(line, tx.directory.name_of).split())

    if found.old is not None and new is not None:
        return f" {said(found.old.line)} → {said(new)}"
    if found.old is not None and isinstance(found.draft.entry, Void):
        return f" {said(found.old.line)}"
    return ""
