"""/注销: nothing of him is left anywhere, nobody else's figures change, and what was open is settled."""

from collections.abc import Mapping

from plugins.rating_bot import jobs
from rating_core.service.health import examine
from tests.support import traces
from tests.support.engines import SQLITE
from tests.support.rig import OFFICIAL, SCORING, Rig

HIM, BEFORE, MERGED, CARD = "赵子龙", "赵云", "赵云儿", "常山赵子龙"
QQ, SECOND, FORMER = 2912345671, 2912345672, 2912345673
ALIKE = "赵子龙二"
"""Somebody else, whose name holds his."""
TRACES = (HIM, BEFORE, "常山", str(QQ), str(SECOND), str(FORMER))


async def confirmed(rig: Rig, who: str, typed: str) -> None:
    """Let a scorekeeper type a command that is previewed, and confirm it."""
    (shown,) = await rig.say(who, typed, SCORING)
    (done, *_) = await rig.say(who, shown.splitlines()[-1], SCORING)
    assert shown.startswith("预") and "未" not in done[:4], (shown, done)


async def busy(rig: Rig) -> None:
    """A league in which he is named wherever anybody can be named."""
    for name, number in ((BEFORE, QQ), ("云的小号", SECOND), ("云的旧号", FORMER)):
        rig.person(name, number, scoring=True)
    await rig.league_of(BEFORE, "李四", "王五", ALIKE)
    await rig.league_of(MERGED, bound=False)
    await rig.say("小周", f"/绑定 {BEFORE} {SECOND}", SCORING)
    await rig.say("小周", f"/绑定 {BEFORE} {FORMER}", SCORING)
    await rig.say("小周", f"/解绑 {BEFORE} {FORMER}", SCORING)
    await rig.say("小周", f"/改名 {BEFORE} {HIM}", SCORING)
    for group in (OFFICIAL, SCORING):
        rig.qq.set_card(group, QQ, CARD)
    await rig.say("裁判老赵", f"{HIM} 胜 李四\n{HIM} 平 李四", SCORING)
    await rig.say("裁判老赵", f"{MERGED} 胜 王五\n{ALIKE} 胜 {HIM}", SCORING)
    await confirmed(rig, "小周", f"/合并 {MERGED} {HIM} {HIM}登记了两次")
    await confirmed(rig, "小周", f"/改判 局2 胜 {HIM}承认的")
    await confirmed(rig, "小周", f"/调分 {HIM} +5 {HIM}漏记了")
    await confirmed(rig, "小周", f"/调分 李四 -1 听{HIM}和{ALIKE}说的")
    await rig.say("小周", f"/赛事 新建 {HIM}杯 1.2", SCORING)
    await rig.say("小周", f"/发布榜单 {HIM}夺冠", SCORING)
    await rig.say("群主", f"/任命 记分员 {QQ}", SCORING)
    rig.people[HIM] = rig.people.pop(BEFORE)
    rig.clock.pass_hours(1)
    await rig.say("李四", f"李四    胜    {HIM}")  # waits, disputed
    await rig.say(HIM, f"有误 3 {HIM}没下过")
    await confirmed(rig, HIM, f"/调分 {ALIKE} +1 补记")
    await rig.say("王五", f"/强制约战 {HIM}")
    await rig.whisper(HIM, "/等级分")
    await rig.whisper(HIM, "/蒙面人 申请")
    await rig.whisper("群主", f"/蒙面人 批准 {QQ}")
    rig.person("路人")
    await rig.say("路人", f"/认领 {HIM}")
    rig.disconnect()
    await rig.say(HIM, "/认领 李四")  # is put on the desk's list
    await rig.connect()
    await rig.say("小周", f"/撤销 账{rig.league.book.seq - 1} {HIM}请我撤的", SCORING)  # a preview that stays open


def figures(rig: Rig) -> Mapping[object, object]:
    """Return everybody's standings but his."""
    state = rig.league.book.state
    him = rig.league.directory.roster.resolve(HIM) or 1
    return {
        (pool, player): (s.rating, s.wins, s.draws, s.losses, s.peak, s.archived)
        for pool, found in state.pools.items() for player, s in found.standings.items() if player != him
    }  # fmt: skip


async def ask(rig: Rig) -> str:
    """He asks and confirms; return the application."""
    (shown,) = await rig.say(HIM, "/注销", SCORING)
    (asked,) = await rig.say(HIM, shown.splitlines()[-1], SCORING)
    assert f"注销「{HIM}」" in asked and "本人申请" in asked, asked
    return asked.split()[0]


async def ask_and_agree(rig: Rig) -> list[str]:
    """He asks and confirms; 小吴 agrees."""
    return await rig.say("小吴", f"/通过 {await ask(rig)}", SCORING)


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


async def test_after_30_days_numbers_are_in_the_accounts_alone(rig: Rig) -> None:
    await busy(rig)
    await rig.whisper("李四", "/等级分")
    numbers = [str(number) for number in rig.people.values() if number > 1_000_000]
    assert len(await traces.in_tables(rig.league, numbers)) > 20
    rig.clock.pass_hours(31 * 24)
    await rig.parts.tick()  # type: ignore[union-attr]
    await rig.idle()
    await jobs.forget_raw(rig.parts.runtime)  # type: ignore[union-attr]
    found = {line.split(":")[0] for line in await traces.in_tables(rig.league, numbers)}
    assert found == {"accounts.qq"}
