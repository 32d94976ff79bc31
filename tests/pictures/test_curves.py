"""Curves: what is drawn of a rating's way, how it is thinned, and what stands on the axes."""

import json
from datetime import date
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.rating_bot.pictures.curve import CARD_POINTS, MOST_POINTS, day_ticks, on_card, picture, points_of, thinned
from plugins.rating_bot.wording import curves as wording
from rating_core import queries
from rating_core.ledger import Adjustment, OpeningBalance
from rating_core.rulebook import MASKED_NAME
from rating_core.times import DAY_MS
from tests.support.books import Books
from tests.support.rows import ms

POOL = "单跳1v1"
NOW = ms("2026-11-30 12:00")


def shown(books: Books, *names: str) -> dict[str, Any]:
    """Return the data of these players' curves."""
    book, directory = books.book(), books.directory
    ids = [books.id(name) for name in names]
    found = picture(
        [queries.curve(book, directory, POOL, one) for one in ids],
        [queries.card(book, directory, POOL, one, NOW) for one in ids], NOW,
    )  # fmt: skip
    data: dict[str, Any] = json.loads(found.data)
    return data


def curve_of(books: Books, name: str) -> queries.Curve:
    return queries.curve(books.book(), books.directory, POOL, books.id(name))


# --- points ---------------------------------------------------------------------------------------------------


def test_a_curve_goes_from_the_first_change_through_adjustments_to_now() -> None:
    books = Books()
    books.play("张三 胜 李四", at="2026-03-01 20:00")
    books.add(Adjustment(books.id("张三"), -30.0), at="2026-04-01 20:00", pool=POOL)
    books.play("张三 负 李四", at="2026-05-01 20:00")
    points = points_of(curve_of(books, "张三"), NOW)
    assert [at for at, _ in points] == [ms("2026-03-01 20:00"), ms("2026-04-01 20:00"), ms("2026-05-01 20:00"), NOW]
    assert [rating for _, rating in points][:2] == [2016.0, 1986.0]
    assert points[-1][1] == points[-2][1]
    assert points_of(curve_of(books, "李四"), NOW)[0] == (ms("2026-03-01 20:00"), 1984.0)


def test_a_league_that_moved_here_begins_with_what_it_brought() -> None:
    books = Books()
    books.join("张三")
    opening = OpeningBalance(
        books.id("张三"), 2345.0, 30, 5, 10, ms("2026-01-10"), peak=2400.0, peak_at=ms("2025-06-01")
    )  # fmt: skip
    books.add(opening, at="2026-01-10 12:00", pool=POOL)
    books.play("张三 胜 李四", at="2026-03-01 20:00")
    data = shown(books, "张三")
    (player,) = data["players"]
    assert points_of(curve_of(books, "张三"), NOW)[0] == (ms("2026-01-10"), 2345.0)
    assert player["peak"] == "最高2400.0（2025-06-01）"
    assert player["peak_point"] is None, "it was reached before the curve begins"


def test_without_a_counted_game_there_is_no_curve() -> None:
    books = Books()
    books.join("张三")
    assert points_of(curve_of(books, "张三"), NOW) == []
    assert on_card(curve_of(books, "张三"), NOW) == {"curve": [], "curve_peak": None, "curve_days": ["", ""]}


# --- thinning ---------------------------------------------------------------------------------------------------

points = st.lists(st.tuples(st.integers(0, 4 * 365 * DAY_MS), st.floats(1000, 3000)), max_size=3000)


@given(points, st.sampled_from([CARD_POINTS, MOST_POINTS, 8]))
def test_thinning_keeps_ends_and_extremes_in_order(found: list[tuple[int, float]], most: int) -> None:
    line = sorted(found, key=lambda point: point[0])
    kept = thinned(line, most)
    assert len(kept) <= most
    rest = iter(line)
    assert all(point in rest for point in kept), "in their order"
    if line:
        assert (kept[0], kept[-1]) == (line[0], line[-1])
        assert (min(r for _, r in kept), max(r for _, r in kept)) == (min(r for _, r in line), max(r for _, r in line))


def test_few_points_are_all_drawn_and_many_are_not() -> None:
    line = [(n * DAY_MS, float(n % 7)) for n in range(400)]
    assert thinned(line, MOST_POINTS) == line
    assert len(thinned([(n, float(n % 7)) for n in range(20_000)], MOST_POINTS)) <= MOST_POINTS


