"""/导出: the workbook into the group's files; /导入: a file of games or a roster, by preview."""

import asyncio
import hashlib
import io
import json
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from plugins.rating_bot.handlers.context import Context
from plugins.rating_bot.handlers.grammar import choice
from plugins.rating_bot.handlers.people import reserved
from plugins.rating_bot.handlers.previews import applies
from plugins.rating_bot.handlers.slots import pool as pool_slot
from plugins.rating_bot.handlers.table import Role, command
from plugins.rating_bot.runtime import BACKUPS, Runtime
from plugins.rating_bot.wire.files import FileFailed
from plugins.rating_bot.wire.messages import Inbound, Out
from plugins.rating_bot.wording import workbook as wording
from rating_core import importing
from rating_core.importing.detect import read_file
from rating_core.importing.files import GameFile
from rating_core.importing.games_entries import plan_games
from rating_core.importing.games_outcome import Outcome, outcome
from rating_core.importing.games_plan import GamesPlan, Options
from rating_core.importing.games_writer import enter, last_numbers
from rating_core.rulebook import POOLS
from rating_core.service.previews import book_moved, keep_preview
from rating_core.service.transaction import Tx
from rating_core.store.backup import BackupFailed, backup_sqlite
from rating_core.store.desk_store import Preview
from rating_core.store.import_store import ImportStore
from rating_core.store.people_store import Counters
from rating_core.times import to_datetime

if TYPE_CHECKING:
    from rating_core.workbook.export import Exported

