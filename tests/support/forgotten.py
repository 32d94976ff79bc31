"""A league in which one man is named wherever anybody can be named, and how he is forgotten (/注销)."""

from collections.abc import Mapping

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
