"""The board (榜) as a picture: 30 players a page."""

from plugins.rating_bot.pictures import parts
from plugins.rating_bot.wire.messages import Picture
from rating_core.elo import show_rating
from rating_core.queries import Board, BoardRow
from rating_core.times import show_day

ROWS = 30
"""Players on one picture."""


def pages(board: Board, top: int | None = None) -> int:
    """Return how many pictures a board takes; `top`: only the first so many players."""
    return max(1, -(-board.wanted(top) // ROWS))


def picture(board: Board, page: int, top: int | None = None, title: str = "") -> Picture:
    """Return page `page` (from 1) of a board, whose rows must be at hand. `title`: of a published list."""
    rows = board.between((page - 1) * ROWS, min(page * ROWS, board.wanted(top)))
    against = [] if board.against is None else [f"涨跌比第{board.against}期"]
    last = pages(board, top)
    notes = []
    if any(row.missing for row in rows):
        notes.append(f"n/{board.needed}盘：未满{board.needed}盘，显示分已扣（L12）")
    if any(row.ip_checked for row in rows):
        notes.append("IP：已核验IP（L11）")
    return Picture.of(
        "board",
        {
            "title": title or f"{board.pool}等级分排行榜",
            "badge": "" if board.number is None else f"第{board.number}期",
            "facts": [
                *([board.pool] if title else []), show_day(board.at), f"共{board.of}人", *against,
                *([f"第{page}/{last}页"] if last > 1 else []),
            ],
            "rows": [_row(row, board.needed) for row in rows],
            "notes": notes,
            "credit": parts.CREDIT,
        },
    )  # fmt: skip


def _row(row: BoardRow, needed: int) -> parts.Data:
    rating, rank = parts.changes(row.change)
    return {
        "rank": row.rank,
        "rank_change": rank,
        "name": row.name,
        "tags": parts.tags(row.missing, needed, ip_checked=row.ip_checked),
        "record": parts.record(row.wins, row.draws, row.losses),
        "rate": f"胜率{parts.rate(row.wins, row.games)}",
        "peak": "" if row.peak is None else f"最高{show_rating(row.peak, 0)}",
        "rating": show_rating(row.shown, 0),
        "change": rating,
    }
