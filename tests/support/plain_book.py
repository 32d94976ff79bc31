"""The book a second time, plain and slow, written from the rulebook alone: tests hold the service to it.

A list of what was done is all there is. Whoever asks for a figure goes through the whole list again from the first
entry, corrections resolved beforehand (§10). Numbers stand here as the rulebook prints them. Times in ms.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import Any

SHANGHAI = timezone(timedelta(hours=8))
HOUR = 3_600_000
DAY = 24 * HOUR
SIDE = {"单跳1v1": 1, "单跳2v2": 2, "空跳2v2": 2}

Line = tuple[tuple[int, ...], str, tuple[int, ...]]
"""Left side, W D or L of the left side, right side."""
Pair = tuple[tuple[int, ...], ...]
"""The two sides, unordered: each sorted, the smaller first."""


def year_of(at: int) -> int:
    return datetime.fromtimestamp(at / 1000, SHANGHAI).year


def moment(year: int, month: int = 1, day: int = 1) -> int:
    return int(datetime(year, month, day, tzinfo=SHANGHAI).timestamp() * 1000)


def monday(at: int) -> int:
    day = datetime.fromtimestamp(at / 1000, SHANGHAI).date()
    day -= timedelta(days=day.weekday())
    return moment(day.year, day.month, day.day)


def pair_of(left: Sequence[int], right: Sequence[int]) -> Pair:
    return tuple(sorted((tuple(sorted(left)), tuple(sorted(right)))))


def same_way(line: Line) -> Line:
    """The game as seen from the smaller side, however it was written."""
    left, result, right = tuple(sorted(line[0])), line[1], tuple(sorted(line[2]))
    return (left, result, right) if left <= right else (right, {"W": "L", "L": "W", "D": "D"}[result], left)


@dataclass
class Item:
    """One thing that was done, as the ledger must say it."""

    seq: int
    kind: str
    at: int
    pool: str = ""
    refers_to: int | None = None
    data: dict[str, Any] = field(default_factory=dict)


@dataclass
class Game:
    """A game as it counts now; `before` and `change` by player."""

    number: int
    seq: int
    pool: str
    posted: int
    event: int | None
    weight: float
    line: Line
    void: bool
    counted: bool = False
    before: dict[int, float] = field(default_factory=dict)
    change: dict[int, float] = field(default_factory=dict)

    @property
    def players(self) -> tuple[int, ...]:
        return self.line[0] + self.line[2]


@dataclass
class Man:
    """One player in one pool."""

    rating: float
    games: int = 0
    wins: int = 0
    draws: int = 0
    losses: int = 0
    peak: float | None = None
    peak_at: int = 0
    season_games: dict[int, int] = field(default_factory=dict)
    changes: list[tuple[int, float]] = field(default_factory=list)
    """When and by how much the rating changed: a game's time is that of its report, whenever that took effect."""
    posted: list[int] = field(default_factory=list)
    """Times of the counted games."""
    opened: int | None = None
    archived: bool = False
    until: int = 0

    @property
    def listed(self) -> bool:
        return bool(self.posted) or self.opened is not None

    def change(self, at: int, amount: float) -> None:
        self.rating += amount
        self.changes.append((at, amount))
        self.look_at_peak(at)

    def look_at_peak(self, at: int) -> None:
        """L14: the highest actual rating from the 20th counted game on, the earliest day on ties."""
        if self.games >= 20 and (self.peak is None or self.rating > self.peak):
            self.peak, self.peak_at = self.rating, at

    def put_away(self, until: int) -> None:
        self.archived, self.until = True, max(self.until, until)


@dataclass
class Feud:
    """L6 for one pair of sides in one pool and season."""

    net: int = 0
    locked_since: int | None = None
    """How many counted games the pool had when the pair was locked."""


@dataclass
class Tally:
    """What stands after going through a list of items."""

    men: dict[tuple[str, int], Man] = field(default_factory=dict)
    games: list[Game] = field(default_factory=list)
    counted: dict[str, list[Pair]] = field(default_factory=lambda: {pool: [] for pool in SIDE})
    feuds: dict[tuple[str, Pair, int], Feud] = field(default_factory=dict)

    def owes(self, pool: str, pair: Pair, season: int) -> dict[int, int]:
        """L6: the games that each player of a locked pair still has to play with others; empty if none or unlocked."""
        feud = self.feuds.get((pool, pair, season))
        if feud is None or feud.locked_since is None:
            return {}
        since = self.counted[pool][feud.locked_since :]
        owed = {}
        for player in pair[0] + pair[1]:
            with_others = sum(1 for other in since if other != pair and player in other[0] + other[1])
            owed[player] = max(0, 4 - with_others)
        return owed if any(owed.values()) else {}


