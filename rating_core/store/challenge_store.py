"""Where forced challenges were issued and when the next reminder is due; all else about them is in the ledger."""

from sqlalchemy import insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from rating_core.store.tables import challenges


class ChallengeStore:
    """Forced challenges seen through one connection."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def add(self, challenge: int, chat: str, message_id: str, remind_at: int | None) -> None:
        values = {"challenge_id": challenge, "chat": chat, "message_id": message_id, "remind_at": remind_at}
        await self._connection.execute(insert(challenges).values(**values))

    async def place(self, challenge: int) -> tuple[str, str]:
        """Return the chat and the message in which it was issued; empty where that is not known."""
        query = select(challenges.c.chat, challenges.c.message_id).where(challenges.c.challenge_id == challenge)
        row = (await self._connection.execute(query)).first()
        return (row.chat, row.message_id) if row else ("", "")

    async def set_reminder(self, challenge: int, at: int | None) -> None:
        """Note when the next reminder is due (ms); None: there is none any more."""
        known = challenges.c.challenge_id == challenge
        await self._connection.execute(update(challenges).where(known).values(remind_at=at))

    async def reminders_due(self, at: int) -> list[tuple[int, int]]:
        """Return (when due, number) of the challenges whose reminder is due at `at` (ms)."""
        query = select(challenges.c.remind_at, challenges.c.challenge_id).where(challenges.c.remind_at <= at)
        return [(row.remind_at, row.challenge_id) for row in await self._connection.execute(query)]
