"""Reports in the state machine (§4–§6): posted, confirmed, disputed, decided; and events."""

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from rating_core.service import events, reports
from rating_core.service import report_results as results
from tests.property.acting import (
    CHAT,
    KEEPER,
    KEEPS_AND_PLAYS,
    NAMES,
    REFEREE,
    SINGLES,
    Acting,
    picks,
    player_of,
    players,
    pools,
    qq,
    runs,
)  # fmt: skip
from tests.support.plain_book import HOUR, Line, same_way
from tests.support.plain_league import Slip


class Reporting(Acting):
    """Games come in."""

    # --- reports ------------------------------------------------------------------------------------------

    @rule(pool=pools, first=players, turn=picks, run=runs)
    def report_that_waits(self, pool: str, first: int, turn: int, run: str) -> None:
        self._report(pool, None, 1.0, self.lines(pool, first, turn, run), "wait")

    @rule(pool=pools, first=players, turn=picks, run=runs)
    def report_and_agree(self, pool: str, first: int, turn: int, run: str) -> None:
        self._report(pool, None, 1.0, self.lines(pool, first, turn, run), "agree")

    @rule(pool=pools, first=players, turn=picks, run=runs)
    def report_by_a_judge(self, pool: str, first: int, turn: int, run: str) -> None:
        self._report(pool, None, 1.0, self.lines(pool, first, turn, run), "judge")

    @rule(pool=pools, first=players, run=runs, count=st.integers(2, 4))
    def evening(self, pool: str, first: int, run: str, count: int) -> None:
        """One player plays several others."""
        for turn in range(count):
            self._report(pool, None, 1.0, self.lines(pool, first, turn, run), "judge")

    @precondition(lambda self: self.open_events())
    @rule(which=picks, first=players, turn=picks, run=runs, how=st.sampled_from(["wait", "agree", "sign", "judge"]))
    def report_of_an_event(self, which: int, first: int, turn: int, run: str, how: str) -> None:
        event = self.pick(self.open_events(), which)
        said = self.plain.events[event]
        self._report(said["pool"], event, said["weight"], self.lines(said["pool"], first, turn, run), how)

    @precondition(lambda self: self.open_slips())
    @rule(which=picks, who=picks, part=st.integers(0, 3), plain=st.booleans())
    def report_again(self, which: int, who: int, part: int, plain: bool) -> None:
        """The same games, or a part of them, from either side or from a judge, as an event's or not."""
        old = self.pick(self.open_slips(), which)
        lines = old.lines[part:] or old.lines
        everybody = [*sorted(old.players), None]
        poster = self.pick(everybody, who)
        how = "judge" if poster is None else "wait"
        self._report(old.pool, None if plain else old.event, 1.0 if plain else old.weight, lines, how, poster)

    def _report(
        self, pool: str, event: int | None, weight: float, lines: tuple[Line, ...], how: str, poster: int | None = None
    ) -> None:
        poster = None if how == "judge" else poster or lines[0][0][0]
        account = REFEREE if poster is None else qq(poster)
        slip = Slip(self.next_report(), "waiting", pool, event, weight, lines, self.now, account, poster)
        self.messages += 1
        post = reports.Post(self.text(slip), CHAT, f"m{self.messages}", self.now, SINGLES, 24, 72)
        self.plain.due(self.now)
        bars = {p: bar for p in sorted(slip.players) if (bar := self.plain.bar(pool, p, self.now)) is not None}
        outcome = self.do(account, lambda tx, actor: reports.post(tx, actor, post))
        if isinstance(outcome, results.NotEligible):
            assert {bar.player: (bar.clause, bar.until) for bar in outcome.bars} == bars
            return
        if event is not None and event not in self.open_events():
            assert isinstance(outcome, results.EventRefused), outcome
            return
        assert not bars, (outcome, bars)
        if poster is None:
            self._judge_posted(slip, outcome)
            return
        kinds = {
            "still waiting": results.StillWaiting, "overlap": results.Overlap, "copy": results.SameAs,
            "waits": results.Posted, "confirmed": results.Effective | results.Changed,
        }  # fmt: skip
        expected = self.plain.post(slip)
        assert isinstance(outcome, kinds[expected]), (expected, outcome)
        if expected == "waits" and how in ("agree", "sign"):
            self._confirm(slip, qq(slip.other_side[0]))
        if how == "sign" and slip.state == "confirmed":
            self._confirm(slip, REFEREE)

    def _judge_posted(self, slip: Slip, outcome: Any) -> None:
        """A referee's report counts at once, unless it repeats what waits or took effect within 72 h (§5)."""
        corrected = {item.refers_to for item in self.plain.items}
        rows = {item.data["report"]: item for item in self.plain.items if item.kind == "games"}
        same = [s for s in self.plain.slips.values() if s.pool == slip.pool and s.games == slip.games]
        recent = [
            s for s in same
            if s.state == "effective" and rows[s.number].seq not in corrected
            and rows[s.number].at >= self.now - 72 * HOUR
        ]  # fmt: skip
        if isinstance(outcome, results.SameAs):
            of_pair = [s for s in self.open_slips() if s.pool == slip.pool and s.players == slip.players]
            amended = [rows[n] for n in rows if rows[n].seq in corrected]  # these repeat what stands now
            stand = [[same_way(game.line) for game in self.plain.games_in(item)] for item in amended]
            assert same or slip.games in stand or any(set(s.games) & set(slip.games) for s in of_pair), outcome
            return
        assert isinstance(outcome, results.Effective), outcome
        assert not recent and not any(s.open for s in same), (outcome, recent)
        self.plain.take_effect(slip, self.now)

    @precondition(lambda self: self.open_slips())
    @rule(which=picks, who=st.sampled_from([*map(qq, NAMES), REFEREE, KEEPER]))
    def confirm(self, which: int, who: str) -> None:
        self._confirm(self.pick(self.open_slips(), which), who)

    @precondition(lambda self: self.open_slips())
    @rule(which=picks)
    def confirm_as_the_other_side(self, which: int) -> None:
        slip = self.pick(self.open_slips(), which)
        self._confirm(slip, REFEREE if slip.state == "confirmed" else qq(slip.other_side[-1]))

    def _confirm(self, slip: Slip, account: str) -> None:
        player = player_of(account)
        judge = account in (REFEREE, KEEPER, qq(KEEPS_AND_PLAYS))
        signs = slip.state == "confirmed"
        allowed = judge and player not in slip.players if signs else player in slip.other_side
        self.plain.due(self.now)
        outcome = self.do(account, lambda tx, actor: reports.confirm(tx, actor, slip.number, self.now))
        assert isinstance(outcome, results.Effective | results.Changed) == allowed, (outcome, slip)
        if not allowed:
            return
        if slip.state == "confirmed":
            self.plain.take_effect(slip, self.now)
        else:
            self.plain.agree(slip, self.now)

    @precondition(lambda self: self.open_slips())
    @rule(
        which=picks, who=st.sampled_from([*map(qq, NAMES), REFEREE]), reason=st.sampled_from(["", "记错了", "没下过"])
    )
    def dispute(self, which: int, who: str, reason: str) -> None:
        """A dispute that says nothing new changes nothing."""
        slip = self.pick(self.open_slips(), which)
        player = player_of(who)
        judge = who in (REFEREE, qq(KEEPS_AND_PLAYS))
        may = player in slip.other_side or (slip.state == "confirmed" and (judge or player in slip.players))
        changes = may and (slip.state != "disputed" or reason not in ("", slip.reason))
        self.plain.due(self.now)
        outcome = self.do(who, lambda tx, actor: reports.dispute(tx, actor, slip.number, reason, self.now))
        assert isinstance(outcome, results.Changed) == changes, (outcome, slip)
        if changes:
            slip.state, slip.reason = "disputed", reason

    @precondition(lambda self: self.plain.slips)
    @rule(which=picks, how=st.sampled_from(["withdrawn", "void", "confirmed by the desk"]), plays=st.booleans())
    def decide(self, which: int, how: str, plays: bool) -> None:
        """The reporter withdraws, or a scorekeeper decides; never in his own games (§5 D)."""
        slip = self.pick(self.open_slips() or list(self.plain.slips.values()), which)
        account = slip.account if how == "withdrawn" else qq(KEEPS_AND_PLAYS) if plays else KEEPER
        work = {
            "withdrawn": lambda tx, actor: reports.withdraw(tx, actor, slip.number, self.now),
            "void": lambda tx, actor: reports.void_by_desk(tx, actor, slip.number, "查实", self.now),
            "confirmed by the desk": lambda tx, actor: reports.confirm_by_desk(
                tx, actor, slip.number, "查实", self.now
            ),
        }[how]
        self.plain.due(self.now)
        outcome = self.do(account, work)
        own = how != "withdrawn" and player_of(account) in slip.players
        allowed = slip.open and not own
        assert isinstance(outcome, results.Effective | results.Changed) == allowed, (outcome, slip)
        if own and slip.open:
            assert isinstance(outcome, results.NotYours) and outcome.why == "own_case"
        if allowed and how == "confirmed by the desk":
            self.plain.take_effect(slip, self.now)
        elif allowed:
            self.plain.drop(slip, how, self.now)

    # --- events -------------------------------------------------------------------------------------------

    def open_events(self) -> list[int]:
        closed = {item.data["event"] for item in self.plain.in_force("event_closed")}
        return [event for event in self.plain.events if event not in closed]

    @precondition(lambda self: len(self.plain.events) < 4)
    @rule(weight=st.sampled_from([1.0, 1.2, 2.0]), pool=pools, signoff=st.booleans())
    def open_event(self, weight: float, pool: str, signoff: bool) -> None:
        event = len(self.plain.events) + 1
        self.plain.due(self.now)
        made = self.do(
            KEEPER,
            lambda tx, actor: events.open_event(
                tx, actor, self.event_name(event), weight, pool, signoff=signoff, said_at=self.now, reserved=()
            ),
        )
        assert made == event
        self.plain.events[event] = {"weight": weight, "pool": pool, "signoff": signoff}
        self.plain.add("event_opened", self.now, pool, event=event)

    def close_event(self, which: int) -> None:
        if not self.open_events():
            return
        event = self.pick(self.open_events(), which)
        self.plain.due(self.now)
        self.do(KEEPER, lambda tx, actor: events.close_event(tx, actor, event, self.now))
        self.plain.add("event_closed", self.now, self.plain.events[event]["pool"], event=event)