class PlainBook:
    """What was done so far, and the ratings, counts and archives that follow from it (§2, §6, §7, §10)."""

    def __init__(self) -> None:
        self.items: list[Item] = []
        self.initial: dict[int, float] = {}
        self._known: dict[Any, Any] = {}

    def add(self, kind: str, at: int, pool: str = "", refers_to: int | None = None, **data: Any) -> Item:
        self.items.append(Item(len(self.items) + 1, kind, at, pool, refers_to, data))
        if kind == "player_registered":
            self.initial[data["player"]] = data["rating"]
        self._known.clear()
        return self.items[-1]

    # --- corrections (§10) --------------------------------------------------------------------------------

    def voided(self) -> set[int]:
        """Items that are treated as never made. Whether a correction itself holds depends on later ones only."""
        if "voided" not in self._known:
            found: set[int] = set()
            for item in reversed(self.items):
                whole = item.kind == "void" and item.data.get("game") is None
                if whole and item.seq not in found and item.refers_to is not None:
                    found.add(item.refers_to)
            self._known["voided"] = found
        return self._known["voided"]

    def in_force(self, *kinds: str) -> list[Item]:
        void = self.voided()
        return [item for item in self.items if item.kind in kinds and item.seq not in void]

    def games_in(self, item: Item) -> list[Game]:
        """The games of a report as all corrections in force say, in its place."""
        void = item.seq in self.voided()
        games = [
            Game(item.data["first"] + n, item.seq, item.pool, item.data["posted"], item.data["event"],
                 item.data["weight"], line, void)
            for n, line in enumerate(item.data["lines"])
        ]  # fmt: skip
        for fix in self.in_force("void", "amend"):
            if fix.refers_to != item.seq:
                continue
            for game in games:
                if fix.data.get("game") not in (None, game.number):
                    continue
                if fix.kind == "void":
                    game.void = True
                elif "line" in fix.data:
                    game.line = fix.data["line"]
                else:
                    game.event, game.weight = fix.data["event"], fix.data["weight"]
        return games

    # --- going through the list ---------------------------------------------------------------------------

    def tally(self) -> Tally:
        """What stands now."""
        return self._tally_of("now", self.items)

    def at_the_end_of(self, season: int) -> Tally:
        """What stood when a season ended, with the corrections known now."""
        end = moment(season + 1)
        return self._tally_of(season, [item for item in self.items if item.at < end])

    def closing(self, season: int, settlement: Item) -> Tally:
        """A season's final list (§7, §8): what was posted in it, whenever it took effect, and its settlement."""
        end = moment(season + 1)
        return self._go([i for i in self.items if i is settlement or i.data.get("posted", i.at) < end])

    def _tally_of(self, key: Any, items: Iterable[Item]) -> Tally:
        if key not in self._known:
            self._known[key] = self._go(items)
        return self._known[key]

    def man(self, tally: Tally, pool: str, player: int) -> Man:
        return tally.men.setdefault((pool, player), Man(self.initial[player]))

    def _go(self, items: Iterable[Item]) -> Tally:
        tally, void = Tally(), self.voided()
        for item in items:
            if item.kind == "games":
                self._games(tally, item)
            elif item.seq in void:
                continue
            elif item.kind in ("adjustment", "challenge_forfeited"):
                self.man(tally, item.pool, item.data["player"]).change(item.at, item.data["amount"])
            elif item.kind == "opening_balance":
                self._opening(self.man(tally, item.pool, item.data["player"]), item)
            elif item.kind == "leave_taken":
                for pool in item.data["pools"]:
                    self.man(tally, pool, item.data["player"]).put_away(item.data["until"])
            elif item.kind == "settlement":
                for player, taken in item.data["verdicts"]:
                    man = self.man(tally, item.pool, player)
                    if taken:
                        man.change(item.at, -taken)
                    february = moment(item.data["season"] + 1, 2)
                    if not (item.at >= february and max(man.posted, default=0) >= february):  # he plays again already
                        man.put_away(february)
        return tally

    @staticmethod
    def _opening(man: Man, item: Item) -> None:
        said = item.data
        man.changes.append((said["as_of"], said["rating"] - man.rating))
        man.rating, man.opened = said["rating"], said["as_of"]
        man.wins, man.draws, man.losses = said["wins"], said["draws"], said["losses"]
        man.games = man.wins + man.draws + man.losses
        man.season_games[year_of(said["as_of"])] = said["season_games"]
        man.look_at_peak(said["as_of"])

    def _games(self, tally: Tally, item: Item) -> None:
        games = self.games_in(item)
        for game in games:
            for player in game.players if not game.void else ():
                man = self.man(tally, game.pool, player)
                if man.archived and man.until <= item.at:  # §8: back before the first line
                    man.archived, man.until = False, 0
        for game in games:
            tally.games.append(game)
            if not game.void:
                self._game(tally, game)

    def _game(self, tally: Tally, game: Game) -> None:
        left, result, right = game.line
        men = {player: self.man(tally, game.pool, player) for player in game.players}
        game.before = {player: man.rating for player, man in men.items()}
        pair, season = pair_of(left, right), year_of(game.posted)
        feud = tally.feuds.setdefault((game.pool, pair, season), Feud())
        if game.event is None:  # L6 is for games outside events
            if tally.owes(game.pool, pair, season):
                return
            if feud.locked_since is not None:
                feud.net, feud.locked_since = 0, None
        game.counted = True
        tally.counted[game.pool].append(pair)
        mean = {side: sum(game.before[p] for p in side) / len(side) for side in (left, right)}
        for side, other, letter in ((left, right, result), (right, left, {"W": "L", "L": "W", "D": "D"}[result])):
            expected = 1 / (10 ** (-(mean[side] - mean[other]) / 400) + 1)
            won = {"W": 1.0, "D": 0.5, "L": 0.0}[letter]
            for player in side:
                own = game.before[player]
                k = 32 if own < 2100 else 24 if own < 2400 else 16
                game.change[player] = (k * game.weight) * (won - expected)
                self._enter(men[player], game, letter, game.change[player])
        if game.event is None and result != "D":
            feud.net += 1 if (result == "W") == (tuple(sorted(left)) == pair[0]) else -1
            if abs(feud.net) >= 4:
                feud.locked_since = len(tally.counted[game.pool])

    @staticmethod
    def _enter(man: Man, game: Game, letter: str, change: float) -> None:
        season = year_of(game.posted)
        man.games += 1
        man.wins, man.draws, man.losses = (
            man.wins + (letter == "W"), man.draws + (letter == "D"), man.losses + (letter == "L"),
        )  # fmt: skip
        man.season_games[season] = man.season_games.get(season, 0) + 1
        man.posted.append(game.posted)
        man.change(game.posted, change)
