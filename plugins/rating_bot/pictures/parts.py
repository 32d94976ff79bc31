"""Pieces of data that several pictures share."""

from typing import Any

from rating_core.elo import show_change, show_rating
from rating_core.queries import Change
from rating_core.report_text import Result
from rating_core.rulebook import CHIEF_EDITOR

CREDIT = f"表格主编：{CHIEF_EDITOR}"
NOTHING = "–"
NEW = "新"

Data = dict[str, Any]


def arrow(change: float) -> str:
    """Return a change of a rating with its arrow, such as ▲16.0; – where nothing moved."""
    shown = show_rating(abs(change))
    return NOTHING if float(shown) == 0 else ("▲" if change > 0 else "▼") + shown


def rank_arrow(change: int) -> str:
    """Return a change of rank with its arrow: ▲2 is two places up."""
    return NOTHING if change == 0 else ("▲" if change > 0 else "▼") + str(abs(change))


def changes(change: Change | None) -> tuple[str, str]:
    """Return the 涨跌 of rating and rank (L15); nothing where there is no list to compare with."""
    if change is None:
        return "", ""
    if change.rating is None or change.rank is None:
        return NEW, NEW
    return arrow(change.rating), rank_arrow(change.rank)


def record(wins: int, draws: int, losses: int) -> str:
    """Return 12胜 3平 5负."""
    return f"{wins}胜 {draws}平 {losses}负"


def rate(wins: int, games: int) -> str:
    """Return the share of games won, such as 60.0%; – without games."""
    return f"{show_rating(100 * wins / games)}%" if games else NOTHING


def tags(missing: int, needed: int, *, ip_checked: bool) -> list[Data]:
    """Return the marks beside a name: games towards N (L12), IP checked (L11)."""
    found = [{"text": f"{needed - missing}/{needed}盘", "kind": "provisional"}] if missing else []
    return found + ([{"text": "IP", "kind": "ip"}] if ip_checked else [])


def signed(change: float, *, counted: bool = True) -> str:
    """Return what a game brought: +16.0, or that it did not count."""
    return show_change(change) if counted else "不计分"


def outcome(result: Result) -> Data:
    """Return a result as its word and its colour's name."""
    return {"word": result.word, "kind": {"W": "win", "D": "draw", "L": "loss"}[result.value]}
