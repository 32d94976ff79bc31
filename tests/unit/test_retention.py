"""Which backups are kept, for whatever days there are backups of."""

from datetime import date, timedelta

from hypothesis import given
from hypothesis import strategies as st

from rating_core.retention import DAILY, MONTHLY, WEEKLY, expiry, kept

START = date(2026, 1, 1)
DAYS = st.sets(st.integers(0, 1200), max_size=400).map(lambda found: {START + timedelta(n) for n in found})


def monday(day: date) -> date:
    return day - timedelta(day.weekday())


def months_before(day: date, newest: date) -> int:
    return (newest.year - day.year) * 12 + newest.month - day.month


@given(DAYS)
def test_each_day_is_kept_for_a_reason_and_dropped_for_a_reason(days: set[date]) -> None:
    """Said anew, without the buckets: is there a newer one of the same week, of the same month?"""
    stay = kept(days)
    assert stay <= days
    for day in days:
        newer = [other for other in days if other > day]
        newest = max(days)
        daily = len(newer) < DAILY
        alone_in_week = all(monday(other) != monday(day) for other in newer)
        alone_in_month = all((other.year, other.month) != (day.year, day.month) for other in newer)
        weekly = alone_in_week and (monday(newest) - monday(day)).days < 7 * WEEKLY
        monthly = alone_in_month and months_before(day, newest) < MONTHLY
        assert (day in stay) == (daily or weekly or monthly)
    assert len(stay) <= DAILY + WEEKLY + MONTHLY


@given(DAYS)
def test_dropping_day_by_day_ends_as_looking_at_all_of_them_at_once(days: set[date]) -> None:
    """What was dropped on the way is never missed later, whichever days had no backup."""
    held: set[date] = set()
    seen: set[date] = set()
    for day in sorted(days):
        held, seen = kept(held | {day}), seen | {day}
        assert held == kept(seen)


def test_a_backup_every_day() -> None:
    days = {START + timedelta(n) for n in range(900)}
    stay = sorted(kept(days))
    newest = START + timedelta(899)  # 2028-06-18, a Sunday
    assert stay[-7:] == [newest - timedelta(n) for n in range(6, -1, -1)]
    weeks = [newest - timedelta(7 * n) for n in range(7, 0, -1)]
    assert set(weeks) <= set(stay)
    assert [day for day in stay if day not in weeks and day < stay[-7]] == [
        date(2027, 7, 31), date(2027, 8, 31), date(2027, 9, 30), date(2027, 10, 31), date(2027, 11, 30),
        date(2027, 12, 31), date(2028, 1, 31), date(2028, 2, 29), date(2028, 3, 31), date(2028, 5, 31),
    ]  # fmt: skip


@given(st.integers(0, 800))
def test_a_backup_is_gone_when_it_is_said_to_be(number: int) -> None:
    """With a backup every day; one that is not the last of its month goes earlier."""
    made = START + timedelta(number)
    held: set[date] = {made}
    day = made
    while made in held:
        day += timedelta(1)
        held = kept(held | {day})
    assert day <= expiry(made)
    if (made + timedelta(1)).month != made.month:
        assert day == expiry(made)


def test_nothing_is_kept_of_nothing() -> None:
    assert kept([]) == set()
    assert kept([START, START]) == {START}
