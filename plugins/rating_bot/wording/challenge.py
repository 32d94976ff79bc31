"""What the bot says about forced challenges (强制约战, L9), and /推荐对手."""

from typing import Any

from plugins.rating_bot.wording.common import fit, mention, names
from plugins.rating_bot.wording.people import refusal as other_refusal
from plugins.rating_bot.wording.queries import pool_suffix
from plugins.rating_bot.wording.reports import bar_reason
from rating_core.directory import Directory
from rating_core.elo import show_change, show_rating
from rating_core.queries.opponents import Opponents
from rating_core.report_text import template
from rating_core.rulebook import (
    CHALLENGE_PENALTY,
    CHALLENGES_PER_WEEK,
    DEFAULT_POOL,
    FARMING_REPAY,
    LATELY_DAYS,
    MASKED_NAME,
    SUGGESTED_RANGE,
)
from rating_core.rules.challenge import Obstacle
from rating_core.service.challenges import Ended, Issued, Overview
from rating_core.service.due import ChallengeReminder
from rating_core.service.refusal import Refusal
from rating_core.state import Challenge
from rating_core.times import show_time

NAME_YOURSELF = "您的QQ还没有绑定名字，不知道替谁约。请写上两个人：\n/强制约战 张三 李四"
"""To somebody of the desk who is no player himself."""


def _when(ms: int) -> str:
    return show_time(ms)[5:]


def _pair(challenge: Challenge, directory: Directory) -> str:
    return f"{directory.name_of(challenge.challenger)}约{directory.name_of(challenge.opponent)}"


def _form(challenge: Challenge, directory: Directory) -> str:
    """The report of the two, ready to copy."""
    name_of = directory.name_of
    return template(name_of(challenge.challenger), name_of(challenge.opponent)).rstrip("\n")


def _ask(challenge: Challenge, directory: Directory) -> str:
    return (
        f"{mention([challenge.opponent], directory)} 请在{_when(challenge.deadline)}前与"
        f"{directory.name_of(challenge.challenger)}下一局并报分（计不计分都算），"
        f"到时没有报分扣{CHALLENGE_PENALTY.now:g}分（L9）"
    )


COPY = "下完复制这一行，按实际结果改好发出来："


def issued(result: Issued, directory: Directory) -> str:
    """A challenge as issued: who must do what until when, and the line to copy."""
    challenge = result.challenge
    head = f"约{challenge.number} 强制约战（{challenge.pool}）：{_pair(challenge, directory)}"
    return "\n".join([head, _ask(challenge, directory), COPY, _form(challenge, directory)])


def extended(result: Issued, by: str, reason: str, directory: Directory) -> str:
    """The new deadline."""
    challenge = result.challenge
    head = f"约{challenge.number} 延期到{_when(challenge.deadline)}（账{result.seq}，{by}：{reason[:100]}）"
    return "\n".join([head, _ask(challenge, directory), COPY, _form(challenge, directory)])


def reminder(happening: ChallengeReminder, directory: Directory) -> str:
    """72 h and 24 h before the deadline."""
    challenge = happening.challenge
    head = f"约{challenge.number} 快到期了（{_pair(challenge, directory)}）"
    return "\n".join([head, _ask(challenge, directory), COPY, _form(challenge, directory)])


def ended(result: Ended, directory: Directory) -> str:
    """To the groups: the penalty, or that it was cancelled and why."""
    challenge = result.challenge
    number, opponent = challenge.number, directory.name_of(challenge.opponent)
    if result.outcome == "forfeited":
        waited = f"（等过的#{result.report}没有生效）" if result.report else ""
        when = f"{challenge.pool}，{_pair(challenge, directory)}，{_when(challenge.deadline)}"
        return "\n".join(
            [
                f"约{number} 到期（{when}）{waited}",
                f"{opponent}没有应战，扣{result.amount:g}分（L9），现为{show_rating(result.rating)}"
                f"（{show_change(-result.amount)}）",
                f"扣错了请记分员查实后发：\n/免罚 约{number} 理由",
            ]
        )
    if result.bar is not None:
        why = f"{directory.name_of(result.bar.player)}{bar_reason(result.bar)}"
    else:
        why = f"{directory.account_name(result.by)}：{result.reason[:100]}。"
    back = f"不扣分，{directory.name_of(challenge.challenger)}的约战机会退回。"
    return f"约{number} 已取消（{_pair(challenge, directory)}）：{why}{back}"


