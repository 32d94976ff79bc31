"""The kill harness itself: a few kills, its plan, and that it sees what it is there to see."""

import random
import re
from collections import Counter
from pathlib import Path

import pytest

from rating_core.failpoints import NAMES
from tests.e2e.world import BOT, OFFICIAL, SCORING, World
from tests.reliability import kill
from tests.reliability.kill_checks import Seen, _told
from tests.reliability.kill_people import Said
from tests.reliability.kill_world import RANDOM

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.timeout(300)
def test_a_few_kills(capsys: pytest.CaptureFixture[str]) -> None:
    assert kill.main(["--kills", "3", "--each", "0", "--jobs", "1", "--seed", "1"]) == 0
    assert "missing 0, double 0" in capsys.readouterr().out


def test_every_failpoint_has_a_name_and_every_name_a_place() -> None:
    hits = Counter(
        name
        for folder in ("plugins", "rating_core")
        for path in (ROOT / folder).rglob("*.py")
        for name in re.findall(r"\bhit\(\"(\w+)\"\)", path.read_text("utf-8"))
    )
    assert sorted(hits) == sorted(NAMES)


@pytest.mark.parametrize(("kills", "each"), [(kill.SHORT, kill.EACH_SHORT), (kill.LONG, kill.EACH_LONG)])
def test_the_plan_has_every_failpoint_and_random_moments(kills: int, each: int) -> None:
    plan = Counter(kill.plan_of(kills, each, random.Random(1)))
    assert plan.total() >= kills
    assert {plan[name] for name in NAMES} == {each}
    assert plan[RANDOM] >= kills // 5


def test_what_is_missing_or_double_is_found(tmp_path: Path) -> None:
    world = World(tmp_path)
    said = Said(world.say("群主", "张三 胜 李四"), ("张三 胜 李四",), number=7)
    world.qq.say(OFFICIAL, BOT, "收到 #7（单跳1v1）")
    world.qq.say(SCORING, BOT, "刚才机器人不在线，补记2条：\n\n#7 单跳1v1\n张三    胜    李四\n\n#6 单跳1v1")
    assert list(_told(said, Seen(world))) == []
    world.qq.say(OFFICIAL, BOT, "收到 #7（单跳1v1）")
    (double,) = _told(said, Seen(world))
    assert "stands 2 times" in double
    said.number = 6
    (missing,) = _told(said, Seen(world))
    assert "'收到 #6（' stands 0 times" in missing
