"""How one entry changes the state: the fold step. Pure: no clock, no I/O, no names."""

from collections.abc import Callable
from dataclasses import dataclass

from rating_core import ledger
from rating_core.elo import game_changes
from rating_core.rulebook import PEAK_GAMES
from rating_core.rules import farming
from rating_core.rules.season import return_day
from rating_core.state import (
    COUNTED,
    VOID,
    Challenge,
    EventState,
    GameColumns,
    Pair,
    PublishedList,
    Standing,
    State,
    pair_key,
)
from rating_core.times import day_of, season_of


@dataclass(frozen=True, slots=True)
class Mark:
    """A change of a rating that is no game: opening balance, adjustment, settlement."""

    seq: int
    at: int
    pool: str
    player: int
    kind: str
    before: float
    after: float


def fold_games(state: State, columns: GameColumns, start: int, stop: int, effective_at: int) -> None:
    """Enter games start…stop−1 of the columns: who counts, rating changes, farming (L1, L5, L6).

    `effective_at` (ms): an archived player whose bar is over by then is back before the first line (§8).
    """
    for index in range(start, stop):
        if not columns.flags[index] & VOID:
            for _, player in columns.members(index):
                standing = state.standing(columns.pool[index], player)
                if standing.archived and standing.barred_until <= effective_at:
                    standing.archived, standing.barred_until, standing.back_at = False, 0, effective_at
    for index in range(start, stop):
        if columns.flags[index] & VOID:
            columns.flags[index] = VOID
            _clear(columns, index)
        else:
            _fold_game(state, columns, index)


def _fold_game(state: State, columns: GameColumns, index: int) -> None:
    name, at = columns.pool[index], columns.at[index]
    left, right, result = columns.left(index), columns.right(index), chr(columns.result[index])
    pool = state.pools[name]
    casual = not columns.event[index]
    key = pair_key(left, right)
    pairs = pool.pairs_in(season_of(at))
    try:
        pair: Pair | None = pairs[key]
    except KeyError:
        pair = pairs.setdefault(key, Pair()) if casual else None
    ours = [state.standing(name, player) for player in left]
    theirs = [state.standing(name, player) for player in right]
    for slot, standing in zip((0, 1), ours, strict=False):
        columns.before[slot][index] = standing.rating
    for slot, standing in zip((2, 3), theirs, strict=False):
        columns.before[slot][index] = standing.rating
    if casual and pair is not None and not farming.release(pool, key, pair, at):
        columns.flags[index] = 0
        for column in columns.change:
            column[index] = 0.0
        return
    _, _, gained, lost = game_changes(
        [s.rating for s in ours], [s.rating for s in theirs], result, columns.weight[index], pool.pool.rules
    )
    columns.flags[index] = COUNTED
    for season, others in pool.pairs.items():
        if season != season_of(at) and key in others and others[key].locked:
            others[key].own += 1
    mirrored = "L" if result == "W" else "W" if result == "L" else "D"
    for slot, standing, change in zip((0, 1), ours, gained, strict=False):
        columns.change[slot][index] = change
        _enter(standing, change, result, at, event=not casual)
    for slot, standing, change in zip((2, 3), theirs, lost, strict=False):
        columns.change[slot][index] = change
        _enter(standing, change, mirrored, at, event=not casual)
    if pair is None:
        return
    if not casual:
        pair.own += 1
    elif result != "D":
        first_side_won = (result == "W") == (tuple(sorted(left)) == key[0])
        farming.enter_result(pool, key, pair, 1 if first_side_won else -1, at)


def _clear(columns: GameColumns, index: int) -> None:
    for slot in range(4):
        columns.before[slot][index] = columns.change[slot][index] = 0.0


