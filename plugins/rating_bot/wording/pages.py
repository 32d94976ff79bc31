"""What the public pages say that is not a fixed word of a template."""

from datetime import date

from plugins.rating_bot.wording.queries import side
from plugins.rating_bot.wording.reports import bar_reason
from rating_core.elo import show_change, show_rating
from rating_core.queries import Board, Card, CurvePoint, Explanation
from rating_core.rules.eligibility import Bar
from rating_core.times import show_day

SITE = "跳棋等级分"
NO_PAGE = "没有这一页。"
NO_POOL = "没有这个榜。"
NO_PLAYER = "没有这个编号的棋手。"
NO_GAME = "没有这一局。局号在棋手的战绩里看。"
NO_EVENT = "没有这个赛事。"
NO_DAY = "没有这一天。日期这样写：2026-10-01"
AWAY = "机器人正在重新开始，过几秒再看。"
BUSY = "看往日榜单的人太多，过几秒再试。"
ONLY_READ = "这些网页只能看。"
BROKEN = "网页出错了，请稍后再看。"
VERSUS = "对战"
RULES = "规则"
EVENTS = "赛事"

MARKS = {
    "start": "起点",
    "opening_balance": "期初余额",
    "adjustment": "调分",
    "settlement": "年底结算（L7）",
    "challenge_forfeited": "强制约战没应战（L9）",
}
"""What changes a rating besides games."""


def long_day(at: int) -> str:
    """Return a day as headings write it: 2026年10月1日."""
    year, month, day = show_day(at).split("-")
    return f"{year}年{int(month)}月{int(day)}日"


# --- titles -----------------------------------------------------------------------------------------------


def board_title(pool: str) -> str:
    return f"{pool}等级分排行榜"


def list_title(board: Board) -> str:
    return f"{board.pool}第{board.number}期榜单"


def day_title(board: Board) -> str:
    return f"{board.pool}{long_day(board.at)}的榜"


def lists_title(pool: str) -> str:
    return f"{pool}往期榜单"


def archive_title(pool: str) -> str:
    return f"{pool}封存名单"


def player_title(name: str, pool: str) -> str:
    return f"{name}（{pool}）"


def opponents_title(name: str, pool: str) -> str:
    return f"{name}的对手（{pool}）"


def game_title(game: Explanation) -> str:
    return f"局{game.number} {side(game.left)} {game.result.word} {side(game.right)}"


# --- what is not there ------------------------------------------------------------------------------------


def no_list(pool: str, number: int) -> str:
    """No such list, or no longer: one that was withdrawn."""
    return f"{pool}没有第{number}期榜单，或者已经撤销。"


def no_board_on(pool: str, first: date | None) -> str:
    """A day before the first entry, or one to come."""
    return f"这一天还没有{pool}的榜。" + ("" if first is None else f"从{first.isoformat()}到今天的都能看。")


# --- players and games ------------------------------------------------------------------------------------


def barred(card: Card) -> str:
    """Return why a player cannot play now, where his state does not say it already."""
    if card.bar is not None and (card.bar.clause == "L11" or card.bar.pending):
        return f"现在不能报分：{bar_reason(card.bar)}"
    return ""


def barred_name(bar: Bar, name: str) -> str:
    """Return the same with his name."""
    return f"现在不能报分：{name}{bar_reason(bar)}"


def figures(point: CurvePoint) -> tuple[str, str]:
    """Return rating and change of a point of the curve."""
    return show_rating(point.rating), "" if point.kind == "start" else show_change(point.change)


def kind(game: Explanation) -> str:
    """Return whether a game was casual or of which event, and its weight (L5)."""
    return f"{f'赛事「{game.event}」' if game.event else '约战'}，系数{game.weight:g}（L5）"
