"""The sandbox's own book: the one file it may use, and erase to begin anew. Every other database is refused."""

from pathlib import Path

from filelock import FileLock, Timeout

from plugins.rating_bot.settings import Settings
from rating_core.store.database import sqlite_path

from .scene import BOT, OFFICIAL, SCORING

URL = "sqlite+aiosqlite:///data/sandbox.db"
SUFFIXES = ("", "-wal", "-shm", "-journal")


class NotOurs(Exception):
    """This is not the sandbox's own book; the text says in Chinese why not."""


def own_book(settings: Settings) -> Path:
    """Return the sandbox's file. Raises NotOurs outside the sandbox, for another database, and for a link to one."""
    made_up = {str(OFFICIAL), str(SCORING)}
    if settings.groups != made_up or settings.bot_ids != (str(BOT),):
        raise NotOurs("这不是沙盒：群和机器人的QQ号不是沙盒里的。")
    path = sqlite_path(settings.database_url)
    if settings.database_url != URL or path is None:
        raise NotOurs("沙盒只用 data/sandbox.db，不碰别的数据库。")
    if path.is_symlink() or (path.exists() and (not path.is_file() or path.stat().st_nlink > 1)):
        raise NotOurs("data/sandbox.db 是指向别的文件的链接，沙盒不用它。请把它挪走。")
    return path


def erase(settings: Settings) -> None:
    """Delete the sandbox's book while nobody has it open. Raises NotOurs; then nothing is deleted."""
    path = own_book(settings)
    lock = FileLock(f"{path}.lock")
    try:
        lock.acquire(blocking=False)
    except Timeout:
        raise NotOurs("另一个沙盒正在用 data/sandbox.db。") from None
    try:
        for suffix in SUFFIXES:
            path.with_name(path.name + suffix).unlink(missing_ok=True)
    finally:
        lock.release()