def _enter(standing: Standing, change: float, result: str, at: int, *, event: bool) -> None:
    """Count a game in a player's standing."""
    season = season_of(at)
    _enter_season(standing, season, change)
    standing.rating += change
    standing.games += 1
    if result == "W":
        standing.wins += 1
    elif result == "D":
        standing.draws += 1
    else:
        standing.losses += 1
    standing.season_games[season] = standing.season_games.get(season, 0) + 1
    if event:
        standing.season_event_games[season] = standing.season_event_games.get(season, 0) + 1
    if not standing.first_at or at < standing.first_at:
        standing.first_at = at
    standing.last_at = max(standing.last_at, at)
    _raise_peak(standing, at)


def _enter_season(standing: Standing, season: int, change: float) -> None:
    """Before a rating changes: keep what he brought into each season; late changes of earlier ones go into it."""
    if season not in standing.carried:
        standing.carried[season] = standing.rating_after(season)
    if season != max(standing.carried):
        for other in standing.carried:
            if other > season:
                standing.carried[other] += change


def _archive(standing: Standing, at: int, until: int) -> None:
    """Put on the archive list; barred until `until` (ms) at least."""
    if not standing.archived:
        standing.archived, standing.archived_at = True, at
    standing.barred_until = max(standing.barred_until, until)


def _raise_peak(standing: Standing, at: int) -> None:
    """L14: the highest actual rating from the 20th counted game on; the earliest day on ties."""
    if standing.games >= PEAK_GAMES.on(day_of(at)) and (standing.peak is None or standing.rating > standing.peak):
        standing.peak, standing.peak_at = standing.rating, at


def _adjust(state: State, seq: int, said_at: int, pool: str, player: int, amount: float, kind: str) -> Mark:
    standing = state.standing(pool, player)
    before = standing.rating
    _enter_season(standing, season_of(said_at), amount)
    standing.rating += amount
    _raise_peak(standing, said_at)
    return Mark(seq, said_at, pool, player, kind, before, standing.rating)


# --- entries other than games -----------------------------------------------------------------------------


def _registered(state: State, entry: ledger.PlayerRegistered, seq: int, said_at: int, pool: str) -> list[Mark]:
    state.initial[entry.player] = entry.initial
    state.placing[entry.player] = entry.placing
    return []


def _opening(state: State, entry: ledger.OpeningBalance, seq: int, said_at: int, pool: str) -> list[Mark]:
    standing = state.standing(pool, entry.player)
    before = standing.rating
    standing.rating = entry.rating
    standing.wins, standing.draws, standing.losses = entry.wins, entry.draws, entry.losses
    standing.games = entry.wins + entry.draws + entry.losses
    standing.season_games[season_of(entry.as_of)] = entry.season_games
    standing.opened_at, standing.carried = entry.as_of, {}
    if entry.archived:
        back = return_day(season_of(entry.as_of) - 1)
        standing.archived, standing.archived_at = True, entry.as_of
        standing.barred_until = back if entry.as_of < back else 0
    if entry.peak is not None:
        standing.peak, standing.peak_at = entry.peak, entry.peak_at or entry.as_of
    _raise_peak(standing, entry.as_of)
    return [Mark(seq, entry.as_of, pool, entry.player, entry.KIND, before, entry.rating)]


def _ip_checked(state: State, entry: ledger.IpChecked, seq: int, said_at: int, pool: str) -> list[Mark]:
    if entry.valid:
        state.ip_checked.add(entry.player)
    else:
        state.ip_checked.discard(entry.player)
    return []


def _event_opened(state: State, entry: ledger.EventOpened, seq: int, said_at: int, pool: str) -> list[Mark]:
    state.events[entry.event] = EventState(entry, pool)
    return []


def _event_closed(state: State, entry: ledger.EventClosed, seq: int, said_at: int, pool: str) -> list[Mark]:
    state.events[entry.event].open = False
    return []


def _adjustment(state: State, entry: ledger.Adjustment, seq: int, said_at: int, pool: str) -> list[Mark]:
    return [_adjust(state, seq, said_at, pool, entry.player, entry.amount, entry.KIND)]


