"""How one entry changes the state: the fold step. Pure: no clock, no I/O, no names."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from rating_core import elo, ledger
from rating_core.columns import COUNTED, VOID, GameColumns
from rating_core.rulebook import PEAK_GAMES
from rating_core.rules import farming
from rating_core.rules.era import Era
from rating_core.rules.season import return_day
from rating_core.state import (
    PLAYER_BITS,
    Challenge,
    EventState,
    Past,
    PoolState,
    PublishedList,
    Standing,
    State,
    join,
    side_code,
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


NET = {"W": 1, "D": 0, "L": -1}
"""What a result moves the net score of the left side against the right one (L6)."""


def fold_games(state: State, columns: GameColumns, start: int, stop: int) -> None:
    """Enter games start…stop−1 of the columns, all of one pool: who counts, rating changes, farming (L1, L5, L6).

    An archived player whose bar is over when the report takes effect is back (§8).
    """
    if start == stop:
        return
    pool = state.pools[columns.pool[start]]
    (_fold_singles if pool.pool.side_size == 1 else _fold_pairs)(state, pool, columns, start, stop)


def _fold_singles(state: State, pool: PoolState, columns: GameColumns, start: int, stop: int) -> None:
    standings, locks, rules = pool.standings, pool.locks, pool.pool.rules
    changes_of = elo.changes_by(rules)
    results = {
        ord(one): (one, other, elo.score(one, rules), elo.score(other, rules), NET[one])
        for one, other in elo.MIRRORED.items()
    }
    flags, (before_left, _, before_right, _), (change_left, _, change_right, _) = (
        columns.flags, columns.before, columns.change,
    )  # fmt: skip
    begin = end = 0  # of the era of the game before
    for index, left, right, at, event, weight, letter, flag in zip(
        range(start, stop), columns.players[0][start:stop], columns.players[2][start:stop], columns.at[start:stop],
        columns.event[start:stop], columns.weight[start:stop], columns.result[start:stop], flags[start:stop],
        strict=True,
    ):  # fmt: skip
        if flag & VOID:
            columns.clear(index)
            continue
        if not begin <= at < end:
            era = Era.of(at)
            begin, end, season, nets = era.begin, era.end, era.season, pool.nets_of(era.season)
            peak_games, limit = era.peak_games, era.farming_net
        try:
            ours, theirs = standings[left], standings[right]
        except KeyError:
            ours, theirs = state.standing(pool.pool.name, left), state.standing(pool.pool.name, right)
        if ours.archived or theirs.archived:
            _bring_back((ours, theirs), columns.said_at[index])
        before_left[index] = rating = ours.rating
        before_right[index] = other = theirs.rating
        result, mirrored, won, lost, net = results[letter]
        if left < right:
            pair = left << PLAYER_BITS | right
        else:
            pair, net = right << PLAYER_BITS | left, -net
        known = pair in locks
        if known and not event and not farming.release(pool, pair, season, at):
            flags[index] = 0
            change_left[index] = change_right[index] = 0.0
            continue
        gained, given = changes_of(rating, other, rating - other, weight, won, lost)
        change_left[index], change_right[index] = gained, given
        if flag != COUNTED:
            flags[index] = COUNTED
        _enter(ours, gained, result, at, season, event, peak_games)
        _enter(theirs, given, mirrored, at, season, event, peak_games)
        if known:
            farming.enter_own(pool, pair)
        if net and not event:
            nets[pair] = net = nets.get(pair, 0) + net
            if net >= limit or net <= -limit:
                farming.lock(pool, pair, season)


def _fold_pairs(state: State, pool: PoolState, columns: GameColumns, start: int, stop: int) -> None:
    """What `_fold_singles` does, for sides of two."""
    era = Era.of(columns.at[start])
    for index in range(start, stop):
        if columns.flags[index] & VOID:
            columns.clear(index)
            continue
        at, event, result = columns.at[index], columns.event[index], chr(columns.result[index])
        left, right = side_code(columns.left(index)), side_code(columns.right(index))
        if not era.begin <= at < era.end:
            era = Era.of(at)
        standings = [state.standing(pool.pool.name, player) for _, player in columns.members(index)]
        _bring_back(standings, columns.said_at[index])
        ratings = [standing.rating for standing in standings]
        for column, rating in zip(columns.before, ratings, strict=True):
            column[index] = rating
        pair = join(left, right, 2)
        known = pair in pool.locks
        if known and not event and not farming.release(pool, pair, era.season, at):
            columns.flags[index] = 0
            for column in columns.change:
                column[index] = 0.0
            continue
        _, _, gained, given = elo.game_changes(ratings[:2], ratings[2:], result, columns.weight[index], pool.pool.rules)
        columns.flags[index] = COUNTED
        letters = (result, result, elo.MIRRORED[result], elo.MIRRORED[result])
        for column, standing, letter, change in zip(columns.change, standings, letters, gained + given, strict=True):
            column[index] = change
            _enter(standing, change, letter, at, era.season, event, era.peak_games)
        if known:
            farming.enter_own(pool, pair)
        if (net := NET[result]) and not event:
            farming.enter_result(pool, pool.nets_of(era.season), pair, net if left < right else -net, era)


def _bring_back(standings: Iterable[Standing], at: int) -> None:
    """Take archived players whose bar is over at `at` (ms) from the archive list (§8)."""
    for standing in standings:
        if standing.archived and standing.barred_until <= at:
            standing.archived, standing.barred_until, standing.back_at = False, 0, at


def _enter(
    standing: Standing, change: float, result: str, at: int, season: int, event: int, peak_games: int
) -> None:  # fmt: skip
    """Count a game in a player's standing."""
    if standing.season != season or event:
        _enter_season(standing, season, change, 1, 1 if event else 0)
    standing.rating = rating = standing.rating + change
    if result == "W":
        standing.wins += 1
    elif result == "L":
        standing.losses += 1
    else:
        standing.draws += 1
    last, peak = standing.last_at, standing.peak
    if at > last:
        standing.last_at = at
        if not last:
            standing.first_at = at
    elif at < standing.first_at:
        standing.first_at = at
    if peak is None or rating > peak:
        _raise_peak(standing, at, peak_games)