def overview(found: Overview, directory: Directory, here: str) -> str:
    """/约战: what is open, and what the asker may still issue. `here`: the pool that questions here mean."""
    lines = [f"{found.pool} 进行中的强制约战：{len(found.open) or '没有'}"]
    for row in found.open:
        waits = f"，等{'、'.join(f'#{number}' for number in row.waits_for)}生效" if row.waits_for else ""
        challenge = row.challenge
        lines.append(f"约{challenge.number} {_pair(challenge, directory)}，{_when(challenge.deadline)}前{waits}")
    if found.quota is None:
        return fit(lines)
    if found.quota:
        typed = f"/推荐对手{pool_suffix(found.pool, here)}"
        return fit(lines, last=f"您这周还能强制约战{found.quota}次，找对手请发：\n{typed}")
    return fit(lines, last=f"您这周的强制约战用完了，{_when(found.resets_at)}起又有{CHALLENGES_PER_WEEK.now}次。")


def only_single_players(pool: str, word: str) -> str:
    """A question about a pool of pairs."""
    return f"{pool}不是一对一的榜，没有强制约战（L9），也不推荐对手。一对一的请发：\n/{word} {DEFAULT_POOL}"


def opponents(found: Opponents, directory: Directory, here: str) -> str:
    """/推荐对手: whom to play now. `here`: the pool that questions here mean."""
    pool = pool_suffix(found.pool, here)
    if found.bar is not None:
        return f"现在不能下计分棋：{directory.name_of(found.bar.player)}{bar_reason(found.bar)}"
    head = f"{found.pool} 与您相差{SUGGESTED_RANGE:g}分以内、现在能下、近来少遇到的"
    if not found.rows:
        return f"{head}：没有。看看整个榜：\n/排行榜{pool}"
    lines = [
        f"{directory.name_of(row.player)} {show_rating(row.rating)}（{show_change(row.difference)}），"
        f"近{LATELY_DAYS}天遇到{row.lately}局"
        for row in found.rows
    ]
    first = directory.name_of(found.rows[0].player)
    return fit([f"{head}：", *lines], last=f"看一局加减多少分，例如：\n/预测 {first}{pool}")


# --- refusals ------------------------------------------------------------------------------------------------


def refusal(error: Refusal, directory: Directory, here: str) -> str:
    """Why a challenge was refused, with the clause. `here`: the pool that questions here mean."""
    facts: dict[str, Any] = error.facts
    if error.code == "challenge":
        return _obstacle(facts["obstacle"], facts["pool"], facts["challenger"], facts["opponent"], directory)
    if error.code == "no_challenge":
        return f"没有约{facts['number']}。进行中的请发：\n/约战{pool_suffix(DEFAULT_POOL, here)}"
    if error.code == "challenge_ended":
        return _ended_already(facts["challenge"], directory)
    if error.code == "extended_too_little":
        when = _when(facts["deadline"])
        return f"约{facts['number']}延到{when}还是已经过了，没有延期。请写多几天。"
    return other_refusal(error)


def _ended_already(challenge: Challenge, directory: Directory) -> str:
    number = challenge.number
    if challenge.state == "forfeited":
        return f"约{number}已到期，{directory.name_of(challenge.opponent)}扣过分了。不该扣请发：\n/免罚 约{number} 理由"
    how = {"fulfilled": "已应战", "cancelled": "已取消", "lifted": "已免罚"}[challenge.state]
    return f"约{number}{how}，什么都没有改。"


def _obstacle(found: Obstacle, pool: str, challenger: int, opponent: int, directory: Directory) -> str:
    """The clause that forbids it."""
    ours, theirs = directory.name_of(challenger), directory.name_of(opponent)
    match found.why:
        case "side_size":
            why = f"没有约成：{pool}不是一对一的榜，强制约战只在一对一的榜（L9）。请写上榜名："
            return f"{why}\n/强制约战 {theirs} {DEFAULT_POOL}"
        case "self":
            return "没有约成：不能约自己（L9）。"
        case "masked":
            return f"没有约成：{MASKED_NAME}不能约人，也不能被约（L13）。"
        case "challenger_barred":
            assert found.bar is not None
            return f"没有约成：自己能下才能约人，{ours}{bar_reason(found.bar)}"
        case "barred":
            assert found.bar is not None
            return f"没有约成：{theirs}{bar_reason(found.bar)}现在不能约。"
        case "archived":
            return f"没有约成：{theirs}在封存名单上（L7），再有报分生效、回到榜上以后才能约。"
        case "open":
            when = _when(found.until)
            return f"没有约成：{names([challenger, opponent], directory)}之间还有约{found.number}没完（{when}前，L9）。"
        case "locked":
            owed = "，".join(f"{directory.name_of(player)}还差{count}局" for player, count in found.owed.items())
            return (
                f"没有约成：{ours}与{theirs}刷分锁住了（L6），两边各与别人下满{FARMING_REPAY.now}局计分棋后才能再约："
                f"{owed}。"
            )
        case "quota":
            when, many = _when(found.until), CHALLENGES_PER_WEEK.now
            return f"没有约成：每人每周强制约战{many}次（L9），{ours}这周用过了（约{found.number}），{when}起再约。"
