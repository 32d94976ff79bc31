"""Adjustments, IP checks and corrections in the state machine (§10): previewed, applied, shown anew if need be."""

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from rating_core.report_text import Result
from rating_core.service import corrections, people
from rating_core.service.correction_plans import Request
from rating_core.service.refusal import Refusal
from tests.property.acting import (
    KEEPER,
    KEEPS_AND_PLAYS,
    NAMES,
    SINGLES,
    Acting,
    game_line,
    picks,
    player_of,
    players,
    pools,
    qq,
)  # fmt: skip
from tests.support.plain_book import Game


class Correcting(Acting):
    """The desk puts right what was wrong."""

    # --- the desk -----------------------------------------------------------------------------------------

    @rule(player=players, pool=pools, amount=st.sampled_from([37.25, -37.25, 150.0, -150.0, 0.5]), plays=st.booleans())
    def adjust(self, player: int, pool: str, amount: float, plays: bool) -> None:
        self._adjust(player, pool, amount, plays)

    def _adjust(self, player: int, pool: str, amount: float, plays: bool) -> None:
        account = qq(KEEPS_AND_PLAYS) if plays else KEEPER
        self.plain.due(self.now)
        request = Request("adjust", player, "更正", self.now, amount=amount, pool=pool)
        shown = self.do(account, lambda tx, actor: corrections.propose(tx, actor, request, self.place()))
        allowed = player_of(account) != player
        self.agree(shown, allowed)
        if allowed:
            assert isinstance(self._apply(account, shown), corrections.Applied)
            self.plain.add("adjustment", self.now, pool, player=player, amount=amount)

    def check_ip(self, player: int, valid: bool) -> None:
        self.plain.due(self.now)
        outcome = self.do(
            KEEPER, lambda tx, actor: people.check_ip(tx, actor, player, valid=valid, message="", said_at=self.now)
        )
        allowed = self.plain.ip_checked(player) != valid
        self.agree(outcome, allowed)
        if allowed:
            self.plain.add("ip_checked", self.now, player=player, valid=valid)

    # --- corrections --------------------------------------------------------------------------------------

    @precondition(lambda self: self.plain.games_given)
    @rule(which=picks, action=st.sampled_from(["result", "line", "game"]), first=players, turn=picks,
          letter=st.sampled_from("WDL"), plays=st.booleans(), moved=st.booleans())  # fmt: skip
    def correct_a_game(
        self, which: int, action: str, first: int, turn: int, letter: str, plays: bool, moved: bool
    ) -> None:
        self.plain.due(self.now)
        games = self.plain.tally().games
        game = self.pick(games, which)
        line = (game.line[0], letter, game.line[2])
        if action == "line":
            (line,) = self.lines(game.pool, first, turn, letter)
        request = Request(
            action, game.number, "看错了", self.now, result=Result(letter) if action == "result" else None,  # type: ignore[arg-type]
            line=game_line(line) if action == "line" else None,
        )  # fmt: skip
        touched = {*game.players, *(line[0] + line[2] if action == "line" else ()), *self.as_posted(game)}
        own = plays and KEEPS_AND_PLAYS in touched
        slip = next(s for s in self.plain.slips.values() if s.number == self.report_of(game.seq))
        posted = plays and slip.player is not None and slip.account == qq(KEEPS_AND_PLAYS)
        allowed = not game.void and not own and not posted and (action == "game" or line != game.line)
        item = {"game": game.number} if action == "game" else {"game": game.number, "line": line}
        self._correct(request, "void" if action == "game" else "amend", game.seq, item, plays, allowed, moved)

    def as_posted(self, game: Game) -> tuple[int, ...]:
        """Return who played in a game when it was entered: it stays their own case, whatever was amended since."""
        data = self.plain.items[game.seq - 1].data
        left, _, right = data["lines"][game.number - data["first"]]
        return (*left, *right)

    def report_of(self, seq: int) -> int:
        return int(self.plain.items[seq - 1].data["report"])

    @precondition(lambda self: self.plain.in_force("games"))
    @rule(which=picks, event=picks, plays=st.booleans(), moved=st.booleans())
    def correct_a_report(self, which: int, event: int, plays: bool, moved: bool) -> None:
        """Void it, or move it into an event of its pool or out of it."""
        self.plain.due(self.now)
        item = self.pick(self.plain.in_force("games"), which)
        number = item.data["report"]
        choices = [None, 0, *(e for e, said in self.plain.events.items() if said["pool"] == item.pool)]
        to = choices[event % len(choices)]
        games = self.plain.games_in(item)
        slip = self.plain.slips[number]
        own = plays and (
            any(KEEPS_AND_PLAYS in (*game.players, *self.as_posted(game)) for game in games)
            or (slip.player is not None and slip.account == qq(KEEPS_AND_PLAYS))
        )
        whole = not all(game.void for game in games)
        if to is None:
            request = Request("report", number, "没下过", self.now)
            self._correct(request, "void", item.seq, {}, plays, not own and whole, moved)
            return
        weight = self.plain.events[to]["weight"] if to else 1.0
        request = Request("event", number, "忘了写", self.now, other=to or None)
        same = (games[0].event, games[0].weight) == (to or None, weight)
        data = {"event": to or None, "weight": weight}
        self._correct(request, "amend", item.seq, data, plays, not own and not same and whole, moved)

    @precondition(lambda self: len(self.plain.items) > len(NAMES) + 2)
    @rule(which=picks, penalty=st.booleans(), moved=st.booleans())
    def undo_an_entry(self, which: int, penalty: bool, moved: bool) -> None:
        """/撤销 账N of anything, corrections too, or /免罚. Whether it may is not foretold but for the clear cases."""
        self.plain.due(self.now)
        item = self.pick(self.plain.items, which)
        forfeits = self.plain.in_force("challenge_forfeited")
        if penalty and forfeits:
            item = self.pick(forfeits, which)
            request = Request("penalty", item.data["number"], "有事", self.now)
        else:
            request = Request("row", item.seq, "弄错了", self.now)
        never = ("player_registered", "event_opened", "challenge_issued", "challenge_cancelled", "settlement")
        allowed: bool | None = None
        if item.seq in self.plain.voided() or item.kind in never:
            allowed = False
        elif item.kind == "list_published":
            lists = [i.seq for i in self.plain.in_force("list_published") if i.pool == item.pool]
            final = any(i.seq == item.seq - 1 for i in self.plain.in_force("settlement"))
            allowed = item.seq == max(lists) and not final
        elif item.kind in ("games", "adjustment", "leave_taken", "ip_checked", "challenge_forfeited"):
            allowed = True
        self._correct(request, "void", item.seq, {}, False, allowed, moved)

    def _correct(
        self, request: Request, kind: str, target: int, data: dict[str, Any], plays: bool, allowed: bool | None,
        moved: bool,
    ) -> None:  # fmt: skip
        """Preview and apply; where the book moved in between, it must be shown anew."""
        account = qq(KEEPS_AND_PLAYS) if plays else KEEPER
        shown = self.do(account, lambda tx, actor: corrections.propose(tx, actor, request, self.place()))
        if allowed is not None:
            self.agree(shown, allowed)
        if isinstance(shown, Refusal):
            return
        if moved:
            self._adjust(1, SINGLES, 0.5, False)
            shown = self._apply(account, shown)
            if isinstance(shown, Refusal):
                return
            assert isinstance(shown, corrections.Proposed) and shown.again
        applied = self._apply(account, shown)
        assert isinstance(applied, corrections.Applied), applied
        pool = self.plain.items[target - 1].pool
        self.plain.add(kind, self.now, pool, refers_to=target, **data)

    def _apply(self, account: str, shown: Any) -> Any:
        return self.do(account, lambda tx, actor: corrections.apply(tx, actor, shown.preview, self.place()))