def _enter_season(standing: Standing, season: int, change: float, games: int = 0, event_games: int = 0) -> None:
    """Before a rating changes: keep what he brought into each season, and how many games he played in it.

    Late changes of an earlier season go into what he brought into each later one.
    """
    if season > standing.season:
        played = standing.wins + standing.draws + standing.losses
        if standing.season:
            standing.earlier = (
                standing.season, played - standing.games_before, standing.event_games, standing.brought,
                standing.earlier,
            )  # fmt: skip
        standing.season, standing.brought = season, standing.rating
        standing.games_before, standing.event_games = played, event_games
    elif season == standing.season:
        standing.event_games += event_games
    else:
        standing.earlier = _enter_late(standing.earlier, season, change, games, event_games, standing.brought)
        standing.brought += change
        standing.games_before += games


def _enter_late(past: Past, season: int, change: float, games: int, event_games: int, carried: float) -> Past:
    """Return earlier seasons with what came late into one; `carried` is what the one after `past` began with."""
    if past is None or past[0] < season:
        return season, games, event_games, carried, past
    this, played, in_events, brought, earlier = past
    if this == season:
        return this, played + games, in_events + event_games, brought, earlier
    earlier = _enter_late(earlier, season, change, games, event_games, brought)
    return this, played, in_events, brought + change, earlier


def _archive(standing: Standing, at: int, until: int) -> None:
    """Put on the archive list; barred until `until` (ms) at least."""
    if not standing.archived:
        standing.archived, standing.archived_at = True, at
    standing.barred_until = max(standing.barred_until, until)


def _raise_peak(standing: Standing, at: int, needed: int) -> None:
    """L14: the highest actual rating from the 20th counted game on; the earliest day on ties."""
    played = standing.wins + standing.draws + standing.losses
    if played >= needed and (standing.peak is None or standing.rating > standing.peak):
        standing.peak, standing.peak_at = standing.rating, at


def _adjust(state: State, seq: int, said_at: int, pool: str, player: int, amount: float, kind: str) -> Mark:
    standing = state.standing(pool, player)
    before = standing.rating
    _enter_season(standing, season_of(said_at), amount)
    standing.rating += amount
    _raise_peak(standing, said_at, PEAK_GAMES.on(day_of(said_at)))
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
    standing.season, standing.brought, standing.earlier = season_of(entry.as_of), entry.rating, None
    standing.games_before, standing.opened_at = standing.games - entry.season_games, entry.as_of
    if entry.archived:
        back = return_day(season_of(entry.as_of) - 1)
        standing.archived, standing.archived_at = True, entry.as_of
        standing.barred_until = back if entry.as_of < back else 0
    if entry.peak is not None:
        standing.peak, standing.peak_at = entry.peak, entry.peak_at or entry.as_of
    _raise_peak(standing, entry.as_of, PEAK_GAMES.on(day_of(entry.as_of)))
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
