"""The same figures as JSON. Every field stands here by name, so that nothing becomes public by accident.

Ratings and changes are unrounded (pages round half-up), times are ISO 8601 in Shanghai.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from rating_core.queries import (
    ArchivedRow,
    Board,
    BoardRow,
    Card,
    Company,
    Curve,
    EventInfo,
    EventStandings,
    Explanation,
    GameRow,
    HeadToHead,
    History,
    Meter,
    Performance,
    Prediction,
)
from rating_core.queries.curves import Met
from rating_core.queries.explain import Correction, ExplainedPlayer
from rating_core.queries.formula import Term
from rating_core.times import show_day, to_datetime

Json = dict[str, Any]


def moment(at: int) -> str | None:
    """Return an instant in ISO 8601; None for 0."""
    return to_datetime(at).isoformat(timespec="seconds") if at else None


def people(numbers: Iterable[int], names: Iterable[str]) -> list[Json]:
    """Return players by number and name."""
    return [{"player": number, "name": name} for number, name in zip(numbers, names, strict=True)]


# --- boards -----------------------------------------------------------------------------------------------


def board_row(row: BoardRow) -> Json:
    change = row.change
    return {
        "rank": row.rank,
        "player": row.player,
        "name": row.name,
        "shown": row.shown,
        "rating": row.rating,
        "games": row.games,
        "wins": row.wins,
        "draws": row.draws,
        "losses": row.losses,
        "peak": row.peak,
        "peak_at": moment(row.peak_at),
        "missing": row.missing,
        "ip_checked": row.ip_checked,
        "rating_change": None if change is None else change.rating,
        "rank_change": None if change is None else change.rank,
        "new": change is not None and change.is_new,
    }


def board(shown: Board, *, found: int, page: int, pages: int) -> Json:
    """A page of a board; `found` of those who stand on it were asked for."""
    return {
        "day": show_day(shown.at),
        "number": shown.number,
        "against": shown.against,
        "needed": shown.needed,
        "of": shown.of,
        "found": found,
        "page": page,
        "pages": pages,
        "rows": [board_row(row) for row in shown.rows],
    }


def lists(published: Sequence[Board]) -> list[Json]:
    return [{"number": one.number, "day": show_day(one.at), "players": len(one.rows)} for one in published]


def archived(rows: Sequence[ArchivedRow]) -> list[Json]:
    return [
        {
            "player": row.player,
            "name": row.name,
            "rating": row.rating,
            "since": moment(row.since),
            "reason": row.reason,
            "barred_until": moment(row.barred_until or 0),
        }
        for row in rows
    ]


# --- one player -------------------------------------------------------------------------------------------


def game_row(row: GameRow) -> Json:
    """A game as one of its players sees it."""
    return {
        "game": row.number,
        "report": row.report,
        "at": moment(row.at),
        "own": people(row.own_players, row.own),
        "others": people(row.other_players, row.others),
        "result": row.result.value,
        "before": row.before,
        "change": row.change,
        "after": row.after,
        "counted": row.counted,
        "why": row.why,
        "weight": row.weight,
        "event": row.event,
    }


def met(row: Met) -> Json:
    return {
        "player": row.player,
        "name": row.name,
        "games": row.games,
        "wins": row.wins,
        "draws": row.draws,
        "losses": row.losses,
        "uncounted": row.uncounted,
        "flow": row.flow,
        "last_at": moment(row.last_at),
    }


def company(found: Company) -> Json:
    return {"opponents": [met(row) for row in found.opponents], "partners": [met(row) for row in found.partners]}


def player(
    card: Card, history: History, curve: Curve, met_most: Company, season: int, season_games: int, page: int, pages: int
) -> Json:
    """A player's page: `met_most` are the opponents that stand on it, `history` holds a page of his games."""
    change = card.change
    return {
        "player": card.player,
        "name": card.name,
        "rank": card.rank,
        "of": card.of,
        "shown": card.shown,
        "rating": card.rating,
        "needed": card.needed,
        "missing": card.missing,
        "games": card.games,
        "wins": card.wins,
        "draws": card.draws,
        "losses": card.losses,
        "win_rate": card.win_rate,
        "peak": card.peak,
        "peak_at": moment(card.peak_at) if card.peak is not None else None,
        "state": card.state,
        "leave_until": moment(card.leave_until or 0),
        "barred_until": moment(card.barred_until or 0),
        "barred_by": None if card.bar is None else card.bar.clause,
        "against": card.against,
        "rating_change": None if change is None else change.rating,
        "rank_change": None if change is None else change.rank,
        "season": season,
        "season_games": season_games,
        "above": [board_row(row) for row in card.above],
        "below": [board_row(row) for row in card.below],
        **company(met_most),
        "curve": [
            {"at": moment(p.at), "rating": p.rating, "change": p.change, "kind": p.kind, "number": p.number}
            for p in curve.points
        ],
        "total": history.total,
        "page": page,
        "pages": pages,
        "rows": [game_row(row) for row in history.rows],
    }


