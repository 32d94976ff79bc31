"""Every number of the league's rules, its clause, and the date from which it holds.

Nothing else in the code holds a rule's number. Clauses are cited as L1…L16 (the league's numbered list),
约战<n>, T (the Elo text for 跳棋) and E (the Elo concepts); decisions where the source is silent are marked D
in the league's rulebook document.
"""

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from types import MappingProxyType
from typing import Generic, Literal, TypeVar

T = TypeVar("T")

FIRST_DAY = date(2016, 3, 1)
"""T六: ratings of 跳棋 have been kept since March 2016."""


@dataclass(frozen=True)
class Rule(Generic[T]):
    """A number (or other value) of the rules with its clause and the days from which its values hold."""

    clause: str
    values: tuple[tuple[date, T], ...]

    def on(self, day: date) -> T:
        """Return the value in force on `day`; before the first date the first value holds."""
        index = bisect_right([since for since, _ in self.values], day) - 1
        return self.values[max(index, 0)][1]

    @property
    def now(self) -> T:
        """The newest value."""
        return self.values[-1][1]


def _rule(clause: str, value: T, since: date = FIRST_DAY) -> Rule[T]:
    return Rule(clause, ((since, value),))


# --- L1, T三: the rating ----------------------------------------------------------------------------------

Expectancy = Literal["logistic", "normal", "fide_table"]


@dataclass(frozen=True, slots=True)
class RuleSet:
    """What may differ between pools. Ratings and differences in rating points.

    k_bands: (lower bound inclusive, K), ascending, by the player's own unrounded rating before the game (L1).
    draw_score: W of a drawn game for each side (T三: 0.3 against drawing).
    first_move_bonus: added to the first mover's dr and taken from the second's (T四: −65).
    """

    k_bands: tuple[tuple[float, int], ...] = ((float("-inf"), 32), (2100.0, 24), (2400.0, 16))
    draw_score: float = 0.5
    first_move_bonus: float = 0.0
    expectancy: Expectancy = "logistic"


LEAGUE_RULES = RuleSet()
LOGISTIC_SCALE = 400.0
"""L1: dr/400."""
NORMAL_SIGMA = 2000 / 7
"""§2 options: σ of the normal expectancy."""
FIDE_TABLE_LIMIT = 735
"""E table two: above this difference the expectancy is 1.00."""


@dataclass(frozen=True, slots=True)
class Pool:
    """A board (榜): one discipline with its own ratings, ranks, farming state and statistics (§1)."""

    name: str
    side_size: int
    rules: RuleSet = field(default_factory=RuleSet)


POOLS: Mapping[str, Pool] = MappingProxyType(
    {pool.name: pool for pool in (Pool("单跳1v1", 1), Pool("单跳2v2", 2), Pool("空跳2v2", 2))}
)
DEFAULT_POOL = "单跳1v1"

CASUAL_WEIGHT = 1.0
"""L5: 训练赛 and 约战."""
EVENT_WEIGHTS: Mapping[str, float] = MappingProxyType({"1": 1.0, "1.2": 1.2, "2": 2.0})
"""L5: training event, regular event, major event."""
UNRATED_WORD, UNRATED_WEIGHT = "不计", 0.0
"""An event such as 鬼面赛 or 马甲赛, where nobody says who he is, cannot be rated: it takes no reports."""

# --- L4: starting rating ----------------------------------------------------------------------------------

PLACINGS: Mapping[str, float] = MappingProxyType(
    {
        "普通": 2000.0,
        "32强": 2050.0,
        "16强": 2100.0,
        "8强": 2150.0,
        "4强": 2200.0,
        "亚军": 2250.0,
        "冠军": 2300.0,
        "旧冠军": 2250.0,
        "旧亚军": 2200.0,
        "旧4强": 2150.0,
        "旧8强": 2100.0,
        "旧前十": 2050.0,
    }
)
"""L4: initial rating by best placing; 旧… means before the 2013 皇后杯: one level lower, first ten only."""
ORDINARY_PLACING = "普通"
MASKED_INITIAL = 2300.0
"""L4: 蒙面人公用号."""
MASKED_NAME = "蒙面人公用号"

# --- L6, 约战<2>: farming ---------------------------------------------------------------------------------

FARMING_NET = _rule("L6", 4)
"""Net score at which a pair is locked for games outside events."""
FARMING_REPAY = _rule("L6", 4)
"""Counted games with others that each must play before the pair counts again."""

# --- L7, L8, L10: season, leave, archive ------------------------------------------------------------------

SEASON_GAMES = _rule("L7", 10)
SEASON_PENALTY = _rule("L7", 20.0)
NEWCOMER_DAYS = _rule("L7", 7)
"""First counted game within the season's last so many days: exempt."""
RETURN_MONTH_DAY = (2, 1)
"""L7: archived at settlement, barred until this day of the next season."""
NO_LEAVE_DAYS = _rule("L8", 3)
SEASON_EXEMPT_RATING = _rule("L10", 2200.0)

# --- L9: forced challenge ---------------------------------------------------------------------------------

CHALLENGE_HOURS = _rule("L9", 7 * 24)
CHALLENGE_PENALTY = _rule("L9", 50.0)
CHALLENGES_PER_WEEK = _rule("L9", 1)
CHALLENGE_REMINDERS = (72, 24)
"""§9: hours before the deadline at which the opponent is reminded."""

# --- L11: IP check ----------------------------------------------------------------------------------------

IP_CHECK_RATING = _rule("L11", 2200.0)

# --- L12–L14: display -------------------------------------------------------------------------------------

PROVISIONAL_GAMES: Rule[int] = Rule("L12", ((FIRST_DAY, 10), (date(2017, 1, 1), 20)))
"""N: under so many counted games the shown rating is lowered."""
PROVISIONAL_STEP = _rule("L12", 10.0)
"""Points the shown rating loses for each missing game."""
PEAK_GAMES = _rule("L14", 20)
"""The peak rating counts from this counted game on."""

# --- §5 of the league's rulebook: reports -----------------------------------------------------------------

MAX_REPORT_LINES = 50
MAX_REPORT_CHARS = 4000
REPEAT_HOURS = 72
"""A desk post equal to a report that took effect within so many hours is asked about, not recorded."""

# --- the contract of the chat -----------------------------------------------------------------------------

QUIET_FROM, QUIET_UNTIL = 23, 8
"""No reminders between these hours of the day."""
SUGGESTED_OPPONENTS = 5
SUGGESTED_RANGE = 150.0
"""/推荐对手: so many players at most, within so many points of one's own rating."""
LATELY_DAYS = 90
"""/推荐对手: whom one met "lately" is counted over so many days."""

CHIEF_EDITOR = "挑战者"
"""L16: the table's chief editor, credited on boards, pages and /规则."""
