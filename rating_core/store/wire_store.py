"""Tables of the wire: what came in, what goes out, and where each chat stands.

All times are integer milliseconds since the epoch. Nothing here commits: the caller's transaction does.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Row, Table, and_, delete, func, not_, or_, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

from .tables import chats, inbox, outbox

SEQ_KEY = "|seq|"
"""Inbox keys with this part carry QQ's own running number; two different ones are two messages."""
REACTION = "|reaction|"
"""Inbox keys with this part name who reacted; history tells of no reactions."""
OVERLAP_MS = 3_000
"""Events overtake each other by this much at most; history is read from so far before the watermark."""

WORK = ("pending", "sending", "unknown")
"""Outbox states that still want something done."""


def _insert(connection: AsyncConnection, table: Table) -> Any:
    """Return an INSERT that knows ON CONFLICT, on SQLite and PostgreSQL alike."""
    return postgresql.insert(table) if connection.dialect.name == "postgresql" else sqlite.insert(table)


class InboxTable:
    """What was said and noticed, once each."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def take(
        self, *, key: str, twin: str, chat: str, message_id: str, qq: str, said_at: int, text: str
    ) -> int | None:
        """Enter a message and return its inbox_id; None when it is there already.

        It is there when its key is, or when its twin is under another message id: a client may give one message
        two ids, in the event and in history. Two keys that both carry QQ's own number are never the same message.
        """
        same = inbox.c.twin == twin
        if SEQ_KEY in key:
            same = and_(same, not_(inbox.c.key.contains(SEQ_KEY, autoescape=True)))
        query = select(inbox.c.inbox_id).where(or_(inbox.c.key == key, same)).limit(1)
        if (await self._connection.execute(query)).first() is not None:
            return None
        row = {"key": key, "twin": twin, "chat": chat, "message_id": message_id}
        statement = _insert(self._connection, inbox).values(**row, qq=qq, said_at=said_at, text=text, about="")
        statement = statement.on_conflict_do_nothing(index_elements=[inbox.c.key]).returning(inbox.c.inbox_id)
        inbox_id: int | None = (await self._connection.execute(statement)).scalar_one_or_none()
        return inbox_id

    async def knows(self, key: str) -> bool:
        """Return whether a message was entered."""
        query = select(inbox.c.inbox_id).where(inbox.c.key == key)
        return (await self._connection.execute(query)).first() is not None

    async def set_about(self, inbox_id: int, about: str) -> None:
        """Note the short number (#12, 审3) that a message led to."""
        await self._connection.execute(update(inbox).where(inbox.c.inbox_id == inbox_id).values(about=about))

    async def about_of(self, chat: str, message_id: str) -> str:
        """Return the short number a message is about, whether someone or the bot said it; empty when unknown.

        Message ids repeat over the years; the latest message counts.
        """
        if not message_id:
            return ""
        said = (
            select(inbox.c.about, inbox.c.said_at.label("at"))
            .where(inbox.c.chat == chat, inbox.c.message_id == message_id, inbox.c.about != "")
            .order_by(inbox.c.inbox_id.desc())
            .limit(1)
        )
        sent = (
            select(outbox.c.about, outbox.c.created_at.label("at"))
            .where(outbox.c.chat == chat, outbox.c.message_id == message_id, outbox.c.about != "")
            .order_by(outbox.c.outbox_id.desc())
            .limit(1)
        )
        found = [row for query in (said, sent) if (row := (await self._connection.execute(query)).first()) is not None]
        return str(max(found, key=lambda row: row.at).about) if found else ""

    async def first_about(self, chat: str, about: str) -> str:
        """Return the id of the first message in a chat that is about something, empty when there is none."""
        query = select(inbox.c.message_id).where(inbox.c.chat == chat, inbox.c.about == about)
        return (await self._connection.execute(query.order_by(inbox.c.inbox_id).limit(1))).scalar() or ""

    async def last_about(self, chat: str, beginning: str) -> str:
        """Return what the latest message in a chat is about that is about something so beginning; empty: none is."""
        fits = inbox.c.about.startswith(beginning, autoescape=True)
        query = select(inbox.c.about).where(inbox.c.chat == chat, fits).order_by(inbox.c.inbox_id.desc()).limit(1)
        return (await self._connection.execute(query)).scalar() or ""


@dataclass(frozen=True, slots=True)
class OutRow:
    """One message to send, as the sender sees it."""

    outbox_id: int
    chat: str
    state: str
    kind: str
    about: str
    text: str
    picture: str | None
    """What is drawn and sent with `caption` instead of the text; None: the text is sent."""
    caption: str
    quote: str | None
    created_at: int
    expires_at: int | None
    attempts: int
    sending_at: int | None
    message_id: str | None
    error: str


class OutboxTable:
    """What the bot says: (held →) pending → sending → sent | unknown | failed | dropped.

    What a picture shows is kept until its fate is decided: a board is worth hundreds of lines.
    """

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def add(
        self,
        *,
        chat: str,
        text: str,
        kind: str,
        created_at: int,
        about: str = "",
        quote: str | None = None,
        expires_at: int | None = None,
        held: bool = False,
        picture: str | None = None,
        caption: str = "",
    ) -> int:
        """Queue a message and return its outbox_id; a held one waits to be merged with others (mark_pending)."""
        state = "held" if held else "pending"
        row = {"chat": chat, "text": text, "kind": kind, "about": about, "quote": quote, "state": state}
        row |= {"picture": picture, "caption": caption}
        statement = _insert(self._connection, outbox).values(
            **row, created_at=created_at, expires_at=expires_at, attempts=0, error=""
        )
        result = await self._connection.execute(statement.returning(outbox.c.outbox_id))
        return int(result.scalar_one())

    async def kind_of(self, chat: str, message_id: str) -> str:
        """Return the kind of one of the bot's own messages (prompt, ack, answer …); empty when it is none."""
        query = select(outbox.c.kind).where(outbox.c.chat == chat, outbox.c.message_id == message_id)
        return (await self._connection.execute(query.order_by(outbox.c.outbox_id.desc()).limit(1))).scalar() or ""

    async def quoted_by(self, chat: str, message_id: str) -> str:
        """Return which message one of the bot's own messages quoted; empty when none or unknown."""
        query = select(outbox.c.quote).where(outbox.c.chat == chat, outbox.c.message_id == message_id)
        return (await self._connection.execute(query.order_by(outbox.c.outbox_id.desc()).limit(1))).scalar() or ""

    async def rows(self, *states: str, chat: str | None = None, limit: int = 1000) -> Sequence[OutRow]:
        """Return messages in these states in the order they were queued."""
        query = select(outbox).where(outbox.c.state.in_(states)).order_by(outbox.c.outbox_id).limit(limit)
        if chat is not None:
            query = query.where(outbox.c.chat == chat)
        return [_out_row(row) for row in await self._connection.execute(query)]

    async def next_pending(self, chat: str) -> OutRow | None:
        """Return what is to be sent next to a chat: news before answers that expire, either in order."""
        query = select(outbox).where(outbox.c.state == "pending", outbox.c.chat == chat)
        query = query.order_by(outbox.c.expires_at.is_not(None), outbox.c.outbox_id).limit(1)
        row = (await self._connection.execute(query)).first()
        return None if row is None else _out_row(row)

    async def mark_sending(self, outbox_id: int, now: int) -> None:
        """Before the call: from here on the message may be out."""
        await self._set(outbox_id, state="sending", sending_at=now, attempts=outbox.c.attempts + 1)

    async def mark_sent(self, outbox_id: int, message_id: str) -> None:
        """QQ took it, under this id (empty where the client names none)."""
        await self._set(outbox_id, state="sent", message_id=message_id or None, error="", picture=None)

    async def mark_unknown(self, outbox_id: int, error: str) -> None:
        """It may be out or not: it has to be looked for; unless it was seen meanwhile."""
        being_sent = and_(outbox.c.outbox_id == outbox_id, outbox.c.state == "sending")
        await self._connection.execute(update(outbox).where(being_sent).values(state="unknown", error=error))

    async def mark_pending(self, outbox_id: int, error: str = "", *, attempts: int | None = None) -> None:
        """It is certainly not out and is to be sent again; `attempts` where the last one should not count."""
        counted = {} if attempts is None else {"attempts": attempts}
        await self._set_unsent(outbox_id, state="pending", error=error, **counted)

    async def mark_failed(self, outbox_id: int, error: str) -> None:
        """Given up."""
        await self._set_unsent(outbox_id, state="failed", error=error, picture=None)

    async def mark_dropped(self, outbox_id: int) -> None:
        """Nobody waits for it any more."""
        await self._set_unsent(outbox_id, state="dropped", picture=None)

    async def take_back(self, row: OutRow) -> None:
        """QQ took it and shows it to nobody: it is to be sent again, and this time did not count."""
        await self._set(row.outbox_id, state="pending", error=row.error, attempts=row.attempts)

    async def recover(self) -> int:
        """After a start: what was being sent may be out. Return how many rows."""
        statement = update(outbox).where(outbox.c.state == "sending").values(state="unknown")
        return (await self._connection.execute(statement)).rowcount

    async def chats_with_work(self) -> list[str]:
        """Return the chats in which something waits, is being sent or is unknown."""
        query = select(outbox.c.chat).where(outbox.c.state.in_(WORK)).distinct().order_by(outbox.c.chat)
        return [row.chat for row in await self._connection.execute(query)]

    async def taken(self, chat: str, message_ids: Iterable[str]) -> set[str]:
        """Return those of the ids under which an outbox row was sent already."""
        known = and_(outbox.c.chat == chat, outbox.c.message_id.in_(list(message_ids)))
        return {row.message_id for row in await self._connection.execute(select(outbox.c.message_id).where(known))}

    async def counts(self) -> dict[str, int]:
        """Return how many rows are in each state, for /体检."""
        query = select(outbox.c.state, func.count().label("number")).group_by(outbox.c.state)
        return {row.state: row.number for row in await self._connection.execute(query)}

    async def backlog(self) -> tuple[int, int | None]:
        """Return how many messages are not out yet, and when the oldest of them was queued."""
        query = select(func.count(), func.min(outbox.c.created_at)).where(outbox.c.state.in_(("held", *WORK)))
        count, oldest = (await self._connection.execute(query)).one()
        return int(count), oldest

    async def _set(self, outbox_id: int, **values: int | str | ColumnElement[int] | None) -> None:
        await self._connection.execute(update(outbox).where(outbox.c.outbox_id == outbox_id).values(**values))

    async def _set_unsent(self, outbox_id: int, **values: int | str | None) -> None:
        """Change a row unless it was found to be out meanwhile, by another than who was still looking for it."""
        unsent = and_(outbox.c.outbox_id == outbox_id, outbox.c.state != "sent")
        await self._connection.execute(update(outbox).where(unsent).values(**values))


def _out_row(row: Row[Any]) -> OutRow:
    return OutRow(**row._mapping)


@dataclass(frozen=True, slots=True)
class ChatRow:
    """Where a chat stands. `watermark_at` 0: never connected."""

    chat: str
    watermark_at: int
    watermark_seq: int | None
    paused_until: int | None
    paused_why: str


class ChatTable:
    """Up to where each chat was read, and whether sending to it rests."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def get(self, chat: str) -> ChatRow | None:
        """Return a chat's row."""
        row = (await self._connection.execute(select(chats).where(chats.c.chat == chat))).first()
        return None if row is None else ChatRow(**row._mapping)

    async def all(self) -> list[ChatRow]:
        """Return all chats."""
        return [ChatRow(**row._mapping) for row in await self._connection.execute(select(chats))]

    async def set_watermark(self, chat: str, at: int, seq: int | None) -> None:
        """Note up to where a chat was read; a time never goes back."""
        statement = _insert(self._connection, chats).values(
            chat=chat, watermark_at=at, watermark_seq=seq, paused_until=None, paused_why=""
        )
        values = {"watermark_at": at, "watermark_seq": seq}
        await self._connection.execute(
            statement.on_conflict_do_update(
                index_elements=[chats.c.chat], set_=values, where=chats.c.watermark_at <= at
            )
        )

    async def set_pause(self, chat: str, until: int | None, why: str = "") -> None:
        """Let sending to a chat rest until a time; None ends the rest."""
        statement = _insert(self._connection, chats).values(
            chat=chat, watermark_at=0, watermark_seq=None, paused_until=until, paused_why=why
        )
        values = {"paused_until": until, "paused_why": why}
        await self._connection.execute(statement.on_conflict_do_update(index_elements=[chats.c.chat], set_=values))


async def forget_chats(connection: AsyncConnection) -> None:
    """Forget how far each chat was read and drop what was still to be sent (the sandbox begins anew each time)."""
    await connection.execute(delete(chats))
    waiting = outbox.c.state.in_(("held", *WORK))
    await connection.execute(update(outbox).where(waiting).values(state="dropped"))
