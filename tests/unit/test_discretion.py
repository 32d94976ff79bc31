"""What a process writes for its operator names nobody (plugins/rating_bot/logs.py, rating_core/discretion.py)."""

import io
import sys
import traceback
from importlib.util import find_spec

import pytest

from plugins.rating_bot.logs import worth_a_line
from rating_core import discretion
from rating_core.discretion import MOST_KEPT, Pseudonyms, discreet_output


@pytest.mark.parametrize(
    "text",
    [
        "QQ2012345678 joined", "u2012345678", "(12345)", "user_id=20001", "seq=2012345678", "10001,", "#20012345678",
        "20261130", "：20001", "1:2012345678",
    ],
)  # fmt: skip
def test_a_number_that_may_be_somebody_s_is_hidden(text: str) -> None:
    hidden = Pseudonyms().hide(text)
    assert "用户1" in hidden
    assert not any(digits in hidden for digits in ("2012345678", "12345", "20001", "10001", "20261130"))


@pytest.mark.parametrize(
    "text",
    [
        "decision did=recorded about=#12345 seq=123456 ms=10000",
        "backup made: ratings-daily-20261130.db",
        "ratings-20261130-120800.db",
        "Uvicorn running on http://127.0.0.1:54321 (Press CTRL+C to quit)",
        "Started server process [12345]",
        "history of group 476745350 read",
        "1234 12.5 0x12ab",
    ],
)
def test_what_is_nobody_s_stays(text: str) -> None:
    pseudonyms = Pseudonyms()
    pseudonyms.publish(["476745350"])
    assert pseudonyms.hide(text) == text


def test_one_number_has_one_pseudonym_as_long_as_it_is_kept() -> None:
    pseudonyms = Pseudonyms()
    assert pseudonyms.hide("20001 20002 20001") == "用户1 用户2 用户1"
    for number in range(100_000, 100_000 + MOST_KEPT):
        pseudonyms.of(str(number))
    assert pseudonyms.of("20001") == f"用户{MOST_KEPT + 3}"


def test_tracebacks_and_prints_pass_it_too(monkeypatch: pytest.MonkeyPatch) -> None:
    out, err = io.StringIO(), io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    monkeypatch.setattr(discretion, "PSEUDONYMS", Pseudonyms())
    discreet_output()
    print("who: 2012345678")
    try:
        raise ValueError("no account 2012345678")
    except ValueError:
        traceback.print_exc()
    sys.stderr.writelines(["2012345678\n"])
    sys.stdout.flush()
    assert out.getvalue() == "who: 用户1\n"
    assert "ValueError: no account 用户1" in err.getvalue() and "2012345678" not in err.getvalue()


class _Has:
    def __init__(self, **values: object) -> None:
        vars(self).update(values)


@pytest.mark.parametrize(
    ("module", "level", "written"),
    [
        ("nonebot.message", 25, False),  # who said what
        ("nonebot.message", 40, True),
        ("nonebot.internal.matcher.matcher", 20, False),
        ("uvicorn.protocols.http.h11_impl", 20, False),
        ("uvicorn.protocols.websockets.websockets_impl", 20, False),  # the address may hold the token
        ("uvicorn.server", 20, True),
        ("plugins.rating_bot.handlers.decisions", 20, True),
        ("plugins.rating_bot.wire.order", 10, False),
    ],
)
def test_which_lines_are_written(module: str, level: int, written: bool) -> None:
    path = find_spec(module).origin  # type: ignore[union-attr]
    record = {"file": _Has(path=path), "level": _Has(no=level), "extra": {}}
    assert worth_a_line(record) == written
