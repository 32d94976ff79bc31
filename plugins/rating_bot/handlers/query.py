"""Questions, which write nothing: /等级分 /曲线 /战绩 /对战 /预测 /计算 /解释, and /规则 /格式."""

from collections.abc import Sequence

from plugins.rating_bot.handlers.context import Context
from plugins.rating_bot.handlers.grammar import Person, choice, decimal, number, people, person, text
from plugins.rating_bot.handlers.hints import Hint, hinted, player_of
from plugins.rating_bot.handlers.slots import count, page, pool
from plugins.rating_bot.handlers.table import Answer, command
from plugins.rating_bot.pictures import card as card_picture
from plugins.rating_bot.pictures import curve as curve_picture
from plugins.rating_bot.pictures import head_to_head as record_picture
from plugins.rating_bot.wire.messages import Out
from plugins.rating_bot.wording import captions, formula, rules
from plugins.rating_bot.wording import curves as curve_wording
from plugins.rating_bot.wording import queries as wording
from rating_core import queries
from rating_core.report_text import WORDS, template
from rating_core.rulebook import CASUAL_WEIGHT, EVENT_WEIGHTS, POOLS
from rating_core.times import day_of

MOST_CURVES = 5


def _sides(context: Context, first: Person, others: Sequence[Person]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return two sides: the speaker and the one named, two players, or two pairs. Raises Hint."""
    if len(others) == 2:
        raise Hint(wording.TWO_NAMES)
    named = [player_of(context, who) for who in (first, *others)]
    if not others:
        named.insert(0, player_of(context, None))
    if len(set(named)) < len(named):
        raise Hint(wording.SAME_PERSON)
    half = len(named) // 2
    return tuple(named[:half]), tuple(named[half:])


# --- players ------------------------------------------------------------------------------------------------


@command(
    "等级分", form="/等级分 [名字或@] [榜]", help="看一个人的等级分、名次、战绩和状态，不写名字就是自己",
    example="/等级分 张三", slots=(person("who", optional=True), pool()), query=True,
)  # fmt: skip
@hinted
async def card(context: Context, who: Person | None, pool: str | None) -> list[Out]:
    player, name = player_of(context, who), pool or context.pool
    found = queries.card(context.book, context.directory, name, player, context.at)
    picture = card_picture.picture(found, queries.curve(context.book, context.directory, name, player))
    return [context.answer(wording.card(found), picture=picture, caption=captions.card(found))]


@command(
    "曲线", form="/曲线 [名字…] [榜]", help="等级分曲线图，最多5个人，不写名字就是自己", example="/曲线 张三 李四",
    slots=(people("who", MOST_CURVES), pool()), query=True,
)  # fmt: skip
@hinted
async def curves(context: Context, who: list[Person], pool: str | None) -> list[Out]:
    name = pool or context.pool
    players = list(dict.fromkeys(player_of(context, one) for one in who)) or [player_of(context, None)]
    drawn = [queries.curve(context.book, context.directory, name, player) for player in players]
    without, drawn = [one.name for one in drawn if not one.points], [one for one in drawn if one.points]
    if not drawn:
        raise Hint(curve_wording.none(without, name))
    cards = [queries.card(context.book, context.directory, name, one.player, context.at) for one in drawn]
    text = curve_wording.figures(drawn, without, context.at)
    picture = curve_picture.picture(drawn, cards, context.at)
    return [context.answer(text, picture=picture, caption=captions.curves(drawn, without))]


@command(
    "战绩", form="/战绩 [名字] [条数或第N页] [榜]", help="最近的对局，带局号和赛前赛后的分", example="/战绩 张三 第2页",
    slots=(person("who", optional=True), page(), count("count", r"前?([0-9]{1,3})[条局]?"), pool()),
    query=True,
)  # fmt: skip
@hinted
async def history(context: Context, who: Person | None, page: int | None, count: int | None, pool: str | None) -> str:
    player = player_of(context, who)
    shown = max(1, page or 1) if count is None else 1
    wanted = shown * wording.HISTORY_PAGE if count is None else max(1, count)
    games = queries.history(context.book, context.directory, pool or context.pool, player, wanted)
    return wording.history_page(games, shown, context.at, count, context.pool)


# --- two players ------------------------------------------------------------------------------------------


@command(
    "对战", form="/对战 甲 乙 [榜]", help="两个人的对战成绩、分数往来和防刷分情况；只写一个名字就是自己和他",
    example="/对战 张三 李四", slots=(person("first"), people("others", 3), pool()), query=True,
)  # fmt: skip
@hinted
async def head_to_head(context: Context, first: Person, others: list[Person], pool: str | None) -> Answer:
    name = pool or context.pool
    left, right = _sides(context, first, others)
    if len(left) > POOLS[name].side_size:
        raise Hint(formula.size_of_sides(name))
    record = queries.head_to_head(context.book, context.directory, name, left, right, context.at)
    text = wording.head_to_head(record, context.at, context.directory.name_of)
    together = record.together is not None and (record.together.games or record.together.uncounted)
    if not record.rows and not together:
        return text
    picture = record_picture.picture(record, context.at, context.directory.name_of)
    return [context.answer(text, picture=picture, caption=captions.head_to_head(record))]


@command(
    "预测", form="/预测 甲 乙 [榜]", help="下一局约战胜、平、负各加减多少分，现在能不能计分；只写一个名字就是自己和他",
    example="/预测 张三 李四", slots=(person("first"), people("others", 3), pool()), query=True,
)  # fmt: skip
@hinted
async def prediction(context: Context, first: Person, others: list[Person], pool: str | None) -> str:
    name = pool or context.pool
    left, right = _sides(context, first, others)
    if len(left) != POOLS[name].side_size:
        raise Hint(formula.size_of_sides(name))
    worked = queries.prediction(context.book, context.directory, name, left, right, context.at)
    return formula.prediction(worked, context.directory.name_of)


# --- the formula ------------------------------------------------------------------------------------------


@command(
    "计算", form="/计算 左边的分 胜|平|负 右边的分 [系数]", help="按公式试算一局", example="/计算 2000 胜 2200",
    slots=(decimal("left"), choice("result", list(WORDS)), decimal("right"), decimal("weight", optional=True)),
    query=True,
)  # fmt: skip
async def calculate(context: Context, left: float, result: str, right: float, weight: float | None) -> str:
    if weight is not None and weight not in EVENT_WEIGHTS.values():
        return formula.NO_WEIGHT
    pool = POOLS[context.pool].rules
    worked = queries.calculate([left], WORDS[result], [right], CASUAL_WEIGHT if weight is None else weight, pool)
    return formula.calculation(worked, pool)


@command(
    "解释", form="/解释 局号", help="一局的分数是怎么算出来的，为什么计分或不计分，有没有更正过", example="/解释 局34",
    slots=(number("game", "局"),), query=True,
)  # fmt: skip
async def explain(context: Context, game: int) -> str:
    found = queries.explain(context.book, context.directory, game)
    if found is None:
        return formula.no_game(game)
    said = {}
    for correction in found.corrections[-1:]:
        row = await context.tx.ledger.row(correction.seq)
        if row is not None:
            why = await context.tx.ledger.reason(row.seq)
            said[row.seq] = context.directory.account_name(row.actor), why
    return formula.explanation(found, context.directory.name_of, said)


# --- rules and form ---------------------------------------------------------------------------------------


@command(
    "规则", form="/规则 [条]", help="等级分规则，可以加条号或关键词", example="/规则 防刷分",
    slots=(text("asked", optional=True),), query=True,
)  # fmt: skip
async def show_rules(context: Context, asked: str) -> str:
    return rules.rules(asked, day_of(context.at))


@command(
    "格式", form="/格式 [甲 乙]", help="报分格式，复制后改名字和胜平负", example="/格式 张三 李四",
    slots=(people("who", 4),), query=True, quote=False,
)  # fmt: skip
@hinted
async def form(context: Context, who: list[Person]) -> str:
    named = [context.directory.name_of(player_of(context, one)) for one in who]
    size = 2 if len(named) > 2 else POOLS[context.pool].side_size
    half = 1 if len(named) <= 2 else 2
    return template(named[:half], named[half:], side_size=size)
