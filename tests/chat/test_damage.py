"""A ledger that is not what was written: reads go on, nothing is entered, and nothing is lost once it is repaired."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from plugins.rating_bot.wording.integrity import FOR_WHAT_IT_IS_WORTH, NOT_DONE, NOT_RECORDED
from tests.support.rig import KEEPER, OFFICIAL, OWNER, SCORING, Rig, running_rig

FLIP = "UPDATE ledger SET payload = replace(payload, '\"first\":1', '\"first\":9') WHERE kind = 'games'"
BACK = "UPDATE ledger SET payload = replace(payload, '\"first\":9', '\"first\":1') WHERE kind = 'games'"
NONSENSE = "UPDATE ledger SET payload = '{' WHERE kind = 'games'"


@pytest.fixture
async def rig(tmp_path: Path) -> AsyncIterator[Rig]:
    """张三 beat 李四; the bot is down."""
    async with running_rig(tmp_path) as rig:
        await rig.league_of("张三", "李四", "王五", "赵六")
        await rig.say("张三", "张三 胜 李四")
        await rig.say("李四", "确认")
        await rig.stop()
        yield rig


def spoil(rig: Rig, *statements: str) -> None:
    with closing(sqlite3.connect(rig.folder / "ratings.db")) as connection:
        for statement in ("DROP TRIGGER IF EXISTS ledger_no_update", *statements):
            connection.execute(statement)
        connection.commit()


def told(rig: Rig, group: int = SCORING) -> list[str]:
    return [message.text for message in rig.qq.said_by_bot(group) if "和写下时不一样" in message.text]


def told_in_private(rig: Rig) -> list[str]:
    history = rig.qq.private_history(OWNER)
    return [m.text for m in history if m.user_id == rig.qq.self_id and "和写下时不一样" in m.text]


@pytest.mark.parametrize("damage", [FLIP, NONSENSE])
async def test_from_the_damage_to_its_repair(rig: Rig, damage: str) -> None:
    with closing(sqlite3.connect(rig.folder / "ratings.db")) as connection:
        (payload,) = connection.execute("SELECT payload FROM ledger WHERE kind = 'games'").fetchone()
    spoil(rig, damage)
    await rig.start()
    assert len(told(rig)) == len(told_in_private(rig)) == 1
    assert "账5和写下时不一样" in told(rig)[0] and "restore" in told(rig)[0]
    assert ("只算到账4" in told(rig)[0]) == (damage == NONSENSE)
    # what would change something is refused, questions are answered
    assert await rig.say("王五", "王五 胜 赵六") == [NOT_RECORDED]
    assert await rig.say("王五", "/请假") == [NOT_DONE]
    (rating,) = await rig.say("王五", "/等级分")
    assert "王五" in rating and rating.endswith(FOR_WHAT_IT_IS_WORTH)
    (health,) = await rig.say("小周", "/体检", SCORING)
    assert "体检：有问题" in health and "哈希链在账5断了" in health
    assert await rig.say("小周", "/作废 1 没下过", SCORING) == [NOT_DONE]
    (docket,) = await rig.say("小周", "/待办", SCORING)
    assert "账本损坏，暂停记分 账5" in docket
    assert rig.parts is not None
    rig.clock.pass_hours(1)
    await rig.parts.tick()
    await rig.parts.flush()
    # a restart changes nothing and tells nobody again, nor does what is read from history once more
    await rig.stop()
    await rig.start()
    assert len(told(rig)) == len(told_in_private(rig)) == 1
    assert len([m for m in rig.qq.said_by_bot(OFFICIAL) if m.text == NOT_RECORDED]) == 1
    # repaired: what was not recorded is made up for
    await rig.stop()
    spoil(rig, f"UPDATE ledger SET payload = '{payload}' WHERE kind = 'games'")
    await rig.start()
    assert rig.league.damage is None and "待确认" in rig.last().text
    await rig.say("赵六", "确认")
    assert rig.games() == 2 and rig.rating("王五") == 2016.0
    (health,) = await rig.say("小周", "/体检", SCORING)
    assert "体检：正常" in health
    assert len(told(rig)) == 1


async def test_found_by_hand_while_the_bot_runs(rig: Rig) -> None:
    await rig.start()
    spoil(rig, FLIP)
    assert len(await rig.say("王五", "王五 胜 赵六")) == 1
    (health,) = [text for text in await rig.say("小周", "/体检", SCORING) if "体检" in text and "版本" in text]
    assert "哈希链在账5断了" in health
    assert await rig.say("赵六", "确认") == [NOT_RECORDED]
    assert len(told(rig)) == 1 and rig.games() == 1


async def test_a_broken_right_is_told_and_given_anew(rig: Rig) -> None:
    spoil(
        rig,
        f"UPDATE roles SET granted_at = 7 WHERE account_id = (SELECT account_id FROM accounts WHERE qq = '{KEEPER}')",
    )
    await rig.start()
    assert len(told(rig)) == 1 and "权限1行" in told(rig)[0]
    (answer,) = await rig.say("小周", "/体检", SCORING)
    assert "无权" in answer
    (health,) = await rig.say("群主", "/体检", SCORING)
    assert "体检：有问题" in health and "权限1行" in health
    assert len(await rig.say("王五", "王五 胜 赵六")) == 1, "games go on"
    await rig.say("群主", f"/任命 记分员 {KEEPER}", SCORING)
    (health,) = await rig.say("小周", "/体检", SCORING)
    assert "体检：正常" in health and "权限：每行完好" in health
