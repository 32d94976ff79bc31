"""Questions as people type them, through the whole bot: who is meant, which pool, and what is said to a wrong one."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from plugins.rating_bot.handlers.dispatch import load_handlers
from rating_core.ledger import Draft, IpChecked, LeaveTaken
from rating_core.rulebook import MASKED_NAME
from rating_core.times import season_start, show_time
from tests.support.rig import ELSEWHERE, OFFICIAL, SCORING, Rig, running_rig

UNBOUND = """\
您的QQ还没有绑定榜上的名字。
已经在榜上：/认领 名字
新棋手：/报名 名字 [名次]
看别人就写上名字，例如：
/等级分 张三"""


@pytest.fixture
async def rig(tmp_path: Path) -> AsyncIterator[Rig]:
    """张三 beat 李四, then drew (#1, 局1 and 局2); 老 顽童 and 常胜将军 have not played; 路人 is on no board."""
    async with running_rig(tmp_path) as rig:
        await rig.league_of("张三", "李四", "老 顽童", "常胜将军")
        rig.person("路人")
        await rig.say("张三", "张三 胜 李四\n张三 平 李四")
        await rig.say("李四", "确认")
        yield rig


async def ask(rig: Rig, text: str, who: str = "张三", group: int = OFFICIAL) -> str:
    """Ask and return the one answer."""
    (answer,) = await rig.say(who, text, group)
    return answer


# --- /等级分 ----------------------------------------------------------------------------------------------

CARD = """\
张三 第1名，共2人（单跳1v1）
显示分 1834.5，实际分 2014.5，未满20盘，还差18盘
2盘：1胜1平0负，胜率50.0%
历史最高分：满20盘后开始统计
状态：在榜
下面：2 李四 1805.5
最近2局：
局2 平 李四 -1.5
局1 胜 李四 +16.0"""


@pytest.mark.parametrize(
    "typed", ["/等级分", "/等级分 张三", "/等级分张三", "／等级分　张三", "/等级分 「张三」", "\u200b/等级分 单跳1v1"]
)
async def test_a_card_in_many_spellings(rig: Rig, typed: str) -> None:
    assert await ask(rig, typed) == CARD


async def test_the_answer_quotes_the_question_and_mentions_nobody(rig: Rig) -> None:
    asked = rig.qq.say(OFFICIAL, rig.people["路人"], "/等级分 张三")
    await rig.idle()
    assert (rig.last().quote, rig.last().mentions) == (asked.message_id, ())


async def test_names_with_spaces_and_result_words(rig: Rig) -> None:
    for name in ("老 顽童", "常胜将军"):
        assert (await ask(rig, f"/等级分 {name}")).startswith(f"{name} 不在榜上（单跳1v1）")
    assert (await ask(rig, "/对战 老 顽童 常胜将军")).startswith("老 顽童 对 常胜将军（单跳1v1）")


async def test_a_mention_is_the_player_of_that_account(rig: Rig) -> None:
    (answer,) = await rig.say("路人", "/等级分", at=())
    assert answer == UNBOUND
    segments = [
        {"type": "text", "data": {"text": "/等级分 "}},
        {"type": "at", "data": {"qq": str(rig.people["张三"])}},
    ]
    (answer,) = await rig.say("路人", "", segments=segments)
    assert answer == CARD
    segments[1]["data"]["qq"] = str(rig.people["路人"])
    (answer,) = await rig.say("张三", "", segments=segments)
    assert answer == "您@的人还没有绑定榜上的名字，请直接写名字。"


async def test_an_unknown_name_gets_near_misses(rig: Rig) -> None:
    answer = await ask(rig, "/等级分 常胜将车")
    assert "榜上没有「常胜将车」" in answer and "是不是「常胜将军」" in answer
    assert "榜上没有「王二麻」" in await ask(rig, "/对战 张三 王二麻")
    assert "榜上没有「王二麻」" in await ask(rig, "/格式 张三 王二麻")


async def test_another_pool(rig: Rig) -> None:
    for typed in ("/等级分 张三 单跳2v2", "/等级分 张三 #单跳2V2"):
        assert (await ask(rig, typed)).startswith("张三 不在榜上（单跳2v2）\n显示分 1800.0，实际分 2000.0，未满20盘")
    assert await ask(rig, "/排行榜 单跳2v2") == "单跳2v2还没有人上榜：下过第一局计分棋就上榜。"
    assert await ask(rig, "/战绩 单跳2v2") == "张三在单跳2v2还没有对局。"


async def test_questions_work_in_private_and_in_the_scoring_group_only_besides(rig: Rig) -> None:
    assert await rig.whisper("张三", "/等级分") == [CARD]
    assert await ask(rig, "/等级分 张三", "小周", SCORING) == CARD
    assert await rig.say("张三", "/等级分", ELSEWHERE) == []


async def test_nobody_learns_in_a_group_who_uses_the_masked_account(rig: Rig) -> None:
    """L13; in private its holder, who has no name of his own, sees its card."""
    rig.person("影子")
    await rig.whisper("群主", f"/蒙面人 批准 {rig.people['影子']}")
    mention = {"type": "at", "data": {"qq": str(rig.people["影子"])}}
    (answer,) = await rig.say("张三", "", segments=[{"type": "text", "data": {"text": "/等级分 "}}, mention])
    assert answer == "您@的人还没有绑定榜上的名字，请直接写名字。"
    assert await ask(rig, "/等级分", "影子") == UNBOUND
    (private,) = await rig.whisper("影子", "/等级分")
    assert private.startswith(f"{MASKED_NAME} 不在榜上（单跳1v1）")
    assert (await ask(rig, f"/等级分 {MASKED_NAME}")).startswith(f"{MASKED_NAME} 不在榜上（单跳1v1）")


# --- /排行榜 and /战绩 --------------------------------------------------------------------------------------

BOARD = """\
单跳1v1等级分排行榜 2026-11-30（第1/1页，共2人）
1 张三 1835* 1胜1平0负
2 李四 1805* 0胜1平1负
*未满20盘，显示分已扣
表格主编：挑战者"""


@pytest.mark.parametrize(
    "typed", ["/排行榜", "/排名", "/排行榜 1", "/排行榜 第1页", "/排行榜 前30", "/排行榜第1页 单跳1v1"]
)
async def test_the_board_in_many_spellings(rig: Rig, typed: str) -> None:
    assert await ask(rig, typed, "路人") == BOARD


@pytest.mark.parametrize("typed", ["/排行榜 2026-11-29", "/排名 2026年11月29日", "/排行榜2026/11/29 第2页 单跳1v1"])
async def test_a_day_before_the_first_entry(rig: Rig, typed: str) -> None:
    assert await ask(rig, typed) == "单跳1v1从2026-11-30开始有榜，再早没有。\n/排行榜 2026-11-30"


@pytest.mark.parametrize(
    "typed",
    ["/排行榜 2026-11-30", "/排名 2026.11.30", "/排行榜２０２６年１１月３０日 第１页", "/排行榜 2026-11-30 前5"],
)
async def test_today_is_a_day_too(rig: Rig, typed: str) -> None:
    assert await ask(rig, typed) == BOARD


async def test_a_past_day_in_pages(rig: Rig) -> None:
    rig.clock.pass_hours(24)
    assert await ask(rig, "/排行榜 2026-11-30") == BOARD
    assert await ask(rig, "/排行榜 2026-11-30 第2页") == "没有第2页，单跳1v1榜共1页。\n/排行榜 2026-11-30 第1页"
    assert await ask(rig, "/排行榜 2026-12-02") == "2026-12-02还没有到。看现在的：\n/排行榜"
    assert await ask(rig, "/排行榜 2026-13-01") == "没有2026-13-01这一天。日期这样写，例如：\n/排行榜 2026-12-01"
    assert await ask(rig, "/排行榜 2026-11-30 单跳2v2") == ("2026-11-30，单跳2v2还没有人上榜：下过第一局计分棋就上榜。")
    assert await ask(rig, "/排行榜 第3期") == "单跳1v1还没有发布过榜单。看现在的：\n/排行榜"


async def test_pages_that_are_not_there(rig: Rig) -> None:
    assert await ask(rig, "/排行榜 9") == "没有第9页，单跳1v1榜共1页。\n/排行榜 第1页"
    assert await ask(rig, "/战绩 第9页") == "没有第9页，张三的战绩（单跳1v1）共1页。"
    assert (await ask(rig, "/排行榜 第0页")) == BOARD
    assert "例如：\n/排行榜 第2页" in await ask(rig, "/排行榜 很多")


async def test_a_history_with_and_without_count(rig: Rig) -> None:
    head = "张三的战绩（单跳1v1，共2局，新的在前）\n"
    second, first = "局2 11-30 平 李四 2016.0→2014.5", "局1 11-30 胜 李四 2000.0→2016.0"
    for typed in ("/战绩", "/战绩 张三", "/战绩 20", "/战绩 张三 30", "/战绩张三 第1页"):
        assert await ask(rig, typed) == f"{head}{second}\n{first}"
    assert await ask(rig, "/战绩 张三 1") == f"{head}{second}\n更多：/战绩 张三"
    assert await ask(rig, "/战绩", "路人") == UNBOUND


# --- two players ------------------------------------------------------------------------------------------


async def test_a_record_of_two_and_of_the_speaker(rig: Rig) -> None:
    answer = """\
张三 对 李四（单跳1v1）
比分：张三 1胜1平0负
分数往来：张三 +14.5，李四 -14.5
防刷分（L6）：2026年约战张三净胜1局，到4局就暂停计分
最近2局（张三的）：
局2 11-30 平 -1.5
局1 11-30 胜 +16.0"""
    assert await ask(rig, "/对战 张三 李四", "路人") == answer
    assert await ask(rig, "/对战 李四") == answer
    assert await ask(rig, "/对战 李四", "路人") == UNBOUND


async def test_records_that_make_no_sense(rig: Rig) -> None:
    assert await ask(rig, "/对战 张三 张三") == "要写不同的人，自己和自己没有对局。"
    assert await ask(rig, "/对战 张三") == "要写不同的人，自己和自己没有对局。"
    assert await ask(rig, "/对战 张三 李四 老 顽童") == "请写两个名字（2v2写四个，前两个一边）。"
    assert await ask(rig, "/对战 张三 李四 老 顽童 常胜将军") == "单跳1v1一边1个人，请写两个名字。"
    assert await ask(rig, "/预测 张三 李四 单跳2v2") == "单跳2v2一边2个人，请写四个名字。"
    assert "例如：\n/对战 张三 李四" in await ask(rig, "/对战")


async def test_a_prediction(rig: Rig) -> None:
    assert (
        await ask(rig, "/预测 李四")
        == """\
张三 对 李四（单跳1v1，约战系数1）
现在的分：2014.5 对 1985.5
期望得分We：0.5417 对 0.4583
张三胜：张三 +14.7，李四 -14.7
张三平：张三 -1.3，李四 +1.3
张三负：张三 -17.3，李四 +17.3
防刷分（L6）：2026年约战张三净胜1局，到4局就暂停计分
现在下约战：计分。"""
    )
    assert (await ask(rig, "/预测 张三 李四 老 顽童 常胜将军 单跳2v2")).startswith(
        "张三、李四 对 老 顽童、常胜将军（单跳2v2，约战系数1）"
    )


async def test_a_prediction_with_somebody_on_leave_and_somebody_unchecked(rig: Rig) -> None:
    await rig.league_of("高分", placing="冠军")
    ids = {name: rig.league.directory.roster.resolve(name) or 0 for name in ("李四", "高分")}
    until = season_start(2027)
    async with rig.league.transaction() as tx:
        await tx.append(Draft(LeaveTaken(ids["李四"], until, ("单跳1v1",)), rig.clock.at, 1))
    answer = await ask(rig, "/预测 李四 高分")
    assert "现在不能报分：李四请假中，2027-01-01起才能参赛（L8）。" in answer
    assert "现在不能报分：高分实际分满2200，还没有核验IP截图（L11）。" in answer
    async with rig.league.transaction() as tx:
        await tx.append(Draft(IpChecked(ids["高分"], True), rig.clock.at, 1))
    assert (await ask(rig, "/预测 张三 高分")).endswith("现在下约战：计分。")
    assert "状态：请假（封存），2027-01-01起可参赛" in await ask(rig, "/等级分 李四")
    assert "李四" not in await ask(rig, "/排行榜")


async def test_a_locked_pair_is_told_what_it_owes(rig: Rig) -> None:
    await rig.say("张三", "张三 胜 李四\n" * 4)
    await rig.say("李四", "确认")
    owed = "张三还差4局，李四还差4局"
    assert owed in await ask(rig, "/对战 李四")
    assert (await ask(rig, "/预测 李四")).endswith(f"{owed}\n现在下约战：不计分。")
    assert "不计分（L6）：赛前净胜负已到4局，当时还要与别人下计分棋：张三4局，李四4局" in await ask(rig, "/解释 局6")


# --- the formula ------------------------------------------------------------------------------------------


async def test_calculations(rig: Rig) -> None:
    answer = await ask(rig, "/计算 2000 胜 2200")
    assert answer.splitlines()[4] == "2000.0+32×1×(1-0.2403)=2024.3（+24.3）"
    assert "2400.0+16×1.2×(0.5-0.5000)=2400.0（+0.0）" in await ask(rig, "/计算 2400 平 2400 1.2")
    assert await ask(rig, "/计算 2000 胜 2200 3") == "系数只有 1、1.2、2（L5）。例如：\n/计算 2000 胜 2200 1.2"
    for wrong in ("/计算", "/计算 2000 赢 2200", "/计算 张三 胜 李四", "/计算 2000 胜"):
        assert (await ask(rig, wrong)).endswith("例如：\n/计算 2000 胜 2200")


async def test_explanations(rig: Rig) -> None:
    said = show_time(rig.league.book.columns.at[0])
    answer = f"""\
局1（#1，账5）单跳1v1 {said}
张三 胜 李四，约战，系数c=1（L5）
新分=旧分+K×c×(W-We)（L1），We=1÷(10^(-dr÷400)+1)，dr=+0.0，We=0.5000
张三：K=32（不到2100），W=1，We=0.5000
2000.0+32×1×(1-0.5000)=2016.0（+16.0）
李四：K=32（不到2100），W=0，We=0.5000
2000.0+32×1×(0-0.5000)=1984.0（-16.0）
计分（L6）：赛前净胜0局，没到4局
未满20盘（L12）：下完这局依次还差19、19盘"""
    for typed in ("/解释 局1", "/解释 1", "/解释1"):
        assert await ask(rig, typed, "路人") == answer
    assert await ask(rig, "/解释 局99") == "没有局99。局号在 /战绩 里看。"
    assert (await ask(rig, "/解释")).endswith("例如：\n/解释 局34")


# --- rules and form ---------------------------------------------------------------------------------------


async def test_rules(rig: Rig) -> None:
    assert (await ask(rig, "/规则")).startswith("跳棋等级分规则：\n报分　L1 计算公式")
    for typed in ("/规则 L6", "/规则 6", "/规则防刷分"):
        assert (await ask(rig, typed)).startswith("L6 防刷分\n约战盘数不限")


async def test_the_form_stands_alone_and_unquoted(rig: Rig) -> None:
    for typed, line in (
        ("/格式", "棋手A    胜    棋手B"),
        ("/格式 张三", "张三    胜    棋手B"),
        ("/格式 张三 李四", "张三    胜    李四"),
        ("/格式 张三 李四 老 顽童 常胜将军", "张三    李四    胜    老 顽童    常胜将军"),
    ):
        assert (await ask(rig, typed)).rstrip("\n") == line
        assert rig.last().quote is None


async def test_a_form_filled_in_can_be_sent_as_it_is(rig: Rig) -> None:
    form = await ask(rig, "/格式 张三 老 顽童")
    assert "待确认" in await ask(rig, form)


def test_every_question_is_limited_and_explained() -> None:
    words = {"等级分", "排行榜", "战绩", "对战", "预测", "计算", "解释", "规则", "格式"}
    found = [command for command in load_handlers() if command.word in words]
    assert len(found) == len(words)
    for command in found:
        assert command.query and command.role == 0 and command.where == "any"
        assert command.form.startswith(f"/{command.word}") and command.example.startswith(f"/{command.word}")
