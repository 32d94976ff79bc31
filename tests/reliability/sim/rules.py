"""What must follow from what is said: the plain league with everything the people of a simulated world can say.

It is told what was said in the order in which the bot took it, and keeps its own list of reports and entries. It
shares no code with the product but the names in `league`.
"""

from dataclasses import dataclass, field
from typing import Any

from tests.reliability.sim.league import (
    CHECKED,
    INITIAL,
    OLD_GAMES,
    PLAYED_AT,
    PLAYERS,
    POOL_OF,
    REFEREE,
    REGISTERED_AT,
    SCORING,
    Person,
)  # fmt: skip
from tests.reliability.sim.sayings import Saying
from tests.support.plain_book import DAY, HOUR, Game, moment, pair_of, year_of
from tests.support.plain_league import PlainLeague, Slip

PREVIEW_LIFE = 600_000
"""A preview can be confirmed for ten minutes."""
SAME_FOR = 72 * HOUR
"""A judge's post equal to what took effect so lately is a copy (§5)."""


@dataclass
class Report(Slip):
    """A slip, and where it was said. `since` is when it began to wait, `decided` when it took effect."""

    chat: str = ""
    message_id: int = 0
    decided: int = 0
    by: int = 0
    """QQ of who posted it."""
    confirmed_by: int = 0
    """QQ of who confirmed it, 0 for nobody."""


@dataclass
class Preview:
    """预N: a correction, or one's own leave."""

    number: int
    qq: int
    chat: str
    expires: int
    seq: int
    """How many entries there were."""
    request: dict[str, Any]
    open: bool = True


@dataclass
class Effects:
    """What a message did besides entries: which messages of the bot it must lead to."""

    took_effect: list[int] = field(default_factory=list)
    waits: list[int] = field(default_factory=list)


