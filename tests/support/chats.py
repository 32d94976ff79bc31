"""How far a chat was read, and whether it rests, as the database has it."""

from sqlalchemy.ext.asyncio import AsyncConnection

from rating_core.store.wire_store import ChatRow, ChatTable


async def chat_row(connection: AsyncConnection, chat: str) -> ChatRow | None:
    """Return a chat's row."""
    return next((row for row in await ChatTable(connection).all() if row.chat == chat), None)
