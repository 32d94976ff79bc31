"""The Book's state at one point of the ledger.

A State can be copied (a checkpoint) or forked (a trial): a fork copies a standing or a pair only when it is
first touched, and shares what games do not change: trying a report costs the same in a small and in a large league.
"""

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol, TypeVar

from rating_core.ledger import EventOpened, ListRow
from rating_core.rulebook import POOLS, Pool

Side = tuple[int, ...]
"""The players of one side: one, or two in 2v2."""

PLAYER_BITS = 32
"""Bits of a player's number."""


def side_code(side: Side) -> int:
    """Return a side as one number, whoever of it was named first."""
    return side[0] if len(side) == 1 else min(side) << PLAYER_BITS | max(side)


def join(left: int, right: int, size: int = 1) -> int:
    """Return the unordered pair of two sides of `size` players, given by their codes: the lower is the first side."""
    bits = PLAYER_BITS * size
    return left << bits | right if left < right else right << bits | left


def pair_code(left: Side, right: Side) -> int:
    """Return the unordered pair of sides (§6 D) as one number."""
    return join(side_code(left), side_code(right), len(left))


def pair_members(code: int, size: int) -> Side:
    """Return the players of a pair of sides of `size` players, its first side first."""
    return tuple(code >> PLAYER_BITS * slot & 0xFFFFFFFF for slot in reversed(range(2 * size)))


class PastSeason(NamedTuple):
    """What a Standing keeps of an earlier season."""

    season: int
    games: int
    event_games: int
    carried: float
    """The rating he brought into it."""
    earlier: "Past"


Past = tuple[int, int, int, float, Any] | None
"""A PastSeason as it is kept: a plain tuple, which costs a quarter to make, in every season of every player."""


@dataclass(slots=True)
class Standing:
    """One player in one pool. Ratings in points, unrounded; times in ms."""

    rating: float
    wins: int = 0
    draws: int = 0
    losses: int = 0
    peak: float | None = None
    peak_at: int = 0
    season: int = 0
    """The newest season in which he played or his rating changed; 0 when there is none."""
    games_before: int = 0
    """Counted games of the seasons before it."""
    event_games: int = 0
    """Counted games in events in it."""
    brought: float = 0.0
    """The rating he brought into `season`; what earlier ones still change later is in it."""
    earlier: Past = None
    """The seasons before `season`."""
    first_at: int = 0
    """Posting time of the first counted game here; 0 when there is none."""
    last_at: int = 0
    archived: bool = False
    barred_until: int = 0
    """Archived players cannot play here before this instant."""
    opened_at: int = 0
    """As-of time of an opening balance; 0 when there is none."""
    archived_at: int = 0
    """When he was last archived here."""
    back_at: int = 0
    """When a report last brought him back from the archive."""

    def copy(self) -> "Standing":
        return Standing(
            self.rating, self.wins, self.draws, self.losses, self.peak, self.peak_at, self.season, self.games_before,
            self.event_games, self.brought, self.earlier, self.first_at, self.last_at, self.archived,
             self.barred_until, self.opened_at, self.archived_at, self.back_at,
        )  # fmt: skip

    def __reduce__(self) -> tuple[type["Standing"], tuple[Any, ...]]:
        """How pickle writes it: there are many, and field names would be most of what is written."""
        return Standing, tuple([getattr(self, name) for name in self.__slots__])

    @property
    def games(self) -> int:
        """Counted games."""
        return self.wins + self.draws + self.losses

    @property
    def latest(self) -> PastSeason:
        """`season` as it stands."""
        return PastSeason(self.season, self.games - self.games_before, self.event_games, self.brought, self.earlier)

    def seasons(self) -> Iterator[PastSeason]:
        """Yield his seasons, newest first."""
        if self.season:
            yield (past := self.latest)
            while past.earlier:
                yield (past := PastSeason(*past.earlier))

    @property
    def season_games(self) -> dict[int, int]:
        """Counted games by season (L7)."""
        return {past.season: past.games for past in self.seasons() if past.games}

    @property
    def season_event_games(self) -> dict[int, int]:
        """Counted games in events by season."""
        return {past.season: past.event_games for past in self.seasons() if past.event_games}

    @property
    def carried(self) -> dict[int, float]:
        """The rating he brought into each season; what earlier ones still changed later is in it."""
        return {past.season: past.carried for past in self.seasons()}

    def rating_after(self, season: int) -> float:
        """Return the rating with which a season ended: the last one, or the one brought into the next season (§8)."""
        found = self.rating
        for past in self.seasons():
            if past.season <= season:
                break
            found = past.carried
        return found

    def archived_before(self, moment: int) -> bool:
        """Return whether he stood on the archive list at `moment` (ms); whoever came back later did."""
        return self.back_at >= moment or (self.archived and self.archived_at < moment)

    @property
    def listed(self) -> bool:
        """He stands on this pool's board or archive list: from his first counted game or by an opening balance (§1)."""
        return self.games > 0 or self.opened_at > 0


