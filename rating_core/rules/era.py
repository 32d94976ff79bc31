"""Dated numbers of the rules that the fold needs for every game, looked up once for a stretch of time."""

from dataclasses import dataclass

from rating_core.rulebook import FARMING_NET, PEAK_GAMES
from rating_core.times import day_of, season_of, season_start, start_of


@dataclass(frozen=True, slots=True)
class Era:
    """What holds for games posted from `begin` to before `end` (ms), which lie in one season."""

    begin: int
    end: int
    season: int
    farming_net: int
    """L6: the net score at which a pair is locked."""
    peak_games: int
    """L14: the counted game from which on the peak counts."""

    @classmethod
    def of(cls, at: int) -> "Era":
        """Return the era of an instant."""
        season, day = season_of(at), day_of(at)
        begin, end = season_start(season), season_start(season + 1)
        for since in (start_of(since) for rule in (FARMING_NET, PEAK_GAMES) for since, _ in rule.values):
            begin, end = (max(begin, since), end) if since <= at else (begin, min(end, since))
        return cls(begin, end, season, FARMING_NET.on(day), PEAK_GAMES.on(day))
