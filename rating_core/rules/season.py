"""L7, L8, L10: what a season's settlement says of one player, when seasons end, and where leave may be taken.

A season is judged as it ended, however late it is settled: archived is who was archived when it ended, and L10 goes
by the rating with which it ended; games posted in the season count whenever they take effect (§8).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Literal

from rating_core.rulebook import (
    MASKED_NAME,
    NEWCOMER_DAYS,
    NO_LEAVE_DAYS,
    RETURN_MONTH_DAY,
    SEASON_EXEMPT_RATING,
    SEASON_GAMES,
    SEASON_PENALTY,
)
from rating_core.state import Standing, State
from rating_core.times import DAY_MS, day_of, season_of, season_start, start_of


@dataclass(frozen=True, slots=True)
class Verdict:
    """What happens to a player at settlement: points taken and whether he is archived.

    reason: few_games (L7), leave (L8), high_rating (L10: exempt), newcomer (L7: exempt).
    """

    reason: Literal["few_games", "leave", "high_rating", "newcomer"]
    taken: float
    archived: bool


def last_day(season: int) -> date:
    """Return the day on which the numbers of a season's settlement are read."""
    return day_of(season_start(season + 1) - 1)


def return_day(season: int) -> int:
    """Return the instant from which those archived at the settlement of `season` may play again (L7)."""
    month, day = RETURN_MONTH_DAY
    return start_of(date(season + 1, month, day))


def games_needed(season: int) -> int:
    """Return how many counted games keep a player on the board (L7)."""
    return SEASON_GAMES.on(last_day(season))


def judge(standing: Standing, season: int, *, on_leave: bool) -> Verdict | None:
    """Return the verdict on an unmasked player.

    None when he has his games, was archived already, or did not stand here before the season's end.
    """
    end = season_start(season + 1)
    here_since = min((at for at in (standing.first_at, standing.opened_at) if at), default=end)
    if here_since >= end or standing.archived_before(end):
        return None
    if standing.season_games.get(season, 0) >= games_needed(season):
        return None
    if on_leave:
        return Verdict("leave", 0.0, True)
    if standing.rating_after(season) >= SEASON_EXEMPT_RATING.on(last_day(season)):
        return Verdict("high_rating", 0.0, False)
    newcomer_from = end - NEWCOMER_DAYS.on(last_day(season)) * DAY_MS
    if not standing.opened_at and standing.first_at >= newcomer_from:
        return Verdict("newcomer", 0.0, False)
    return Verdict("few_games", SEASON_PENALTY.on(last_day(season)), True)


def is_masked(state: State, player: int) -> bool:
    """Return whether a player is 蒙面人公用号, whom no settlement touches (L13)."""
    return state.placing.get(player) == MASKED_NAME


def verdict_on(state: State, pool: str, player: int, season: int) -> Verdict | None:
    """Return what the settlement of a season in a pool says of a registered player, were it executed now."""
    if is_masked(state, player):
        return None
    on_leave = (player, season_start(season + 1)) in state.leaves
    return judge(state.look(pool, player), season, on_leave=on_leave)


def verdicts(state: State, pool: str, season: int) -> Iterator[tuple[int, Verdict]]:
    """Yield (player, verdict) of everybody of a pool on whom there is one."""
    for player in sorted(state.pools[pool].standings):
        if (verdict := verdict_on(state, pool, player, season)) is not None:
            yield player, verdict


def archived_by(state: State, pool: str, season: int) -> dict[int, float]:
    """Return whom a settlement of a season would archive, and the points it would take from each."""
    return {player: verdict.taken for player, verdict in verdicts(state, pool, season) if verdict.archived}


def pending_bar(state: State, pool: str, player: int, at: int) -> int | None:
    """Return until when (ms) the settlement of the season before, not executed yet, bars a player already (§8 D)."""
    season = season_of(at) - 1
    until = return_day(season)
    if at >= until or (season, pool) in state.settled:
        return None
    verdict = verdict_on(state, pool, player, season)
    return until if verdict is not None and verdict.archived else None


# --- leave (L8) -------------------------------------------------------------------------------------------


def leave_closes(season: int) -> int:
    """Return the instant from which no leave may be taken in a season."""
    end = season_start(season + 1)
    return end - NO_LEAVE_DAYS.on(last_day(season)) * DAY_MS


@dataclass(frozen=True, slots=True)
class LeavePools:
    """What a leave means in each pool where a player stands: (pool, counted games this season)."""

    archived: tuple[tuple[str, int], ...]
    """Fewer than 10 games: archived at once, without deduction."""
    listed: tuple[tuple[str, int], ...]
    """Enough games: he stays on the board."""
    before: tuple[str, ...]
    """Archived already."""


def leave_pools(state: State, player: int, season: int) -> LeavePools:
    """Return what a leave in a season means for a registered player (L8: 如达不到10盘比赛可以请假)."""
    archived, listed, before = [], [], []
    for name in state.pools:
        standing = state.look(name, player)
        games = standing.season_games.get(season, 0)
        if not standing.listed:
            continue
        if standing.archived:
            before.append(name)
        elif games < games_needed(season):
            archived.append((name, games))
        else:
            listed.append((name, games))
    return LeavePools(tuple(archived), tuple(listed), tuple(before))