# --- axes -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "last", "labels"),
    [
        ("2026-11-30", "2026-11-30", ["11-30"]),
        ("2026-11-26", "2026-11-30", ["11-26", "11-27", "11-28", "11-29", "11-30"]),
        ("2026-12-20", "2027-01-08", ["12-20", "12-25", "12-30", "1-4"]),
        ("2026-03-02", "2026-07-30", ["4月", "5月", "6月", "7月"]),
        ("2025-11-02", "2026-11-30", ["2026年", "3月", "5月", "7月", "9月", "11月"]),
        ("2024-02-01", "2026-11-30", ["7月", "2025年", "7月", "2026年", "7月"]),
        ("2016-03-01", "2026-11-30", ["2018", "2020", "2022", "2024", "2026"]),
    ],
)
def test_days_on_the_axis(first: str, last: str, labels: list[str]) -> None:
    found = day_ticks(date.fromisoformat(first), date.fromisoformat(last))
    assert [label for _, label in found] == labels


@given(st.dates(date(2016, 3, 1), date(2040, 1, 1)), st.integers(0, 9000))
def test_never_more_than_seven_days_named_and_all_within(first: date, span: int) -> None:
    last = date.fromordinal(first.toordinal() + span)
    days = [day for day, _ in day_ticks(first, last)]
    assert len(days) <= 7
    assert days == sorted(set(days))
    assert all(first <= day <= last for day in days)
    assert days or span > 25


def test_seasons_ratings_and_everything_lie_within_the_frame() -> None:
    books = Books()
    for year in (2024, 2025, 2026):
        books.play("张三 胜胜平 李四", at=f"{year}-03-02 20:00")
        books.play("张三 负 王五", at=f"{year}-09-02 20:00")
    data = shown(books, "张三", "李四")
    bands, ratings, days, players = data["bands"], data["ratings"], data["days"], data["players"]
    assert [(band["label"], band["shaded"]) for band in bands] == [
        ("2024赛季", True), ("2025赛季", False), ("2026赛季", True)
    ]  # fmt: skip
    assert (bands[0]["from"], bands[-1]["to"]) == (0.0, 1.0)
    assert all(one["to"] == other["from"] for one, other in pairwise(bands))
    assert all(0 <= tick["at"] <= 1 for tick in days)
    assert 3 <= len(ratings) <= 8
    assert ratings[0]["at"] == 0.0 and ratings[-1]["at"] == 1.0
    assert [int(tick["label"]) for tick in ratings] == sorted(int(tick["label"]) for tick in ratings)
    assert all(0 <= share <= 1 for player in players for point in player["points"] for share in point)
    assert data["title"] == "等级分曲线" and data["facts"] == [POOL, "2024-03-02 至 2026-11-30"]


def test_one_flat_line_has_a_frame_too() -> None:
    books = Books()
    books.play("张三 平 李四", at="2026-11-30 11:00")
    data = shown(books, "张三")
    assert data["title"] == "张三的等级分曲线"
    (player,) = data["players"]
    assert [point[1] for point in player["points"]] == [player["points"][0][1]] * 2
    assert player["peak"] == "历史最高分还没有"


def test_the_masked_account_has_a_curve_without_a_peak() -> None:
    """L13: it is on no board and has no peak."""
    books = Books()
    books.join(MASKED_NAME, rating=2300.0)
    for day in range(1, 29):
        books.play(f"{MASKED_NAME} 胜 李四", f"{MASKED_NAME} 负 王五", at=f"2026-03-{day:02} 20:00")
    (player,) = shown(books, MASKED_NAME)["players"]
    assert (player["peak_point"], player["peak"]) == (None, "历史最高分还没有")


# --- where no picture can be sent --------------------------------------------------------------------------------


def test_the_figures_of_curves_in_words() -> None:
    books = Books()
    books.play("张三 胜 李四", at="2025-03-02 20:00")
    books.play("张三 胜 李四", at="2026-03-02 20:00")
    said = wording.figures([curve_of(books, "张三"), curve_of(books, "李四")], ["王五"], NOW)
    assert said == (
        "等级分曲线（单跳1v1），图发不出来，只有数字：\n"
        "张三 2025-03-02起，现在2030.5，今年+14.5，在2000.0到2030.5之间\n"
        "李四 2025-03-02起，现在1969.5，今年-14.5，在1969.5到2000.0之间\n"
        "王五还没有计分对局"
    )
