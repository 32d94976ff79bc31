"""Which pool a report belongs to (§1 D)."""

from rating_core.report_text import ReportText
from rating_core.rulebook import POOLS
from rating_core.service.report_results import AskPool, EventRefused
from rating_core.service.transaction import Tx


def pool_of(tx: Tx, parsed: ReportText, events: dict[str, int], group_pool: str) -> str | AskPool | EventRefused:
    """§1 D: the event's pool; else #榜名; else the group's; else the only pool of that side size with entries."""
    size = len(parsed.lines[0].left)
    if parsed.event:
        pool = tx.trial.state.events[events[parsed.event]].pool
        fits = POOLS[pool].side_size == size and parsed.pool in (None, pool)
        return pool if fits else EventRefused(parsed.event, pool, "pool")
    if parsed.pool:
        return parsed.pool if POOLS[parsed.pool].side_size == size else AskPool(_pools_of_size(size))
    if group_pool and POOLS[group_pool].side_size == size:
        return group_pool
    fitting = _pools_of_size(size)
    used = [p for p in fitting if any(s.listed for s in tx.book.state.pools[p].standings.values())]
    candidates = used or list(fitting)
    return candidates[0] if len(candidates) == 1 else AskPool(fitting)


def _pools_of_size(size: int) -> tuple[str, ...]:
    return tuple(name for name, pool in POOLS.items() if pool.side_size == size)
