"""What the bot says at the desk: /待办, /日志, previews, /体检, /备份; and to commands it cannot carry out."""

from collections.abc import Sequence
from itertools import accumulate

from plugins.rating_bot.wire.gapfill import Gap
from plugins.rating_bot.wording.common import cut, fit, names, pages_of
from plugins.rating_bot.wording.integrity import rows_of
from plugins.rating_bot.wording.reports import STATES
from rating_core.directory import Directory
from rating_core.service.docket import Docket, Entry
from rating_core.service.health import Health
from rating_core.service.people import PREVIEW_MINUTES
from rating_core.store.backup import BackupBroken, BackupFailed, NoSpace
from rating_core.store.desk_store import DocketItem, JournalLine, Preview
from rating_core.store.people_store import MASKED, Application
from rating_core.store.report_store import Report
from rating_core.times import show_time, to_datetime

DOCKET_PAGE = 10
JOURNAL_PAGE = 10
JOURNAL_CHARS = 400
"""A longer line of the journal is cut."""
DOCKET_KINDS = {
    "missed": "可能漏收",
    "failed_send": "没发出去",
    "late_objection": "生效后有异议",
    "look": "已生效，请核对一下",
    "late_game": "判了不应战，后来才收到期限前的报分",
    "old_command": "停机时发的命令，没有执行",
    "failed_backup": "备份没做成",
    "clock": "机器的时钟不准",
    "another": "另一个机器人在用同一个QQ",
    "restored": "从备份恢复过，请核对",
    "damaged": "账本损坏，暂停记分",
    "differs": "重算与现榜不一致",
    "broken_rights": "权限表有坏行",
}


MB = 1024 * 1024


def no_preview(number: int) -> str:
    return f"没有预{number}。请看清预览里的编号；要新的预览，请重新发一次命令。"


def not_your_preview(preview: Preview) -> str:
    return f"无权：预{preview.preview_id}只能由发起的人确认。"


def preview_closed(preview: Preview) -> str:
    return f"预{preview.preview_id}已经处理过了，没有重复执行。"


def preview_expired(preview: Preview) -> str:
    return f"预{preview.preview_id}过了{PREVIEW_MINUTES}分钟，已失效，什么都没有改。请重新发一次命令。"


def docket_pages(found: Docket, directory: Directory) -> list[Sequence[Entry]]:
    """Return the entries of each page of /待办: as many as fit into a message."""
    rows = [_docket_line(entry, directory) for entry in found.entries]
    longest = f"确认 {' '.join(['9' * 6] * DOCKET_PAGE)}"
    pages = pages_of(rows, _docket_head(found, 99, 99), f"下一页：/待办 第99页\n{longest}", DOCKET_PAGE)
    ends = list(accumulate(map(len, pages)))
    return [found.entries[end - len(page) : end] for end, page in zip(ends, pages, strict=True)]


def _docket_head(found: Docket, page: int, pages: int) -> str:
    return f"待办{len(found.entries)}件" + (f"（第{page}/{pages}页）" if pages > 1 else "")


def docket(found: Docket, pages: Sequence[Sequence[Entry]], page: int, directory: Directory) -> str:
    """/待办: what waits, each with its number; the last line is a command that can be typed."""
    if not pages:
        return "待办是空的。"
    if page > len(pages):
        return f"待办只有{len(pages)}页。\n/待办 第{len(pages)}页"
    shown = pages[page - 1]
    lines = [_docket_head(found, page, len(pages)), *(_docket_line(entry, directory) for entry in shown)]
    if page < len(pages):
        lines.append(f"下一页：/待办 第{page + 1}页")
    first = shown[0]
    if isinstance(first, Application) and first.kind != MASKED:
        lines.append(f"/通过 审{first.application_id}")
    elif isinstance(first, Report) and first.state == "confirmed":
        numbers = [e.report_id for e in shown if isinstance(e, Report) and e.state == "confirmed"]
        lines.append(f"确认 {' '.join(map(str, numbers))}")
    elif isinstance(first, Report):
        lines.append(f"/代确认 {first.report_id} 理由")
    elif isinstance(first, DocketItem):
        lines.append("/待办 已阅" if page == 1 else f"/待办 第{page}页 已阅")
    return "\n".join(lines)


