"""A season's settlement (L7, L8, L10): /结算 预览, 执行, 回滚; the last two previewed as 预N."""

import json
from collections.abc import Iterable

from plugins.rating_bot.handlers.context import Context
from plugins.rating_bot.handlers.grammar import choice, matching
from plugins.rating_bot.handlers.happenings import ended, homes
from plugins.rating_bot.handlers.previews import applies
from plugins.rating_bot.handlers.refusals import explained
from plugins.rating_bot.handlers.slots import page as page_slot
from plugins.rating_bot.handlers.slots import pool as pool_slot
from plugins.rating_bot.handlers.table import Role, command
from plugins.rating_bot.pictures import settlement as pictures
from plugins.rating_bot.wire.messages import Out
from plugins.rating_bot.wording import captions
from plugins.rating_bot.wording import season as wording
from rating_core.service import season as service
from rating_core.service.previews import book_moved, keep_preview
from rating_core.store.desk_store import Preview
from rating_core.times import season_of

EXECUTE, ROLL_BACK = "settlement", "settlement_undone"
"""Kinds of previews."""

_refused = explained(lambda _, refusal: wording.refusal(refusal))


@command(
    "结算", form="/结算 预览|执行|回滚 [年] [榜] [第N页]", example="/结算 预览",
    help="年底结算（L7）：先看谁扣分封存，再执行或整个回滚；不写年就是刚结束的赛季",
    slots=(
        choice("what", ["预览", "执行", "回滚"]),
        matching("year", r"([12][0-9]{3})(?:年|赛季)?", lambda m: int(m.group(1)), optional=True),
        pool_slot(), page_slot(),
    ), role=Role.SCOREKEEPER, where="group",
)  # fmt: skip
@_refused
async def settlement(context: Context, what: str, year: int | None, pool: str | None, page: int | None) -> list[Out]:
    season, name = year or season_of(context.at) - 1, pool or context.pool
    if what == "执行":
        return await _ask(context, season, name)
    if what == "回滚":
        return await _ask_rollback(context, season, name)
    sheet = await service.sheet(context.tx, season, name, context.at)
    text = wording.sheet_page(sheet, page or 1, context.directory)
    picture = None if page else pictures.picture(sheet, context.directory, context.at)
    return [context.answer(text, picture=picture, caption=captions.sheet(sheet))]


async def _keep(context: Context, kind: str, season: int, pool: str) -> Preview:
    preview = await keep_preview(context.tx, context.actor, kind, {"season": season, "pool": pool}, context.place)
    context.about = f"预{preview.preview_id}"
    return preview


async def _ask(context: Context, season: int, pool: str, *, moved: bool = False) -> list[Out]:
    sheet = await service.sheet_to_execute(context.tx, season, pool, context.at)
    preview = await _keep(context, EXECUTE, season, pool)
    said = wording.execution_asked(sheet, preview, context.directory, moved=moved)
    return [context.answer(said, about=context.about)]


@applies(EXECUTE)
@_refused
async def execute(context: Context, preview: Preview) -> list[Out]:
    data = json.loads(preview.payload)
    if book_moved(context.tx, preview):
        return await _ask(context, data["season"], data["pool"], moved=True)
    sheet = await service.sheet_to_execute(context.tx, data["season"], data["pool"], context.at)
    result = await service.settle(context.tx, context.actor, sheet, context.at)
    outs = _announce(context, wording.settled(result, context.directory), data["pool"])
    return outs + [out for event in result.ended for out in ended(context.settings, context.directory, event)]


async def _ask_rollback(context: Context, season: int, pool: str, *, moved: bool = False) -> list[Out]:
    found = await service.rollback(context.tx, context.actor, season, pool, context.at)
    preview = await _keep(context, ROLL_BACK, season, pool)
    said = wording.rollback_asked(found, preview, context.directory, moved=moved)
    return [context.answer(said, about=context.about)]


@applies(ROLL_BACK)
@_refused
async def roll_back(context: Context, preview: Preview) -> list[Out]:
    data = json.loads(preview.payload)
    if book_moved(context.tx, preview):
        return await _ask_rollback(context, data["season"], data["pool"], moved=True)
    found = await service.rollback(context.tx, context.actor, data["season"], data["pool"], context.at)
    await service.undo(context.tx, context.actor, found, context.at)
    return _announce(context, wording.rolled_back(found), data["pool"])


def _announce(context: Context, said: str, pool: str) -> list[Out]:
    """Where it was said, in the scoring groups, and to the players of the pool."""
    here = context.message.chat
    chats: Iterable[str] = [*context.scoring_chats, *homes(context.settings, pool, here)]
    others = [chat for chat in dict.fromkeys(chats) if chat != here]
    return [context.answer(said, about=context.about), *(Out(chat, said, "notice", context.about) for chat in others)]
