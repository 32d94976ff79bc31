"""From one message to its effect and its answers: one transaction, then the sends.

What is ordinary chat is told from memory alone and costs no database write.
"""

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from nonebot.log import logger

from plugins.rating_bot.handlers import reporting
from plugins.rating_bot.handlers.context import Context
from plugins.rating_bot.handlers.decisions import Decision, decision_of, log_decision
from plugins.rating_bot.handlers.grammar import Mismatch, split
from plugins.rating_bot.handlers.happenings import tell
from plugins.rating_bot.handlers.limits import FloodNotices, QueryLimits
from plugins.rating_bot.handlers.table import TABLE, Command, Role, role_of
from plugins.rating_bot.handlers.talk import Talk
from plugins.rating_bot.handlers.words import Word, read_word
from plugins.rating_bot.runtime import Runtime
from plugins.rating_bot.wire.inbound import CONFIRMING_EMOJI
from plugins.rating_bot.wire.messages import AT_MARK, Inbound, Out
from plugins.rating_bot.wire.outbox import Sender
from plugins.rating_bot.wire.queueing import Queueing
from plugins.rating_bot.wire.watermarks import Watermarks
from plugins.rating_bot.wording import commands as wording
from plugins.rating_bot.wording import integrity as integrity_wording
from plugins.rating_bot.wording import masked as masked_wording
from plugins.rating_bot.wording import people as people_wording
from plugins.rating_bot.wording.common import ERROR
from rating_core.directory import Actor
from rating_core.failpoints import hit
from rating_core.names import clean_text
from rating_core.report_text import looks_like_report
from rating_core.service import due
from rating_core.service.league import LedgerDamaged
from rating_core.service.masked import speaker
from rating_core.service.refusal import Confidential, Refusal
from rating_core.service.transaction import Tx
from rating_core.store.database import StorageFailed
from rating_core.store.wire_store import InboxTable

ANSWER_LIFE_MS = 10 * 60_000
"""An answer to a question is dropped when it could not be sent for so long; news never is."""
MAX_COMMAND_CHARS = 500

Action = tuple[str, Any]


def command_text(plain: str) -> str | None:
    """Return a message without its slash if it is a command; `／` and leading invisible characters count as /."""
    text = clean_text(plain[: 2 * MAX_COMMAND_CHARS]).lstrip()
    return text[1:].strip() if text[:1] in ("/", "／") else None


