"""From the report to the book, over a real socket: every way a report can go, the questions, the restart."""

import pytest

from tests.e2e.world import BOT, ELSEWHERE, OFFICIAL, SCORING, World
from tests.support.engines import SQLITE

pytestmark = pytest.mark.asyncio(loop_scope="module")

PLAYERS = (
    "张三", "李四", "王五", "赵六", "钱七", "孙八", "周九", "吴十", "郑重", "冯唐", "陈平", "褚英", "卫青", "蒋干",
    "沈括", "韩信", "杨修", "朱熹", "秦琼", "尤三姐", "许褚", "何晏", "常胜将军", "平安",
)  # fmt: skip
THUMB = 76


def line(left: str, word: str, right: str) -> str:
    """Return one game as the bot writes it: four spaces."""
    return f"{left}    {word}    {right}"


async def test_report_prompt_quote_receipt_forward(world: World) -> None:
    prompt = await world.ask("张三", "张三 胜 李四\n张三　平　李四", "待确认")
    number = int(prompt.text.removeprefix("#").split()[0])
    assert prompt.mentions == (world.people["李四"],)
    assert line("张三", "胜", "李四") in prompt.text.split("\n")
    assert line("张三", "平", "李四") in prompt.text.split("\n")
    assert "「确认」" in prompt.text and "「有误」" in prompt.text
    assert prompt.text.split("\n")[-1] == f"确认 {number}"

    said = world.say("李四", "确认", quote=prompt.message_id)
    receipt = await world.hear("收到", f"#{number}", after=said)
    assert "张三 2014.5（+14.5） 未满20盘，还差18盘，榜上显示1834.5" in receipt.text
    assert "李四 1985.5（-14.5） 未满20盘，还差18盘，榜上显示1805.5" in receipt.text
    forward = await world.hear(f"#{number}", group=SCORING)
    assert forward.text.split("\n") == [
        f"#{number} 单跳1v1",
        line("张三", "胜", "李四"),
        line("张三", "平", "李四"),
        "上报：张三　确认：李四",
    ]


@pytest.mark.parametrize(
    ("reporter", "other", "word"),
    [("王五", "赵六", "确认"), ("钱七", "孙八", "确认 {0}"), ("周九", "吴十", "确认#{0}"), ("吴十", "周九", "OK")],
)
async def test_ways_to_confirm(world: World, reporter: str, other: str, word: str) -> None:
    number, prompt = await world.report(reporter, line(reporter, "胜", other))
    said = world.say(other, word.format(number), quote=prompt.message_id if word == "OK" else None)
    await world.hear("收到", f"#{number}", after=said)
    await world.hear(f"#{number} ", line(reporter, "胜", other), group=SCORING)
    again = await world.ask(other, f"确认 {number}", f"#{number}已生效")
    assert await world.said_since(again) == []


async def test_the_same_lines_from_the_other_side_confirm(world: World) -> None:
    number, _ = await world.report("郑重", "郑重 胜 冯唐\n郑重 负 冯唐")
    said = world.say("冯唐", "冯唐 负 郑重\n冯唐 胜 郑重")
    await world.hear("收到", f"#{number}（", after=said)
    await world.hear(f"#{number} ", line("郑重", "胜", "冯唐"), group=SCORING)


async def test_a_reaction_on_the_prompt_confirms(world: World) -> None:
    number, prompt = await world.report("陈平", line("陈平", "负", "褚英"))
    world.qq.react(OFFICIAL, prompt.message_id, world.people["张三"], THUMB)
    assert await world.said_since(prompt) == []
    world.qq.react(OFFICIAL, prompt.message_id, world.people["褚英"], THUMB)
    await world.hear("收到", f"#{number}（", after=prompt)


