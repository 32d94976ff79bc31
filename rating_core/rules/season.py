"""L7, L8, L10: what a season's settlement says of one player, and when seasons end."""

from dataclasses import dataclass
from datetime import date
from typing import Literal

from rating_core.rulebook import (
    NEWCOMER_DAYS,
    RETURN_MONTH_DAY,
    SEASON_EXEMPT_RATING,
    SEASON_GAMES,
    SEASON_PENALTY,
)
from rating_core.state import Standing
from rating_core.times import DAY_MS, day_of, season_start, start_of


@dataclass(frozen=True, slots=True)
class Verdict:
    """What happens to a player at settlement: points taken and whether he is archived.

    reason: few_games (L7), leave (L8), high_rating (L10: exempt), newcomer (L7: exempt).
    """

    reason: Literal["few_games", "leave", "high_rating", "newcomer"]
    taken: float
    archived: bool


def return_day(season: int) -> int:
    """Return the instant from which those archived at the settlement of `season` may play again (L7)."""
    month, day = RETURN_MONTH_DAY
    return start_of(date(season + 1, month, day))


def judge(standing: Standing, season: int, *, on_leave: bool) -> Verdict | None:
    """Return the verdict on an unmasked player.

    None when he has his games, is archived already, or did not stand here before the season's end.
    """
    end = season_start(season + 1)
    here_since = min((at for at in (standing.first_at, standing.opened_at) if at), default=end)
    if here_since >= end:
        return None
    last_day = day_of(end - 1)
    if standing.archived or standing.season_games.get(season, 0) >= SEASON_GAMES.on(last_day):
        return None
    if on_leave:
        return Verdict("leave", 0.0, True)
    if standing.rating >= SEASON_EXEMPT_RATING.on(last_day):
        return Verdict("high_rating", 0.0, False)
    newcomer_from = end - NEWCOMER_DAYS.on(last_day) * DAY_MS
    if not standing.opened_at and standing.first_at >= newcomer_from:
        return Verdict("newcomer", 0.0, False)
    return Verdict("few_games", SEASON_PENALTY.on(last_day), True)