class Dispatcher:
    """Takes messages in order (per chat) and carries each out once."""

    def __init__(
        self, runtime: Runtime, sender: Sender, watermarks: Watermarks,
        say_now: Callable[[str, str, str | None], object], caught_up: Callable[[], bool],
        sure: Callable[[], int],
    ) -> None:  # fmt: skip
        """`say_now(chat, text, quote)` speaks without the outbox, when the database takes nothing.

        `caught_up()`: nothing said before now can still come in from history. `sure()`: a time (ms) not later than
        QQ's.
        """
        self._runtime = runtime
        self._sender = sender
        self._watermarks = watermarks
        self._say_now = say_now
        self._caught_up = caught_up
        self._sure = sure
        self._limits = QueryLimits()
        self._floods = FloodNotices()
        self._talk = Talk()
        self._running: set[asyncio.Task[None]] = set()

    async def handle(self, message: Inbound) -> None:
        """Handle one message. A cancelled caller does not cut the transaction short.

        Raises StorageFailed where the database does not take what was read from history; others are told.
        """
        task = asyncio.ensure_future(self._handle(message))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        await asyncio.shield(task)

    def shed(self, message: Inbound) -> None:
        """A message was dropped because its sender floods the chat: say so once if it was for the bot."""
        self._watermarks.remember(message)
        now = self._runtime.clock.now()
        if self._floods.due(message.user, now) and message.kind == "message" and self.classify(message) is not None:
            self._floods.told(message.user, now)
            self._say_now(message.chat, wording.FLOODING, message.message_id)

    async def finish(self) -> None:
        """Wait for what is under way (at shutdown)."""
        await asyncio.gather(*self._running, return_exceptions=True)

    # --- what is it? --------------------------------------------------------------------------------------

    def classify(self, message: Inbound) -> Action | None:
        """Return what a message is, from memory alone; None for what concerns the bot not at all."""
        settings, league = self._runtime.settings, self._runtime.league
        if message.group is not None and message.group not in settings.groups:
            return None
        if message.user == message.self_id:
            return None
        if message.kind == "recall":
            return ("recall", None) if message.by in ("", message.user) else None
        if message.kind == "reaction":
            return ("reaction", None) if message.text in CONFIRMING_EMOJI else None
        typed = command_text(message.text)
        if typed is not None:
            found = TABLE.find(typed)
            return ("command", found) if found and len(typed) <= MAX_COMMAND_CHARS else None
        plain = clean_text(message.plain[:300]) if len(message.text) <= 300 else ""
        if (word := read_word(plain, message.quote is not None)) is not None:
            return ("word", word)
        if looks_like_report(message.plain, league.directory.roster, self._plays(message)):
            return ("report", None)
        return None

    def _plays(self, message: Inbound) -> bool:
        """Whether the sender has games of his own to report here; in private 蒙面人公用号 has (§7 D)."""
        directory = self._runtime.league.directory
        actor = directory.actor(message.user)
        if message.group is None:
            actor = speaker(directory, actor) or actor
        return actor.player_id is not None

    async def _handle(self, message: Inbound) -> None:
        if message.kind == "message" and not message.made_up and self._watermarks.seen(message):
            return  # told twice; what it says may differ
        action = self.classify(message)
        if action is None:
            if message.kind == "message" and message.message_id:
                self._talk.note(message.chat, message.message_id)
            return
        begin = time.perf_counter()
        decision = await self._decide(message, action)
        log_decision(message, action, decision, self._runtime.settings, 1000 * (time.perf_counter() - begin))

    async def _decide(self, message: Inbound, action: Action) -> Decision:
        try:
            return await self._carry_out(message, action)
        except Exception as error:
            if message.made_up and isinstance(error, StorageFailed) and not isinstance(error, LedgerDamaged):
                raise  # nobody waits for it, and nobody would say it again: GapFill hands it on again
            return await self._failed(message, error)

    async def _failed(self, message: Inbound, error: Exception) -> Decision:
        """Say that nothing was recorded, unless the commit went through all the same.

        What a damaged ledger does not take is said only to who waits for an answer: read from history, it is read
        again after the next start.
        """
        damaged = isinstance(error, LedgerDamaged)
        logger.opt(exception=None if damaged else error).error(f"a message could not be handled: {error!r}")
        try:
            async with self._runtime.league.database.read() as connection:
                if await InboxTable(connection).knows(message.key):
                    self._sender.wake()
                    return Decision("stored_already")
        except StorageFailed as unreadable:
            logger.warning(f"the inbox cannot be read: {unreadable}")
        if message.kind == "message" and not (damaged and message.made_up):
            self._say_now(message.chat, _not_recorded(message) if damaged else ERROR, message.message_id)
        return Decision("failed")

    async def _carry_out(self, message: Inbound, action: Action) -> Decision:
        runtime = self._runtime
        kind, detail = action
        if (answered := message.message_id if kind == "reaction" else message.quote) and kind in ("word", "reaction"):
            await self._sender.recognise(message.chat, answered)
        command: Command | None = detail[0] if kind == "command" else None
        prepared = None
        if command is not None:
            if command.query and (message.made_up or not self._may_query(message)):
                return Decision("limited")
            if command.prepare is not None and await self._will_run(command, detail[1], message):
                prepared = await command.prepare(runtime, message)
        with self._sender.queueing() as queueing:
            async with runtime.league.transaction(entries=command is None or not command.query) as tx:
                decision = await self._take(tx, message, action, prepared, queueing)
                hit("before_commit")
            hit("after_commit")
        return decision

    async def _take(self, tx: Tx, message: Inbound, action: Action, prepared: Any, queueing: Queueing) -> Decision:
        """Do what a message says, once, and queue what is to be said."""
        runtime = self._runtime
        kind, detail = action
        await self._due(tx, message, queueing)
        due = tx.appended
        inbox_id = await tx.inbox.take(
            key=message.key, twin=message.twin, chat=message.chat, message_id=message.message_id,
            qq=message.user, said_at=message.said_at, text=message.text,
        )  # fmt: skip
        await self._watermarks.persist(tx.chats, message)
        if inbox_id is None:
            return Decision("duplicate")
        actor = await tx.actor(message.user, scoring_admin=self._scoring_admin(message))
        pointed_at = message.message_id if kind == "reaction" else message.quote
        stray = self._talk.holds(message.chat, pointed_at)
        context = Context(tx, message, actor, runtime.settings, prepared, stray)
        if message.group is not None:
            await tx.note_card(message.user, message.card)
        try:
            outs = await self._run(context, kind, detail)
        except Confidential:
            outs = [context.privately(masked_wording.SECRET_CASE)]
        if message.group is not None:  # again: the handler may have made the account
            await tx.note_card(message.user, message.card)
        if context.about:
            await tx.inbox.set_about(inbox_id, context.about)
        elif message.kind == "message" and message.message_id:
            self._talk.note(message.chat, message.message_id)
        if runtime.league.damage is not None:
            outs = [_with_doubt(out) for out in outs]
        await _queue(tx, message, outs, queueing)
        return decision_of(context, kind, outs, due)

    async def _due(self, tx: Tx, message: Inbound, queueing: Queueing) -> None:
        """Enter every deadline up to when the message was said; not by the clock while history is still to be read."""
        if self._runtime.league.damage is not None or not (message.made_up or self._caught_up()):
            return
        outs = tell(self._runtime.settings, tx.directory, await due.run(tx, min(message.said_at, self._sure())))
        await _queue(tx, message, outs, queueing)

    # --- rights and limits --------------------------------------------------------------------------------

    def _scoring_admin(self, message: Inbound) -> bool:
        return message.sender_role in ("owner", "admin") and message.group in self._runtime.settings.scoring_groups

    def _actor(self, message: Inbound) -> Actor:
        league = self._runtime.league
        return league.directory.actor(message.user, league.superusers)

    async def _will_run(self, command: Command, rest: str, message: Inbound) -> bool:
        """Whether a command is going to run: rights, place and form fit, and it was not handled before."""
        league = self._runtime.league
        actor = self._actor(message)
        admitted = self._scoring_admin(message) and league.directory.may_be_admitted(actor.account_id)
        role = Role.SCOREKEEPER if admitted else role_of(actor)
        if message.made_up or role < command.role or not _right_place(command, message):
            return False
        if league.damage is not None and not command.query:
            return False
        try:
            split(rest, command.slots, league.directory)
        except Mismatch:
            return False
        async with league.database.read() as connection:
            return not await InboxTable(connection).knows(message.key)

    def _may_query(self, message: Inbound) -> bool:
        """Queries are limited per person and group: a polite hint once, then silence."""
        verdict = self._limits.take(message.user, message.chat, self._runtime.clock.now())
        if verdict == "hint":
            self._say_now(message.chat, wording.TOO_MANY_QUERIES, message.message_id)
        return verdict == "ok"

    # --- carrying out -------------------------------------------------------------------------------------

    async def _run(self, context: Context, kind: str, detail: Any) -> list[Out]:
        if kind == "recall":
            return await reporting.take_recall(context)
        if kind == "reaction":
            return await reporting.take_reaction(context)
        if kind == "report":
            return await reporting.take_report(context)
        if kind == "word":
            assert isinstance(detail, Word)
            return await reporting.take_word(context, detail)
        command, rest = detail
        return await self._run_command(context, command, rest)

    async def _run_command(self, context: Context, command: Command, rest: str) -> list[Out]:
        message = context.message
        command, rest = _meant(context, command, rest)
        context.refused = True  # until it has run
        role = max(role_of(actor) for actor in (context.actor, context.speaker) if actor is not None)
        if role < command.role:
            if command.role == Role.PLAYER:
                return [context.answer(wording.bind_first())]
            return [context.answer(wording.no_right(command.role))]
        if not _right_place(command, message):
            return [context.answer(wording.IN_GROUP_ONLY if message.group is None else wording.IN_PRIVATE_ONLY)]
        if message.made_up and command.word != "撤回":
            typed = " ".join((command_text(AT_MARK.sub("", message.text)) or "").split())
            detail = f"{message.card or '没有名片的人'}：/{typed}"
            await context.tx.desk.add_docket("old_command", "", detail[:100], message.said_at)
            context.refused = False
            return []
        try:
            values = split(rest, command.slots, context.directory)
            context.refused = False
            answer = await command.run(context, values)
        except Mismatch as mismatch:
            return [context.answer(_misuse(context, command, mismatch))]
        except Refusal as refusal:
            context.refused = True
            return [context.answer(people_wording.refusal(refusal))]
        if isinstance(answer, str):
            return [context.answer(answer, about=context.about, quote=command.quote)]
        return list(answer)


