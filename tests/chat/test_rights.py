"""Group roles, dismissal and refusals (commands.md, "Roles").

The whole matrix of who may do what where is tests/reliability/hostile_rights.py.
"""

import pytest

from plugins.rating_bot.handlers.dispatch import load_handlers
from plugins.rating_bot.handlers.table import Role
from plugins.rating_bot.wording import commands as wording
from tests.support.rig import ELSEWHERE, OFFICIAL, SCORING, Rig

QUERY_MS = 8_000
"""So far apart anybody may ask as often as he likes."""
PLACES = {"官方群": OFFICIAL, "记分群": SCORING}
PEOPLE = ("路人", "群管理", "免职管理", "张三", "裁判老赵", "小周", "记分管理", "群主")
"""群管理 is an admin of the official group, which gives nothing; 记分管理 of the scoring group; 免职管理 was one."""
MAY_SAY_PRIVATELY = ("报名", "撤回")
"""Beside the queries and what is said in private only (commands.md, "Grammar"): 撤回 for 蒙面人公用号."""


async def gather(rig: Rig) -> None:
    """Everybody of PEOPLE, in all groups but for the scoring group, where only the desk is."""
    await rig.league_of("张三")
    for name in ("路人", "群管理", "记分管理", "免职管理"):
        rig.person(name)
    rig.qq.add_member(OFFICIAL, rig.people["群管理"], card="群管理", role="admin")
    for name in ("记分管理", "免职管理"):
        rig.qq.add_member(SCORING, rig.people[name], card=name, role="admin")
    for name in ("路人", "群管理", "张三"):
        rig.qq.add_member(SCORING, rig.people[name], card=name)
    for name in PEOPLE:
        rig.qq.add_member(ELSEWHERE, rig.people[name], card=name, role="admin")
    await rig.say("记分管理", "大家好", SCORING)
    await rig.say("群主", f"/免去 记分员 {rig.people['免职管理']}", SCORING)
    assert "已免去" in rig.last(SCORING).text
    await rig.say("记分管理", "/待办", SCORING)


async def ask(rig: Rig, who: str, typed: str, place: str) -> str:
    """Say it; return the answer, "" if there is none."""
    rig.clock.at += QUERY_MS
    answers = await rig.say(who, typed, PLACES[place])
    assert len(answers) <= 1, answers
    return answers[0] if answers else ""


def test_what_may_be_said_in_private() -> None:
    """In private chat: queries, /报名, and everything of 蒙面人公用号 (commands.md, "Grammar")."""
    more = [c.word for c in load_handlers() if c.where == "any" and not c.query and c.word not in MAY_SAY_PRIVATELY]
    assert more == []
    assert all(c.word.startswith("蒙面人") for c in load_handlers() if c.where == "private")


def test_what_a_refusal_says() -> None:
    """「无权」 and who may; whoever is not bound hears how to be."""
    for role in (Role.REFEREE, Role.SCOREKEEPER, Role.SUPERUSER):
        assert "无权" in wording.no_right(role) and role.title in wording.no_right(role)
    assert "/报名" in wording.bind_first() and "/认领" in wording.bind_first()


# --- group roles and dismissal ----------------------------------------------------------------------------


async def test_an_admin_of_the_scoring_group_is_a_scorekeeper_once_he_speaks_there(rig: Rig) -> None:
    await rig.league_of("张三")
    rig.person("新管理")
    rig.qq.add_member(SCORING, rig.people["新管理"], card="新管理", role="admin")
    rig.qq.add_member(OFFICIAL, rig.people["新管理"], card="新管理", role="admin")
    assert "无权" in await ask(rig, "新管理", "/待办", "官方群")
    assert "待办" in await ask(rig, "新管理", "/待办", "记分群")
    assert "待办" in await ask(rig, "新管理", "/待办", "官方群")


async def test_a_dismissed_admin_stays_dismissed(rig: Rig) -> None:
    """Owner and admins are scorekeepers from the start; a superuser's 免去 is not undone by the group role."""
    await gather(rig)
    for place in ("记分群", "官方群"):
        assert "无权" in await ask(rig, "免职管理", "/待办", place)
    await rig.stop()
    await rig.start()
    assert "无权" in await ask(rig, "免职管理", "/待办", "记分群")
    await rig.say("群主", f"/任命 记分员 {rig.people['免职管理']}", SCORING)
    assert "待办" in await ask(rig, "免职管理", "/待办", "记分群")


@pytest.mark.parametrize("way", ["number", "quote", "bare"])
async def test_a_preview_confirmed_after_dismissal(rig: Rig, way: str) -> None:
    await rig.league_of("张三", "李四")
    await rig.say("裁判老赵", "张三 胜 李四", SCORING)
    (shown,) = await rig.say("小周", "/改判 局1 负 报反了", SCORING)
    number = shown.splitlines()[-1].removeprefix("确认 ")
    await rig.say("群主", f"/免去 记分员 {rig.people['小周']}", SCORING)
    quote = next(m.message_id for m in rig.qq.said_by_bot(SCORING) if m.text == shown)
    if way == "number":
        (said,) = await rig.say("小周", f"确认 {number}", SCORING)
    else:
        (said,) = await rig.say("小周", "确认", SCORING, **({"quote": quote} if way == "quote" else {}))
    if way != "bare":  # bare never applies a correction: it asks which one
        assert "无权" in said and "记分员" in said
    assert rig.rating("张三") == 2016.0
    (again,) = await rig.say("小吴", f"确认 {number}", SCORING)
    assert "无权" in again
    assert rig.rating("张三") == 2016.0


async def test_a_superuser_is_not_made_by_a_group(rig: Rig) -> None:
    await gather(rig)
    for who in ("记分管理", "小周", "群管理"):
        said = await ask(rig, who, f"/任命 记分员 {rig.people[who]}", "记分群")
        assert "无权" in said and "超级用户" in said
