"""A state machine (Hypothesis) that does to the service whatever people do, and foretells each time what must follow.

Every command is first worked out on the plain league (tests/support/plain_league.py), then carried out by the
service on a real SQLite file; both must agree on whether it is allowed, and on every entry of the ledger.
"""

from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, rule

from rating_core.ledger import Adjustment, Draft, OpeningBalance
from rating_core.service import due
from tests.property.acting import NAMES, SINGLES, STARTS, players, pools, steps
from tests.property.agreement import check_agreement
from tests.property.correcting import Correcting
from tests.property.governing import Governing
from tests.support.plain_book import DAY, HOUR, moment, monday, year_of


class LeagueMachine(Governing, Correcting):
    """Everything that people do, and time."""

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
                await tx.append(Draft(Adjustment(player, 50.0), self.now, 0, SINGLES))
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

    # --- what must hold -----------------------------------------------------------------------------------

    @invariant()
    def agreement(self) -> None:
        self.run(check_agreement(self.league, self.plain, self.now, NAMES))
