"""Quiet by design (commands.md, "Grammar"): the limits hold in every message, in a league of 300 with long names."""

import re
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace

import pytest
import pytest_asyncio

from plugins.rating_bot.handlers.dispatch import load_handlers
from plugins.rating_bot.handlers.table import Command, Role
from plugins.rating_bot.wording.commands import TOO_MANY_QUERIES
from rating_core.store.report_store import Report
from rating_core.times import HOUR_MS, to_datetime
from tests.support.crowd import EVENT, PAIRS_EVENT, TO_CLOSE, fill, long_name
from tests.support.quiet import A_MINUTE, WINDOW_MS, Everything
from tests.support.rig import OFFICIAL, SCORING, Rig, SetClock
from tests.support.rows import ms

ONE, TWO = long_name(1), long_name(2)
PLACES = {"路人": OFFICIAL, ONE: OFFICIAL, "裁判老赵": SCORING, "小周": SCORING, "群主": SCORING}
"""Each role with the group in which it speaks; all speak in private, too."""
ROLES = dict(zip(PLACES, Role, strict=True))


def variants(command: Command, numbers: dict[str, int], qq: int) -> Iterator[str]:
    """The example as it stands and with what is in this league; nothing, wrong use, unknown, near names, too much."""
    example = command.example
    yield example
    meant = {"张三1": long_name(299), "张三": ONE, "李四": TWO, "皇后杯": TO_CLOSE, "12345678": str(qq)}
    for said in meant:
        example = example.replace(said, meant[said])
    for prefix, number in numbers.items():
        example = re.sub(rf"(?<![0-9]){prefix}(?:34|56|12|5|3)(?![0-9])", f"{prefix}{number}", example)
    yield example
    word = f"/{command.word}"
    yield word
    yield f"{word} ？？ 乱写一气 ……"
    yield f"{word} 没有这个人 也没有那个人 理由"
    yield f"{word} {ONE[:-1]} {TWO[:-1]} 胜 {long_name(3)[:-1]}"
    yield f"{word} {ONE} {TWO} {long_name(3)} {long_name(4)}"
    yield f"{word} {' '.join(map(str, range(900, 950)))}"
    yield f"{word} {'长' * 300}"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def crowd(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Everything]:
    """The league of 300, once for all tests here."""
    rig = Rig(tmp_path_factory.mktemp("crowd"), SetClock(ms("2026-05-04 12:00")))
    await rig.start()
    try:
        rig.queues._burst = rig.queues._pending = 1_000_000  # people cannot type so fast
        await fill(rig)
        rig.person("路人")
        rig.person("新朋友", 12345678)
        rig.qq.add_member(SCORING, rig.people["路人"], card="路人")
        yield Everything(rig)
    finally:
        await rig.stop()


async def numbers_of(rig: Rig) -> dict[str, int]:
    """Something of each kind that is there."""
    async with rig.league.transaction() as tx:
        waiting = await tx.reports.open_ones()
        applications = await tx.people.waiting_applications()
    open_challenges = [c.number for c in rig.league.book.state.challenges.values() if c.state == "open"]
    return {
        "#?": waiting[0].report_id, "局": rig.league.book.columns.number[-1], "账": rig.league.book.seq,
        "审": applications[0].application_id if applications else 3,
        "约": open_challenges[0] if open_challenges else 5,
    }  # fmt: skip


@pytest.mark.timeout(600)
@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("who", PLACES)
async def test_every_command(crowd: Everything, who: str) -> None:
    rig = crowd.rig
    spare, role = rig.people["申请11"], ROLES[who]
    for command in load_handlers():
        said = list(variants(command, await numbers_of(rig), spare))
        said = said if role >= command.role else said[1:3]  # whose right it is not hears the same whatever he says
        rows = await crowd.say(who, said[:A_MINUTE], PLACES[who])
        rows += await crowd.say(who, said[A_MINUTE:], PLACES[who])
        await crowd.follow(who, PLACES[who], rows)
        await crowd.say(who, said[1:3] if command.where == "any" else said[:1], None)
    crowd.check()


# --- reports ----------------------------------------------------------------------------------------------

REASON = "说了很多很多的理由" * 25
FREE = [number for number in range(121, 300) if number % 11 != 10 and number % 10 != 9]
"""Who may play: neither archived nor barred by L11."""


def singles(games: int, one: int, other: int) -> str:
    return "\n".join(f"{long_name(one)} {'胜平负'[n % 3]} {long_name(other)}" for n in range(games))


