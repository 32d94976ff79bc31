"""A season's settlement (结算; L7, L8, L10, §8): what it would do, doing it once, and rolling it back as a whole."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from rating_core.directory import Actor
from rating_core.failpoints import hit
from rating_core.ledger import Draft, LeaveTaken, Settlement, Void
from rating_core.rules import season as rules
from rating_core.service import challenges, lists
from rating_core.service.challenges import Ended
from rating_core.service.impact import PersonChange, compare
from rating_core.service.lists import Published
from rating_core.service.own_case import check_own_case
from rating_core.service.refusal import Refusal
from rating_core.service.transaction import Tx
from rating_core.store.report_store import Report
from rating_core.times import season_of, season_start


@dataclass(frozen=True, slots=True)
class Judged:
    """A player with the counted (`games`) and event games he has in the season."""

    player: int
    games: int
    event_games: int
    back: bool = False
    """The settlement is late: he plays again already and stays on the board."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """What a season's settlement in a pool does: with whom, and how many it leaves alone."""

    season: int
    pool: str
    deducted: tuple[Judged, ...]
    """Fewer than 10 games: lose `taken` each and are archived (L7)."""
    taken: float
    left: tuple[Judged, ...]
    """On leave: archived without deduction, at the latest now (L8)."""
    high: tuple[Judged, ...]
    """Fewer than 10 games, but rated 2200 or more: exempt (L10)."""
    newcomers: tuple[Judged, ...]
    """First counted game in the last seven days: exempt (L7)."""
    enough: int
    archived: int
    """On the archive list before, not by a leave of this season."""
    verdicts: tuple[tuple[int, float], ...]
    """As they will be entered: (player, points taken); all of them are archived."""
    returns_at: int
    waiting: tuple[Report, ...] = ()
    """Reports posted in the season that are not decided: nothing is executed before."""


@dataclass(frozen=True, slots=True)
class Settled:
    """A settlement that was executed: the ratings of those who lost points, before and after; the final list."""

    sheet: Sheet
    seq: int
    ratings: tuple[tuple[int, float, float], ...]
    final: Published | None
    """None where nobody is left on the board."""
    ended: tuple[Ended, ...]


@dataclass(frozen=True, slots=True)
class Rollback:
    """What rolling a settlement back does: its ledger row, the number of its list, and who changes."""

    season: int
    pool: str
    seq: int
    settled_at: int
    by: int
    list_number: int | None
    list_seq: int | None
    changes: tuple[PersonChange, ...]
    """By more than the rank; in whatever pool."""


# --- the sheet --------------------------------------------------------------------------------------------


def _check_season(tx: Tx, season: int, pool: str, at: int) -> None:
    """Raise a Refusal where a season is not to be settled now, reports that wait aside."""
    if at < (end := season_start(season + 1)):
        raise Refusal("season_running", season=season, until=end)
    if (season, pool) in tx.state.settled:
        raise Refusal("season_settled", season=season, pool=pool)
    if later := [s for s, name in tx.state.settled if name == pool and s > season]:
        raise Refusal("season_later", season=season, pool=pool, later=max(later))


async def waiting_reports(tx: Tx, season: int, pool: str) -> tuple[Report, ...]:
    """Return the reports of a pool posted in a season that wait, are disputed, or went to the desk."""
    return tuple(r for r in await tx.reports.open_ones() if r.pool == pool and season_of(r.said_at) == season)


async def sheet(tx: Tx, season: int, pool: str, at: int) -> Sheet:
    """结算 预览: what the settlement of a season would do at `at` (ms). Raises Refusal.

    The season must be over, not settled, and no later one either; players must have stood on the board in it.
    """
    _check_season(tx, season, pool, at)
    tx.read_own()
    state, end, returns_at = tx.book.state, season_start(season + 1), rules.return_day(season)
    leaves = [entry for _, _, entry in tx.book.entries(LeaveTaken) if entry.until == end]
    by_leave = {entry.player for entry in leaves if pool in entry.pools}
    groups: dict[str, list[Judged]] = {"few_games": [], "leave": [], "high_rating": [], "newcomer": []}
    enough = archived = 0
    taken = 0.0
    found = []
    for player, standing in state.pools[pool].standings.items():
        since = min((moment for moment in (standing.first_at, standing.opened_at) if moment), default=end)
        if since >= end or rules.is_masked(state, player):
            continue
        games = standing.season_games.get(season, 0)
        back = at >= returns_at and standing.last_at >= returns_at
        judged = Judged(player, games, standing.season_event_games.get(season, 0), back)
        verdict = rules.verdict_on(state, pool, player, season)
        if verdict is not None:
            groups[verdict.reason].append(judged)
            found += [(player, verdict.taken)] if verdict.archived else []
            taken = max(taken, verdict.taken)
        elif standing.archived_before(end) and player in by_leave:
            groups["leave"].append(judged)
        elif standing.archived_before(end):
            archived += 1
        else:
            enough += 1
    if not any(groups.values()) and not enough and not archived:
        raise Refusal("season_empty", season=season, pool=pool)

    def listed(reason: str) -> tuple[Judged, ...]:
        return tuple(sorted(groups[reason], key=lambda j: (j.games, tx.directory.name_of(j.player))))

    return Sheet(
        season, pool, listed("few_games"), taken, listed("leave"), listed("high_rating"), listed("newcomer"), enough,
        archived, tuple(sorted(found)), returns_at, await waiting_reports(tx, season, pool),
    )  # fmt: skip


