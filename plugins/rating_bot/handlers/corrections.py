"""Corrections (§10): /改判, /改赛事, /撤销, /免罚, /合并, /调分; each is previewed."""

from collections.abc import Iterator, Sequence
from typing import Any

from plugins.rating_bot.handlers.context import Context
from plugins.rating_bot.handlers.grammar import (
    FULL_WIDTH,
    Mismatch,
    Person,
    Slot,
    Token,
    choice,
    matching,
    number,
    person,
    split,
    text,
)
from plugins.rating_bot.handlers.happenings import homes
from plugins.rating_bot.handlers.previews import applies
from plugins.rating_bot.handlers.refusals import bound, explained
from plugins.rating_bot.handlers.slots import EventNamed, event
from plugins.rating_bot.handlers.slots import pool as pool_slot
from plugins.rating_bot.handlers.table import Role, command
from plugins.rating_bot.wire.messages import Out, at
from plugins.rating_bot.wording import corrections as wording
from plugins.rating_bot.wording.events import unknown_event
from rating_core.directory import Directory
from rating_core.report_text import WORDS, GameLine
from rating_core.rulebook import DEFAULT_POOL, POOLS
from rating_core.service import corrections as service
from rating_core.service.correction_plans import Action, Request
from rating_core.store.desk_store import Preview

CASUAL = "约战"
_TARGETS: dict[str, Action] = {"局": "game", "账": "row", "#": "report"}
_TYPED = FULL_WIDTH | {ord("＋"): "+", ord("－"): "-", ord("−"): "-", ord("–"): "-"}


_refused = explained(lambda context, refusal: wording.refusal(refusal, context.directory, context.pool))


# --- previews -------------------------------------------------------------------------------------------------


@_refused
async def ask(context: Context, request: Request) -> list[Out]:
    """Show a correction as 预N."""
    return _shown(context, await service.propose(context.tx, context.actor, request, context.place))


def _shown(context: Context, result: service.Proposed) -> list[Out]:
    context.about = f"预{result.preview.preview_id}"
    said = wording.proposed(result, context.directory, context.at)
    return [context.answer(said, about=context.about)]


@applies(service.CORRECTION)
@_refused
async def confirm(context: Context, preview: Preview) -> list[Out]:
    """Carry it out, or show it anew where the book moved."""
    result = await service.apply(context.tx, context.actor, preview, context.place)
    if isinstance(result, service.Proposed):
        return _shown(context, result)
    by = context.directory.account_name(context.actor.account_id)
    pools = [change.pool for change in result.impact.own] + [result.plan.draft.pool]
    said = wording.applied(result, by, context.directory)
    desk = wording.applied_to_desk(result, by, context.directory)
    about, named = f"账{result.seq}", [pool for pool in dict.fromkeys(pools) if pool]
    chats = dict.fromkeys(chat for pool in named for chat in homes(context.settings, pool, ""))
    outs = [context.answer(desk, about=about)]
    return outs + [Out(chat, said, "notice", about) for chat in chats if chat != context.message.chat]


# --- games and reports ----------------------------------------------------------------------------------------


def _rest(key: str) -> Slot:
    """All that is left, as it can be split again: str."""

    def typed(token: Token) -> str:
        return at(token.text) if token.kind == "at" else f"「{token.text}」" if token.kind == "quoted" else token.text

    def take(tokens: Sequence[Token], directory: Directory) -> Iterator[tuple[int, Any]]:
        yield len(tokens), " ".join(map(typed, tokens))

    return Slot(key, take)


def _line_slots(size: int) -> list[Slot]:
    """Slots of a new line of a pool, and the reason."""
    left, right = ([person(f"{side}{i}") for i in range(size)] for side in ("left", "right"))
    return [*left, choice("result", list(WORDS)), *right, text("reason")]


def _read_line(context: Context, typed: str, size: int) -> tuple[GameLine, str]:
    """Read 甲 胜 乙 理由 (2v2: two names a side). Raises Mismatch."""
    try:
        values = split(typed, _line_slots(size), context.directory)
    except Mismatch as mismatch:
        raise (Mismatch() if mismatch.tie else mismatch) from None
    left, right = (tuple(bound(values[f"{side}{i}"]) for i in range(size)) for side in ("left", "right"))
    return GameLine(left, WORDS[values["result"]], right), values["reason"]