# --- two sides, one game ----------------------------------------------------------------------------------


def _meter(found: Meter | None) -> Json | None:
    if found is None:
        return None
    return {
        "season": found.season,
        "net": found.net,
        "limit": found.limit,
        "locked": found.locked,
        "owed": [{"player": player, "games": games} for player, games in found.owed],
    }


def _term(term: Term) -> Json:
    return {
        "rating": term.rating,
        "k": term.k,
        "won": term.won,
        "expected": term.expected,
        "change": term.change,
        "after": term.after,
    }


def versus(record: HeadToHead, left: list[Json], right: list[Json], expected: Prediction | None) -> Json:
    """The record of two sides, seen from the left one."""
    together = record.together
    return {
        "left": left,
        "right": right,
        "wins": record.wins,
        "draws": record.draws,
        "losses": record.losses,
        "uncounted": record.uncounted,
        "flow_left": record.flow_left,
        "flow_right": record.flow_right,
        "meter": _meter(record.meter),
        "together": together
        and {
            "games": together.games,
            "wins": together.wins,
            "draws": together.draws,
            "losses": together.losses,
            "points": together.points,
            "uncounted": together.uncounted,
            "flow_left": together.flow_first,
            "flow_right": together.flow_second,
        },
        "next": expected
        and {
            "counts": expected.counts,
            "outcomes": [
                {
                    "result": game.result.value,
                    "left": list(map(_term, game.left)),
                    "right": list(map(_term, game.right)),
                }
                for game in expected.outcomes
            ],
        },
        "rows": [game_row(row) for row in record.rows],
    }


def _explained(players: Sequence[ExplainedPlayer]) -> list[Json]:
    return [{"player": p.player, "name": p.name, "missing": p.missing, **_term(p.term)} for p in players]


def _correction(found: Correction) -> Json:
    """Number and kind; who made it and why is not for the public."""
    kind = "void" if found.void else "result" if found.line is not None else "event"
    return {"entry": found.seq, "kind": kind}


def game(found: Explanation) -> Json:
    return {
        "game": found.number,
        "report": found.report,
        "entry": found.seq,
        "at": moment(found.at),
        "left": people(found.left_players, found.left),
        "right": people(found.right_players, found.right),
        "result": found.result.value,
        "event": found.event,
        "weight": found.weight,
        "void": found.void,
        "counted": found.counted,
        "dr": found.dr,
        "ours": _explained(found.ours),
        "theirs": _explained(found.theirs),
        "meter": _meter(found.meter),
        "needed": found.needed,
        "corrections": [_correction(one) for one in found.corrections],
    }


# --- events -----------------------------------------------------------------------------------------------


def event(found: EventInfo) -> Json:
    return {
        "event": found.number,
        "name": found.name,
        "pool": found.pool,
        "weight": found.weight,
        "open": found.open,
        "games": found.games,
        "players": found.players,
    }


def _performance(found: Performance) -> Json:
    return {
        "games": found.games,
        "wins": found.wins,
        "draws": found.draws,
        "losses": found.losses,
        "points": found.points,
        "opponents_mean": found.mean,
        "competition_rating": found.base,
        "performance_logistic": found.logistic,
        "performance_table": found.table,
    }


def standings(found: EventStandings) -> Json:
    rows = [{"rank": r.rank, "player": r.player, "name": r.name, **_performance(r.performance)} for r in found.rows]
    return {**event(found.event), "rows": rows}
