"""Events: /赛事 新建, 结束, 列表, 战绩; and performance ratings, /表现分."""

from collections import Counter

from plugins.rating_bot.handlers.context import Context
from plugins.rating_bot.handlers.grammar import Person, any_order, choice, new_name, person
from plugins.rating_bot.handlers.hints import Hint, hinted, player_of
from plugins.rating_bot.handlers.people import reserved
from plugins.rating_bot.handlers.refusals import explained
from plugins.rating_bot.handlers.slots import EventNamed, event, page, pool
from plugins.rating_bot.handlers.table import Role, command
from plugins.rating_bot.wording import events as wording
from rating_core import queries
from rating_core.rulebook import EVENT_WEIGHTS, UNRATED_WEIGHT, UNRATED_WORD
from rating_core.service import events as service
from rating_core.times import season_of

WEIGHTS = {**EVENT_WEIGHTS, UNRATED_WORD: UNRATED_WEIGHT}
NO_SIGNOFF = "免裁判"
OWN_WORDS = frozenset({UNRATED_WORD, NO_SIGNOFF, "约战", "新建", "结束", "列表", "战绩"})
"""Words that mean something else where an event is named."""

_OPTIONS = (choice("weight", list(WEIGHTS)), pool(), choice("no_signoff", [NO_SIGNOFF], optional=True))


_refused = explained(lambda _, refusal: wording.refusal(refusal))


def _event(context: Context, named: EventNamed) -> int:
    """Return the event meant. Raises Hint."""
    if named.event is None:
        raise Hint(wording.unknown_event(named.typed, context.directory.events.values()))
    return named.event


@command(
    "赛事 新建", aliases=("赛事新建",), form=f"/赛事 新建 名字 {'|'.join(WEIGHTS)} [榜] [{NO_SIGNOFF}]",
    help=f"开一个赛事；选手在里面报分要对方确认、再由裁判确认，写{NO_SIGNOFF}就不用裁判；{UNRATED_WORD}的不收报分",
    example="/赛事 新建 皇后杯 1.2",
    slots=(any_order(new_name("name", _OPTIONS), *_OPTIONS),), role=Role.SCOREKEEPER, where="group",
)  # fmt: skip
@_refused
async def open_event(context: Context, name: str, weight: str, pool: str | None, no_signoff: str | None) -> str:
    signoff, where = no_signoff is None, pool or context.pool
    number = await service.open_event(
        context.tx, context.actor, name.lstrip("#＃"), WEIGHTS[weight], where, signoff=signoff,
        said_at=context.at, reserved=reserved() | OWN_WORDS,
    )  # fmt: skip
    return wording.opened(context.directory.events[number], WEIGHTS[weight], where, signoff=signoff)


@command(
    "赛事 结束", aliases=("赛事结束",), form="/赛事 结束 名字", help="赛事不再收报分；结束前报的照样计分",
    example="/赛事 结束 皇后杯", slots=(event("named"),), role=Role.SCOREKEEPER, where="group",
)  # fmt: skip
@_refused
@hinted
async def close_event(context: Context, named: EventNamed) -> str:
    number = _event(context, named)
    seq, waiting = await service.close_event(context.tx, context.actor, number, context.at)
    return wording.closed(context.directory.events[number], seq, waiting)


@command(
    "赛事 列表", aliases=("赛事列表", "赛事"), form="/赛事 列表 [第N页]", example="/赛事 列表",
    help="有哪些赛事，系数、榜、局数，哪些在等裁判确认", slots=(page(),), query=True,
)  # fmt: skip
async def list_events(context: Context, page: int | None) -> str:
    actor = context.actor
    confirmed = [report for report in await context.tx.reports.open_ones() if report.state == "confirmed"]
    own = context.directory.is_or_was_in
    to_sign = [r.report_id for r in confirmed if actor.judge and not own(actor.account_id, r.players)]
    waiting = Counter(report.event_id for report in confirmed if report.event_id is not None)
    return wording.event_list(queries.events(context.book, context.directory), page or 1, waiting, to_sign)


@command(
    "赛事 战绩", aliases=("赛事战绩",), form="/赛事 战绩 名字 [第N页]",
    help="一个赛事里每个人的局数、胜平负、得分和表现分（公式、查表两种算法）", example="/赛事 战绩 皇后杯",
    slots=(event("named"), page()), query=True,
)  # fmt: skip
@hinted
async def standings(context: Context, named: EventNamed, page: int | None) -> str:
    number = _event(context, named)
    return wording.standings_page(queries.standings(context.book, context.directory, number), page or 1)


@command(
    "表现分", form="/表现分 [名字或@] [#赛事] [榜]",
    help="表现分的算法和结果（公式、查表两种）；不写赛事就是本赛季在榜里的全部计分棋，不写名字就是自己",
    example="/表现分 张三 #皇后杯", slots=(person("who", optional=True), event("named", optional=True), pool()),
    query=True,
)  # fmt: skip
@hinted
async def performance(context: Context, who: Person | None, named: EventNamed | None, pool: str | None) -> str:
    player = player_of(context, who)
    name = context.directory.name_of(player)
    if named is not None:
        number = _event(context, named)
        found, where = queries.event_performance(context.book, number, player), context.directory.events[number]
    else:
        season, board = season_of(context.at), pool or context.pool
        found, where = queries.season_performance(context.book, board, player, season), f"{board}，{season}赛季"
    return wording.no_performance(name, where) if found is None else wording.performance(name, where, found)
