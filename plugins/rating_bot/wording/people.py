"""What the bot says about names, accounts, applications and roles."""

from typing import Any

from plugins.rating_bot.wire.messages import at
from plugins.rating_bot.wording.common import fit
from rating_core.directory import Directory
from rating_core.names import NameProblem
from rating_core.rulebook import MASKED_NAME, PLACINGS
from rating_core.service.people import PREVIEW_MINUTES, CardMatches, Outcome
from rating_core.service.refusal import Refusal
from rating_core.store.desk_store import Preview
from rating_core.store.people_store import MASKED, Application

_NAME_PROBLEMS = {
    "empty": "名字是空的，或者全是看不见的字符",
    "too_long": "名字最长{detail}个字",
    "quote": "名字里不能有引号「{detail}」",
    "at": "名字里不能有@",
    "character": "名字里有看不见或不能用的字符（{detail}）",
    "spaces": "名字里只能有单个空格，前后不能有空格",
    "start": "名字不能以“{detail}”开头",
    "invisible": "名字里要有看得见的字",
    "digits": "名字不能全是数字",
    "date": "名字不能是日期",
    "placing": "名字不能是名次",
    "result_word": "名字不能带单独的“{detail}”字",
    "pool_name": "名字不能是榜名",
    "number_word": "名字不能像编号（第N期、前N、局N……）",
    "command_word": "名字不能和机器人的命令或用语相同",
}


MEMBERS_UNAVAILABLE = "QQ没有给出群成员名单，稍后再发一次：\n/绑定 预览"


def name_problem(name: str, problem: NameProblem) -> str:
    """Why a new name is not allowed."""
    return f"「{name[:20]}」不能用：{_NAME_PROBLEMS[problem.code].format(detail=problem.detail)}。请换一个名字再发。"


def refusal(error: Refusal) -> str:
    """Why a command was refused."""
    facts: dict[str, Any] = error.facts
    if error.code == "bad_name":
        return name_problem(facts["name"], facts["problem"])
    return _REFUSALS[error.code].format(**facts)


_REFUSALS = {
    "name_masked": "「{name}」是联盟的公共账号，不能作为棋手的名字。请换一个名字。",
    "name_taken": "榜上已有「{name}」。是您本人的话请发：\n/认领 {name}",
    "name_confusable": "「{name}」和榜上的「{alike}」看起来太像。请换一个名字；是您本人的话请发：\n/认领 {alike}",
    "name_applied_for": "已经有人申请了「{name}」（审{number}），请换一个名字或等记分员处理。",
    "already_bound": "您的QQ已经绑定「{name}」，不用再申请。要改名请找记分员。",
    "already_applied": "您已经申请了「{name}」（审{number}），正在等记分员处理。",
    "no_application": "没有审{number}，看一下 /待办。",
    "application_decided": "审{number}已经处理过了。",
    "masked_fixed": f"「{MASKED_NAME}」由超级用户批准给人使用（等于核验），不能绑定、认领、改名或另行核验（L13）。",
    "masked_by_superuser": f"无权：审{{number}}申请的是{MASKED_NAME}，由超级用户处理；批准请私聊我发 /蒙面人 批准 QQ。",
    "masked_yours": f"您现在就在使用「{MASKED_NAME}」，不用再申请。报分直接私聊发给我。",
    "masked_applied": f"您已经申请了「{MASKED_NAME}」（审{{number}}），正在等超级用户处理。",
    "masked_holds_it": f"{{qq}} 现在就在使用「{MASKED_NAME}」，不用再批准。",
    "masked_held": f"「{MASKED_NAME}」现在有人在用，同时只能一个人用。要换人请先发：\n/蒙面人 收回",
    "masked_free": f"「{MASKED_NAME}」现在没有人在用。要给人用，例如：\n/蒙面人 批准 12345678",
    "own_case": "无权：不能处理自己的事，请别的记分员或超级用户来办。",
    "qq_bound": "这个QQ已经绑定「{name}」。一个QQ只能绑一个名字；要换请先发 /解绑 {name} {qq}",
    "not_bound_to": "这个QQ没有绑定「{name}」。",
    "same_name": "已经叫「{name}」了。",
    "ip_already": "「{name}」已经核验过IP截图，不用再核验。要取消请发：\n/核验 {name} 撤销",
    "ip_not_checked": "「{name}」还没有核验过，没什么可撤销的。",
    "has_role": "{who}已经是了，不用再任命。",
    "has_no_role": "{who}本来就不是，不用免去。",
    "erase_nothing": "机器人没有您的资料：没有绑定名字，也没有申请过什么。发过的命令原文30天内自动删除。",
    "erase_superuser": "超级用户的QQ写在设置 SUPERUSERS 里，请先从那里去掉并重新启动，再发 /注销。",
    "erase_himself": "「{name}」绑定了QQ，要注销请他本人在群里发：\n/注销",
    "erase_applied": "已经申请注销了（审{number}），正在等记分员处理。",
    "erase_changed": "申请以后「{name}」的绑定变了，不能执行。请驳回，让他重新申请：\n/驳回 审{number} 绑定变了",
    "mention_not_bound": "{typed}的QQ还没有绑定名字，请直接写榜上的名字。",
}


