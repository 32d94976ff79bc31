"""Figures as they are printed: what was measured, and whether it keeps its limit."""

import statistics
from collections.abc import Sequence

from tests.reliability.flood import percentile


def verdict(what: str, value: float, limit: float, unit: str = "", *, most: bool = True) -> None:
    """Print a figure, its limit, and whether it holds."""
    holds = value <= limit if most else value >= limit
    sign = "≤" if most else "≥"
    print(f"{what:58} {value:9.2f}{unit}  {sign} {limit:g}{unit}: {'yes' if holds else 'NO'}", flush=True)


def shown(name: str, seconds: Sequence[float]) -> None:
    """Print median, p99 and the middle half's spread in ms."""
    low, middle, high = statistics.quantiles(seconds, n=4)
    print(
        f"{name:40} p50 {1000 * middle:7.2f} ms   p99 {1000 * percentile(seconds, 0.99):7.2f} ms   "
        f"middle half {1000 * low:.2f}–{1000 * high:.2f} ms   n {len(seconds)}",
        flush=True,
    )
