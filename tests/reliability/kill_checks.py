"""What must be true of a world when nobody has anything left to say: nothing missing, nothing double."""

import asyncio
import re
import sys
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from rating_core.ledger import (
    ChallengeForfeited,
    ChallengeFulfilled,
    ChallengeIssued,
    Games,
    ListPublished,
    Row,
    Settlement,
    Void,
)
from rating_core.service.league import League
from rating_core.store.ledger_store import LedgerStore
from tests.e2e.world import OFFICIAL, SCORING, World
from tests.reliability.kill_people import Crowd, Said
from tests.support.engines import sql
from tests.support.process import environment

if TYPE_CHECKING:
    from tests.reliability.kill_world import KillWorld

ROOT = Path(__file__).resolve().parents[2]
Pairs = Collection[tuple[str, str]]
RETIRED = {("老陈", "老林"): 100, ("老徐", "老高"): 361}
"""They played once in the season that is settled and rolled back, so many days after its start: two of them too late
to lose points, so that there is a final list.
"""
NOT_OUT = "SELECT outbox_id, state, kind, text, error FROM outbox WHERE state NOT IN ('sent', 'dropped')"
LAGRANGE_OTHER_ID = 0x2A2A2A2A
"""Lagrange gives a message another id in history: by this xor."""


async def problems_of(killed: "KillWorld") -> list[str]:
    """Return what is missing, double or wrong, each in a line."""
    world, crowd = killed.world, killed.crowd
    found = await problems_of_talk(world, crowd, RETIRED)
    async with world.league() as league, league.database.read() as connection:
        rows = [row async for row in LedgerStore(connection).rows_after(0)]
    seen = Seen(world)
    found += list(_challenges(killed, league, rows, seen))
    found += list(_settlements(killed, rows, seen))
    found += await _backups(world.folder, rows)
    found += [f"in the log: {line}" for line in world.bot.lines if "Traceback" in line or "[ERROR]" in line]
    return found


async def problems_of_talk(world: World, crowd: Crowd, old: Pairs = ()) -> list[str]:
    """Return what is wrong with the reports of a crowd, on either engine; `old` pairs played once before."""
    found = await _replayed(world.url)
    async with world.league() as league, league.database.read() as connection:
        rows = [row async for row in LedgerStore(connection).rows_after(0)]
    seen = Seen(world)
    found += list(_recorded(crowd, _reports(world.url)))
    found += list(_in_the_ledger(crowd, old, league, rows))
    for said in crowd.said:
        if wrong := list(_told(said, seen)):
            found += [*wrong, _around(world, said)]
    found += [f"not out: {row}" for row in sql(world.url, NOT_OUT)]
    return found


def _around(world: World, said: Said) -> str:
    """Return what was said in the group from a report on, for the account of what went wrong."""
    chat, first = said.message.chat, said.message.real_seq
    messages = [message for message in world.qq.messages(chat) if first <= message.real_seq <= first + 40]
    lines = [f"  {m.time % 1_000_000} {world.qq.shown_name(chat, m.user_id)}: {m.text!r}" for m in messages]
    return "\n".join([f"after {said}:", *lines])


class Seen:
    """How often the people of a group read a line that begins so."""

    def __init__(self, world: World) -> None:
        self._texts = {
            group: [message.text for message in world.qq.said_by_bot(group)] for group in (OFFICIAL, SCORING)
        }

    def count(self, group: int, begin: str) -> int:
        """Return how many lines begin with a text (escaped), merged answers taken apart."""
        return sum(len(re.findall(f"^{re.escape(begin)}", text, re.MULTILINE)) for text in self._texts[group])


