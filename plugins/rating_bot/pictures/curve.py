"""Rating curves (曲线) as a picture, and the thin one on a card."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from plugins.rating_bot.pictures import parts
from plugins.rating_bot.wire.messages import Picture
from rating_core.elo import show_rating
from rating_core.queries import Card, Curve
from rating_core.times import day_of, season_of, season_start, show_day, start_of

MOST_POINTS = 400
"""Points drawn of one player."""
CARD_POINTS = 160
_KEPT = 4
"""Of each slice of time: the first, the last, the lowest and the highest point. The line looks as with all points."""
_DAY_TICKS, _RATING_TICKS = 6, 6
_RATING_STEPS = (5, 10, 20, 25, 50, 100, 200, 250, 500, 1000, 2000)
_DAY_STEPS = (1, 2, 3, 5, 7, 10, 15)
_MONTH_STEPS = (1, 2, 3, 6)
_YEAR_STEPS = (1, 2, 5, 10, 20, 50)

Point = tuple[int, float]
"""When (ms) and the rating then."""


def points_of(curve: Curve, now: int) -> list[Point]:
    """Return the ratings of a curve from after its first change up to now; none where there is no change."""
    points = [(point.at, point.rating) for point in curve.points[1:]]
    return [*points, (max(now, points[-1][0] + 1), points[-1][1])] if points else []


def thinned(points: Sequence[Point], most: int) -> list[Point]:
    """Return at most `most` points that draw the same line: time is cut into slices, each keeps its extremes."""
    if len(points) <= most:
        return list(points)
    first, last = points[0][0], points[-1][0]
    slices = max(1, most // _KEPT)
    width = max(1, -(-(last - first + 1) // slices))
    kept: list[Point] = []
    begin = 0
    while begin < len(points):
        number = (points[begin][0] - first) // width
        end = begin
        while end < len(points) and (points[end][0] - first) // width == number:
            end += 1
        inside = range(begin, end)
        wanted = {begin, end - 1, min(inside, key=lambda i: points[i][1]), max(inside, key=lambda i: points[i][1])}
        kept += [points[i] for i in sorted(wanted)]
        begin = end
    return kept


# --- the plot ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Frame:
    """What a plot shows: times in ms, ratings in points; low and high are whole steps."""

    since: int
    until: int
    low: float
    high: float
    step: int

    def x(self, at: int) -> float:
        return _share(at, self.since, self.until)

    def y(self, rating: float) -> float:
        return _share(rating, self.low, self.high)

    def at(self, point: Point) -> list[float]:
        """Return where a point lies, 0…1 from the left and from below."""
        return [self.x(point[0]), self.y(point[1])]


def _share(value: float, low: float, high: float) -> float:
    return round((value - low) / (high - low), 5)


def _step(span: float) -> int:
    return next((step for step in _RATING_STEPS if span / step <= _RATING_TICKS), _RATING_STEPS[-1])


def _frame(lines: Iterable[Sequence[Point]]) -> Frame:
    """Return a frame that holds all lines; ratings end at whole steps."""
    points = [point for line in lines for point in line]
    since = min(at for at, _ in points)
    low, high = min(r for _, r in points), max(r for _, r in points)
    step = _step(max(high - low, 20.0))
    bottom, top = (low // step) * step, -(-high // step) * step
    if bottom == top:
        bottom, top = bottom - step, top + step
    return Frame(since, max(at for at, _ in points), bottom, top, step)


def _rating_ticks(frame: Frame) -> list[parts.Data]:
    count = round((frame.high - frame.low) / frame.step) + 1
    ratings = [frame.low + number * frame.step for number in range(count)]
    return [{"at": frame.y(rating), "label": f"{rating:g}"} for rating in ratings]


def day_ticks(first: date, last: date) -> list[tuple[date, str]]:
    """Return at most six days to name on an axis from `first` to `last`, and what to call them."""
    days = (last - first).days
    for step in _DAY_STEPS:
        if days // step < _DAY_TICKS:
            found = [first + timedelta(days=n) for n in range(0, days + 1, step)]
            return [(day, f"{day.month}-{day.day}") for day in found]
    months = (last.year - first.year) * 12 + last.month - first.month
    for step in _MONTH_STEPS:
        if months // step <= _DAY_TICKS:
            return [(day, _month_label(day)) for day in _months(first, last, step)]
    step = next((s for s in _YEAR_STEPS if (last.year - first.year) // s <= _DAY_TICKS), _YEAR_STEPS[-1])
    return [(date(year, 1, 1), f"{year}") for year in range(first.year, last.year + 1) if year % step == 0 and
            date(year, 1, 1) >= first]  # fmt: skip


def _months(first: date, last: date, step: int) -> list[date]:
    every = [date(year, month, 1) for year in range(first.year, last.year + 1) for month in range(1, 13, step)]
    return [day for day in every if first <= day <= last]


def _month_label(day: date) -> str:
    return f"{day.year}年" if day.month == 1 else f"{day.month}月"


def _bands(frame: Frame) -> list[parts.Data]:
    """Return the seasons, every other one shaded."""
    found = []
    for season in range(season_of(frame.since), season_of(frame.until) + 1):
        begin, end = max(frame.since, season_start(season)), min(frame.until, season_start(season + 1))
        if begin < end:
            band = {"from": frame.x(begin), "to": frame.x(end), "label": f"{season}赛季", "shaded": season % 2 == 0}
            found.append(band)
    return found


def picture(curves: Sequence[Curve], cards: Sequence[Card], now: int) -> Picture:
    """Return the curves of players who have one, each with his card; the pool is that of all."""
    lines = [thinned(points_of(curve, now), MOST_POINTS) for curve in curves]
    frame = _frame(lines)
    days = day_ticks(day_of(frame.since), day_of(frame.until))
    title = f"{curves[0].name}的等级分曲线" if len(curves) == 1 else "等级分曲线"
    return Picture.of(
        "curve",
        {
            "title": title,
            "facts": [curves[0].pool, f"{show_day(frame.since)} 至 {show_day(frame.until)}"],
            "bands": _bands(frame),
            "ratings": _rating_ticks(frame),
            "days": [{"at": max(0.0, frame.x(start_of(day))), "label": label} for day, label in days],
            "players": [
                _player(curve, card, line, frame) for curve, card, line in zip(curves, cards, lines, strict=True)
            ],
            "credit": parts.CREDIT,
        },
    )


def _player(curve: Curve, card: Card, line: Sequence[Point], frame: Frame) -> parts.Data:
    peak = "历史最高分还没有" if curve.peak is None else f"最高{show_rating(curve.peak)}（{show_day(curve.peak_at)}）"
    return {
        "name": curve.name,
        "rating": show_rating(card.rating),
        "peak": peak,
        "record": parts.record(card.wins, card.draws, card.losses),
        "points": [frame.at(point) for point in line],
        "peak_point": _peak(curve, frame),
    }


def on_card(curve: Curve, now: int) -> parts.Data:
    """Return the thin curve of a card: points, its peak, and the days at its ends."""
    line = thinned(points_of(curve, now), CARD_POINTS)
    if not line:
        return {"curve": [], "curve_peak": None, "curve_days": ["", ""]}
    frame = _frame([line])
    days = [show_day(frame.since), show_day(frame.until)]
    return {"curve": [frame.at(point) for point in line], "curve_peak": _peak(curve, frame), "curve_days": days}


def _peak(curve: Curve, frame: Frame) -> list[float] | None:
    """Return where the peak lies; None where there is none in the frame (it was reached before the league came)."""
    if curve.peak is None or curve.peak_at < frame.since or not frame.low <= curve.peak <= frame.high:
        return None
    return frame.at((curve.peak_at, curve.peak))