@command(
    "改判", form="/改判 局号 胜|平|负 理由，或 /改判 局号 甲 胜 乙 理由",
    help="改一局的结果（左边的胜平负），或连人一起改；先预览再确认，自己的对局不行",
    example="/改判 局34 负 报反了，双方都认",
    slots=(number("game", "局"), _rest("change")), role=Role.SCOREKEEPER, where="group",
)  # fmt: skip
@_refused
async def amend(context: Context, game: int, change: str) -> list[Out]:
    word, _, reason = change.partition(" ")
    if word in WORDS:
        if not reason:
            raise Mismatch(missing="reason")
        return await ask(context, Request("result", game, reason, context.at, result=WORDS[word]))
    index = context.book.find_game(game)
    pool = DEFAULT_POOL if index is None else context.book.columns.pool[index]
    line, reason = _read_line(context, change, POOLS[pool].side_size)
    return await ask(context, Request("line", game, reason, context.at, line=line))


@command(
    "改赛事", form="/改赛事 编号 #赛事|约战 理由", help="把一份已生效的报分改到别的赛事，或改成约战；系数跟着改",
    example="/改赛事 12 #皇后杯 报的时候忘了写赛事",
    slots=(number("target", "#"), choice("casual", [CASUAL], optional=True), event("named", optional=True),
           text("reason")),
    role=Role.SCOREKEEPER, where="group",
)  # fmt: skip
@_refused
async def move(context: Context, target: int, casual: str | None, named: EventNamed | None, reason: str) -> list[Out]:
    if casual is None and named is None:
        raise Mismatch
    if named is not None and (named.event is None or named.event not in context.tx.state.events):
        return [context.answer(unknown_event(named.typed, context.directory.events.values()))]
    other = None if casual or named is None else named.event
    return await ask(context, Request("event", target, reason, context.at, other=other))


def _target(key: str) -> Slot:
    """局34, 账56 or #12: (action, number)."""
    return matching(key, "([局账#])([0-9]{1,9})", lambda m: (_TARGETS[m.group(1)], int(m.group(2))))


@command(
    "撤销", form="/撤销 局34|账56 理由",
    help="一局、或账本里的一条（调分、请假、扣分、合并、更正、最新一期榜单……）当作没有过",
    example="/撤销 局34 两人没有下过这局", slots=(_target("target"), text("reason")),
    role=Role.SCOREKEEPER, where="group",
)  # fmt: skip
async def undo(context: Context, target: tuple[Action, int], reason: str) -> list[Out]:
    action, wanted = target
    return await ask(context, Request(action, wanted, reason, context.at))


@command(
    "免罚", form="/免罚 约号 理由", help="免去强制约战没应战的扣分（L9）；自己的不行", example="/免罚 约5 当时住院",
    slots=(number("target", "约"), text("reason")), role=Role.SCOREKEEPER, where="group",
)  # fmt: skip
async def lift(context: Context, target: int, reason: str) -> list[Out]:
    return await ask(context, Request("penalty", target, reason, context.at))


# --- people ---------------------------------------------------------------------------------------------------


@command(
    "合并", form="/合并 错名 正名 [理由]", help="一个人有两个名字：错名的对局、QQ都归正名，错名以后仍然认得；可以撤销",
    example="/合并 张三1 张三 重复登记", slots=(person("wrong"), person("right"), text("reason", optional=True)),
    role=Role.SCOREKEEPER, where="group",
)  # fmt: skip
@_refused
async def merge(context: Context, wrong: Person, right: Person, reason: str) -> list[Out]:
    return await ask(context, Request("merge", bound(wrong), reason, context.at, other=bound(right)))


def _points(key: str) -> Slot:
    """±N with its sign, at most two decimals: float."""

    def take(tokens: Sequence[Token], directory: Directory) -> Iterator[tuple[int, Any]]:
        typed = Token(tokens[0].kind, tokens[0].text.translate(_TYPED))
        yield from matching(key, r"[+-][0-9]{1,4}(?:\.[0-9]{1,2})?", lambda m: float(m.group())).take(
            [typed], directory
        )

    return Slot(key, take)


@command(
    "调分", form="/调分 名字 ±N [榜] 理由", help="给一个人加分或扣分；先预览再确认，自己的不行",
    example="/调分 张三 +20 漏记奖励分",
    slots=(person("who"), _points("amount"), pool_slot(), text("reason")), role=Role.SCOREKEEPER, where="group",
)  # fmt: skip
@_refused
async def adjust(context: Context, who: Person, amount: float, pool: str | None, reason: str) -> list[Out]:
    name = pool or context.pool
    return await ask(context, Request("adjust", bound(who), reason, context.at, amount=amount, pool=name))