async def sheet_to_execute(tx: Tx, season: int, pool: str, at: int) -> Sheet:
    """Return the sheet if it may be executed now. Raises Refusal, also while reports of the season wait."""
    found = await sheet(tx, season, pool, at)
    if found.waiting:
        raise Refusal("season_reports", season=season, pool=pool, numbers=[r.report_id for r in found.waiting])
    return found


# --- executing --------------------------------------------------------------------------------------------


async def settle(tx: Tx, actor: Actor, found: Sheet, said_at: int) -> Settled:
    """Enter a settlement and publish the season's final list, in this transaction; both or nothing.

    The list shows the season as it ended (L12's N of its last day), with the settlement.
    """
    actor = await tx.known(actor)
    season, pool, end = found.season, found.pool, season_start(found.season + 1)
    before = {player: tx.book.state.look(pool, player).rating for player, _ in found.verdicts}
    closing = await asyncio.to_thread(tx.book.posted_before, end)
    entry = Settlement(season, found.returns_at, found.verdicts)
    row, _ = await tx.append(Draft(entry, said_at, actor.account_id, pool))
    hit("settlement_entered")
    closing.advance([row])
    try:
        final: Published | None = await lists.publish(
            tx, actor, pool, end - 1, said_at, final_title(season, pool), standings=closing.state.pools[pool]
        )
    except Refusal as refusal:
        if refusal.code != "list_empty":
            raise
        final = None
    ended = await challenges.cancel_barred(tx, said_at)
    detail = f"{season}赛季 {pool} 扣分封存{len(found.deducted)}人"
    await tx.journal(actor, said_at, "结算", about=f"账{row.seq}", detail=detail)
    ratings = [
        (player, before[player], tx.state.look(pool, player).rating) for player, taken in found.verdicts if taken
    ]
    return Settled(found, row.seq, tuple(ratings), final, tuple(ended))


def final_title(season: int, pool: str) -> str:
    """Return the title of a season's final list."""
    return f"传统{pool}跳棋等级分{season}年最终排行榜"


# --- rolling back -----------------------------------------------------------------------------------------


async def rollback(tx: Tx, actor: Actor, season: int, pool: str, at: int) -> Rollback:
    """结算 回滚: what voiding a settlement and its list would change. Raises Refusal.

    Only the newest settlement of a pool; not by somebody whom it archived (§5 D).
    """
    state = tx.state
    seq = state.settled.get((season, pool))
    if seq is None:
        raise Refusal("season_not_settled", season=season, pool=pool)
    if later := [s for s, name in state.settled if name == pool and s > season]:
        raise Refusal("rollback_later", season=season, pool=pool, later=max(later))
    row = await tx.ledger.row(seq)
    assert row is not None
    entry = row.entry()
    assert isinstance(entry, Settlement)
    check_own_case(tx.directory, actor, {tx.book.alias(player) for player, _ in entry.verdicts})
    tx.read_own()
    published = next((one for one in state.lists.get(pool, ()) if one.seq == seq + 1), None)
    list_seq = None if published is None else published.seq
    drafts = _voids(seq, list_seq, row.said_at, 0, pool)
    after = await asyncio.to_thread(tx.book.with_drafts, drafts)
    changes = compare(tx.book, after, tx.directory, at).own
    number = None if published is None else published.number
    return Rollback(season, pool, seq, row.said_at, row.actor, number, list_seq, changes)


def _voids(seq: int, list_seq: int | None, said_at: int, by: int, pool: str) -> Sequence[Draft]:
    """The settlement and its list are treated as never made, the newer one first."""
    return [Draft(Void(), said_at, by, pool, refers_to=target) for target in (list_seq, seq) if target is not None]


async def undo(tx: Tx, actor: Actor, found: Rollback, said_at: int) -> None:
    """Void a settlement and its list as a whole (§8, §10)."""
    actor = await tx.known(actor)
    for draft in _voids(found.seq, found.list_seq, said_at, actor.account_id, found.pool):
        await tx.append(draft)
        hit("rollback_entered")
    detail = f"{found.season}赛季 {found.pool} 影响{len(found.changes)}人"
    await tx.journal(actor, said_at, "回滚结算", about=f"账{found.seq}", detail=detail)
