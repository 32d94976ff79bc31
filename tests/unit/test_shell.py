"""The operator's shell (commands.md): what it says, its exit codes, and that it keeps out of the bot's way."""

import asyncio
import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from plugins.rating_bot.handlers.dispatch import load_handlers
from plugins.rating_bot.handlers.people import reserved
from rating_core.importing.planner import RESERVED
from rating_core.ledger import Draft, Games
from rating_core.service.league import League
from rating_core.shell import wording
from rating_core.shell.opening import DEFAULT_URL, database_url
from rating_core.store.database import Database, ProcessLock
from tests.support.rows import line
from tests.support.shell import NOW, empty_folder, run, with_league

ROOT = Path(__file__).resolve().parents[2]
POOL = "单跳1v1"
ROSTER = (
    "名字,QQ,名次,等级分,胜,平,负,历史最高分,最高分日期,本季盘数,日期\n"
    "张三,10001,冠军,2351.25,40,5,15,2400,2024-05-06,12,2026-11-01\n"
    "李四,10002,,2050,3,0,2,,,5,2026-11-01\n"
    "王五,10003,16强,,,,,,,,\n"
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder, at a fixed time, without settings in the environment."""
    (tmp_path / "roster.csv").write_text(ROSTER, "utf-8")
    return empty_folder(tmp_path, monkeypatch)


@pytest.fixture
def imported(folder: Path) -> str:
    """The roster, imported into the default database, and one report."""
    assert run("import", "roster.csv", "--yes")[0] == 0

    async def play(league: League) -> None:
        async with league.transaction() as tx:
            lines = (line(1, "W", 2), line(1, "D", 2))
            await tx.append(Draft(Games(1, 1, tx.now, 1.0, lines, 0), tx.now, 0, POOL))

    with_league(DEFAULT_URL, play)
    return str(folder / "data" / "ratings.db")


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


# --- import -----------------------------------------------------------------------------------------------


def test_a_trial_run_shows_the_board_and_writes_nothing(folder: Path) -> None:
    status, said = run("import", "roster.csv")
    assert status == 0
    assert "按UTF-8、逗号分隔读取，认出的列：名字、QQ、名次" in said
    assert "共3行：新棋手3人（绑定QQ 3个），期初分2条，已在榜0行，有错0行。" in said
    assert "2200分以上、还没有核验IP" in said and "：张三。" in said
    lines = said.splitlines()
    board = lines.index("单跳1v1 等级分排行榜 2026-11-30（2人）")
    assert lines[board + 2].split() == ["1", "张三", "2351", "60", "40", "5", "15", "2400（2024-05-06）"]
    assert lines[board + 3].split() == ["2", "李四", "1900", "5", "3", "0", "2", "差15盘"]
    assert lines[-1] == "以上是试算，什么也没有写入。没有问题就加 --yes 写入。"
    assert files(folder) == {"roster.csv"}


def test_writing_and_writing_again(folder: Path) -> None:
    status, said = run("import", "roster.csv", "--yes")
    assert (status, said.splitlines()[-1]) == (0, "已写入：新棋手3人，绑定QQ 3个，期初分2条。")
    assert "张三" in run("board")[1]
    for arguments in (("import", "roster.csv"), ("import", "roster.csv", "--yes")):
        status, said = run(*arguments)
        assert status == 0
        assert "已在榜3行" in said and said.splitlines()[-1] == "没有新的内容，不用导入。"


def test_mistakes_are_named_and_nothing_is_written(folder: Path) -> None:
    (folder / "roster.csv").write_text(ROSTER + "12345,1,,,,,,,,,\n李四,,,,,,,,,,\n", "gb18030")
    for arguments in (("import", "roster.csv", "--yes"), ("import", "roster.csv")):
        status, said = run(*arguments)
        assert status == 1
        lines = said.splitlines()
        assert lines[0].startswith("按GB18030（GBK）、逗号分隔")
        assert [text.partition("：")[0] for text in lines if text.startswith("第")] == [
            "第5行「名字」", "第5行「QQ」", "第6行「名字」",
        ]  # fmt: skip
        assert lines[-1] == "有错，什么也没有写入。改好上面各行再来一次。"
    assert run("board")[1].splitlines()[-1] == "还没有人上榜。"


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("none.csv", None, "打不开 none.csv"),
        (".", None, "打不开 ."),
        ("book.xlsx", b"PK\x03\x04", "工作簿打不开"),
        ("old.xls", b"\xd0\xcf\x11\xe0", "另存为 .xlsx"),
        ("big.csv", b"\xe5\x90\x8d" * 2_000_000, "文件有6000000字节，最多5000000字节"),
    ],
)
def test_files_that_are_no_roster(folder: Path, name: str, content: bytes | None, says: str) -> None:
    if content is not None:
        (folder / name).write_bytes(content)
    status, said = run("import", name, "--yes")
    assert status == 1 and says in said
    assert not (folder / "data").exists()


def test_a_big_file_is_not_even_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "big.csv").write_bytes(b"a" * 20_000_001)
    monkeypatch.setattr(Path, "read_bytes", lambda self: pytest.fail("read"))
    assert run("import", "big.csv")[0] == 1


def test_no_name_can_be_a_word_of_the_chat() -> None:
    """The shell does not load the bot, so it has its own list of words; the bot's may not be longer."""
    load_handlers()
    assert {word.replace(" ", "") for word in reserved()} <= RESERVED


# --- board ------------------------------------------------------------------------------------------------


def test_board(imported: str) -> None:
    status, said = run("board")
    lines = said.splitlines()
    assert status == 0
    assert lines[0] == "单跳1v1 等级分排行榜 2026-11-30（2人）"
    assert lines[1].split() == ["名次", "棋手", "等级分", "盘数", "胜", "平", "负", "历史最高分"]
    assert [text.split()[1] for text in lines[2:4]] == ["张三", "李四"]
    assert lines[-2:] == ["未满20盘的按差的盘数降低显示分（L12）。", "表格主编：挑战者"]
    assert "……还有1人" in run("board", "--top", "1")[1]
    assert run("board", "--pool", "单跳2v2")[1].splitlines() == [
        "单跳2v2 等级分排行榜 2026-11-30（0人）",
        "还没有人上榜。",
    ]
    assert run("board", "--pool", "围棋") == (1, "没有「围棋」这个榜。可用的榜：单跳1v1、单跳2v2、空跳2v2。")


def test_board_as_json(imported: str) -> None:
    status, said = run("board", "--json", "--top", "1")
    data = json.loads(said)
    assert status == 0
    assert (data["pool"], data["day"], data["needed_games"], data["players"]) == (POOL, "2026-11-30", 20, 2)
    assert data["credit"] == "挑战者"
    (row,) = data["rows"]
    assert (row["rank"], row["name"], row["games"], row["peak"], row["peak_day"]) == (1, "张三", 62, 2400, "2024-05-06")
    assert row["shown"] == row["rating"] and row["rating"] != round(row["rating"])


def test_columns_line_up_on_the_screen() -> None:
    text = wording.table(("名次", "a", ""), [("1", "老 顽童", "x"), ("10", "b", "")])
    assert text.splitlines() == ["名次  a", "1     老 顽童  x", "10    b"]


# --- calc -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "left", "right"),
    [
        (("2000", "胜", "2000"), "2016.0（+16.0）", "1984.0（-16.0）"),
        (("2000", "胜", "2200"), "2024.3（+24.3）", "2181.8（-18.2）"),
        (("2000", "负", "2200"), "1992.3（-7.7）", "2205.8（+5.8）"),
        (("1613", "平", "1573"), "1611.2（-1.8）", "1574.8（+1.8）"),
        (("2000", "胜", "2400", "2"), "2058.2（+58.2）", "2370.9（-29.1）"),
    ],
)
def test_calc(arguments: tuple[str, ...], left: str, right: str) -> None:
    status, said = run("calc", *arguments)
    assert status == 0
    assert f"左边 {left}" in said and f"右边 {right}" in said


