"""/注销: nothing of him is left anywhere, nobody else's figures change, and what was open is settled."""

import pytest

from plugins.rating_bot import jobs
from rating_core.service.health import examine
from tests.support import traces
from tests.support.engines import SQLITE
from tests.support.forgotten import (
    ALIKE,
    BEFORE,
    FORMER,
    HIM,
    QQ,
    SECOND,
    TRACES,
    ask,
    ask_and_agree,
    busy,
    figures,
)
from tests.support.rig import OFFICIAL, SCORING, Rig


async def test_nothing_of_him_is_left(rig: Rig, engine: str) -> None:
    await busy(rig)
    assert len(await traces.in_tables(rig.league, TRACES)) > 30  # the test looks where he is
    named = {line.split(":")[0] for line in await traces.in_tables(rig.league, TRACES)}
    assert named >= {
        "names.name", "accounts.qq", "accounts.card", "applications.name", "docket.detail", "events.name", "inbox.text",
        "inbox.qq", "journal.detail", "journal.reason", "ledger_notes.reason", "list_titles.title", "merge_items.item",
        "outbox.text", "previews.payload", "reports.reason",
    }  # fmt: skip
    assert engine != SQLITE or traces.in_files(rig.folder, (BEFORE,))
    before = figures(rig)
    said = await ask_and_agree(rig)
    assert "审3 已通过" in said[0] and "已注销1" in said[0] and "#3作废" in said[0] and "约1取消" in said[0]
    assert not any(trace in text for text in said for trace in TRACES)
    assert await traces.in_tables(rig.league, TRACES, ALIKE) == []
    assert await traces.in_pages(rig, TRACES, ALIKE) == []
    assert traces.in_workbook(rig, TRACES, ALIKE) == []
    assert await traces.in_pages(rig, ["已注销1"]) and traces.in_workbook(rig, ["已注销1"])
    assert figures(rig) == before
    health = await examine(rig.league)
    assert health.well, health
    if engine == SQLITE:
        await jobs.forget_raw(rig.parts.runtime)  # type: ignore[union-attr]
        assert traces.in_files(rig.folder, (BEFORE, "常山", str(QQ), str(SECOND), str(FORMER))) == []


async def test_what_was_open_is_settled_and_told(rig: Rig) -> None:
    await busy(rig)
    at = len(rig.qq.said_by_bot(OFFICIAL))
    await ask_and_agree(rig)
    heard = [message.text for message in rig.qq.said_by_bot(OFFICIAL)[at:]]
    assert any("#3作废" in text for text in heard)
    assert any("约1" in text and "取消" in text and "已注销1" in text for text in heard)
    assert any("审2 没有通过" in text for text in heard)  # who claimed his name
    private = [message.text for message in rig.qq.private_history(rig.people["群主"]) if "没有人在用" in message.text]
    assert len(private) == 1
    league = rig.league
    assert not [report for report in league.book.state.challenges.values() if report.state == "open"]
    assert league.directory.holder is None
    assert str(QQ) not in league.directory.by_qq and not league.directory.actor(str(QQ)).desk
    (docket,) = await rig.say("小周", "/待办", SCORING)
    assert "审" not in docket and "#3" not in docket


async def test_he_comes_back_as_a_new_player(rig: Rig) -> None:
    await busy(rig)
    await ask_and_agree(rig)
    (said,) = await rig.say(HIM, f"/报名 {HIM}")
    assert "待审核" in said
    number = said.split()[0]
    await rig.say("小周", f"/通过 {number}", SCORING)
    player = rig.league.directory.roster.resolve(HIM)
    assert player is not None and player > 5
    assert rig.league.book.state.initial[player] == 2000.0 and rig.rating(HIM) == 2000.0
    assert rig.league.directory.name_of(1) == "已注销1"
    (history,) = await rig.say("李四", "/战绩 李四")
    assert "已注销1" in history and HIM not in history


async def test_a_restart_changes_nothing(rig: Rig) -> None:
    await busy(rig)
    await ask_and_agree(rig)
    before = (figures(rig), rig.league.directory.roster.current_names(), rig.league.directory.events)
    await rig.stop()
    await rig.start()
    assert (figures(rig), rig.league.directory.roster.current_names(), rig.league.directory.events) == before
    assert rig.league.broken_rights == ()
    assert await traces.in_tables(rig.league, TRACES, ALIKE) == []


