"""The cast of the sandbox as data: groups, people, who is who, and the small league that is there at the start."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from .qq import FakeQQ, wall_clock
from .seed import SEED_GAMES, SeedGame
from .values import Role

BOT = 10000
OFFICIAL = 100001
SCORING = 100002
SUPERUSER = 10001
SCOREKEEPER = 10002
NEWCOMER = 10030
YEAR_MS = 365 * 86_400_000

Part = Literal["owner", "desk", "player", "newcomer"]


@dataclass(frozen=True, slots=True)
class Actor:
    """Someone the visitor can play. `official` and `scoring` are his roles in the groups, None: not in it."""

    qq: int
    nickname: str
    card: str
    part: Part
    who: str
    """Shown beside the name."""
    official: Role | None = "member"
    scoring: Role | None = None


@dataclass(frozen=True, slots=True)
class SeedPlayer:
    """A roster name to enter at the start; `qq` None: nobody is bound to it yet."""

    name: str
    qq: int | None
    placing: str
    ip_checked: bool = False


@dataclass(frozen=True, slots=True)
class Seed:
    """The league to enter through the service: players, then games in the order they were reported."""

    players: tuple[SeedPlayer, ...]
    games: tuple[SeedGame, ...]


def _player(qq: int, name: str, nickname: str = "") -> Actor:
    return Actor(qq, nickname or name, name, "player", "棋手")


CAST: tuple[Actor, ...] = (
    _player(10011, "张三", "三哥"),
    _player(10012, "李四"),
    _player(10013, "王五", "老王"),
    Actor(SCOREKEEPER, "小周", "小周", "desk", "记分员", "member", "admin"),
    Actor(SUPERUSER, "群主老陈", "群主老陈", "owner", "群主", "owner", "owner"),
    Actor(10022, "石头", "石头", "newcomer", "有名未绑定"),
    Actor(NEWCOMER, "新朋友", "", "newcomer", "还没报名"),
    _player(10014, "常胜将军"),
    _player(10015, "平安", "一路平安"),
    _player(10016, "赵六"),
    _player(10017, "小马哥"),
    _player(10018, "清风", "清风徐来"),
    _player(10019, "云中鹤"),
    _player(10020, "老 顽童"),
    _player(10021, "跳跳虎"),
)
"""Who can be played, in the order shown."""

SEED = Seed(
    players=(
        SeedPlayer("张三", 10011, "普通"),
        SeedPlayer("李四", 10012, "普通"),
        SeedPlayer("王五", 10013, "32强"),
        SeedPlayer("常胜将军", 10014, "冠军", ip_checked=True),
        SeedPlayer("平安", 10015, "普通"),
        SeedPlayer("赵六", 10016, "普通"),
        SeedPlayer("小马哥", 10017, "16强"),
        SeedPlayer("清风", 10018, "8强"),
        SeedPlayer("云中鹤", 10019, "亚军", ip_checked=True),
        SeedPlayer("老 顽童", 10020, "普通"),
        SeedPlayer("跳跳虎", 10021, "普通"),
        SeedPlayer("石头", None, "普通"),
    ),
    games=SEED_GAMES,
)
"""Twelve players; nine have 20 games and more. 张三 leads 平安 by net 3: one more win locks the pair (L6)."""

REPORT = "张三    胜    李四\n张三    平    李四"
LINES: dict[Part, tuple[tuple[str, str], ...]] = {
    "player": (
        ("报分", "{me}    胜    {other}"),
        ("确认", "确认"),
        ("有误", "有误 比分写反了"),
        ("/等级分", "/等级分"),
        ("/排行榜", "/排行榜"),
        ("/曲线", "/曲线 {me} {other}"),
        ("/对战", "/对战 {other}"),
        ("/强制约战", "/强制约战 {other}"),
        ("/约战", "/约战"),
        ("/推荐对手", "/推荐对手"),
        ("/请假", "/请假 出差"),
        ("/格式", "/格式 {me} {other}"),
        ("/帮助", "/帮助"),
    ),
    "newcomer": (
        ("/报名", "/报名 {me}"),
        ("/认领", "/认领 石头"),
        ("/排行榜", "/排行榜"),
        ("/规则", "/规则"),
        ("/帮助", "/帮助"),
    ),
    "desk": (
        ("/待办", "/待办"),
        ("替人报分", REPORT),
        ("/通过", "/通过 "),
        ("/代确认", "/代确认 "),
        ("/发布榜单", "/发布榜单"),
        ("/结算 预览", "/结算 预览"),
        ("/结算 执行", "/结算 执行"),
        ("/改判", "/改判 局1 平 看错了"),
        ("/赛事 新建", "/赛事 新建 秋季赛 1.2"),
        ("/请假 给", "/请假 给 跳跳虎 出差"),
        ("/强制约战", "/强制约战 张三 李四"),
        ("/绑定 预览", "/绑定 预览"),
        ("/导出", "/导出"),
        ("/导入", "/导入"),
        ("/日志", "/日志"),
        ("/体检", "/体检"),
        ("/帮助", "/帮助"),
    ),
    "owner": (
        ("/任命", f"/任命 裁判 {SCOREKEEPER}"),
        ("/待办", "/待办"),
        ("/结算 回滚", "/结算 回滚"),
        ("/体检", "/体检"),
        ("/备份", "/备份"),
        ("/帮助", "/帮助"),
    ),
}
"""Quick buttons of each part: label and what is typed; {me} is one's own name, {other} a likely opponent's."""


def build(now: Callable[[], int] = wall_clock) -> FakeQQ:
    """Return the QQ with both groups and the whole cast; `now` gives ms since the epoch."""
    qq = FakeQQ(self_id=BOT, now=now)
    qq.add_group(OFFICIAL, "官方群")
    qq.add_group(SCORING, "记分群")
    for actor in CAST:
        joined_at = now() if actor.qq == NEWCOMER else now() - YEAR_MS
        qq.add_person(actor.qq, actor.nickname)
        for group_id, role in ((OFFICIAL, actor.official), (SCORING, actor.scoring)):
            if role:
                qq.add_member(group_id, actor.qq, card=actor.card, role=role, joined_at=joined_at)
    return qq
