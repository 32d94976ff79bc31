"""A league of 300 with names of 16 characters and long histories, on a rig."""

from collections.abc import Sequence
from contextlib import suppress

from rating_core.ledger import Draft, IpChecked, LeaveTaken, OpeningBalance
from rating_core.service import challenges, events, lists, people, reports
from rating_core.service import report_results as results
from rating_core.service.people import Place
from rating_core.service.refusal import Refusal
from rating_core.service.transaction import Tx
from rating_core.times import DAY_MS
from tests.support.rig import OFFICIAL, OWNER, SCORING, Rig

POOL, PAIRS = "单跳1v1", "单跳2v2"
SIZE = 300
EVENT, PAIRS_EVENT = "某某网某某年度传统跳棋个人公开赛", "某某网某某年度传统跳棋双人公开赛"
TO_CLOSE, UNRATED = "某某网某某年度传统跳棋团体公开赛", "某某网某某年度元宵节鬼面友谊大赛"
EVENTS = ((EVENT, POOL, 1.2), (PAIRS_EVENT, PAIRS, 2.0), (TO_CLOSE, POOL, 1.0), (UNRATED, POOL, 0.0))


def long_name(number: int) -> str:
    """A name of 16 characters."""
    return f"{number:03}号名字特别长长长长的棋手甲"


# --- the league -------------------------------------------------------------------------------------------


async def fill(rig: Rig) -> None:
    """Everybody, with what he has behind him, and something of everything that can wait."""
    await rig.league_of()
    for number in range(1, SIZE + 1):
        rig.person(long_name(number))
    async with rig.league.transaction() as tx:
        owner = await tx.known(tx.directory.actor(str(OWNER), rig.league.superusers))
        at = rig.clock.at - 61 * DAY_MS
        for number in range(1, SIZE + 1):
            made = await people.add_player(
                tx, owner, long_name(number), str(rig.people[long_name(number)]), "普通", at, ()
            )
            assert made == number
            await _opening(tx, number, at)
        for name, pool, weight in EVENTS:
            await events.open_event(tx, owner, name, weight, pool, signoff=True, said_at=at, reserved=())
    await _history(rig)
    await _what_waits(rig)


async def _opening(tx: Tx, number: int, at: int) -> None:
    """Half are on both boards, some are archived, the first are so high that L11 bars them."""
    few = number % 7 < 5
    counts = (1, 1, 0) if few else (400 - number, 111, 100 + number)
    for pool in (POOL, PAIRS):
        rating = 2199.5 - number / 3 + (180 if few else 0)
        archived = number % 11 == 10
        await tx.append(Draft(OpeningBalance(number, rating, *counts, at, number % 14, archived), at, 0, pool))
    if number % 10 != 9:
        await tx.append(Draft(IpChecked(number, True), at, 0))


async def _history(rig: Rig) -> None:
    """Years of games of the first few, and a published list with the longest title."""
    at = rig.clock.at - 60 * DAY_MS
    async with rig.league.transaction() as tx:
        referee = tx.directory.actor("10004")
        for turn in range(30):
            other = 2 + turn % 5
            at += DAY_MS
            await _post(
                tx, referee, [f"{long_name(1)} {'胜平负'[n % 3]} {long_name(other)}" for n in range(turn % 9 + 1)], at
            )
        pairs = f"{long_name(1)} {long_name(2)} {{}} {long_name(3)} {long_name(4)}"
        await _post(tx, referee, [f"#{EVENT}", *(f"{long_name(1)} 胜 {long_name(n)}" for n in range(2, 9))], at)
        await _post(tx, referee, [f"#{PAIRS}", *(pairs.format("胜负"[n % 2]) for n in range(8))], at)
        owner = tx.directory.actor(str(OWNER), rig.league.superusers)
        for _ in range(2):
            at += 4 * DAY_MS
            await _post(tx, referee, [f"{long_name(5)} 胜 {long_name(6)}"], at)
            await lists.publish(tx, owner, POOL, at, at, "很长的标题" * 8)


async def _post(tx: Tx, actor: object, lines: Sequence[str], at: int) -> None:
    message = reports.Post("\n".join(lines), f"g{SCORING}", f"9{at % 10**9}{len(lines)}", at, POOL, 24, 72)
    result = await reports.post(tx, actor, message)  # type: ignore[arg-type]
    assert isinstance(result, reports.Effective), result


async def _what_waits(rig: Rig) -> None:
    """Applications, reports, forced challenges, leaves and other items, more than a page of each."""
    at = rig.clock.at - DAY_MS
    place = Place(f"g{OFFICIAL}", "999001", at)
    async with rig.league.transaction() as tx:
        for number in range(12):
            rig.person(f"申请{number}")
            applicant = await tx.actor(str(rig.people[f"申请{number}"]))
            await people.apply_for_name(tx, applicant, f"{number:02}号新来的名字很长很长很长"[:16], "普通", place, ())
        for number in range(31, 43):
            poster = tx.directory.actor(str(rig.people[long_name(number)]))
            text = "\n".join(f"{long_name(number)} {'胜平负'[n % 3]} {long_name(number + 20)}" for n in range(10))
            posted = await reports.post(
                tx, poster, reports.Post(text, f"g{OFFICIAL}", f"9990{number}", at, POOL, 24, 72)
            )
            if isinstance(posted, results.Posted) and number % 2:
                other = tx.directory.actor(str(rig.people[long_name(number + 20)]))
                await reports.dispute(tx, other, posted.report.report_id, "很长的理由" * 9, at)
        for number in range(71, 91):
            challenger = tx.directory.actor(str(rig.people[long_name(number)]))
            with suppress(Refusal):  # some are archived or barred
                await challenges.issue(tx, challenger, number, number + 35, POOL, place)
        for number in (201, 202, 203):
            await tx.append(Draft(LeaveTaken(number, rig.clock.at + 32 * DAY_MS, (POOL,)), at, 0))
        for number in range(12):
            await tx.desk.add_docket("missed", "", f"群100001 第{number}段 " + "很长" * 60, at)
