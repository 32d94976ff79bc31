"""The program itself, in a form of a few seconds: one outage, and what it says when something is missing."""

import random
from pathlib import Path

import pytest

from tests.reliability import outage_history, outages
from tests.reliability.outage_world import OutageWorld, Script, Talk, missing, spoken

pytestmark = pytest.mark.timeout(90)


async def test_an_hour_away(tmp_path: Path) -> None:
    found = await outages.run(["hour"], tmp_path, 1, 1, False)
    figure = found["hour"]
    assert isinstance(figure, str), figure
    assert figure.startswith(f"{outage_history.MESSAGES} messages said while away, ")


async def test_it_sees_more_messages_than_are_allowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outage_history, "MOST_MESSAGES", 1)
    monkeypatch.setattr(outage_history, "MESSAGES", 60)
    found = await outages.run(["hour"], tmp_path, 1, 1, False)
    assert "messages: [" in str(found["hour"])


def test_it_sees_what_is_missing_and_what_is_double(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = OutageWorld(tmp_path)
    for name in ("张三", "李四", "王五", "赵六", "钱七", "孙八", "周九", "吴十", "郑重", "冯唐", "陈平", "褚英"):
        world.join(name)
    script: Script = Talk(random.Random(1)).script(5, 5)
    spoken(world, script)
    ids = [report.line.message.message_id for report in script.reports if report.line and report.line.message]
    whole = {number: [(index, "effective")] for index, number in enumerate(ids)}
    for report, number in zip(script.reports, ids, strict=True):
        if not report.state:
            del whole[number]
    monkeypatch.setattr(OutageWorld, "reports", lambda _: whole)
    assert missing(world, script) == []
    first = next(iter(whole))
    for bad in ([], [(0, "waiting")], [(0, "effective"), (9, "effective")]):
        monkeypatch.setattr(OutageWorld, "reports", lambda _, bad=bad: whole | {first: bad})
        assert len(missing(world, script)) == 1
