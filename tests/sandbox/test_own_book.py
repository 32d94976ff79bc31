"""Beginning anew touches the sandbox's own file, and nothing else that lies beside it or that settings may name."""

import os
import sqlite3
from pathlib import Path

import pytest
from filelock import FileLock

from plugins.rating_bot.sandbox.own_book import URL, NotOurs, erase, own_book
from plugins.rating_bot.sandbox.scene import OFFICIAL, SCORING
from plugins.rating_bot.settings import Settings
from tests.sandbox.house import SETTINGS, House, open_house
from tests.support.rows import ms

AT = ms("2026-11-30 12:00")
OWN = Path("data/sandbox.db")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a real book beside the sandbox's."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data" / "backups").mkdir(parents=True)
    for name in ("ratings.db", "ratings.db-wal", "sandbox.db.bak", "backups/ratings-daily-20261129.db"):
        (tmp_path / "data" / name).write_text(f"real {name}")
    return tmp_path


def real_files(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("sandbox.db"))
    found = {str(path.relative_to(folder)): path.read_text() for path in files}
    return found | {"sandbox.db.bak": (folder / "data" / "sandbox.db.bak").read_text()}


def changed(**values: object) -> Settings:
    return SETTINGS.model_copy(update=values)


@pytest.mark.parametrize(
    "settings",
    [
        Settings(),
        changed(official_groups={"476745350": "单跳1v1"}),
        changed(scoring_groups=(str(SCORING), "476745350")),
        changed(official_groups={}, scoring_groups=()),
        changed(bot_ids=()),
        changed(bot_ids=("12345678",)),
        changed(database_url="sqlite+aiosqlite:///data/ratings.db"),
        changed(database_url="sqlite+aiosqlite:////data/sandbox.db"),
        changed(database_url="sqlite+aiosqlite:///elsewhere/data/sandbox.db"),
        changed(database_url="sqlite+aiosqlite:///data/../data/ratings.db"),
        changed(database_url="sqlite+aiosqlite://"),
        changed(database_url="postgresql+psycopg://localhost/league"),
    ],
)
def test_anything_but_the_sandbox_is_refused(folder: Path, settings: Settings) -> None:
    OWN.write_text("a book")
    before = real_files(folder)
    for refuses in (own_book, erase):
        with pytest.raises(NotOurs):
            refuses(settings)
    assert OWN.read_text() == "a book" and real_files(folder) == before


def test_the_sandbox_may(folder: Path) -> None:
    assert own_book(SETTINGS) == OWN
    assert frozenset({str(OFFICIAL), str(SCORING)}) == SETTINGS.groups and SETTINGS.database_url == URL


@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_a_link_to_a_real_book_is_refused(folder: Path, link: object) -> None:
    link(folder / "data" / "ratings.db", folder / OWN)  # type: ignore[operator]
    before = real_files(folder)
    with pytest.raises(NotOurs, match="链接"):
        erase(SETTINGS)
    assert OWN.exists() and real_files(folder) == before


def test_a_folder_in_its_place_is_refused(folder: Path) -> None:
    OWN.mkdir()
    with pytest.raises(NotOurs):
        erase(SETTINGS)
    assert OWN.is_dir()


def test_erasing_takes_its_own_files_only(folder: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        OWN.with_name(OWN.name + suffix).write_text("ours")
    before = real_files(folder)
    erase(SETTINGS)
    assert sorted(path.name for path in (folder / "data").glob("sandbox.db*") if path.suffix != ".lock") == [
        "sandbox.db.bak"
    ]
    assert real_files(folder) == before
    erase(SETTINGS)  # and when there is none


def test_nothing_is_erased_while_another_process_has_it_open(folder: Path) -> None:
    OWN.write_text("in use")
    with FileLock(f"{OWN}.lock"), pytest.raises(NotOurs, match="另一个"):
        erase(SETTINGS)
    assert OWN.read_text() == "in use"


# --- the reset of a running sandbox ---------------------------------------------------------------------------


async def test_a_reset_begins_anew_in_the_same_file(folder: Path) -> None:
    before = real_files(folder)
    async with open_house(AT) as house:
        games = len(house.parts.runtime.league.book.columns)
        house.director.play("challenge", 0)
        assert await house.director.done() == ""
        first = house.qq.history(OFFICIAL)[0].real_seq
        news: list[str] = []
        house.director.subscribe(lambda one: news.append(one["type"]))
        house.director.reset()
        assert await house.director.done() == ""
        league = house.parts.runtime.league
        assert "renewed" in news and house.seeded == [False]
        assert len(league.book.columns) == games and not league.book.state.challenges
        assert house.qq.history(OFFICIAL) == house.qq.history(SCORING) == [] == house.director.notes
        assert house.clock.now() == house.outside.now(), "the time outside again"
        answer = await house.ask("张三", "/等级分")
        assert "张三" in answer.text and answer.real_seq > first
        await house.check()
    assert real_files(folder) == before
    assert sqlite3.connect(OWN).execute("select count(*) from ledger").fetchone()[0] == league.book.seq


async def test_a_reset_that_is_refused_leaves_the_bot_running(folder: Path) -> None:
    async with open_house(AT) as house:
        house.settings = changed(database_url="sqlite+aiosqlite:///data/ratings.db")
        before, parts = real_files(folder), house.parts
        for begin in (house.director.reset, lambda: house.director.play("league", 0)):
            begin()
            assert "没有重置" in await house.director.done()
        assert house.parts is parts and house.seeded == [] and real_files(folder) == before
        assert "张三" in (await house.ask("张三", "/等级分")).text
        await house.check()


async def test_what_was_said_just_before_is_not_carried_into_the_new_book() -> None:
    async with open_house(AT) as house:
        house.qq.say(OFFICIAL, 10011, "张三    胜    李四")
        house.director.reset()
        assert await house.director.done() == ""
        async with house.parts.runtime.league.transaction() as tx:
            assert await tx.reports.open_ones() == []
        await house.check()


async def test_seeding_leaves_a_book_that_has_something_alone() -> None:
    async with open_house(AT) as house:
        seq = house.parts.runtime.league.book.seq
        await house.seed(house.parts, True, lambda _: None)
        assert house.parts.runtime.league.book.seq == seq


async def test_a_league_that_could_not_be_finished_leaves_an_empty_book() -> None:
    house = House(AT)
    await house.up()

    def stop(text: str) -> None:
        raise KeyError(text)

    with pytest.raises(KeyError):
        await house.seed(house.parts, False, stop)
    assert house.parts.runtime.league.book.seq == 0
    await house.down()
