"""Events (赛事): which there are, who stands how in one, and performance ratings both ways (L5; §2, E formula 1)."""

from collections.abc import Iterable
from dataclasses import dataclass

from rating_core.book import Book
from rating_core.directory import Directory
from rating_core.elo import competition_rating, performance_ratings, score
from rating_core.queries.games import event_name
from rating_core.report_text import Result
from rating_core.rulebook import UNRATED_WEIGHT
from rating_core.rules.display import masked_player
from rating_core.times import season_of


@dataclass(frozen=True, slots=True)
class EventInfo:
    """An event; `games` and `players` of those that count."""

    number: int
    name: str
    pool: str
    weight: float
    signoff: bool
    """Players' reports need a referee's or scorekeeper's confirmation."""
    open: bool
    games: int
    players: int

    @property
    def rated(self) -> bool:
        """Whether it takes reports at all while it is open (不计 does not)."""
        return self.weight != UNRATED_WEIGHT


@dataclass(frozen=True, slots=True)
class Performance:
    """A performance rating over counted games: Rp = Rc + D(P), both ways (§2)."""

    wins: int
    draws: int
    losses: int
    points: float
    """W of each game (L1) summed up."""
    mean: float
    """Mean of the opponents' ratings before each game (2v2: of the other side's mean), unrounded."""
    base: int
    """Rc: that mean, half-up to an integer."""
    logistic: float | None
    """Rp with D = −400·log10(1/P − 1); None where P is 0 or 1."""
    table: int | None
    """Rp with D from E's table one; None where P rounds to 0.00 or 1.00."""

    @property
    def games(self) -> int:
        return self.wins + self.draws + self.losses

    @property
    def share(self) -> float:
        """P: points per game."""
        return self.points / self.games


@dataclass(frozen=True, slots=True)
class EventRow:
    """One player in an event. `rank` is None for 蒙面人公用号, which is ranked nowhere (L13)."""

    rank: int | None
    player: int
    name: str
    performance: Performance


@dataclass(frozen=True, slots=True)
class EventStandings:
    """By points, then fewer games, more wins, and name."""

    event: EventInfo
    rows: tuple[EventRow, ...]


def performance_over(book: Book, player: int, games: Iterable[int]) -> Performance | None:
    """Return a player's performance over his counted games at these positions; None without any."""
    columns = book.columns
    opponents: list[float] = []
    results: list[Result] = []
    points = 0.0
    for index in games:
        on_left = player in columns.left(index)
        slots = range(2, 4) if on_left else range(2)
        theirs = [columns.before[slot][index] for slot, _ in columns.members(index) if slot in slots]
        opponents.append(sum(theirs) / len(theirs))
        result = Result(chr(columns.result[index]))
        results.append(result if on_left else result.mirrored)
        points += score(results[-1].value, book.state.pools[columns.pool[index]].pool.rules)
    if not opponents:
        return None
    logistic, table = performance_ratings(opponents, points)
    return Performance(
        results.count(Result.WIN), results.count(Result.DRAW), results.count(Result.LOSS), points,
        sum(opponents) / len(opponents), competition_rating(opponents), logistic, table,
    )  # fmt: skip


def season_performance(book: Book, pool: str, player: int, season: int) -> Performance | None:
    """Return a player's performance over all his counted games of a season in a pool, events included."""
    columns = book.columns
    return performance_over(
        book, player,
        (i for i in book.games_of(player) if columns.pool[i] == pool and season_of(columns.at[i]) == season
         and book.counted(i)),
    )  # fmt: skip


def event_performance(book: Book, event: int, player: int) -> Performance | None:
    """Return a player's performance over his counted games of an event."""
    return performance_over(
        book, player, (i for i in book.games_of(player) if book.columns.event[i] == event and book.counted(i))
    )


def _players_of(book: Book) -> dict[int, dict[int, list[int]]]:
    """Return event → player → positions of his counted games in it."""
    found: dict[int, dict[int, list[int]]] = {}
    for index, event in enumerate(book.columns.event):
        if event and book.counted(index):
            players = found.setdefault(event, {})
            for _, player in book.columns.members(index):
                players.setdefault(player, []).append(index)
    return found


def _info(book: Book, directory: Directory, number: int, players: dict[int, list[int]]) -> EventInfo:
    state = book.state.events[number]
    games = {index for played in players.values() for index in played}
    return EventInfo(
        number, event_name(directory, number), state.pool, state.opened.weight, state.opened.signoff, state.open,
        len(games), len(players),
    )  # fmt: skip


def events(book: Book, directory: Directory) -> tuple[EventInfo, ...]:
    """Return all events: those that are open first, the newest first."""
    played = _players_of(book)
    found = [_info(book, directory, number, played.get(number, {})) for number in book.state.events]
    return tuple(sorted(found, key=lambda event: (not event.open, -event.number)))


def standings(book: Book, directory: Directory, event: int) -> EventStandings:
    """Return an event's standings. KeyError where there is no such event."""
    players = _players_of(book).get(event, {})
    masked = masked_player(directory)
    table = []
    for player, games in players.items():
        performance = performance_over(book, player, games)
        assert performance is not None
        table.append((directory.name_of(player), player, performance))
    table.sort(key=lambda row: (-row[2].points, row[2].games, -row[2].wins, row[0]))
    rows: list[EventRow] = []
    rank = 0
    for name, player, performance in table:
        rank += player != masked
        rows.append(EventRow(None if player == masked else rank, player, name, performance))
    return EventStandings(_info(book, directory, event, players), tuple(rows))
