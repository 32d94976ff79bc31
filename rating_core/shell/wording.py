"""Every sentence of the shell's commands; those about a roster file stand in import_wording."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path

from rich.cells import cell_len

from rating_core.elo import round_half_up, show_change, show_rating
from rating_core.queries import Board, BoardRow, Calculation, Term
from rating_core.rulebook import CHIEF_EDITOR, EVENT_WEIGHTS, LOGISTIC_SCALE, POOLS
from rating_core.store.sealed import BrokenRow
from rating_core.times import show_day, show_time

RUNNING = "机器人在运行，请用 /导入"
"""commands.md, "Operator's shell"."""


def no_database(path: Path, sandbox: Path) -> str:
    """There is no file where the database should be."""
    text = f"没有数据库 {path}。机器人第一次启动或第一次导入时会建立它；它在别处就加 --database 文件。"
    return f"{text}\n只试过沙盒的话，沙盒的数据库是：--database {sandbox}" if sandbox.is_file() else text


def storage_failed(error: Exception) -> str:
    return f"数据库出错，什么也没有改动：{error}"


def bad_url(url: str) -> str:
    return f"看不懂数据库地址「{url}」。例如 sqlite:///data/ratings.db，或直接写文件名 data/ratings.db。"


def other_schema(current: str | None, wanted: str) -> str:
    """The tables are not those of this version."""
    if current is None:
        return "这个文件里没有等级分的数据：不是机器人的数据库，或者机器人还没有启动过。"
    if current > wanted:
        return f"数据库是更新的版本写的（{current}，本程序是{wanted}），请先更新程序。"
    return f"数据库还是旧版本（{current}，需要{wanted}）。先启动一次机器人，它会备份并升级。"


def bad_pool(pool: str) -> str:
    return f"没有「{pool}」这个榜。可用的榜：{'、'.join(POOLS)}。"


# --- board ------------------------------------------------------------------------------------------------

BOARD_HEAD = ("名次", "棋手", "等级分", "盘数", "胜", "平", "负", "历史最高分", "")


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Align columns by what they take on a screen: Chinese characters are twice as wide."""
    lines = [head, *rows]
    widths = [max(cell_len(line[column]) for line in lines) for column in range(len(head))]

    def aligned(line: tuple[str, ...]) -> str:
        cells = (cell + " " * (width - cell_len(cell)) for cell, width in zip(line, widths, strict=True))
        return "  ".join(cells).rstrip()

    return "\n".join(map(aligned, lines))


def board(found: Board, top: int | None) -> str:
    """Return a board as text, with the credit that L16 asks for."""
    rows = found.rows[:top]
    title = f"{found.pool} 等级分排行榜 {show_day(found.at)}（{len(found.rows)}人）"
    if not found.rows:
        return f"{title}\n还没有人上榜。"
    lines = [title, table(BOARD_HEAD, map(_board_row, rows))]
    if len(rows) < len(found.rows):
        lines.append(f"……还有{len(found.rows) - len(rows)}人")
    if any(row.missing for row in rows):
        lines.append(f"未满{found.needed}盘的按差的盘数降低显示分（L12）。")
    return "\n".join([*lines, f"表格主编：{CHIEF_EDITOR}"])


def _board_row(row: BoardRow) -> tuple[str, ...]:
    peak = "" if row.peak is None else f"{show_rating(row.peak, 0)}（{show_day(row.peak_at)}）"
    missing = f"差{row.missing}盘" if row.missing else ""
    figures = (row.games, row.wins, row.draws, row.losses)
    return (str(row.rank), row.name, show_rating(row.shown, 0), *map(str, figures), peak, missing)


def board_json(found: Board, top: int | None) -> str:
    """Return a board as JSON: ratings unrounded, days as dates."""
    rows = []
    for row in found.rows[:top]:
        data = asdict(row)
        data["peak_day"] = show_day(data.pop("peak_at")) if row.peak is not None else None
        rows.append(data)
    head = {"pool": found.pool, "day": show_day(found.at), "needed_games": found.needed, "credit": CHIEF_EDITOR}
    return json.dumps(head | {"players": len(found.rows), "rows": rows}, ensure_ascii=False, indent=1)


