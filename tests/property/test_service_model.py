"""Whatever people do, the service and a second league, written plainly from the rulebook, say the same (§2–§10).

HYPOTHESIS_PROFILE=long runs it for much longer.
"""

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from rating_core.ledger import KINDS, Merged
from rating_core.service.league import League
from rating_core.store.database import Database
from rating_core.store.migrate import migrate
from tests.property.acting import OWNER, REGISTERED_AT, register_players
from tests.property.league_machine import LeagueMachine

LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
PLAN = settings(
    max_examples=1000 if LONG else 40,
    stateful_step_count=80 if LONG else 40,
    deadline=None,
    print_blob=True,
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated file with the players in it, to be copied."""
    file = tmp_path_factory.mktemp("template") / "template.db"

    async def make() -> None:
        database = await Database.open(f"sqlite+aiosqlite:///{file}")
        await migrate(database, file.parent / "backups")
        await register_players(await League.open(database, lambda: REGISTERED_AT, frozenset({OWNER})))
        await database.close()

    asyncio.run(make())
    return file


@pytest.mark.timeout(7200 if LONG else 300)
def test_the_service_does_what_the_plain_league_foretells(template: Path, tmp_path: Path) -> None:
    run_state_machine_as_test(lambda: LeagueMachine(template, tmp_path), settings=PLAN)


# --- told step by step -------------------------------------------------------------------------------------


@contextmanager
def machine_of(template: Path, folder: Path, start: str) -> Iterator[LeagueMachine]:
    machine = LeagueMachine(template, folder)
    try:
        machine.begin(start=start, veteran=5, strong=4)
        yield machine
        machine.agreement()
    finally:
        machine.teardown()


def test_a_year_step_by_step(template: Path, tmp_path: Path) -> None:
    """Every kind of entry, each in its usual way: the machine can reach them all."""
    with machine_of(template, tmp_path, "autumn") as m:
        m.check_ip(player=4, valid=True)
        m.open_event(weight=1.2, pool="单跳1v1", signoff=True)
        m.report_of_an_event(which=0, first=1, turn=0, run="WDL", how="sign")
        m.report_by_a_judge(pool="单跳1v1", first=1, turn=0, run="WWWWWW")
        m.agreement()
        assert [game.counted for game in m.plain.tally().games] == [True] * 7 + [False] * 2
        m.report_that_waits(pool="单跳2v2", first=1, turn=0, run="WD")
        m.report_again(which=0, who=1, part=0, plain=False)
        m.challenge(challenger=2, opponent=4)
        m.answer_a_challenge(which=0, how="agree", letter="L")
        m.challenge(challenger=6, opponent=3)
        m.change_challenge(which=0, days=1, plays=False)
        m.change_challenge(which=0, days=0, plays=False)
        m.correct_a_game(which=0, action="result", first=1, turn=0, letter="W", plays=False, moved=True)
        m.correct_a_game(which=3, action="game", first=1, turn=0, letter="W", plays=False, moved=False)
        m.undo_an_entry(which=0, penalty=False, moved=False)
        m.agreement()
        m.adjust(player=1, pool="单跳1v1", amount=37.25, plays=False)
        m.close_event(which=0)
        m.take_leave(player=2, granted=False)
        m.publish("单跳1v1")
        m.challenge(challenger=1, opponent=5)
        m.pass_time(step="week", minutes=0)
        m.tick()
        m.agreement()
        m.pass_time(step="1 January", minutes=1)
        m.report_and_agree(pool="单跳1v1", first=1, turn=2, run="W")
        m.agreement()
        m.settle(years=1, pool="单跳1v1")
        m.agreement()
        m.roll_back(which=0)
        m.agreement()
        m.restart()
        kinds = {item.kind for item in m.plain.items}
        assert kinds == KINDS.keys() - {Merged.KIND}


def test_a_penalty_is_lifted_by_the_first_message_after_it(template: Path, tmp_path: Path) -> None:
    """L9: the deadline passes, and the next thing said is /免罚."""
    with machine_of(template, tmp_path, "an ordinary day") as m:
        m.challenge(challenger=1, opponent=2)
        m.pass_time(step="week", minutes=1)
        m.undo_an_entry(which=0, penalty=True, moved=False)
        assert m.plain.duels()[1].state == "lifted"


def test_a_season_is_settled_after_a_penalty_of_the_next(template: Path, tmp_path: Path) -> None:
    """L7, L9: a challenge issued and forfeited in January is not in the Book of the season before."""
    with machine_of(template, tmp_path, "an ordinary day") as m:
        m.report_by_a_judge(pool="单跳1v1", first=1, turn=0, run="DDDDDDDDDD")
        m.pass_time(step="1 January", minutes=1)
        m.challenge(challenger=1, opponent=2)
        m.pass_time(step="week", minutes=1)
        m.tick()
        assert m.plain.duels()[1].state == "forfeited"
        m.settle(years=1, pool="单跳1v1")
        assert m.plain.settled(2026, "单跳1v1")


def test_games_of_another_season_repay_nothing(template: Path, tmp_path: Path) -> None:
    """L6: a pair locked in January plays no others when its games of December take effect."""
    with machine_of(template, tmp_path, "before N changes") as m:
        m.report_that_waits(pool="单跳1v1", first=3, turn=4, run="LLLL")
        m.pass_time(step="1 February", minutes=1)
        m.report_by_a_judge(pool="单跳1v1", first=3, turn=4, run="WWWW")
        m.confirm_as_the_other_side(which=0)
        m.agreement()
        m.report_by_a_judge(pool="单跳1v1", first=3, turn=4, run="D")
        assert [game.counted for game in m.plain.tally().games] == [True] * 8 + [False]


def test_a_leave_ends_a_challenge_whoever_else_is_barred(template: Path, tmp_path: Path) -> None:
    """L9: the opponent lacks an IP check (L11, which can still be made), the challenger goes on leave (L8)."""
    with machine_of(template, tmp_path, "an ordinary day") as m:
        m.report_by_a_judge(pool="单跳1v1", first=1, turn=1, run="D")
        m.challenge(challenger=1, opponent=5)
        m.adjust(player=5, pool="单跳1v1", amount=150.0, plays=False)
        m.adjust(player=5, pool="单跳1v1", amount=150.0, plays=False)
        m.agreement()
        assert m.plain.duels()[1].state == "open"
        m.take_leave(player=1, granted=False)
        assert m.plain.duels()[1].state == "cancelled"


def test_a_season_is_judged_as_it_ended_two_years_later(template: Path, tmp_path: Path) -> None:
    """L10: 2200 reached in the next year exempts nobody from the settlement of the one before."""
    with machine_of(template, tmp_path, "an ordinary day") as m:
        m.report_by_a_judge(pool="单跳1v1", first=1, turn=1, run="D")
        m.pass_time(step="1 February", minutes=1)
        m.adjust(player=1, pool="单跳1v1", amount=150.0, plays=False)
        m.adjust(player=1, pool="单跳1v1", amount=150.0, plays=False)
        m.pass_time(step="1 February", minutes=1)
        m.adjust(player=1, pool="单跳1v1", amount=-37.25, plays=False)
        m.settle(years=2, pool="单跳1v1")
        assert (1, 20.0) in m.plain.in_force("settlement")[0].data["verdicts"]
