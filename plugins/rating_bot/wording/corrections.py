"""What the bot says about corrections (§10): previews with what they change, what was done, and why not."""

from collections.abc import Sequence

from plugins.rating_bot.wording.common import MAX_CHARS, MAX_LINES
from plugins.rating_bot.wording.correction_refusals import refusal
from plugins.rating_bot.wording.queries import side
from rating_core.directory import Directory
from rating_core.elo import show_change, show_rating
from rating_core.ledger import (
    Adjustment,
    Amend,
    ChallengeExtended,
    ChallengeForfeited,
    ChallengeFulfilled,
    Entry,
    EventClosed,
    Games,
    IpChecked,
    LeaveTaken,
    ListPublished,
    Merged,
    OpeningBalance,
    Void,
)
from rating_core.report_text import GameLine
from rating_core.rulebook import CASUAL_WEIGHT
from rating_core.service.correction_plans import Plan
from rating_core.service.corrections import Applied, Proposed
from rating_core.service.impact import ChallengeChange, Impact, PersonChange, VerdictChange
from rating_core.service.people import PREVIEW_MINUTES
from rating_core.times import show_day, show_time

__all__ = ["applied", "applied_to_desk", "proposed", "refusal"]

PEOPLE = 10
"""People in a preview, those who change most."""
STANDING = 2
"""Verdicts and challenges that are named in a preview."""
_REASON = 60
_NO_LIST = "涨跌改和再上一期比，这个期号不再用"
_ENDS = {"open": "进行中", "fulfilled": "算应战", "forfeited": "扣分", "cancelled": "取消", "lifted": "免罚"}


def game_text(line: GameLine, directory: Directory) -> str:
    """Return a game on one line."""
    left, right = (side(tuple(map(directory.name_of, players))) for players in (line.left, line.right))
    return f"{left} {line.result.word} {right}"


# --- what it is ------------------------------------------------------------------------------------------------


def _title(plan: Plan, new: GameLine | None, directory: Directory) -> str:
    """Return what a correction is, with the numbers of what it concerns."""
    action, number = plan.request.action, plan.request.target
    of = f"（#{plan.report.report_id}）" if plan.report is not None else ""
    if plan.old is not None and new is not None:
        return f"改判 局{number}{of}：{game_text(plan.old.line, directory)} → {game_text(new, directory)}"
    if plan.old is not None and isinstance(plan.draft.entry, Amend):
        was, now = _event(plan.old.event, plan.old.weight, directory), plan.draft.entry
        return f"改赛事 #{number}：{was} → {_event(now.event or 0, now.weight or CASUAL_WEIGHT, directory)}"
    if plan.old is not None:
        return f"撤销 局{number}{of}：{game_text(plan.old.line, directory)}"
    if plan.names is not None and action == "merge":
        return f"合并 「{plan.names[0]}」并入「{plan.names[1]}」"
    if isinstance(plan.draft.entry, Adjustment):
        adjusted = plan.draft.entry
        return f"调分（{plan.draft.pool}）：{directory.name_of(adjusted.player)} {show_change(adjusted.amount)}"
    what = _what(plan, directory)
    if action == "penalty":
        return f"免罚 {what}"
    return f"作废 {what}" if action == "report" else f"撤销 账{number}：{what}"


def _event(event: int, weight: float, directory: Directory) -> str:
    name = f"赛事{directory.events.get(event, event)}" if event else "约战"
    return f"{name}（系数{weight:g}）"


def _what(plan: Plan, directory: Directory) -> str:
    """Return the entry that is undone, in words."""
    assert plan.entry is not None
    if isinstance(plan.entry, Void | Amend) and plan.root is not None:
        return _corrected(plan, plan.entry, plan.root, directory)
    if isinstance(plan.entry, ListPublished) and plan.row is not None:
        return f"{plan.row.pool}第{plan.entry.number}期榜单"
    if isinstance(plan.entry, Merged) and plan.names is not None:
        return f"「{plan.names[0]}」并入「{plan.names[1]}」的合并"
    return _entry(plan.entry, directory)


