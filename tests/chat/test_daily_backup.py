"""The day's backup: once a day from 4:00 on, told of when it fails, tried again the next day."""

import shutil
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from datetime import datetime
from pathlib import Path

import pytest

from rating_core.times import SHANGHAI, to_ms
from tests.support.rig import OWNER, SCORING, Rig, running_rig


@pytest.fixture
async def rig(tmp_path: Path) -> AsyncIterator[Rig]:
    async with running_rig(tmp_path) as rig:
        await rig.league_of("张三", "李四")
        yield rig


async def at(rig: Rig, text: str) -> list[str]:
    """Let it be so late, and the hourly look happen; return what backups there are."""
    rig.clock.at = to_ms(datetime.fromisoformat(text).replace(tzinfo=SHANGHAI))
    assert rig.parts is not None
    await rig.parts.backup.run()
    await rig.idle()
    return sorted(path.name for path in (rig.folder / "backups").iterdir())


async def test_once_a_day_from_four_on(rig: Rig) -> None:
    assert await at(rig, "2026-12-01 03:00") == ["ratings-daily-20261130.db"]
    first = ["ratings-daily-20261130.db", "ratings-daily-20261201.db"]
    assert await at(rig, "2026-12-01 04:00") == first
    for hour in ("05:00", "23:00"):
        assert await at(rig, f"2026-12-01 {hour}") == first
    await rig.stop()
    await rig.start()
    assert await at(rig, "2026-12-02 03:00") == first
    assert await at(rig, "2026-12-04 19:00") == [*first, "ratings-daily-20261204.db"]
    (health,) = await rig.say("小周", "/体检", SCORING)
    assert "体检：正常" in health


async def test_no_room(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage(rig.folder)
    with monkeypatch.context() as full:
        full.setattr(shutil, "disk_usage", lambda path: usage._replace(free=1_000_000))
        assert await at(rig, "2026-12-01 04:00") == []
        assert await at(rig, "2026-12-01 05:00") == []
    told = [message.text for message in rig.qq.said_by_bot(SCORING) if "备份没有做成" in message.text]
    assert len(told) == 1 and "磁盘只剩1 MB" in told[0]
    assert [m.text for m in rig.qq.private_history(OWNER) if "备份没有做成" in m.text] == told
    assert await at(rig, "2026-12-01 23:00") == []
    assert await at(rig, "2026-12-02 04:00") == ["ratings-daily-20261202.db"]


async def test_a_copy_that_is_no_good_tells_of_the_book(rig: Rig) -> None:
    """Nobody looked at the file since the start; the copy of it is looked at."""
    with closing(sqlite3.connect(rig.folder / "ratings.db")) as connection:
        connection.execute("DROP TRIGGER ledger_no_update")
        connection.execute("UPDATE ledger SET said_at = said_at + 1 WHERE seq = 2")
        connection.commit()
    assert await at(rig, "2026-12-01 04:00") == ["ratings-daily-20261201.db.bad"]
    said = [message.text for message in rig.qq.said_by_bot(SCORING)]
    assert any("打开重算时没通过" in text and "账2" in text for text in said), said
    assert any("账2和写下时不一样" in text for text in said), said
    assert rig.league.damage is not None


async def test_by_hand(rig: Rig) -> None:
    (answer,) = await rig.say("小周", "/备份", SCORING)
    assert "已备份：ratings-" in answer and "打开重算过" in answer
