"""One player, two sides against each other, and one game."""

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from plugins.rating_bot.site import data
from plugins.rating_bot.site.answers import Moved, NotHere
from plugins.rating_bot.site.ask import Ask, Page, number, sheet
from plugins.rating_bot.site.chart import Chart, chart
from plugins.rating_bot.wording import formula
from plugins.rating_bot.wording import pages as wording
from plugins.rating_bot.wording import queries as said
from rating_core import queries
from rating_core.queries import Company, Explanation, HeadToHead, Prediction
from rating_core.report_text import Result
from rating_core.rulebook import DEFAULT_POOL, PEAK_GAMES
from rating_core.times import season_of, show_day

GAMES = 20
"""Games of a player on one page."""
MEETINGS = 50
"""Games of two sides that are listed."""
COMPANY = 12
"""Opponents on a player's own page; all of them have a page of their own."""
ROWS = 100
"""Opponents on one page of that."""

Side = tuple[int, ...]


def _there(ask: Ask, player: int, path: str) -> int:
    """Return the player; one merged with another has his page there (§10). Raises Moved."""
    into = ask.now.book.alias(player)
    if into != player:
        raise Moved(path.format(into))
    return player


def _pools_of(ask: Ask, player: int) -> list[str]:
    """Return the pools in which he stands."""
    found = []
    for name, pool in ask.now.book.state.pools.items():
        standing = pool.standings.get(player)
        if standing is not None and standing.listed:
            found.append(name)
    return found


def player(ask: Ask) -> Page:
    """A player's page: card, curve, neighbours, whom he met, his games."""
    who = _there(ask, ask.registered(ask.path["player"]), "players/{}")
    own_pools = _pools_of(ask, who)
    pool = ask.pool if ask.text("pool") or not own_pools or DEFAULT_POOL in own_pools else own_pools[0]
    now, page = ask.now, ask.page_number
    card = queries.card(now.book, now.directory, pool, who, now.at, now.order(pool))
    history = queries.history(now.book, now.directory, pool, who, GAMES, GAMES * (page - 1))
    _, pages = sheet(history.total, page, GAMES)
    curve = queries.curve(now.book, now.directory, pool, who)
    everyone = queries.company(now.book, now.directory, pool, who)
    met = Company(everyone.opponents[:COMPANY], everyone.partners[:COMPANY])
    season = season_of(now.at)
    season_games = now.book.state.look(pool, who).season_games.get(season, 0)
    drawn = chart(curve)
    context = {
        "here": "", "card": card, "state": said.state_line(card).removeprefix("状态："), "barred": wording.barred(card),
        "history": history, "page": page, "pages": pages, "chart": drawn,
        "spots": _spots(ask, drawn, who), "met": met, "everyone": everyone, "season": season,
        "season_games": season_games, "own_pools": own_pools, "initial": now.book.state.initial[who],
        "peak_games": PEAK_GAMES.on(now.today), "checked": who in now.book.state.ip_checked,
    }  # fmt: skip

    def as_data() -> dict[str, Any]:
        return data.player(card, history, curve, met, season, season_games, page, pages)

    return Page("player.html", wording.player_title(card.name, pool), pool, context, as_data)


def _spots(ask: Ask, drawn: Chart | None, who: int) -> list[list[Any]]:
    """Return what is told of each point of the curve: x, y, day, what happened, rating, change, path of its page."""
    rows = []
    for spot in drawn.spots if drawn else ():
        point = spot.point
        what, path = wording.MARKS.get(point.kind, ""), ""
        if point.kind == "game":
            what, path = _game_in_short(ask, point.number, who), f"games/{point.number}"
        elif point.number:
            what = f"账{point.number} {what}"
        rows.append([spot.x, spot.y, show_day(point.at), what, *wording.figures(point), path])
    return rows


def _game_in_short(ask: Ask, number: int, who: int) -> str:
    """Return a game's number, and result and opponents as a player saw them."""
    index = ask.now.book.find_game(number)
    assert index is not None
    columns = ask.now.book.columns
    on_left = who in columns.left(index)
    result = Result(chr(columns.result[index]))
    others = columns.right(index) if on_left else columns.left(index)
    names = said.side([ask.now.directory.name_of(player) for player in others])
    return f"局{number} {(result if on_left else result.mirrored).word} {names}"


def opponents(ask: Ask) -> Page:
    """Everybody a player met."""
    who = _there(ask, ask.registered(ask.path["player"]), "players/{}/opponents")
    pool, name = ask.pool, ask.now.directory.name_of(who)
    met = queries.company(ask.now.book, ask.now.directory, pool, who)
    part, pages = sheet(max(len(met.opponents), len(met.partners)), ask.page_number, ROWS)
    shown = Company(met.opponents[part], met.partners[part])
    context = {"here": "", "player": who, "name": name, "met": shown, "page": ask.page_number, "pages": pages}

    def as_data() -> data.Json:
        return {"player": who, "name": name, **data.company(shown), "page": ask.page_number, "pages": pages}

    return Page("opponents.html", wording.opponents_title(name, pool), pool, context, as_data)