def _corrected(plan: Plan, entry: Void | Amend, root: Entry, directory: Directory) -> str:
    """Return a correction in words; one that undoes another correction names what that one is about."""
    of = f"（#{plan.report.report_id}）" if plan.report is not None else ""
    if isinstance(entry, Amend):
        return f"局{entry.game}{of}的改判" if entry.line is not None else f"{of.strip('（）')}的改赛事"
    about = f"局{entry.game}{of}" if entry.game is not None else _entry(root, directory)
    return f"对{about}的撤销"


def _entry(entry: Entry, directory: Directory) -> str:
    name_of = directory.name_of
    match entry:
        case Games(report=report, lines=lines):
            more = f"等{len(lines)}局" if len(lines) > 1 else ""
            return f"#{report}：{game_text(lines[0], directory)}{more}"
        case Adjustment(player=player, amount=amount):
            return f"{name_of(player)}的调分{show_change(amount)}"
        case LeaveTaken(player=player, until=until):
            return f"{name_of(player)}的请假（到{show_day(until)}）"
        case OpeningBalance(player=player, rating=rating):
            return f"{name_of(player)}的期初分{show_rating(rating)}"
        case IpChecked(player=player, valid=valid):
            return f"{name_of(player)}的{'' if valid else '撤销'}核验"
        case ChallengeForfeited(challenge=number, player=player, amount=amount):
            return f"约{number} {name_of(player)}的扣分{show_change(-amount)}"
        case ChallengeFulfilled(challenge=number, report=report):
            return f"约{number}由#{report}算应战"
        case ChallengeExtended(challenge=number, deadline=deadline):
            return f"约{number}延期到{show_time(deadline)[5:]}"
        case EventClosed(event=event):
            return f"赛事{directory.events.get(event, event)}的结束"
    return entry.KIND


# --- what it changes ---------------------------------------------------------------------------------------------


def _person(change: PersonChange, pools: Sequence[str], name: str) -> str:
    """One player: before → after."""
    was, now = change.before, change.after
    pool = f"（{change.pool}）" if len(pools) > 1 else ""
    text = f"{name}{pool} {show_rating(was.rating)}→{show_rating(now.rating)}"
    text += f"（{show_change(change.moved)}）"
    if was.archived != now.archived:
        text += " 封存" if now.archived else " 回榜"
    if was.rank != now.rank and was.rank is not None and now.rank is not None:
        text += f" 第{was.rank}→{now.rank}名"
    if was.games != now.games:
        text += f" {was.games}→{now.games}盘"
    if was.peak != now.peak and was.rating == now.rating:
        text += " 历史最高分" + "→".join("无" if p is None else show_rating(p) for p in (was.peak, now.peak))
    return text


def _taken(taken: float | None) -> str:
    return "留榜" if taken is None else f"封存{show_change(-taken)}" if taken else "封存"


def _verdict(change: VerdictChange, directory: Directory) -> str:
    name, pool = directory.name_of(change.player), change.pool
    return f"{change.season}赛季{pool} {name} 判{_taken(change.stored)}，现在应为{_taken(change.now)}"


def _challenge(change: ChallengeChange, directory: Directory) -> str:
    was, now = change.was, change.now
    pair = f"约{now.number} {directory.name_of(now.challenger)}约{directory.name_of(now.opponent)}"
    if not change.stands:
        deadline = f"（期限{show_time(now.deadline)[5:]}）" if now.state == "open" else ""
        return f"{pair}：{_ENDS[was.state]} → {_ENDS[now.state]}{deadline}"
    why = "现在看来下过" if change.played else "算应战的那局没有了"
    return f"{pair}：{why}，仍按{_ENDS[now.state]}"


def _some(lines: Sequence[str], most: int) -> list[str]:
    """The first lines; of more, how many there are in all."""
    shown = list(lines[:most])
    if len(lines) > most:
        shown[-1] += f"（共{len(lines)}条）"
    return shown


