"""A state machine (Hypothesis) that does to the service whatever people do, and foretells each time what must follow.

Every command is first worked out on the plain league (tests/support/plain_league.py), then carried out by the
service on a real SQLite file; both must agree on whether it is allowed, and on every entry of the ledger.
"""

import asyncio
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from rating_core.ledger import Draft, OpeningBalance
from rating_core.report_text import GameLine, Result, format_report
from rating_core.service import challenges, corrections, due, events, leave, lists, people, reports, season
from rating_core.service import report_results as results
from rating_core.service.correction_plans import Request
from rating_core.service.league import League, Tx
from rating_core.service.people import Place
from rating_core.service.refusal import Refusal
from rating_core.store.database import Database
from tests.property.agreement import check_agreement
from tests.support.plain_league import DAY, HOUR, Item, Line, PlainLeague, Slip, moment, monday, year_of

SINGLES, PAIRS = "单跳1v1", "单跳2v2"
NAMES = {1: "张三", 2: "李四", 3: "王五", 4: "赵六", 5: "钱七", 6: "孙八"}
PLACINGS = {1: "普通", 2: "普通", 3: "16强", 4: "4强", 5: "32强", 6: "普通"}
INITIAL = {1: 2000.0, 2: 2000.0, 3: 2100.0, 4: 2200.0, 5: 2050.0, 6: 2000.0}
KEEPS_AND_PLAYS = 6
"""孙八 plays and is a scorekeeper."""
OWNER, KEEPER, REFEREE = "10001", "10002", "10004"
CHAT = "g100001"
REGISTERED_AT = moment(2016, 3, 1)
STARTS = {
    "before N changes": moment(2016, 12, 20) + 20 * HOUR,
    "an ordinary day": moment(2026, 3, 2) + 20 * HOUR,
    "autumn": moment(2026, 11, 25) + 20 * HOUR,
    "the year's end": moment(2026, 12, 27) + 20 * HOUR,
}
SETTLED = ("voided", "withdrawn", "effective")

players = st.sampled_from(sorted(NAMES))
picks = st.integers(0, 30)
runs = st.sampled_from(["W", "D", "LL", "WWWW", "LLLL", "WWWWWW", "WDLW", "DDDDDDDDD", "DDDDDDDDDD", "WLWLWLWLWWDD"])
pools = st.sampled_from([SINGLES, SINGLES, SINGLES, PAIRS])
steps = st.sampled_from(
    ["minute", "hour", "day", "three days", "week", "month", "Monday", "29 December", "1 January", "1 February"]
)


def qq(player: int) -> str:
    return str(20000 + player)


async def register_players(league: League) -> None:
    """Fill an empty league with the players and the desk, as the machine expects it."""
    async with league.transaction() as tx:
        owner = await tx.known(tx.directory.actor(OWNER, league.superusers))
        for player, name in NAMES.items():
            made = await people.add_player(tx, owner, name, qq(player), PLACINGS[player], REGISTERED_AT, ())
            assert made == player
        for account, role in ((KEEPER, "scorekeeper"), (qq(KEEPS_AND_PLAYS), "scorekeeper"), (REFEREE, "referee")):
            await people.appoint(tx, owner, role, account, REGISTERED_AT)


