"""A league that is large enough starts from its snapshot, and nobody in the groups can tell."""

from pathlib import Path

import pytest

from rating_core.service import league as league_module
from rating_core.store.snapshot import Snapshot
from tests.support.rig import SCORING, Rig, running_rig

FILE = "ratings.snapshot"


@pytest.fixture(autouse=True)
def every_league_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(league_module, "LEAST_GAMES", 0)
    monkeypatch.setattr(league_module, "LEAST_ROWS", 1)


async def one_game(rig: Rig) -> None:
    await rig.league_of("张三", "李四")
    await rig.say("张三", "张三 胜 李四")
    await rig.say("李四", "确认")


async def test_a_stop_writes_it_and_a_start_goes_on_from_it(tmp_path: Path) -> None:
    async with running_rig(tmp_path) as rig:
        await one_game(rig)
        await rig.stop()
        assert (tmp_path / FILE).exists()
        await rig.start()
        assert rig.games() == 1 and rig.rating("张三") == 2016
        await rig.say("张三", "张三 胜 李四")
        await rig.say("李四", "确认")
        assert rig.games() == 2 and rig.rating("张三") > 2030
        (health,) = await rig.say("小周", "/体检", SCORING)
        assert "体检：正常" in health


async def test_one_that_is_wrong_is_put_right_and_told_of(tmp_path: Path) -> None:
    async with running_rig(tmp_path) as rig:
        await one_game(rig)
        await rig.stop()
        file = Snapshot(tmp_path / FILE)
        wrong = file.load()
        wrong.state.standing("单跳1v1", 1).rating += 100
        assert file.save(wrong, lambda: True)
        await rig.start()
        (told,) = [m.text for m in rig.qq.said_by_bot(SCORING) if "快照" in m.text]
        assert "单跳1v1 1" in told and "已换成重算的结果" in told
        assert rig.rating("张三") == 2016
        (health,) = await rig.say("小周", "/体检", SCORING)
        assert "体检：正常" in health