def test_calc_fills_the_formula_in() -> None:
    assert run("calc", "2000", "胜", "2200", "1.2")[1].splitlines() == [
        "2000 胜 2200，系数1.2",
        "左边 2029.2（+29.2）= 2000 + 32×1.2×(1 − 0.2403)",
        "右边 2178.1（-21.9）= 2200 + 24×1.2×(0 − 0.7597)",
        "We = 1 / (10^(-dr/400) + 1) = 0.2403（左）、0.7597（右），dr = -200",
    ]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [(("2000", "赢", "2200"), "「赢」不是结果"), (("2000", "胜", "2200", "3"), "「3」不是系数，系数只有 1、1.2、2")],
)
def test_calc_used_wrongly(arguments: tuple[str, ...], says: str) -> None:
    status, said = run("calc", *arguments)
    assert status == 1 and says in said and "calc 2000 胜 2200" in said


# --- replay -----------------------------------------------------------------------------------------------


def test_replay(imported: str) -> None:
    status, said = run("replay")
    assert status == 0
    assert "账本6行，最后一行 2026-11-30 12:08；棋手3人，对局2盘，其中计分2盘；更正0条。" in said
    assert "单跳1v1：上榜2人，计分69人次，等级分合计" in said and "2v2" not in said
    assert wording.CHAIN_WHOLE not in said
    status, said = run("replay", "--verify")
    assert status == 0 and wording.CHAIN_WHOLE in said and wording.REPLAY_EQUAL in said


