"""Why something cannot be corrected, and what to do instead (§10)."""

from plugins.rating_bot.wording.people import refusal as other_refusal
from plugins.rating_bot.wording.queries import pool_suffix, side
from plugins.rating_bot.wording.reports import STATES
from rating_core.directory import Directory
from rating_core.rulebook import DEFAULT_POOL
from rating_core.service.refusal import Refusal
from rating_core.times import show_time

ENDS = {
    "open": "还在进行",
    "fulfilled": "已经应战",
    "forfeited": "已经扣分",
    "cancelled": "已经取消",
    "lifted": "已经免罚",
}

_TEXTS = {
    "no_game": "没有局{number}。局号在 /战绩 里看。",
    "no_report": "没有#{number}这份报分，请看清编号。",
    "no_row": "没有账{number}。账号在 /日志 和 /解释 里看。",
    "no_challenge": "没有约{number}。进行中的约战请发：\n/约战{typed}",
    "game_void": "局{number}已经作废（账{by}），不能再改。要先恢复，发：\n/撤销 账{by} 理由",
    "game_sides": "{pool}一边{size}个人，四个位置不能有重名；请按“左边 胜 右边”写全名字。",
    "game_self": "这样局{number}里会有人和自己同桌，不能这样改。先把局{number}改对：\n/改判 局{number} 甲 胜 乙 理由",
    "event_other_pool": "赛事「{name}」是{pool}的，#{number}是{its}的，不能改过去。",
    "event_unrated": "赛事「{name}」不计分，里面没有报分，不能改过去。",
    "undo_registered": "账{number}是登记棋手，不能撤销。名字错了用 /改名，一人两名用 /合并，原始分错了发：\n"
    "/调分 名字 +50 原始分登记错了",
    "undo_event": "账{number}是开赛事，不能撤销。不要它了就结束它：\n/赛事 结束 名字",
    "undo_old_list": "账{number}是{pool}第{list}期榜单，只能撤销最新的一期（第{newest}期）；更正后的分数在下一期里。"
    "要现在发新的一期：\n/发布榜单 {pool}",
    "undo_final_list": "账{number}是{season}赛季结算的最终榜单，要连同结算一起回滚，发：\n/结算 回滚 {season} {pool}",
    "undo_list_void": "第{list}期撤销以后不再恢复，期号也不再用。要发布现在的榜，发：\n/发布榜单 {pool}",
    "undo_cancelled": "账{number}是取消约战，不能撤销，约战机会已经退回。要再约，发：\n/强制约战 甲 乙{typed}",
    "merged_name_used": "「{name}」现在是正名在用的名字，分不开。先改名再撤销，发：\n/改名 {name} 新名",
    "undo_rollback": "结算的回滚不能撤销。要再结算，发：\n/结算 执行 {pool}",
    "leave_closed_again": "{name}的请假不能恢复了：最后几天谁也不能请假（L8）。",
    "leave_again": "{name}已经又请了假，原来那次不用恢复。",
    "event_closed_again": "赛事「{name}」本来就已经结束了，不用恢复。",
    "merge_same": "这两个名字已经是同一个人（{right}），不用合并。",
    "merge_masked": "蒙面人公用号不能合并（L13）。",
    "merge_opening": "「{wrong}」在{pool}有期初分，不能合并；先撤销那条期初分（账号在 /日志 里看），再发：\n"
    "/合并 {wrong} {right} 理由",
    "merge_met": "「{wrong}」和「{right}」互相遇到过（{what}），是两个人，不能合并。记错了人请先改判：\n"
    "/改判 局号 甲 胜 乙 理由",
    "adjust_nothing": "调分不能是0。例如：\n/调分 张三 +20{typed} 漏记奖励分",
}


def refusal(error: Refusal, directory: Directory, here: str) -> str:
    """Why a correction was refused, and what to type instead. `here`: the pool that commands here mean."""
    facts = error.facts
    match error.code:
        case "game_same":
            line = facts["line"]
            sides = [side(tuple(map(directory.name_of, players))) for players in (line.left, line.right)]
            return f"局{facts['number']}本来就是 {sides[0]} {line.result.word} {sides[1]}，没有要改的。"
        case "report_not_effective":
            report = facts["report"]
            number, state = report.report_id, STATES[report.state]
            if not report.open:
                return f"#{number}{state}，没有要改的。"
            return f"#{number}{state}，还没有生效，不用更正。要作废发：\n/作废 {number} 理由"
        case "event_same":
            return f"#{facts['number']}本来就是{'赛事' + facts['name'] if facts['name'] else '约战'}，没有要改的。"
        case "row_void":
            number, by = facts["number"], facts["by"]
            return f"账{number}已经撤销过了（账{by}）。要恢复，发：\n/撤销 账{by} 理由"
        case "undo_settlement":
            season, pool = facts["entry"].season, facts["pool"]
            return f"账{facts['number']}是赛季结算，要连同最终榜单一起回滚，发：\n/结算 回滚 {season} {pool}"
        case "undo_challenge":
            number = facts["entry"].challenge
            return f"账{facts['number']}是发起约战，不能撤销。要取消它，发：\n/取消约战 约{number} 理由"
        case "undo_unmerged":
            wrong, right = directory.name_of(facts["player"]), directory.name_of(facts["into"])
            return f"合并撤销后不能原样恢复。要再合并，发：\n/合并 {wrong} {right} 理由"
        case "not_forfeited":
            challenge = facts["challenge"]
            return f"约{challenge.number}{ENDS[challenge.state]}，没有要免的扣分。"
        case "challenge_over":
            challenge = facts["challenge"]
            return f"约{challenge.number}后来{ENDS[challenge.state]}，这条不能再撤销。" + (
                f"要免去扣分，发：\n/免罚 约{challenge.number} 理由" if challenge.state == "forfeited" else ""
            )
        case "extension_over":
            challenge = facts["challenge"]
            return (
                f"约{challenge.number}原来的期限是{show_time(challenge.deadline)[5:]}，已经过了，不能撤销延期。"
                f"要现在结束它，发：\n/取消约战 约{challenge.number} 理由"
            )
    text = _TEXTS.get(error.code)
    typed = pool_suffix(facts.get("pool", DEFAULT_POOL), here)
    return other_refusal(error) if text is None else text.format(**facts, typed=typed)