def digest(found: Docket, directory: Directory) -> str:
    """What waits for the desk in the morning; nobody is mentioned."""
    lines = [f"早上好，待办有{len(found.entries)}件：", *(_docket_line(entry, directory) for entry in found.entries)]
    return fit(lines, "……还有{count}件", last="/待办")


def _docket_line(entry: Entry, directory: Directory) -> str:
    if isinstance(entry, Application):
        bound = len(directory.qqs_of(entry.player_id)) if entry.player_id is not None else 0
        if entry.kind == MASKED:
            return f"审{entry.application_id} 有人申请使用{entry.name}（由超级用户私聊处理）"
        what = {"claim": "认领", "register": "报名"}.get(entry.kind, "注销")
        return f"审{entry.application_id} {what}「{entry.name}」{entry.placing}" + (
            f"（已绑定{bound}个QQ）" if bound else ""
        )
    if isinstance(entry, Report):
        line = entry.lines[0]
        short = f"{names(line.left, directory)} {line.result.word} {names(line.right, directory)}"
        more = f"等{len(entry.lines)}局" if len(entry.lines) > 1 else ""
        why = f"（{entry.reason[:12]}）" if entry.reason else ""
        return f"#{entry.report_id} {short}{more}：{STATES[entry.state]}{why}"
    return " ".join(part for part in (DOCKET_KINDS[entry.kind], entry.about, entry.detail[:60]) if part)


def docket_cleared(count: int, left: int) -> str:
    """已阅: reminders that were shown are off the list; applications and reports are not."""
    return f"已划掉{count}件提醒，待办还有{left}件。" + ("\n/待办" if left else "")


def journal(lines: Sequence[JournalLine], page: int, asked: str, name: str, directory: Directory) -> str:
    """/日志: who did what, when, why; newest first. `asked` (" 20") and `name` (" 张三") stand in the line to type.

    `lines` are the newest ones, one more at least than pages up to this one can hold, if there are so many.
    """
    if not lines:
        return "日志里没有记录。"
    typed = f"/日志{asked}{{}}{name}"
    pages = pages_of([_journal_line(line, directory) for line in lines], "", typed.format(" 第999页"), JOURNAL_PAGE)
    if page > len(pages):
        return f"日志没有第{page}页。\n{typed.format('')}"
    more = [f"下一页：{typed.format(f' 第{page + 1}页')}"] if page < len(pages) else []
    return "\n".join([*pages[page - 1], *more])


def _journal_line(line: JournalLine, directory: Directory) -> str:
    about = f" {line.about}" if line.about else ""
    who = f" {directory.name_of(line.player_id)}" if line.player_id is not None else ""
    detail = f"（{line.detail}）" if line.detail else ""
    reason = f" 理由：{line.reason}" if line.reason else ""
    by = directory.account_name(line.account_id)
    return cut(f"{show_time(line.said_at)[5:]} {by} {line.action}{about}{who}{detail}{reason}", JOURNAL_CHARS)


def health(found: Health, backup_at: int | None, versions: str) -> str:
    """/体检: chain, replay, rights, sends, backup, versions."""
    if found.broken_row is not None:
        chain = f"账本：哈希链在账{found.broken_row}断了！已暂停记分，请停掉机器人，从备份恢复（restore）"
    else:
        chain = f"账本：{found.rows}条，哈希链完整"
    if found.broken_row is not None:
        fold = "重算：账本断了，没有重算"
    elif found.difference is not None:
        fold = f"重算：与现榜不一致，从{found.difference}起！请联系维护者"
    else:
        fold = "重算：与现榜一致"
    rights = f"{rows_of(found.broken_rights)}和写下时不一样，不给权利！" if found.broken_rights else "每行完好"
    sends = (
        "、".join(f"{label}{found.sends.get(state, 0)}" for state, label in _SENDS if found.sends.get(state)) or "无"
    )
    backup = "还没有" if backup_at is None else show_time(backup_at)
    if found.engine.startswith("PostgreSQL"):
        backup = "由PostgreSQL自己做"
    return "\n".join(
        [
            "体检：" + ("正常" if found.well else "有问题"),
            chain,
            fold,
            f"权限：{rights}",
            f"棋手{found.players}人，对局{found.games}局",
            f"待发消息：{sends}",
            f"最近备份：{backup}",
            f"版本：{versions}，数据库{found.engine}",
        ]
    )


