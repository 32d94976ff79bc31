"""The desk's papers: previews that wait for 确认, the journal (/日志) and the docket (/待办)."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from rating_core.store.tables import docket, journal, previews


@dataclass(frozen=True, slots=True)
class Preview:
    """Something that will be applied when the same person confirms it in time: 预`preview_id`."""

    preview_id: int
    kind: str
    payload: str
    account_id: int
    chat: str
    book_seq: int
    created_at: int
    expires_at: int
    state: str = "open"


@dataclass(frozen=True, slots=True)
class JournalLine:
    """Who did what, when, why."""

    said_at: int
    account_id: int
    action: str
    about: str
    player_id: int | None
    detail: str
    reason: str


@dataclass(frozen=True, slots=True)
class DocketItem:
    """Something that waits for the desk; times in ms."""

    docket_id: int
    kind: str
    about: str
    detail: str
    created_at: int


class DeskStore:
    """The desk's papers seen through one connection."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def add_preview(self, preview: Preview) -> None:
        values = {name: getattr(preview, name) for name in Preview.__dataclass_fields__}
        await self._connection.execute(insert(previews).values(**values))

    async def preview(self, preview_id: int) -> Preview | None:
        query = select(previews).where(previews.c.preview_id == preview_id)
        row = (await self._connection.execute(query)).mappings().first()
        return Preview(**row) if row else None

    async def open_previews(self, account_id: int, chat: str, at: int) -> list[Preview]:
        query = select(previews).where(
            previews.c.account_id == account_id,
            previews.c.chat == chat,
            previews.c.state == "open",
            previews.c.expires_at > at,
        )
        return [Preview(**row) for row in (await self._connection.execute(query)).mappings()]

    async def close_preview(self, preview_id: int, state: str) -> bool:
        """Close an open preview; False if it was closed before."""
        result = await self._connection.execute(
            update(previews).where(previews.c.preview_id == preview_id, previews.c.state == "open").values(state=state)
        )
        return bool(result.rowcount)

    async def write_journal(self, line: JournalLine) -> None:
        values = {name: getattr(line, name) for name in JournalLine.__dataclass_fields__}
        await self._connection.execute(insert(journal).values(**values))

    async def journal(self, limit: int, player_id: int | None = None) -> list[JournalLine]:
        """Return the newest lines, newest first; of one player if given."""
        query = select(journal).order_by(journal.c.journal_id.desc()).limit(limit)
        if player_id is not None:
            query = query.where(journal.c.player_id == player_id)
        rows = (await self._connection.execute(query)).mappings()
        return [JournalLine(**{name: row[name] for name in JournalLine.__dataclass_fields__}) for row in rows]

    async def add_docket(self, kind: str, about: str, detail: str, at: int) -> bool:
        """Put something on the desk's list; what is open already (by its number, if it has one) is not listed twice.

        Return whether it is new.
        """
        known = docket.c.about == about if about else docket.c.detail == detail
        same = select(docket.c.docket_id).where(docket.c.kind == kind, known, docket.c.closed_at.is_(None))
        if (await self._connection.execute(same)).first() is not None:
            return False
        values: dict[str, Any] = {"kind": kind, "about": about, "detail": detail, "created_at": at}
        await self._connection.execute(insert(docket).values(**values))
        return True

    async def open_docket(self) -> list[DocketItem]:
        query = select(docket).where(docket.c.closed_at.is_(None)).order_by(docket.c.docket_id)
        rows = (await self._connection.execute(query)).mappings()
        return [DocketItem(**{name: row[name] for name in DocketItem.__dataclass_fields__}) for row in rows]

    async def close_docket(self, docket_ids: list[int], at: int) -> int:
        """Take items off the list; return how many were on it."""
        result = await self._connection.execute(
            update(docket).where(docket.c.docket_id.in_(docket_ids), docket.c.closed_at.is_(None)).values(closed_at=at)
        )
        return int(result.rowcount)