def test_replay_of_an_empty_book(folder: Path) -> None:
    async def nothing(league: League) -> None:
        assert league.book.seq == 0

    with_league(DEFAULT_URL, nothing)
    assert run("replay", "--verify")[0] == 0


def tamper(path: str, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        for trigger in ("ledger_no_update", "ledger_no_delete"):
            connection.execute(f"DROP TRIGGER {trigger}")
        for statement in statements:
            connection.execute(statement)
        connection.commit()


@pytest.mark.parametrize(
    ("statement", "row"),
    [
        ("UPDATE ledger SET payload = replace(payload, '\"W\"', '\"L\"') WHERE seq = 6", 6),
        ("UPDATE ledger SET actor = 9 WHERE seq = 2", 2),
        ("DELETE FROM ledger WHERE seq = 6", 6),
    ],
)
def test_a_changed_ledger_is_found(imported: str, statement: str, row: int) -> None:
    tamper(imported, statement)
    status, said = run("replay", "--verify")
    assert status == 1 and f"账本从账{row}起和写下时不一样" in said


def test_figures_that_were_not_announced_so_are_found(imported: str) -> None:
    """A report written past the bot, with a right hash but wrong figures."""

    async def forge(league: League) -> None:
        async with league.transaction() as tx:
            await tx.append(Draft(Games(2, 3, tx.now, 1.0, (line(1, "W", 2),), 0), tx.now, 0, POOL))
            await tx.append(Draft(Games(3, 4, tx.now, 1.0, (line(1, "W", 2),), 0), tx.now, 0, POOL))
            told = (await tx.ledger.rows_of("games"))[-1].entry()
            await tx.ledger.append([Draft(told, tx.now, 0, POOL)], tx.now)

    with_league(DEFAULT_URL, forge)
    status, said = run("replay", "--verify")
    assert status == 1 and "重算结果不一致，第一处在：账9" in said and wording.CHAIN_WHOLE in said


def test_a_ledger_that_cannot_be_read(imported: str) -> None:
    tamper(imported, "UPDATE ledger SET kind = 'poem' WHERE seq = 4")
    for arguments in (("replay",), ("board",), ("import", "roster.csv"), ("import", "roster.csv", "--yes")):
        status, said = run(*arguments)
        assert status == 1 and "账本从账4起和写下时不一样" in said, arguments


# --- backup -----------------------------------------------------------------------------------------------


def test_backup(imported: str, folder: Path) -> None:
    status, said = run("backup")
    saved = folder / "data" / "backups" / "ratings-20261130-120800.db"
    assert status == 0 and "ratings-20261130-120800.db" in said and saved.is_file()
    assert run("board", "--database", str(saved)) == run("board")
    assert run("backup", "elsewhere")[0] == 0
    assert [path.name for path in (folder / "elsewhere").iterdir()] == ["ratings-20261130-120800.db"]
    assert run("replay", "--verify", "--database", "elsewhere/ratings-20261130-120800.db")[0] == 0
    (folder / "file").write_text("")
    status, said = run("backup", "file")
    assert status == 1 and "备份没有做成" in said


def test_backup_of_another_engine() -> None:
    assert run("backup", "--database", "postgresql://host/name") == (1, wording.NO_BACKUP_HERE)


# --- which database ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("option", "environment", "dotenv", "expected"),
    [
        (None, {}, {}, DEFAULT_URL),
        (None, {}, {".env": "TIAOQI__DATABASE_URL=sqlite:///a.db\n"}, "sqlite+aiosqlite:///a.db"),
        (None, {}, {".env": 'TIAOQI__DATABASE_URL="b.db"\n', ".env.prod": ""}, "sqlite+aiosqlite:///b.db"),
        (None, {}, {".env": "TIAOQI__DATABASE_URL=a.db\n", ".env.prod": "TIAOQI__DATABASE_URL=c.db\n"},
         "sqlite+aiosqlite:///c.db"),
        (None, {}, {".env": "ENVIRONMENT=dev\nTIAOQI__DATABASE_URL=a.db\n", ".env.dev": "TIAOQI__DATABASE_URL=d.db"},
         "sqlite+aiosqlite:///d.db"),
        (None, {"TIAOQI__DATABASE_URL": "e.db"}, {".env": "TIAOQI__DATABASE_URL=a.db\n"}, "sqlite+aiosqlite:///e.db"),
        ("/tmp/f.db", {"TIAOQI__DATABASE_URL": "e.db"}, {}, "sqlite+aiosqlite:////tmp/f.db"),
        ("sqlite+aiosqlite:///g.db", {}, {}, "sqlite+aiosqlite:///g.db"),
        ("postgresql://u:p@h/n", {}, {}, "postgresql+psycopg://u:p@h/n"),
        ("postgresql+psycopg://u:p@h/n", {}, {}, "postgresql+psycopg://u:p@h/n"),
    ],
)  # fmt: skip
def test_which_database(
    folder: Path, option: str | None, environment: dict[str, str], dotenv: dict[str, str], expected: str
) -> None:
    for name, text in dotenv.items():
        (folder / name).write_text(text)
    assert database_url(option, environment, folder) == expected


