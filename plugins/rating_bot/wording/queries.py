"""What the bot answers to questions about boards, players and games: plain text, no table that needs a fixed pitch."""

from collections.abc import Callable, Sequence

from plugins.rating_bot.wording.common import fit, fits, pages_of
from plugins.rating_bot.wording.reports import bar_reason
from rating_core.elo import show_change, show_rating
from rating_core.queries import Board, BoardRow, Card, Change, GameRow, HeadToHead, History, Meter, Together
from rating_core.rulebook import CHIEF_EDITOR, DEFAULT_POOL, FARMING_REPAY, PEAK_GAMES
from rating_core.times import day_of, season_of, show_day

BOARD_PAGE = 10
"""Players on one page of the text board."""
TEXT_WORD = "文字"
"""Typed behind /排行榜 to get text where there are pictures."""
HISTORY_PAGE = 10
"""Games on one page at most; long lines make a page shorter."""

UNBOUND = """您的QQ还没有绑定榜上的名字。
已经在榜上：/认领 名字
新棋手：/报名 名字 [名次]
看别人就写上名字，例如：
/等级分 张三"""
UNBOUND_OTHER = "您@的人还没有绑定榜上的名字，请直接写名字。"
SAME_PERSON = "要写不同的人，自己和自己没有对局。"
TWO_NAMES = "请写两个名字（2v2写四个，前两个一边）。"


def pool_suffix(pool: str, here: str) -> str:
    """Return the pool as it has to be typed behind a command; nothing for the pool that questions here mean."""
    return "" if pool == here else f" {pool}"


def side(names: Sequence[str]) -> str:
    """Return a side's names as one."""
    return "、".join(names)


def when(at: int, now: int) -> str:
    """Return the day of a game, without the year when it is the current one."""
    day = show_day(at)
    return day[5:] if season_of(at) == season_of(now) else day


def weight_note(row: GameRow) -> str:
    parts = [row.event] if row.event else []
    if row.weight != 1:
        parts.append(f"×{row.weight:g}")
    return f" {''.join(parts)}" if parts else ""


# --- the board --------------------------------------------------------------------------------------------


def change_text(change: Change | None) -> str:
    """Return the 涨跌 in short (L15): +15.5↑2; 新; nothing where nothing moved or there is no list to compare with."""
    if change is None:
        return ""
    if change.rating is None or change.rank is None:
        return "新"
    rank = f"↑{change.rank}" if change.rank > 0 else f"↓{-change.rank}" if change.rank else ""
    rating = show_change(change.rating)
    return rank if not float(rating) else rating + rank


def _board_row(row: BoardRow, *, record: bool = True) -> str:
    change = change_text(row.change)
    return (
        f"{row.rank} {row.name} {show_rating(row.shown, 0)}{'*' if row.missing else ''}"
        f"{' ' if change else ''}{change}{f' {row.wins}胜{row.draws}平{row.losses}负' if record else ''}"
    )


def board_head(board: Board, page: int, pages: int, title: str = "") -> str:
    """Return what a page of a board shows; `title` heads a published list."""
    name = f"{board.pool}等级分排行榜 {show_day(board.at)}"
    if board.number is not None:
        name = f"{board.pool}第{board.number}期 {title or show_day(board.at)}"
    against = "" if board.against is None else f"，涨跌比第{board.against}期"
    return f"{name}（第{page}/{pages}页，共{board.of}人{against}）"


def board_typed(board: Board, page: int, here: str, asked: str = "", *, as_text: bool = False) -> str:
    """Return what is typed to see a page of a board. `asked`: 第3期, or its day; `as_text` where it is to be text."""
    words = ["/排行榜", asked, f"第{page}页", TEXT_WORD if as_text else ""]
    return " ".join(word for word in words if word) + pool_suffix(board.pool, here)


def no_board_page(
    board: Board, page: int, pages: int, here: str, asked: str = "", *, as_text: bool = False
) -> str:  # fmt: skip
    """There is no such page."""
    return f"没有第{page}页，{board.pool}榜共{pages}页。\n{board_typed(board, pages, here, asked, as_text=as_text)}"


