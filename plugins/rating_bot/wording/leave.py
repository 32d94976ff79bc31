"""What the bot says about leave (请假, L8) and its undoing (销假)."""

from collections.abc import Sequence
from typing import Any

from plugins.rating_bot.wording.common import fit
from plugins.rating_bot.wording.people import refusal as other_refusal
from rating_core.directory import Directory
from rating_core.rules.season import LeavePools, games_needed
from rating_core.service.leave import Entered, Leave, Taken
from rating_core.service.people import PREVIEW_MINUTES
from rating_core.service.refusal import Refusal
from rating_core.store.desk_store import Preview
from rating_core.times import season_of, show_day, show_time

CHANGED = "情况有变，没有执行，请看新的："


def _challenges(numbers: Sequence[int]) -> str:
    return "、".join(f"约{number}" for number in numbers)


def _pool_lines(pools: LeavePools, needed: int) -> list[str]:
    lines = [f"{name}：本赛季{games}局，不满{needed}局，马上封存，不扣分" for name, games in pools.archived]
    lines += [f"{name}：本赛季{games}局，已满{needed}局，留在榜上" for name, games in pools.listed]
    return lines + [f"{name}：已在封存名单" for name in pools.before]


def asked(leave: Leave, preview: Preview, directory: Directory, *, changed: bool = False) -> str:
    """To the player: what his leave means and until when; it waits for his 确认."""
    number, needed = preview.preview_id, games_needed(season_of(leave.until - 1))
    lines = [CHANGED] if changed else []
    lines.append(
        f"预{number} {directory.name_of(leave.player)}请假（L8）：所有榜都不能参赛，{show_day(leave.until)}起恢复"
    )
    lines += _pool_lines(leave.pools, needed)
    if leave.issued:
        lines.append(f"您发起的{_challenges(leave.issued)}随之取消，不扣分")
    return fit(lines, last=f"{PREVIEW_MINUTES}分钟内回「确认」就请假：\n确认 预{number}")


def taken(result: Taken, directory: Directory) -> str:
    """A leave was entered: what it did."""
    leave = result.leave
    archived = "、".join(name for name, _ in leave.pools.archived)
    lines = [
        f"{directory.name_of(leave.player)}已请假（账{result.seq}，L8），{show_day(leave.until)}起可参赛。",
        f"{archived}封存，不扣分；到时再有报分生效就回到榜上。",
    ]
    if leave.pools.listed:
        lines.append(f"{'、'.join(name for name, _ in leave.pools.listed)}留在榜上。")
    if result.ended:
        lines.append(f"{_challenges([e.challenge.number for e in result.ended])}取消，不扣分，约战机会退回。")
    return fit(lines)


def undo_asked(leave: Entered, reason: str, preview: Preview, directory: Directory, *, changed: bool = False) -> str:
    """To the scorekeeper: what 销假 does; it waits for his 确认."""
    number, name = preview.preview_id, directory.name_of(leave.player)
    by = directory.account_name(leave.by)
    lines = [CHANGED] if changed else []
    lines += [
        f"预{number} 销假：{name}的请假（{show_time(leave.entered_at)[5:]} {by}）当作没有请过（{reason[:100]}）",
        f"{'、'.join(leave.pools)}从封存名单回到榜上，马上可以参赛；年底照常结算。因请假取消的强制约战不恢复",
    ]
    return fit(lines, last=f"{PREVIEW_MINUTES}分钟内引用本条回「确认」就销假：\n确认 预{number}")


def undone(leave: Entered, directory: Directory) -> str:
    return f"{directory.name_of(leave.player)}已销假，{'、'.join(leave.pools)}回到榜上，可以参赛了。"


_REFUSALS = {
    "leave_masked": "「{name}」不参加年底结算，不用请假。",
    "leave_archived": "{name}已在封存名单，年底不会再扣分，不用请假（L8）。",
    "leave_nowhere": "{name}还没有计分对局，没有上榜，不用请假（L8）。",
    "not_on_leave": "{name}现在没有请假，没什么可销的。",
}


def refusal(error: Refusal) -> str:
    """Why there is no leave, with the clause."""
    facts: dict[str, Any] = error.facts
    if error.code == "leave_already":
        return f"{facts['name']}已经请过假了，{show_day(facts['until'])}起可参赛（L8）。"
    if error.code == "leave_closed":
        return f"{show_day(facts['since'])}起不能请假了（赛季最后几天，L8）。年底怎么结算请发：\n/规则 L7"
    if error.code == "leave_enough":
        games = "、".join(f"{name}{count}局" for name, count in facts["pools"].listed)
        return f"{facts['name']}本赛季{games}，已满{facts['needed']}局，年底不会封存，不用请假（L8）。"
    if error.code == "leave_challenged":
        numbers = _challenges(facts["numbers"])
        return (
            f"{numbers}还在等您应战，不能自己请假（L8、L9）。先下一局并报分；确实不能下，请记分员发：\n"
            f"/请假 给 {facts['name']} 理由"
        )
    text = _REFUSALS.get(error.code)
    return other_refusal(error) if text is None else text.format(**facts)
