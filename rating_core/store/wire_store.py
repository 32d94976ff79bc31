"""Tables of the wire: what came in, what goes out, and where each chat stands.

All times are integer milliseconds since the epoch. Nothing here commits: the caller's transaction does.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from sqlalchemy import (
    Column,
    Row,
    Table,
    and_,
    bindparam,
    delete,
    func,
    insert,
    literal,
    not_,
    or_,
    select,
    union,
    union_all,
    update,
)
from sqlalchemy.dialects import sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

from .tables import among, chats, inbox, outbox, unindexed

SEQ_KEY = "|seq|"
"""Inbox keys with this part carry QQ's own running number; two different ones are two messages."""
REACTION = "|reaction|"
"""Inbox keys with this part name who reacted; history tells of no reactions."""
OVERLAP_MS = 3_000
"""Events overtake each other by this much at most; history is read from so far before the watermark."""

WORK = ("pending", "sending", "unknown")
"""Outbox states that still want something done."""


# Statements that run with every message are built once: building one costs more than running it. What waits for
# something to be done is found by its state: the rows of a chat are all that was ever said there.
_IN_CHAT = unindexed(outbox.c.chat) == bindparam("chat")
_NEW = {
    name: bindparam(f"new_{name}", type_=inbox.c[name].type)
    for name in ("key", "twin", "chat", "message_id", "qq", "said_at", "text")
}
_TWIN = inbox.c.twin == _NEW["twin"]
_TWIN_WITHOUT_SEQ = and_(_TWIN, not_(inbox.c.key.contains(SEQ_KEY, autoescape=True)))
_FIRST_PENDING = (
    select(outbox.c.outbox_id)
    .where(outbox.c.state == "pending", _IN_CHAT)
    .order_by(outbox.c.expires_at.is_not(None), outbox.c.outbox_id)
    .limit(1)
    .scalar_subquery()
)
_UNCLEAR = and_(_IN_CHAT, among(outbox.c.state, ("sending", "unknown")))
_PAUSED = select(chats.c.paused_until).where(chats.c.chat == outbox.c.chat).scalar_subquery()
_WORK = (
    select(outbox, _PAUSED.label("paused_until"))
    .where(or_(_UNCLEAR, outbox.c.outbox_id == _FIRST_PENDING))
    .order_by(outbox.c.outbox_id)
)


def _said(table: Table, at: Column[int], number: Column[int]) -> Any:
    """Return what the latest message of a table under a message id is about, and when that was said."""
    said = select(table.c.about, at.label("at")).where(
        table.c.chat == bindparam("chat"), table.c.message_id == bindparam("message"), table.c.about != ""
    )
    return said.order_by(number.desc()).limit(1).subquery()


_BOTH = union_all(
    *(select(said) for said in (
        _said(inbox, inbox.c.said_at, inbox.c.inbox_id), _said(outbox, outbox.c.created_at, outbox.c.outbox_id)
    ))
).subquery()  # fmt: skip
_ABOUT = select(_BOTH.c.about).order_by(_BOTH.c.at.desc()).limit(1)
_SENT_AS = (
    select(outbox)
    .where(outbox.c.chat == bindparam("chat"), outbox.c.message_id == bindparam("message"))
    .order_by(outbox.c.outbox_id.desc())
    .limit(1)
)
_KIND, _QUOTE = (_SENT_AS.with_only_columns(column) for column in (outbox.c.kind, outbox.c.quote))
_SET_ABOUT = update(inbox).where(inbox.c.inbox_id == bindparam("number")).values(about=bindparam("about"))
_OUTBOX_ROW = update(outbox).where(outbox.c.outbox_id == bindparam("number"))
_MARK_SENDING = _OUTBOX_ROW.values(state="sending", sending_at=bindparam("at"), attempts=outbox.c.attempts + 1)
_MARK_SENT = _OUTBOX_ROW.values(state="sent", message_id=bindparam("sent_as"), error="", picture=None)
_THAT_WAIT = union(
    select(outbox.c.chat).where(among(outbox.c.state, WORK)),
    select(chats.c.chat).where(chats.c.paused_until.is_not(None)),
)
_ADD = insert(outbox).returning(outbox.c.outbox_id)


def _insert(connection: AsyncConnection) -> Callable[[Table], Any]:
    """Return the INSERT that knows ON CONFLICT, on SQLite and PostgreSQL alike."""
    if connection.dialect.name == "postgresql":
        from sqlalchemy.dialects import postgresql  # imported by the engine already

        return postgresql.insert
    return sqlite.insert


@cache
def _take(insert_into: Callable[[Table], Any], by_seq: bool) -> Any:
    known = select(inbox.c.inbox_id).where(_TWIN_WITHOUT_SEQ if by_seq else _TWIN).exists()
    row = select(*_NEW.values(), literal("")).where(not_(known))
    statement = insert_into(inbox).from_select([*_NEW, "about"], row)
    return statement.on_conflict_do_nothing(index_elements=[inbox.c.key]).returning(inbox.c.inbox_id)