def applied(application: Application) -> str:
    """To the applicant: it waits for a scorekeeper."""
    number = application.application_id
    if application.kind == "claim":
        return f"审{number} 待审核：认领「{application.name}」。记分员通过后，您的QQ就绑定这个名字。"
    start = PLACINGS[application.placing]
    return (
        f"审{number} 待审核：报名「{application.name}」（{application.placing}，原始分{start:g}）。"
        "记分员通过后就能报分了；第一次参赛请把近几年最好名次告诉记分员。"
    )


def application_notice(application: Application, qq: str, card: str, bound: int) -> str:
    """To the scoring group: someone applied; `bound`: how many QQs the claimed name has already."""
    number = application.application_id
    what = (
        f"认领「{application.name}」"
        if application.kind == "claim"
        else f"报名「{application.name}」{application.placing}"
    )
    already = f"；注意：这个名字已经绑定了{bound}个QQ" if bound else ""
    return (
        f"审{number} {what}（{card} QQ{qq}{already}）。核对后发（不同意发 /驳回 审{number} 理由）：\n/通过 审{number}"
    )


def decided(application: Application, outcome: Outcome) -> str:
    """To the scorekeeper, a line an application."""
    word = "已通过" if outcome == "approved" else "已驳回"
    what = {"claim": "认领", MASKED: "申请使用", "register": "报名"}.get(application.kind, "注销")
    return f"审{application.application_id} {word}：{what}「{application.name}」"


def decision_for_applicant(application: Application, outcome: Outcome, reason: str, qq: str) -> str:
    """To the applicant, where he asked."""
    who = at(qq, application.name)
    if outcome == "refused":
        return f"{who} 审{application.application_id} 没有通过{'：' + reason if reason else '，详情请问记分员'}。"
    return f"{who} 审{application.application_id} 已通过，您在榜上的名字是「{application.name}」。报分格式请发：\n/格式"


def player_added(name: str, placing: str) -> str:
    return f"已登记「{name}」（{placing}，原始分{PLACINGS[placing]:g}），QQ已绑定。"


def bound(name: str, qq: str) -> str:
    return f"已把 {qq} 绑定到「{name}」。"


def unbound(name: str, qq: str) -> str:
    return f"已解除「{name}」和 {qq} 的绑定。"


def renamed(old: str, new: str) -> str:
    return f"「{old}」改名为「{new}」，旧名以后仍然认得。"


def ip_checked(name: str, seq: int, *, valid: bool) -> str:
    """The IP check was entered as ledger row `seq`, or taken back."""
    if valid:
        return f"已登记「{name}」的IP截图核验（账{seq}，L11），截图本身不保存。"
    return f"已撤销「{name}」的IP核验（账{seq}，L11）。"


def appointed(role: str, qq: str) -> str:
    return f"已任命 {qq} 为{role}。"


def dismissed(role: str, qq: str) -> str:
    return f"已免去 {qq} 的{role}。"


def card_matches(matches: CardMatches, preview: Preview | None, directory: Directory) -> str:
    """What group cards say; the exact ones wait as 预N."""
    exact = "、".join(directory.name_of(player) for _, player in matches.exact[:20])
    more = f"等{len(matches.exact)}人" if len(matches.exact) > 20 else ""
    lines = [f"名片与榜上名字一字不差、可以绑定：{len(matches.exact)}人"]
    if matches.exact:
        lines.append(exact + more)
    lines.append(f"要人来看：{len(matches.ambiguous)}人" + _some(matches.ambiguous))
    lines.append(f"不自动绑定：{len(matches.held_back)}人" + _some(matches.held_back))
    lines.append(f"对不上榜上名字：{matches.none}人；已绑定：{matches.bound}人")
    if preview is None:
        lines.append("没有可以自动绑定的，请一个个绑，例如：\n/绑定 张三 12345678")
        return "\n".join(lines)
    number = preview.preview_id
    ask = f"预{number} {PREVIEW_MINUTES}分钟内引用本条回「确认」就绑定这{len(matches.exact)}人："
    return fit(lines, last=f"{ask}\n确认 预{number}")


def _some(items: tuple[tuple[str, str], ...]) -> str:
    if not items:
        return ""
    shown = "；".join(f"{name[:16]}（{why}）" for name, why in items[:4])
    return "：" + shown + ("……" if len(items) > 4 else "")


def cards_bound(done: int, left: int) -> str:
    return f"已绑定{done}人。" + (f"另有{left}人这期间有变动，没有绑定。" if left else "")
