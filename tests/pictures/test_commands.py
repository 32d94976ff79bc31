"""What people get: pictures with a caption that leads on, and texts that say the same where none can be sent."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from plugins.rating_bot.pictures.typesetting import Typesetter
from plugins.rating_bot.sandbox.values import FakeMessage
from plugins.rating_bot.wire.messages import Picture
from rating_core.service import people
from tests.support.images import png_of, size_of
from tests.support.rig import OFFICIAL, OWNER, PAIRS, SCORING, Rig, running_rig
from tests.support.rows import ms

POOL = "单跳1v1"
MANY = [f"棋手{chr(0x7532 + n // 10)}{chr(0x4E00 + n)}" for n in range(34)]


@pytest.fixture
async def rig(tmp_path: Path, typesetter: Typesetter) -> AsyncIterator[Rig]:
    """A bot that sends pictures; 张三 beat 李四, then drew."""
    async with running_rig(tmp_path, pictures=True) as rig:
        use(rig, typesetter)
        await rig.league_of("张三", "李四", "王五")
        await rig.say("张三", "张三 胜 李四\n张三 平 李四")
        await rig.say("李四", "确认")
        yield rig


def use(rig: Rig, typesetter: Typesetter) -> None:
    """Fonts are read once for all tests."""
    assert rig.parts is not None and rig.parts.painter is not None
    rig.parts.painter._press = typesetter.png


def break_pictures(rig: Rig) -> None:
    def press(picture: Picture) -> bytes:
        raise RuntimeError("no fonts")

    assert rig.parts is not None and rig.parts.painter is not None
    rig.parts.painter._press = press
    rig.parts.painter._done.clear()


async def answers(rig: Rig, text: str, who: str = "张三", group: int = OFFICIAL) -> list[FakeMessage]:
    before = len(rig.qq.said_by_bot(group))
    await rig.say(who, text, group)
    return rig.qq.said_by_bot(group)[before:]


async def ask(rig: Rig, text: str, who: str = "张三", group: int = OFFICIAL) -> tuple[str, bytes | None]:
    """Ask and return the one answer: its words and its picture."""
    (answer,) = await answers(rig, text, who, group)
    return answer.text, png_of(answer)


async def fill(rig: Rig, names: list[str]) -> None:
    """Let all these stand on the board."""
    await rig.league_of(*names, bound=False)
    for first, second in zip(names[::2], names[1::2], strict=True):
        await rig.say("裁判老赵", f"{first} 胜 {second}")


# --- boards ---------------------------------------------------------------------------------------------------


async def test_a_board_is_a_picture_with_its_head_as_caption(rig: Rig) -> None:
    said, png = await ask(rig, "/排行榜")
    assert said == "单跳1v1等级分排行榜 2026-11-30（第1/1页，共2人）"
    assert png is not None and size_of(png)[0] == 1080


async def test_thirty_players_a_page_and_the_line_for_the_next(rig: Rig) -> None:
    await fill(rig, MANY)
    said, first = await ask(rig, "/排行榜")
    assert said == "单跳1v1等级分排行榜 2026-11-30（第1/2页，共36人）\n下一页：/排行榜 第2页"
    said, second = await ask(rig, "/排行榜 第2页")
    assert said == "单跳1v1等级分排行榜 2026-11-30（第2/2页，共36人）"
    assert first is not None and second is not None
    assert size_of(first)[1] > 2500 > 1000 > size_of(second)[1]
    assert await ask(rig, "/排行榜 第3页") == ("没有第3页，单跳1v1榜共2页。\n/排行榜 第2页", None)
    said, ten = await ask(rig, "/排行榜 前10")
    assert said.startswith("单跳1v1等级分排行榜 2026-11-30（第1/1页，共36人")
    assert ten is not None and size_of(ten)[1] < 1500


async def test_a_board_in_words_where_pictures_fail_begins_where_the_picture_would(rig: Rig) -> None:
    await fill(rig, MANY)
    break_pictures(rig)
    said, png = await ask(rig, "/排行榜 第2页")
    lines = said.split("\n")
    assert png is None
    assert lines[0] == "单跳1v1等级分排行榜 2026-11-30（第4/4页，共36人）"
    assert lines[1].startswith("31 ")
    said, _ = await ask(rig, "/排行榜")
    assert said.split("\n")[1].startswith("1 ")
    assert said.endswith("\n下一页：/排行榜 第2页 文字")
    said, _ = await ask(rig, "/排行榜 第2页 文字")
    assert said.split("\n")[1].startswith("11 ") and said.endswith("\n下一页：/排行榜 第3页 文字")


async def test_a_board_in_words_for_who_wants_it(rig: Rig) -> None:
    said, png = await ask(rig, "/排行榜 文字")
    assert png is None and said.split("\n")[1] == "1 张三 1835* 1胜1平0负"
    assert await ask(rig, "/排行榜 第9页 文字") == ("没有第9页，单跳1v1榜共1页。\n/排行榜 第1页 文字", None)
    assert (await ask(rig, "/排行榜 单跳2v2"))[0] == "单跳2v2还没有人上榜：下过第一局计分棋就上榜。"


async def test_a_picture_that_qq_refuses_is_told_in_words(rig: Rig) -> None:
    rig.faults.refuse_image = True
    said, png = await ask(rig, "/排行榜")
    assert png is None and "1 张三 1835* 1胜1平0负" in said


async def test_a_published_list_is_posted_as_a_picture_in_the_groups_of_its_pool(rig: Rig) -> None:
    rig.qq.say(SCORING, rig.people["小周"], "/发布榜单 十一月榜")
    await rig.idle()
    posted, receipt = rig.last(OFFICIAL), rig.last(SCORING)
    assert posted.text == "单跳1v1第1期 十一月榜（第1/1页，共2人）"
    assert png_of(posted) is not None and png_of(receipt) is None
    assert receipt.text.startswith("单跳1v1第1期已发布")
    said, png = await ask(rig, "/排行榜 第1期")
    assert said == posted.text and png == png_of(posted)


async def test_a_published_list_that_cannot_be_drawn_is_posted_in_words(rig: Rig) -> None:
    break_pictures(rig)
    rig.qq.say(SCORING, rig.people["小周"], "/发布榜单")
    await rig.idle()
    posted = rig.last(OFFICIAL)
    assert "1 张三 1835* 1胜1平0负" in posted.text and png_of(posted) is None


async def test_past_days_are_pictures_too(rig: Rig) -> None:
    rig.clock.pass_hours(48)
    await rig.say("裁判老赵", "张三 胜 王五")
    said, png = await ask(rig, "/排行榜 2026-11-30")
    assert said == "单跳1v1等级分排行榜 2026-11-30（第1/1页，共2人）" and png is not None


# --- players ----------------------------------------------------------------------------------------------------


async def test_a_card_is_a_picture(rig: Rig) -> None:
    said, png = await ask(rig, "/等级分")
    assert said == "张三 第1名，显示分 1834.5（单跳1v1）" and png is not None
    said, other = await ask(rig, "/等级分 王五")
    assert said == "王五 不在榜上，显示分 1800.0（单跳1v1）" and other not in (None, png)
    break_pictures(rig)
    assert (await ask(rig, "/等级分 李四"))[0].startswith("李四 第2名，共2人（单跳1v1）\n显示分 1805.5，实际分 1985.5")


async def test_a_private_question_gets_a_picture_too(rig: Rig) -> None:
    number = rig.people["张三"]
    rig.qq.say_private(number, "/等级分")
    await rig.idle()
    assert png_of(rig.qq.private_history(number)[-1]) is not None


async def test_curves_of_oneself_and_of_several(rig: Rig) -> None:
    said, own = await ask(rig, "/曲线")
    assert said == "张三的等级分曲线（单跳1v1）" and own is not None
    said, both = await ask(rig, "/曲线 张三 李四 王五 张三")
    assert said == "张三、李四的等级分曲线（单跳1v1）\n王五还没有计分对局" and both not in (None, own)
    assert await ask(rig, "/曲线 王五") == ("王五在单跳1v1还没有计分对局，没有曲线。", None)
    assert (await ask(rig, "/曲线 张三 单跳2v2"))[0] == "张三在单跳2v2还没有计分对局，没有曲线。"


async def test_curves_in_words_and_wrong_ones(rig: Rig) -> None:
    break_pictures(rig)
    assert (await ask(rig, "/曲线 张三 李四"))[0] == (
        "等级分曲线（单跳1v1），图发不出来，只有数字：\n"
        "张三 2026-11-30起，现在2014.5，今年+14.5，在2000.0到2016.0之间\n"
        "李四 2026-11-30起，现在1985.5，今年-14.5，在1984.0到2000.0之间"
    )
    assert "榜上没有「王二麻」" in (await ask(rig, "/曲线 张三 王二麻"))[0]
    await rig.league_of("甲甲", "乙乙", "丙丙")
    too_many = await ask(rig, "/曲线 张三 李四 王五 甲甲 乙乙 丙丙")
    assert too_many[0].startswith("没看懂。格式：/曲线 [名字…] [榜]")
    rig.person("路人")
    assert "没有绑定" in (await ask(rig, "/曲线", "路人"))[0]


# --- two players, and the season --------------------------------------------------------------------------------


async def test_a_record_is_a_picture_once_two_have_met(rig: Rig) -> None:
    said, png = await ask(rig, "/对战 张三 李四")
    assert said == "张三 对 李四（单跳1v1）：1胜1平0负" and png is not None
    said, png = await ask(rig, "/对战 张三 王五")
    assert said.split("\n")[:2] == ["张三 对 王五（单跳1v1）", "两边还没有交过手。"] and png is None


async def test_partners_have_a_record_too(rig: Rig, typesetter: Typesetter) -> None:
    await rig.league_of("赵六")
    await rig.open_pairs_group("单跳2v2")
    use(rig, typesetter)
    await rig.say("裁判老赵", "张三 李四 胜 王五 赵六", PAIRS)
    said, png = await ask(rig, "/对战 张三 李四", group=PAIRS)
    assert said == "张三 对 李四（单跳2v2）：0胜0平0负" and png is not None
    said, png = await ask(rig, "/对战 张三 李四 王五 赵六", group=PAIRS)
    assert said == "张三、李四 对 王五、赵六（单跳2v2）：1胜0平0负" and png is not None
    assert (await ask(rig, "/曲线", group=PAIRS))[0] == "张三的等级分曲线（单跳2v2）"


async def test_a_settlement_s_preview_is_one_picture_and_its_pages_are_words(rig: Rig) -> None:
    rig.clock.at = ms("2027-01-05 12:00")
    said, png = await ask(rig, "/结算 预览", "小周", SCORING)
    assert said == "2026赛季结算预览（单跳1v1）\n执行请发：\n/结算 执行 2026 单跳1v1" and png is not None
    said, png = await ask(rig, "/结算 预览 第1页", "小周", SCORING)
    assert "扣20分并封存2人（L7，不满10局）：张三2局、李四2局" in said and png is None
    break_pictures(rig)
    assert await ask(rig, "/结算 预览 2026", "小周", SCORING) == (said, None)


async def test_with_pictures_off_nothing_is_drawn_nor_kept(tmp_path: Path) -> None:
    async with running_rig(tmp_path) as rig:
        assert rig.parts is not None and rig.parts.painter is None
        await rig.league_of("张三", "李四")
        await rig.say("裁判老赵", "张三 胜 李四")
        for typed in ("/排行榜", "/等级分 张三", "/对战 张三 李四", "/曲线 张三"):
            assert (await ask(rig, typed, "裁判老赵"))[1] is None
        assert all((row.picture, row.caption) == (None, "") for row in await rig.outbox())


async def test_a_high_rated_player_s_card_says_what_keeps_him(rig: Rig) -> None:
    async with rig.league.transaction() as tx:
        owner = await tx.known(tx.directory.actor(str(OWNER), rig.league.superusers))
        await people.register(tx, owner, "高手", "冠军", rig.clock.at)
    assert rig.parts is not None and rig.parts.painter is not None
    await ask(rig, "/等级分 高手")
    ((picture, _),) = rig.parts.painter._done.items()
    assert "现在不能报分：实际分满2200，还没有核验IP截图（L11）。" in picture.data


async def test_what_a_picture_showed_is_not_kept_once_it_is_out(rig: Rig) -> None:
    await ask(rig, "/排行榜")
    row = (await rig.outbox())[-1]
    assert (row.state, row.picture) == ("sent", None)
    assert row.caption == "单跳1v1等级分排行榜 2026-11-30（第1/1页，共2人）"
    assert row.text.startswith("单跳1v1等级分排行榜 2026-11-30（第1/1页，共2人）\n1 张三")
