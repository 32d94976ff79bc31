"""What the bot says about events: opened, closed, listed, their standings; and performance ratings (/表现分)."""

from collections.abc import Collection, Mapping, Sequence

from plugins.rating_bot.wording import people
from plugins.rating_bot.wording.common import fit, pages_of
from rating_core.elo import round_half_up, show_change, show_rating
from rating_core.queries import EventInfo, EventStandings, Performance
from rating_core.queries.events import EventRow
from rating_core.report_text import near_header
from rating_core.rulebook import LOGISTIC_SCALE, UNRATED_WEIGHT, UNRATED_WORD
from rating_core.service.refusal import Refusal
from rating_core.store.report_store import Report

LIST_PAGE = 10
STANDINGS_PAGE = 10
MOST_NUMBERS = 15
"""Numbers in a line to type."""

NO_EVENTS = "还没有赛事。记分员可以开一个，例如：\n/赛事 新建 皇后杯 1.2"

_REFUSALS = {
    "event_is_pool": "「{name}」是榜名或者太像榜名，赛事请换一个名字。",
    "event_name_taken": "已经有叫「{name}」的赛事了，名字不能重复。请换一个，例如加上年份。",
    "event_name_confusable": "「{name}」和已有的赛事「{alike}」看起来太像，请换一个名字。",
    "event_closed": "「{name}」早就结束了。看结果：\n/赛事 战绩 {name}",
}


def refusal(error: Refusal) -> str:
    """Why an event could not be opened or closed."""
    text = _REFUSALS.get(error.code)
    return people.refusal(error) if text is None else text.format(**error.facts)


def weight_text(weight: float) -> str:
    """Return an event's weight in words."""
    return f"{UNRATED_WORD}分" if weight == UNRATED_WEIGHT else f"系数{weight:g}"


def unknown_event(typed: str, names: Collection[str]) -> str:
    """No event of that name; near misses."""
    near = near_header(typed, names)
    question = f"，是不是{'、'.join(f'「{name}」' for name in near)}？" if near else "。"
    return f"没有叫「{typed[:20]}」的赛事{question}全部赛事请发：\n/赛事 列表"


def opened(name: str, weight: float, pool: str, *, signoff: bool) -> str:
    """A new event, and how to report in it."""
    head = f"「{name}」已开（{pool}，{weight_text(weight)}）"
    if weight == UNRATED_WEIGHT:
        return f"{head}：不收报分。"
    how = "选手报分要对方确认，再由裁判或记分员确认" if signoff else "选手报分，对方确认就生效（免裁判）"
    return f"{head}：{how}。报分时第一行写：\n#{name}"


def closed(name: str, seq: int, waiting: Sequence[Report]) -> str:
    """An event takes no more reports, by ledger row `seq`; those posted in time still count."""
    left = ""
    if waiting:
        numbers = "、".join(f"#{report.report_id}" for report in waiting[:MOST_NUMBERS])
        left = f"结束前报的还有{len(waiting)}份在等（{numbers}），确认后照样计分。"
    return f"「{name}」已结束（账{seq}），不再收报分。{left}看结果：\n/赛事 战绩 {name}"


# --- the list -----------------------------------------------------------------------------------------------


def _size(event: EventInfo) -> str:
    return f"{event.games}局{event.players}人" if event.games else "还没有对局"


def _event_line(event: EventInfo, waiting: int) -> str:
    notes = [] if event.open else ["已结束"]
    if event.rated and not event.signoff:
        notes.append("免裁判")
    note = f"（{'，'.join(notes)}）" if notes else ""
    size = f" {_size(event)}" if event.rated else ""
    more = f"，{waiting}份等裁判确认" if waiting else ""
    return f"#{event.name} {event.pool} {weight_text(event.weight)}{size}{note}{more}"