# --- calc -------------------------------------------------------------------------------------------------

CALC_FORM = "写成：calc 2000 胜 2200，系数写在最后：calc 2000 胜 2200 1.2"


def bad_result(word: str) -> str:
    return f"「{word}」不是结果，只有 胜、平、负（从左边看）。{CALC_FORM}"


def bad_weight(text: str) -> str:
    return f"「{text}」不是系数，系数只有 {'、'.join(EVENT_WEIGHTS)}（L5）。{CALC_FORM}"


def calculation(found: Calculation) -> str:
    """Return both new ratings with the formula filled in (L1)."""
    (left,), (right,) = found.left, found.right
    expected = f"{round_half_up(left.expected, 4)}（左）、{round_half_up(right.expected, 4)}（右）"
    return "\n".join(
        (
            f"{left.rating:g} {found.result.word} {right.rating:g}，系数{found.weight:g}",
            f"左边 {_term(left, found.weight)}",
            f"右边 {_term(right, found.weight)}",
            f"We = 1 / (10^(-dr/{LOGISTIC_SCALE:g}) + 1) = {expected}，dr = {found.dr:g}",
        )
    )


def _term(term: Term, weight: float) -> str:
    return (
        f"{show_rating(term.after)}（{show_change(term.change)}）= {term.rating:g} + {term.k}×{weight:g}"
        f"×({term.won:g} − {round_half_up(term.expected, 4)})"
    )


# --- replay -----------------------------------------------------------------------------------------------

CHAIN_WHOLE = "哈希链完整。"
REPLAY_EQUAL = "重算与账本、与当时公布的分数一致（误差不超过 0.000000001）。"


def replayed(rows: int, last_at: int | None, players: int, games: int, counted: int, corrections: int) -> str:
    """Return what the ledger holds."""
    until = f"，最后一行 {show_time(last_at)}" if last_at is not None else ""
    return f"账本{rows}行{until}；棋手{players}人，对局{games}盘，其中计分{counted}盘；更正{corrections}条。"


def standings(lines: Iterable[tuple[str, int, int, float]]) -> str:
    """Return a line a pool: players listed, games counted, sum of ratings."""
    return "\n".join(
        f"  {pool}：上榜{listed}人，计分{games}人次，等级分合计{show_rating(total)}"
        for pool, listed, games, total in lines
    )


def chain_broken(seq: int) -> str:
    return f"账本从账{seq}起和写下时不一样：文件损坏，或有人绕过机器人改过。请从备份恢复（restore），不要继续使用。"


def broken_rights(rows: Sequence[BrokenRow]) -> str:
    """Rows that grant nothing; whose 蒙面人公用号 was is the superusers' matter, not this output's."""
    keys = "、".join(f"{row.table} {row.key}" for row in rows)
    return (
        f"权限表有{len(rows)}行和写下时不一样，不给任何权利：{keys}。"
        "重新 /绑定、/任命 之后还剩下的，停掉机器人用 rights --drop 清掉。"
    )


RIGHTS_WHOLE = "权限表每行完好。"


def rights_dropped(count: int) -> str:
    return f"已删掉{count}行。他们要有权利，请重新 /绑定、/任命。"


def replay_differs(about: str) -> str:
    return f"重算结果不一致，第一处在：{about}。请保留数据库文件并报告这个问题。"


# --- backup -----------------------------------------------------------------------------------------------


def backed_up(path: Path, size: int) -> str:
    return f"已备份到 {path}（{size / 1024:.0f} KB），打开重算过。恢复：停掉机器人，restore {path.name}。"


def backup_failed(error: Exception) -> str:
    return f"备份没有做成：{error}"


NO_BACKUP_HERE = "这里只备份 SQLite 文件；PostgreSQL 请用 pg_dump。"
