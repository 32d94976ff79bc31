"""The bot's clock beside QQ's: never ahead of what QQ's messages prove, right as soon as somebody has spoken."""

from plugins.rating_bot.clock import APART_MS, TOLERANCE_MS, QQClock, steady
from rating_core.times import DAY_MS, HOUR_MS

NOW = 1_796_000_000_000


class Time:
    """True time, and a machine whose clock is `wrong` by so much."""

    def __init__(self, wrong: int = 0) -> None:
        self.true = NOW
        self.wrong = wrong
        self.clock = QQClock(self, lambda: self.true - NOW)

    def now(self) -> int:
        return self.true + self.wrong

    def heard(self, ago: int = 0, *, live: bool = True) -> None:
        self.clock.heard(self.true - ago, live=live)

    def heard_twice(self, ago: int) -> None:
        self.heard(ago)
        self.true += APART_MS
        self.heard(ago)


def test_nobody_has_spoken_yet() -> None:
    time = Time(wrong=DAY_MS)
    assert (time.clock.now(), time.clock.sure(), time.clock.ahead()) == (NOW + DAY_MS, NOW + DAY_MS, None)


def test_a_right_clock_is_used_as_it_is() -> None:
    time = Time(wrong=1234)
    time.heard(700)
    assert (time.clock.now(), time.clock.sure(), time.clock.ahead()) == (NOW + 1234, NOW - 700, None)
    time.true += HOUR_MS
    assert (time.clock.now(), time.clock.sure()) == (NOW + HOUR_MS + 1234, NOW + HOUR_MS - 700)


def test_an_old_message_proves_only_that_much() -> None:
    """History from before the start: the machine may well be right, but nothing later is certain."""
    time = Time()
    time.heard(3 * HOUR_MS, live=False)
    assert (time.clock.now(), time.clock.sure(), time.clock.ahead()) == (NOW, NOW - 3 * HOUR_MS, None)
    time.heard(1000)
    assert (time.clock.now(), time.clock.sure()) == (NOW, NOW - 1000)
    time.heard(2 * HOUR_MS)  # it came late
    assert (time.clock.now(), time.clock.sure()) == (NOW, NOW - 1000)


def test_a_clock_that_is_ahead() -> None:
    time = Time(wrong=DAY_MS)
    time.heard(2 * HOUR_MS, live=False)
    assert (time.clock.now(), time.clock.sure()) == (NOW + DAY_MS, NOW - 2 * HOUR_MS)
    time.heard(1000)
    assert (time.clock.now(), time.clock.sure(), time.clock.ahead()) == (NOW + DAY_MS, NOW - 1000, None)
    time.true += APART_MS
    time.heard(1000)
    now = NOW + APART_MS - 1000
    assert (time.clock.now(), time.clock.sure(), time.clock.ahead()) == (now, now, DAY_MS + 1000)
    time.wrong = 0  # put right
    assert (time.clock.now(), time.clock.ahead()) == (time.true, None)


def test_events_that_come_late_prove_nothing() -> None:
    """After a login the client tells of what was said meanwhile, all at once; somebody speaks later."""
    time = Time()
    for minutes in range(180, 0, -10):
        time.heard(minutes * 60_000)
    time.true += APART_MS
    assert time.clock.ahead() is None
    time.heard()
    time.true += APART_MS
    assert (time.clock.now(), time.clock.ahead()) == (time.true, None)


def test_a_clock_that_is_behind_is_believed_to_be_when_a_second_message_says_so() -> None:
    time = Time(wrong=-DAY_MS)
    time.heard()
    assert (time.clock.now(), time.clock.ahead()) == (NOW - DAY_MS, None)
    time.true += 10_000
    time.heard(500)
    assert (time.clock.now(), time.clock.sure()) == (NOW + 9_500, NOW + 9_500)
    assert time.clock.ahead() == -DAY_MS + 500


def test_one_message_from_the_future_changes_nothing() -> None:
    time = Time()
    time.heard(1000)
    time.heard(-30 * DAY_MS)
    time.heard(-60 * DAY_MS)
    assert (time.clock.now(), time.clock.sure()) == (NOW, NOW - 1000)


def test_a_jump_while_it_runs() -> None:
    time = Time()
    time.heard_twice(500)
    for wrong in (DAY_MS, -DAY_MS, TOLERANCE_MS + 1000):
        time.wrong = wrong
        now = time.true - 500
        assert (time.clock.now(), time.clock.sure(), time.clock.ahead()) == (now, now, wrong + 500)
    time.wrong = TOLERANCE_MS - 1000
    assert time.clock.ahead() is None


def test_the_steady_clock_only_grows() -> None:
    assert 0 <= -(steady() - steady()) < 1000
