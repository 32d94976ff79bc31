"""The league's rules a second time, plain and slow, written from the rulebook alone: who may do what, and what follows.

See plain_book.py for ratings and counts. Numbers stand here as the rulebook prints them. Times in ms.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.support.plain_book import (
    DAY,
    HOUR,
    SIDE,
    Game,
    Item,
    Line,
    Man,
    PlainBook,
    moment,
    monday,
    pair_of,
    same_way,
    year_of,
)  # fmt: skip

__all__ = [
    "DAY",
    "HOUR",
    "Duel",
    "Game",
    "Item",
    "Line",
    "Man",
    "PlainLeague",
    "Slip",
    "moment",
    "monday",
    "pair_of",
    "year_of",
]


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
    reason: str = field(default="", kw_only=True)
    """What was said against it last."""

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


class PlainLeague(PlainBook):
    """Who may do what now, and what is entered when he does."""

    def __init__(self) -> None:
        super().__init__()
        self.slips: dict[int, Slip] = {}
        self.events: dict[int, dict[str, Any]] = {}
        self.games_given = 0

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
            if at < duel.deadline and self.shut_out(duel, at, ("L7", "L8")):
                self.add("challenge_cancelled", at, duel.pool, number=duel.number)

    def waited_for(self, duel: Duel) -> bool:
        """Whether a report of the two waits that was posted in time."""
        return any(slip.open and self.fulfils(duel, slip) for slip in self.slips.values())

    def as_it_was(self, at: int) -> "PlainLeague":
        """What had been done before a moment, with the corrections known now."""
        then = PlainLeague()
        then.initial = dict(self.initial)
        then.items = [item for item in self.items if item.at < at or item.kind in ("void", "amend")]
        return then

    def judge_duel(self, duel: Duel, at: int) -> None:
        """At or after the deadline: nothing while a report keeps it waiting; what shut them out before it cancels."""
        if self.waited_for(duel):
            return
        if self.as_it_was(duel.deadline).shut_out(duel, duel.deadline - 1, ("L7", "L8", "L11")):
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
            elif not (duel.deadline <= until and self.waited_for(duel)) and self.shut_out(duel, at, ("L7", "L8")):
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
