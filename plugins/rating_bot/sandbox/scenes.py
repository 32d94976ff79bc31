"""The scenes that the page's buttons play: short scripts in the real chat."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from rating_core.times import DAY_MS, season_of

from .scene import SCORING
from .stage import Stage
from .travel import target

KEEPER = "小周"
WAIT_DAYS = 8
"""More than the week that a forced challenge gives."""


@dataclass(frozen=True, slots=True)
class Scene:
    """A script with its button."""

    name: str
    title: str
    about: str
    play: Callable[[Stage], Awaitable[None]]
    big: bool = False
    """Played in a new book with the league of 300."""


async def report(stage: Stage) -> None:
    """A report goes the whole way."""
    one, other = await stage.pair()
    await stage.tell(f"{one}和{other}下了两局，{one}照格式发两行。")
    prompt = await stage.ask(one, f"{one}    胜    {other}\n{one}    平    {other}", "待确认")
    await stage.tell(f"还没有生效：要{other}用绑定了名字的QQ认可。")
    number = prompt.text.split()[0]
    await stage.ask(other, "确认", "收到", quote=prompt)
    await stage.hear(number, group=SCORING)
    await stage.tell("标准格式的报分转到这里，记分员不用再抄。", SCORING)
    await stage.tell("两人的分数马上变了。")
    await stage.ask(one, "/等级分")


async def dispute(stage: Stage) -> None:
    """The other side says that it was not so; a scorekeeper looks into it."""
    one, other = await stage.pair()
    await stage.tell(f"{one}把两局的结果记反了一局。")
    prompt = await stage.ask(one, f"{one}    胜    {other}\n{one}    胜    {other}", "待确认")
    number = prompt.text.split()[0]
    await stage.ask(other, "有误 第二局是我赢的", "争议", quote=prompt)
    await stage.hear(number, "争议", group=SCORING)
    await stage.tell("有争议的不计分，转给记分员。", SCORING)
    await stage.ask(KEEPER, "/待办", number, group=SCORING)
    await stage.ask(KEEPER, f"/作废 {number.removeprefix('#')} {one}说记错了", "作废", group=SCORING)
    await stage.hear(number, "作废", group=stage.official)
    await stage.tell(f"{one}改好了再报一次。")
    prompt = await stage.ask(one, f"{one}    胜    {other}\n{one}    负    {other}", "待确认")
    await stage.ask(other, "对", "收到", quote=prompt)


async def forced_challenge(stage: Stage) -> None:
    """A forced challenge that nobody answers."""
    one, other = await stage.pair(challenge=True)
    await stage.tell(f"{one}强制约战{other}：七天之内要下一局，不应战扣50分（L9）。")
    issued = await stage.ask(one, f"/强制约战 {other}", "强制约战")
    number = issued.text.split()[0]
    await stage.tell(f"{other}一直没有来。快进{WAIT_DAYS}天，看机器人提醒两次，然后扣分。")
    await stage.travel(stage.now + WAIT_DAYS * DAY_MS)
    await stage.hear(f"{number} 到期", "扣50分", group=stage.official)
    await stage.hear(f"{number} 到期", "扣50分", group=SCORING)
    await stage.tell("记分群也收到了同一条；扣错了，记分员可以免罚。", SCORING)
    await stage.tell(f"扣分记在到期的那一刻（{number}），不是看到的那一刻。")
    await stage.ask(other, "/等级分")


async def settlement(stage: Stage) -> None:
    """A year ends: who played too little loses points and is archived."""
    await stage.tell("一年下不满10局计分棋的，年底扣20分、封存到2月1日（L7）。快进到元旦。", SCORING)
    await stage.travel(target("new-year", stage.now))
    season = season_of(stage.now) - 1
    for number in await stage.undecided(season):
        await stage.ask(KEEPER, f"/作废 {number} 年底清理", "作废", group=SCORING)
    await stage.tell(f"先看{season}赛季会怎样，什么都不改。", SCORING)
    await stage.ask(KEEPER, "/结算 预览", group=SCORING)
    preview = await stage.ask(KEEPER, "/结算 执行", "确认 预", group=SCORING)
    await stage.tell("引用这一条回「确认」才真的执行，十分钟内、同一个人才行。", SCORING)
    await stage.ask(KEEPER, "确认", f"{season}赛季", group=SCORING, quote=preview)
    await stage.hear(f"{season}赛季", group=stage.official)
    await stage.tell("两个群都说了。最终榜单同时定为一期；谁封存了，随时能查。")
    await stage.ask("张三", "/封存名单", "封存")


async def league_of_300(stage: Stage) -> None:
    """The bot in a league of 300."""
    await stage.tell("换了一本新账：300位棋手，快一年的对局，全是现编的，一局一局照规则算出来。")
    await stage.ask("张三", "/排行榜")
    await stage.ask("李四", "/排行榜 第5页")
    await stage.ask("张三", "/等级分")
    await stage.ask("王五", "/曲线 张三 常胜将军 云中鹤")
    await stage.tell("人多了，用网页看榜更方便：点上面的「网页榜单」。")


SCENES = (
    Scene("report", "报分", "从上报到收到", report),
    Scene("dispute", "争议", "有误、作废、再报", dispute),
    Scene("challenge", "强制约战到期", "没有应战扣50分", forced_challenge),
    Scene("settlement", "年底结算", "预览、执行、确认", settlement),
    Scene("league", "300人的联赛", "换一本账，人多时", league_of_300, big=True),
)
