"""Time, seasons, leave, forced challenges and published lists in the state machine (§7–§9)."""

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from rating_core.service import challenges, leave, lists, season
from rating_core.service.refusal import Refusal
from rating_core.service.transaction import Tx
from tests.property.acting import (
    KEEPER,
    KEEPS_AND_PLAYS,
    NAMES,
    SINGLES,
    picks,
    player_of,
    players,
    pools,
    qq,
)  # fmt: skip
from tests.property.reporting import Reporting
from tests.support.plain_book import DAY, year_of


class Governing(Reporting):
    """The years go by."""

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
        if isinstance(outcome, Refusal) and outcome.code == "list_current":
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