def board_page(
    board: Board, page: int, top: int | None = None, here: str = DEFAULT_POOL, *, title: str = "", asked: str = "",
    as_text: bool = False,
) -> str:  # fmt: skip
    """Return a page of a board, its marks and how to see the next; `top` shows only the first so many.

    `here` is the pool that a question without a pool's name means; title, asked, as_text: see above. The rows of the
    page must be at hand. Where their names are so long that they do not fit, their records are left out.
    """
    if not board.of:
        when = f"{asked}，" if asked else ""
        return f"{when}{board.pool}还没有人上榜：下过第一局计分棋就上榜。"
    count = board.wanted(top)
    pages = -(-count // BOARD_PAGE)
    if not 1 <= page <= pages:
        return no_board_page(board, page, pages, here, asked, as_text=as_text)
    rows = board.between((page - 1) * BOARD_PAGE, min(page * BOARD_PAGE, count))
    head = board_head(board, page, pages, title)
    marks = [f"*未满{board.needed}盘，显示分已扣"] if any(row.missing for row in rows) else []
    typed = board_typed(board, page + 1, here, asked, as_text=as_text)
    foot = [*marks, f"表格主编：{CHIEF_EDITOR}", *([f"下一页：{typed}"] if page < pages else [])]
    text = "\n".join([head, *map(_board_row, rows), *foot])
    return text if fits(text) else "\n".join([head, *(_board_row(row, record=False) for row in rows), *foot])


# --- one player -------------------------------------------------------------------------------------------


def state_line(card: Card) -> str:
    """Return whether he stands on the board, is archived or on leave, and until when."""
    if card.state == "masked":
        return "状态：公用号，不参与排名（L13）"
    place = {"listed": "在榜", "unlisted": "还没有计分对局，未上榜"}.get(card.state, "封存")
    if card.leave_until is not None:
        return f"状态：请假（{place}），{show_day(card.leave_until)}起可参赛"
    if card.state != "archived":
        return f"状态：{place}"
    if card.barred_until is not None:
        return f"状态：封存，{show_day(card.barred_until)}起可参赛"
    return "状态：封存，再有一次报分生效就回到榜上"


def _peak(card: Card) -> str:
    if card.state == "masked":
        return "历史最高分：公用号不统计"
    if card.peak is None:
        return f"历史最高分：满{PEAK_GAMES.on(day_of(card.at))}盘后开始统计"
    return f"历史最高分：{show_rating(card.peak)}（{show_day(card.peak_at)}）"


def _change(card: Card) -> list[str]:
    """His 涨跌 against the last published list (L15), in a line of its own."""
    change = card.change
    if change is None:
        return []
    head = f"涨跌（比第{card.against}期）："
    if change.rating is None or change.rank is None:
        return [f"{head}新"]
    rank = f"升{change.rank}" if change.rank > 0 else f"降{-change.rank}" if change.rank else "不变"
    return [f"{head}{show_change(change.rating)}分，名次{rank}"]


def barred_line(card: Card) -> str:
    """Return what keeps a player from reporting now, where his state does not say it; else nothing."""
    if card.bar is None or not (card.bar.clause == "L11" or card.bar.pending):
        return ""
    return f"现在不能报分：{bar_reason(card.bar)}"


def card(card: Card) -> str:
    """Return a player's card."""
    rank = f"第{card.rank}名，共{card.of}人" if card.rank is not None else "不在榜上"
    missing = f"，未满{card.needed}盘，还差{card.missing}盘" if card.missing else ""
    rate = "" if card.win_rate is None else f"，胜率{show_rating(100 * card.win_rate)}%"
    lines = [
        f"{card.name} {rank}（{card.pool}）",
        f"显示分 {show_rating(card.shown)}，实际分 {show_rating(card.rating)}{missing}",
        f"{card.games}盘：{card.wins}胜{card.draws}平{card.losses}负{rate}",
        _peak(card),
        *_change(card),
        state_line(card),
    ]
    if barred := barred_line(card):
        lines.append(barred)
    for title, rows in (("上面", card.above), ("下面", card.below)):
        if rows:
            lines.append(f"{title}：" + "，".join(f"{r.rank} {r.name} {show_rating(r.shown)}" for r in rows))
    if card.recent:
        lines.append(f"最近{len(card.recent)}局：")
        lines += [
            f"局{row.number} {row.result.word} {side(row.others)} "
            f"{show_change(row.change) if row.counted else '不计分'}"
            for row in card.recent
        ]
    return fit(lines, "……其余见 /战绩")


def _game(row: GameRow, name: str, now: int) -> str:
    """One game of a history: number, day, result, against whom, rating before and after."""
    partner = "".join(f"（同{other}）" for other in row.own if other != name)
    start = f"局{row.number} {when(row.at, now)} {row.result.word} {side(row.others)}{partner}"
    if row.before is None or row.after is None:
        return f"{start} 已作废"
    if not row.counted:
        return f"{start} 不计分（L6）"
    return f"{start} {show_rating(row.before)}→{show_rating(row.after)}{weight_note(row)}"


def history_page(history: History, page: int, now: int, count: int | None = None, here: str = DEFAULT_POOL) -> str:
    """Return a page of a player's games, or his latest `count`, as many of them as one message takes.

    `history` must hold the newest games up to that page (HISTORY_PAGE each), or the latest `count`.
    """
    if not history.total:
        return f"{history.name}在{history.pool}还没有对局。"
    rows = [_game(row, history.name, now) for row in history.rows]
    head = f"{history.name}的战绩（{history.pool}，共{history.total}局，新的在前）"
    typed = f"/战绩 {history.name}"
    foot = f"更早的：{typed} 第{page + 1}页{pool_suffix(history.pool, here)}"
    pages = pages_of(rows, head, foot, HISTORY_PAGE)
    if not 1 <= page <= len(pages):
        return f"没有第{page}页，{history.name}的战绩（{history.pool}）共{len(pages)}页。"
    if count is not None and len(pages) == 1:
        foot = f"更多：{typed}{pool_suffix(history.pool, here)}"
    more = sum(map(len, pages[:page])) < history.total
    return "\n".join([head, *pages[page - 1], *([foot] if more else [])])


# --- two players ------------------------------------------------------------------------------------------


def _owed(meter: Meter, name_of: Callable[[int], str]) -> str:
    return "，".join(f"{name_of(player)}还差{count}局" for player, count in meter.owed if count)


def meter_line(meter: Meter, left: Sequence[str], right: Sequence[str], name_of: Callable[[int], str]) -> str:
    """Return the farming meter (L6) in words."""
    if meter.locked:
        return (
            f"防刷分（L6）：净胜负已到{meter.limit}局，约战暂不计分；"
            f"要各与别人下满{FARMING_REPAY.now}局计分棋：{_owed(meter, name_of)}"
        )
    net = f"{side(left if meter.net > 0 else right)}净胜{abs(meter.net)}局" if meter.net else "净胜0局"
    return f"防刷分（L6）：{meter.season}年约战{net}，到{meter.limit}局就暂停计分"


def together_line(together: Together, first: str, second: str) -> str:
    """Return what two players did as partners."""
    if not together.games and not together.uncounted:
        return "两人还没有搭档过。"
    uncounted = f"，另有{together.uncounted}局不计分" if together.uncounted else ""
    return (
        f"搭档{together.games}局：{together.wins}胜{together.draws}平{together.losses}负，得{together.points:g}分{uncounted}；"
        f"{first} {show_change(together.flow_first)}，{second} {show_change(together.flow_second)}"
    )


def head_to_head(record: HeadToHead, now: int, name_of: Callable[[int], str]) -> str:
    """Return the record of two sides: score, rating flow, farming meter, last games."""
    left, right = side(record.left), side(record.right)
    lines = [f"{left} 对 {right}（{record.pool}）"]
    if not record.rows:
        lines.append("两边还没有交过手。")
    else:
        uncounted = f"，另有{record.uncounted}局不计分" if record.uncounted else ""
        lines.append(f"比分：{left} {record.wins}胜{record.draws}平{record.losses}负{uncounted}")
        lines.append(f"分数往来：{left} {show_change(record.flow_left)}，{right} {show_change(record.flow_right)}")
    if record.together is not None:
        lines.append(together_line(record.together, left, right))
    if record.meter is not None:
        lines.append(meter_line(record.meter, record.left, record.right, name_of))
    if record.rows:
        lines.append(f"最近{len(record.rows)}局（{record.left[0]}的）：")
        lines += [
            f"局{row.number} {when(row.at, now)} {row.result.word} "
            f"{show_change(row.change) + weight_note(row) if row.counted else '不计分'}"
            for row in record.rows
        ]
    return fit(lines)
