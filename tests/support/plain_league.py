"""The league's rules a second time, plain and slow, written from the rulebook alone: tests hold the service to it.

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


@dataclass
class Slip:
    """A report: #number. `player` is the poster as a player of it."""

    number: int
    state: str
    pool: str
    event: int | None
    weight: float
    lines: tuple[Line, ...]
    posted: int
    account: str
    player: int | None

    @property
    def open(self) -> bool:
        return self.state in ("waiting", "disputed", "expired", "confirmed")

    @property
    def players(self) -> set[int]:
        return {player for line in self.lines for player in line[0] + line[2]}

    @property
    def other_side(self) -> tuple[int, ...]:
        left, _, right = self.lines[0]
        return right if self.player in left else left

    @property
    def games(self) -> list[Line]:
        return [same_way(line) for line in self.lines]


@dataclass
class Duel:
    """A forced challenge: 约number."""

    number: int
    pool: str
    challenger: int
    opponent: int
    issued: int
    deadline: int
    state: str = "open"


@dataclass
class Verdict:
    reason: str
    taken: float
    archived: bool


class PlainLeague:
    """What was done so far, and what follows from it."""

    def __init__(self) -> None:
        self.items: list[Item] = []
        self.initial: dict[int, float] = {}
        self.slips: dict[int, Slip] = {}
        self.events: dict[int, dict[str, Any]] = {}
        self.games_given = 0
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

    # --- who may play (§5, §8) ----------------------------------------------------------------------------

    def leave_until(self, player: int, at: int) -> int | None:
        found = [i.data["until"] for i in self.in_force("leave_taken") if i.data["player"] == player]
        return max((until for until in found if until > at), default=None)

    def settled(self, season: int, pool: str) -> bool:
        return any(i.pool == pool and i.data["season"] == season for i in self.in_force("settlement"))

    def ip_checked(self, player: int) -> bool:
        said = [i.data["valid"] for i in self.in_force("ip_checked") if i.data["player"] == player]
        return bool(said) and said[-1]

    def bar(self, pool: str, player: int, at: int) -> tuple[str, int | None] | None:
        """The clause that keeps a player from playing at a moment, and until when."""
        if (until := self.leave_until(player, at)) is not None:
            return "L8", until
        man = self.man(self.tally(), pool, player)
        if man.archived and man.until > at:
            return "L7", man.until
        season = year_of(at) - 1
        if at < moment(season + 1, 2) and not self.settled(season, pool):
            verdict = self.judge(season, pool, player)
            if verdict is not None and verdict.archived:
                return "L7", moment(season + 1, 2)
        return ("L11", None) if man.rating >= 2200 and not self.ip_checked(player) else None

    # --- the season (L7, L8, L10) -------------------------------------------------------------------------

    def judge(self, season: int, pool: str, player: int) -> Verdict | None:
        """What the settlement of a season says of a player; None where it has nothing to do with him."""
        end = moment(season + 1)
        man = self.man(self.tally(), pool, player)
        since = [*man.posted, *([] if man.opened is None else [man.opened])]
        if not since or min(since) >= end or self.man(self.at_the_end_of(season), pool, player).archived:
            return None
        if man.season_games.get(season, 0) >= 10:
            return None
        if any(i.data["player"] == player and i.data["until"] == end for i in self.in_force("leave_taken")):
            return Verdict("leave", 0.0, True)
        if self.initial[player] + sum(amount for at, amount in man.changes if at < end) >= 2200:
            return Verdict("high_rating", 0.0, False)
        if man.opened is None and min(man.posted) >= end - 7 * DAY:
            return Verdict("newcomer", 0.0, False)
        return Verdict("few_games", 20.0, True)

    def verdicts(self, season: int, pool: str) -> tuple[tuple[int, float], ...]:
        found = {player: self.judge(season, pool, player) for player in sorted(self.initial)}
        return tuple((player, v.taken) for player, v in found.items() if v is not None and v.archived)

    def season_waits(self, season: int, pool: str) -> bool:
        return any(s.open and s.pool == pool and year_of(s.posted) == season for s in self.slips.values())

    def may_settle(self, season: int, pool: str, at: int) -> bool:
        later = any(i.pool == pool and i.data["season"] > season for i in self.in_force("settlement"))
        end = moment(season + 1)
        men = [man for (name, _), man in self.tally().men.items() if name == pool]
        subject = any(min([*m.posted, *([] if m.opened is None else [m.opened])], default=end) < end for m in men)
        return at >= end and subject and not later and not self.settled(season, pool)

    def settle(self, season: int, pool: str, at: int) -> None:
        item = self.add("settlement", at, pool, season=season, verdicts=self.verdicts(season, pool))
        self._known.clear()
        closing = self.closing(season, item)
        if any(name == pool and man.listed and not man.archived for (name, _), man in closing.men.items()):
            self.add("list_published", at, pool)
        self.cancel_shut_out(at)

    def leave_pools(self, player: int, at: int) -> list[str]:
        """L8: the pools where he stands with fewer than 10 games this season, and is not archived yet."""
        men = {pool: self.man(self.tally(), pool, player) for pool in SIDE}
        season = year_of(at)
        return [p for p, m in men.items() if m.listed and not m.archived and m.season_games.get(season, 0) < 10]

    def may_leave(self, player: int, at: int, *, granted: bool) -> bool:
        against = any(d.opponent == player and d.state == "open" for d in self.duels().values())
        in_time = at < moment(year_of(at), 12, 29)
        free = self.leave_until(player, at) is None and bool(self.leave_pools(player, at))
        return in_time and free and (granted or not against)

    def leave(self, player: int, at: int) -> None:
        pools = tuple(self.leave_pools(player, at))
        self.add("leave_taken", at, player=player, until=moment(year_of(at) + 1), pools=pools)
        self.cancel_shut_out(at)

    # --- forced challenges (L9) ---------------------------------------------------------------------------

    def duels(self) -> dict[int, Duel]:
        void = self.voided()
        found: dict[int, Duel] = {}
        for item in self.items:
            if item.kind == "challenge_issued":
                said = item.data
                duel = Duel(said["number"], item.pool, said["challenger"], said["opponent"], item.at, said["deadline"])
                found[duel.number] = duel
            elif item.kind == "challenge_forfeited" and item.seq in void:
                found[item.data["number"]].state = "lifted"
            elif item.kind.startswith("challenge_") and item.seq not in void:
                duel = found[item.data["number"]]
                if item.kind == "challenge_extended":
                    duel.deadline = item.data["deadline"]
                else:
                    duel.state = item.kind.removeprefix("challenge_")
        return found

    def open_duels(self) -> list[Duel]:
        return [duel for duel in self.duels().values() if duel.state == "open"]

    def may_challenge(self, challenger: int, opponent: int, pool: str, at: int) -> bool:
        if SIDE[pool] != 1 or challenger == opponent:
            return False
        if self.bar(pool, challenger, at) or self.bar(pool, opponent, at):
            return False
        two = {challenger, opponent}
        week = monday(at)
        mine = [d for d in self.duels().values() if d.challenger == challenger and d.pool == pool]
        used = any(d.state != "cancelled" and monday(d.issued) == week for d in mine)
        again = any({d.challenger, d.opponent} == two and d.pool == pool for d in self.open_duels())
        locked = bool(self.tally().owes(pool, pair_of((challenger,), (opponent,)), year_of(at)))
        return not (self.man(self.tally(), pool, opponent).archived or used or again or locked)

    def fulfils(self, duel: Duel, slip: Slip) -> bool:
        two = {duel.challenger, duel.opponent}
        met = slip.pool == duel.pool and any(set(line[0] + line[2]) == two for line in slip.lines)
        return met and duel.issued <= slip.posted < duel.deadline

    def shut_out(self, duel: Duel, at: int, clauses: Sequence[str]) -> bool:
        bars = [self.bar(duel.pool, player, at) for player in (duel.opponent, duel.challenger)]
        return any(bar is not None and bar[0] in clauses for bar in bars)

    def cancel_shut_out(self, at: int) -> None:
        """§9: a bar that arises meanwhile cancels it. An IP check (L11) can be made until the deadline."""
        for duel in self.open_duels():
            if self.shut_out(duel, at, ("L7", "L8")):
                self.add("challenge_cancelled", at, duel.pool, number=duel.number)

    def judge_duel(self, duel: Duel, at: int) -> None:
        """At or after the deadline: nothing while a report of the two waits that was posted in time."""
        if any(slip.open and self.fulfils(duel, slip) for slip in self.slips.values()):
            return
        if self.shut_out(duel, at, ("L7", "L8", "L11")):
            self.add("challenge_cancelled", at, duel.pool, number=duel.number)
        else:
            self.add("challenge_forfeited", at, duel.pool, number=duel.number, player=duel.opponent, amount=-50.0)

    def due(self, until: int) -> None:
        """Enter every deadline up to a moment, each at its own time: the bar from 01-01 on (§8), and L9's."""
        moments = []
        for duel in self.open_duels():
            turn = moment(year_of(duel.issued) + 1)
            if turn <= until and turn < duel.deadline:
                moments.append((turn, duel.number, "turn"))
            if duel.deadline <= until:
                moments.append((duel.deadline, duel.number, "deadline"))
        for at, number, what in sorted(moments, key=lambda m: m[:2]):
            duel = self.duels()[number]
            if duel.state != "open":
                continue
            if what == "deadline":
                self.judge_duel(duel, at)
            elif self.shut_out(duel, at, ("L7", "L8")):
                self.add("challenge_cancelled", at, duel.pool, number=number)

    # --- reports (§5) -------------------------------------------------------------------------------------

    def barred(self, slip: Slip) -> set[int]:
        return {player for player in slip.players if self.bar(slip.pool, player, slip.posted)}

    def post(self, slip: Slip) -> str:
        """A player's report: what becomes of it."""
        if self.barred(slip):
            return "barred"
        pair = pair_of(slip.lines[0][0], slip.lines[0][2])
        waiting = [
            s for s in self.slips.values()
            if s.open and s.pool == slip.pool and {pair_of(g[0], g[2]) for g in s.lines} == {pair}
        ]  # fmt: skip
        for other in waiting:
            if other.games == slip.games and slip.event in (None, other.event):
                if other.state == "confirmed":
                    return "copy"
                if other.player is None or slip.player not in other.other_side:
                    return "still waiting"
                self.agree(other, slip.posted)
                return "confirmed"
        for other in waiting:
            if all(slip.games.count(game) <= other.games.count(game) for game in slip.games):
                return "copy" if other.state == "confirmed" else "overlap"
        self.slips[slip.number] = slip
        return "waits"

    def agree(self, slip: Slip, at: int) -> None:
        """The other side confirmed: an event's report waits for a referee, unless the event is 免裁判."""
        if slip.event is not None and self.events[slip.event]["signoff"]:
            slip.state = "confirmed"
        else:
            self.take_effect(slip, at)

    def take_effect(self, slip: Slip, at: int) -> None:
        self.slips[slip.number] = slip
        slip.state = "effective"
        self.add(
            "games", at, slip.pool, report=slip.number, first=self.games_given + 1, posted=slip.posted,
            event=slip.event, weight=slip.weight, lines=slip.lines,
        )  # fmt: skip
        self.games_given += len(slip.lines)
        for duel in self.open_duels():
            if self.fulfils(duel, slip):
                self.add("challenge_fulfilled", at, slip.pool, number=duel.number)

    def drop(self, slip: Slip, state: str, at: int) -> None:
        """Withdrawn or void before effect: a penalty that it kept waiting is entered now (§9)."""
        slip.state = state
        for duel in self.open_duels():
            if duel.deadline <= at and self.fulfils(duel, slip):
                self.judge_duel(duel, at)

    # --- boards (§7) --------------------------------------------------------------------------------------

    def board(self, pool: str, at: int, names: dict[int, str]) -> list[int]:
        """The players on a pool's board in its order."""
        needed = 10 if year_of(at) <= 2016 else 20
        places = []
        for (name, player), man in self.tally().men.items():
            if name == pool and man.listed and not man.archived:
                shown = man.rating - 10 * max(0, needed - man.games)
                places.append((-shown, -man.rating, -man.games, names[player], player))
        return [place[-1] for place in sorted(places)]
