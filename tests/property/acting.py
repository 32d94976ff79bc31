"""What every part of the state machine needs: the league on its file, the plain league beside it, and saying things."""

import asyncio
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine

from rating_core.report_text import GameLine, Result, format_report
from rating_core.service import due, people
from rating_core.service.league import League
from rating_core.service.people import Place
from rating_core.service.refusal import Refusal
from rating_core.service.transaction import Tx
from rating_core.store.database import Database
from tests.support.plain_book import HOUR, Line, moment
from tests.support.plain_league import PlainLeague, Slip

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


class Acting(RuleBasedStateMachine):
    """One league over its years, on a real file; nothing is done to it yet."""

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


def game_line(line: Line) -> GameLine:
    return GameLine(line[0], Result(line[1]), line[2])


def player_of(account: str) -> int | None:
    number = int(account) - 20000
    return number if number in NAMES else None
