"""`import` and `export` in the operator's shell: dry run first, everything or nothing, never beside the running bot."""

import asyncio
from pathlib import Path

import pytest

from rating_core.shell import wording
from rating_core.store.database import Database, ProcessLock
from tests.support.shell import empty_folder, run

GAMES = "日期,棋手A,结果,棋手B,赛事,系数\n2026-03-02,张三,胜,李四,,\n2026-03-03,李四,平,王五,皇后杯,1.2\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder, at a fixed time, without settings in the environment."""
    (tmp_path / "games.csv").write_text(GAMES, "utf-8")
    return empty_folder(tmp_path, monkeypatch)


def test_a_trial_run_says_everything_and_writes_nothing(folder: Path) -> None:
    status, said = run("import", "games.csv")
    assert status == 1 and "不在榜上的名字3个" in said and said.rstrip().endswith("改好上面各行再来一次。")
    status, said = run("import", "games.csv", "--new-players")
    assert status == 0
    assert "按UTF-8的表格读取对局，认出的列：日期、棋手A、结果、棋手B、赛事、系数" in said
    assert "共2局（单跳1v1 2局），2026-03-02到2026-03-03；新棋手3人，新赛事1个；计分2局" in said
    assert "新赛事：皇后杯（单跳1v1，系数1.2）" in said and "新棋手：张三、李四、王五" in said
    assert "等级分排行榜 2026-11-30（3人）" in said and said.rstrip().endswith("没有问题就加 --yes 写入。")
    assert not (folder / "data").exists()


def test_writing_the_same_file_twice_and_the_next_one(folder: Path) -> None:
    status, said = run("import", "games.csv", "--new-players", "--yes")
    assert status == 0 and said.rstrip().endswith("已导入2局，新棋手3人，新赛事1个。")
    for arguments in (("import", "games.csv"), ("import", "games.csv", "--new-players", "--yes")):
        status, said = run(*arguments)
        assert status == 0 and "这个文件在2026-11-30 12:08已经导入过（2局），没有重复导入。" in said
    (folder / "next.txt").write_text("2026-03-02\n张三 胜 王五\n", "utf-8")
    status, said = run("import", "next.txt", "--yes")
    assert status == 1 and "单跳1v1里已经有2026-03-03 12:00的记录，这一局不比它晚" in said
    (folder / "next.txt").write_text("2026-03-04\n#皇后杯\n张三 胜 王五\n", "utf-8")
    status, said = run("import", "next.txt", "--yes")
    assert status == 0 and "已导入1局" in said and "导入前的备份：" in said
    assert list((folder / "data" / "backups").glob("*before-import*"))
    assert "张三" in run("board")[1] and run("replay", "--verify")[0] == 0


def test_a_failing_file_leaves_the_book_alone(folder: Path) -> None:
    run("import", "games.csv", "--new-players", "--yes")
    before = (run("board", "--json")[1], run("replay")[1])
    (folder / "bad.csv").write_text(
        "日期,棋手A,结果,棋手B\n2026-03-04,张三,胜,李四\n2026-03-04,张三,赢,李四\n", "utf-8"
    )
    status, said = run("import", "bad.csv", "--yes")
    assert status == 1 and "第3行：「赢」不是结果，应写「胜」" in said and "什么也没有写入" in said
    assert (run("board", "--json")[1], run("replay")[1]) == before
    status, said = run("import", "bad.csv", "--unknown-as-loss", "--yes")
    assert status == 0 and "按负算的：「赢」1局" in said


def test_out_and_in_again(folder: Path) -> None:
    run("import", "games.csv", "--new-players", "--yes")
    status, said = run("export", "等级分.xlsx")
    assert status == 0 and "对局2局，棋手3人，调整1条" in said and "没有带上的：QQ绑定" in said
    status, said = run("export", "等级分.xlsx")
    assert status == 1 and "已经有了，没有覆盖" in said
    assert run("export", "等级分.xls")[0] == 1
    board = run("board")[1]
    status, said = run("import", "等级分.xlsx", "--yes", "--database", "other.db")
    assert status == 0 and "文件里的分8处，和重算的一致" in said and "工作簿里没有QQ绑定" in said
    assert run("board", "--database", "other.db")[1] == board
    assert not [path for path in folder.iterdir() if path.name.startswith(".等级分")]


def test_a_pool_for_rows_that_name_none(folder: Path) -> None:
    (folder / "pairs.txt").write_text("甲甲 乙乙 胜 丙丙 丁丁\n", "utf-8")
    status, said = run("import", "pairs.txt", "--new-players")
    assert status == 1 and "双人的对局不知道算哪个榜" in said
    status, said = run("import", "pairs.txt", "--new-players", "--pool", "空跳2v2", "--yes")
    assert status == 0 and "甲甲" in run("board", "--pool", "空跳2v2")[1]
    assert run("import", "pairs.txt", "--pool", "围棋") == (1, wording.bad_pool("围棋"))


@pytest.mark.parametrize("file", ["games.csv", "roster.csv"])
def test_writing_is_refused_while_the_bot_runs(folder: Path, file: str) -> None:
    (folder / "roster.csv").write_text("名字\n赵六\n", "utf-8")
    run("import", "games.csv", "--new-players", "--yes")

    async def hold() -> tuple[tuple[int, str], tuple[int, str]]:
        database = await Database.open("sqlite+aiosqlite:///data/ratings.db")
        lock = ProcessLock(database)
        assert await lock.try_acquire()
        try:
            (folder / "games.csv").write_text(GAMES.replace("-03-", "-04-"), "utf-8")
            written = await asyncio.to_thread(run, "import", file, "--new-players", "--yes")
            return written, await asyncio.to_thread(run, "export", "beside.xlsx")
        finally:
            await lock.release()
            await database.close()

    written, exported = asyncio.run(hold())
    assert written[0] == 1 and written[1].rstrip().endswith("机器人在运行，请用 /导入")
    assert exported[0] == 0 and (folder / "beside.xlsx").is_file()
