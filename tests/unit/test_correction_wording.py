"""A preview of a correction keeps the limits of the chat, whatever it says (commands.md, "Quiet by design")."""

from itertools import product

import pytest

from plugins.rating_bot.wording.corrections import applied, applied_to_desk, proposed
from rating_core.directory import Directory
from rating_core.ledger import Amend, Draft, Games
from rating_core.report_text import GameLine, Result
from rating_core.roster import Roster
from rating_core.service.correction_plans import Plan, Request
from rating_core.service.corrections import Applied, Proposed
from rating_core.service.impact import (
    ChallengeChange,
    Figures,
    GameChange,
    GameView,
    Impact,
    PersonChange,
    VerdictChange,
)
from rating_core.state import Challenge
from rating_core.store.desk_store import Preview

LONG = [f"{'很长的名字' * 3}{chr(0x4E00 + number)}" for number in range(40)]
DIRECTORY = Directory(Roster((name, number, True) for number, name in enumerate(LONG, 1)))
POOL = "单跳2v2"


def preview_of(people: int, verdicts: int, challenges: int, *, again: bool) -> Proposed:
    """Return a preview of an amended game of pairs that changes and leaves so many things."""
    line, new = GameLine((1, 2), Result.WIN, (3, 4)), GameLine((5, 6), Result.LOSS, (7, 8))
    view = GameView(line, 0, 1.0, counted=True, void=False, changes=(16.0, 16.0, -16.0, -16.0))
    request = Request("line", 34, "理由" * 100, 0, line=new)
    games = Games(12, 34, 0, 1.0, (line,), 1)
    plan = Plan(
        request, Draft(Amend(34, new), 0, 1, POOL, 56, request.reason), frozenset({1, 2, 3, 4}), None, games, games,
        None, 34, view,
    )  # fmt: skip
    was = Challenge(5, POOL, 1, 2, 0, 0, 3, "fulfilled")
    impact = Impact(
        tuple(
            PersonChange(
                POOL if number % 2 else "单跳1v1", number, Figures(2000.5, 10, 12, 2100.5, False),
                Figures(1999.5, 9, 34, None, bool(number % 3)),
            )
            for number in range(1, people + 1)
        ),
        1, (GameChange(34, view, view),),
        tuple(VerdictChange(2026, POOL, 9, number, 20.0, None) for number in range(1, verdicts + 1)),
        tuple(ChallengeChange(was, was, False) for _ in range(challenges)),
    )  # fmt: skip
    return Proposed(Preview(7, "correction", "", 1, "g1", 60, 0, 600_000), plan, impact, new, 0, again)


@pytest.mark.parametrize(
    ("people", "verdicts", "challenges"), list(product((0, 1, 3, 10, 11, 40), (0, 1, 5), (0, 1, 5)))
)
def test_a_preview_is_short_and_ends_with_the_line_that_applies_it(people: int, verdicts: int, challenges: int) -> None:
    for again in (False, True):
        text = proposed(preview_of(people, verdicts, challenges, again=again), DIRECTORY, 0)
        assert len(text) <= 500 and text.count("\n") < 15, text
        assert text.splitlines()[-1] == "确认 预7"
        assert f"影响：{people}人 1局" in text
        assert ("请看新的" in text) == again
        assert ("仍按原判" in text) == bool(verdicts)
        assert ("仍按算应战" in text) == bool(challenges)
        shown = sum("→1999.5" in line for line in text.splitlines())
        assert shown <= 10
        assert (f"……还有{people - shown}人" in text) == (shown < people)


def test_what_was_done_is_short_too() -> None:
    shown = preview_of(40, 5, 5, again=False)
    done = Applied(61, shown.plan, shown.impact, shown.new, tuple(range(1, 6)))
    for text in (applied(done, LONG[0], DIRECTORY), applied_to_desk(done, LONG[0], DIRECTORY)):
        assert len(text) <= 500 and text.count("\n") < 15
        assert text.startswith("账61 改判 局34") and "40人1局" in text
    assert applied_to_desk(done, LONG[0], DIRECTORY).splitlines()[-1] == "/撤销 账61 理由"
