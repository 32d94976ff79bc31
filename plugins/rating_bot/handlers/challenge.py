"""Forced challenges (L9): /强制约战 /约战 /取消约战 /延期约战; and /推荐对手."""

from plugins.rating_bot.handlers.context import Context
from plugins.rating_bot.handlers.grammar import Person, matching, number, person, text
from plugins.rating_bot.handlers.happenings import ended, homes
from plugins.rating_bot.handlers.refusals import bound, explained
from plugins.rating_bot.handlers.slots import pool as pool_slot
from plugins.rating_bot.handlers.table import Role, command
from plugins.rating_bot.wire.messages import Out
from plugins.rating_bot.wording import challenge as wording
from plugins.rating_bot.wording import commands as commands_wording
from rating_core import queries
from rating_core.rulebook import POOLS
from rating_core.service import challenges as service

Answers = str | list[Out]

_refused = explained(lambda context, refusal: wording.refusal(refusal, context.directory, context.pool))


@command(
    "强制约战", form="/强制约战 名字 [榜]", example="/强制约战 李四",
    help="约一个人一周内下一局，不应战扣分（L9）；每周一次。记分员代发写两个名字：约人的在前",
    slots=(person("first"), person("second", optional=True), pool_slot()), role=Role.PLAYER, where="group",
)  # fmt: skip
@_refused
async def issue(context: Context, first: Person, second: Person | None, pool: str | None) -> Answers:
    if second is None:
        if context.actor.player_id is None:
            return wording.NAME_YOURSELF
        challenger, opponent = context.actor.player_id, bound(first)
    else:
        challenger, opponent = bound(first), bound(second)
        if challenger != context.actor.player_id and not context.actor.desk:
            return commands_wording.no_right(Role.SCOREKEEPER)
    name = pool or context.pool
    result = await service.issue(context.tx, context.actor, challenger, opponent, name, context.place)
    context.about = f"约{result.challenge.number}"
    said = wording.issued(result, context.directory)
    return [context.answer(said, about=context.about), *_elsewhere(context, result, said)]


def _elsewhere(context: Context, result: service.Issued, said: str) -> list[Out]:
    """What the opponent must read, where it was not said."""
    number, pool = result.challenge.number, result.challenge.pool
    chats = homes(context.settings, pool, result.chat)
    quotes = {result.chat: result.message_id}
    return [Out(c, said, "notice", f"约{number}", quotes.get(c)) for c in chats if c != context.message.chat]


@command(
    "约战", form="/约战 [榜]", help="进行中的强制约战、期限，和自己这周还能约几次", example="/约战",
    slots=(pool_slot(),), query=True,
)  # fmt: skip
async def overview(context: Context, pool: str | None) -> str:
    name = pool or context.pool
    if POOLS[name].side_size != 1:
        return wording.only_single_players(name, "约战")
    found = await service.overview(context.tx, name, context.actor.player_id, context.at)
    return wording.overview(found, context.directory, context.pool)


@command(
    "取消约战", form="/取消约战 约号 理由", help="取消一次强制约战，不扣分，约战机会退回；自己的不行",
    example="/取消约战 约5 对方住院", slots=(number("target", "约"), text("reason")),
    role=Role.SCOREKEEPER, where="group",
)  # fmt: skip
@_refused
async def cancel(context: Context, target: int, reason: str) -> Answers:
    result = await service.cancel(context.tx, context.actor, target, reason, context.at)
    context.about = f"约{target}"
    notices = ended(context.settings, context.directory, result)
    said = wording.ended(result, context.directory)
    return [context.answer(said, about=context.about), *(out for out in notices if out.chat != context.message.chat)]


@command(
    "延期约战", form="/延期约战 约号 天数 理由", help="把强制约战的期限往后推几天；自己的不行",
    example="/延期约战 约5 3 两人约好周末下",
    slots=(
        number("target", "约"), matching("days", "([1-9][0-9]?)天?", lambda m: int(m.group(1))), text("reason"),
    ),
    role=Role.SCOREKEEPER, where="group",
)  # fmt: skip
@_refused
async def extend(context: Context, target: int, days: int, reason: str) -> Answers:
    result = await service.extend(context.tx, context.actor, target, days, reason, context.at)
    context.about = f"约{target}"
    by = context.directory.account_name((await context.known_actor()).account_id)
    said = wording.extended(result, by, reason, context.directory)
    return [context.answer(said, about=context.about), *_elsewhere(context, result, said)]


@command(
    "推荐对手", form="/推荐对手 [榜]", help="分数相近、现在能下、近来少遇到的人", example="/推荐对手",
    slots=(pool_slot(),), role=Role.PLAYER, query=True,
)  # fmt: skip
async def opponents(context: Context, pool: str | None) -> str:
    name, player = pool or context.pool, context.actor.player_id
    if player is None:
        return commands_wording.bind_first()
    if POOLS[name].side_size != 1:
        return wording.only_single_players(name, "推荐对手")
    found = queries.opponents(context.book, context.directory, name, player, context.at)
    return wording.opponents(found, context.directory, context.pool)
