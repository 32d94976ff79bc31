"""A dump of a PostgreSQL book, by PostgreSQL's own pg_dump."""

import asyncio
import os
import shutil
import subprocess
from pathlib import Path

from sqlalchemy.engine import URL

from rating_core.store.backup import BackupFailed


async def dump(url: URL, folder: Path, label: str) -> Path | None:
    """Write folder/<database>-<label>.dump, which pg_restore reads, and return it; None where pg_dump is not installed.

    Raises BackupFailed.
    """
    return await asyncio.to_thread(_dump, url, folder, label)


def _dump(url: URL, folder: Path, label: str) -> Path | None:
    program = shutil.which("pg_dump")
    if program is None:
        return None
    target = folder / f"{url.database}-{label}.dump"
    partial = target.with_name(target.name + ".partial")
    address = url.set(drivername="postgresql", password=None).render_as_string()
    secret = {"PGPASSWORD": str(url.password)} if url.password else {}  # as an argument everybody would see it
    try:
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(
            [program, "--format=custom", "--no-password", f"--file={partial}", f"--dbname={address}"],
            env=os.environ | secret, check=True, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8",
            errors="replace",
        )  # fmt: skip
        partial.replace(target)
    except subprocess.CalledProcessError as error:
        raise BackupFailed(error.stderr.strip()) from error
    except OSError as error:
        raise BackupFailed(str(error)) from error
    finally:
        partial.unlink(missing_ok=True)
    return target