class Rules(PlainLeague):
    """See the module."""

    def __init__(self) -> None:
        super().__init__()
        self.previews: dict[int, Preview] = {}
        self.effects = Effects()
        self._published: dict[str, Any] = {}
        for player, rating in INITIAL.items():
            self.add("player_registered", REGISTERED_AT, player=player, rating=rating)
        self.add("ip_checked", REGISTERED_AT, player=CHECKED, valid=True)
        for pool, lines in OLD_GAMES:
            number = len(self.slips) + 1
            report = Report(number, "waiting", pool, None, 1.0, lines, PLAYED_AT, str(REFEREE.qq), None, by=REFEREE.qq)
            self.take_effect(report, PLAYED_AT)

    # --- reports (§5) -------------------------------------------------------------------------------------

    def take_effect(self, slip: Slip, at: int) -> None:
        super().take_effect(slip, at)
        assert isinstance(slip, Report)
        slip.decided = at
        self.effects.took_effect.append(slip.number)

    def report(self, said: Saying) -> None:
        pool = self._pool(said)
        plays = any(said.person.player in line[0] + line[2] for line in said.lines)
        slip = Report(
            len(self.slips) + 1, "waiting", pool, None, 1.0, said.lines, said.at, str(said.person.qq),
            said.person.player if plays else None, said.chat, said.message_id, by=said.person.qq,
        )  # fmt: skip
        if not (plays or said.person.judge) or not pool or self.barred(slip):
            return
        if not plays:
            if (same := self._copied(slip)) is not None:
                said.led_to = f"#{same.number}"
            else:
                said.led_to = f"#{slip.number}"
                self.take_effect(slip, said.at)
            return
        open_before = {s.number for s in self.slips.values() if s.open}
        outcome = self.post(slip)
        if outcome == "waits":
            said.led_to = f"#{slip.number}"
            self.effects.waits.append(slip.number)
        elif outcome == "confirmed":
            number = self.effects.took_effect[-1]
            assert number in open_before
            self.slip(number).confirmed_by = said.person.qq
            said.led_to = f"#{number}"
        elif outcome == "still waiting":
            same = next(s for s in self.slips.values() if s.open and s.pool == pool and s.games == slip.games)
            said.led_to = f"#{same.number}"

    def _pool(self, said: Saying) -> str:
        """§1: the pool named, else the group's, else the only one of that side size with anybody on it, else none."""
        size = len(said.lines[0][0])
        if said.pool:
            return said.pool
        if said.group != SCORING:
            return POOL_OF[said.group]
        if size == 1:
            return "单跳1v1"
        listed = {pool for (pool, _), man in self.tally().men.items() if man.listed}
        return "单跳2v2" if "单跳2v2" in listed else ""

    def slip(self, number: int) -> Report:
        found = self.slips[number]
        assert isinstance(found, Report)
        return found

    def _copied(self, slip: Report) -> Report | None:
        """The report that a judge's post repeats: the same games, or a part of what waits, or more than that."""
        reports = [self.slip(number) for number in sorted(self.slips)]
        same = [
            r for r in reports
            if r.pool == slip.pool and r.games == slip.games
            and (r.open or (r.state == "effective" and r.decided >= slip.posted - SAME_FOR))
        ]  # fmt: skip
        if same:
            return same[-1]
        for other in reports:
            if other.open and other.pool == slip.pool and _pairs(other) == _pairs(slip):
                few, many = sorted((other.games, slip.games), key=len)
                if all(few.count(game) <= many.count(game) for game in few):
                    return other
        return None

    def confirm(self, person: Person, number: int, at: int) -> bool:
        slip = self.slips.get(number)
        if slip is None or not slip.open or slip.player is None or person.player not in slip.other_side:
            return False
        self.slip(number).confirmed_by = person.qq
        self.agree(slip, at)
        return True

    def object_to(self, person: Person, number: int) -> bool:
        slip = self.slips.get(number)
        if slip is None or not slip.open or slip.player is None or person.player not in slip.other_side:
            return False
        slip.state = "disputed"
        return True

    def withdraw(self, person: Person, number: int, at: int) -> None:
        slip = self.slips.get(number)
        if slip is not None and slip.open and slip.account == str(person.qq):
            self.drop(slip, "withdrawn", at)

    # --- words --------------------------------------------------------------------------------------------

    def word(self, said: Saying, about: str, ours: bool) -> None:
        """`about` is what the quoted message is known to be about; `ours`: it is known as one of the bot's."""
        numbers, preview = said.numbers, said.preview
        if said.wrong and about.startswith("#"):
            numbers = (int(about[1:]),)
        elif not numbers and preview is None:
            if about.startswith("#"):
                numbers = (int(about[1:]),)
            elif about.startswith("预"):
                preview = int(about[1:])
        if said.wrong:
            done = [number for number in numbers if self.object_to(said.person, number)]
        elif preview is not None:
            self.apply(said, preview)
            return
        elif numbers:
            done = [number for number in numbers if self.confirm(said.person, number, said.at)]
        elif said.bare and (said.quote is None or not ours):
            self._bare(said)
            return
        else:
            return
        said.led_to = f"#{done[-1]}" if done else ""

    def _bare(self, said: Saying) -> None:
        """A 确认 that names nothing: only what alone waits for him here."""
        mine = [
            slip for slip in map(self.slip, sorted(self.slips))
            if slip.open and slip.chat == said.chat and slip.player is not None and said.person.player is not None
            and said.person.player in slip.other_side
        ]  # fmt: skip
        previews = [
            p for p in self.previews.values()
            if p.open and p.qq == said.person.qq and p.chat == said.chat and p.expires > said.at
        ]  # fmt: skip
        if not mine and len(previews) == 1 and previews[0].request["kind"] == "leave":
            self.apply(said, previews[0].number)
        elif len(mine) == 1 and mine[0].state != "disputed" and not previews:
            self.confirm(said.person, mine[0].number, said.at)
            said.led_to = f"#{mine[0].number}"

    # --- previews (§10, L8) -------------------------------------------------------------------------------

    def apply(self, said: Saying, number: int) -> None:
        preview = self.previews.get(number)
        if preview is None or preview.qq != said.person.qq or not preview.open or said.at >= preview.expires:
            return
        preview.open = False
        said.led_to = f"预{number}"
        request = preview.request
        if request["kind"] == "leave":
            player = request["player"]
            if not self.may_leave(player, said.at, granted=False):
                return
            if self._leave_shown(player, said.at) != request["shown"]:
                self._ask_leave(said)
            else:
                self.leave(player, said.at)
        elif len(self.items) != preview.seq:
            self.ask_correction(said, request)
        elif self._correctable(said.person, request):
            self._correct(request)

    def _show(self, said: Saying, request: dict[str, Any]) -> None:
        number = len(self.previews) + 1
        expires = said.at + PREVIEW_LIFE
        self.previews[number] = Preview(number, said.person.qq, said.chat, expires, len(self.items), request)
        said.led_to = f"预{number}"

    def _leave_shown(self, player: int, at: int) -> tuple[Any, ...]:
        men = {pool: self.man(self.tally(), pool, player) for pool in self.leave_pools_known()}
        season = year_of(at)
        stays = [p for p, m in men.items() if m.listed and not m.archived and m.season_games.get(season, 0) >= 10]
        issued = [d.number for d in self.open_duels() if d.challenger == player]
        return moment(season + 1), tuple(self.leave_pools(player, at)), tuple(stays), tuple(issued)

    @staticmethod
    def leave_pools_known() -> tuple[str, ...]:
        return ("单跳1v1", "单跳2v2", "空跳2v2")

    def _ask_leave(self, said: Saying) -> None:
        player = said.person.player
        if player is not None and self.may_leave(player, said.at, granted=False):
            self._show(said, {"kind": "leave", "player": player, "shown": self._leave_shown(player, said.at)})

    def ask_correction(self, said: Saying, request: dict[str, Any]) -> None:
        if self._correctable(said.person, request):
            self._show(said, request)

    def _found(self, number: int) -> Game | None:
        return next((game for game in self.tally().games if game.number == number), None)

    def _correctable(self, person: Person, request: dict[str, Any]) -> bool:
        """Whether there is something to correct, and it is not his own case (§5 D)."""
        if request["kind"] == "adjust":
            return person.player != request["player"]
        if request["kind"] == "report":
            slip = self.slip(request["number"])
            if slip.state != "effective":
                return False
            players = {p for game in self.games_in(self._entry(slip)) for p in game.players}
        else:
            game = self._found(request["number"])
            if game is None or game.void:
                return False
            if request["kind"] == "amend" and game.line[1] == request["result"]:
                return False
            slip, players = self.slip(self.items[game.seq - 1].data["report"]), set(game.players)
        posted_it = slip.player is not None and slip.account == str(person.qq)
        return person.player not in players and not posted_it

    def _entry(self, slip: Report) -> Any:
        return next(i for i in self.items if i.kind == "games" and i.data["report"] == slip.number)

    def _correct(self, request: dict[str, Any]) -> None:
        if request["kind"] == "adjust":
            player, amount = request["player"], request["amount"]
            self.add("adjustment", request["at"], request["pool"], player=player, amount=amount)
            return
        if request["kind"] == "report":
            slip = self.slip(request["number"])
            entry, data = self._entry(slip), {}
        else:
            game = self._found(request["number"])
            assert game is not None
            entry, data = self.items[game.seq - 1], {"game": game.number}
            slip = self.slip(entry.data["report"])
            if request["kind"] == "amend":
                data["line"] = (game.line[0], request["result"], game.line[2])
        kind = "amend" if request["kind"] == "amend" else "void"
        self.add(kind, request["at"], entry.pool, entry.seq, **data)
        games = self.games_in(entry)
        slip.state = "void" if all(game.void for game in games) else "effective"
        slip.lines = tuple(game.line for game in games)

    # --- commands -----------------------------------------------------------------------------------------

    def command(self, said: Saying) -> None:
        person, at = said.person, said.at
        if said.verb == "withdraw":
            self.withdraw(person, said.numbers[0], at)
            said.led_to = f"#{said.numbers[0]}"
            return
        if said.made_up:
            return
        if said.verb == "leave":
            self._ask_leave(said)
        elif said.verb == "challenge":
            self._challenge(said)
        elif person.desk:
            self._desk(said)

    def _challenge(self, said: Saying) -> None:
        person, pool = said.person, POOL_OF[said.group]
        if len(said.players) == 1:
            if person.player is None:
                return
            challenger, opponent = person.player, said.players[0]
        else:
            challenger, opponent = said.players
            if challenger != person.player and not person.desk:
                return
            if person.player == opponent and challenger != opponent:
                return
        if not self.may_challenge(challenger, opponent, pool, said.at):
            return
        number = len(self.duels()) + 1
        said.led_to = f"约{number}"
        self.add(
            "challenge_issued", said.at, pool, number=number, challenger=challenger, opponent=opponent,
            deadline=said.at + 7 * DAY,
        )  # fmt: skip

    def _desk(self, said: Saying) -> None:
        person, at = said.person, said.at
        if said.verb == "confirm for":
            for number in said.numbers:
                slip = self.slips.get(number)
                if slip is not None and slip.open and not self._own_case(person, slip):
                    self.slip(number).confirmed_by = person.qq
                    self.take_effect(slip, at)
            said.led_to = f"#{said.numbers[-1]}"
        elif said.verb == "void report":
            slip = self.slips.get(said.numbers[0])
            said.led_to = f"#{said.numbers[0]}"
            if slip is not None and slip.state == "effective":
                said.led_to = ""
                self.ask_correction(said, {"kind": "report", "number": slip.number, "at": at})
            elif slip is not None and slip.open and not self._own_case(person, slip):
                self.drop(slip, "void", at)
        elif said.verb == "amend":
            request = {"kind": "amend", "number": said.numbers[0], "at": at, "result": said.result}
            self.ask_correction(said, request)
        elif said.verb == "void game":
            self.ask_correction(said, {"kind": "game", "number": said.numbers[0], "at": at})
        elif said.verb == "adjust":
            request = {"kind": "adjust", "player": said.players[0], "amount": said.amount, "at": at}
            self.ask_correction(said, request | {"pool": POOL_OF[said.group]})
        elif said.verb == "publish":
            self._publish(POOL_OF[said.group], at)

    @staticmethod
    def _own_case(person: Person, slip: Slip) -> bool:
        return person.player in slip.players or (slip.player is not None and slip.account == str(person.qq))

    def _publish(self, pool: str, at: int) -> None:
        """A list that says the same as the last one is not published again."""
        board = []
        for player in self.board(pool, at, PLAYERS):
            man = self.man(self.tally(), pool, player)
            board.append((player, man.rating, man.games, man.wins, man.draws, man.losses, man.peak, man.peak_at))
        if board and self._published.get(pool) != board:
            self._published[pool] = board
            self.add("list_published", at, pool)


def _pairs(slip: Slip) -> set[Any]:
    return {pair_of(line[0], line[2]) for line in slip.lines}


FORWARD_TO = f"g{SCORING}"