class LeagueMachine(RuleBasedStateMachine):
    """One league over its years."""

    def __init__(self, template: Path, folder: Path) -> None:
        super().__init__()
        self.file = folder / "ratings.db"
        shutil.copyfile(template, self.file)
        self.runner = asyncio.Runner()
        self.now = REGISTERED_AT
        self.plain = PlainLeague()
        for player, rating in INITIAL.items():
            self.plain.add("player_registered", REGISTERED_AT, player=player, rating=rating)
        self.messages = 0
        self.preview: tuple[Any, Item] | None = None
        self.open()

    def open(self) -> None:
        self.database = self.run(Database.open(f"sqlite+aiosqlite:///{self.file}"))
        self.league = self.run(League.open(self.database, lambda: self.now, frozenset({OWNER})))

    def run(self, work: Any) -> Any:
        return self.runner.run(work)

    def teardown(self) -> None:
        self.run(self.database.close())
        self.runner.close()
        for path in self.file.parent.glob("ratings.db*"):
            path.unlink()

    # --- doing things -------------------------------------------------------------------------------------

    def do(self, account: str, work: Callable[[Tx, Any], Awaitable[Any]]) -> Any:
        """Carry out what somebody says now; return the result, or the Refusal."""

        async def carry_out() -> Any:
            async with self.league.transaction() as tx:
                await due.run(tx, self.now)
                actor = await tx.actor(account)
                try:
                    return await work(tx, actor)
                except Refusal as refusal:
                    return refusal

        return self.run(carry_out())

    def place(self) -> Place:
        self.messages += 1
        return Place(CHAT, f"m{self.messages}", self.now)

    def agree(self, outcome: Any, allowed: bool) -> None:
        assert isinstance(outcome, Refusal) != allowed, (outcome, getattr(outcome, "facts", None), allowed)

    def lines(self, pool: str, first: int, turn: int, run: str) -> tuple[Line, ...]:
        """The games of two sides; few different ones, so that pairs get locked."""
        order = [first, *(p for p in sorted(NAMES) if p != first)]
        size = 1 if pool == SINGLES else 2
        others = order[1:]
        others = others[turn % len(others) :] + others[: turn % len(others)]
        left, right = (first, *others[: size - 1]), tuple(others[size - 1 : 2 * size - 1])
        return tuple((left, letter, right) for letter in run)

    def text(self, slip: Slip) -> str:
        head = f"#{self.event_name(slip.event)}\n" if slip.event else f"#{slip.pool}\n"
        return head + format_report([game_line(line) for line in slip.lines], NAMES.__getitem__)

    @staticmethod
    def event_name(event: int) -> str:
        return f"皇后杯{'甲乙丙丁戊己庚辛壬癸'[event % 10]}{'' if event < 10 else event}"

    def open_slips(self) -> list[Slip]:
        return [slip for slip in self.plain.slips.values() if slip.open]

    def next_report(self) -> int:
        return max(self.plain.slips, default=0) + 1

    def pick(self, found: Any, number: int) -> Any:
        """Choose from a list, mostly from its end."""
        return found[-1 - number % len(found)]

    # --- time ---------------------------------------------------------------------------------------------

    @initialize(start=st.sampled_from(sorted(STARTS)), veteran=players, strong=players)
    def begin(self, start: str, veteran: int, strong: int) -> None:
        """Two players come with what they were elsewhere."""
        self.now = STARTS[start]
        figures = {veteran: (2012.5, 7, 3, 8), strong: (2391.25, 4, 0, 3)}

        async def balances() -> None:
            async with self.league.transaction() as tx:
                for player, (rating, wins, draws, losses) in figures.items():
                    entry = OpeningBalance(player, rating, wins, draws, losses, self.now - DAY, 4)
                    await tx.append(Draft(entry, self.now, 0, SINGLES))

        self.run(balances())
        for player, (rating, wins, draws, losses) in figures.items():
            self.plain.add(
                "opening_balance", self.now, SINGLES, player=player, rating=rating, wins=wins, draws=draws,
                losses=losses, as_of=self.now - DAY, season_games=4,
            )  # fmt: skip

    @rule(step=steps, minutes=st.integers(0, 3))
    def pass_time(self, step: str, minutes: int) -> None:
        year = year_of(self.now)
        to = {
            "minute": self.now + 60_000, "hour": self.now + HOUR, "day": self.now + DAY,
            "three days": self.now + 3 * DAY, "week": self.now + 7 * DAY, "month": self.now + 30 * DAY,
            "Monday": monday(self.now) + 7 * DAY, "29 December": moment(year, 12, 29),
            "1 January": moment(year + 1), "1 February": moment(year + 1, 2),
        }[step]  # fmt: skip
        self.now = max(self.now, to) + minutes * 60_000

    def tick(self) -> None:
        """The bot does what is due by the clock."""

        async def run() -> None:
            async with self.league.transaction() as tx:
                await due.run(tx, self.now, reminders=True)

        self.run(run())
        self.plain.due(self.now)

    def restart(self) -> None:
        self.run(self.database.close())
        self.open()

    def fail_halfway(self, player: int) -> None:
        """Whatever a transaction did is undone when it breaks."""

        async def run() -> None:
            async with self.league.transaction() as tx:
                await due.run(tx, self.now)
                await corrections.adjust(tx, await tx.actor(OWNER), player, 50.0, SINGLES, "试", self.now)
                raise ZeroDivisionError

        try:
            self.run(run())
        except ZeroDivisionError:
            return
        raise AssertionError("the error was lost")

    @rule(what=st.sampled_from(["tick", "restart", "fail", "publish", "check", "uncheck", "close"]), player=players,
          pool=pools)  # fmt: skip
    def in_between(self, what: str, player: int, pool: str) -> None:
        """What is rare."""
        match what:
            case "tick":
                self.tick()
            case "restart":
                self.restart()
            case "fail":
                self.fail_halfway(player)
            case "publish":
                self.publish(pool)
            case "close":
                self.close_event(player)
            case _:
                self.check_ip(player, valid=what == "check")

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
            assert same or any(set(s.games) & set(slip.games) for s in of_pair), outcome
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
    @rule(which=picks, who=st.sampled_from([*map(qq, NAMES), REFEREE]))
    def dispute(self, which: int, who: str) -> None:
        slip = self.pick(self.open_slips(), which)
        player = player_of(who)
        judge = who in (REFEREE, qq(KEEPS_AND_PLAYS))
        allowed = player in slip.other_side or (slip.state == "confirmed" and (judge or player in slip.players))
        self.plain.due(self.now)
        outcome = self.do(who, lambda tx, actor: reports.dispute(tx, actor, slip.number, "记错了", self.now))
        assert isinstance(outcome, results.Changed) == allowed, (outcome, slip)
        if allowed:
            slip.state = "disputed"

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
        if own:
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

    # --- season and leave ---------------------------------------------------------------------------------

    @rule(player=players, granted=st.booleans())
    def take_leave(self, player: int, granted: bool) -> None:
        async def take(tx: Tx, actor: Any) -> Any:
            if granted:
                return await leave.grant(tx, actor, player, "出差", self.now)
            return await leave.take(tx, actor, leave.look(tx, player, self.now, granted=False), "", self.now)

        self.plain.due(self.now)
        allowed = self.plain.may_leave(player, self.now, granted=granted)
        self.agree(self.do(KEEPER if granted else qq(player), take), allowed)
        if allowed:
            self.plain.leave(player, self.now)

    @precondition(lambda self: self.plain.in_force("leave_taken"))
    @rule(which=picks)
    def undo_leave(self, which: int) -> None:
        item = self.pick(self.plain.in_force("leave_taken"), which)

        async def undo(tx: Tx, actor: Any) -> Any:
            entered = await leave.in_force(tx, actor, item.data["player"], self.now)
            return await leave.undo(tx, actor, entered, "弄错了", self.now)

        self.plain.due(self.now)
        allowed = self.plain.leave_until(item.data["player"], self.now) is not None
        self.agree(self.do(KEEPER, undo), allowed)
        if allowed:
            current = max(i.seq for i in self.plain.in_force("leave_taken") if i.data["player"] == item.data["player"])
            self.plain.add("void", self.now, refers_to=current)

    @rule(years=st.sampled_from([1, 1, 1, 0, 2]), pool=pools)
    def settle(self, years: int, pool: str) -> None:
        year = year_of(self.now) - years

        async def execute(tx: Tx, actor: Any) -> Any:
            sheet = await season.sheet_to_execute(tx, year, pool, self.now)
            return await season.settle(tx, actor, sheet, self.now)

        self.plain.due(self.now)
        allowed = self.plain.may_settle(year, pool, self.now) and not self.plain.season_waits(year, pool)
        expected = self.plain.verdicts(year, pool) if allowed else ()
        outcome = self.do(KEEPER, execute)
        self.agree(outcome, allowed)
        if allowed:
            assert outcome.sheet.verdicts == expected
            self.plain.settle(year, pool, self.now)

    @precondition(lambda self: self.plain.in_force("settlement"))
    @rule(which=picks)
    def roll_back(self, which: int) -> None:
        item = self.pick(self.plain.in_force("settlement"), which)
        year, pool = item.data["season"], item.pool

        async def undo(tx: Tx, actor: Any) -> Any:
            found = await season.rollback(tx, actor, year, pool, self.now)
            return await season.undo(tx, actor, found, self.now)

        self.plain.due(self.now)
        settled = [i.data["season"] for i in self.plain.in_force("settlement") if i.pool == pool]
        allowed = year == max(settled)
        self.agree(self.do(KEEPER, undo), allowed)
        if not allowed:
            return
        if any(i.seq == item.seq + 1 and i.pool == pool for i in self.plain.in_force("list_published")):
            self.plain.add("void", self.now, pool, refers_to=item.seq + 1)
        self.plain.add("void", self.now, pool, refers_to=item.seq)

    def publish(self, pool: str) -> None:
        self.plain.due(self.now)
        allowed = bool(self.plain.board(pool, self.now, NAMES))
        outcome = self.do(KEEPER, lambda tx, actor: lists.publish(tx, actor, pool, self.now, self.now))
        if isinstance(outcome, Refusal) and outcome.code == "list_same":
            return  # nothing changed since the last one of this day
        self.agree(outcome, allowed)
        if allowed:
            self.plain.add("list_published", self.now, pool)

    # --- forced challenges --------------------------------------------------------------------------------

    @rule(challenger=players, opponent=players)
    def challenge(self, challenger: int, opponent: int) -> None:
        self.plain.due(self.now)
        allowed = self.plain.may_challenge(challenger, opponent, SINGLES, self.now)
        outcome = self.do(
            qq(challenger),
            lambda tx, actor: challenges.issue(tx, actor, challenger, opponent, SINGLES, self.place()),
        )
        self.agree(outcome, allowed)
        if allowed:
            number = len(self.plain.duels()) + 1
            assert outcome.challenge.number == number
            self.plain.add(
                "challenge_issued", self.now, SINGLES, number=number, challenger=challenger, opponent=opponent,
                deadline=self.now + 7 * DAY,
            )  # fmt: skip

    @precondition(lambda self: self.plain.open_duels())
    @rule(which=picks, days=st.sampled_from([0, 1, 3, 30]), plays=st.booleans())
    def change_challenge(self, which: int, days: int, plays: bool) -> None:
        """A scorekeeper cancels it (0 days) or gives more time; not one in which he plays."""
        duel = self.pick(self.plain.open_duels(), which)
        account = qq(KEEPS_AND_PLAYS) if plays else KEEPER

        async def change(tx: Tx, actor: Any) -> Any:
            if not days:
                return await challenges.cancel(tx, actor, duel.number, "说好了", self.now)
            return await challenges.extend(tx, actor, duel.number, days, "出差", self.now)

        self.plain.due(self.now)
        duel = self.plain.duels()[duel.number]
        deadline = duel.deadline + days * DAY
        own = player_of(account) in (duel.challenger, duel.opponent)
        allowed = duel.state == "open" and not own and (not days or deadline > self.now)
        self.agree(self.do(account, change), allowed)
        if allowed and days:
            self.plain.add("challenge_extended", self.now, SINGLES, number=duel.number, deadline=deadline)
        elif allowed:
            self.plain.add("challenge_cancelled", self.now, SINGLES, number=duel.number)

    @precondition(lambda self: self.plain.open_duels())
    @rule(which=picks, how=st.sampled_from(["wait", "agree", "judge"]), letter=st.sampled_from("WDL"))
    def answer_a_challenge(self, which: int, how: str, letter: str) -> None:
        duel = self.pick(self.plain.open_duels(), which)
        self._report(duel.pool, None, 1.0, (((duel.opponent,), letter, (duel.challenger,)),), how)

    # --- the desk -----------------------------------------------------------------------------------------

    @rule(player=players, pool=pools, amount=st.sampled_from([37.25, -37.25, 150.0, -150.0, 0.5]), plays=st.booleans())
    def adjust(self, player: int, pool: str, amount: float, plays: bool) -> None:
        account = qq(KEEPS_AND_PLAYS) if plays else KEEPER
        self.plain.due(self.now)
        outcome = self.do(
            account, lambda tx, actor: corrections.adjust(tx, actor, player, amount, pool, "更正", self.now)
        )
        allowed = player_of(account) != player
        self.agree(outcome, allowed)
        if allowed:
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
        touched = {*game.players, *(line[0] + line[2] if action == "line" else ())}
        own = plays and KEEPS_AND_PLAYS in touched
        slip = next(s for s in self.plain.slips.values() if s.number == self.report_of(game.seq))
        posted = plays and slip.player is not None and slip.account == qq(KEEPS_AND_PLAYS)
        allowed = not game.void and not own and not posted and (action == "game" or line != game.line)
        item = {"game": game.number} if action == "game" else {"game": game.number, "line": line}
        self._correct(request, "void" if action == "game" else "amend", game.seq, item, plays, allowed, moved)

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
            any(KEEPS_AND_PLAYS in game.players for game in games)
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
        never = ("player_registered", "event_opened", "list_published", "challenge_issued", "challenge_cancelled",
                 "settlement")  # fmt: skip
        allowed: bool | None = None
        if item.seq in self.plain.voided() or item.kind in never:
            allowed = False
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
            self.adjust(player=1, pool=SINGLES, amount=0.5, plays=False)
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

    # --- what must hold ------------------------------------------------------------------------------------

    @invariant()
    def agreement(self) -> None:
        self.run(check_agreement(self.league, self.plain, self.now, NAMES))


def game_line(line: Line) -> GameLine:
    return GameLine(line[0], Result(line[1]), line[2])


def player_of(account: str) -> int | None:
    number = int(account) - 20000
    return number if number in NAMES else None
