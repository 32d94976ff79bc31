"""What happens by the clock: deadlines and reminders, the desk's digest, forgetting old messages."""

from collections.abc import Iterable

from plugins.rating_bot.handlers.happenings import tell
from plugins.rating_bot.runtime import Runtime
from plugins.rating_bot.wire.messages import Out, group_chat, private_chat
from plugins.rating_bot.wire.outbox import Sender
from plugins.rating_bot.wording import desk as desk_wording
from rating_core.failpoints import hit
from rating_core.service import due
from rating_core.service.docket import docket_of
from rating_core.service.transaction import Tx
from rating_core.times import DAY_MS, HOUR_MS

ON_THE_WAY_MS = 5_000
"""What was said so shortly before a deadline may still be on its way here."""
KEEP_RAW_DAYS = 30
DIGEST_HOUR = 9
DIGEST_LIFE_MS = 12 * HOUR_MS
"""A digest that could not be sent for so long is dropped: the next one is near."""
CLOSED_CHAT = frozenset({"muted", "kicked", "risk"})
"""Alarms of the sender that concern a whole chat."""


async def queue(tx: Tx, outs: Iterable[Out], *, held: bool = False, expires_at: int | None = None) -> set[str]:
    """Queue messages that nobody asked for; return their chats. Held ones wait to be merged with others."""
    chats = set()
    for out in outs:
        await tx.outbox.add(
            chat=out.chat, text=out.text, kind=out.kind, about=out.about, quote=out.quote, created_at=tx.now,
            expires_at=expires_at, held=held, picture=out.picture.dumps() if out.picture else None, caption=out.caption,
        )  # fmt: skip
        chats.add(out.chat)
    return chats


async def tell_desk(runtime: Runtime, kind: str, about: str, detail: str) -> set[str]:
    """Put a sending that failed on the desk's list; where a whole chat takes nothing, say so elsewhere.

    `detail` begins with the chat. Return the chats that have something to send.
    """
    chat, _, text = detail.partition(" ")
    said = desk_wording.sending_alarm(kind, chat, text)
    async with runtime.league.transaction(entries=False) as tx:
        await tx.desk.add_docket("failed_send", about if about != chat else "", said[:100], tx.now)
        if kind not in CLOSED_CHAT:
            return set()
        others = [c for group in runtime.settings.scoring_groups if (c := group_chat(group)) != chat]
        to = others or [private_chat(user) for user in sorted(runtime.league.superusers)]
        return await queue(tx, [Out(c, f"{said}\n/待办", "notice") for c in to])


async def tell_return(runtime: Runtime, sender: Sender, seconds: float, why: str) -> None:
    """Tell the superusers in private that QQ was away, now that they can be told."""
    async with runtime.league.transaction(entries=False) as tx:
        text = desk_wording.was_offline(tx.now - int(1000 * seconds), tx.now, why)
        outs = [Out(private_chat(user), text, "notice") for user in sorted(runtime.league.superusers)]
        chats = await queue(tx, outs)
    sender.wake(chats)


async def alert(runtime: Runtime, sender: Sender, kind: str, about: str, text: str) -> None:
    """Put something grave on the desk's list and tell the scoring groups and, in private, the superusers.

    What is on the list already was told before.
    """
    async with runtime.league.transaction(entries=False) as tx:
        if not await tx.desk.add_docket(kind, about, "", tx.now):
            return
        groups = [group_chat(group) for group in runtime.settings.scoring_groups]
        superusers = [private_chat(user) for user in sorted(runtime.league.superusers)]
        chats = await queue(tx, [Out(chat, text, "notice") for chat in (*groups, *superusers)])
    sender.wake(chats)


async def tick(runtime: Runtime, sender: Sender, now: int, *, held: bool = False) -> None:
    """Do what is due by `now` (ms), and say it; only while nothing said before that can still come in from history."""
    async with runtime.league.transaction() as tx:
        happened = await due.run(tx, now - ON_THE_WAY_MS, reminders=True)
        chats = await queue(tx, tell(runtime.settings, tx.directory, happened), held=held)
        hit("before_due_commit")
    hit("after_due_commit")
    sender.wake(chats)


async def digest(runtime: Runtime, sender: Sender) -> None:
    """Tell the scoring groups what waits for the desk, once a day; nothing where nothing does (/待办)."""
    async with runtime.league.transaction(entries=False) as tx:
        found = await docket_of(tx)
        if not found.entries:
            return
        text = desk_wording.digest(found, tx.directory)
        outs = [Out(group_chat(group), text, "reminder") for group in runtime.settings.scoring_groups]
        chats = await queue(tx, outs, expires_at=tx.now + DIGEST_LIFE_MS)
    sender.wake(chats)


async def forget_raw(runtime: Runtime) -> None:
    """Forget what was said, and to whom, more than 30 days ago; what was erased is then overwritten in the file too."""
    league = runtime.league
    async with league.transaction(entries=False) as tx:
        unsent = await tx.forgetting.purge(tx.now - KEEP_RAW_DAYS * DAY_MS)
        if unsent:
            await tx.desk.add_docket("failed_send", "", desk_wording.given_up(unsent, KEEP_RAW_DAYS), tx.now)
    await league.database.overwrite()
