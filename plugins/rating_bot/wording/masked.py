"""What the bot says about 蒙面人公用号 (§7 D): to its holder and the superusers in private, to others neutrally."""

from plugins.rating_bot.wording.common import games_in_short, names
from rating_core.directory import Directory
from rating_core.rulebook import MASKED_INITIAL, MASKED_NAME
from rating_core.service.masked import Taken
from rating_core.service.report_results import Changed, Posted
from rating_core.store.people_store import Application
from rating_core.store.report_store import Report
from rating_core.times import show_time

# --- who holds it -------------------------------------------------------------------------------------------


def applied(application: Application) -> str:
    """To the applicant."""
    return (
        f"审{application.application_id} 待审核：申请使用「{MASKED_NAME}」。已经告诉超级用户，群里不会提到您；"
        "结果会在这里告诉您。"
    )


def application_notice(application: Application, qq: str, card: str) -> str:
    """To a superuser."""
    number = application.application_id
    return (
        f"审{number} 有人申请使用「{MASKED_NAME}」：{card} QQ{qq}。批准就等于核验过IP（L13）；"
        f"不同意就在记分群发 /驳回 审{number} 理由。同意的话在这里发：\n/蒙面人 批准 {qq}"
    )


def approved(qq: str) -> str:
    """To the superuser."""
    return f"已批准：{qq} 现在使用「{MASKED_NAME}」，分数接着上一位的算。已经私聊告诉他。要收回请发：\n/蒙面人 收回"


def welcome(number: int | None) -> str:
    """To the new holder; `number` is that of his application."""
    about = f"审{number} 已通过：" if number is not None else ""
    return (
        f"{about}您现在是「{MASKED_NAME}」（第一次启用时{MASKED_INITIAL:g}分，之后接着上一位的分）。\n"
        "报分、确认、有误、撤回都在这里私聊我，群里只会出现公用号的名字；请不要在群里说自己就是它。"
        f"和自己榜上名字的局只能由记分员处理。报分格式，例如：\n{MASKED_NAME}    胜    张三"
    )


def taken_back(taken: Taken) -> str:
    """To the superuser."""
    said = f"已收回「{MASKED_NAME}」，它的分数和对局都不变。"
    if taken.waiting:
        waiting = "、".join(f"#{number}" for number in taken.waiting[:10])
        said += f"没有人能再替它确认：{waiting}，请记分员处理。"
    return f"{said}要给别人用，例如：\n/蒙面人 批准 12345678"


def gone() -> str:
    """To the holder who was."""
    return f"「{MASKED_NAME}」已经收回，您不能再用它报分或确认。您报过、还没确认的，对方仍可确认。"


# --- reports, to the holder ---------------------------------------------------------------------------------


def sent_on(result: Posted, directory: Directory) -> str:
    """His report waits in the group."""
    number = result.report.report_id
    who = names(result.confirmers, directory)
    return f"#{number} 已用公用号的名字发到群里，等{who}确认；结果会在这里告诉您。报错了就在这里撤回：\n/撤回 {number}"


def asked(report: Report, directory: Directory) -> str:
    """Somebody reported games against him."""
    number = report.report_id
    return "\n".join(
        [
            f"#{number} 有人报了和{MASKED_NAME}的局（{report.pool}）",
            games_in_short(report.lines, directory.name_of),
            f"请在这里回答，群里不会出现您。不对就发 有误 {number} 原因；对的话发：",
            f"确认 {number}",
        ]
    )


def reminder(report: Report, directory: Directory) -> str:
    """The one reminder after 24 h."""
    number = report.report_id
    return "\n".join(
        [
            f"#{number}（{show_time(report.said_at)}报）还在等您确认",
            games_in_short(report.lines, directory.name_of),
            f"不对就发 有误 {number} 原因；对的话发：",
            f"确认 {number}",
        ]
    )


def disputed(result: Changed) -> str:
    """Somebody of the other side, or his partner, says that it is wrong."""
    reason = result.reason[:100] or "没有说原因"
    return f"#{result.report.report_id} 有人说有误（{reason}），已转给记分员。"


def confirmed(result: Changed) -> str:
    """Both sides confirmed an event's report."""
    return f"#{result.report.report_id} 双方都已确认，还要等裁判或记分员确认才生效；结果会在这里告诉您。"


def same_as(report: Report) -> str:
    """Games that both sides have confirmed and a referee has not."""
    return f"未记录：与#{report.report_id}相同（等裁判或记分员确认）。如果是另外几局，等它生效以后再报。"


def own_game(report: Report, directory: Directory) -> str:
    """A game against himself; only the desk can decide it, and nobody else learns why."""
    number = report.report_id
    what = f"#{number}是{MASKED_NAME}和您自己榜上名字的局，您不能自己确认，要由别的记分员处理。"
    if report.state != "waiting":
        return what
    here = directory.masked in report.sides()[1]
    return (
        f"{what}群里看起来和别的报分一样，过期没人确认就转给记分员。想早点处理，"
        f"请{'在这里' if here else '用榜上的名字在群里'}发：\n有误 {number}"
    )


def held_later(report: Report) -> str:
    """A report from before his time."""
    return f"#{report.report_id}是您用{MASKED_NAME}之前的局，您不能替它确认，会转给记分员处理。"


SECRET_CASE = f"无权：这里面有{MASKED_NAME}的事，您是它的使用人，不能自己处理；请别的记分员来办。群里没有回答您。"


def secret_case(report: Report) -> str:
    """§5 D, to a scorekeeper or referee who holds it."""
    return f"无权：#{report.report_id}有{MASKED_NAME}的局，那时您就是它，请别的记分员处理。群里没有回答您。"


SPEAK_HERE = f"{MASKED_NAME}的局请在这里私聊报给我，不要在群里报。格式，例如：\n{MASKED_NAME}    胜    张三"


# --- to everybody -------------------------------------------------------------------------------------------

FREE = f"未记录：{MASKED_NAME}现在没有发给任何人使用（L13），不能报它的局。想用的人请私聊我发：\n/蒙面人 申请"