@dataclass(frozen=True, slots=True)
class Lock:
    """What a locked pair of sides began with (L6)."""

    base: tuple[int, ...]
    """Each member's counted games in the pool when the pair was locked, the pair's first side first."""
    own: int = 0
    """Counted games of this very pair since then (of an event, of another season); they repay nothing."""


class _Copyable(Protocol):
    def copy(self: "V") -> "V": ...


K = TypeVar("K")
V = TypeVar("V", bound=_Copyable)


class _Fork(dict[K, V]):
    """A dict that copies a value from its base when it is first looked up with []."""

    __slots__ = ("_base",)

    def __init__(self, base: dict[K, V]) -> None:
        super().__init__()
        self._base = base

    def __missing__(self, key: K) -> V:
        value = self._base[key].copy()
        self[key] = value
        return value

    def __contains__(self, key: object) -> bool:
        return super().__contains__(key) or key in self._base


class Nets(dict[int, int]):
    """Net scores by pair. Pickled one by one: while pickle itself walks a large dict, no other thread has its turn."""

    __slots__ = ()

    def __reduce__(self) -> tuple[Any, ...]:
        return Nets, (), None, None, (item for item in self.items())


@dataclass(frozen=True, slots=True, eq=False)
class KeptNets:
    """Net scores by pair that change no more: a twelfth of the memory of a dict, and as slow to look one up in."""

    pairs: Sequence[int]
    scores: "array[int]"

    @classmethod
    def of(cls, nets: dict[int, int], size: int) -> "KeptNets":
        """Keep net scores of pairs of sides of `size` players."""
        return cls(array("Q", nets) if size == 1 else tuple(nets), array("i", nets.values()))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, KeptNets) and self.pairs == other.pairs:
            return self.scores == other.scores
        return isinstance(other, KeptNets | dict) and dict(self.items()) == dict(other.items())

    def items(self) -> Iterator[tuple[int, int]]:
        """Yield pairs and their net scores."""
        return zip(self.pairs, self.scores, strict=True)

    def get(self, key: int, default: int) -> int:
        """Return the net score of a pair."""
        try:
            return self.scores[self.pairs.index(key)]
        except ValueError:
            return default


class _NetFork(Nets):
    """Net scores that are looked up in their base, with get, until they are set here."""

    __slots__ = ("_base",)

    def __init__(self, base: Nets | KeptNets) -> None:
        super().__init__()
        self._base = base

    def get(self, key: int, default: int) -> int:  # type: ignore[override]
        found = super().get(key)
        return self._base.get(key, default) if found is None else found


@dataclass(slots=True)
class PoolState:
    """Standings of a pool by player, and its farming state (L6) by pair of sides (`pair_code`)."""

    pool: Pool
    standings: dict[int, Standing] = field(default_factory=dict)
    nets: dict[int, Nets | KeptNets] = field(default_factory=dict)
    """By season: net score of the pair's first side in casual games since the last release."""
    locks: dict[int, dict[int, Lock]] = field(default_factory=dict)
    """By pair: the seasons in which it is locked. A pair that was locked once stays here."""

    def nets_of(self, season: int) -> dict[int, int]:
        """Return the net scores of a season, to be changed; a new season starts at 0."""
        nets = self.nets.get(season)
        if not isinstance(nets, Nets):
            self.nets[season] = nets = Nets(nets.items() if nets else ())
        return nets

    def net(self, season: int, code: int) -> int:
        """Return the net score of the pair's first side in a season."""
        return self.nets[season].get(code, 0) if season in self.nets else 0

    def kept_nets(self) -> dict[int, KeptNets]:
        """Return all net scores as they stand, for somebody to keep. Those of past seasons stay so here as well."""
        kept = {
            season: nets if isinstance(nets, KeptNets) else KeptNets.of(nets, self.pool.side_size)
            for season, nets in self.nets.items()
        }
        newest = max(kept, default=0)
        self.nets |= {season: nets for season, nets in kept.items() if season != newest}
        return kept

    def copy(self) -> "PoolState":
        return PoolState(
            self.pool, {k: s.copy() for k, s in self.standings.items()}, dict(self.kept_nets()),
            {code: dict(seasons) for code, seasons in self.locks.items()},
        )  # fmt: skip

    def fork(self) -> "PoolState":
        if self.nets:
            self.nets_of(max(self.nets))  # games will look it up
        return PoolState(
            self.pool, _Fork(self.standings), {year: _NetFork(nets) for year, nets in self.nets.items()},
            _Fork(self.locks),
        )  # fmt: skip