async def _replayed(database: str) -> list[str]:
    """`replay --verify` in a process of its own: chain whole, a fresh fold equal to what was announced."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "rating_core", "replay", "--verify", "--database", database, cwd=ROOT,
        env=environment({}), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    output, _ = await process.communicate()
    return [] if process.returncode == 0 else [f"replay --verify of {database}: {output.decode()}"]


# --- reports and games ------------------------------------------------------------------------------------


def _reports(url: str) -> dict[int, tuple[str, int]]:
    """Return report → its state and the message in which it was posted."""
    rows = sql(url, "SELECT report_id, state, message_id FROM reports WHERE message_id != ''")
    return {number: (state, int(message)) for number, state, message in rows}


def _recorded(crowd: Crowd, reports: dict[int, tuple[str, int]]) -> Iterator[str]:
    """Every report once, in the state in which its people left it."""
    by_message: dict[int, list[int]] = {}
    for number, (_, message) in reports.items():
        by_message.setdefault(message, []).append(number)
    for said in crowd.said:
        own = said.message.message_id
        numbers = by_message.pop(own, []) + by_message.pop(own ^ LAGRANGE_OTHER_ID, [])
        if len(numbers) != 1:
            yield f"recorded {len(numbers)} times {numbers}: {said}"
        elif numbers[0] != said.number:
            yield f"recorded as #{numbers[0]}, told as #{said.number}: {said}"
        elif (state := reports[numbers[0]][0]) != said.outcome:
            yield f"#{said.number} is {state}: {said}"
    for message, numbers in by_message.items():
        yield f"nobody said what is recorded as {numbers} (message {message})"


def _in_the_ledger(crowd: Crowd, old: Pairs, league: League, rows: list[Row]) -> Iterator[str]:
    """The games of each effective report once, as they were said; no others but those of the `old` season."""
    names = league.directory.name_of
    entered: dict[int, list[tuple[str, ...]]] = {}
    for row in rows:
        if row.kind == Games.KIND:
            entry = row.entry()
            assert isinstance(entry, Games)
            lines = tuple(f"{names(line.left[0])} {line.result.word} {names(line.right[0])}" for line in entry.lines)
            entered.setdefault(entry.report, []).append(lines)
    for said in crowd.said:
        wanted = [said.lines] if said.outcome == "effective" else []
        if (got := entered.pop(said.number, [])) != wanted:
            yield f"#{said.number} is in the ledger as {got}: {said}"
    others = [game for many in entered.values() for lines in many for game in lines]
    if sorted(others) != sorted(f"{one} 胜 {two}" for one, two in old):
        yield f"games that nobody reported: {entered}"
    games = sum(len(said.lines) for said in crowd.said if said.outcome == "effective") + len(old)
    if len(league.book.columns) != games or len(set(league.book.columns.number)) != games:
        yield f"the Book holds {len(league.book.columns)} games, {games} were played"


def _told(said: Said, seen: Seen) -> Iterator[str]:
    """收到 and forward exactly one each, a prompt at most once; what ended otherwise said once too."""
    number, home = said.number, said.message.group_id
    assert home is not None
    effective = said.outcome == "effective"
    wanted = {
        (home, f"收到 #{number}（"): effective,
        (SCORING, f"#{number} 单跳1v1"): effective and home == OFFICIAL,
        (OFFICIAL, f"#{number} 已撤回"): said.outcome == "withdrawn",
        (OFFICIAL, f"#{number} 已作废（"): said.outcome == "void",
        (OFFICIAL, f"#{number} 争议："): said.disputed,
        (SCORING, f"#{number} 争议（"): said.disputed,
    }
    for (group, begin), once in wanted.items():
        if (count := seen.count(group, begin)) != once:
            yield f"{begin!r} stands {count} times in group {group}: {said}"
    for begin in (f"#{number} 待确认", f"#{number}（"):
        if (count := seen.count(OFFICIAL, begin)) > 1:
            yield f"{begin!r} stands {count} times: {said}"


# --- challenges and settlements ---------------------------------------------------------------------------


def _challenges(killed: "KillWorld", league: League, rows: list[Row], seen: Seen) -> Iterator[str]:
    """Each challenge issued once, and fulfilled by a game or forfeited at its deadline, once and said once."""
    kinds = (ChallengeIssued, ChallengeFulfilled, ChallengeForfeited)
    entered = Counter((row.kind, entry.challenge) for row in rows if isinstance(entry := row.entry(), kinds))
    numbers = {
        (league.directory.name_of(c.challenger), league.directory.name_of(c.opponent)): c.number
        for c in league.book.state.challenges.values()
    }
    issued = killed.crowd.challenged + killed.idle[: killed.overdue]
    if len(numbers) != len(issued) or max(entered.values(), default=1) != 1:
        yield f"challenges issued {issued}, entered {entered}"
    for pair in killed.crowd.challenged:
        number = numbers.get(pair, 0)
        if (count := seen.count(OFFICIAL, f"约{number} 强制约战")) != 1:
            yield f"约{number} of {pair} was announced {count} times"
    for pair in killed.idle[: killed.overdue]:
        number = numbers.get(pair, 0)
        told = [seen.count(group, f"约{number} 到期（") for group in (OFFICIAL, SCORING)]
        if not entered[ChallengeForfeited.KIND, number] or told != [1, 1]:
            yield f"约{number} of {pair} ran out: entered {entered[ChallengeForfeited.KIND, number]}, told {told}"


def _settlements(killed: "KillWorld", rows: list[Row], seen: Seen) -> Iterator[str]:
    """A settlement with its list or neither; rolled back with its list or neither; said once each."""
    crowd, year = killed.crowd, killed.season
    settled = [row.seq for row in rows if row.kind == Settlement.KIND]
    lists = [row.seq for row in rows if row.kind == ListPublished.KIND]
    voided = {row.refers_to for row in rows if row.kind == Void.KIND}
    if len(settled) != crowd.settlements or len(voided) != 2 * crowd.rollbacks:
        yield f"{crowd.settlements} settlements, {crowd.rollbacks} undone; entered {settled}, voided {voided}"
    if [seq + 1 for seq in settled] != lists or any((s in voided) != (s + 1 in voided) for s in settled):
        yield f"settlements {settled} and lists {lists} do not belong together, voided {voided}"
    for group in (OFFICIAL, SCORING):
        told = seen.count(group, f"{year}赛季已结算（"), seen.count(group, f"{year}赛季结算（")
        if told != (crowd.settlements, crowd.rollbacks):
            yield f"{crowd.settlements} settlements, {crowd.rollbacks} undone; told in group {group}: {told}"


# --- the rest ---------------------------------------------------------------------------------------------


async def _backups(folder: Path, rows: list[Row]) -> list[str]:
    """Every backup that has its name is whole, and the book as it was."""
    found = []
    heads = {row.seq: row.hash for row in rows}
    for file in sorted((folder / "backups").glob("*.db")):
        found += await _replayed(str(file))
        ((seq, head),) = sql(f"sqlite:///{file}", "SELECT seq, hash FROM ledger_head")
        if heads.get(seq) != head:
            found.append(f"{file.name} ends at row {seq} with another hash than the book")
    return found
