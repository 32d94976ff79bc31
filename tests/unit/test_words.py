"""Short answers: how numbers are read."""

import pytest

from plugins.rating_bot.handlers.words import read_word


@pytest.mark.parametrize(
    ("said", "numbers"),
    [
        ("确认12", (12,)),
        ("确认 12", (12,)),
        ("确认#12", (12,)),
        ("确认 #12 #13", (12, 13)),
        ("确认 12、13，14", (12, 13, 14)),
        ("确认 12 12", (12,)),
        ("确认 202611301230", (202_611_301_230,)),
        ("确认 999999999999999999", (999_999_999_999_999_999,)),
    ],
)
def test_numbers_of_a_confirmation(said: str, numbers: tuple[int, ...]) -> None:
    word = read_word(said, quoted=False)
    assert word is not None
    assert (word.kind, word.numbers) == ("confirm", numbers)


@pytest.mark.parametrize(
    "said", ["确认 1234567890123456789", "确认 " + "1" * 200, "确认 12 " + "2" * 60, "有误 " + "3" * 30]
)
def test_a_number_that_no_report_can_have_is_no_answer(said: str) -> None:
    assert read_word(said, quoted=False) is None
