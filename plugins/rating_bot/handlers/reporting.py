"""Reports in the chat: posting, 确认, 有误, 撤回, recalls and reactions (commands.md, "Reporting")."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from plugins.rating_bot.handlers import happenings, holder
from plugins.rating_bot.handlers.context import Context
from plugins.rating_bot.handlers.corrections import ask as ask_correction
from plugins.rating_bot.handlers.grammar import number, numbers, text
from plugins.rating_bot.handlers.previews import apply_preview, bare_preview
from plugins.rating_bot.handlers.table import Role, command
from plugins.rating_bot.handlers.words import Word
from plugins.rating_bot.wire.messages import Out
from plugins.rating_bot.wording import commands as commands_wording
from plugins.rating_bot.wording import masked as masked_wording
from plugins.rating_bot.wording import reports as wording
from plugins.rating_bot.wording.common import fit
from plugins.rating_bot.wording.report_errors import refused_report
from rating_core.service import report_results as results
from rating_core.service import reports as service
from rating_core.service.correction_plans import Request
from rating_core.service.report_results import Changed, Effective, NoSuchReport, NotOpen, NotYours
from rating_core.store.report_store import Report

MOST_NUMBERS = 30
"""So many reports can be named in one 确认."""


async def take_report(context: Context) -> list[Out]:
    """A message that looks like a report."""
    message, settings, speaker = context.message, context.settings, context.speaker
    private = message.group is None
    if speaker is None:
        return [context.answer(wording.IN_PRIVATE)]
    result = await service.post(
        context.tx,
        speaker,
        service.Post(
            message.plain,
            message.chat,
            "" if private else message.message_id,
            message.said_at,
            settings.official_groups.get(message.group or "", ""),
            settings.remind_hours,
            settings.confirm_hours,
            holder.homes(settings) if private else {},
        ),
    )
    directory = context.directory
    match result:
        case results.Refused(problems):
            return [context.answer(page) for page in refused_report(problems)]
        case results.Outsider():
            return [context.answer(wording.IN_PRIVATE if private else wording.OUTSIDER)]
        case results.MaskedFree():
            return [context.answer(masked_wording.FREE)]
        case results.InPrivate():
            outs = [] if context.actor.judge else [context.answer(wording.OUTSIDER)]  # as anybody else is answered
            return [*outs, context.privately(masked_wording.SPEAK_HERE)]
        case results.NotEligible(found):
            return [context.answer(wording.bars(found, directory))]
        case results.AskPool(pools):
            return [context.answer(wording.ask_pool(pools))]
        case results.EventRefused():
            return [context.answer(wording.event_refused(result))]
        case results.StillWaiting(report):
            context.about = f"#{report.report_id}"
            own_game = private and directory.is_own_game(report.players, report.said_at)
            said = masked_wording.own_game(report, directory) if own_game else wording.still_waiting(report, directory)
            return [context.answer(said, about=context.about)]
        case results.Overlap(report):
            return [
                context.answer(
                    wording.overlap(
                        report,
                        mine=(speaker.account_id, speaker.player_id) == (report.account_id, report.player_id),
                    ),
                    about=f"#{report.report_id}",
                )
            ]
        case results.SameAs(report):
            context.about = f"#{report.report_id}"
            said = masked_wording.same_as(report) if private else wording.same_as(report, judge=context.actor.judge)
            return [context.answer(said, about=context.about)]
        case results.Posted():
            return holder.posted(context, result)
        case results.Effective(report):
            context.about = f"#{report.report_id}"
            return deliver(context, result)
        case results.Changed(report):
            context.about = f"#{report.report_id}"
            return tell(context, result, "确认")
    return tell(context, result, "确认")


def deliver(context: Context, result: Effective) -> list[Out]:
    """The 收到 where the report was posted, and the forward to the scoring groups unless it was posted in one."""
    report, directory = result.report, context.directory
    about = f"#{report.report_id}"
    texts = wording.acknowledgements(result, directory)
    asked_in = context.message.chat
    said_here = context.message.message_id if asked_in == report.chat else None
    outs = [Out(report.chat, said, "ack", about, report.message_id or said_here) for said in texts]
    for said in texts:
        outs += holder.copies(context, report, said, "ack")
    forward_to = [] if report.chat in context.scoring_chats else context.scoring_chats
    if asked_in != report.chat and asked_in not in forward_to:
        outs += [context.answer(said, about=about) for said in texts]
    for chat in forward_to:
        quote = context.message.message_id if chat == asked_in else None  # there it answers the command, too
        outs += [Out(chat, page, "forward", about, quote) for page in wording.forwards(result, directory)]
    return outs


def tell(context: Context, result: results.ChangeResult, doing: str) -> list[Out]:
    """Put a change of a report, or why there was none, into messages."""
    directory = context.directory
    match result:
        case Effective():
            return deliver(context, result)
        case NotYours(report):
            if (outs := holder.refused(context, result, doing)) is not None:
                return outs
            return [context.answer(wording.not_yours(result, directory, doing), about=f"#{report.report_id}")]
        case NotOpen(report):
            return [context.answer(wording.not_open(report, doing), about=f"#{report.report_id}")]
        case NoSuchReport(missing):
            return [context.answer(wording.no_report(missing))]
        case Changed(report):
            about = f"#{report.report_id}"
            if report.state == "disputed":
                answer = context.answer(wording.disputed(report), about=about)
                who = wording.disputed_by(result, directory)
                notice = wording.dispute_notice(report, who, result.reason, directory)
                others = [c for c in context.scoring_chats if c != context.message.chat]
                outs = [answer, *(Out(chat, notice, "notice", about) for chat in others)]
                if context.message.group is None:
                    outs.append(Out(report.chat, answer.text, "notice", about, report.message_id or None))
                return outs + holder.copies(context, report, masked_wording.disputed(result))
            if report.state == "confirmed":
                said = wording.confirmed(result, directory)
            else:
                said = wording.withdrawn(result) if report.state == "withdrawn" else wording.voided(result, directory)
            to_holder = masked_wording.confirmed(result) if report.state == "confirmed" else said
            outs = [context.answer(said if context.message.group is not None else to_holder, about=about)]
            if report.chat != context.message.chat:
                outs.append(Out(report.chat, said, "notice", about, report.message_id or None))
            outs += holder.copies(context, report, to_holder)
            return outs + happenings.tell(context.settings, directory, result.ended)
    raise AssertionError(result)


async def take_word(context: Context, word: Word) -> list[Out]:
    """确认, 有误 or 另记; silence where it answers nothing of ours."""
    if word.kind == "another":
        return await _another(context)
    targets, preview, reason = list(word.numbers), word.preview, word.reason
    about = await context.about_of(context.message.quote)
    if word.kind == "wrong" and about.startswith("#"):
        targets, reason = [int(about[1:])], word.rest  # the quote says which; a number after it is part of the reason
    elif not targets and preview is None:
        if about.startswith("#"):
            targets = [int(about[1:])]
        elif about.startswith("预"):
            preview = int(about[1:])
    if word.kind == "wrong":
        return await _each(context, targets, "wrong", reason)
    if preview is not None:
        return await apply_preview(context, preview)
    if targets:
        return await _each(context, targets, "confirm")
    return await _bare(context) if await _is_bare(context, word) else []


async def _is_bare(context: Context, word: Word) -> bool:
    """A 确认 that names nothing. A quote of something that was never heard of counts as none; other words do not."""
    if not word.bare:
        return False
    quote = context.message.quote
    return quote is None or context.stray or not await context.tx.outbox.kind_of(context.message.chat, quote)


async def _bare(context: Context) -> list[Out]:
    """A bare 确认: works only when exactly one report waits, and nothing else, for this person here.

    Where it quotes what somebody said, that may be anything, made to look like the bot's: he is asked for a number.
    """
    chat, speaker = context.message.chat, context.speaker
    of = None if context.message.group is None else chat  # in private 蒙面人公用号 is asked, wherever it was reported
    open_ones = [] if speaker is None else await service.waiting_for(context.tx, speaker, of)
    previews = await context.tx.desk.open_previews(context.actor.account_id, chat, context.at)
    alone = bare_preview(previews) if not open_ones and not context.stray else None
    if alone is not None:
        return await apply_preview(context, alone)
    waiting = [report for report in open_ones if report.state != "disputed"]
    if len(open_ones) == len(waiting) == 1 and not previews and not context.stray:
        return await _each(context, [waiting[0].report_id], "confirm")
    numbers_ = [preview.preview_id for preview in previews]
    return [context.answer(wording.which_one(open_ones, numbers_, context.directory))] if open_ones or previews else []


async def _each(
    context: Context, targets: Sequence[int], doing: Literal["confirm", "wrong"], reason: str = ""
) -> list[Out]:
    speaker = context.speaker
    if speaker is None:
        return [context.answer(wording.IN_PRIVATE)] if targets else []
    outs: list[Out] = []
    refused: list[str] = []
    for target in targets[:MOST_NUMBERS]:
        if doing == "confirm":
            result = await service.confirm(context.tx, speaker, target, context.at)
        else:
            result = await service.dispute(context.tx, speaker, target, reason, context.at)
        if isinstance(result, Effective | Changed):
            context.about = f"#{target}"
            outs += tell(context, result, "")
        elif isinstance(result, NotOpen) and result.report.state == "effective" and doing == "wrong":
            refused.append(wording.late_objection(result.report))
        elif not isinstance(result, NoSuchReport) or context.actor.account_id:
            said = tell(context, result, "确认" if doing == "confirm" else "提出异议")
            refused += [out.text for out in said if out.chat == context.message.chat]
            outs += [out for out in said if out.chat != context.message.chat]
    return outs + _merged(context, targets, refused)


def _merged(context: Context, targets: Sequence[int], refused: Sequence[str]) -> list[Out]:
    """One answer for all the numbers that were refused."""
    if not refused:
        return []
    about = f"#{targets[0]}" if len(targets) == 1 else ""
    return [context.answer(refused[0] if len(refused) == 1 else fit(refused), about=about)]


async def _another(context: Context) -> list[Out]:
    """另记, quoting the answer 「与#12相同」 or the post that it answered."""
    quote = context.message.quote
    if quote is None:
        return []
    posts = [quote, await context.tx.outbox.quoted_by(context.message.chat, quote)]
    settings = context.settings
    result = await service.record_copy(
        context.tx, context.actor, posts, context.message.chat, context.at, remind_hours=settings.remind_hours,
        confirm_hours=settings.confirm_hours,
    )  # fmt: skip
    if result is None:
        return []
    if isinstance(result, results.Posted):
        return holder.posted(context, result)
    context.about = f"#{result.report.report_id}"
    return deliver(context, result)


