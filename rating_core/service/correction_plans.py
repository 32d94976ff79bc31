"""What a correction would be (§10): which entry it refers to, whom it concerns, and why it cannot be made."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

from rating_core.book import Book
from rating_core.directory import Actor
from rating_core.ledger import (
    Adjustment,
    Amend,
    ChallengeCancelled,
    ChallengeExtended,
    ChallengeForfeited,
    ChallengeFulfilled,
    ChallengeIssued,
    Draft,
    Entry,
    EventClosed,
    EventOpened,
    Games,
    IpChecked,
    LeaveTaken,
    ListPublished,
    Merged,
    OpeningBalance,
    PlayerRegistered,
    Row,
    Settlement,
    Void,
)
from rating_core.report_text import GameLine, Result
from rating_core.rulebook import CASUAL_WEIGHT, MASKED_NAME, UNRATED_WEIGHT
from rating_core.rules.season import leave_closes
from rating_core.service import lists
from rating_core.service.impact import GameView, view
from rating_core.service.own_case import check_own_case
from rating_core.service.refusal import Refusal
from rating_core.service.transaction import Tx
from rating_core.store.report_store import Report
from rating_core.times import season_of

Action = Literal["result", "line", "event", "game", "report", "row", "penalty", "merge", "adjust"]


@dataclass(frozen=True, slots=True)
class Request:
    """What a scorekeeper asks for.

    result, line: amend 局`target` to `result`, or to `line`; event: move #`target` into event `other` (None: 约战);
    game, report, row: void 局, # or 账`target`; penalty: lift that of 约`target`; merge: player `target` into `other`;
    adjust: `amount` points to player `target` in `pool`.
    """

    action: Action
    target: int
    reason: str
    said_at: int
    result: Result | None = None
    line: GameLine | None = None
    other: int | None = None
    amount: float = 0.0
    pool: str = ""

    def dump(self) -> dict[str, Any]:
        """Return it as JSON values."""
        line = None if self.line is None else [self.line.left, self.line.result.value, self.line.right]
        data: dict[str, Any] = {"action": self.action, "target": self.target, "reason": self.reason}
        data |= {"said_at": self.said_at, "result": self.result, "line": line, "other": self.other}
        return data | {"amount": self.amount, "pool": self.pool}

    @classmethod
    def load(cls, data: dict[str, Any]) -> "Request":
        result, line = data["result"], data["line"]
        lines = None if line is None else GameLine(tuple(line[0]), Result(line[1]), tuple(line[2]))
        return cls(**data | {"result": None if result is None else Result(result), "line": lines})


@dataclass(frozen=True, slots=True)
class Plan:
    """A correction that can be made: the entry to append, and what it is about.

    `row` and `entry` are those referred to (None for a merge or an adjustment), of a correction `root` is what that
    one is about. `report`, `game` and `old` stand where a report or a game of it is corrected.
    """

    request: Request
    draft: Draft
    subjects: frozenset[int]
    """Players who play in it or whom it is about: none of them may do it (§5 D)."""
    row: Row | None = None
    entry: Entry | None = None
    root: Entry | None = None
    report: Report | None = None
    game: int | None = None
    old: GameView | None = None
    names: tuple[str, str] | None = None
    """Where names are merged or parted: the wrong name and the right one."""

    @property
    def about(self) -> str:
        """The short number of the matter, such as 局34."""
        number = self.request.target
        prefixes = {"event": "#", "report": "#", "row": "账", "penalty": "约", "merge": "", "adjust": ""}
        prefix = prefixes.get(self.request.action, "局")
        return f"{prefix}{number}" if prefix else ""


async def plan(tx: Tx, actor: Actor, request: Request) -> Plan:
    """Return what a correction would be. Raises Refusal with what to do instead."""
    match request.action:
        case "result" | "line" | "game":
            found = await _game(tx, actor, request)
        case "event":
            found = await _event(tx, actor, request)
        case "report":
            found = await _report(tx, actor, request)
        case "row":
            found = await _row(tx, actor, request, request.target)
        case "penalty":
            found = await _penalty(tx, actor, request)
        case "merge":
            found = await _merge(tx, actor, request)
        case "adjust":
            found = _adjust(tx, actor, request)
    report = found.report
    concerned = found.subjects | frozenset(map(tx.book.alias, _as_posted(found)))
    check_own_case(tx.directory, actor, concerned, request.said_at if report is None else report.said_at)
    return found


def _as_posted(found: Plan) -> Iterator[int]:
    """Yield who played in the games in question when they were entered, whatever was amended since."""
    entry = found.root or found.entry
    if isinstance(entry, Games):
        for number, line in enumerate(entry.lines, entry.first):
            if found.game in (None, number):
                yield from line.players


def _draft(entry: Entry, actor: Actor, request: Request, row: Row | None = None) -> Draft:
    pool, seq = ("", None) if row is None else (row.pool, row.seq)
    return Draft(entry, request.said_at, actor.account_id, pool, seq, request.reason)


async def _ledger_row(tx: Tx, seq: int) -> Row:
    row = await tx.ledger.row(seq)
    if row is None:
        raise Refusal("no_row", number=seq)
    return row


def void_of(book: Book, seq: int, game: int | None = None) -> int:
    """Return the ledger row that voids an entry, or one game of it; 0 where none does."""
    return next((n for n, e in book.corrections_of(seq) if isinstance(e, Void) and e.game in (None, game)), 0)


# --- games and reports --------------------------------------------------------------------------------------


async def _game(tx: Tx, actor: Actor, request: Request) -> Plan:
    book, number = tx.book, request.target
    index = book.find_game(number)
    if index is None:
        raise Refusal("no_game", number=number)
    row = await _ledger_row(tx, book.columns.seq[index])
    if book.is_void(index):
        raise Refusal("game_void", number=number, by=void_of(book, row.seq, number))
    old = view(book, index)
    players = frozenset(old.line.players)
    entry: Entry = Void(number)
    if request.action != "game":
        new = request.line or replace(old.line, result=request.result or old.line.result)
        size = book.state.pools[row.pool].pool.side_size
        if len(set(new.players)) < 2 * size or not len(new.left) == len(new.right) == size:
            raise Refusal("game_sides", pool=row.pool, size=size)
        if new == old.line:
            raise Refusal("game_same", number=number, line=new)
        entry, players = Amend(number, new), players | frozenset(new.players)
    report = await tx.reports.get(book.columns.report[index])
    return Plan(
        request, _draft(entry, actor, request, row), players, row, row.entry(), report=report, game=number, old=old
    )


async def _effective(tx: Tx, number: int) -> tuple[Report, Row]:
    report = await tx.reports.get(number)
    if report is None:
        raise Refusal("no_report", number=number)
    if report.state != "effective" or report.seq is None:
        raise Refusal("report_not_effective", report=report)
    return report, await _ledger_row(tx, report.seq)


def _players_of(book: Book, row: Row) -> frozenset[int]:
    return frozenset(player for index in book.games_of_row(row.seq) for _, player in book.columns.members(index))


async def _event(tx: Tx, actor: Actor, request: Request) -> Plan:
    report, row = await _effective(tx, request.target)
    event, book = request.other, tx.book
    weight = CASUAL_WEIGHT
    if event is not None:
        state = tx.state.events[event]
        name, weight = tx.directory.events[event], state.opened.weight
        if state.pool != row.pool:
            raise Refusal("event_other_pool", name=name, pool=state.pool, number=request.target, its=row.pool)
        if weight == UNRATED_WEIGHT:
            raise Refusal("event_unrated", name=name)
    old = view(book, book.games_of_row(row.seq)[0])
    if (old.event or None, old.weight) == (event, weight):
        raise Refusal("event_same", number=request.target, name=tx.directory.events.get(event or 0, ""))
    draft = _draft(Amend(event=event, weight=weight), actor, request, row)
    return Plan(request, draft, _players_of(book, row), row, row.entry(), report=report, old=old)


async def _report(tx: Tx, actor: Actor, request: Request) -> Plan:
    report, row = await _effective(tx, request.target)
    return Plan(
        request, _draft(Void(), actor, request, row), _players_of(tx.book, row), row, row.entry(), report=report
    )


async def _penalty(tx: Tx, actor: Actor, request: Request) -> Plan:
    challenge = tx.state.challenges.get(request.target)
    if challenge is None:
        raise Refusal("no_challenge", number=request.target)
    if challenge.state != "forfeited":
        raise Refusal("not_forfeited", challenge=challenge)
    return await _row(tx, actor, request, challenge.ended_seq)


# --- any other entry ----------------------------------------------------------------------------------------

_NEVER: dict[type[Entry], str] = {
    PlayerRegistered: "undo_registered",
    EventOpened: "undo_event",
    Settlement: "undo_settlement",
    ChallengeIssued: "undo_challenge",
    ChallengeCancelled: "undo_cancelled",
}
"""Entries that cannot be undone; the sentence says what to use instead."""


async def _row(tx: Tx, actor: Actor, request: Request, seq: int) -> Plan:
    row = await _ledger_row(tx, seq)
    entry = row.entry()
    if (code := _NEVER.get(type(entry))) is not None:
        raise Refusal(code, number=seq, entry=entry, pool=row.pool)
    root_row = row
    while (target := tx.book.corrected_by(root_row.seq)) is not None:
        root_row = await _ledger_row(tx, target)
    root = root_row.entry()
    if not tx.book.in_force(seq):
        raise Refusal("row_void", number=seq, by=void_of(tx.book, seq))
    if root_row.seq == seq:
        await _check_undo(tx, row, entry)
    elif isinstance(entry, Void) and not tx.book.in_force(root_row.seq):
        _check_restored(tx, root_row, root)
    report = await tx.reports.get(root.report) if isinstance(root, Games) else None
    names = await _names_of_merge(tx, row) if isinstance(entry, Merged) else None
    subjects = _subjects(tx, root_row, root, entry)
    return Plan(request, _draft(Void(), actor, request, row), subjects, row, entry, root, report, names=names)


async def _names_of_merge(tx: Tx, row: Row) -> tuple[str, str]:
    """Return the wrong player's name before the merge (his number where it was forgotten), and the right one's."""
    merged = row.entry()
    assert isinstance(merged, Merged)
    items = await tx.people.merge_items(row.seq)
    wrong = next((i.item for i in items if i.kind == "name" and i.current), f"{merged.player}")
    return wrong, tx.directory.name_of(merged.into)


def _subjects(tx: Tx, root_row: Row, root: Entry, entry: Entry) -> frozenset[int]:
    """Return whom an entry concerns; `root` is what it is about if it is a correction."""
    found: set[int] = set()
    if isinstance(root, Games):
        found |= _players_of(tx.book, root_row)
    elif isinstance(root, Merged):
        found |= {root.player, root.into}
    elif isinstance(root, ChallengeExtended | ChallengeFulfilled | ChallengeForfeited):
        challenge = tx.state.challenges[root.challenge]
        found |= {challenge.challenger, challenge.opponent}
    elif isinstance(root, OpeningBalance | IpChecked | Adjustment | LeaveTaken):
        found.add(root.player)
    if isinstance(entry, Amend) and entry.line is not None:
        found |= set(entry.line.players)
    return frozenset(map(tx.book.alias, found))


async def _check_undo(tx: Tx, row: Row, entry: Entry) -> None:
    """Raise Refusal where an entry that is in force cannot be undone now."""
    if isinstance(entry, ChallengeExtended | ChallengeFulfilled):
        challenge = tx.state.challenges[entry.challenge]
        still = "open" if isinstance(entry, ChallengeExtended) else "fulfilled"
        if challenge.state != still:
            raise Refusal("challenge_over", challenge=challenge)
    if isinstance(entry, ListPublished):
        _check_list(tx, row, entry)
    if isinstance(entry, Merged):
        used = set(tx.directory.roster.current_names().values())
        for item in await tx.people.merge_items(row.seq):
            if item.kind == "name" and item.current and item.item in used:
                raise Refusal("merged_name_used", name=item.item)


def _check_list(tx: Tx, row: Row, entry: ListPublished) -> None:
    """Only a pool's newest list can be voided; a settlement's goes with the settlement (§8)."""
    seasons = {settlement: season for (season, _), settlement in tx.state.settled.items()}
    if row.seq - 1 in seasons:
        raise Refusal("undo_final_list", number=row.seq, season=seasons[row.seq - 1], pool=row.pool)
    last = lists.newest(tx, row.pool)
    if last is None or last.seq != row.seq:
        newest = 0 if last is None else last.number
        raise Refusal("undo_old_list", number=row.seq, pool=row.pool, list=entry.number, newest=newest)


def _check_restored(tx: Tx, row: Row, entry: Entry) -> None:
    """Raise Refusal where an entry that was voided cannot come back: the matter went on meanwhile."""
    state = tx.state
    if isinstance(entry, Merged):
        raise Refusal("undo_unmerged", player=entry.player, into=entry.into)
    if isinstance(entry, Settlement):
        raise Refusal("undo_rollback", pool=row.pool)
    if isinstance(entry, ListPublished):
        raise Refusal("undo_list_void", list=entry.number, pool=row.pool)
    if isinstance(entry, LeaveTaken) and (tx.book.alias(entry.player), entry.until) in state.leaves:
        raise Refusal("leave_again", name=tx.directory.name_of(entry.player))
    if isinstance(entry, LeaveTaken) and tx.now >= leave_closes(season_of(entry.until - 1)):
        raise Refusal("leave_closed_again", name=tx.directory.name_of(entry.player))
    if isinstance(entry, ChallengeExtended | ChallengeFulfilled | ChallengeForfeited):
        challenge = state.challenges[entry.challenge]
        if challenge.state != ("lifted" if isinstance(entry, ChallengeForfeited) else "open"):
            raise Refusal("challenge_over", challenge=challenge)
    if isinstance(entry, EventClosed) and not state.events[entry.event].open:
        raise Refusal("event_closed_again", name=tx.directory.events[entry.event])


# --- adjusting ----------------------------------------------------------------------------------------------


def _adjust(tx: Tx, actor: Actor, request: Request) -> Plan:
    """Add points to or take them from a rating."""
    if not request.amount:
        raise Refusal("adjust_nothing", pool=request.pool)
    player = tx.book.alias(request.target)
    draft = replace(_draft(Adjustment(player, request.amount), actor, request), pool=request.pool)
    return Plan(request, draft, frozenset({player}))


# --- merging ------------------------------------------------------------------------------------------------


async def _merge(tx: Tx, actor: Actor, request: Request) -> Plan:
    """Two names of one person. Refused when the two met, as then they were two persons."""
    wrong, right = request.target, request.other
    assert right is not None
    directory, book = tx.directory, tx.book
    facts: dict[str, Any] = {"wrong": directory.name_of(wrong), "right": directory.name_of(right)}
    if wrong == right:
        raise Refusal("merge_same", **facts)
    if directory.roster.resolve(MASKED_NAME) in (wrong, right):
        raise Refusal("merge_masked", **facts)
    balances = (pool for _, pool, entry in book.entries(OpeningBalance) if entry.player == wrong)
    if (pool := next(balances, None)) is not None:
        raise Refusal("merge_opening", pool=pool, **facts)
    for index in book.games_of(wrong):
        if not book.is_void(index) and any(player == right for _, player in book.columns.members(index)):
            raise Refusal("merge_met", what=f"局{book.columns.number[index]}", **facts)
    for report in await tx.reports.open_ones():
        if {wrong, right} <= set(report.players):
            raise Refusal("merge_met", what=f"#{report.report_id}", **facts)
    for challenge in tx.state.challenges.values():
        if {challenge.challenger, challenge.opponent} == {wrong, right} and challenge.state != "cancelled":
            raise Refusal("merge_met", what=f"约{challenge.number}", **facts)
    draft = _draft(Merged(wrong, right), actor, request)
    return Plan(request, draft, frozenset({wrong, right}), names=(facts["wrong"], facts["right"]))
