"""Is the book what was written? Looked at after every start and by /体检; what is wrong is told, once."""

from collections.abc import Awaitable, Callable

from nonebot.log import logger

from plugins.rating_bot.wording import integrity as wording
from rating_core.service.health import Health, examine
from rating_core.service.league import League
from rating_core.store.database import StorageFailed

Tell = Callable[[str, str, str], Awaitable[None]]
"""(kind, about, text): put it on the desk's list and, unless it was there already, tell desk and superusers."""


class Integrity:
    """What is known of the book's integrity."""

    def __init__(self, league: League, tell: Tell) -> None:
        self._league = league
        self._tell = tell
        self._told: set[tuple[str, str]] = set()
        self.last: Health | None = None
        """What the last check found."""

    async def examine(self) -> Health:
        """Check everything, tell what is wrong, return what was found. Raises StorageFailed."""
        found = self.last = await examine(self._league)
        if found.difference is not None:
            await self._say("differs", found.difference, wording.differs(found.difference))
        if found.snapshot_wrong is not None:
            await self._say("differs", "snapshot", wording.snapshot_wrong(found.snapshot_wrong))
        if found.broken_rights:
            rows = wording.rows_of(found.broken_rights)
            await self._say("broken_rights", rows, wording.broken_rights(found.broken_rights))
        await self.tell_damage()
        return found

    async def tell_damage(self) -> None:
        """Tell of a damaged ledger, whoever found it; once."""
        if (damage := self._league.damage) is not None:
            await self._say("damaged", f"账{damage.seq}", wording.damaged(damage))

    async def _say(self, kind: str, about: str, text: str) -> None:
        if (kind, about) in self._told:
            return
        logger.error(f"integrity {kind} {about}")
        try:
            await self._tell(kind, about, text)
        except StorageFailed as error:  # the next look tells
            logger.error(f"the desk could not be told: {error}")
        else:
            self._told.add((kind, about))