_SENDS = (("pending", "排队"), ("held", "待合并"), ("sending", "发送中"), ("unknown", "待核实"), ("failed", "失败"))


def backed_up(name: str, size: int) -> str:
    return f"已备份：{name}（{size / MB:.1f} MB，打开重算过），在机器人所在机器的备份目录里。"


def backup_elsewhere() -> str:
    return "数据库是PostgreSQL，请用它自己的备份（pg_dump）；机器人不复制它。"


def backup_failed(error: BackupFailed) -> str:
    """A backup could not be made, or is no good."""
    match error:
        case NoSpace(needed=needed, free=free):
            return (
                f"备份没有做成：磁盘只剩{free / MB:.0f} MB，要有{needed / MB:.0f} MB。请在机器人所在的机器上腾出地方。"
            )
        case BackupBroken(path=path):
            return f"备份做出来了，但打开重算时没通过（{cut(str(error), 60)}），改名为{path.name}，不算数。"
    return f"备份没有做成：{cut(str(error), 80)}"


def daily_backup_failed(error: BackupFailed) -> str:
    """To desk and superusers."""
    return f"今天的自动{backup_failed(error)}\n明天4点再试；也可以现在就：\n/备份"


def sending_alarm(kind: str, chat: str, text: str) -> str:
    """What became of a message that could not be sent; of a private one, QQ's words may name whom it was for."""
    where = f"群{chat[1:]}" if chat.startswith("g") else "一个私聊"
    return {
        "failed": f"发到{where}的消息试了几次都没成" + (f"（{text[:40]}）" if chat.startswith("g") else ""),
        "held": f"发到{where}的消息不知道发出去没有：QQ不给历史，先留着不重发",
        "muted": f"机器人在{where}被禁言，消息先留着，解禁后接着发",
        "kicked": f"机器人不在{where}里了，消息先留着",
        "risk": f"QQ暂时不让机器人在{where}说话（风控），消息先留着，过一会儿再试",
    }[kind]


def given_up(count: int, days: int) -> str:
    """Messages that could not be sent for so long that they were deleted like everything else that was said then."""
    return f"{count}条消息等了{days}天都没发出去，已删除；记下的比分不受影响"


def was_offline(since: int, until: int, why: str) -> str:
    """To the superusers: the bot's QQ was logged out, or without a connection to QQ, and is back."""
    said = f"（{why}）" if why else ""
    return (
        f"机器人的QQ掉线过：{show_time(since)[5:]}—{show_time(until)[5:]}{said}，现在恢复了。"
        "这期间群里报的分已从历史里补记；在记分群看看有没有漏收：\n/待办"
    )


def another_bot() -> str:
    """To desk and superusers: somebody else says 收到 with the bot's QQ."""
    return (
        "机器人的QQ说了不是本机器人说的「收到」：另有一个机器人连着同一个QQ，各记各的账，每条都会答两遍。"
        "一个QQ只连一个机器人，请停掉多出来的那个。\n/待办"
    )


def clock_wrong(ahead: int) -> str:
    """To desk and superusers: the machine's clock is so many ms ahead of QQ's (negative: behind)."""
    minutes = round(abs(ahead) / 60_000)
    span = f"{minutes}分钟" if minutes < 120 else f"{minutes / 60:.0f}小时"
    return (
        f"机器人所在的机器，时钟比QQ{'快' if ahead > 0 else '慢'}了约{span}。限期和赛季照QQ的时间算，没有影响；"
        "请把时钟调准，开启自动对时。\n/待办"
    )


def missed(group: str, gap: Gap) -> str:
    """What may have been missed in a group while the bot was away; to the second: what is missing later is new."""
    since, until = (f"{to_datetime(at):%m-%d %H:%M:%S}" for at in (gap.since, gap.until))
    why = {
        "unavailable": "QQ不给历史消息",
        "short": "历史消息不够长",
        "limit": "消息太多没有读全",
        "holes": f"中间缺{gap.missing}条",
        "broken": "读到一半QQ不给了",
    }[gap.reason]
    return f"群{group} {since}到{until}（{why}），请翻看有没有漏掉的报分"