def doubles(games: int, first: int) -> str:
    a, b, c, d = (long_name(number) for number in FREE[first : first + 4])
    return "\n".join(f"{a} {b} {'胜平负'[n % 3]} {c} {d}" for n in range(games))


def mixed(games: int, side: int) -> str:
    """Games of many pairs, as a referee may report them."""
    lines = []
    for n in range(games):
        names = [long_name(number) for number in (FREE[20 + n % 30 : 20 + n % 30 + 2 * side])]
        lines.append(f"{' '.join(names[:side])} {'胜平负'[n % 3]} {' '.join(names[side:])}")
    return "\n".join(lines)


@pytest.mark.timeout(300)
@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("header", ["", f"#{EVENT}\n"], ids=["casual", "event"])
async def test_reports_of_players(crowd: Everything, header: str) -> None:
    """Prompt, repeats, 收到, forward, dispute, withdrawal, decisions of the desk: in singles and in pairs."""
    shift = 40 if header else 0
    for turn, games in enumerate((1, 3, 9, 10, 11, 50)):
        one, other = FREE[shift + 2 * turn], FREE[shift + 2 * turn + 1]
        await _whole_way(crowd, header + singles(games, one, other), long_name(one), long_name(other))
        text = (header and f"#{PAIRS_EVENT}\n") + doubles(games, shift + 4 * turn)
        await _whole_way(crowd, text, long_name(FREE[shift + 4 * turn]), long_name(FREE[shift + 4 * turn + 2]))
    crowd.check()


async def _whole_way(crowd: Everything, text: str, one: str, other: str) -> None:
    rig = crowd.rig
    number = await _posted(crowd, one, text)
    await crowd.say(one, [text, f"/撤回 {number}"], OFFICIAL)
    number = await _posted(crowd, one, text)
    await crowd.say("路人", [text, f"确认 {number}"], OFFICIAL)
    await crowd.say("裁判老赵", [text], SCORING)
    await crowd.say(other, [f"有误 {number} {REASON}"[:240]], OFFICIAL)
    await crowd.say("小周", [f"/作废 {number} {REASON}"], SCORING)
    number = await _posted(crowd, one, text)
    rig.clock.at += 25 * HOUR_MS
    await _tick(rig)
    rig.clock.at += 50 * HOUR_MS
    await _tick(rig)
    await crowd.say(other, [f"确认 {number}"], OFFICIAL)
    await crowd.say("裁判老赵", [f"确认 {number}"], SCORING)
    await crowd.say(other, [f"有误 {number} {REASON}"[:240]], OFFICIAL)
    assert (await _report(rig, number)).state == "effective"
    await crowd.say("小周", [f"/作废 {number} {REASON}"], SCORING)
    number = await _posted(crowd, other, text)
    await crowd.say("小周", [f"/代确认 {number} {REASON}"], SCORING)


async def _posted(crowd: Everything, who: str, text: str) -> int:
    """Let somebody report; return the number."""
    before = await crowd.last_report()
    await crowd.say(who, [text], OFFICIAL)
    number = await crowd.last_report()
    assert number > before, crowd.rig.last(OFFICIAL).text
    return number


async def _report(rig: Rig, number: int) -> Report:
    async with rig.league.transaction() as tx:
        report = await tx.reports.get(number)
    assert report is not None
    return report


async def _tick(rig: Rig) -> None:
    assert rig.parts is not None
    await rig.parts.tick()
    await rig.idle()


@pytest.mark.timeout(300)
@pytest.mark.asyncio(loop_scope="module")
async def test_reports_of_judges_and_refused_ones(crowd: Everything) -> None:
    for games in (1, 6, 10, 11, 50):
        for side in (1, 2):
            text = mixed(games, side)
            crowd.rig.clock.at += 80 * HOUR_MS
            await crowd.say("裁判老赵", [text, text], SCORING)
            wrong = [text.replace("名字", "各字"), text.replace("胜", "赢"), text + "\n" + text.split("\n")[0] * 2]
            await crowd.say("裁判老赵", wrong, SCORING)
            await crowd.say(long_name(FREE[20]), [text, *wrong], OFFICIAL)
    barred = "\n".join(f"{long_name(n)} 胜 {long_name(n + 1)}" for n in range(109, 240, 11))
    await crowd.say("裁判老赵", [barred, mixed(60, 1), "#没有的赛事\n" + mixed(9, 2)], SCORING)
    crowd.check()


