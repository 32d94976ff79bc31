"""The day's backup: made at 4:00, or at the first full hour after that, tried out, and the old ones dropped."""

from collections.abc import Awaitable, Callable
from datetime import date, timedelta

from nonebot.log import logger

from plugins.rating_bot.runtime import Runtime
from plugins.rating_bot.wording import desk as wording
from rating_core.service.backups import BackupInterrupted, daily_backups, daily_label, drop_old, make_backup
from rating_core.store.backup import BackupBroken, BackupFailed
from rating_core.store.database import StorageFailed
from rating_core.times import to_datetime

BEGIN = timedelta(hours=4)
"""A day of backups begins at 4:00."""


class DailyBackup:
    """Looks whether the day has its backup (SQLite only; PostgreSQL has its own). `tell`: see integrity.Tell."""

    def __init__(self, runtime: Runtime, tell: Callable[[str, str, str], Awaitable[None]]) -> None:
        self._runtime = runtime
        self._tell = tell
        self._tried: date | None = None

    async def run(self) -> None:
        """Make it if it is not there; one that fails is tried again the next day, or after the next start."""
        runtime = self._runtime
        source = runtime.league.database.path
        day = (to_datetime(runtime.clock.now()) - BEGIN).date()
        if source is None or self._tried == day or day in daily_backups(runtime.backups, source.stem).values():
            return
        self._tried = day
        try:
            made = await make_backup(source, runtime.backups, daily_label(day))
        except BackupInterrupted as error:
            logger.warning(f"the daily backup was interrupted: {error}")
            self._tried = None
            return
        except BackupFailed as error:
            await self._failed(day, error)
            return
        dropped = drop_old(runtime.backups, source.stem)
        logger.info(f"backup made: {made.name}; dropped: {len(dropped)}")

    async def _failed(self, day: date, error: BackupFailed) -> None:
        logger.error(f"the daily backup failed: {error}")
        try:
            await self._tell("failed_backup", f"{day:%m-%d}", wording.daily_backup_failed(error))
            if isinstance(error, BackupBroken):
                await self._runtime.examine()  # is the book itself damaged?
        except StorageFailed as untold:
            logger.error(f"the desk could not be told: {untold}")
