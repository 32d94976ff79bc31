"""Backups of an SQLite book by SQLite's own backup API: a copied file under WAL would lose tables."""

import asyncio
import os
import shutil
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path

from rating_core.failpoints import hit

Check = Callable[[Path], Awaitable[str | None]]
"""Looks at a copy before it gets its name; returns what is wrong with it, None where nothing is."""
SPARE_BYTES = 20 * 1024 * 1024
"""What must be free beyond the copy itself: the book, too, has to grow."""


class BackupFailed(Exception):
    """The copy could not be made."""


class NoSpace(BackupFailed):
    """There is no room for it. Bytes."""

    def __init__(self, needed: int, free: int) -> None:
        super().__init__(f"{needed} bytes needed, {free} free")
        self.needed, self.free = needed, free


class BackupBroken(BackupFailed):
    """The copy was made and is no good; it is kept as `path` (….bad), to be looked at."""

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(why)
        self.path = path


async def backup_sqlite(source: Path, folder: Path, label: str, check: Check | None = None) -> Path:
    """Copy the database while it is in use to folder/<name>-<label>.db and return that path.

    The copy gets this name when it is written to the disk and found good. An existing file of that name is kept and a
    number added. Raises BackupFailed.
    """
    target = await asyncio.to_thread(_free_name, source, folder, label)
    partial = target.with_name(target.name + ".partial")
    try:
        why = await asyncio.to_thread(copy_sqlite, source, partial)
        if why is None and check is not None:
            why = await check(partial)
        if why is not None:
            bad = target.with_name(target.name + ".bad")
            partial.replace(bad)
            raise BackupBroken(bad, why)
        hit("backup_copied")
        partial.replace(target)
        hit("backup_named")
        await asyncio.to_thread(sync_folder, folder)
    except (sqlite3.Error, OSError) as error:
        raise BackupFailed(str(error)) from error
    finally:
        partial.unlink(missing_ok=True)
    return target


def _free_name(source: Path, folder: Path, label: str) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        size = sum(path.stat().st_size for path in (source, Path(f"{source}-wal")) if path.exists())
        need_space(folder, size)
    except OSError as error:
        raise BackupFailed(str(error)) from error
    folder = folder.resolve()
    target = folder / f"{source.stem}-{label}.db"
    number = 1
    while target.exists():
        number += 1
        target = folder / f"{source.stem}-{label}-{number}.db"
    return target


def need_space(folder: Path, size: int) -> None:
    """Raise NoSpace where `size` more bytes would leave too little for the book."""
    free = shutil.disk_usage(folder).free
    if free < size + SPARE_BYTES:
        raise NoSpace(size + SPARE_BYTES, free)


def copy_sqlite(source: Path, target: Path) -> str | None:
    """Copy, check what SQLite can check, flush to the disk. Return what SQLite finds wrong.

    Raises sqlite3.Error or OSError.
    """
    target.unlink(missing_ok=True)
    with (
        closing(sqlite3.connect(f"{source.resolve().as_uri()}?mode=ro", uri=True)) as reader,
        closing(sqlite3.connect(target)) as writer,
    ):
        reader.backup(writer)
        found = str(writer.execute("PRAGMA integrity_check").fetchone()[0])
        writer.execute("PRAGMA journal_mode=DELETE")
    sync_file(target)
    return None if found == "ok" else found


def sync_file(path: Path) -> None:
    """Have a file's content written to the disk."""
    descriptor = os.open(path, os.O_RDWR)  # Windows flushes only what may be written
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_folder(folder: Path) -> None:
    """Have a folder's names written to the disk; Windows does so by itself."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