# --- two sides --------------------------------------------------------------------------------------------


def ask_versus(ask: Ask) -> Page:
    """Two names are asked for, and looked up."""
    typed = ask.text("a"), ask.text("b")
    pool = ask.pool
    size = ask.now.book.state.pools[pool].pool.side_size
    unknown: list[tuple[str, list[str]]] = []
    if all(typed):
        sides = [_names(ask, text, size, unknown) for text in typed]
        found = [player for side in sides for player in side]
        if not unknown and len(set(found)) == len(found):
            raise Moved("versus/" + "/".join("+".join(map(str, side)) for side in sides))
    context = {"here": "versus", "typed": typed, "unknown": unknown, "size": size, "same": all(typed) and not unknown}
    return Page("versus_form.html", wording.VERSUS, pool, context, lambda: {"unknown": [name for name, _ in unknown]})


def _names(ask: Ask, text: str, size: int, unknown: list[tuple[str, list[str]]]) -> list[int]:
    """Return the players of one side as typed; names that nobody has go to `unknown` with near misses."""
    roster = ask.now.directory.roster
    names = [text] if size == 1 or roster.resolve(text) is not None else re.split(r"[、，,/]", text)[:size]
    found = []
    for name in filter(None, map(str.strip, names)):
        player = roster.resolve(name)
        if player is None or player not in ask.now.book.state.initial:
            unknown.append((name, roster.nearest(name)))
        else:
            found.append(ask.now.book.alias(player))
    return found


@dataclass(frozen=True, slots=True)
class Seat:
    """A player of one side, and his rating now."""

    player: int
    name: str
    rating: float
    rank: int | None


def _seats(ask: Ask, pool: str, side: Side) -> list[Seat]:
    rank_of = ask.now.order(pool).rank
    state, name_of = ask.now.book.state, ask.now.directory.name_of
    return [Seat(p, name_of(p), state.look(pool, p).rating, rank_of(p)) for p in side]


def versus(ask: Ask) -> Page:
    """The record of two sides against each other, and what their next game would bring."""
    pool, now = ask.pool, ask.now
    left, right = (_side(ask, ask.path[name]) for name in ("left", "right"))
    if set(left) & set(right) or max(len(left), len(right)) > now.book.state.pools[pool].pool.side_size:
        raise NotHere(wording.NO_PAGE)
    record = queries.head_to_head(now.book, now.directory, pool, left, right, now.at, MEETINGS)
    expected: Prediction | None = None
    if len(left) == len(right) == now.book.state.pools[pool].pool.side_size:
        expected = queries.prediction(now.book, now.directory, pool, left, right, now.at)
    seats = [_seats(ask, pool, side) for side in (left, right)]
    meter = record.meter and said.meter_line(record.meter, record.left, record.right, now.directory.name_of)
    bars = expected.bars if expected else ()
    context = {
        "here": "versus", "record": record, "seats": seats, "expected": expected, "meter": meter,
        "bars": [wording.barred_name(bar, now.directory.name_of(bar.player)) for bar in bars],
    }  # fmt: skip

    def as_data() -> data.Json:
        left_data, right_data = ([asdict(seat) for seat in side] for side in seats)
        return data.versus(record, left_data, right_data, expected)

    return Page("versus.html", _versus_title(record), pool, context, as_data)


def _versus_title(record: HeadToHead) -> str:
    return f"{said.side(record.left)} 对 {said.side(record.right)}"


def _side(ask: Ask, typed: str) -> Side:
    """Return the players of one side from an address: 12, or 12+15. Raises NotHere."""
    numbers = typed.split("+")
    if len(numbers) > 2 or len(set(numbers)) < len(numbers):
        raise NotHere(wording.NO_PAGE)
    return tuple(ask.now.book.alias(ask.registered(one)) for one in numbers)


# --- one game ---------------------------------------------------------------------------------------------


def game(ask: Ask) -> Page:
    """Why a game changed ratings as it did."""
    now = ask.now
    found = queries.explain(now.book, now.directory, number(ask.path["game"]))
    if found is None:
        raise NotHere(wording.NO_GAME)
    corrections = formula.corrections_line(found.corrections, {}) if found.corrections else ""
    farming = "" if found.void else formula.farming_line(found, now.directory.name_of)
    rules = now.book.state.pools[found.pool].pool.rules
    context = {
        "here": "", "game": found, "corrections": corrections, "farming": farming, "rules": rules,
        "sides": _figures(found), "k_band": formula.k_band, "kind": wording.kind(found),
    }  # fmt: skip
    return Page("game.html", wording.game_title(found), found.pool, context, lambda: data.game(found))


def _figures(found: Explanation) -> Sequence[tuple[Any, ...]]:
    """Return the figures of each player of a game that has any."""
    return [(found.ours, found.left_players), (found.theirs, found.right_players)] if found.ours else []
