"""Reports in the chat: posting, 确认, 有误, 撤回, recalls and reactions (commands.md, "Reporting")."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from plugins.rating_bot.handlers.context import Context
from plugins.rating_bot.handlers.grammar import number, numbers, text
from plugins.rating_bot.handlers.previews import apply_preview
from plugins.rating_bot.handlers.table import Role, command
from plugins.rating_bot.wire.messages import Out
from plugins.rating_bot.wording import reports as wording
from plugins.rating_bot.wording.report_errors import refused_report
from rating_core.service import report_results as results
from rating_core.service import reports as service
from rating_core.service.report_results import Changed, Effective, NoSuchReport, NotOpen, NotYours

_CONFIRM_WORDS = {"确认", "对", "是", "ok"}
_WITH_NUMBERS = re.compile(r"确认((?:[ #＃]*[0-9]{1,9})+)")
_PREVIEW = re.compile(r"确认 ?预 ?([0-9]{1,9})")
_WRONG = re.compile(r"有误(?: ?[#＃]?([0-9]{1,9})(?![0-9]))?(?:[ ：:,，]*(\S[^\n]{0,200}))?")


@dataclass(frozen=True, slots=True)
class Word:
    """A short answer to the bot: 确认, 有误 or 另记, with the numbers said, if any."""

    kind: str
    numbers: tuple[int, ...] = ()
    preview: int | None = None
    reason: str = ""
    quoted: bool = False


def read_word(plain: str, quoted: bool) -> Word | None:
    """Read a short answer; None when the text is none. Without quote or number only a bare 确认 is one."""
    said = " ".join(plain.split())
    if not said or len(said) > 250:
        return None
    bare = said.rstrip("。.!！~～ ").lower()
    if bare in _CONFIRM_WORDS and (quoted or bare == "确认"):
        return Word("confirm", quoted=quoted)
    if (found := _PREVIEW.fullmatch(bare)) is not None:
        return Word("confirm", preview=int(found.group(1)), quoted=quoted)
    if (found := _WITH_NUMBERS.fullmatch(bare)) is not None:
        return Word("confirm", tuple(dict.fromkeys(map(int, re.findall("[0-9]+", found.group(1))))), quoted=quoted)
    if (found := _WRONG.fullmatch(said)) is not None and (quoted or found.group(1)):
        return Word("wrong", _one(found.group(1)), reason=(found.group(2) or "").strip(), quoted=quoted)
    if bare == "另记" and quoted:
        return Word("another", quoted=True)
    return None


def _one(digits: str | None) -> tuple[int, ...]:
    return () if digits is None else (int(digits),)


async def take_report(context: Context) -> list[Out]:
    """A message that looks like a report."""
    message, settings = context.message, context.settings
    if message.group is None:
        return [context.answer(wording.IN_PRIVATE)]
    result = await service.post(
        context.tx,
        context.actor,
        service.Post(
            message.plain,
            message.chat,
            message.message_id,
            message.said_at,
            settings.official_groups.get(message.group, ""),
            settings.remind_hours,
            settings.confirm_hours,
        ),
    )
    directory = context.directory
    match result:
        case results.Refused(problems):
            return [context.answer(refused_report(problems))]
        case results.Outsider():
            return [context.answer(wording.OUTSIDER)]
        case results.NotEligible(found):
            return [context.answer(wording.bars(found, directory))]
        case results.AskPool(pools):
            return [context.answer(wording.ask_pool(pools))]
        case results.StillWaiting(report):
            context.about = f"#{report.report_id}"
            return [context.answer(wording.still_waiting(report, directory), about=context.about)]
        case results.Overlap(report):
            return [context.answer(wording.overlap(report), about=f"#{report.report_id}")]
        case results.SameAs(report):
            context.about = f"#{report.report_id}"
            return [context.answer(wording.same_as(report), about=context.about)]
        case results.Posted(report):
            context.about = f"#{report.report_id}"
            return [context.answer(wording.posted(result, directory), about=context.about, kind="prompt")]
        case results.Effective(report):
            context.about = f"#{report.report_id}"
            return deliver(context, result)
    return tell(context, result, "确认")


def deliver(context: Context, result: Effective) -> list[Out]:
    """The 收到 where the report was posted, and the forward to the scoring groups unless it was posted in one."""
    report, directory = result.report, context.directory
    about = f"#{report.report_id}"
    text = wording.acknowledgement(result, directory)
    outs = [Out(report.chat, text, "ack", about, report.message_id)]
    asked_in = context.message.chat
    forward_to = [] if report.chat in context.scoring_chats else context.scoring_chats
    if asked_in != report.chat and asked_in not in forward_to:
        outs.append(context.answer(text, about=about))
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
            return [context.answer(wording.not_yours(result, directory, doing), about=f"#{report.report_id}")]
        case NotOpen(report):
            return [context.answer(wording.not_open(report, doing), about=f"#{report.report_id}")]
        case NoSuchReport(missing):
            return [context.answer(wording.no_report(missing))]
        case Changed(report):
            about = f"#{report.report_id}"
            if report.state == "disputed":
                answer = context.answer(wording.disputed(result, directory), about=about)
                notice = wording.dispute_notice(result, directory)
                others = [c for c in context.scoring_chats if c != context.message.chat]
                return [answer, *(Out(chat, notice, "notice", about) for chat in others)]
            said = wording.withdrawn(result) if report.state == "withdrawn" else wording.voided(result, directory)
            outs = [context.answer(said, about=about)]
            if report.chat != context.message.chat:
                outs.append(Out(report.chat, said, "notice", about, report.message_id))
            return outs
    raise AssertionError(result)


async def take_word(context: Context, word: Word) -> list[Out]:
    """确认, 有误 or 另记; silence where it answers nothing of ours."""
    targets = list(word.numbers)
    preview = word.preview
    if not targets and preview is None and word.quoted:
        about = await context.about_of(context.message.quote)
        if about.startswith("#"):
            targets = [int(about[1:])]
        elif about.startswith("预"):
            preview = int(about[1:])
    if word.kind == "another":
        return await _another(context)
    if word.kind == "wrong":
        return await _each(context, targets, word)
    if preview is not None:
        return await apply_preview(context, preview)
    if not targets:
        return await _bare(context) if context.message.plain.split()[0].startswith("确认") else []
    return await _each(context, targets, word)


async def _bare(context: Context) -> list[Out]:
    """A bare 确认: works only when exactly one thing waits for this person here."""
    waiting = await service.waiting_for(context.tx, context.actor, context.message.chat)
    previews = await context.tx.desk.open_previews(context.actor.account_id, context.message.chat, context.at)
    if len(waiting) + len(previews) > 1:
        return [context.answer(wording.which_one(waiting, [p.preview_id for p in previews], context.directory))]
    if waiting:
        return await _each(context, [waiting[0].report_id], Word("confirm"))
    # a preview is destructive: it wants to be quoted or numbered; nothing waiting: not a word
    return [context.answer(wording.which_one([], [previews[0].preview_id], context.directory))] if previews else []


async def _each(context: Context, targets: Iterable[int], word: Word) -> list[Out]:
    if context.message.group is None:
        return [context.answer(wording.IN_PRIVATE)] if targets else []
    outs: list[Out] = []
    for target in targets:
        context.about = f"#{target}"
        if word.kind == "confirm":
            result = await service.confirm(context.tx, context.actor, target, context.at)
            outs += tell(context, result, "确认")
        else:
            result = await service.dispute(context.tx, context.actor, target, word.reason, context.at)
            if isinstance(result, NotOpen) and result.report.state == "effective":
                outs.append(context.answer(wording.late_objection(result.report), about=context.about))
            else:
                outs += tell(context, result, "提出异议")
    return outs


async def _another(context: Context) -> list[Out]:
    """另记, quoting the answer 「与#12相同」 or the post that it answered."""
    quote = context.message.quote
    if quote is None or not context.actor.judge:
        return []
    posts = [quote, await context.tx.outbox.quoted_by(context.message.chat, quote)]
    result = await service.record_copy(context.tx, context.actor, context.message.chat, posts, context.at)
    if result is None:
        return []
    context.about = f"#{result.report.report_id}"
    return deliver(context, result)


