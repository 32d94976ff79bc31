"""Questions to the Book: pure functions that return frozen rows, used alike by text, pictures, pages and workbook."""

from rating_core.queries.boards import Board, BoardRow, Change, board
from rating_core.queries.cards import Card, card
from rating_core.queries.events import (
    EventInfo,
    EventStandings,
    Performance,
    event_performance,
    events,
    season_performance,
    standings,
)
from rating_core.queries.explain import Correction, ExplainedPlayer, Explanation, explain
from rating_core.queries.farming import Meter, meter, meter_before
from rating_core.queries.formula import Calculation, Prediction, Term, calculate, prediction
from rating_core.queries.games import GameRow, HeadToHead, History, head_to_head, history

__all__ = [
    "Board",
    "BoardRow",
    "ArchivedRow",
    "Calculation",
    "Card",
    "Correction",
    "EventInfo",
    "Change",
    "EventStandings",
    "ExplainedPlayer",
    "Explanation",
    "GameRow",
    "HeadToHead",
    "History",
    "Meter",
    "Performance",
    "Prediction",
    "Opponent",
    "Opponents",
    "Term",
    "board",
    "calculate",
    "card",
    "event_performance",
    "events",
    "explain",
    "head_to_head",
    "history",
    "meter",
    "meter_before",
    "find_list",
    "prediction",
    "season_performance",
    "standings",
]
    "opponents",
    "published_board",
