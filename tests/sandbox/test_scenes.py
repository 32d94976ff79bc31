"""Every scene plays to its end with the real bot, whatever the date is and whatever was done before."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from plugins.rating_bot.handlers.dispatch import load_handlers
from plugins.rating_bot.handlers.table import TABLE, Role
from plugins.rating_bot.sandbox import big_league
from plugins.rating_bot.sandbox.director import Refused
from plugins.rating_bot.sandbox.scene import CAST, LINES, OFFICIAL, SCORING, SEED
from plugins.rating_bot.sandbox.scenes import SCENES
from rating_core.names import check_new_name, skeleton
from rating_core.rulebook import DEFAULT_POOL, PROVISIONAL_GAMES
from rating_core.times import DAY_MS, day_of, season_of
from tests.sandbox.house import House, open_house
from tests.support.rows import ms

SMALL = [scene.name for scene in SCENES if not scene.big]
DATES = ["2026-11-30 12:00", "2027-01-15 03:00", "2028-02-29 23:59", "2026-12-31 23:50"]
FINISHED = ""


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
async def house() -> AsyncIterator[House]:
    async with open_house(ms(DATES[0])) as house:
        yield house


async def play(house: House, name: str) -> str:
    house.director.play(name, 0)
    return await house.director.done()


async def test_a_report_is_confirmed_and_forwarded(house: House) -> None:
    games = len(house.parts.runtime.league.book.columns)
    assert await play(house, "report") == FINISHED
    assert any(text.startswith("收到 #") for text in house.texts(OFFICIAL))
    assert any("张三    胜    李四\n张三    平    李四" in text for text in house.texts(SCORING))
    assert len(house.parts.runtime.league.book.columns) == games + 2
    await house.check()


async def test_a_dispute_ends_with_the_right_result(house: House) -> None:
    games = len(house.parts.runtime.league.book.columns)
    assert await play(house, "dispute") == FINISHED
    columns = house.parts.runtime.league.book.columns
    assert [chr(one) for one in columns.result[games:]] == ["W", "L"]
    assert any("争议" in text for text in house.texts(SCORING))
    await house.check()


async def test_a_forced_challenge_lapses_at_its_own_time_and_both_groups_hear_of_it(house: House) -> None:
    before = house.clock.now()
    assert await play(house, "challenge") == FINISHED
    league = house.parts.runtime.league
    (challenge,) = league.book.state.challenges.values()
    assert challenge.state == "forfeited"
    forfeits = [mark for mark in league.book.marks if mark.at == challenge.deadline]
    assert len(forfeits) == 1 and forfeits[0].after - forfeits[0].before == -50, (
        "entered at the deadline, not when it was seen"
    )
    for group in (OFFICIAL, SCORING):
        assert sum("到期（" in text and "扣50分" in text for text in house.texts(group)) == 1
    told = next(m for m in house.qq.said_by_bot(OFFICIAL) if "到期（" in m.text)
    assert 0 <= told.time - challenge.deadline < 60_000, "the chat shows it at its own time too"
    assert sum("快到期了" in text for text in house.texts(OFFICIAL)) == 2
    assert 8 * DAY_MS <= house.clock.now() - before < 8 * DAY_MS + 600_000
    await house.check()


async def test_a_season_is_settled_after_new_year(house: House) -> None:
    assert await play(house, "settlement") == FINISHED
    assert (2026, DEFAULT_POOL) in house.parts.runtime.league.book.state.settled
    assert day_of(house.clock.now()).isoformat() == "2027-01-01"
    for group in (OFFICIAL, SCORING):
        assert any(text.startswith("2026赛季已结算") for text in house.texts(group))
    await house.check()


@pytest.mark.parametrize("date", DATES)
async def test_scenes_follow_each_other_whatever_the_date(date: str) -> None:
    async with open_house(ms(date)) as house:
        for name in (*SMALL, "challenge", "settlement"):
            said = await play(house, name)
            if "没有两个人能下" in said:  # everybody is barred in January; in February they may play again
                assert day_of(house.clock.now()).month == 1
                house.director.travel("february")
                assert await house.director.done() == FINISHED
                said = await play(house, name)
            assert said == FINISHED, name
        await house.check()


async def test_what_the_visitor_left_waiting_does_not_stop_them(house: House) -> None:
    prompt = await house.ask("张三", "张三    胜    李四")
    await house.ask("李四", "有误 没下过", quote=prompt)
    await house.ask("王五", "王五    胜    平安")
    await house.ask("张三", "/强制约战 王五")
    for name in ("dispute", "challenge", "settlement"):
        assert await play(house, name) == FINISHED, name
    await house.check()


async def test_a_scene_that_cannot_go_on_says_what_the_bot_said(house: House) -> None:
    house.qq.set_card(SCORING, 10002, "小周")
    await house.ask("群主老陈", "/免去 记分员 10002", SCORING)
    said = await play(house, "dispute")
    assert "没有照剧本走完" in said and "无权" in said and "重置" in said


async def test_one_thing_at_a_time_and_a_scene_can_be_stopped(house: House) -> None:
    house.director.play("report", 3)
    for other in (
        lambda: house.director.play("dispute", 0),
        lambda: house.director.travel("day"),
        house.director.reset,
    ):
        with pytest.raises(Refused, match="报分"):
            other()
    house.director.stop()
    assert "停" in await house.director.done()
    assert house.director.view()["busy"] is None
    assert await play(house, "report") == FINISHED


async def test_an_unknown_scene_is_refused(house: House) -> None:
    with pytest.raises(Refused):
        house.director.play("nothing", 0)


async def test_the_page_is_told_what_is_under_way_and_what_is_narrated(house: House) -> None:
    news: list[dict[str, object]] = []
    stop = house.director.subscribe(news.append)
    assert await play(house, "report") == FINISHED
    stop()
    kinds = [one["type"] for one in news]
    assert kinds[0] == kinds[-1] == "stage" and {"note", "show"} <= set(kinds)
    notes = [one["message"] for one in news if one["type"] == "note"]
    assert notes == house.director.notes
    assert len({note["id"] for note in notes}) == len(notes)  # type: ignore[index]


# --- the league of 300 ----------------------------------------------------------------------------------------


def test_the_big_league_is_the_same_each_time_and_its_names_may_be_had() -> None:
    league = big_league.build()
    assert league == big_league.build()
    names = [player.name for player in league.players]
    assert len(names) == 300 and len({skeleton(name) for name in names}) == 300
    commands = {command.word for command in load_handlers()}
    assert [name for name in names if check_new_name(name, commands)] == []
    assert {player.qq for player in SEED.players if player.qq} == {player.qq for player in league.players if player.qq}
    days = [game.days_ago for game in league.games]
    assert days == sorted(days, reverse=True) and days[-1] >= 1
    assert {name for game in league.games for name in (game.left, game.right)} == set(names)


@pytest.mark.timeout(180)
async def test_the_league_of_300_is_played_in_a_new_book(house: House) -> None:
    await house.ask("张三", "/强制约战 李四")
    assert await play(house, "league") == FINISHED
    league = house.parts.runtime.league
    assert house.seeded == [True] and len(league.directory.roster.current_names()) == 300
    assert not league.book.state.challenges
    standings = league.book.state.pools[DEFAULT_POOL].standings
    assert len(standings) == 300
    settled = [s for s in standings.values() if s.games >= PROVISIONAL_GAMES.now]
    assert len(settled) > 100
    assert any("共300人" in text for text in house.texts(OFFICIAL))
    assert len(league.book.state.lists[DEFAULT_POOL]) >= 9
    assert season_of(house.clock.now()) == 2026
    await house.check()
    for name in ("report", "settlement"):
        assert await play(house, name) == FINISHED
    await house.check()


# --- quick buttons --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("part", LINES)
def test_quick_buttons_type_commands_that_part_may_use(part: str) -> None:
    load_handlers()
    roles = {"newcomer": Role.MEMBER, "player": Role.PLAYER, "desk": Role.SCOREKEEPER, "owner": Role.SUPERUSER}
    assert {actor.part for actor in CAST} == set(LINES)
    for label, line in LINES[part]:  # type: ignore[index]
        if line.startswith("/"):
            found = TABLE.find(line[1:])
            assert found is not None, line
            assert found[0].role <= roles[part] and found[0].where != "private", line
            assert label.lstrip("/").startswith(found[0].word), label
