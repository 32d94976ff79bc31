"""What the bot says when somebody wants to be forgotten (/注销)."""

from collections.abc import Sequence
from datetime import date

from plugins.rating_bot.wording.common import fit
from rating_core.directory import Directory
from rating_core.service.erasing import Erased, Subject
from rating_core.service.people import PREVIEW_MINUTES
from rating_core.store.desk_store import Preview
from rating_core.store.people_store import ERASE, Application

CHANGED = "情况有变，没有提交，请看新的："
MASKED_FREE = "蒙面人公用号现在没有人在用了（使用的人注销了）。要给人用，例如：\n/蒙面人 批准 12345678"


def _open(subject: Subject) -> str:
    """What of his is still open and ends with it, "" for nothing."""
    parts = [f"{'、'.join(f'#{number}' for number in subject.reports[:10])}作废"] if subject.reports else []
    if subject.challenges:
        parts.append(f"{'、'.join(f'约{number}' for number in subject.challenges)}取消、不扣分")
    if subject.roles:
        parts.append("记分员、裁判的身份取消")
    return "，".join(parts)


def _backups(until: date | None) -> str:
    if until is None:
        return "备份由维护者保管，里面的要过了他的保存期才没有"
    return f"备份里的最晚到{until.isoformat()}清完"


def asked(subject: Subject, preview: Preview, *, himself: bool, changed: bool = False) -> str:
    """What it means; it waits for 确认."""
    number = preview.preview_id
    lines = [CHANGED] if changed else []
    lines.append(f"预{number} 注销「{subject.name}」，做了就不能恢复：")
    if subject.player is not None:
        lines.append(f"榜、战绩、网页、日志里的名字都换成「{subject.label}」，曾用名、QQ、请假和更正的理由都删掉")
        lines.append("别人的分数和对局一点不变；以后再来按新棋手算，原来的名字谁都可以再用")
    else:
        lines.append("QQ、名片和申请记录都删掉；榜上没有您的名字，榜不变")
    if said := _open(subject):
        lines.append(f"还没了结的：{said}。要算数请先办完")
    lines.append("已经发在群里的消息和图片、别人存下的表格收不回来")
    lines.append(f"{_backups(subject.backups_until)}。记分员同意后才执行" + ("" if himself else "，要另一位来批"))
    return fit(lines, last=f"{PREVIEW_MINUTES}分钟内引用本条回「确认」就提出申请：\n确认 预{number}")


def applied(application: Application) -> str:
    return f"审{application.application_id} 待审核：注销「{application.name}」。另一位记分员或超级用户同意后执行。"


def notice(application: Application, subject: Subject, directory: Directory, reason: str) -> str:
    """To the desk: somebody wants to be forgotten."""
    number = application.application_id
    by = (
        "本人申请"
        if application.kind == ERASE
        else f"{directory.account_name(application.account_id)}代为申请：{reason}"
    )
    lines = [f"审{number} 注销「{subject.name}」（{by[:60]}）。做了就不能恢复。"]
    if said := _open(subject):
        lines.append(f"还没了结的：{said}。要算数请先办完。")
    return fit(lines, last=f"同意请发（不同意发 /驳回 审{number} 理由）：\n/通过 审{number}")


def done(number: int, erased: Erased) -> str:
    """To the scorekeeper who agreed: his line of /通过."""
    subject = erased.subject
    what = f"，{said}" if (said := _open(subject)) else ""
    return f"审{number} 已通过：已注销，记录里是「{subject.label}」{what}。{_backups(subject.backups_until)}"


def farewell(number: int, erased: Erased) -> str:
    """Where it was asked for."""
    subject = erased.subject
    return (
        f"审{number} 已通过：资料已经删掉，记录里的名字换成了「{subject.label}」。{_backups(subject.backups_until)}；"
        "已经发在群里的消息收不回来。"
    )


def closed_reports(numbers: Sequence[int]) -> str:
    """To the group where they were posted: what waited and is void now."""
    return f"{'、'.join(f'#{number}' for number in numbers[:30])}作废：有一方注销了。"


def name_gone(application: Application) -> str:
    """To somebody who waited for the name of who was forgotten."""
    return f"审{application.application_id} 没有通过：这位棋手注销了。要上榜请发 /报名 名字"