@dataclass(slots=True)
class EventState:
    """An event as opened, and whether it still takes reports."""

    opened: EventOpened
    pool: str
    open: bool = True

    def copy(self) -> "EventState":
        return EventState(self.opened, self.pool, self.open)


@dataclass(slots=True)
class Challenge:
    """A forced challenge (L9): 约`number`. Times in ms; `seq` is the ledger row that issued it."""

    number: int
    pool: str
    challenger: int
    opponent: int
    issued_at: int
    deadline: int
    seq: int
    state: Literal["open", "fulfilled", "cancelled", "forfeited", "lifted"] = "open"
    ended_seq: int = 0

    def copy(self) -> "Challenge":
        return Challenge(
            self.number, self.pool, self.challenger, self.opponent, self.issued_at, self.deadline, self.seq,
            self.state, self.ended_seq,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class PublishedList:
    """第`number`期 of a pool, as published by ledger row `seq`."""

    number: int
    as_of: int
    seq: int
    rows: tuple[ListRow, ...]


@dataclass(slots=True)
class State:
    """Everything the ledger says up to one entry, but the games themselves."""

    pools: dict[str, PoolState]
    initial: dict[int, float] = field(default_factory=dict)
    """原始分 of each registered player (L4)."""
    placing: dict[int, str] = field(default_factory=dict)
    ip_checked: set[int] = field(default_factory=set)
    leave_until: dict[int, int] = field(default_factory=dict)
    events: dict[int, EventState] = field(default_factory=dict)
    leaves: dict[tuple[int, int], int] = field(default_factory=dict)
    """Ledger row of each leave, by player and the season's end until which it lasts (L8)."""
    settled: dict[tuple[int, str], int] = field(default_factory=dict)
    """Ledger row of the settlement of each (season, pool) already settled."""
    challenges: dict[int, Challenge] = field(default_factory=dict)
    lists: dict[str, tuple[PublishedList, ...]] = field(default_factory=dict)
    """Published lists of each pool, oldest first."""

    @classmethod
    def empty(cls, pools: dict[str, Pool] | None = None) -> "State":
        return cls({name: PoolState(pool) for name, pool in (pools or dict(POOLS)).items()})

    def copy(self) -> "State":
        """Return an independent copy (a checkpoint)."""
        return State(
            {n: p.copy() for n, p in self.pools.items()}, dict(self.initial), dict(self.placing),
            set(self.ip_checked), dict(self.leave_until), {k: e.copy() for k, e in self.events.items()},
            dict(self.leaves), dict(self.settled), {k: c.copy() for k, c in self.challenges.items()}, dict(self.lists),
        )  # fmt: skip

    def fork(self) -> "State":
        """Return a state to try games on; this one must not change while the fork is in use.

        Before anything else is tried on it, it has to `part`.
        """
        return State(
            {n: p.fork() for n, p in self.pools.items()}, self.initial, self.placing, self.ip_checked, self.leave_until,
            self.events, self.leaves, self.settled, self.challenges, self.lists,
        )  # fmt: skip

    def part(self) -> None:
        """Hold of a fork's own what games do not change."""
        self.initial, self.placing = dict(self.initial), dict(self.placing)
        self.ip_checked, self.leave_until = set(self.ip_checked), dict(self.leave_until)
        self.leaves, self.settled, self.lists = dict(self.leaves), dict(self.settled), dict(self.lists)
        self.events = {number: event.copy() for number, event in self.events.items()}
        self.challenges = {number: challenge.copy() for number, challenge in self.challenges.items()}

    def standing(self, pool: str, player: int) -> Standing:
        """Return the player's standing, made from his 原始分 when he has none there. KeyError if unregistered."""
        standings = self.pools[pool].standings
        try:
            return standings[player]
        except KeyError:
            return standings.setdefault(player, Standing(self.initial[player]))

    def look(self, pool: str, player: int) -> Standing:
        """Like `standing`, for reading only: nothing is added to the state. KeyError if unregistered."""
        try:
            return self.pools[pool].standings[player]
        except KeyError:
            return Standing(self.initial[player])