async def test_a_message_that_still_waits_to_be_sent_names_him_no_more(rig: Rig) -> None:
    await busy(rig)
    number = await ask(rig)
    rig.faults.muted.add(OFFICIAL)
    await rig.say("李四", f"/战绩 {HIM}")
    assert any(HIM in row.text for row in await rig.outbox() if row.state == "pending")
    await rig.say("小吴", f"/通过 {number}", SCORING)
    at = len(rig.qq.said_by_bot(OFFICIAL))
    rig.faults.muted.clear()
    rig.parts.unmuted(f"g{OFFICIAL}")  # type: ignore[union-attr]
    await rig.idle()
    heard = [message.text for message in rig.qq.said_by_bot(OFFICIAL)[at:]]
    assert any("已注销1" in text for text in heard)
    assert not [text for text in heard if any(trace in text.replace(ALIKE, "") for trace in TRACES)]


async def test_nobody_approves_his_own_nor_with_something_open_between_them(rig: Rig) -> None:
    await busy(rig)
    await rig.say("群主", f"/任命 记分员 {rig.people['王五']}", SCORING)
    await rig.say("群主", f"/任命 记分员 {SECOND}", SCORING)
    rig.qq.add_member(SCORING, rig.people["王五"], card="王五")
    (shown,) = await rig.say(HIM, "/注销")
    await rig.say(HIM, shown.splitlines()[-1])
    for who in (HIM, "云的小号", "王五"):  # himself, his other QQ, who challenged him
        (said,) = await rig.say(who, "/通过 审3", SCORING)
        assert "无权" in said, who
    assert rig.league.directory.roster.resolve(HIM) == 1
    (said,) = await rig.say("小周", "/驳回 审3 先把约战下完", SCORING)
    assert "已驳回" in said
    assert rig.league.directory.roster.resolve(HIM) == 1


async def test_a_binding_that_changed_after_he_asked(rig: Rig) -> None:
    await busy(rig)
    (shown,) = await rig.say(HIM, "/注销")
    await rig.say(HIM, shown.splitlines()[-1])
    await rig.say("小周", f"/解绑 {HIM} {QQ}", SCORING)
    (said,) = await rig.say("小吴", "/通过 审3", SCORING)
    assert "绑定变了" in said
    assert rig.league.directory.roster.resolve(HIM) == 1


async def test_somebody_without_a_name_has_only_an_account(rig: Rig) -> None:
    await rig.league_of("张三", "李四")
    rig.person("过客", 2912345674)
    await rig.say("过客", "/报名 过客甲")
    (shown,) = await rig.say("过客", "/注销")
    assert "榜上没有您的名字" in shown
    await rig.say("过客", shown.splitlines()[-1])
    await rig.say("小周", "/通过 审2", SCORING)
    assert await traces.in_tables(rig.league, ("过客", "2912345674")) == []
    (docket,) = await rig.say("小周", "/待办", SCORING)
    assert docket == "待办是空的。"


async def test_messages_whose_fate_is_unclear_are_not_said_twice(rig: Rig) -> None:
    await rig.league_of(HIM, "李四")
    rig.qq.add_member(SCORING, rig.people[HIM], card=HIM)
    number = await ask(rig)
    rig.faults.no_history = True
    rig.faults.mute_answers = 1
    await rig.say("李四", f"/等级分 {HIM}")
    assert [row.state for row in await rig.outbox() if row.chat == f"g{OFFICIAL}"] == ["unknown"]
    await rig.say("小吴", f"/通过 {number}", SCORING)
    rig.faults.no_history = False
    await rig.stop()
    await rig.start()
    texts = [message.text for message in rig.qq.said_by_bot(OFFICIAL)]
    assert [HIM in text for text in texts] == [True]
    assert await traces.in_tables(rig.league, (HIM,)) == []


@pytest.mark.parametrize("forgotten", [False, True])
async def test_after_30_days_numbers_are_in_the_accounts_alone(rig: Rig, forgotten: bool) -> None:
    await busy(rig)
    await rig.whisper("李四", "/等级分")
    if forgotten:  # what named him was emptied then; who had said it is forgotten now
        await ask_and_agree(rig)
    numbers = [str(number) for number in rig.people.values()]
    assert len(await traces.in_tables(rig.league, numbers)) > 20
    rig.clock.pass_hours(31 * 24)
    await rig.parts.tick()  # type: ignore[union-attr]
    await rig.idle()
    await jobs.forget_raw(rig.parts.runtime)  # type: ignore[union-attr]
    found = {line.split(":")[0] for line in await traces.in_tables(rig.league, numbers)}
    assert found == {"accounts.qq"}
