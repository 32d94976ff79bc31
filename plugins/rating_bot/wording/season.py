"""What the bot says about a season's settlement (结算; L7, L8, L10)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from plugins.rating_bot.wording.common import fit, pages_of
from plugins.rating_bot.wording.people import refusal as other_refusal
from rating_core.directory import Directory
from rating_core.elo import show_rating
from rating_core.rulebook import SEASON_EXEMPT_RATING
from rating_core.rules.season import games_needed, last_day
from rating_core.service.impact import PersonChange
from rating_core.service.people import PREVIEW_MINUTES
from rating_core.service.refusal import Refusal
from rating_core.service.season import Judged, Rollback, Settled, Sheet
from rating_core.store.desk_store import Preview
from rating_core.times import show_day, show_time

MOVED = "这期间账本有变动，没有执行，请看新的预览："
PAGE_ROWS = 11
ROW_CHARS = 60
"""A row of names is broken about here."""
CHANGES_SHOWN = 10
_BACK = "（已回榜，不再封存）"
MOST_NUMBERS = 15


def _rows(head: str, parts: Sequence[str]) -> list[str]:
    """A heading and what stands under it, broken into rows."""
    rows = [head]
    for part in parts:
        if len(rows[-1]) + len(part) > ROW_CHARS and rows[-1] != head:
            rows.append(part)
        else:
            rows[-1] += ("：" if rows[-1] == head else "、") + part
    return rows


@dataclass(frozen=True, slots=True)
class Group:
    """Players whom a settlement treats alike: what it does, and each one's name with what is said of him."""

    head: str
    players: tuple[tuple[str, str], ...]


def groups_of(sheet: Sheet, directory: Directory) -> list[Group]:
    """Return whom a settlement concerns, without the groups in which nobody is."""

    def played(one: Judged) -> tuple[str, str]:
        return directory.name_of(one.player), f"{one.games}局" + (_BACK if one.back else "")

    def name(one: Judged) -> tuple[str, str]:
        return directory.name_of(one.player), ""

    needed, high = games_needed(sheet.season), SEASON_EXEMPT_RATING.on(last_day(sheet.season))
    absent = [one for one in sheet.high if not one.event_games]
    found: list[tuple[str, Sequence[Judged], Callable[[Judged], tuple[str, str]]]] = [
        (f"扣{sheet.taken:g}分并封存{len(sheet.deducted)}人（L7，不满{needed}局）", sheet.deducted, played),
        (f"请假封存、不扣分{len(sheet.left)}人（L8）", sheet.left, name),
        (f"{high:g}分以上、不扣不封{len(sheet.high)}人（L10）", sheet.high, played),
        ("　其中没下过赛事、应参加月赛、季赛", absent, name),
        (f"赛季最后几天才上榜、不扣不封{len(sheet.newcomers)}人（L7）", sheet.newcomers, played),
    ]
    return [Group(head, tuple(map(say, of))) for head, of, say in found if of]


def others(sheet: Sheet, groups: Sequence[Group]) -> list[str]:
    """Return how many a settlement leaves alone, and when those whom it archives may play again."""
    nobody = [] if groups else ["没有人扣分或封存"]
    needed = games_needed(sheet.season)
    return [*nobody, f"满{needed}局{sheet.enough}人，早已封存{sheet.archived}人", *_return(sheet)]


def _sheet_rows(sheet: Sheet, directory: Directory) -> list[str]:
    groups = groups_of(sheet, directory)
    rows = [row for group in groups for row in _rows(group.head, ["".join(one) for one in group.players])]
    return rows + others(sheet, groups)


def _return(sheet: Sheet) -> list[str]:
    """When those who were archived may play again."""
    parts = []
    if any(not one.back for one in sheet.deducted):
        parts.append(f"结算封存的人{show_day(sheet.returns_at)}起可参赛")
    if len(sheet.left) + len(sheet.deducted) > len(sheet.verdicts):
        parts.append("请假期间已封存的人新赛季就可参赛")
    return ["，".join(parts)] if parts else []


def _about(sheet: Sheet | Rollback) -> str:
    return f"{sheet.season} {sheet.pool}"


def _numbers(numbers: Sequence[int]) -> str:
    more = f"等{len(numbers)}份" if len(numbers) > MOST_NUMBERS else ""
    return "、".join(f"#{number}" for number in numbers[:MOST_NUMBERS]) + more


def waiting(numbers: Sequence[int]) -> str:
    return f"还不能执行：赛季里报的{_numbers(numbers)}还没有了结，先处理完"


def sheet_head(sheet: Sheet) -> str:
    return f"{sheet.season}赛季结算预览（{sheet.pool}）"


def sheet_foot(sheet: Sheet) -> str:
    """What to type next."""
    if sheet.waiting:
        return f"{waiting([report.report_id for report in sheet.waiting])}：\n/待办"
    return f"执行请发：\n/结算 执行 {_about(sheet)}"


def sheet_page(sheet: Sheet, page: int, directory: Directory) -> str:
    """结算 预览: who is concerned, on as many pages as it takes; the last line leads on."""
    head, foot = sheet_head(sheet), sheet_foot(sheet)
    pages = pages_of(_sheet_rows(sheet, directory), head + "第10/10页", foot, PAGE_ROWS)
    if not 1 <= page <= len(pages):
        return f"没有第{page}页，共{len(pages)}页。\n/结算 预览 {_about(sheet)}"
    if len(pages) > 1:
        head += f"第{page}/{len(pages)}页"
    if page < len(pages):
        foot = f"/结算 预览 {_about(sheet)} 第{page + 1}页"
    return "\n".join([head, *pages[page - 1], foot])


