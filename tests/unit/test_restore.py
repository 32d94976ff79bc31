"""restore: what is checked, what is said, what is kept, and that numbers go on where QQ is."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from rating_core.ledger import Adjustment, Draft, Games, PlayerRegistered
from rating_core.service.league import League
from rating_core.store.backup import backup_sqlite
from rating_core.store.database import Database, ProcessLock
from rating_core.store.ledger_store import LedgerStore
from tests.support.rows import line
from tests.support.shell import empty_folder, run, with_league

POOL = "单跳1v1"
FILE = Path("data/ratings.db")
URL = f"sqlite+aiosqlite:///{FILE}"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return empty_folder(tmp_path, monkeypatch)


async def play(league: League, result: str) -> None:
    async with league.transaction() as tx:
        report, game = await tx.counters.take("report"), await tx.counters.take("game")
        await tx.append(Draft(Games(report, game, tx.now, 1.0, (line(1, result, 2),), 0), tx.now, 0, POOL))
        await tx.outbox.add(chat="g1", text=f"收到 #{report}", kind="ack", about=f"#{report}", created_at=tx.now)


@pytest.fixture
def backup() -> Path:
    """A backup of a book with one game; two more games, an adjustment and a journal line came later."""
    made: list[Path] = []

    async def before(league: League) -> None:
        async with league.transaction() as tx:
            for player, name in ((1, "张三"), (2, "李四")):
                await tx.append(Draft(PlayerRegistered(player, 2000.0, "普通"), tx.now, 0))
                await tx.name_player(player, name)
        await play(league, "W")
        made.append(await backup_sqlite(FILE, FILE.parent / "backups", "daily-20261130"))
        await play(league, "D")
        await play(league, "L")
        async with league.transaction() as tx:
            await tx.append(Draft(Adjustment(1, 5.0), tx.now, 0, POOL))
            await tx.journal(await tx.actor("10001"), tx.now, "调整", player=1, detail="+5")

    with_league(URL, before)
    return made[0]


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file() and path.suffix not in (".lock", ".db-shm"))
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def query(sql: str, file: Path = FILE) -> list[Any]:
    with closing(sqlite3.connect(file)) as connection:
        found = connection.execute(sql).fetchall()
        connection.commit()
    return found


def test_a_dry_run_says_what_would_be_lost_and_changes_nothing(backup: Path, folder: Path) -> None:
    before = contents(folder)
    status, said = run("restore", str(backup))
    assert status == 0, said
    assert "备份 ratings-daily-20261130.db：账本3行" in said and "对局1盘；哈希链完整，重算通过" in said
    assert "备份之后的记录共3行，恢复后就没有了：报分2行、调整1行" in said
    assert "账4 2026-11-30 12:08 报分 单跳1v1 #2 张三 平 李四" in said
    assert "账6 2026-11-30 12:08 调整 单跳1v1 张三" in said
    assert "操作共1条" in said and "调整 张三（+5）" in said
    assert "备份之后给出的报分编号：#2—#3，不会再用" in said
    assert said.splitlines()[-1].startswith("以上是试算，什么也没有改。")
    assert contents(folder) == before


def test_restored_numbers_go_on_and_nothing_is_sent_blindly(backup: Path, folder: Path) -> None:
    old = FILE.read_bytes()
    status, said = run("restore", str(backup), "--yes")
    assert status == 0 and "已恢复到 data/ratings.db" in said, said
    aside = Path("data/ratings-replaced-20261130-120800.db")
    assert str(aside) in said and (aside.read_bytes() == old or Path(f"{aside}-wal").exists())
    assert query("SELECT count(*) FROM ledger", aside) == [(6,)]
    assert query("SELECT count(*) FROM ledger") == [(3,)]
    assert query("SELECT about, state FROM outbox") == [("#1", "unknown")]
    assert query("SELECT kind, detail FROM docket") == [("restored", "ratings-daily-20261130.db（账4起3行不在里面）")]
    assert not list(folder.glob("data/*restoring*")) and run("replay", "--verify")[0] == 0

    async def on(league: League) -> None:
        await play(league, "W")
        (row,) = (await LedgerStoreOf(league).rows())[3:]
        assert row["report"] == 4 and row["first"] == 4

    with_league(URL, on)
    assert backup.is_file() and query("SELECT count(*) FROM ledger", backup) == [(3,)]


class LedgerStoreOf:
    """The payloads of a league's ledger."""

    def __init__(self, league: League) -> None:
        self._league = league

    async def rows(self) -> list[dict[str, Any]]:
        async with self._league.database.read() as connection:
            return [row.entry().payload() async for row in LedgerStore(connection).rows_after(0)]


