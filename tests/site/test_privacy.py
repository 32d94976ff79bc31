"""What no page may tell: QQ numbers, who holds 蒙面人公用号, waiting reports, reasons. Every link is followed."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from plugins.rating_bot.site.routes import VIEWS
from tests.support.pages import Answer, Reader, crawl, of_rig
from tests.support.rig import OFFICIAL, SCORING, Rig, running_rig

# linked only where somebody met more people than his page holds: the opponents' page
STARTS = (
    "/board/players/1/opponents",
    "/board/",
    "/board/api/",
    "/board/?pool=%E5%8D%95%E8%B7%B32v2",
    "/board/days/2026-11-30",
    "/board/archive",
)
WAITING = "等待中的人"


@pytest.fixture
async def rig(tmp_path: Path) -> AsyncIterator[Rig]:
    """A league in which there is something to hide of every kind."""
    async with running_rig(tmp_path) as rig:
        await rig.league_of("张三", "李四", "王五", "赵六", WAITING)
        rig.person("夜行者")
        await rig.whisper("夜行者", "/蒙面人 申请")
        await rig.whisper("群主", f"/蒙面人 批准 {rig.people['夜行者']}")
        await rig.whisper("夜行者", "蒙面人公用号    胜    张三")
        await rig.say("张三", "确认 1")
        await rig.say("裁判老赵", "张三    胜    李四\n李四    平    王五\n赵六    负    张三", SCORING)
        await rig.say("小周", "/改判 局2 负 密告甲说的", SCORING)
        await rig.say("小周", "确认 预1", SCORING)
        await rig.say("小周", "/调分 赵六 -30 密告乙说他作弊", SCORING)
        await rig.say("小周", "确认 预2", SCORING)
        await rig.say("小周", "/请假 给 王五 住院密情", SCORING)
        await rig.say("小周", "/发布榜单 给密友的榜", SCORING)
        rig.clock.pass_hours(1)
        await rig.say(WAITING, f"{WAITING}    胜    张三\n{WAITING}    胜    张三")
        rig.qq.set_card(OFFICIAL, rig.people["李四"], "李四的密名片")
        await rig.say("李四", "/等级分")
        assert rig.games() == 4 and len(rig.league.book.marks) == 1
        yield rig


@pytest.fixture
async def found(rig: Rig) -> dict[str, Answer]:
    app = of_rig(rig)
    return dict(await crawl(Reader(app), *STARTS))


async def test_no_page_tells_what_it_must_not(rig: Rig, found: dict[str, Answer]) -> None:
    numbers = [account.qq for account in rig.league.directory.by_id.values()]
    numbers += [str(number) for number in rig.people.values()] + [str(OFFICIAL), str(SCORING)]
    secrets = ["夜行者", "密告", "密情", "密友", "密名片", "小周", "裁判老赵", "小吴", *filter(None, numbers)]
    assert len(secrets) > 15
    for address, answer in found.items():
        text = address + answer.text + repr(answer.headers)
        assert not [secret for secret in secrets if secret in text], address
    everything = "".join(answer.text for answer in found.values())
    assert "蒙面人公用号" in everything and "账" in everything and "改判为负" in everything


async def test_a_waiting_report_is_nowhere(rig: Rig, found: dict[str, Answer]) -> None:
    """Who only has a report that waits is on no board and in nobody's games; his own page shows no game."""
    number = rig.league.directory.roster.resolve(WAITING)
    naming = [address for address, answer in found.items() if WAITING in answer.text]
    assert naming == []
    reader = Reader(of_rig(rig))
    own = await reader.data(f"players/{number}")
    assert (own["games"], own["total"], own["state"]) == (0, 0, "unlisted")
    assert (await reader.get("/board/games/5")).status == 404


async def test_every_link_leads_somewhere_on_this_host(found: dict[str, Answer]) -> None:
    assert len(found) > 60
    for address, answer in found.items():
        assert address.startswith("/board/"), address
        assert answer.status in (200, 307), f"{address}: {answer.status}"
    reached = {address.split("?")[0].removeprefix("/board/") for address in found}
    for view in VIEWS:
        known = [part for part in view.path.split("/") if part and "{" not in part]
        depth = len(view.path.split("/"))
        assert any(
            len(path.split("/")) == depth and all(part in path.split("/") for part in known) for path in reached
        ), f"no link leads to {view.path}"


async def test_who_is_erased_stays_a_number(rig: Rig) -> None:
    directory = rig.league.directory.copy()
    directory.roster.remove("李四")
    rig.league.directory = directory
    found = await crawl(Reader(of_rig(rig)), "/board/", "/board/api/")
    everything = "".join(
        answer.text for address, answer in found if "/rules" not in address
    )  # 李四 is an example there
    assert "李四" not in everything and "已注销2" in everything
