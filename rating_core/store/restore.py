"""Putting a backup in the place of the database file: the file that was there is kept, nothing is half done.

What QQ has seen stays true: numbers that were given out after the backup are not given out again, and what the backup
still had to send is looked for in QQ's history before it is sent.
"""

import asyncio
import shutil
import sqlite3
from collections.abc import Mapping
from contextlib import closing, suppress
from pathlib import Path

from sqlalchemy import insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from rating_core.store.backup import BackupFailed, copy_sqlite, need_space, sync_file, sync_folder
from rating_core.store.tables import counters, outbox

COMPANIONS = ("-wal", "-shm")


async def copy_of_backup(backup: Path, folder: Path) -> Path:
    """Copy a backup into a folder, without touching it. Raises BackupFailed where SQLite cannot read all of it."""
    copy = folder / "restored.db"
    try:
        found = await asyncio.to_thread(copy_sqlite, backup, copy)
    except (sqlite3.Error, OSError) as error:
        raise BackupFailed(str(error)) from error
    if found is not None:
        raise BackupFailed(found)
    return copy


async def all_counters(connection: AsyncConnection) -> dict[str, int]:
    """Return the last number given out of each kind."""
    rows = await connection.execute(select(counters.c.name, counters.c.value))
    return {row.name: row.value for row in rows}


async def go_on_from(connection: AsyncConnection, given_out: Mapping[str, int]) -> None:
    """Let the copy go on where QQ is by now: `given_out` are the last numbers of each kind."""
    known = await all_counters(connection)
    for name, value in given_out.items():
        if name not in known:
            await connection.execute(insert(counters).values(name=name, value=value))
        elif value > known[name]:
            await connection.execute(update(counters).where(counters.c.name == name).values(value=value))
    # after the backup these may have gone out: they are looked for first; held answers were merged into others
    waiting = outbox.c.state.in_(("pending", "sending"))
    await connection.execute(update(outbox).where(waiting).values(state="unknown"))
    await connection.execute(update(outbox).where(outbox.c.state == "held").values(state="dropped"))


async def replace_file(path: Path, copy: Path, label: str) -> list[Path]:
    """Put `copy` in the place of the database `path`, whose file and journal are first copied beside it.

    They get the label in their names, and a number where there are such already. Return what stands aside. The caller
    holds the lock. Ended at any point it can be done again; until the last step the old file is there as a whole.
    Raises BackupFailed.
    """
    return await asyncio.to_thread(_replace, path, copy, label)


def _replace(path: Path, copy: Path, label: str) -> list[Path]:
    kept = []
    aside, number = path.with_name(f"{path.stem}-{label}{path.suffix}"), 1
    while aside.exists():
        number += 1
        aside = path.with_name(f"{path.stem}-{label}-{number}{path.suffix}")
    try:
        present = [one for suffix in ("", *COMPANIONS) if (one := Path(f"{path}{suffix}")).exists()]
        need_space(path.parent, sum(one.stat().st_size for one in present))
        for one in present:
            target = Path(f"{aside}{one.name[len(path.name) :]}")
            shutil.copy2(one, target)
            sync_file(target)
            kept.append(target)
        with closing(sqlite3.connect(copy)) as connection:
            connection.execute("PRAGMA journal_mode=DELETE")  # all of it in the one file
        sync_file(copy)
        sync_folder(path.parent)
        if path.exists():
            # the old journal must not be there when the new file is; what it holds goes into the old file
            with suppress(sqlite3.Error), closing(sqlite3.connect(path)) as connection:
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        for suffix in COMPANIONS:
            Path(f"{path}{suffix}").unlink(missing_ok=True)
        sync_folder(path.parent)
        copy.replace(path)
        sync_folder(path.parent)
    except (sqlite3.Error, OSError) as error:
        raise BackupFailed(str(error)) from error
    return kept