async def take_recall(context: Context) -> list[Out]:
    """The poster recalled his report: it is withdrawn if it has not taken effect."""
    about = await context.about_of(context.message.message_id)
    if not about.startswith("#") or context.message.by not in ("", context.message.user):
        return []  # an admin who removes somebody's message withdraws nothing
    report, speaker = await context.tx.reports.get(int(about[1:])), context.speaker
    if report is None or speaker is None or not await _is_of(context, report, about):
        return []
    result = await service.withdraw(context.tx, speaker, report.report_id, context.at, recalled=True)
    if isinstance(result, NotOpen) and result.report.state == "effective":
        return [context.answer(wording.late_objection(report), about=about, quote=False)]
    if isinstance(result, Changed):
        answer, *others = tell(context, result, "")
        return [replace(answer, quote=None), *others]
    return []


async def _is_of(context: Context, report: Report, about: str) -> bool:
    """Whether the message that was recalled is the report; of one said in private, the first about it is."""
    message = context.message
    if message.group is None:
        return await context.tx.inbox.first_about(message.chat, about) == message.message_id
    return (report.chat, report.message_id) == (message.chat, message.message_id)


async def take_reaction(context: Context) -> list[Out]:
    """👍 or 👌 on the prompt by someone who can confirm; by anyone else it means nothing."""
    message = context.message
    if context.stray or await context.tx.outbox.kind_of(message.chat, message.message_id) not in ("prompt", "reminder"):
        return []
    about = await context.about_of(message.message_id)
    if not about.startswith("#"):
        return []
    report = await context.tx.reports.get(int(about[1:]))
    if report is None or report.state == "confirmed":
        return []  # a referee says so in words
    result = await service.confirm(context.tx, context.speaker or context.actor, int(about[1:]), context.at)
    seen = isinstance(result, Effective | Changed) or (isinstance(result, NotYours) and result.disputed)
    return tell(context, result, "确认") if seen else []


