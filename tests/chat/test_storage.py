"""A database that takes nothing: the user hears it, nothing is recorded, and it mends by itself."""

from tests.support.engines import SQLITE, only_sqlite
from tests.support.rig import SCORING, Rig


@only_sqlite
async def test_a_full_database_is_said_and_mends_by_itself(rig: Rig) -> None:
    await rig.league_of("张三", "李四")
    assert (await rig.say("张三", "张三 胜 李四"))[0].startswith("#1")
    async with rig.league.database.write() as connection:
        pages = (await connection.exec_driver_sql("PRAGMA page_count")).scalar_one()
        await connection.exec_driver_sql(f"PRAGMA max_page_count={pages}")
    told: list[str] = []
    while not told or "出错了，未记录" not in told[-1]:  # the last page may still have room for a message or two
        assert len(told) < 300
        told += await rig.say("张三", f"张三 胜 李四{chr(10)}张三 平 李四" if len(told) % 2 else "/撤回 99999") or [""]
    before = rig.games()
    async with rig.league.database.write() as connection:
        await connection.exec_driver_sql("PRAGMA max_page_count=1073741823")
    (ack,) = await rig.say("李四", "确认 1")
    assert ack.startswith("收到 #1") and rig.games() == before + 1
    assert "正常" in (await rig.say("小周", "/体检"))[0]


async def test_the_check_says_which_database_it_is_and_who_makes_its_backups(engine: str, rig: Rig) -> None:
    await rig.league_of()
    lines = (await rig.say("小周", "/体检", SCORING))[0].split("\n")
    assert lines[-1].split("，数据库")[1].startswith("SQLite 3." if engine == SQLITE else "PostgreSQL 1")
    assert lines[-2] == "最近备份：" + ("还没有" if engine == SQLITE else "由PostgreSQL自己做")
