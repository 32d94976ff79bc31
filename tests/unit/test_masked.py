"""蒙面人公用号 (§7 D; L4, L13): who held it when, who is told in private, and what the desk may read."""

import pytest

from plugins.rating_bot.handlers.holder import homes
from plugins.rating_bot.settings import Settings
from plugins.rating_bot.wording.desk import sending_alarm
from plugins.rating_bot.wording.reports import said_by
from rating_core.directory import Account, Actor, Directory, Holding
from rating_core.report_text import GameLine, Result
from rating_core.rulebook import MASKED_NAME
from rating_core.service.masked import cannot_answer, party, speaker
from rating_core.store.report_store import Report

MASKED, ZHANG, LI = 1, 2, 3
FIRST, SECOND, OTHER = 11, 12, 13
"""Accounts: who held it first and is 张三, who holds it now, and 李四."""


def directory(holdings: tuple[Holding, ...] = (Holding(FIRST, 100, 200), Holding(SECOND, 300))) -> Directory:
    names = [(MASKED_NAME, MASKED, True), ("张三", ZHANG, True), ("李四", LI, True)]
    accounts = [
        Account(FIRST, "10011", ZHANG, card="夜行者"), Account(SECOND, "10012", None, card="后来人"),
        Account(OTHER, "10013", LI),
    ]  # fmt: skip
    return Directory.build(names, accounts, (), {}, holdings)


def report(said_at: int, left: int, right: int, *, account: int, player: int | None, number: int = 5) -> Report:
    lines = (GameLine((left,), Result.WIN, (right,)),)
    return Report(number, "waiting", "单跳1v1", None, 1.0, lines, "g1", "9", said_at, account, player)


@pytest.mark.parametrize(
    ("at", "account"),
    [(99, None), (100, FIRST), (199, FIRST), (200, None), (299, None), (300, SECOND), (10**9, SECOND)],
)
def test_who_held_it_is_half_open(at: int, account: int | None) -> None:
    found = directory().holder_at(at)
    assert (found and found.account_id) == account


def test_only_the_last_one_holds_it_and_nobody_once_it_was_taken_back() -> None:
    assert directory().holder == Holding(SECOND, 300)
    assert directory((Holding(FIRST, 100, 200),)).holder is None
    assert directory(()).holder is None
    assert directory().copy().holdings == directory().holdings


def test_its_holder_speaks_as_it_and_without_rights() -> None:
    who = directory()
    keeper = Actor("10012", SECOND, LI, frozenset({"scorekeeper", "superuser"}))
    assert speaker(who, keeper) == Actor("10012", SECOND, MASKED, frozenset())
    assert speaker(who, Actor("10011", FIRST, ZHANG)) is None
    assert speaker(who, Actor("99999")) is None
    assert speaker(directory(()), Actor("99999")) is None


def test_a_game_against_himself_goes_by_who_held_it_then() -> None:
    who = directory()
    assert who.is_own_game((MASKED, ZHANG), 150)
    assert not who.is_own_game((MASKED, ZHANG), 250) and not who.is_own_game((MASKED, ZHANG), 350)
    assert not who.is_own_game((ZHANG, LI), 150) and not who.is_own_game((MASKED, LI), 150)


def test_who_may_answer_for_it() -> None:
    who = directory()
    first = Actor("10011", FIRST, MASKED)
    second = Actor("10012", SECOND, MASKED)
    asked = report(350, LI, MASKED, account=OTHER, player=LI)
    assert cannot_answer(who, second, asked) == ""
    assert cannot_answer(who, second, report(150, LI, MASKED, account=OTHER, player=LI)) == "held_later"
    assert cannot_answer(who, first, report(150, ZHANG, MASKED, account=FIRST, player=ZHANG)) == "own_game"
    assert cannot_answer(who, Actor("10013", OTHER, LI), report(350, MASKED, LI, account=SECOND, player=MASKED)) == ""


def test_who_is_told_in_private() -> None:
    who = directory()
    assert party(who, report(150, MASKED, LI, account=FIRST, player=MASKED)) == who.by_id[FIRST]
    assert party(who, report(350, LI, MASKED, account=OTHER, player=LI)) == who.by_id[SECOND]
    assert party(who, report(250, LI, MASKED, account=OTHER, player=LI)) is None
    assert party(who, report(350, LI, ZHANG, account=OTHER, player=LI)) is None


def test_what_people_read_of_its_holder() -> None:
    who = directory()
    asked = report(350, LI, MASKED, account=OTHER, player=LI)
    assert said_by(asked, SECOND, who) == MASKED_NAME
    assert said_by(asked, OTHER, who) == "李四"
    assert said_by(report(350, LI, ZHANG, account=OTHER, player=LI), SECOND, who) == "〔后来人〕"
    own = report(150, ZHANG, MASKED, account=FIRST, player=ZHANG)
    assert said_by(own, FIRST, who) == "张三"
    assert said_by(report(150, MASKED, ZHANG, account=FIRST, player=MASKED), FIRST, who) == MASKED_NAME


@pytest.mark.parametrize(
    ("official", "single", "pairs"),
    [
        ({"1": "单跳2v2", "2": "单跳1v1"}, "g2", "g1"),
        ({"1": "单跳1v1", "2": ""}, "g1", "g2"),
        ({"1": "单跳1v1", "2": "空跳2v2"}, "g1", "g1"),
        (["7", "8"], "g7", "g7"),
        ({}, "g9", "g9"),
    ],
)
def test_where_a_report_said_in_private_is_told(official: object, single: str, pairs: str) -> None:
    found = homes(Settings.model_validate({"official_groups": official, "scoring_groups": ["9"]}))
    assert (found["单跳1v1"], found["单跳2v2"]) == (single, pairs)


def test_the_desk_is_not_told_for_whom_a_private_message_was() -> None:
    assert "10012" not in sending_alarm("failed", "u10012", "user 10012 is not a friend")
    assert "not in group" in sending_alarm("failed", "g10012", "not in group")