async def test_only_the_other_side_confirms(world: World) -> None:
    number, _ = await world.report("卫青", line("卫青", "胜", "蒋干"))
    world.join("冒名者")
    world.qq.set_card(OFFICIAL, world.people["冒名者"], "蒋干")
    await world.ask("冒名者", f"确认 {number}", "没有绑定名字")
    await world.ask("卫青", f"确认 {number}", "蒋干")
    await world.ask("张三", f"确认 {number}", f"#{number}")
    asked = await world.ask("小周", f"/作废 {number} 没下过", f"#{number}", "已作废")
    await world.ask("蒋干", f"确认 {number}", "已作废")
    assert not [m for m in world.qq.said_by_bot(SCORING) if m.text.startswith(f"#{number} 单跳")]
    assert asked.quote


async def test_disputed_then_confirmed_by_the_desk(world: World) -> None:
    number, prompt = await world.report("沈括", line("沈括", "胜", "韩信"))
    said = world.say("韩信", "有误 比分写反了", quote=prompt.message_id)
    await world.hear(f"#{number} 争议", after=said)
    notice = await world.hear(f"#{number} 争议", "韩信", "比分写反了", group=SCORING)
    assert line("沈括", "胜", "韩信") in notice.text.split("\n")
    await world.ask("张三", f"/代确认 {number} 双方核对过", "无权")
    said = world.say("小周", f"/代确认 {number} 双方核对过", SCORING)
    await world.hear("收到", f"#{number}（", after=prompt)
    await world.hear(f"#{number} 单跳1v1", "代确认", "双方核对过", group=SCORING, after=said)


async def test_withdrawn_by_command_and_by_recall(world: World) -> None:
    number, _ = await world.report("杨修", line("杨修", "胜", "朱熹"))
    await world.ask("朱熹", f"/撤回 {number}", "无权")
    await world.ask("杨修", f"/撤回 {number}", f"#{number} 已撤回")
    await world.ask("朱熹", f"确认 {number}", "已撤回")

    number, prompt = await world.report("杨修", line("杨修", "平", "朱熹"))
    report = world.qq.find(prompt.quote or 0)
    assert report is not None
    world.qq.recall(OFFICIAL, report.message_id, by=report.user_id)
    await world.hear(f"#{number} 已撤回", after=prompt)
    await world.ask("朱熹", f"确认 {number}", "已撤回")


async def test_a_referee_in_the_official_and_a_scorekeeper_in_the_scoring_group(world: World) -> None:
    said = world.say("裁判老赵", "秦琼 胜 尤三姐\n许褚 平 何晏")
    receipt = await world.hear("收到", "秦琼", after=said)
    assert receipt.quote == said.message_id
    forward = await world.hear(line("秦琼", "胜", "尤三姐"), line("许褚", "平", "何晏"), group=SCORING)

    said = world.say("小周", line("何晏", "胜", "秦琼"), SCORING)
    await world.hear("收到", "何晏", group=SCORING, after=said)
    assert len(await world.said_since(said, SCORING)) == 1, "what is posted in the scoring group is not forwarded again"
    assert forward.user_id == BOT


async def test_a_copy_of_a_report_is_asked_about(world: World) -> None:
    number, _ = await world.report("常胜将军", "常胜将军 胜 平安")
    answer = await world.ask("小周", "常胜将军 胜 平安", f"与#{number}相同", group=SCORING)
    said = world.say("小周", "另记", SCORING, quote=answer.message_id)
    await world.hear("收到", "常胜将军", group=SCORING, after=said)
    said = world.say("小周", f"/代确认 {number} 同意", SCORING)
    await world.hear(f"#{number} 单跳1v1", "代确认", "同意", group=SCORING, after=said)
    await world.hear("收到", f"#{number}（")
    board = await world.ask("常胜将军", "/战绩 平安", "平安")
    assert board.text.count("局") >= 2