IMPORT = "import"
"""Kind of the previews."""
KEPT_FILES = 4


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that was read; by its hash it is found again when the preview is confirmed."""

    name: str
    digest: str
    file: GameFile | importing.Table


@dataclass(frozen=True, slots=True)
class Trial:
    """A plan and what comes of it (None where something stands against it), made before the transaction began."""

    plan: GamesPlan
    found: Outcome | None


_uploads: OrderedDict[str, Upload] = OrderedDict()
"""Files of the last previews. After a restart a preview asks for its file again."""


# --- out --------------------------------------------------------------------------------------------------


async def _upload(runtime: Runtime, message: Inbound) -> "tuple[str, Exported, int] | tuple[str, FileFailed]":
    """Write the workbook in a thread, then hand it to QQ."""
    from rating_core.workbook.export import export  # rarely needed, and many modules

    book, directory, at = runtime.league.book.fork(), runtime.league.directory, runtime.clock.now()
    name = f"等级分{to_datetime(at).strftime('%Y%m%d-%H%M')}.xlsx"
    stream = io.BytesIO()
    made = await asyncio.to_thread(export, book, directory, at, stream)
    data = stream.getvalue()
    try:
        await runtime.files.upload(message.group or "", name, data)
    except FileFailed as failed:
        return name, failed
    return name, made, len(data)


@command(
    "导出", form="/导出", help="把战绩、榜单、棋手做成工作簿，上传到群文件；公式是活的", example="/导出",
    role=Role.SCOREKEEPER, where="group", prepare=_upload,
)  # fmt: skip
async def export_workbook(context: Context) -> str:
    match context.prepared:
        case (name, FileFailed() as failed):
            return wording.not_uploaded(name, failed)
        case (name, made, size):
            await context.tx.journal(await context.known_actor(), context.at, "导出", detail=name)
            return wording.uploaded(name, made, size)
    raise AssertionError(context.prepared)


# --- in ---------------------------------------------------------------------------------------------------


def _options(message: Inbound) -> Options:
    words = message.plain.split()
    pool = next((pool for pool in POOLS for word in words if word.lstrip("#＃").casefold() == pool.casefold()), "")
    return Options(wording.NEW_PLAYERS in words, wording.ANY_WORD in words, pool)


async def _read(runtime: Runtime, message: Inbound) -> str | tuple[Upload, Options, Trial | None]:
    """Fetch and read the quoted file, in another process, and try it in a thread; a text says why that failed."""
    if message.quote is None:
        return wording.NO_QUOTE
    try:
        received = await runtime.files.fetch(message.group or "", message.quote)
        file = await asyncio.to_thread(read_file, received.data)
    except FileFailed as failed:
        return wording.not_fetched(failed)
    except importing.FileProblem as problem:
        return wording.unreadable(problem)
    upload = Upload(received.name, hashlib.sha256(received.data).hexdigest(), file)
    options = _options(message)
    if isinstance(file, importing.Table):
        return upload, options, None
    league = runtime.league
    async with league.database.read() as connection:
        if (known := await ImportStore(connection).known(upload.digest)) is not None:
            return wording.known(known)
        numbers = await last_numbers(Counters(connection))
    book, directory = league.book.fork(), league.directory
    plan = await asyncio.to_thread(plan_games, file, book, directory, numbers, options, message.said_at, reserved())
    found = await asyncio.to_thread(outcome, plan, book, directory) if plan.clear else None
    return upload, options, Trial(plan, found)


@command(
    "导入", form="/导入 [新棋手] [不认得的算负] [榜]", example="/导入",
    help="引用群里的文件：导出的工作簿、对局表、报分文本或名单；先预览，确认后一次全部写入",
    slots=(
        choice("new", [wording.NEW_PLAYERS], optional=True), choice("loss", [wording.ANY_WORD], optional=True),
        pool_slot(),
    ), role=Role.SCOREKEEPER, where="group", prepare=_read,
)  # fmt: skip
async def import_file(context: Context, new: str | None, loss: str | None, pool: str | None) -> list[Out]:
    if isinstance(context.prepared, str):
        return [context.answer(context.prepared)]
    upload, options, trial = context.prepared
    _uploads[upload.digest] = upload
    _uploads.move_to_end(upload.digest)
    while len(_uploads) > KEPT_FILES:
        _uploads.popitem(last=False)
    return await _ask(context, upload, options, trial)


async def _ask(
    context: Context, upload: Upload, options: Options, trial: Trial | None = None, *, moved: bool = False
) -> list[Out]:
    """Show as 预N what a file would do, or what stands against it."""
    if isinstance(upload.file, importing.Table):
        roster = await _roster_plan(context.tx, upload.file)
        if roster.problems or not roster.changes:
            return [context.answer(wording.roster_refused(roster))]
        preview = await _keep(context, upload, options)
        said = wording.roster_asked(roster, preview, upload.name, upload.file, moved=moved)
        return [context.answer(said, about=context.about)]
    if trial is None or trial.plan.seq != context.tx.seq:
        trial = await _try(context, upload.file, options)
    if trial.found is None:
        return [context.answer(wording.games_refused(trial.plan))]
    preview = await _keep(context, upload, options)
    said = wording.games_asked(trial.plan, trial.found, preview, upload.name, context.at, moved=moved)
    return [context.answer(said, about=context.about)]


async def _roster_plan(tx: Tx, table: importing.Table) -> importing.Plan:
    openings = await importing.openings_of(tx.ledger, tx.book)
    return importing.plan(table, tx.book, tx.directory, openings, tx.now, reserved())


async def _plan(context: Context, file: GameFile, options: Options) -> GamesPlan:
    """Plan against the book as it stands in this transaction."""
    tx = context.tx
    tx.read_own()
    numbers = await last_numbers(tx.counters)
    return await asyncio.to_thread(plan_games, file, tx.book, tx.directory, numbers, options, context.at, reserved())


async def _try(context: Context, file: GameFile, options: Options) -> Trial:
    plan = await _plan(context, file, options)
    found = await asyncio.to_thread(outcome, plan, context.tx.book, context.tx.directory) if plan.clear else None
    return Trial(plan, found)


async def _keep(context: Context, upload: Upload, options: Options) -> Preview:
    data = {"hash": upload.digest, "options": [options.new_players, options.unknown_as_loss, options.pool]}
    preview = await keep_preview(context.tx, context.actor, IMPORT, data, context.place)
    context.about = f"预{preview.preview_id}"
    return preview


@applies(IMPORT)
async def apply_import(context: Context, preview: Preview) -> list[Out]:
    data: dict[str, Any] = json.loads(preview.payload)
    upload = _uploads.get(data["hash"])
    if upload is None:
        return [context.answer(wording.GONE)]
    options = Options(*data["options"])
    if (known := await context.tx.imports.known(upload.digest)) is not None:
        return [context.answer(wording.known(known))]
    if book_moved(context.tx, preview) or context.tx.appended:
        return await _ask(context, upload, options, moved=True)
    actor = await context.known_actor()
    try:
        saved = await _backup(context.tx)
    except BackupFailed as error:
        return [context.answer(wording.backup_failed(error))]
    if isinstance(upload.file, importing.Table):
        roster = await _roster_plan(context.tx, upload.file)
        if roster.problems or not roster.changes:
            return [context.answer(wording.roster_refused(roster))]
        return _tell(context, wording.roster_done(await importing.apply(context.tx, actor, roster, context.at), saved))
    plan = await _plan(context, upload.file, options)
    if not plan.clear:
        return [context.answer(wording.games_refused(plan))]
    await enter(context.tx, actor, plan, upload.digest, context.at)
    _uploads.pop(upload.digest, None)
    return _tell(context, wording.games_done(plan, saved))


async def _backup(tx: Tx) -> str | None:
    """Copy the database as it was before; return the copy's name, None on PostgreSQL. Raises BackupFailed."""
    path = tx.league.database.path
    if path is None:
        return None
    label = f"before-import-{to_datetime(tx.now).strftime('%Y%m%d-%H%M%S')}"
    return (await backup_sqlite(path, path.parent / BACKUPS, label)).name


def _tell(context: Context, said: str) -> list[Out]:
    """Where it was said, and in the other scoring groups."""
    notice = wording.told_desk(said.split("\n"), context.directory.account_name(context.actor.account_id))
    others = [chat for chat in context.scoring_chats if chat != context.message.chat]
    return [context.answer(said, about=context.about), *(Out(chat, notice, "notice", context.about) for chat in others)]
