"""Leave (L8): /请假 for oneself, previewed; /请假 给 and /销假 for the desk."""

import json
from collections.abc import Iterable
from typing import Any

from plugins.rating_bot.handlers.context import Context
from plugins.rating_bot.handlers.grammar import Person, person, text
from plugins.rating_bot.handlers.happenings import ended, homes
from plugins.rating_bot.handlers.previews import applies
from plugins.rating_bot.handlers.refusals import bound, explained
from plugins.rating_bot.handlers.table import Role, command
from plugins.rating_bot.wire.messages import Out
from plugins.rating_bot.wording import commands as commands_wording
from plugins.rating_bot.wording import leave as wording
from rating_core.service import leave as service
from rating_core.service.previews import book_moved, keep_preview
from rating_core.store.desk_store import Preview

TAKE, UNDO = "leave", "leave_undone"
"""Kinds of previews."""


_refused = explained(lambda _, refusal: wording.refusal(refusal))


# --- his own ----------------------------------------------------------------------------------------------


@command(
    "请假", form="/请假 [理由]", help="本赛季下不满盘数时请假：封存不扣分，赛季剩下的日子不能参赛（L8）",
    example="/请假 工作忙", slots=(text("reason", optional=True),), role=Role.PLAYER, where="group",
)  # fmt: skip
@_refused
async def ask(context: Context, reason: str) -> list[Out]:
    if context.actor.player_id is None:
        return [context.answer(commands_wording.bind_first())]
    leave = service.look(context.tx, context.actor.player_id, context.at, granted=False)
    return await _ask(context, leave, reason)


async def _ask(context: Context, leave: service.Leave, reason: str, *, changed: bool = False) -> list[Out]:
    data = {"shown": _shown(leave), "reason": reason}
    preview = await keep_preview(context.tx, context.actor, TAKE, data, context.place)
    context.about = f"预{preview.preview_id}"
    said = wording.asked(leave, preview, context.directory, changed=changed)
    return [context.answer(said, about=context.about)]


def _shown(leave: service.Leave) -> list[Any]:
    """What a player is told of his leave, as JSON has it: while this holds, his 确认 does."""
    pools = leave.pools
    return [leave.until, [name for name, _ in pools.archived], [name for name, _ in pools.listed], list(leave.issued)]


@applies(TAKE, role=Role.PLAYER, bare=True)
@_refused
async def take(context: Context, preview: Preview) -> list[Out]:
    assert context.actor.player_id is not None
    data = json.loads(preview.payload)
    leave = service.look(context.tx, context.actor.player_id, context.at, granted=False)
    if _shown(leave) != data["shown"]:
        return await _ask(context, leave, data["reason"], changed=True)
    return _tell(context, await service.take(context.tx, context.actor, leave, data["reason"], context.at))


def _tell(context: Context, result: service.Taken) -> list[Out]:
    """A leave was entered, and what it ended."""
    pools = [pool for pool, _ in result.leave.pools.archived]
    outs = _announce(context, wording.taken(result, context.directory), pools)
    told = {out.chat for out in outs}
    notices = [out for event in result.ended for out in ended(context.settings, context.directory, event)]
    return outs + [out for out in notices if out.chat not in told]


def _announce(context: Context, said: str, pools: Iterable[str]) -> list[Out]:
    """Where it was said, in the scoring groups, and to the players of the pools."""
    here, about = context.message.chat, context.about
    chats = [*context.scoring_chats, *(chat for pool in pools for chat in homes(context.settings, pool, here))]
    others = [chat for chat in dict.fromkeys(chats) if chat != here]
    return [context.answer(said, about=about), *(Out(chat, said, "notice", about) for chat in others)]


# --- the desk ---------------------------------------------------------------------------------------------


@command(
    "请假 给", aliases=("请假给",), form="/请假 给 名字 [理由]", example="/请假 给 张三 住院",
    help="替别人请假，马上生效；进行中的强制约战随之取消，不扣分", slots=(person("who"), text("reason", optional=True)),
    role=Role.SCOREKEEPER, where="group", instead="请假",
)  # fmt: skip
@_refused
async def grant(context: Context, who: Person, reason: str) -> list[Out]:
    return _tell(context, await service.grant(context.tx, context.actor, bound(who), reason, context.at))


@command(
    "销假", form="/销假 名字 理由", example="/销假 张三 登记错了人",
    help="作废一次登记错了的请假，当作没有请过；自己的不行", slots=(person("who"), text("reason")),
    role=Role.SCOREKEEPER, where="group",
)  # fmt: skip
@_refused
async def ask_undo(context: Context, who: Person, reason: str) -> list[Out]:
    return await _ask_undo(context, bound(who), reason)


async def _ask_undo(context: Context, player: int, reason: str, *, changed: bool = False) -> list[Out]:
    leave = await service.in_force(context.tx, context.actor, player, context.at)
    data = {"player": player, "reason": reason}
    preview = await keep_preview(context.tx, context.actor, UNDO, data, context.place)
    context.about = f"预{preview.preview_id}"
    said = wording.undo_asked(leave, reason, preview, context.directory, changed=changed)
    return [context.answer(said, about=context.about)]


@applies(UNDO)
@_refused
async def undo(context: Context, preview: Preview) -> list[Out]:
    data = json.loads(preview.payload)
    if book_moved(context.tx, preview):
        return await _ask_undo(context, data["player"], data["reason"], changed=True)
    leave = await service.in_force(context.tx, context.actor, data["player"], context.at)
    await service.undo(context.tx, context.actor, leave, data["reason"], context.at)
    return _announce(context, wording.undone(leave, context.directory), leave.pools)