@cache
def _watermark(insert_into: Callable[[Table], Any]) -> Any:
    statement = insert_into(chats)
    read = {name: statement.excluded[name] for name in ("watermark_at", "watermark_seq")}
    not_before = chats.c.watermark_at <= statement.excluded.watermark_at
    return statement.on_conflict_do_update(index_elements=[chats.c.chat], set_=read, where=not_before)


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
        row = {"key": key, "twin": twin, "chat": chat, "message_id": message_id, "qq": qq, "said_at": said_at}
        taken = await self._connection.execute(
            _take(_insert(self._connection), SEQ_KEY in key),
            {f"new_{name}": value for name, value in row.items()} | {"new_text": text},
        )
        inbox_id: int | None = taken.scalar_one_or_none()
        return inbox_id

    async def knows(self, key: str) -> bool:
        """Return whether a message was entered."""
        query = select(inbox.c.inbox_id).where(inbox.c.key == key)
        return (await self._connection.execute(query)).first() is not None

    async def set_about(self, inbox_id: int, about: str) -> None:
        """Note the short number (#12, 审3) that a message led to."""
        await self._connection.execute(_SET_ABOUT, {"number": inbox_id, "about": about})

    async def about_of(self, chat: str, message_id: str) -> str:
        """Return the short number a message is about, whether someone or the bot said it; empty when unknown.

        Message ids repeat over the years; the latest message counts.
        """
        if not message_id:
            return ""
        found = await self._connection.execute(_ABOUT, {"chat": chat, "message": message_id})
        return found.scalar() or ""

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


@dataclass(slots=True)
class Work:
    """What is to be done in one chat."""

    unclear: list[OutRow] = field(default_factory=list)
    """Messages that may be out or not, in the order they were queued."""
    following: OutRow | None = None
    """The one to send next."""
    paused: bool = False
    """Whether sending to the chat rests."""


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
        row: dict[str, Any] = {"chat": chat, "text": text, "kind": kind, "about": about, "quote": quote, "state": state}
        row |= {"picture": picture, "caption": caption, "created_at": created_at, "expires_at": expires_at}
        result = await self._connection.execute(_ADD, row | {"attempts": 0, "sending_at": None, "error": ""})
        return int(result.scalar_one())

    async def chats_that_wait(self) -> set[str]:
        """Return the chats in which something is to be done, or sending to which rests."""
        return {row.chat for row in await self._connection.execute(_THAT_WAIT)}

    async def begin(
        self, *, chat: str, text: str, kind: str, created_at: int, about: str, quote: str | None,
        expires_at: int | None, at: int, picture: None = None, caption: str = "",
    ) -> OutRow:  # fmt: skip
        """Queue a message that is sent as soon as it is committed: from then on it may be out. Return it as unsent."""
        row: dict[str, Any] = {"chat": chat, "text": text, "kind": kind, "about": about, "quote": quote}
        row |= {"picture": picture, "caption": caption, "created_at": created_at, "expires_at": expires_at}
        row |= {"state": "sending", "error": ""}
        number = (await self._connection.execute(_ADD, row | {"attempts": 1, "sending_at": at})).scalar_one()
        return OutRow(**row, outbox_id=int(number), attempts=0, sending_at=None, message_id=None)

    async def kind_of(self, chat: str, message_id: str) -> str:
        """Return the kind of one of the bot's own messages (prompt, ack, answer …); empty when it is none."""
        return (await self._connection.execute(_KIND, {"chat": chat, "message": message_id})).scalar() or ""

    async def quoted_by(self, chat: str, message_id: str) -> str:
        """Return which message one of the bot's own messages quoted; empty when none or unknown."""
        return (await self._connection.execute(_QUOTE, {"chat": chat, "message": message_id})).scalar() or ""

    async def rows(self, *states: str, chat: str | None = None, limit: int = 1000) -> Sequence[OutRow]:
        """Return messages in these states in the order they were queued."""
        query = select(outbox).where(outbox.c.state.in_(states)).order_by(outbox.c.outbox_id).limit(limit)
        if chat is not None:
            query = query.where(unindexed(outbox.c.chat) == chat)
        return [_out_row(row) for row in await self._connection.execute(query)]

    async def work(self, chat: str) -> "Work":
        """Return what is to be done in a chat; of what waits only the next: news before answers that expire."""
        work = Work()
        for row in await self._connection.execute(_WORK, {"chat": chat}):
            values = dict(row._mapping)
            work.paused = values.pop("paused_until") is not None
            if values["state"] == "pending":
                work.following = OutRow(**values)
            else:
                work.unclear.append(OutRow(**values))
        return work

    async def mark_sending(self, outbox_id: int, now: int) -> None:
        """Before the call: from here on the message may be out."""
        await self._connection.execute(_MARK_SENDING, {"number": outbox_id, "at": now})

    async def mark_sent(self, outbox_id: int, message_id: str) -> None:
        """QQ took it, under this id (empty where the client names none)."""
        await self._connection.execute(_MARK_SENT, {"number": outbox_id, "sent_as": message_id or None})

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
        again = _OUTBOX_ROW.values(state="pending", error=row.error, attempts=row.attempts)
        await self._connection.execute(again, {"number": row.outbox_id})

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

    async def all(self) -> list[ChatRow]:
        """Return all chats."""
        return [ChatRow(**row._mapping) for row in await self._connection.execute(select(chats))]

    async def set_watermark(self, chat: str, at: int, seq: int | None) -> None:
        """Note up to where a chat was read; a time never goes back."""
        row = {"chat": chat, "watermark_at": at, "watermark_seq": seq, "paused_until": None, "paused_why": ""}
        await self._connection.execute(_watermark(_insert(self._connection)), row)

    async def set_pause(self, chat: str, until: int | None, why: str = "") -> None:
        """Let sending to a chat rest until a time; None ends the rest."""
        statement = _insert(self._connection)(chats).values(
            chat=chat, watermark_at=0, watermark_seq=None, paused_until=until, paused_why=why
        )
        values = {"paused_until": until, "paused_why": why}
        await self._connection.execute(statement.on_conflict_do_update(index_elements=[chats.c.chat], set_=values))


async def forget_chats(connection: AsyncConnection) -> None:
    """Forget how far each chat was read and drop what was still to be sent (the sandbox begins anew each time)."""
    await connection.execute(delete(chats))
    waiting = outbox.c.state.in_(("held", *WORK))
    await connection.execute(update(outbox).where(waiting).values(state="dropped"))
