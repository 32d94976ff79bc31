"""L6, 约战<2>: after a net score of 4 a pair must play others before its casual games count again."""

from rating_core.rulebook import FARMING_NET, FARMING_REPAY
from rating_core.state import Pair, PairKey, PoolState
from rating_core.times import day_of


def owed(state: PoolState, key: PairKey, pair: Pair, at: int) -> dict[int, int]:
    """Return what each member of a pair still owes: counted games with others in this pool; empty if unlocked."""
    if not pair.locked:
        return {}
    need = FARMING_REPAY.on(day_of(at))
    members = key[0] + key[1]
    return {
        player: max(0, need - (state.standings[player].games - base - pair.own))
        for player, base in zip(members, pair.base, strict=True)
    }


def release(state: PoolState, key: PairKey, pair: Pair, at: int) -> bool:
    """Unlock the pair if every member has repaid (D: both; in 2v2 each of the four); net is then 0.

    Return whether the pair is unlocked now.
    """
    if pair.locked and not any(owed(state, key, pair, at).values()):
        pair.net, pair.locked, pair.base, pair.own = 0, False, (), 0
    return not pair.locked


def enter_result(state: PoolState, key: PairKey, pair: Pair, net: int, at: int) -> None:
    """Move the net score by a counted casual game (win of the key's first side +1, loss −1) and lock at 4.

    To be called after the game has been entered in the members' standings.
    """
    pair.net += net
    if abs(pair.net) >= FARMING_NET.on(day_of(at)):
        pair.locked, pair.own = True, 0
        pair.base = tuple(state.standings[player].games for player in key[0] + key[1])