# --- the season -------------------------------------------------------------------------------------------


@pytest.mark.timeout(300)
@pytest.mark.asyncio(loop_scope="module")
async def test_a_settlement_of_everybody(crowd: Everything) -> None:
    """Preview, pages, execution, archive list, what the barred hear, and the way back."""
    rig = crowd.rig
    rig.clock.at = max(rig.clock.at, ms("2027-01-10 12:00"))
    async with rig.league.transaction() as tx:
        for report in await tx.reports.open_ones():
            await tx.reports.save(replace(report, state="void"))
    await crowd.say("小周", ["/结算 预览", "/结算 预览 第2页", "/结算 预览 第9页", "/结算 预览 2025"], SCORING)
    for what in ("执行", "回滚", "执行"):
        await crowd.say("小周", [f"/结算 {what}"], SCORING)
        shown = rig.last(SCORING).text
        assert shown.split("\n")[-1].startswith("确认 预"), shown
        await crowd.say("小周", [shown.split("\n")[-1]], SCORING)
        await crowd.say("小周", ["/封存名单", "/封存名单 第2页", "/排行榜", "/排行榜 第3期", f"/等级分 {ONE}"], SCORING)
    assert (2026, "单跳1v1") in rig.league.book.state.settled
    await crowd.say("裁判老赵", [mixed(50, 1), mixed(50, 2)], SCORING)
    await crowd.say("小周", [f"/请假 给 {long_name(number)} {REASON}"[:380] for number in (1, 2, 3)], SCORING)
    await crowd.say("小周", [f"/销假 {long_name(number)} {REASON}"[:380] for number in (1, 2, 3)], SCORING)
    await crowd.say(TWO, ["/请假", "确认"], OFFICIAL)
    crowd.check()


# --- too much, and at night -------------------------------------------------------------------------------


async def test_too_many_queries_hear_one_hint_and_then_nothing(rig: Rig) -> None:
    await rig.league_of("张三", "李四")
    for asked in range(A_MINUTE):
        assert len(await rig.say("张三", "/等级分")) == 1, asked
    assert await rig.say("张三", "/等级分") == [TOO_MANY_QUERIES]
    for _ in range(5):
        assert await rig.say("张三", "/等级分") == []
    assert len(await rig.say("李四", "/等级分")) == 1
    assert len(await rig.whisper("张三", "/等级分")) == 1
    assert len(await rig.say("张三", "张三 胜 李四")) == 1, "only queries are limited"
    rig.clock.at += WINDOW_MS
    assert len(await rig.say("张三", "/等级分")) == 1


async def test_a_group_that_asks_too_much_hears_one_hint_and_then_nothing(rig: Rig) -> None:
    names = [f"群友{number}" for number in range(8)]
    for name in names:
        rig.person(name)
    said = [await rig.say(name, "/规则") for name in names for _ in range(6)]
    answered = [texts for texts in said if texts and texts != [TOO_MANY_QUERIES]]
    assert len(answered) == 40 and said.count([TOO_MANY_QUERIES]) == 1 and said.count([]) == 7


async def test_no_reminders_at_night(rig: Rig) -> None:
    """From 23:00 to 08:00 nobody is reminded; what became due is said in the morning. A penalty waits for nobody."""
    await rig.league_of("张三", "李四", "王五")
    rig.clock.at = ms("2026-11-30 23:30")
    await rig.say("张三", "张三 胜 李四")
    await rig.say("王五", "/强制约战 张三")
    before = {group: len(rig.qq.said_by_bot(group)) for group in (OFFICIAL, SCORING)}

    def said() -> list[tuple[int, str]]:
        return [
            (to_datetime(m.time).hour, m.text)
            for group in (OFFICIAL, SCORING)
            for m in rig.qq.said_by_bot(group)[before[group] :]
        ]

    while rig.clock.at < ms("2026-12-08 12:00"):
        rig.clock.at += HOUR_MS // 2
        await _tick(rig)
    reminders = [(hour, text) for hour, text in said() if "到期（" not in text]
    assert [hour for hour, _ in reminders] == [8, 8, 8, 8], reminders
    assert sum("还在等" in text for _, text in reminders) == 1
    assert sum("一直没有人确认" in text for _, text in reminders) == 1
    assert sum("快到期了" in text for _, text in reminders) == 2
    (penalty,) = {hour for hour, text in said() if "到期（" in text}
    assert penalty in (23, 0)