def test_over_a_file_that_cannot_be_read(backup: Path) -> None:
    """Nobody can say what was in it; numbers jump, so that none is given out twice."""
    for suffix in ("-wal", "-shm"):
        Path(f"{FILE}{suffix}").unlink(missing_ok=True)
    FILE.write_bytes(b"no database" * 1000)
    status, said = run("restore", str(backup))
    assert status == 0 and "现在的文件缺失或读不全" in said
    status, said = run("restore", str(backup), "--yes")
    assert status == 0 and "新编号往后跳1000" in said, said
    assert Path("data/ratings-replaced-20261130-120800.db").read_bytes() == b"no database" * 1000
    assert query("SELECT value FROM counters WHERE name = 'report'") == [(1001,)]


def test_over_nothing(backup: Path) -> None:
    for path in FILE.parent.glob("ratings.db*"):
        path.unlink()
    status, said = run("restore", str(backup), "--yes")
    assert status == 0 and "原来的文件留在" not in said, said
    assert run("replay", "--verify")[0] == 0


def test_over_a_damaged_row(backup: Path) -> None:
    query("DROP TRIGGER ledger_no_update")
    query("UPDATE ledger SET said_at = said_at + 1 WHERE seq = 2")
    status, said = run("restore", str(backup), "--yes")
    assert status == 0 and "账2和备份里的不一样，恢复后以备份为准" in said, said
    assert run("replay", "--verify")[0] == 0


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        ("UPDATE ledger SET said_at = said_at + 1 WHERE seq = 2", "从账2起和写下时不一样，不能用"),
        ("DELETE FROM ledger WHERE seq = 3", "从账3起"),
        ("UPDATE alembic_version SET version_num = '9999'", "更新的版本写的"),
        ("DROP TABLE alembic_version", "不是机器人的数据库"),
    ],
)
def test_a_backup_that_is_no_good_is_refused(backup: Path, folder: Path, spoil: str, why: str) -> None:
    for statement in ("DROP TRIGGER ledger_no_update", "DROP TRIGGER ledger_no_delete", spoil):
        query(statement, backup)
    before = contents(folder)
    for more in ((), ("--yes",)):
        status, said = run("restore", str(backup), *more)
        assert status == 1 and why in said, said
    assert contents(folder) == before


def test_what_is_no_backup(backup: Path, folder: Path) -> None:
    status, said = run("restore", "data/backups/none.db", "--yes")
    assert status == 1 and "没有备份" in said and str(Path("data/backups") / backup.name) in said
    Path("text.db").write_text("hello " * 1000)
    status, said = run("restore", "text.db", "--yes")
    assert status == 1 and "原来的文件没有动" in said
    assert run("restore", str(backup), "--database", "postgresql://host/name")[0] == 1


def test_not_while_the_bot_runs(backup: Path) -> None:
    async def hold() -> tuple[int, str]:
        database = await Database.open(f"sqlite+aiosqlite:///{FILE}")
        lock = ProcessLock(database)
        assert await lock.try_acquire()
        try:
            assert (await asyncio.to_thread(run, "restore", str(backup)))[0] == 0
            return await asyncio.to_thread(run, "restore", str(backup), "--yes")
        finally:
            await lock.release()
            await database.close()

    status, said = asyncio.run(hold())
    assert status == 1 and "机器人在运行" in said
    assert query("SELECT count(*) FROM ledger") == [(6,)]


def test_rights_are_listed_and_cleared(backup: Path) -> None:
    async def bind(league: League) -> None:
        async with league.transaction() as tx:
            await tx.bind(await tx.account("10001"), 1, by=0)

    with_league(URL, bind)
    assert run("rights") == (0, "权限表每行完好。\n")
    query("UPDATE accounts SET player_id = 2")
    status, said = run("rights")
    assert status == 1 and "权限表有1行" in said and "accounts 1" in said
    status, said = run("replay", "--verify")
    assert status == 1 and "权限表有1行" in said
    assert run("rights", "--drop")[0] == 0 and query("SELECT count(*) FROM accounts") == [(0,)]
    assert run("rights")[0] == 0
