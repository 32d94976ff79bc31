"""Whether an account is still there: connections, heartbeats, and what the client tells of QQ."""

import pytest

from plugins.rating_bot.wire.pulse import LONGEST_INTERVAL, Pulses


class Time:
    def __init__(self) -> None:
        self.at = 100.0

    def __call__(self) -> float:
        return self.at


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def pulses(time: Time) -> Pulses:
    return Pulses(time)


def heartbeat(interval: object = 30_000, **status: object) -> dict[str, object]:
    return {"interval": interval, "status": status}


def test_it_says_how_long_nobody_ever_came(pulses: Pulses, time: Time) -> None:
    time.at += 20
    assert (pulses.look().connected, pulses.look().awaited) == (None, 20)
    pulses.connected("1")
    time.at += 5
    assert (pulses.look().connected, pulses.look().online, pulses.look().awaited) == (5, True, 0)
    pulses.disconnected("1")
    time.at += 5
    assert (pulses.look().connected, pulses.look().online, pulses.look().awaited) == (None, False, 0)


def test_patience_comes_from_the_client_s_own_interval(pulses: Pulses) -> None:
    pulses.connected("1")
    assert pulses.patience("1") is None
    pulses.beat("1", heartbeat(30_000, online=True))
    assert pulses.patience("1") == 90
    pulses.beat("1", heartbeat("5000"))
    assert pulses.patience("1") == 15
    pulses.beat("1", heartbeat(1))
    assert pulses.patience("1") == 1
    pulses.connected("1")  # the next connection may send none
    assert pulses.patience("1") is None


@pytest.mark.parametrize("interval", [0, -1, None, "x", 1000 * LONGEST_INTERVAL + 1000])
def test_an_interval_that_makes_no_sense_is_none(pulses: Pulses, interval: object) -> None:
    pulses.connected("1")
    pulses.beat("1", heartbeat(interval))
    assert pulses.patience("1") is None


def test_the_age_of_the_last_heartbeat(pulses: Pulses, time: Time) -> None:
    pulses.connected("1")
    assert pulses.look().beat is None
    pulses.beat("1", heartbeat())
    time.at += 12
    assert pulses.look().beat == 12


def test_qq_goes_and_comes_back_once(pulses: Pulses, time: Time) -> None:
    pulses.connected("1")
    assert pulses.beat("1", heartbeat(online=False)) is False
    assert pulses.offline("1", "logged in elsewhere")
    assert not pulses.offline("1", "again")
    assert not pulses.is_online("1") and not pulses.look().online
    time.at += 60
    assert pulses.beat("1", heartbeat(online=True)) is True
    assert pulses.online_again("1") == (60, "logged in elsewhere")
    assert pulses.online_again("1") is None
    assert pulses.is_online("1") and pulses.look().online


def test_a_new_connection_is_a_return_too(pulses: Pulses, time: Time) -> None:
    pulses.connected("1")
    pulses.offline("1", "")
    pulses.disconnected("1")
    time.at += 7
    assert pulses.connected("1") == (7, "")
    assert pulses.connected("1") is None


@pytest.mark.parametrize("event", [{}, {"status": None}, {"status": {"online": None}}, {"status": {"online": "no"}}])
def test_a_heartbeat_that_says_nothing_of_qq(pulses: Pulses, event: dict[str, object]) -> None:
    pulses.connected("1")
    assert pulses.beat("1", event) is None


def test_of_two_accounts_the_one_that_works_counts(pulses: Pulses, time: Time) -> None:
    pulses.connected("1")
    time.at += 5
    pulses.connected("2")
    pulses.offline("1", "")
    assert pulses.look().online and pulses.look().connected == 0
    pulses.disconnected("2")
    assert not pulses.look().online and pulses.look().connected == 5
