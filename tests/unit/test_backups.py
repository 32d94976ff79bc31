"""Backups: tried out before they have their name, dropped in their time."""

import os
import shutil
import sqlite3
import sys
from contextlib import closing
from datetime import datetime
from pathlib import Path

import pytest

from rating_core.ledger import Adjustment, Draft, PlayerRegistered
from rating_core.service import backups
from rating_core.service.backups import BackupInterrupted, daily_backups, drop_old, make_backup
from rating_core.service.league import League
from rating_core.store.backup import BackupBroken, BackupFailed, NoSpace
from rating_core.times import SHANGHAI
from tests.support.engines import SQLITE

POOL = "单跳1v1"


@pytest.fixture(scope="module")
def engine() -> str:
    return SQLITE


@pytest.fixture
async def file(league: League) -> Path:
    """A book of three rows, and an account."""
    async with league.transaction() as tx:
        await tx.append(Draft(PlayerRegistered(1, 2000.0, "普通"), tx.now, 0))
        await tx.append(Draft(Adjustment(1, 5.0), tx.now, 0, POOL))
        await tx.append(Draft(Adjustment(1, 7.0), tx.now, 0, POOL))
        await tx.account("10001")
    assert league.database.path is not None
    return league.database.path


def spoil(file: Path, *statements: str) -> None:
    with closing(sqlite3.connect(file)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


async def test_a_good_copy_gets_its_name(file: Path, tmp_path: Path) -> None:
    made = await make_backup(file, tmp_path / "backups", "daily-20261130")
    assert made == tmp_path / "backups" / "ratings-daily-20261130.db"
    assert [path.name for path in made.parent.iterdir()] == [made.name]


@pytest.mark.parametrize(
    ("statements", "why"),
    [
        (("DROP TRIGGER ledger_no_update", "UPDATE ledger SET said_at = said_at + 1 WHERE seq = 2"), "账2"),
        (("DROP TRIGGER ledger_no_update", "UPDATE ledger SET payload = '{' WHERE seq = 2"), "账2"),
        (("DROP TRIGGER ledger_no_delete", "DELETE FROM ledger WHERE seq = 3"), "账3"),
        (("UPDATE accounts SET qq = '10002'",), "accounts 1"),
        (("DROP TABLE ledger_head",), "ledger_head"),
    ],
)
async def test_a_copy_that_is_no_good_does_not_count(
    file: Path, tmp_path: Path, statements: tuple[str, ...], why: str
) -> None:
    spoil(file, *statements)
    with pytest.raises(BackupBroken, match=why) as raised:
        await make_backup(file, tmp_path / "backups", "daily-20261130")
    assert raised.value.path.name == "ratings-daily-20261130.db.bad"
    assert list((tmp_path / "backups").iterdir()) == [raised.value.path]
    assert daily_backups(tmp_path / "backups", "ratings") == {}


async def test_no_room_is_said_before_anything_is_written(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=1_000_000))
    with pytest.raises(NoSpace) as raised:
        await make_backup(file, tmp_path / "backups", "x")
    assert raised.value.free == 1_000_000 < raised.value.needed
    assert list((tmp_path / "backups").iterdir()) == []


async def test_a_folder_with_odd_signs_in_its_name(file: Path, tmp_path: Path) -> None:
    folder = tmp_path / "a #50%& 记分"
    folder.mkdir()
    copy = folder / file.name
    shutil.copy(file, copy)
    shutil.copy(f"{file}-wal", f"{copy}-wal")
    made = await make_backup(copy, folder / "backups", "x")
    assert made.is_file()
    with pytest.raises(BackupFailed):
        await make_backup(folder / "none.db", folder / "backups", "x")


async def test_a_stop_while_a_copy_is_tried_out_is_no_verdict(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """systemd ends all processes of a service, this one too (sh -m rating_core runs the file of that name)."""
    monkeypatch.setattr(sys, "executable", shutil.which("sh"))
    script = tmp_path / "rating_core"
    script.write_text("kill $$; sleep 60")
    monkeypatch.setattr(backups, "ROOT", tmp_path)
    with pytest.raises(BackupInterrupted):
        await make_backup(file, tmp_path / "backups", "x")
    assert list((tmp_path / "backups").iterdir()) == []


def test_what_is_old_is_dropped(tmp_path: Path) -> None:
    def put(name: str, day: str) -> None:
        path = tmp_path / name
        path.write_text("")
        made = datetime.fromisoformat(f"{day} 05:00").replace(tzinfo=SHANGHAI).timestamp()
        os.utime(path, (made, made))

    for day in range(1, 31):
        put(f"ratings-daily-202611{day:02}.db", f"2026-11-{day:02}")
    put("ratings-daily-20261029.db", "2026-10-29")
    put("ratings-daily-20261030.db", "2026-10-30")
    put("ratings-daily-20251130.db", "2025-11-30")
    put("ratings-20251201-120000.db", "2025-12-01")
    put("ratings-20251130-120000.db", "2025-11-30")
    put("ratings-before-0002.db", "2025-03-01")
    put("other-20200101-120000.db", "2020-01-01")
    put("ratings-notes.txt", "2020-01-01")
    put("ratings-daily-20251120.db.bad", "2025-11-20")
    put("ratings-daily-20261127.db.partial", "2026-11-27")
    put("ratings-daily-20261130.db.partial", "2026-11-30")
    for day in range(20, 24):
        put(f"ratings-daily-202611{day}.db.bad", f"2026-11-{day}")
    drop_old(tmp_path, "ratings")
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {
        *(f"ratings-daily-202611{day:02}.db" for day in (1, 8, 15, 22, *range(24, 31))),
        "ratings-daily-20261030.db", "ratings-20251201-120000.db", "other-20200101-120000.db", "ratings-notes.txt",
        "ratings-daily-20261122.db.bad", "ratings-daily-20261123.db.bad", "ratings-daily-20261130.db.partial",
    }  # fmt: skip
    assert drop_old(tmp_path, "ratings") == []
    (tmp_path / "ratings-daily-20261122.db.bad").unlink()
    put("ratings-daily-20261123.db.bad", "2025-11-23")
    assert drop_old(tmp_path, "ratings") == [tmp_path / "ratings-daily-20261123.db.bad"]