def execution_asked(sheet: Sheet, preview: Preview, directory: Directory, *, moved: bool = False) -> str:
    """结算 执行: the same content as 预N; it waits for 确认."""
    number = preview.preview_id
    lines = [MOVED] if moved else []
    head = f"预{number} {sheet.season}赛季结算（{sheet.pool}）"
    foot = f"{PREVIEW_MINUTES}分钟内引用本条回「确认」就执行，并公布最终榜单：\n确认 预{number}"
    whole = f"……其余见 /结算 预览 {_about(sheet)} 第2页"
    pages = pages_of(_sheet_rows(sheet, directory), "\n".join([*lines, head, whole]), foot, PAGE_ROWS)
    return "\n".join([*lines, head, *pages[0], *([whole] if len(pages) > 1 else []), foot])


def settled(result: Settled, directory: Directory) -> str:
    """To the groups: what the settlement did."""
    sheet = result.sheet
    lines = [f"{sheet.season}赛季已结算（{sheet.pool}）"]
    if result.ratings:
        back = {one.player for one in sheet.deducted if one.back}
        parts = [
            f"{directory.name_of(p)} {show_rating(a)}→{show_rating(b)}{_BACK if p in back else ''}"
            for p, a, b in result.ratings
        ]
        lines += _rows(f"扣{sheet.taken:g}分并封存{len(parts)}人（L7）", parts)
    if sheet.left:
        lines += _rows(f"请假封存{len(sheet.left)}人（L8）", [directory.name_of(one.player) for one in sheet.left])
    lines += _return(sheet) if result.ratings or sheet.left else ["没有人扣分或封存"]
    if result.final is None:
        return fit(lines, "……其余见 /封存名单")
    final = result.final
    return fit(
        lines, "……其余见 /封存名单", last=f"最终榜单是第{final.number}期《{final.title}》：\n/排行榜 第{final.number}期"
    )


def _change(change: PersonChange, directory: Directory, pool: str) -> str:
    where = "" if change.pool == pool else f"{change.pool} "
    states = {True: "封存", False: "在榜"}
    was, now = show_rating(change.before.rating), show_rating(change.after.rating)
    line = f"{where}{directory.name_of(change.player)} {was}→{now}"
    if change.before.archived != change.after.archived:
        line += f" {states[change.before.archived]}→{states[change.after.archived]}"
    return line


def rollback_asked(found: Rollback, preview: Preview, directory: Directory, *, moved: bool = False) -> str:
    """结算 回滚: what changes, before → after; it waits for 确认."""
    number = preview.preview_id
    lines = [MOVED] if moved else []
    whose = f"{show_time(found.settled_at)[5:]} {directory.account_name(found.by)}"
    final = "" if found.list_number is None else f"，连同第{found.list_number}期榜单"
    lines.append(f"预{number} 回滚{found.season}赛季结算（{found.pool}，{whose}）{final}：当作没有结算过")
    lines.append(f"影响{len(found.changes)}人" + ("：" if found.changes else ""))
    lines += [_change(change, directory, found.pool) for change in found.changes[:CHANGES_SHOWN]]
    if len(found.changes) > CHANGES_SHOWN:
        lines.append(f"……还有{len(found.changes) - CHANGES_SHOWN}人")
    return fit(lines, "……还有{count}行", last=f"{PREVIEW_MINUTES}分钟内引用本条回「确认」就回滚：\n确认 预{number}")


def rolled_back(found: Rollback) -> str:
    """To the groups: the settlement is as never made."""
    final = "" if found.list_number is None else f"，第{found.list_number}期榜单作废"
    return (
        f"{found.season}赛季结算（{found.pool}）已回滚{final}，影响{len(found.changes)}人。"
        f"更正以后重新结算请记分员发：\n/结算 执行 {_about(found)}"
    )


# --- refusals ------------------------------------------------------------------------------------------------


def refusal(error: Refusal) -> str:
    """Why nothing is settled or rolled back."""
    facts: dict[str, Any] = error.facts
    if error.code == "season_running":
        return f"{facts['season']}赛季还没有结束，{show_day(facts['until'])}起才能结算（L7）。"
    if error.code == "season_reports":
        return f"{waiting(facts['numbers'])}：\n/待办"
    text = _REFUSALS.get(error.code)
    return other_refusal(error) if text is None else text.format(**facts)


_REFUSALS = {
    "season_settled": "{season}赛季（{pool}）已经结算过了，没有重复执行。结错了请发：\n/结算 回滚 {season} {pool}",
    "season_later": "{later}赛季（{pool}）已经结算，不能再补结{season}赛季。",
    "season_empty": "{season}赛季（{pool}）还没有人上榜，不用结算。",
    "season_not_settled": "{season}赛季（{pool}）没有结算过，没什么可回滚的。",
    "rollback_later": "{later}赛季（{pool}）也结算过，要先回滚它：\n/结算 回滚 {later} {pool}",
}
