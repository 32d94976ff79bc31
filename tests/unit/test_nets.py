"""Net scores of L6: those of past seasons are kept small, and can be changed all the same."""

import pickle

import pytest

from rating_core.rulebook import POOLS
from rating_core.state import KeptNets, Nets, PoolState, pair_code

PAIR, OTHER = pair_code((1,), (2,)), pair_code((3,), (4,))


def pool_with_nets(name: str = "单跳1v1") -> PoolState:
    """A pool with net scores of two seasons."""
    pool = PoolState(POOLS[name])
    pool.nets_of(2025)[PAIR] = 3
    pool.nets_of(2026)[PAIR] = -1
    return pool


def test_past_seasons_are_kept_small_once_somebody_keeps_the_pool() -> None:
    pool = pool_with_nets()
    kept = pool.kept_nets()
    assert isinstance(pool.nets[2025], KeptNets) and isinstance(pool.nets[2026], Nets)
    assert kept == {2025: {PAIR: 3}, 2026: {PAIR: -1}}
    assert pool.net(2025, PAIR) == 3 and pool.net(2025, OTHER) == 0 and pool.net(2024, PAIR) == 0


def test_a_late_game_changes_a_past_season_here_alone() -> None:
    pool = pool_with_nets()
    kept, twin = pool.kept_nets(), pool.copy()
    pool.nets_of(2025)[PAIR] += 1
    twin.nets_of(2026)[OTHER] = 2
    assert pool.net(2025, PAIR) == 4 and pool.nets == {2025: {PAIR: 4}, 2026: {PAIR: -1}}
    assert twin.nets == {2025: {PAIR: 3}, 2026: {PAIR: -1, OTHER: 2}}
    assert kept == {2025: {PAIR: 3}, 2026: {PAIR: -1}}


def test_a_fork_looks_into_what_is_kept_and_leaves_it_alone() -> None:
    pool = pool_with_nets().copy()
    fork = pool.fork()
    assert fork.nets_of(2025).get(PAIR, 0) == 3 and fork.nets_of(2026).get(PAIR, 0) == -1
    fork.nets_of(2025)[PAIR] = fork.nets_of(2026)[OTHER] = 1
    assert fork.net(2025, PAIR) == 1 and fork.net(2026, OTHER) == 1
    assert pool.nets == {2025: {PAIR: 3}, 2026: {PAIR: -1}}


def test_pairs_of_2v2_do_not_fit_into_a_column_and_are_kept_all_the_same() -> None:
    pool = PoolState(POOLS["单跳2v2"])
    pair = pair_code((1, 2), (3, 4))
    pool.nets_of(2025)[pair] = 2
    pool.nets_of(2026)[pair] = 1
    assert pool.copy().nets == {2025: {pair: 2}, 2026: {pair: 1}} and pool.net(2025, pair) == 2


@pytest.mark.parametrize("other", [Nets({PAIR: 3, OTHER: 1}), KeptNets.of({OTHER: 1, PAIR: 3}, 1)])
def test_equal_whatever_the_order_and_however_kept(other: Nets | KeptNets) -> None:
    kept = KeptNets.of({PAIR: 3, OTHER: 1}, 1)
    assert kept == other and other == kept and pickle.loads(pickle.dumps(kept)) == kept
    for different in (KeptNets.of({PAIR: 3, OTHER: 2}, 1), Nets({PAIR: 3}), KeptNets.of({PAIR: 3}, 1)):
        assert kept != different and different != kept
    assert kept != 3
