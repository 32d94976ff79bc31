"""What the bot says about published lists (第N期), boards of past days and the archive list (封存名单)."""

from collections.abc import Sequence
from datetime import date

from plugins.rating_bot.wording import people
from plugins.rating_bot.wording.common import pages_of, spans
from plugins.rating_bot.wording.queries import pool_suffix
from rating_core.elo import show_rating
from rating_core.queries import ArchivedRow
from rating_core.service.lists import Published
from rating_core.service.refusal import Refusal
from rating_core.times import show_day

ARCHIVE_PAGE = 10
NO_SUCH_DAY = "没有{typed}这一天。日期这样写，例如：\n/排行榜 {today}"

_REFUSALS = {
    "list_title_long": "标题最长{most}个字，这个有{length}个字。不写标题就用默认的：\n/发布榜单",
    "list_title_at": "标题里不能有@。不写标题就用默认的：\n/发布榜单",
    "list_title_empty": "标题里没有字。不写标题就用默认的：\n/发布榜单",
    "list_current": "{pool}第{number}期《{title}》已是最新：发布以后榜没有变，不用再发。看这一期：\n"
    "/排行榜 第{number}期 {pool}",
    "list_empty": "{pool}榜上还没有人，没有可发布的。",
}


def refusal(error: Refusal) -> str:
    """Why a list could not be published."""
    text = _REFUSALS.get(error.code)
    return people.refusal(error) if text is None else text.format(**error.facts)


def published(done: Published, groups: int, here: str) -> str:
    """To the scorekeeper who published elsewhere than in a group of the pool."""
    sent = f"，发到{groups}个群" if groups else "，没有群对应这个榜，没有发到群里"
    return (
        f"{done.pool}第{done.number}期已发布（账{done.seq}），共{len(done.rows)}人{sent}："
        f"{done.title}。以后的涨跌和这一期比。\n/排行榜 第{done.number}期{pool_suffix(done.pool, here)}"
    )


# --- past lists and days ------------------------------------------------------------------------------------


def no_list(pool: str, number: int, known: Sequence[int], here: str, *, gone: bool) -> str:
    """There is no 第N期, or no longer (`gone`); which there are."""
    suffix = pool_suffix(pool, here)
    if not known:
        return f"{pool}{'没有还有效的' if gone else '还没有发布过'}榜单。看现在的：\n/排行榜{suffix}"
    what = f"{pool}第{number}期已经撤销" if gone else f"{pool}没有第{number}期"
    return f"{what}，可看的有第{spans(known)}期。例如：\n/排行榜 第{known[-1]}期{suffix}"


def no_such_day(typed: str, today: date) -> str:
    return NO_SUCH_DAY.format(typed=typed, today=today.isoformat())


def not_yet(day: date, pool: str, here: str) -> str:
    """A day that is still to come."""
    return f"{day.isoformat()}还没有到。看现在的：\n/排行榜{pool_suffix(pool, here)}"


def before_the_first(pool: str, first: date, here: str) -> str:
    """A day before the pool's first entry."""
    return f"{pool}从{first.isoformat()}开始有榜，再早没有。\n/排行榜 {first.isoformat()}{pool_suffix(pool, here)}"


# --- 封存名单 -----------------------------------------------------------------------------------------------


def _archived(row: ArchivedRow, number: int) -> str:
    why = "请假" if row.reason == "leave" else "封存"
    until = "现在就可参赛" if row.barred_until is None else f"{show_day(row.barred_until)}起可参赛"
    return f"{number} {row.name} {show_rating(row.rating)} {show_day(row.since)}{why}，{until}"


def archive_page(pool: str, rows: Sequence[ArchivedRow], page: int, here: str) -> str:
    """Return a page of a pool's archive list: rating, since when and why, when they may play again."""
    if not rows:
        return f"{pool}没有封存的棋手。"
    typed = f"/封存名单 第{{page}}页{pool_suffix(pool, here)}"
    back = "可参赛后再有一次报分生效就回到榜上"
    lines = [_archived(row, number) for number, row in enumerate(rows, start=1)]
    head = f"{pool}封存名单（第99/99页，共{len(rows)}人）"
    pages = pages_of(lines, head, f"{back}\n下一页：{typed.format(page=99)}", ARCHIVE_PAGE)
    if not 1 <= page <= len(pages):
        return f"没有第{page}页，{pool}封存名单共{len(pages)}页。\n{typed.format(page=len(pages))}"
    more = [f"下一页：{typed.format(page=page + 1)}"] if page < len(pages) else []
    return "\n".join([head.replace("99/99", f"{page}/{len(pages)}"), *pages[page - 1], back, *more])
