"""Forgetting: raw messages after 30 days, and a person when he asked for it (/注销).

Nothing here touches the ledger, which holds neither names nor QQ numbers. Nothing here commits: the caller's
transaction does.
"""

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sqlalchemy import Column, ColumnElement, Table, Text, and_, cast, delete, func, literal, not_, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from rating_core.scrubbing import Scrubber
from rating_core.store.report_store import load_lines
from rating_core.store.sealed import SEALED_TABLES, SealedTable
from rating_core.store.tables import (
    accounts,
    applications,
    chats,
    copies,
    docket,
    inbox,
    journal,
    ledger_notes,
    masked_holders,
    merge_items,
    metadata,
    names,
    outbox,
    past_bindings,
    previews,
    reports,
    roles,
)
from rating_core.store.wire_store import OVERLAP_MS, REACTION, WORK

LEDGER = frozenset({"ledger", "ledger_head"})
CODES = frozenset({
    "about", "action", "chat", "games", "hash", "key", "kind", "message_id", "pair_key", "paused_why", "placing",
    "pool", "quote", "role", "same_key", "seal", "skeleton", "state", "twin", "weight",
})  # fmt: skip
"""Columns of these names hold codes and numbers of ours or of QQ, no words. Every other text column is scrubbed."""
_PRIVATE = "u%"
"""Private chats: their key is u and somebody's QQ number."""


@dataclass(frozen=True, slots=True)
class Person:
    """Who is forgotten: the player (None: no roster name), his accounts and their QQ numbers."""

    player: int | None
    accounts: Sequence[int]
    qqs: Sequence[str]

    @property
    def private_chats(self) -> list[str]:
        return [f"u{qq}" for qq in self.qqs]


def words_of(table: Table) -> list[Column[str]]:
    """Return the columns of a table in which people's words may stand."""
    if table.name in LEDGER | {"counters", "names"}:
        return []
    return [column for column in table.c if isinstance(column.type, Text) and column.name not in CODES]


