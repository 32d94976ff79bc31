"""Questions to the Book: pure functions that return frozen rows, used alike by text, pictures, pages and workbook."""

from rating_core.queries.boards import Board, BoardRow, Change, board
from rating_core.queries.cards import Card, card
from rating_core.queries.curves import Company, Curve, CurvePoint, Met, company, curve
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
from rating_core.queries.games import GameRow, HeadToHead, History, Together, head_to_head, history
from rating_core.queries.lists import ArchivedRow, archived, find_list, published_board
from rating_core.queries.opponents import Opponent, Opponents, opponents

__all__ = [
    "ArchivedRow",
    "Board",
    "BoardRow",
    "Calculation",
    "Card",
    "Change",
    "Company",
    "Correction",
    "Curve",
    "CurvePoint",
    "EventInfo",
    "EventStandings",
    "ExplainedPlayer",
    "Explanation",
    "GameRow",
    "HeadToHead",
    "History",
    "Met",
    "Meter",
    "Opponent",
    "Opponents",
    "Performance",
    "Prediction",
    "Term",
    "Together",
    "archived",
    "board",
    "calculate",
    "card",
    "company",
    "curve",
    "event_performance",
    "events",
    "explain",
    "find_list",
    "head_to_head",
    "history",
    "meter",
    "meter_before",
    "opponents",
    "prediction",
    "published_board",
    "season_performance",
    "standings",
]
