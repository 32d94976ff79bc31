"""What is said beside a picture: what it shows, and what to type for more. A chat shows pictures small."""

from collections.abc import Sequence

from plugins.rating_bot.wording.queries import board_head, board_typed, side
from plugins.rating_bot.wording.season import sheet_foot, sheet_head
from rating_core.elo import show_rating
from rating_core.queries import Board, Card, Curve, HeadToHead
from rating_core.service.season import Sheet


def board(board: Board, page: int, pages: int, here: str, *, title: str = "", asked: str = "") -> str:
    """A page of a board, and the line to type for the next."""
    head = board_head(board, page, pages, title)
    return head if page == pages else f"{head}\n下一页：{board_typed(board, page + 1, here, asked)}"


def card(card: Card) -> str:
    """A player's card."""
    rank = f"第{card.rank}名" if card.rank is not None else "不在榜上"
    return f"{card.name} {rank}，显示分 {show_rating(card.shown)}（{card.pool}）"


def curves(curves: Sequence[Curve], without: Sequence[str]) -> str:
    """The curves of players; `without`: who was asked for too, but has none."""
    head = f"{side([curve.name for curve in curves])}的等级分曲线（{curves[0].pool}）"
    return f"{head}\n{side(without)}还没有计分对局" if without else head


def head_to_head(record: HeadToHead) -> str:
    """The record of two sides."""
    score = f"{record.wins}胜{record.draws}平{record.losses}负"
    return f"{side(record.left)} 对 {side(record.right)}（{record.pool}）：{score}"


def sheet(sheet: Sheet) -> str:
    """A settlement's preview, and what to type next."""
    return f"{sheet_head(sheet)}\n{sheet_foot(sheet)}"
