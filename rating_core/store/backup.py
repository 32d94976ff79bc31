"""Backups of an SQLite book by SQLite's own backup API: a copied file under WAL would lose tables."""

import asyncio
import os
import sqlite3
from contextlib import closing
from pathlib import Path

from rating_core.failpoints import hit


class BackupFailed(Exception):
    """The copy could not be made or does not open."""


def _copy(source: Path, target: Path) -> None:
    partial = target.with_name(target.name + ".partial")
    try:
        with (
            closing(sqlite3.connect(f"file:{source}?mode=ro", uri=True)) as reader,
            closing(sqlite3.connect(partial)) as writer,
        ):
            reader.backup(writer)
            result = writer.execute("PRAGMA integrity_check").fetchone()[0]
            if result != "ok":
                raise BackupFailed(str(result))
            writer.execute("PRAGMA journal_mode=DELETE")
        descriptor = os.open(partial, os.O_RDWR)  # Windows flushes only what may be written
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        hit("backup_copied")
        partial.replace(target)
        hit("backup_named")
    except (sqlite3.Error, OSError) as error:
        raise BackupFailed(str(error)) from error
    finally:
        partial.unlink(missing_ok=True)


async def backup_sqlite(source: Path, folder: Path, label: str) -> Path:
    """Copy the database while it is in use to folder/<name>-<label>.db and return that path.

    An existing file of that name is kept and a number added. Raises BackupFailed.
    """
    return await asyncio.to_thread(_backup, source, folder, label)


def _backup(source: Path, folder: Path, label: str) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BackupFailed(str(error)) from error
    target = folder / f"{source.stem}-{label}.db"
    number = 1
    while target.exists():
        number += 1
        target = folder / f"{source.stem}-{label}-{number}.db"
    _copy(source, target)
    return target
