"""Backups that were tried out: each is opened and folded in a process of its own before it gets its name."""

import asyncio
import re
import signal
import sys
from datetime import date, datetime, timedelta
from pathlib import Path

from rating_core.retention import MONTHLY, kept
from rating_core.store.backup import BackupFailed, backup_sqlite
from rating_core.times import SHANGHAI

DAILY = "daily-"
ROOT = Path(__file__).resolve().parents[2]
PATIENCE_SECONDS = 900
BAD_KEPT = 2
"""Copies that were no good, kept to be looked at."""


class BackupInterrupted(BackupFailed):
    """Everything is being stopped: nothing is known of the copy, which is gone."""


async def make_backup(source: Path, folder: Path, label: str) -> Path:
    """Copy an SQLite book, also while it is in use, and try the copy out. Raises BackupFailed."""
    return await backup_sqlite(source, folder, label, try_out)


async def try_out(copy: Path) -> str | None:
    """Open and fold a copy (its whole path) in a process of its own, beside all else; return what is wrong with it.

    Raises BackupInterrupted.
    """
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "rating_core", "replay", "--verify", "--database", str(copy), cwd=ROOT,
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            said, errors = await process.communicate()
    except TimeoutError:
        return f"not folded within {PATIENCE_SECONDS} s"
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode == 0:
        return None
    if process.returncode in (-signal.SIGTERM, -signal.SIGINT):
        raise BackupInterrupted("the process that tried it out was told to end")
    lines = (said or errors).decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else f"exit code {process.returncode}"


def daily_label(day: date) -> str:
    return f"{DAILY}{day:%Y%m%d}"


def daily_backups(folder: Path, stem: str) -> dict[Path, date]:
    """Return the daily backups of a book with their days."""
    pattern = re.compile(re.escape(f"{stem}-{DAILY}") + r"([0-9]{8})(?:-[0-9]+)?\.db")
    found = {}
    for path in folder.glob("*.db"):
        if (match := pattern.fullmatch(path.name)) is not None:
            found[path] = date.fromisoformat(match[1])
    return found


def drop_old(folder: Path, stem: str) -> list[Path]:
    """Delete the backups that are not kept any more; return them.

    Daily ones go by `kept`; all others the bot made (by hand, before an upgrade or an import) with the month in which
    the oldest monthly one goes; of those that were no good the newest few stay until then.
    """
    daily = daily_backups(folder, stem)
    if not daily:
        return []
    stay, newest = kept(daily.values()), max(daily.values())
    old = [path for path, day in daily.items() if day not in stay]
    bad = sorted(folder.glob(f"{stem}-*.db.bad"), key=lambda path: path.stat().st_mtime)
    old += bad[:-BAD_KEPT]
    for path in (*folder.glob(f"{stem}-*.db"), *bad[-BAD_KEPT:]):
        made = datetime.fromtimestamp(path.stat().st_mtime, SHANGHAI)
        months = (newest.year - made.year) * 12 + newest.month - made.month
        if path not in daily and months >= MONTHLY:
            old.append(path)
    for path in folder.glob(f"{stem}-*.db.partial"):  # of a process that was killed
        if datetime.fromtimestamp(path.stat().st_mtime, SHANGHAI).date() < newest - timedelta(days=1):
            old.append(path)
    for path in old:
        path.unlink(missing_ok=True)
    return old
