"""A rating curve as numbers for an SVG: everything in percent of the plot, so that it fits any width."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date

from rating_core.queries import Curve, CurvePoint
from rating_core.times import DAY_MS, day_of, start_of

MOST_POINTS = 200
"""Points drawn at most; of more, those that keep the shape."""
MOST_DOTS = 40
"""With so many points at most each gets a dot."""
STEPS = (5, 10, 20, 25, 50, 100, 200, 250, 500, 1000)
MOST_LINES = 6
MARGIN = 6.0
"""Room above the highest and below the lowest point, in percent."""
MONTHS = (1, 2, 3, 6, 12, 24, 60, 120)
MOST_DATES = 5
FEW_DAYS = 45


@dataclass(frozen=True, slots=True)
class Spot:
    """A point of the curve and where it is drawn."""

    x: float
    y: float
    point: CurvePoint


@dataclass(frozen=True, slots=True)
class Chart:
    """x and y in percent of the plot from its left and upper edge."""

    spots: tuple[Spot, ...]
    lines: tuple[tuple[float, str], ...]
    """y and rating of the lines across."""
    dates: tuple[tuple[float, str], ...]
    """x and text of the dates below."""
    seasons: tuple[tuple[float, float], ...]
    """x and width of the years that are shaded: every other one."""
    peak: Spot | None
    dots: bool
    higher_before: bool
    """The rating was above the peak before the peak began to count (L14)."""

    @property
    def path(self) -> str:
        """The curve as SVG path data in a box of 100 × 100."""
        return "M" + "L".join(f"{spot.x:g} {spot.y:g}" for spot in self.spots)


def chart(curve: Curve) -> Chart | None:
    """Return the drawing of a curve; None where there is nothing to draw."""
    if not curve.points:
        return None
    points = _thinned(curve.points, curve.peak)
    first, last = points[0].at, points[-1].at
    if last - first < DAY_MS:  # a single evening: let it stand in the middle of its day
        first, last = start_of(day_of(first)), start_of(day_of(last)) + DAY_MS
    low, high = min(p.rating for p in points), max(p.rating for p in points)
    step = next((s for s in STEPS if (high - low) / s <= MOST_LINES - 1), STEPS[-1])
    if high - low < step:
        low, high = low - step / 2, high + step / 2

    def x(at: int) -> float:
        return round(100 * (at - first) / (last - first), 2)

    def y(rating: float) -> float:
        return round(MARGIN + (100 - 2 * MARGIN) * (high - rating) / (high - low), 2)

    spots = tuple(Spot(x(point.at), y(point.rating), point) for point in points)
    bottom = int(-(-low // step)) * step
    lines = tuple((y(value), str(value)) for value in range(bottom, int(high) + 1, step))
    peak = next((spot for spot in spots if curve.peak is not None and spot.point.rating == curve.peak), None)
    early = curve.peak is not None and any(point.rating > curve.peak for point in points)
    return Chart(spots, lines, _dates(first, last, x), _seasons(first, last, x), peak, len(spots) <= MOST_DOTS, early)


def _thinned(points: Sequence[CurvePoint], peak: float | None) -> list[CurvePoint]:
    """Keep of many points the first and last and, of each stretch, the lowest and highest; and the peak."""
    if len(points) <= MOST_POINTS:
        return list(points)
    stretches = MOST_POINTS // 2 - 1
    kept = {0, len(points) - 1}
    kept |= {index for index, point in enumerate(points) if point.rating == peak}
    for number in range(stretches):
        start, stop = number * len(points) // stretches, (number + 1) * len(points) // stretches
        stretch = range(start, stop)
        kept.add(min(stretch, key=lambda index: points[index].rating))
        kept.add(max(stretch, key=lambda index: points[index].rating))
    return [points[index] for index in sorted(kept)]


def _dates(first: int, last: int, x: Callable[[int], float]) -> tuple[tuple[float, str], ...]:
    """Return up to five dates: days, first days of months, or years, whatever fits the span."""
    begin, end = day_of(first), day_of(last)
    days = (end - begin).days
    if days <= FEW_DAYS:
        every = max(1, -(-days // (MOST_DATES - 1)))
        found = [date.fromordinal(begin.toordinal() + offset) for offset in range(0, days + 1, every)]
        return tuple((x(max(first, start_of(day))), f"{day.month}月{day.day}日") for day in found)
    months = (end.year - begin.year) * 12 + end.month - begin.month
    every = next((m for m in MONTHS if months / m <= MOST_DATES - 1), MONTHS[-1])
    start = begin.year * 12 + begin.month - 1
    start += -start % every
    numbers = range(start, end.year * 12 + end.month, every)
    firsts = [date(number // 12, number % 12 + 1, 1) for number in numbers]
    shown = [day for day in firsts if first <= start_of(day) <= last]
    return tuple((x(start_of(day)), str(day.year) if every >= 12 else f"{day.year}-{day.month:02}") for day in shown)


def _seasons(first: int, last: int, x: Callable[[int], float]) -> tuple[tuple[float, float], ...]:
    """Return the years to shade."""
    found = []
    for year in range(day_of(first).year, day_of(last).year + 1):
        if year % 2:
            start = max(first, start_of(date(year, 1, 1)))
            stop = min(last, start_of(date(year + 1, 1, 1)))
            if stop > start:
                found.append((x(start), round(x(stop) - x(start), 2)))
    return tuple(found)