@pytest.mark.parametrize(
    ("who", "text", "parts"),
    [
        ("张三", "/等级分", ("张三", "未满20盘")),
        ("李四", "／等级分张三", ("张三", "未满20盘")),
        ("李四", "/排行榜", ("等级分排行榜", "张三", "挑战者")),
        ("李四", "/排名 前3", ("1",)),
        ("王五", "/战绩 张三", ("张三", "李四", "局1")),
        ("王五", "/对战 张三 李四", ("张三", "李四")),
        ("王五", "/预测 张三 李四", ("胜", "平", "负")),
        ("赵六", "/计算 2000 胜 2200", ("2024.3", "2181.8")),
        ("赵六", "/解释 局1", ("2000", "16")),
        ("赵六", "/规则", ("挑战者",)),
        ("赵六", "/帮助", ("/等级分",)),
        ("钱七", "/等级分 张三丰", ("榜上没有", "是不是", "张三")),
        ("小周", "/待办", ("待办",)),
        ("小周", "/日志", ("代确认", "双方核对过")),
        ("小周", "/体检", ("体检：正常", "哈希链完整", "与现榜一致")),
        ("钱七", "/体检", ("无权",)),
        ("小周", "/任命 裁判 20001", ("无权",)),
    ],
)
async def test_questions(world: World, who: str, text: str, parts: tuple[str, ...]) -> None:
    await world.ask(who, text, *parts)


async def test_a_backup(world: World, engine: str) -> None:
    await world.ask("小周", "/备份", "已备份" if engine == SQLITE else "pg_dump")


async def test_the_template_stands_alone(world: World) -> None:
    said = world.say("钱七", "/格式 张三 李四")
    assert await world.said_since(said) == [line("张三", "胜", "李四") + "\n"]


async def test_a_newcomer_applies_and_is_approved(world: World) -> None:
    world.join("新来的")
    await world.ask("新来的", "/报名 新来的", "待审核", "审1")
    await world.hear("审1 报名", "新来的", group=SCORING)
    said = world.say("小周", "/通过 审1", SCORING)
    await world.hear("新来的", group=SCORING, after=said)
    await world.ask("新来的", "/等级分", "新来的", "2000")


async def test_where_and_to_what_it_is_silent(world: World) -> None:
    before = world.say("群主", "大家好")
    for text in ("今天中国队 胜 日本队", "请假的人真多", "确认", "/没有的命令", "好的 平 安"):
        world.say("群主", text)
    assert await world.said_since(before) == []
    for who, text in (("张三", line("张三", "胜", "李四")), ("张三", "/等级分"), ("李四", "确认 1"), ("小周", "/待办")):
        world.say(who, text, ELSEWHERE)
    assert await world.said_since(world.say("群主", "好")) == []
    assert world.qq.said_by_bot(ELSEWHERE) == []


async def test_a_private_report_is_sent_to_the_group(world: World) -> None:
    number = world.people["张三"]
    said = world.qq.say_private(number, line("张三", "胜", "李四"))
    await world.qq.wait_private(number, lambda m: m.user_id == BOT and "请在群里公开报分" in m.text, after=said)
    said = world.qq.say_private(number, "/等级分")
    await world.qq.wait_private(number, lambda m: m.user_id == BOT and "张三" in m.text, after=said)


async def test_everything_goes_on_after_a_restart(world: World) -> None:
    number, prompt = await world.report("朱熹", line("朱熹", "胜", "杨修"))
    other, _ = await world.report("张三", line("张三", "胜", "李四"))
    before = await world.ask("张三", "/等级分", "张三")
    await world.restart()
    after = await world.ask("李四", "/等级分 张三", "张三")
    assert after.text == before.text
    said = world.say("杨修", "确认", quote=prompt.message_id)
    await world.hear("收到", f"#{number}（", after=said)
    await world.hear(f"#{number} ", line("朱熹", "胜", "杨修"), group=SCORING)
    said = world.say("李四", f"有误 {other}")
    await world.hear(f"#{other} 争议", after=said)
    await world.ask("小周", f"/作废 {other} 没下", "已作废")
    await world.ask("小周", "/体检", "体检：正常")


async def test_the_book_at_the_end(world: World) -> None:
    await world.stop()
    book = await world.check_book()
    receipts = [m.text for g in (OFFICIAL, SCORING) for m in world.qq.said_by_bot(g) if m.text.startswith("收到")]
    assert set(book.columns.report) == {int(text.split("#")[1].split("（")[0]) for text in receipts}
    sent = [row for row in await world.outbox("sent") if row.kind in ("ack", "forward")]
    assert len({(row.chat, row.kind, row.about) for row in sent}) == len(sent)