class Forgetting:
    """What is forgotten, through one connection."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    # --- raw messages -------------------------------------------------------------------------------------

    async def purge(self, before: int) -> int:
        """Forget what was said, and to whom, before a time (ms); return how many messages never got out.

        Of group messages that led to something only the numbers stay, so that a reply which quotes them resolves; of
        those that history may give again the keys stay, so that they are not handled twice.
        """
        run = self._connection.execute
        old = inbox.c.said_at < before
        await run(delete(inbox).where(old, inbox.c.chat.like(_PRIVATE)))
        await run(update(inbox).where(old, inbox.c.qq.is_not(None)).values(qq=None, text=None))
        newest = select(chats.c.watermark_at).where(chats.c.chat == inbox.c.chat).scalar_subquery()
        done = and_(old, or_(inbox.c.said_at < newest - OVERLAP_MS, newest.is_(None), inbox.c.key.contains(REACTION)))
        await run(delete(inbox).where(done, inbox.c.about == ""))
        number = literal("old|") + cast(inbox.c.inbox_id, Text)
        await run(update(inbox).where(done, inbox.c.twin != "").values(key=number, twin=""))
        old = outbox.c.created_at < before
        stuck = select(func.count()).where(old, outbox.c.state.in_(("held", *WORK)))
        unsent = int((await run(stuck)).scalar_one())
        about = and_(outbox.c.about != "", outbox.c.message_id.is_not(None), not_(outbox.c.chat.like(_PRIVATE)))
        await run(delete(outbox).where(old, not_(and_(about, outbox.c.state == "sent"))))
        await run(update(outbox).where(old).values(text="", picture=None, caption="", error=""))
        await run(delete(chats).where(chats.c.chat.like(_PRIVATE), func.coalesce(chats.c.paused_until, 0) < before))
        await run(delete(previews).where(previews.c.created_at < before))
        await run(delete(docket).where(docket.c.created_at < before, docket.c.closed_at.is_not(None)))
        await run(update(docket).where(docket.c.created_at < before, docket.c.kind == "old_command").values(detail=""))
        decided = and_(applications.c.decided_at < before, applications.c.state != "waiting")
        await run(update(applications).where(decided).values(chat="", message_id=""))
        return unsent

    # --- a person -----------------------------------------------------------------------------------------

    async def erase(self, person: Person, his_names: Collection[str], scrubber: Scrubber, label: str) -> None:
        """Forget a person: what is only his goes, and every text in which he is named names `label` instead."""
        await self._erase_people(person, his_names, label)
        await self._erase_records(person)
        await self._erase_messages(person, scrubber)
        for table in metadata.sorted_tables:
            for column in words_of(table):
                await self._scrub(table, column, scrubber)

    async def _erase_people(self, person: Person, his_names: Collection[str], label: str) -> None:
        run = self._connection.execute
        mine = person.accounts
        gone = {"qq": None, "player_id": None, "bound_at": None, "bound_by": None, "card": ""}
        sealed = SealedTable(self._connection, accounts)
        await sealed.change(accounts.c.account_id.in_(mine), **gone)
        await sealed.remove_broken(or_(accounts.c.account_id.in_(mine), accounts.c.qq.in_(person.qqs)))
        await SealedTable(self._connection, roles).remove(roles.c.account_id.in_(mine))
        await SealedTable(self._connection, masked_holders).remove(masked_holders.c.account_id.in_(mine))
        players = [] if person.player is None else [person.player]
        past = or_(past_bindings.c.account_id.in_(mine), past_bindings.c.player_id.in_(players))
        await run(delete(past_bindings).where(past))
        his = or_(
            applications.c.account_id.in_(mine), applications.c.player_id.in_(players),
            applications.c.name.in_(his_names),
        )  # fmt: skip
        await run(update(applications).where(his).values(name=label, chat="", message_id="", reason=""))
        await run(delete(names).where(names.c.player_id.in_(players)))
        await run(delete(merge_items).where(merge_items.c.kind == "name", merge_items.c.item.in_(his_names)))

    async def _erase_records(self, person: Person) -> None:
        """What others wrote about him, and he about himself."""
        run = self._connection.execute
        await run(delete(previews).where(previews.c.account_id.in_(person.accounts)))
        if person.player is None:
            return
        await run(update(journal).where(journal.c.player_id == person.player).values(detail="", reason=""))
        query = select(reports.c.report_id, reports.c.games).where(reports.c.reason != "")
        found = [row.report_id for row in await run(query) if _plays(person.player, row.games)]
        await run(update(reports).where(reports.c.report_id.in_(found)).values(reason=""))
        unused = select(copies.c.chat, copies.c.message_id, copies.c.games).where(not_(copies.c.used))
        for row in await run(unused):
            if _plays(person.player, row.games):
                this = and_(copies.c.chat == row.chat, copies.c.message_id == row.message_id)
                await run(update(copies).where(this).values(used=True))

    async def noted(self) -> list[int]:
        """Return the ledger rows that have a reason."""
        return list((await self._connection.execute(select(ledger_notes.c.seq).order_by(ledger_notes.c.seq))).scalars())

    async def erase_notes(self, seqs: Sequence[int]) -> None:
        """Forget the reasons of these ledger rows."""
        await self._connection.execute(delete(ledger_notes).where(ledger_notes.c.seq.in_(seqs)))

    async def _erase_messages(self, person: Person, scrubber: Scrubber) -> None:
        run = self._connection.execute
        await run(delete(chats).where(chats.c.chat.in_(person.private_chats)))
        await run(delete(inbox).where(inbox.c.chat.in_(person.private_chats)))
        await run(delete(outbox).where(outbox.c.chat.in_(person.private_chats)))
        await run(delete(inbox).where(inbox.c.qq.in_(person.qqs), inbox.c.key.contains(REACTION)))
        # its key keeps a message from being handled twice
        bare = {"twin": inbox.c.key, "qq": None, "text": None}
        await run(update(inbox).where(inbox.c.qq.in_(person.qqs)).values(**bare))
        said = (await run(select(inbox.c.inbox_id, inbox.c.text).where(inbox.c.text.is_not(None)))).all()
        naming = await asyncio.to_thread(lambda: [r.inbox_id for r in said if scrubber.names_him(r.text)])
        await run(update(inbox).where(inbox.c.inbox_id.in_(naming)).values(text=None))
        # what may be out already cannot be looked for by other words: it counts as said, rather than be said twice
        unclear = and_(outbox.c.state.in_(("sending", "unknown")), _holds(outbox.c.text, scrubber))
        await run(update(outbox).where(unclear).values(state="dropped"))

    async def _scrub(self, table: Table, column: Column[str], scrubber: Scrubber) -> None:
        keys = list(table.primary_key.columns)
        found = (await self._connection.execute(select(*keys, column).where(_holds(column, scrubber)))).all()
        for row in found:
            values = row._mapping
            text = scrubber.scrub(values[column])
            if text == values[column]:
                continue
            this = and_(*(key == values[key] for key in keys))
            if table in SEALED_TABLES:
                await SealedTable(self._connection, table).change(this, **{column.name: text})
            else:
                await self._connection.execute(update(table).where(this).values({column: text}))


def _holds(column: Column[str], scrubber: Scrubber) -> ColumnElement[bool]:
    return or_(*(column.contains(needle, autoescape=True) for needle in scrubber.needles), literal(False))


def _plays(player: int, games: str) -> bool:
    return any(player in line.players for line in load_lines(games))
