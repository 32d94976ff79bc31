"""What restore says."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rating_core.directory import Directory
from rating_core.ledger import Entry, Games, LedgerError, Row
from rating_core.report_text import format_report
from rating_core.store.desk_store import JournalLine
from rating_core.times import show_time

if TYPE_CHECKING:
    from rating_core.shell.restoring import Contents

ELSEWHERE = "这里只恢复 SQLite 的备份；PostgreSQL 请停掉机器人，用 pg_restore。"
DRY_RUN = "以上是试算，什么也没有改。停掉机器人，加上 --yes 就恢复。"
TITLES = {
    "player_registered": "登记棋手", "opening_balance": "期初等级分", "ip_checked": "IP截图", "event_opened": "开赛事",
    "event_closed": "关赛事", "games": "报分", "adjustment": "调整", "leave_taken": "请假", "settlement": "结算",
    "void": "作废", "amend": "改正", "challenge_issued": "强制约战", "challenge_extended": "约战延期",
    "challenge_fulfilled": "约战完成", "challenge_cancelled": "约战取消", "challenge_forfeited": "不应战",
    "list_published": "发布榜单", "merged": "合并",
}  # fmt: skip
"""Kinds of entries, for people."""


def no_backup(backup: Path, folder: Path) -> str:
    found = sorted(folder.glob("*.db"), key=lambda path: path.stat().st_mtime, reverse=True) if folder.is_dir() else []
    newest = "".join(f"\n  {path}" for path in found[:10])
    return f"没有备份 {backup}。" + (f"最近的备份：{newest}" if newest else f"{folder} 里也没有备份。")


def no_book(what: object) -> str:
    return f"这不是机器人的数据库，或者读不出来：{what}。什么也没有改。"


def no_good(backup: Path, seq: int) -> str:
    return f"备份 {backup} 从账{seq}起和写下时不一样，不能用。什么也没有改，请换一份更早的备份。"


def failed(error: Exception) -> str:
    return f"没有恢复：{error}。原来的文件没有动。"


def good(backup: Path, rows: Sequence[Row], games: int, wrong: str | None) -> str:
    """The backup was opened and folded."""
    until = f"，最后一行 {show_time(rows[-1].at)}" if rows else ""
    text = f"备份 {backup.name}：账本{len(rows)}行{until}，对局{games}盘；哈希链完整，重算通过。"
    return text if wrong is None else f"{text}\n注意：重算和当时公布的分数不一致，第一处在{wrong}。"


def losses(present: "Contents", kept: "Contents") -> Iterator[str]:
    """Say line by line what is in the present file and not in the backup."""
    if not present.whole:
        yield "现在的文件缺失或读不全，下面只是读得出来的部分。"
    head = len(kept.rows)
    known = {row.seq: row for row in kept.rows}
    for row in present.rows:
        if row.seq in known and row != known[row.seq]:
            yield f"账{row.seq}和备份里的不一样，恢复后以备份为准。"
    lost = [row for row in present.rows if row.seq > head]
    if not lost:
        yield "账本里没有备份之后的记录。"
    else:
        kinds = Counter(TITLES.get(row.kind, row.kind) for row in lost)
        yield f"备份之后的记录共{len(lost)}行，恢复后就没有了：" + "、".join(f"{k}{n}行" for k, n in kinds.items())
        yield from (_entry(row, present.directory) for row in lost)
    lines = present.journal[: max(0, len(present.journal) - len(kept.journal))]
    if lines:
        yield f"备份之后的操作共{len(lines)}条，恢复后要重新做："
        yield from (_journal(line, present.directory) for line in reversed(lines))
    first, last = kept.counters.get("report", 0) + 1, present.counters.get("report", 0)
    if last >= first:
        yield f"备份之后给出的报分编号：#{first}" + (f"—#{last}" if last > first else "") + "，不会再用。"


def _entry(row: Row, directory: Directory) -> str:
    head = f"  账{row.seq} {show_time(row.said_at)} {TITLES.get(row.kind, row.kind)}"
    try:
        about = _about(row.entry(), directory)
    except LedgerError:
        about = "（读不出来）"
    return " ".join(part for part in (head, row.pool, about) if part)


def _about(entry: Entry, directory: Directory) -> str:
    if isinstance(entry, Games):
        games = format_report(entry.lines, directory.name_of).split("\n")
        return f"#{entry.report} " + "；".join(" ".join(game.split()) for game in games if game)
    player = getattr(entry, "player", None) or getattr(entry, "challenger", None)
    return directory.name_of(player) if isinstance(player, int) else ""


def _journal(line: JournalLine, directory: Directory) -> str:
    who = f" {directory.name_of(line.player_id)}" if line.player_id is not None else ""
    detail = f"（{line.detail}）" if line.detail else ""
    by = directory.account_name(line.account_id)
    about = f" {line.about}" if line.about else ""
    return f"  {show_time(line.said_at)} {by} {line.action}{about}{who}{detail}"


def docket(backup: Path, present: "Contents", kept: "Contents") -> str:
    """For the desk's list: the gap stays visible."""
    lost = max(0, len(present.rows) - len(kept.rows))
    gap = f"账{len(kept.rows) + 1}起{lost}行不在里面" if lost else "账本没有缺"
    return f"{backup.name}（{gap}）"


def jumped(by: int) -> str:
    return f"用过哪些编号读不出来：新编号往后跳{by}，免得和已经说出去的重复。"


def done(path: Path, aside: Sequence[Path]) -> str:
    """It is done; what to do next."""
    old = f"原来的文件留在：{'、'.join(str(one) for one in aside)}\n" if aside else ""
    return (
        f"已恢复到 {path}。\n{old}"
        "下一步：启动机器人，在记分群发 /体检。备份之后群里报的分，机器人会从群消息里补记；"
        "补不到的会在 /待办 里说，上面列出的操作请重做。"
    )
