"""Messages about reports with 蒙面人公用号 (§7 D): its holder is told in private, a group never learns who he is."""

from collections.abc import Mapping

from plugins.rating_bot.handlers.context import Context
from plugins.rating_bot.settings import Settings
from plugins.rating_bot.wire.messages import Out, OutKind, group_chat, private_chat
from plugins.rating_bot.wording import masked as wording
from plugins.rating_bot.wording import reports as report_wording
from rating_core.directory import Directory
from rating_core.rulebook import POOLS
from rating_core.service.masked import party
from rating_core.service.report_results import NotYours, Posted
from rating_core.store.report_store import Report


def homes(settings: Settings) -> Mapping[str, str]:
    """Return the chat in which the players of each pool are told of a report that was said in private.

    The pool's official group, else one without a pool, else the first; a scoring group where there is no official one.
    """
    groups = settings.official_groups or dict.fromkeys(settings.scoring_groups, "")

    def rank(pool: str, group: str) -> int:
        return (pool, "").index(groups[group]) if groups[group] in (pool, "") else 2

    return {pool: group_chat(min(groups, key=lambda group: rank(pool, group))) for pool in POOLS}


def _private(directory: Directory, report: Report) -> str | None:
    """Return the private chat of who plays as 蒙面人公用号 in a report."""
    account = party(directory, report)
    return None if account is None or account.qq is None else private_chat(account.qq)


def copies(context: Context, report: Report, text: str, kind: OutKind = "notice") -> list[Out]:
    """Tell the holder what becomes of a report, unless it is his own message that is being answered."""
    chat = _private(context.directory, report)
    return [] if chat in (None, context.message.chat) else [Out(chat, text, kind, f"#{report.report_id}")]


def posted(context: Context, result: Posted) -> list[Out]:
    """Ask the other side in the group (§5); the holder, whichever side he is on, is told in private.

    A game against himself looks the same to every group; nobody can confirm it, which he alone is told.
    """
    report, directory, message = result.report, context.directory, context.message
    about = context.about = f"#{report.report_id}"
    prompt = report_wording.posted(result, directory)
    outs: list[Out] = []
    if message.group is not None:
        outs.append(context.answer(prompt, about=about, kind="prompt"))
    else:
        outs.append(Out(report.chat, prompt, "prompt", about))
    if directory.is_own_game(report.players, report.said_at):
        said = wording.own_game(report, directory)
    elif message.group is None:
        said = wording.sent_on(result, directory)
    elif directory.masked in result.confirmers:
        return outs + copies(context, report, wording.asked(report, directory), "prompt")
    else:
        return outs
    return [*outs, context.answer(said, about=about)] if message.group is None else outs + copies(context, report, said)


def reminders(directory: Directory, report: Report) -> list[Out]:
    """Remind the holder of a report that waits for 蒙面人公用号; in the group only if somebody else can confirm it."""
    about = f"#{report.report_id}"
    others = Out(report.chat, report_wording.reminder(report, directory), "reminder", about, report.message_id or None)
    theirs, account, holder = report.sides()[1], party(directory, report), directory.holder
    may_answer = directory.masked in theirs and account and holder and account.account_id == holder.account_id
    chat = _private(directory, report) if may_answer else None
    if chat is None:
        return [others]
    own_game = directory.is_own_game(report.players, report.said_at)
    said = wording.own_game(report, directory) if own_game else wording.reminder(report, directory)
    private = Out(chat, said, "reminder", about)
    return [private] if theirs == (directory.masked,) else [others, private]


def refused(context: Context, result: NotYours, doing: str) -> list[Out] | None:
    """Say why a report is not his to answer, where that is because of 蒙面人公用号; None where it is not."""
    report, message = result.report, context.message
    about = f"#{report.report_id}"
    if result.why == "held_later":
        return [context.answer(wording.held_later(report), about=about)]
    if result.why == "secret_case":
        return [Out(private_chat(message.user), wording.secret_case(report), "notice", about)]
    if result.why != "own_game":
        return None
    told = wording.own_game(report, context.directory)
    if message.group is None:
        outs = [context.answer(told, about=about)]
    else:
        outs = [context.answer(report_wording.not_open(report, doing), about=about)]
        if _private(context.directory, report) == private_chat(message.user):
            outs.append(Out(private_chat(message.user), told, "notice", about))
    return outs + (_as_disputed(context, report) if result.disputed else [])


def _as_disputed(context: Context, report: Report) -> list[Out]:
    """Tell of a game of the holder against himself as if he had said on the other side that it is wrong."""
    about, directory = f"#{report.report_id}", context.directory
    who = directory.name_of(_himself(directory, report))
    notice = report_wording.dispute_notice(report, who, "", directory)
    outs = [Out(chat, notice, "notice", about) for chat in context.scoring_chats]
    if context.message.group is None:
        outs.append(Out(report.chat, report_wording.disputed(report), "notice", about, report.message_id or None))
    return outs


def _himself(directory: Directory, report: Report) -> int:
    """Return the player on the other side of a report who is its holder: 蒙面人公用号 or his own name."""
    holder = directory.holder_at(report.said_at)
    his = frozenset() if holder is None else directory.players_of(holder.account_id)
    theirs = report.sides()[1]
    return next((player for player in theirs if player in his or player == directory.masked), theirs[0])
