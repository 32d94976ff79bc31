"""Boards: /排行榜 of today, of any past day and of any published list; /封存名单; and /发布榜单."""

import re
from dataclasses import dataclass
from datetime import date

from plugins.rating_bot.handlers.context import Context
from plugins.rating_bot.handlers.grammar import choice, matching, text
from plugins.rating_bot.handlers.hints import Hint, hinted
from plugins.rating_bot.handlers.refusals import explained
from plugins.rating_bot.handlers.slots import count, page, pool
from plugins.rating_bot.handlers.table import Answer, Role, command
from plugins.rating_bot.pictures import board as pictures
from plugins.rating_bot.wire.messages import Out, group_chat
from plugins.rating_bot.wording import captions
from plugins.rating_bot.wording import lists as wording
from plugins.rating_bot.wording.queries import BOARD_PAGE, TEXT_WORD, board_page, no_board_page
from rating_core import queries
from rating_core.queries import Board
from rating_core.rulebook import DEFAULT_POOL
from rating_core.service import lists as service
from rating_core.state import PublishedList
from rating_core.times import day_of, start_of


@dataclass(frozen=True, slots=True)
class Past:
    """A published list or a day, as asked for; `day` is None for a day that no calendar has."""

    typed: str
    number: int | None
    day: date | None


def _past(found: re.Match[str]) -> Past:
    if found.group(1):
        return Past(f"第{int(found.group(1))}期", int(found.group(1)), None)
    numbers = [int(found.group(group)) for group in (2, 3, 4)]
    try:
        day = date(*numbers)
    except ValueError:
        return Past(found.group(), None, None)
    return Past(day.isoformat(), None, day)


PAST = matching("past", r"第?([0-9]{1,6})期|([0-9]{4})[-/.年]([0-9]{1,2})[-/.月]([0-9]{1,2})日?", _past, optional=True)


@command(
    "排行榜", aliases=("排名",), form="/排行榜 [第N期或日期] [第N页|前N] [文字] [榜]",
    help="当前的排行榜，涨跌和上一期榜单比；也能看某一期榜单，或者过去某天结束时的榜（按现在已知的更正重算）；"
    "加“文字”不要图片",
    example="/排行榜 第2页",
    slots=(
        PAST, count("page", r"第?([0-9]{1,3})页?"), count("top", r"前([0-9]{1,4})名?"),
        choice("form", [TEXT_WORD], optional=True), pool(),
    ), query=True,
)  # fmt: skip
@hinted
async def board(
    context: Context, past: Past | None, page: int | None, top: int | None, form: str | None, pool: str | None
) -> Answer:
    name, title, asked = pool or context.pool, "", ""
    wanted, most = max(1, page or 1), None if top is None else max(1, top)
    as_text = form is not None or not context.settings.pictures
    if past is None or past.day == day_of(context.at):
        size = BOARD_PAGE if as_text else pictures.ROWS
        part = slice((wanted - 1) * size, wanted * size)
        found = queries.board(context.book, context.directory, name, context.at, part=part)
    elif past.number is not None:
        listed = await _find_list(context, name, past.number)
        found, asked = queries.published_board(context.book, context.directory, name, listed), past.typed
        title = await context.tx.lists.title(listed.seq) or ""
    else:
        found, asked = await _board_of(context, name, past), past.typed
    if as_text:
        there_are_pictures = context.settings.pictures
        return board_page(found, wanted, most, context.pool, title=title, asked=asked, as_text=there_are_pictures)
    return _drawn(context, found, wanted, most, title, asked)


def _drawn(context: Context, found: Board, page: int, top: int | None, title: str, asked: str) -> Answer:
    """Return a page of a board as a picture; its text is the page of text that begins with the same player."""
    here, last = context.pool, pictures.pages(found, top)
    if page > last:
        return no_board_page(found, page, last, here, asked)
    beginning = (page - 1) * pictures.ROWS // BOARD_PAGE + 1
    text = board_page(found, beginning, top, here, title=title, asked=asked, as_text=True)
    if not found.of:
        return text
    caption = captions.board(found, page, last, here, title=title, asked=asked)
    return [context.answer(text, picture=pictures.picture(found, page, top, title), caption=caption)]


async def _find_list(context: Context, pool: str, number: int) -> PublishedList:
    """Return a published list. Raises Hint."""
    found = queries.find_list(context.book, pool, number)
    if found is None:
        known = [each.number for each in context.book.state.lists.get(pool, ())]
        given = await context.tx.counters.last(service.counter(pool))
        raise Hint(wording.no_list(pool, number, known, context.pool, gone=0 < number <= given))
    return found


async def _board_of(context: Context, pool: str, past: Past) -> Board:
    """Return the board as of the end of a past day. Raises Hint."""
    today, began = day_of(context.at), context.book.began(pool)
    if past.day is None:
        raise Hint(wording.no_such_day(past.typed, today))
    if past.day > today:
        raise Hint(wording.not_yet(past.day, pool, context.pool))
    if began is not None and past.day < day_of(began):
        raise Hint(wording.before_the_first(pool, day_of(began), context.pool))
    book = await context.tx.league.past.at_end_of(context.book, past.day)
    return queries.board(book, context.directory, pool, start_of(past.day))


@command(
    "封存名单", form="/封存名单 [第N页] [榜]", help="封存和请假的棋手：分数、什么时候因为什么封存、什么时候可以再参赛",
    example="/封存名单", slots=(page(), pool()), query=True,
)  # fmt: skip
async def archive(context: Context, page: int | None, pool: str | None) -> str:
    name = pool or context.pool
    rows = queries.archived(context.book, context.directory, name, context.at)
    return wording.archive_page(name, rows, page or 1, context.pool)


# --- publishing -------------------------------------------------------------------------------------------


def announcements(context: Context, published: service.Published) -> list[Out]:
    """Return a published list's first page for each group of its pool; where it was asked for it is the answer."""
    listed = PublishedList(published.number, published.as_of, published.seq, published.rows)
    board = queries.published_board(context.book, context.directory, published.pool, listed)
    asked, title, here = f"第{published.number}期", published.title, published.pool
    drawn = context.settings.pictures
    said = board_page(board, 1, here=here, title=title, asked=asked, as_text=drawn)
    picture = pictures.picture(board, 1, title=title) if drawn else None
    caption = captions.board(board, 1, pictures.pages(board), here, title=title, asked=asked) if drawn else ""
    outs = []
    for group, its_pool in context.settings.official_groups.items():
        if (its_pool or DEFAULT_POOL) == published.pool:
            quote = context.message.message_id if group == context.message.group else None
            outs.append(Out(group_chat(group), said, "notice", asked, quote, picture, caption))
    return outs


@command(
    "发布榜单", form="/发布榜单 [榜] [标题]", help="把现在的榜定为第N期，发到这个榜的群里；以后的涨跌和这一期比",
    example="/发布榜单", slots=(pool(), text("title", optional=True)), role=Role.SCOREKEEPER, where="group",
)  # fmt: skip
@explained(lambda _, refusal: wording.refusal(refusal))
async def publish(context: Context, pool: str | None, title: str) -> list[Out]:
    done = await service.publish(context.tx, context.actor, pool or context.pool, context.at, context.at, title)
    outs = announcements(context, done)
    if all(out.chat != context.message.chat for out in outs):
        outs.insert(0, context.answer(wording.published(done, len(outs), context.pool), about=f"第{done.number}期"))
    return outs
