"""What the Book keeps of each ledger row, so that it can run the fold again from any of them."""

from array import array
from dataclasses import dataclass, replace
from math import nan
from operator import attrgetter
from typing import Any

from rating_core.ledger import Entry
from rating_core.rulebook import Pool
from rating_core.state import KeptNets, Lock, PoolState, Standing, State


@dataclass(slots=True)
class Step:
    """A ledger row that is neither games nor a correction, as the fold sees it."""

    seq: int
    said_at: int
    pool: str
    entry: Entry
    games: int
    """How many games stand before it."""
    void: bool = False


@dataclass(slots=True)
class Original:
    """A game's line and weight as first written, kept once it has been amended or voided."""

    left: tuple[int, ...]
    result: str
    right: tuple[int, ...]
    event: int
    weight: float


_CODES = "diiidqiiid-qqBqqqq"
"""How each field of a Standing is kept: the typecode of its column, - for a list."""
_PEAK, _ARCHIVED = (Standing.__slots__.index(name) for name in ("peak", "archived"))
_figures = attrgetter(*Standing.__slots__)


@dataclass(slots=True)
class KeptPool:
    """A pool as a checkpoint keeps it: standings as columns, a third of the size."""

    pool: Pool
    players: "array[int]"
    columns: list[Any]
    nets: dict[int, KeptNets]
    locks: dict[int, dict[int, Lock]]

    @classmethod
    def of(cls, pool: PoolState) -> "KeptPool":
        """Keep a pool as it stands; it may go on."""
        columns: list[Any] = list(zip(*map(_figures, pool.standings.values()), strict=True))
        if columns:
            columns[_PEAK] = [nan if peak is None else peak for peak in columns[_PEAK]]
        columns = [
            list(column) if code == "-" else array(code, column) for code, column in zip(_CODES, columns, strict=False)
        ]
        locks = {code: dict(seasons) for code, seasons in pool.locks.items()}
        return cls(pool.pool, array("I", pool.standings), columns, pool.kept_nets(), locks)

    def thaw(self) -> PoolState:
        """Return the pool as it stood."""
        columns: list[Any] = list(self.columns)
        if columns:
            columns[_PEAK] = [None if peak != peak else peak for peak in columns[_PEAK]]
            columns[_ARCHIVED] = map(bool, columns[_ARCHIVED])
        standings = {
            player: Standing(*figures) for player, figures in zip(self.players, zip(*columns, strict=True), strict=True)
        }
        locks = {code: dict(seasons) for code, seasons in self.locks.items()}
        return PoolState(self.pool, standings, dict(self.nets), locks)


@dataclass(slots=True)
class Checkpoint:
    """The state behind the first `steps` steps and `games` games, and how many marks there were.

    Where players began (`initial`, `placing`) is not in it: that is the same for all.
    """

    steps: int
    games: int
    marks: int
    pools: dict[str, KeptPool]
    rest: State
    """The state but its pools."""

    @classmethod
    def of(cls, steps: int, games: int, marks: int, state: State) -> "Checkpoint":
        """Keep a state; it may go on."""
        rest = replace(state, pools={}, initial={}, placing={}).copy()
        return cls(steps, games, marks, {name: KeptPool.of(pool) for name, pool in state.pools.items()}, rest)

    def state(self) -> State:
        """Return the state as it stood, without where players began."""
        return replace(self.rest.copy(), pools={name: kept.thaw() for name, kept in self.pools.items()})