def _leave(state: State, entry: ledger.LeaveTaken, seq: int, said_at: int, pool: str) -> list[Mark]:
    state.leave_until[entry.player] = entry.until
    state.leaves[entry.player, entry.until] = seq
    for name in entry.pools:
        _archive(state.standing(name, entry.player), said_at, entry.until)
    return []


def _settlement(state: State, entry: ledger.Settlement, seq: int, said_at: int, pool: str) -> list[Mark]:
    marks = []
    for player, taken in entry.verdicts:
        if taken:
            marks.append(_adjust(state, seq, said_at, pool, player, -taken, entry.KIND))
        standing = state.standing(pool, player)
        if said_at < entry.until or standing.last_at < entry.until:  # else, executed late, he is back already
            _archive(standing, said_at, entry.until)
    state.settled[entry.season, pool] = seq
    return marks


def _challenge_issued(state: State, entry: ledger.ChallengeIssued, seq: int, said_at: int, pool: str) -> list[Mark]:
    state.challenges[entry.challenge] = Challenge(
        entry.challenge, pool, entry.challenger, entry.opponent, said_at, entry.deadline, seq
    )
    return []


def _challenge_extended(state: State, entry: ledger.ChallengeExtended, seq: int, said_at: int, pool: str) -> list[Mark]:
    state.challenges[entry.challenge].deadline = entry.deadline
    return []


def _challenge_fulfilled(
    state: State, entry: ledger.ChallengeFulfilled, seq: int, said_at: int, pool: str
) -> list[Mark]:
    challenge = state.challenges[entry.challenge]
    challenge.state, challenge.ended_seq = "fulfilled", seq
    return []


def _challenge_cancelled(
    state: State, entry: ledger.ChallengeCancelled, seq: int, said_at: int, pool: str
) -> list[Mark]:
    challenge = state.challenges[entry.challenge]
    challenge.state, challenge.ended_seq = "cancelled", seq
    return []


def _challenge_forfeited(
    state: State, entry: ledger.ChallengeForfeited, seq: int, said_at: int, pool: str
) -> list[Mark]:
    challenge = state.challenges[entry.challenge]
    challenge.state, challenge.ended_seq = "forfeited", seq
    return [_adjust(state, seq, said_at, pool, entry.player, -entry.amount, entry.KIND)]


def _list_published(state: State, entry: ledger.ListPublished, seq: int, said_at: int, pool: str) -> list[Mark]:
    published = PublishedList(entry.number, entry.as_of, seq, entry.rows)
    state.lists[pool] = (*state.lists.get(pool, ()), published)
    return []


_STEPS: dict[type[ledger.Entry], Callable[..., list[Mark]]] = {
    ledger.PlayerRegistered: _registered,
    ledger.OpeningBalance: _opening,
    ledger.IpChecked: _ip_checked,
    ledger.EventOpened: _event_opened,
    ledger.EventClosed: _event_closed,
    ledger.Adjustment: _adjustment,
    ledger.LeaveTaken: _leave,
    ledger.Settlement: _settlement,
    ledger.ChallengeIssued: _challenge_issued,
    ledger.ChallengeExtended: _challenge_extended,
    ledger.ChallengeFulfilled: _challenge_fulfilled,
    ledger.ChallengeCancelled: _challenge_cancelled,
    ledger.ChallengeForfeited: _challenge_forfeited,
    ledger.ListPublished: _list_published,
}


def fold_entry(state: State, entry: ledger.Entry, seq: int, said_at: int, pool: str) -> list[Mark]:
    """Enter an entry that is neither games nor a correction; return the rating changes it made."""
    return _STEPS[type(entry)](state, entry, seq, said_at, pool)


def fold_void(state: State, entry: ledger.Entry, seq: int) -> None:
    """Enter what is left of an entry that was voided: a lifted penalty (免罚) leaves its challenge ended.

    A Book of what was posted before some day knows no challenge that was issued later.
    """
    if isinstance(entry, ledger.ChallengeForfeited) and entry.challenge in state.challenges:
        challenge = state.challenges[entry.challenge]
        challenge.state, challenge.ended_seq = "lifted", seq