def event_list(events: Sequence[EventInfo], page: int, waiting: Mapping[int, int], to_sign: Sequence[int] = ()) -> str:
    """All events, with how many reports of each wait for a referee; a referee is told which ones he may confirm."""
    if not events:
        return NO_EVENTS
    if to_sign:
        last = f"等裁判确认的，核对后发：\n确认 {' '.join(map(str, to_sign[:MOST_NUMBERS]))}"
    else:
        last = f"看一个赛事的战绩：\n/赛事 战绩 {events[0].name}"
    lines = [_event_line(event, waiting.get(event.number, 0)) for event in events]
    head = f"赛事共{len(events)}个"
    pages = pages_of(lines, f"{head}（第99/99页）", f"下一页：/赛事 列表 第99页\n{last}", LIST_PAGE)
    if not 1 <= page <= len(pages):
        return f"没有第{page}页，赛事列表共{len(pages)}页。"
    of = f"（第{page}/{len(pages)}页）" if len(pages) > 1 else ""
    more = [f"下一页：/赛事 列表 第{page + 1}页"] if page < len(pages) else []
    return "\n".join([f"{head}{of}：", *pages[page - 1], *more, last])


# --- standings ----------------------------------------------------------------------------------------------

NO_DIFFERENCE = "—：得分率P是0或1，或四舍五入到0.00、1.00，没有分差D"


def _both_ways(performance: Performance) -> str:
    logistic = "—" if performance.logistic is None else show_rating(performance.logistic)
    table = "—" if performance.table is None else str(performance.table)
    return f"{logistic}/{table}"


def _results(performance: Performance) -> str:
    return f"{performance.wins}胜{performance.draws}平{performance.losses}负"


def _row(row: EventRow) -> str:
    rank = "—" if row.rank is None else str(row.rank)
    found = row.performance
    score = f"{found.points:g}分/{found.games}局（{_results(found)}）"
    return f"{rank} {row.name} {score}Rc{found.base} {_both_ways(found)}"


def standings_page(standings: EventStandings, page: int) -> str:
    """Return a page of an event's standings: points, results, performance ratings both ways."""
    event = standings.event
    state = "进行中" if event.open else "已结束"
    head = f"{event.name}战绩（{event.pool}，{weight_text(event.weight)}，{state}）"
    if not standings.rows:
        return f"{head}：还没有计分的对局。"
    head += f"：{_size(event)}\n名次 名字 得分/局数（战绩）对手平均分Rc 表现分：公式/E表一"
    typed = f"/赛事 战绩 {event.name} 第{{}}页"
    foot = f"{NO_DIFFERENCE}\n下一页：{typed.format(99)}"
    pages = pages_of([_row(row) for row in standings.rows], head, foot, STANDINGS_PAGE)
    if not 1 <= page <= len(pages):
        return f"没有第{page}页，{event.name}战绩共{len(pages)}页。"
    shown = pages[page - 1]
    start = sum(map(len, pages[: page - 1]))
    missing = any("—" in _both_ways(row.performance) for row in standings.rows[start : start + len(shown)])
    more = [f"下一页：{typed.format(page + 1)}"] if page < len(pages) else []
    return "\n".join([head, *shown, *([NO_DIFFERENCE] if missing else []), *more])


# --- /表现分 --------------------------------------------------------------------------------------------------


def no_performance(name: str, where: str) -> str:
    """No counted games, so no performance rating."""
    return f"{name}在{where}还没有计分的对局，算不出表现分。"


def performance(name: str, where: str, found: Performance) -> str:
    """Return a performance rating with the formula filled in, by the formula and by E's table one (§2)."""
    share = f"{float(round_half_up(found.share, 4)):g}"
    rounded = str(round_half_up(found.share, 2))
    if found.logistic is None:
        by_formula = f"—（P={share}，没有分差D）"
    else:
        d, rp = show_change(found.logistic - found.base), show_rating(found.logistic)
        by_formula = f"D=-{LOGISTIC_SCALE:g}×log10(1÷P-1)={d}，Rp={found.base}{d}={rp}"
    if found.table is None:
        by_table = f"—（P四舍五入是{rounded}，没有分差D）"
    else:
        by_table = f"P取{rounded}，D={found.table - found.base:+}，Rp={found.table}"
    return fit(
        [
            f"{name}的表现分（{where}，{found.games}局{_results(found)}）",
            "表现分Rp=Rc+D（E公式1）",
            f"Rc=对手赛前分的平均{show_rating(found.mean, 2)}，取整{found.base}",
            f"P=得分÷局数={found.points:g}÷{found.games}={share}",
            f"公式：{by_formula}",
            f"查表（E表一）：{by_table}",
        ]
    )