async def _queue(tx: Tx, message: Inbound, outs: Iterable[Out], queueing: Queueing) -> None:
    for out in outs:
        await queueing.add(
            tx.outbox, chat=out.chat, text=out.text, kind=out.kind, about=out.about, quote=out.quote, created_at=tx.now,
            expires_at=tx.now + ANSWER_LIFE_MS if out.kind == "answer" and not out.about else None,
            held=message.made_up, picture=out.picture.dumps() if out.picture else None, caption=out.caption,
        )  # fmt: skip


def _meant(context: Context, command: Command, rest: str) -> tuple[Command, str]:
    """Tell a reason that begins like a longer command (/请假 给孩子看病) from that command (/请假 给 张三).

    It is that where its arguments fit; else where somebody who may use it has typed them apart, or can mean no other.
    """
    if not command.instead:
        return command, rest
    try:
        split(rest, command.slots, context.directory)
        return command, rest
    except Mismatch:
        apart = not rest or rest[0].isspace() or rest[0] in '「"'
    if role_of(context.actor) >= command.role and (apart or context.actor.player_id is None):
        return command, rest
    other = TABLE.commands[command.instead]
    return other, (command_text(context.message.text) or "")[len(other.word) :]


def _not_recorded(message: Inbound) -> str:
    """What a damaged ledger did not take; history is read of groups alone, and commands are not made up for."""
    made_up_later = message.group is not None and command_text(message.text) is None
    return integrity_wording.NOT_RECORDED if made_up_later else integrity_wording.NOT_DONE


def _with_doubt(out: Out) -> Out:
    """Say beside figures that the ledger they come from is damaged."""
    doubt = integrity_wording.FOR_WHAT_IT_IS_WORTH
    return replace(out, text=f"{out.text}\n{doubt}", caption=f"{out.caption}\n{doubt}" if out.picture else out.caption)


def _right_place(command: Command, message: Inbound) -> bool:
    return command.where == "any" or (command.where == "group") == (message.group is not None)


def _misuse(context: Context, command: Command, mismatch: Mismatch) -> str:
    if mismatch.tie:
        return wording.tie(command, mismatch.tie)
    if mismatch.unknown is not None:
        return wording.unknown_name(mismatch.unknown, context.directory)
    return wording.usage(command, mismatch.missing)


def load_handlers() -> Sequence[Command]:
    """Import every module that registers commands; return the whole table."""
    from plugins.rating_bot.handlers import (  # noqa: F401
        challenge,
        corrections,
        desk,
        erasing,
        events,
        help,
        leave,
        lists,
        masked,
        people,
        query,
        season,
        workbook,
    )

    return TABLE.listed()
