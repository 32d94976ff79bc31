"""/蒙面人 申请 for everybody, /蒙面人 批准 and /蒙面人 收回 for the superusers; all in private (§7 D)."""

from plugins.rating_bot.handlers.context import Context
from plugins.rating_bot.handlers.grammar import account
from plugins.rating_bot.handlers.table import Role, command
from plugins.rating_bot.wire.messages import Out, private_chat
from plugins.rating_bot.wording import masked as wording
from rating_core.service import masked as service


@command(
    "蒙面人 申请", aliases=("蒙面人申请",), form="/蒙面人 申请", help="申请使用蒙面人公用号（L13）；群里不会提到您",
    example="/蒙面人 申请", where="private",
)  # fmt: skip
async def apply(context: Context) -> list[Out]:
    message = context.message
    application = await service.apply_for(context.tx, context.actor, context.place)
    context.about = f"审{application.application_id}"
    notice = wording.application_notice(application, message.user, message.card)
    superusers = sorted(context.tx.league.superusers)
    outs = [context.answer(wording.applied(application), about=context.about)]
    return outs + [Out(private_chat(qq), notice, "notice", context.about) for qq in superusers]


@command(
    "蒙面人 批准", aliases=("蒙面人批准",), form="/蒙面人 批准 QQ",
    help="把蒙面人公用号给一个人用，等于核验过IP；同时只能有一个人用", example="/蒙面人 批准 12345678",
    slots=(account("qq"),), role=Role.SUPERUSER, where="private",
)  # fmt: skip
async def approve(context: Context, qq: str) -> list[Out]:
    application = await service.approve(context.tx, context.actor, qq, context.at)
    number = None if application is None else application.application_id
    context.about = "" if number is None else f"审{number}"
    return [
        context.answer(wording.approved(qq), about=context.about),
        Out(private_chat(qq), wording.welcome(number), "notice", context.about),
    ]


@command(
    "蒙面人 收回", aliases=("蒙面人收回",), form="/蒙面人 收回", help="收回蒙面人公用号，分数留给下一位",
    example="/蒙面人 收回", role=Role.SUPERUSER, where="private",
)  # fmt: skip
async def take_back(context: Context) -> list[Out]:
    taken = await service.take_back(context.tx, context.actor, context.at)
    outs = [context.answer(wording.taken_back(taken))]
    return outs + ([Out(private_chat(taken.account.qq), wording.gone(), "notice")] if taken.account.qq else [])