# --- commands ---------------------------------------------------------------------------------------------


@command(
    "撤回", form="/撤回 编号", help="撤回自己报的、还没生效的比分（撤回那条消息也行）", example="/撤回 12",
    slots=(number("target", "#"),), role=Role.PLAYER,
)  # fmt: skip
async def withdraw(context: Context, target: int) -> list[Out]:
    if (speaker := context.speaker) is None:
        return [context.answer(commands_wording.IN_GROUP_ONLY)]
    context.about = f"#{target}"
    return tell(context, await service.withdraw(context.tx, speaker, target, context.at), "撤回")


@command(
    "代确认", form="/代确认 编号… 理由", help="查实后替对方确认；自己的对局不行",
    example="/代确认 12 对方已在群里口头认可",
    slots=(numbers("targets", "#"), text("reason")), role=Role.SCOREKEEPER, where="group",
)  # fmt: skip
async def confirm_by_desk(context: Context, targets: list[int], reason: str) -> list[Out]:
    outs: list[Out] = []
    refused: list[str] = []
    for target in targets:
        context.about = f"#{target}"
        result = await service.confirm_by_desk(context.tx, context.actor, target, reason, context.at)
        said = tell(context, result, "确认")
        done = isinstance(result, Effective | Changed)
        refused += [out.text for out in said if out.chat == context.message.chat and not done]
        outs += [out for out in said if out.chat != context.message.chat or done]
    return outs + _merged(context, targets, refused)


@command(
    "作废", form="/作废 编号 理由", help="作废一份报分；已经生效的先预览再确认。自己的对局不行",
    example="/作废 12 双方都说没下过",
    slots=(number("target", "#"), text("reason")), role=Role.SCOREKEEPER, where="group",
)  # fmt: skip
async def void(context: Context, target: int, reason: str) -> list[Out]:
    report = await context.tx.reports.get(target)
    if report is not None and report.state == "effective":
        return await ask_correction(context, Request("report", target, reason, context.at))
    context.about = f"#{target}"
    return tell(context, await service.void_by_desk(context.tx, context.actor, target, reason, context.at), "作废")
