"""L6, 约战<2>: after a net score of 4 a pair must play others before its casual games count again.

Pairs of sides are given by their code (`state.pair_code`); net scores are those of a pair's first side.
"""

from dataclasses import replace

from rating_core.rulebook import FARMING_REPAY
from rating_core.rules.era import Era
from rating_core.state import Lock, PoolState, pair_members
from rating_core.times import day_of


def owed(pool: PoolState, code: int, season: int, at: int) -> dict[int, int]:
    """Return what each member of a pair still owes: counted games with others in this pool; empty if unlocked."""
    if code not in pool.locks or season not in pool.locks[code]:
        return {}
    lock, need = pool.locks[code][season], FARMING_REPAY.on(day_of(at))
    return {
        player: max(0, need - (pool.standings[player].games - base - lock.own))
        for player, base in zip(pair_members(code, pool.pool.side_size), lock.base, strict=True)
    }


def release(pool: PoolState, code: int, season: int, at: int) -> bool:
    """Unlock the pair if every member has repaid (D: both; in 2v2 each of the four); net is then 0.

    Return whether the pair is unlocked now.
    """
    debts = owed(pool, code, season, at)
    if any(debts.values()):
        return False
    if debts:
        del pool.locks[code][season]
        pool.nets_of(season)[code] = 0
    return True


def enter_own(pool: PoolState, code: int) -> None:
    """Note a counted game of a pair: it repays nothing of the pair's own locks, of whatever season."""
    if code not in pool.locks:
        return
    locks = pool.locks[code]
    for season, lock in locks.items():
        locks[season] = replace(lock, own=lock.own + 1)


def enter_result(pool: PoolState, nets: dict[int, int], code: int, net: int, era: Era) -> None:
    """Move the net score by a counted casual game (win of the first side +1, loss −1) and lock where the limit is met.

    To be called after the game has been entered in the members' standings; `nets` are those of the era's season.
    """
    nets[code] = net = nets.get(code, 0) + net
    if abs(net) >= era.farming_net:
        lock(pool, code, era.season)


def lock(pool: PoolState, code: int, season: int) -> None:
    """Lock a pair in a season: what its members play with others from here on repays."""
    members = pair_members(code, pool.pool.side_size)
    pool.locks.setdefault(code, {})[season] = Lock(tuple(pool.standings[player].games for player in members))
