"""The running parts, as handlers and jobs see them."""

import tomllib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from plugins.rating_bot.clock import Clock
from plugins.rating_bot.settings import Settings
from plugins.rating_bot.wire.files import GroupFiles
from rating_core.service.health import Health
from rating_core.service.league import League
from rating_core.service.people import Member

BACKUPS = "backups"
"""Folder of backups beside the database."""


@dataclass(frozen=True, slots=True)
class Runtime:
    """League, settings and clock, and the ways to ask QQ who is in a group and for its files."""

    league: League
    settings: Settings
    clock: Clock
    data: Path
    """Folder of the database's companions: backups."""
    members: Callable[[str], Awaitable[list[Member]]]
    """Group → its members as QQ tells. Raises an OneBot error when QQ does not answer."""
    files: GroupFiles
    examine: Callable[[], Awaitable[Health]]
    """Check the whole book; what is wrong is told to desk and superusers. Raises StorageFailed."""

    @property
    def backups(self) -> Path:
        return self.data / BACKUPS

    @property
    def last_backup_at(self) -> int | None:
        """When the newest backup file was made (ms), None if there is none."""
        times = [path.stat().st_mtime for path in self.backups.glob("*.db")]
        return int(max(times) * 1000) if times else None


def bot_version() -> str:
    """Return our own version, from pyproject.toml: the bot runs from its folder without being installed."""
    project = Path(__file__).resolve().parents[2] / "pyproject.toml"
    return str(tomllib.loads(project.read_text("utf-8"))["project"]["version"])
