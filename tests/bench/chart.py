"""A log-log chart as SVG: a few lines, each named at its end."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, log10
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 900, 620
LEFT, RIGHT, TOP, BOTTOM = 80, 200, 30, 60
COLOURS = "#c0392b #2471a3 #1e8449 #b9770e #7d3c98 #117a65 #5d6d7e #a04000 #2e4053".split()
GAP = 18
"""Least distance between two names."""


@dataclass(frozen=True, slots=True)
class Line:
    """A named line through points (x, y), both positive."""

    name: str
    points: Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class _Scale:
    low: int
    high: int
    begin: float
    end: float

    def __call__(self, value: float) -> float:
        return self.begin + (log10(value) - self.low) / (self.high - self.low) * (self.end - self.begin)

    @property
    def decades(self) -> list[float]:
        return [10.0**power for power in range(self.low, self.high + 1)]


def _scale(values: Sequence[float], begin: float, end: float) -> _Scale:
    low, high = floor(log10(min(values))), -floor(-log10(max(values)))
    return _Scale(low, max(high, low + 1), begin, end)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"


def _text(x: float, y: float, said: str, anchor: str = "start", colour: str = "#333") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{escape(said)}</text>'


def _stroke(points: Sequence[tuple[float, float]], colour: str, width: float, dash: str = "") -> str:
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width}" stroke-dasharray="{dash}"/>'


def chart(lines: Sequence[Line], x_name: str, y_name: str) -> str:
    """Return the picture; grey lines rise as x does."""
    x = _scale([p[0] for line in lines for p in line.points], LEFT, WIDTH - RIGHT)
    y = _scale([p[1] for line in lines for p in line.points], HEIGHT - BOTTOM, TOP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
    ]
    for value in x.decades:
        parts += [_stroke([(x(value), y.begin), (x(value), y.end)], "#ddd", 1)]
        parts += [_text(x(value), y.begin + 22, _number(value), "middle")]
    for value in y.decades:
        parts += [_stroke([(x.begin, y(value)), (x.end, y(value))], "#ddd", 1)]
        parts += [_text(x.begin - 8, y(value) + 5, _number(value), "end")]
    for value in y.decades:
        top = min(x.high - x.low, y.high - log10(value))
        if top > 0:
            end = 10**top
            parts += [_stroke([(x.begin, y(value)), (x(x.decades[0] * end), y(value * end))], "#bbb", 1, "2 4")]
    parts += [_text((x.begin + x.end) / 2, HEIGHT - 12, x_name, "middle"), _text(12, TOP - 10, y_name)]
    below = float("inf")
    ranked = sorted(enumerate(lines), key=lambda item: item[1].points[-1][1])
    for number, line in ranked:
        colour = COLOURS[number % len(COLOURS)]
        drawn = [(x(a), y(b)) for a, b in line.points]
        parts += [_stroke(drawn, colour, 2)]
        parts += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{colour}"/>' for a, b in drawn]
        below = min(drawn[-1][1], below - GAP)
        parts += [_text(x.end + 10, below + 5, line.name, colour=colour)]
    return "\n".join([*parts, "</svg>", ""])