def _standing(impact: Impact, most: int, directory: Directory) -> list[str]:
    """What stands although it would now be decided otherwise, and what becomes of forced challenges."""
    lines: list[str] = []
    if impact.verdicts:
        lines += ["结算仍按原判，不会改（要重判用 /结算 回滚）："]
        lines += _some([_verdict(change, directory) for change in impact.verdicts], most)
    return lines + _some([_challenge(change, directory) for change in impact.challenges], most)


def proposed(result: Proposed, directory: Directory, at: int) -> str:
    """The preview: what changes for whom, and the line that applies it."""
    plan, impact, number = result.plan, result.impact, result.preview.preview_id
    title = _title(plan, result.new, directory)
    head = ["账本有了新记录，没有执行，请看新的："] if result.again else []
    reason = f"（{plan.request.reason[:_REASON]}）" if plan.request.reason else ""
    head.append(f"预{number} {title}{reason}")
    people = impact.own
    others = len({c.player for c in impact.people} - {c.player for c in people})
    moved = f"，另有{others}人只变名次" if others else ""
    head.append(f"影响：{impact.players}人 {impact.games}局{moved}")
    late = [_NO_LIST] if isinstance(plan.entry, ListPublished) else []
    late += ["注意：期限已过，确认后马上按L9处理"] if result.ends_at and result.ends_at <= at else []
    pools = sorted({change.pool for change in people})
    parted = {plan.entry.player: plan.names[0]} if isinstance(plan.entry, Merged) and plan.names else {}
    rows = [_person(c, pools, parted.get(c.player) or directory.name_of(c.player)) for c in people]
    last = f"{PREVIEW_MINUTES}分钟内引用本条回「确认」，或发：\n确认 预{number}"
    for most in range(STANDING, 0, -1):
        text = _fitted([*head, *_standing(impact, most, directory), *late], rows, last)
        if len(text) <= MAX_CHARS:
            break
    return text


def _fitted(head: Sequence[str], rows: Sequence[str], last: str) -> str:
    """Return a message of at most 15 lines and 500 characters with as many rows as fit, ten at most."""
    for count in range(min(PEOPLE, len(rows)), -1, -1):
        more = [f"……还有{len(rows) - count}人"] if count < len(rows) else []
        text = "\n".join([*head, *rows[:count], *more, last])
        if text.count("\n") < MAX_LINES and len(text) <= MAX_CHARS:
            break
    return text


# --- what was done -------------------------------------------------------------------------------------------------


def _reason(reason: str, by: str) -> str:
    return f"理由：{reason[:_REASON] or '没有说'}（{by}）"


def applied(result: Applied, by: str, directory: Directory) -> str:
    """To the players: number, reason, and how many changed."""
    players, games = result.impact.players, result.impact.games
    count = f"{players}人{games}局的分数随之更正。" if players else "没有人的分数变化。"
    if isinstance(result.plan.entry, ListPublished):
        count += _NO_LIST + "。"
    if isinstance(result.plan.draft.entry, Adjustment):
        changes = (c for c in result.impact.own if c.player == result.plan.draft.entry.player)
        count = "\n".join(_person(change, (), directory.name_of(change.player)) for change in changes)
    return "\n".join(
        [f"账{result.seq} {_title(result.plan, result.new, directory)}", _reason(result.plan.request.reason, by), count]
    )


def applied_to_desk(result: Applied, by: str, directory: Directory) -> str:
    """To who confirmed: the same, what stays where it is, and how to take it back."""
    lines = [applied(result, by, directory)]
    if result.stay:
        numbers = "、".join(f"#{number}" for number in result.stay)
        lines.append(f"{numbers}在合并期间生效，留在正名名下；要改用 /改判")
    for_good = isinstance(result.plan.entry, Merged | ListPublished)  # undone once and for all
    if not for_good:
        lines.append(f"要改回来：\n/撤销 账{result.seq} 理由")
    return "\n".join(lines)
