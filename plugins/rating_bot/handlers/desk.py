"""The desk: /待办, /日志, /体检, /备份."""

from importlib.metadata import version
from pathlib import Path

from plugins.rating_bot.handlers.context import Context
from plugins.rating_bot.handlers.grammar import Person, choice, matching, person
from plugins.rating_bot.handlers.slots import page as page_slot
from plugins.rating_bot.handlers.table import Role, command
from plugins.rating_bot.runtime import Runtime, bot_version
from plugins.rating_bot.wire.messages import Inbound, Out
from plugins.rating_bot.wording import desk as wording
from rating_core.service.backups import make_backup
from rating_core.service.docket import docket_of
from rating_core.service.refusal import Refusal
from rating_core.store.backup import BackupFailed
from rating_core.store.desk_store import DocketItem
from rating_core.times import to_datetime

MOST_LINES = 100_000
"""So far /日志 goes back."""


@command(
    "待办", form="/待办 [第N页] [已阅]", help="等着记分员处理的事；加“已阅”划掉上次在这一页看到的漏收、失败等提醒",
    example="/待办",
    slots=(
        matching("page", "第?([1-9][0-9]{0,2})页?", lambda m: int(m.group(1)), optional=True),
        choice("seen", ["已阅"], optional=True),
    ), role=Role.SCOREKEEPER, where="group", query=True,
)  # fmt: skip
async def docket(context: Context, page: int | None, seen: str | None) -> str | list[Out]:
    wanted = page or 1
    found = await docket_of(context.tx)
    shown_as = f"待办{wanted}:"
    last = await context.tx.inbox.last_about(context.message.chat, shown_as) if seen else ""
    if last:
        items = [int(number) for number in last.removeprefix(shown_as).split()]
        count = await context.tx.desk.close_docket(items, context.at)
        await context.tx.journal(await context.known_actor(), context.at, "待办已阅", detail=f"{count}件")
        return wording.docket_cleared(count, len(found.entries) - count)
    pages = wording.docket_pages(found, context.directory)
    entries = pages[wanted - 1] if wanted <= len(pages) else ()
    context.about = shown_as + " ".join(str(e.docket_id) for e in entries if isinstance(e, DocketItem))
    return [context.answer(wording.docket(found, pages, wanted, context.directory))]


@command(
    "日志", form="/日志 [条数] [第N页] [名字]", help="谁在什么时候因为什么做了什么，新的在前", example="/日志 20",
    slots=(
        matching("count", "[1-9][0-9]{0,2}", lambda m: int(m.group()), optional=True), page_slot(),
        person("who", optional=True),
    ), role=Role.SCOREKEEPER, where="group", query=True,
)  # fmt: skip
async def journal(context: Context, count: int | None, page: int | None, who: Person | None) -> str:
    if who is not None and who.player_id is None:
        raise Refusal("mention_not_bound", typed=who.typed)
    player, wanted = who.player_id if who else None, page or 1
    lines = await context.tx.desk.journal(min(count or MOST_LINES, wording.JOURNAL_PAGE * wanted + 1), player)
    asked, name = f" {count}" if count else "", f" {context.directory.name_of(player)}" if player else ""
    return wording.journal(lines, max(1, wanted), asked, name, context.directory)


async def _examine(runtime: Runtime, message: Inbound) -> tuple[object, int | None]:
    return await runtime.examine(), runtime.last_backup_at


@command(
    "体检", form="/体检", help="检查账本：重算是否一致、哈希链、待发消息、备份、版本", example="/体检",
    role=Role.SCOREKEEPER, where="group", query=True, prepare=_examine,
)  # fmt: skip
async def health(context: Context) -> str:
    found, backup_at = context.prepared
    return wording.health(found, backup_at, f"机器人{bot_version()}，NoneBot {version('nonebot2')}")


async def _backup(runtime: Runtime, message: Inbound) -> Path | str | None:
    source = runtime.league.database.path
    if source is None:
        return None
    try:
        return await make_backup(source, runtime.backups, to_datetime(message.said_at).strftime("%Y%m%d-%H%M%S"))
    except BackupFailed as error:
        return wording.backup_failed(error)


@command(
    "备份", form="/备份", help="现在就备份一次", example="/备份", role=Role.SCOREKEEPER, where="group", prepare=_backup,
)  # fmt: skip
async def backup(context: Context) -> str:
    made = context.prepared
    if made is None:
        return wording.backup_elsewhere()
    if isinstance(made, str):
        return made
    await context.tx.journal(await context.known_actor(), context.at, "备份", detail=made.name)
    return wording.backed_up(made.name, made.stat().st_size)