async def take_recall(context: Context) -> list[Out]:
    """The poster recalled his report: it is withdrawn if it has not taken effect."""
    about = await context.about_of(context.message.message_id)
    if not about.startswith("#") or context.message.by not in ("", context.message.user):
        return []  # an admin who removes somebody's message withdraws nothing
    report = await context.tx.reports.get(int(about[1:]))
    if report is None or report.message_id != context.message.message_id or report.chat != context.message.chat:
        return []
    result = await service.withdraw(context.tx, context.actor, report.report_id, context.at, recalled=True)
    if isinstance(result, NotOpen) and result.report.state == "effective":
        return [context.answer(wording.late_objection(report), about=about, quote=False)]
    if isinstance(result, Changed):
        return [context.answer(wording.withdrawn(result), about=about, quote=False)]
    return []


async def take_reaction(context: Context) -> list[Out]:
    """👍 or 👌 on the prompt by someone who can confirm; by anyone else it means nothing."""
    about = await context.about_of(context.message.message_id)
    if not about.startswith("#"):
        return []
    result = await service.confirm(context.tx, context.actor, int(about[1:]), context.at)
    return deliver(context, result) if isinstance(result, Effective) else []


# --- commands ---------------------------------------------------------------------------------------------


@command(
    "撤回", form="/撤回 编号", help="撤回自己报的、还没生效的比分（撤回那条消息也行）", example="/撤回 12",
    slots=(number("target", "#"),), role=Role.PLAYER, where="group",
)  # fmt: skip
async def withdraw(context: Context, target: int) -> list[Out]:
    context.about = f"#{target}"
    return tell(context, await service.withdraw(context.tx, context.actor, target, context.at), "撤回")


@command(
    "代确认", form="/代确认 编号… 理由", help="查实后替对方确认；自己的对局不行",
    example="/代确认 12 对方已在群里口头认可",
    slots=(numbers("targets", "#"), text("reason")), role=Role.SCOREKEEPER, where="group",
)  # fmt: skip
async def confirm_by_desk(context: Context, targets: list[int], reason: str) -> list[Out]:
    outs: list[Out] = []
    for target in targets:
        context.about = f"#{target}"
        result = await service.confirm_by_desk(context.tx, context.actor, target, reason, context.at)
        outs += tell(context, result, "确认")
    return outs


@command(
    "作废", form="/作废 编号 理由", help="作废一份还没生效的报分；自己的对局不行", example="/作废 12 双方都说没下过",
    slots=(number("target", "#"), text("reason")), role=Role.SCOREKEEPER, where="group",
)  # fmt: skip
async def void(context: Context, target: int, reason: str) -> list[Out]:
    context.about = f"#{target}"
    return tell(context, await service.void_by_desk(context.tx, context.actor, target, reason, context.at), "作废")
