"""/注销: somebody asks to be forgotten, /注销 给 for one who has no QQ; /通过 carries it out."""

import json
from collections.abc import Sequence

from plugins.rating_bot.handlers.context import Context
from plugins.rating_bot.handlers.grammar import Person, person, text
from plugins.rating_bot.handlers.happenings import tell
from plugins.rating_bot.handlers.previews import applies
from plugins.rating_bot.handlers.refusals import bound, explained
from plugins.rating_bot.handlers.table import Role, command
from plugins.rating_bot.wire.messages import AT_CLOSE, AT_OPEN, Out, private_chat
from plugins.rating_bot.wording import erasing as wording
from plugins.rating_bot.wording import people as people_wording
from rating_core.service import erasing as service
from rating_core.service.erasing import Subject
from rating_core.service.previews import keep_preview
from rating_core.store.desk_store import Preview
from rating_core.store.people_store import ERASING

HIS_OWN, FOR_ANOTHER = "erase", "erase_for"
"""Kinds of previews."""


@command(
    "注销", form="/注销", help="申请注销：删掉您的QQ和名字，记录里换成“已注销”加编号；先说明，您确认、记分员同意后执行",
    example="/注销", where="group",
)  # fmt: skip
async def ask(context: Context) -> list[Out]:
    return await _ask(context, await service.look(context.tx, context.actor, context.at), "")


@command(
    "注销 给", aliases=("注销给",), form="/注销 给 名字 理由", example="/注销 给 张三 本人来信要求",
    help="替没有绑定QQ的人申请注销；要另一位记分员来批", slots=(person("who"), text("reason")),
    role=Role.SCOREKEEPER, where="group",
)  # fmt: skip
async def ask_for(context: Context, who: Person, reason: str) -> list[Out]:
    return await _ask(context, await service.look_for(context.tx, context.actor, bound(who), context.at), reason)


async def _ask(context: Context, subject: Subject, reason: str, *, changed: bool = False) -> list[Out]:
    kind = FOR_ANOTHER if reason else HIS_OWN
    data = {"player": subject.player, "reason": reason, "shown": _shown(subject)}
    preview = await keep_preview(context.tx, context.actor, kind, data, context.place)
    context.about = f"预{preview.preview_id}"
    said = wording.asked(subject, preview, himself=not reason, changed=changed)
    return [context.answer(said, about=context.about)]


def _shown(subject: Subject) -> list[object]:
    """What he was told, as JSON has it: while this holds, his 确认 does."""
    return [subject.player, list(subject.reports), list(subject.challenges), subject.roles]


@applies(HIS_OWN, role=Role.MEMBER)
@applies(FOR_ANOTHER)
@explained(lambda _, refusal: people_wording.refusal(refusal))
async def confirm(context: Context, preview: Preview) -> list[Out]:
    """He confirmed what it means: the desk is asked."""
    data = json.loads(preview.payload)
    if preview.kind == HIS_OWN:
        subject = await service.look(context.tx, context.actor, context.at)
    else:
        subject = await service.look_for(context.tx, context.actor, data["player"], context.at)
    if _shown(subject) != data["shown"]:
        return await _ask(context, subject, data["reason"], changed=True)
    application = await service.apply_for(context.tx, context.actor, subject, data["reason"], context.place)
    context.about = f"审{application.application_id}"
    notice = wording.notice(application, subject, context.directory, data["reason"])
    here = context.message.chat
    answer = context.answer(
        notice if here in context.scoring_chats else wording.applied(application), about=context.about
    )
    return [answer, *(Out(chat, notice, "notice", context.about) for chat in context.scoring_chats if chat != here)]


async def carry_out(context: Context, number: int) -> tuple[str, list[Out]]:
    """/通过 审`number`: forget him; return the line for who agreed, and what others are told. Raises Refusal."""
    tx, here = context.tx, context.message.chat
    erased = await service.erase(tx, context.actor, number, context.at, (AT_OPEN, AT_CLOSE))
    about = f"审{number}"
    outs: list[Out] = []
    if erased.asked.chat != here:
        outs.append(Out(erased.asked.chat, wording.farewell(number, erased), "notice", about, erased.asked.message_id))
    for chat, numbers in erased.closed.items():
        outs.append(Out(chat, wording.closed_reports(numbers), "notice"))
    outs += tell(context.settings, context.directory, erased.ended)
    for other in erased.refused:
        outs.append(Out(other.chat, wording.name_gone(other), "notice", quote=other.message_id))
    if erased.masked_free:
        outs += [Out(private_chat(qq), wording.MASKED_FREE, "notice") for qq in sorted(tx.league.superusers)]
    return wording.done(number, erased), outs


async def first(context: Context, targets: Sequence[int]) -> list[int]:
    """Return applications in the order to decide them in: what is said of the others must not name who is forgotten."""
    applications = {number: await context.tx.people.application(number) for number in targets}
    return sorted(targets, key=lambda number: (found := applications[number]) is None or found.kind not in ERASING)
