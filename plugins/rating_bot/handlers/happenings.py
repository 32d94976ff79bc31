"""What happened by the clock or as a consequence, put into messages for the groups it concerns."""

from collections.abc import Iterable

from plugins.rating_bot.handlers import holder
from plugins.rating_bot.settings import Settings
from plugins.rating_bot.wire.messages import Out, group_chat
from plugins.rating_bot.wording import challenge as challenge_wording
from plugins.rating_bot.wording import reports as report_wording
from rating_core.directory import Directory
from rating_core.rulebook import DEFAULT_POOL
from rating_core.service.challenges import Ended
from rating_core.service.due import ChallengeReminder, Expired, Happening, Remind


def scoring_chats(settings: Settings) -> list[str]:
    """Return the chats of the scoring groups."""
    return [group_chat(group) for group in settings.scoring_groups]


def homes(settings: Settings, pool: str, chat: str) -> list[str]:
    """Return where the players of a challenge are told of it: where it was issued, if that is an official group.

    Else (a scorekeeper issued it at his desk) the official groups of the pool, or all of them where none is its own.
    """
    official = settings.official_groups
    if chat in (known := [group_chat(group) for group in official]):
        return [chat]
    return [group_chat(group) for group, name in official.items() if (name or DEFAULT_POOL) == pool] or known


def tell(settings: Settings, directory: Directory, happened: Iterable[Happening]) -> list[Out]:
    """Return the messages for what happened, in its order."""
    outs: list[Out] = []
    for event in happened:
        match event:
            case Remind(report):
                outs += holder.reminders(directory, report)
            case Expired(report):
                text = report_wording.expired_notice(report, directory)
                outs += [Out(chat, text, "notice", f"#{report.report_id}") for chat in scoring_chats(settings)]
            case ChallengeReminder(challenge, chat, message_id):
                text, about = challenge_wording.reminder(event, directory), f"约{challenge.number}"
                for home in homes(settings, challenge.pool, chat):
                    outs.append(Out(home, text, "reminder", about, message_id if home == chat else None))
            case Ended():
                outs += ended(settings, directory, event)
    return outs


def ended(settings: Settings, directory: Directory, event: Ended) -> list[Out]:
    """A penalty is announced where the challenge was issued and in the scoring groups (§9); a cancelling at home."""
    challenge = event.challenge
    text, about = challenge_wording.ended(event, directory), f"约{challenge.number}"
    chats = homes(settings, challenge.pool, event.chat)
    if event.outcome == "forfeited":
        chats = [*chats, *scoring_chats(settings)]
    return [
        Out(chat, text, "notice", about, event.message_id if chat == event.chat else None)
        for chat in dict.fromkeys(chats)
    ]