def test_an_address_of_something_else() -> None:
    status, said = run("board", "--database", "mysql://host/name")
    assert status == 1 and "看不懂数据库地址「mysql://host/name」" in said


@pytest.mark.parametrize("arguments", [("board",), ("replay",), ("replay", "--verify"), ("backup",)])
def test_without_a_database(folder: Path, arguments: tuple[str, ...]) -> None:
    status, said = run(*arguments)
    assert status == 1
    assert said.startswith(f"没有数据库 {Path('data/ratings.db')}。") and "--database" in said
    assert files(folder) == {"roster.csv"}
    (folder / "data").mkdir()
    (folder / "data" / "sandbox.db").write_bytes(b"")
    assert "沙盒的数据库是：--database data/sandbox.db" in run(*arguments)[1]


def test_files_that_are_no_book(folder: Path) -> None:
    (folder / "text.db").write_text("名字\n" * 1000)
    assert "数据库出错" in run("board", "--database", "text.db")[1]
    with closing(sqlite3.connect(folder / "other.db")) as connection:
        connection.execute("CREATE TABLE a (b)")
    status, said = run("board", "--database", "other.db")
    assert status == 1 and "没有等级分的数据" in said


def test_books_of_other_versions(imported: str) -> None:
    with closing(sqlite3.connect(imported)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '0000'")
        connection.commit()
    assert "先启动一次机器人，它会备份并升级" in run("board")[1]
    with closing(sqlite3.connect(imported)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
        connection.commit()
    for arguments in (("board",), ("import", "roster.csv", "--yes")):
        status, said = run(*arguments)
        assert status == 1 and "请先更新程序" in said


# --- beside the running bot -------------------------------------------------------------------------------


def test_beside_the_running_bot_only_reading_works(imported: str, folder: Path) -> None:
    """The bot, here: the lock and a transaction that is not finished."""
    (folder / "roster.csv").write_text(ROSTER + "孙七,10007,,,,,,,,,\n", "utf-8")
    said: dict[tuple[str, ...], tuple[int, str]] = {}
    commands = [("board",), ("replay", "--verify"), ("backup",), ("import", "roster.csv")]
    commands.append(("import", "roster.csv", "--yes"))

    async def bot() -> None:
        database = await Database.open(DEFAULT_URL)
        lock = ProcessLock(database)
        assert await lock.try_acquire()
        league = await League.open(database, lambda: NOW)
        async with league.transaction() as tx:
            await tx.append(Draft(Games(2, 3, tx.now, 1.0, (line(1, "W", 2),), 0), tx.now, 0, POOL))
            for command in commands:
                said[command] = await asyncio.to_thread(run, *command)
        await lock.release()
        await database.close()

    asyncio.run(bot())
    assert said.pop(("import", "roster.csv", "--yes"))[1].endswith("机器人在运行，请用 /导入")
    assert all(status == 0 for status, _ in said.values()), said
    assert "账本6行" in said["replay", "--verify"][1]
    assert "新棋手1人" in said["import", "roster.csv"][1]
    status, text = run("import", "roster.csv", "--yes")
    assert status == 0 and "已写入：新棋手1人" in text


# --- as a program -----------------------------------------------------------------------------------------


def program(folder: Path, *arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    known: dict[str, Any] = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8", **environment}
    return subprocess.run(
        [sys.executable, "-m", "rating_core", *arguments], capture_output=True, encoding="utf-8", cwd=folder, env=known,
        timeout=50, check=False,
    )  # fmt: skip


def test_the_program(folder: Path) -> None:
    done = program(folder, "import", "roster.csv", "--yes", TIAOQI__DATABASE_URL="sqlite:///league.db")
    assert (done.returncode, done.stderr) == (0, "")
    assert "已写入：新棋手3人" in done.stdout
    (folder / ".env").write_text("TIAOQI__DATABASE_URL=sqlite:///league.db\n")
    done = program(folder, "replay", "--verify")
    assert done.returncode == 0 and wording.REPLAY_EQUAL in done.stdout
    missing = program(folder, "board", "--database", "none.db")
    assert (missing.returncode, missing.stdout) == (1, "")
    assert missing.stderr.startswith("没有数据库 none.db")
    narrow = program(folder, "board", PYTHONIOENCODING="ascii")
    assert narrow.returncode == 0, "a terminal that cannot show Chinese gets codes, not a traceback"


def test_the_program_explains_itself() -> None:
    status, said = run("--help")
    assert status == 0
    for command in ("import", "board", "calc", "replay", "backup"):
        assert command in said
        status, text = run(command, "--help")
        assert status == 0 and any("\u4e00" <= character <= "\u9fff" for character in text)
