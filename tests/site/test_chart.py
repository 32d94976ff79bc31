"""The curve as it is drawn: where points, lines, dates and seasons stand."""

import pytest

from plugins.rating_bot.site.chart import MOST_DOTS, MOST_POINTS, chart
from rating_core.queries import Curve, CurvePoint
from tests.support.rows import ms


def drawn(*points: tuple[str, float], peak: float | None = None) -> Curve:
    found = tuple(CurvePoint(ms(at), rating, 0.0, "game", n) for n, (at, rating) in enumerate(points, start=1))
    return Curve("单跳1v1", 1, "张三", found, peak, 0)


def test_nothing_is_nothing() -> None:
    assert chart(drawn()) is None


def test_times_go_right_and_ratings_up() -> None:
    found = chart(drawn(("2026-01-01", 2000), ("2026-04-11", 2100), ("2026-07-20", 1950)))
    assert found is not None
    assert [spot.x for spot in found.spots] == [0, 50, 100]
    first, second, third = (spot.y for spot in found.spots)
    assert 0 < second < first < third < 100
    assert found.path == f"M0 {first:g}L50 {second:g}L100 {third:g}"
    assert found.dots


def test_lines_stand_at_round_ratings_within_the_plot() -> None:
    found = chart(drawn(("2026-01-01", 1987.3), ("2026-07-01", 2123.9)))
    assert found is not None
    assert [text for _, text in found.lines] == ["2000", "2050", "2100"]
    low = found.spots[0]
    assert all(0 < y < low.y for y, _ in found.lines)
    heights = [y for y, _ in found.lines]
    assert heights[0] - heights[1] == pytest.approx(heights[1] - heights[2], abs=0.02)


@pytest.mark.parametrize("rating", [2000.0, 2013.37, -3.2])
def test_one_point_and_equal_ratings_can_be_drawn(rating: float) -> None:
    for points in ([("2026-05-01 20:00", rating)], [("2026-05-01", rating), ("2026-09-01", rating)]):
        found = chart(drawn(*points))
        assert found is not None
        assert all(0 <= spot.x <= 100 and spot.y == 50 for spot in found.spots)
    assert found.lines


@pytest.mark.parametrize(
    ("last", "dates"),
    [
        ("2026-03-05 12:00", ["3月5日", "3月6日"]),
        ("2026-03-13", ["3月5日", "3月7日", "3月9日", "3月11日", "3月13日"]),
        ("2026-07-10", ["2026-04", "2026-05", "2026-06", "2026-07"]),
        ("2027-03-10", ["2026-04", "2026-07", "2026-10", "2027-01"]),
        ("2030-01-10", ["2027", "2028", "2029", "2030"]),
        ("2045-01-10", ["2030", "2035", "2040", "2045"]),
    ],
)
def test_up_to_five_dates_whatever_the_span(last: str, dates: list[str]) -> None:
    found = chart(drawn(("2026-03-05 10:00", 2000), (last, 2010)))
    assert found is not None
    assert [text for _, text in found.dates] == dates
    assert all(0 <= x <= 100 for x, _ in found.dates)


def test_every_other_season_is_shaded() -> None:
    found = chart(drawn(("2024-07-01", 2000), ("2026-07-01", 2010)))
    assert found is not None
    ((x, width),) = found.seasons
    assert 24 < x < 26 and 49 < width < 51
    within = chart(drawn(("2025-02-01", 2000), ("2025-03-01", 2010)))
    assert within is not None and within.seasons == ((0, 100),)


def test_the_peak_is_marked_and_a_higher_point_before_it_counted_is_told() -> None:
    points = [("2026-01-01", 2150.0), ("2026-02-01", 2080.5), ("2026-03-01", 2000.0)]
    found = chart(drawn(*points, peak=2080.5))
    assert found is not None and found.peak is not None
    assert (found.peak.point.rating, found.higher_before) == (2080.5, True)
    plain = chart(drawn(*points))
    assert plain is not None and plain.peak is None and not plain.higher_before


def test_of_many_points_those_that_keep_the_shape_are_drawn() -> None:
    many = [
        CurvePoint(ms("2020-01-01") + n * 3_600_000, 2000.0 + (n * 7919) % 101, 0.0, "game", n + 1)
        for n in range(20 * MOST_POINTS)
    ]
    many[777] = many[777]._replace(rating=2500.0)
    many[778] = many[778]._replace(rating=1500.0)
    found = chart(Curve("单跳1v1", 1, "张三", tuple(many), many[5].rating, many[5].at))
    assert found is not None
    numbers = [spot.point.number for spot in found.spots]
    assert len(numbers) > MOST_POINTS / 2 and numbers == sorted(set(numbers))
    assert {1, 778, 779, len(many)} <= set(numbers)
    assert found.peak is not None and not found.dots and len(numbers) > MOST_DOTS
