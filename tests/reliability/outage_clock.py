"""The machine's clock jumps: deadlines, reports and seasons go by QQ's time, and the desk is told of the difference."""

import asyncio
import os
import random
import struct
from pathlib import Path

from plugins.rating_bot.sandbox.onebot import notice_event
from plugins.rating_bot.sandbox.qq import wall_clock
from plugins.rating_bot.sandbox.values import Happened
from rating_core.ledger import Games, Row
from rating_core.service import challenges
from rating_core.service.league import League
from rating_core.service.people import Place
from rating_core.store.database import Database
from rating_core.store.ledger_store import LedgerStore
from rating_core.times import DAY_MS, HOUR_MS
from tests.e2e.world import OFFICIAL, OWNER, POOL
from tests.reliability.outage_world import (
    GROUPS,
    KEEPER,
    LIVE,
    SCORING,
    OutageWorld,
    Talk,
    living,
    quiet,
    recorded,
    said_so_far,
    spoken,
    until,
    well,
)
from tests.reliability.power import compile_shim

SHIM = Path(__file__).with_name("clock_shim.c")
SHORT = (DAY_MS, -DAY_MS)
LONG = (*SHORT, 8 * HOUR_MS, -8 * HOUR_MS, 30 * DAY_MS, -30 * DAY_MS, DAY_MS, -DAY_MS)
SOON_MS = 2_000
THUMB = "76"
NEAR_MS = 120_000


class ClockWorld(OutageWorld):
    """The bot's machine has a clock of its own; QQ's is right."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._file = folder / "clock"
        self.put(0)
        shim = compile_shim(folder, SHIM)
        self.bot.settings |= {"LD_PRELOAD": str(shim), "CLOCK_FILE": str(self._file), "TIAOQI__REMIND_HOURS": "3",
                              "TIAOQI__CONFIRM_HOURS": "6"}  # fmt: skip

    def put(self, ahead_ms: int) -> None:
        """Let the machine's clock be so far ahead of QQ's from now on."""
        self.ahead_ms = ahead_ms
        file = os.open(self._file, os.O_RDWR | os.O_CREAT, 0o600)
        os.pwrite(file, struct.pack("=q", 1_000_000 * ahead_ms), 0)
        os.close(file)

    async def start(self, *, failpoint: str = "") -> None:
        before, again = self._read(), self._client_started
        await super().start(failpoint=failpoint)
        await until(lambda: not again or self._read() == before + len(GROUPS), "history is read")

    async def ledger(self, kind: str) -> list[Row]:
        async with self.league() as league, league.database.read() as connection:
            return [row async for row in LedgerStore(connection).rows_after(0) if row.kind == kind]

    async def ticked(self) -> None:
        """Let what is due be looked for, as at the end of every reading of history."""
        before = self._read()
        await self.client.drop()
        await self.client.connected()
        await until(lambda: self._read() == before + len(GROUPS), "history is read")
        await quiet(self)

    def _read(self) -> int:
        return sum("history of group" in line for line in self.bot.lines)

    async def challenge(self, one: str, two: str, deadline: int) -> None:
        """Enter, while the bot is down, a challenge issued seven days before a deadline."""
        assert not self.bot.running
        database = await Database.open(self.url)
        try:
            league = await League.open(database, wall_clock, frozenset({str(OWNER)}))
            async with league.transaction() as tx:
                first, second = tx.directory.roster.find(one), tx.directory.roster.find(two)
                assert first is not None and second is not None
                actor = tx.directory.actor(str(self.people[one]), league.superusers)
                at = deadline - 7 * DAY_MS
                issued = await challenges.issue(tx, actor, first, second, POOL, Place(f"g{OFFICIAL}", "", at))
                await tx.challenges.set_reminder(issued.challenge.number, None)  # those of the days before were said
        finally:
            await database.close()


async def clock(folder: Path, rng: random.Random, long: bool) -> str:
    """A day ahead, a day behind, while it runs and from its start on."""
    world = ClockWorld(folder)
    talk = Talk(rng)
    jumps = LONG if long else SHORT
    async with living(world, *(name for number in range(2 * len(jumps)) for name in _idle(number))):
        for number, ahead in enumerate(jumps):
            await _jump(world, talk, ahead, 2 * number)
        await well(world)
    return (
        f"{len(jumps)} jumps of up to {max(map(abs, jumps)) // DAY_MS} days, each while running and before a start: no"
        " deadline, expiry or reminder before QQ's time, none after it missed, the desk told once each"
    )


def _idle(number: int) -> tuple[str, str]:
    """Two who never play but for what is told of them here."""
    return f"甲{number:03d}", f"乙{number:03d}"


async def _jump(world: ClockWorld, talk: Talk, ahead: int, number: int) -> None:
    """Let the clock jump while the bot runs; then start it anew with the wrong clock; then put it right."""
    one, two = _idle(number)
    await world.stop(clean=False)
    await world.challenge(one, two, world.qq.now() + min(12 * HOUR_MS, abs(ahead) // 2))
    await world.start()
    reporter, other = _idle(number + 1)
    waiting, _ = await world.report(reporter, f"{reporter} 胜 {other}")
    await quiet(world)
    told = sum("时钟比QQ" in text for text in world.told(SCORING))
    before = said_so_far(world)

    world.put(ahead)
    world.say("王五", "今天好冷")
    await world.ticked()
    await _nothing_by_the_wrong_clock(world, number, waiting)
    await _told(world, told + 1)
    assert ("快" if ahead > 0 else "慢") in world.told(SCORING)[-1]
    said = {group: len(world.told(group, before[group])) for group in GROUPS}
    assert sum(said.values()) == 1, f"said because of the clock: {[world.told(g, before[g]) for g in GROUPS]}"

    await _goes_on(world, talk)
    await _by_thumb(world, talk)
    await _marks_are_written(world)
    confirmed = world.say(other, f"确认 {waiting}")
    await world.hear(f"收到 #{waiting}（", after=confirmed)
    await _played(world, one, two, number)

    await _started_with_it(world, number + 1)
    await _goes_on(world, talk)
    assert sum("时钟比QQ" in text for text in world.told(SCORING)) == told + 1, "the desk was told twice"
    world.put(0)
    world.clear_docket()
    await world.ticked()


async def _told(world: ClockWorld, count: int) -> None:
    """People go on talking until the desk is told of the clock."""
    for _ in range(8):
        if sum("时钟比QQ" in text for text in world.told(SCORING)) == count:
            return
        world.say("王五", "今天好冷")
        await asyncio.sleep(4)
    raise AssertionError(f"the desk is not told of the clock: {world.told(SCORING)[-3:]}")


async def _nothing_by_the_wrong_clock(world: ClockWorld, number: int, waiting: int) -> None:
    one, two = _idle(number)
    async with world.league() as league:
        names = league.directory.name_of
        state = next(c.state for c in league.book.state.challenges.values() if names(c.challenger) == one)
        assert state == "open", f"{one}'s challenge of {two} is {state} by the wrong clock"
    found = world.rows("SELECT state, remind_at IS NOT NULL FROM reports WHERE report_id = ?", waiting)
    assert found == [("waiting", 1)], f"#{waiting} by the wrong clock: {found}"


async def _goes_on(world: ClockWorld, talk: Talk) -> None:
    """People report and confirm, one send ends unclear; all is dated by QQ."""
    world.client.faults.fail_delivered = 1
    script = talk.script(4, 2, kinds=LIVE)
    begin = world.qq.now()
    spoken(world, script)
    await recorded(world, script)
    await quiet(world)
    games = [row for row in await world.ledger("games") if row.said_at >= begin - 1000]
    assert len(games) == len(script.reports), f"{len(games)} of {len(script.reports)} dated by QQ"
    assert all(row.said_at <= world.qq.now() + NEAR_MS for row in games)


async def _by_thumb(world: ClockWorld, talk: Talk) -> None:
    """A notice is dated by the client's machine: here the same, with the same wrong clock."""
    a, b = ("钱七", "孙八")
    number, prompt = await world.report(a, "\n".join(f"{a} {word} {b}" for word in talk.games((a, b))))
    with world.client.silent():
        world.qq.react(OFFICIAL, prompt.message_id, world.people[b], THUMB)
    happened = Happened("reaction", prompt.chat, prompt, world.people[b], THUMB)
    event = notice_event(world.qq, happened)
    assert event is not None
    world.client.push(event | {"time": (world.qq.now() + world.ahead_ms) // 1000})
    await world.hear(f"收到 #{number}（", after=prompt)
    rows = [row for row in await world.ledger("games") if isinstance(e := row.entry(), Games) and e.report == number]
    (row,) = rows
    assert abs(row.said_at - world.qq.now()) < NEAR_MS, "a 👍 is dated by the wrong clock"


async def _marks_are_written(world: ClockWorld) -> None:
    """What is done every few seconds is done, though the machine's clock went back."""
    said = world.say("王五", "明天再下")
    mark = "SELECT watermark_at FROM chats WHERE chat = ?"
    await until(lambda: world.rows(mark, f"g{OFFICIAL}")[0][0] >= said.time // 1000 * 1000, "the mark is written", 30)


async def _played(world: ClockWorld, one: str, two: str, number: int) -> None:
    """By QQ's time the challenge is met in time."""
    found, prompt = await world.report(two, f"{two} 负 {one}")
    said = world.say(one, f"确认 {found}", quote=prompt.message_id)
    told = await world.hear(f"收到 #{found}（", after=said)
    assert "已应战" in told.text, told.text
    assert len(await world.ledger("challenge_fulfilled")) == number // 2 + 1


async def _started_with_it(world: ClockWorld, number: int) -> None:
    """A start with the wrong clock: what is over by QQ's time ends at its own time, what is not does not."""
    one, two = _idle(number)
    forfeited = len(await world.ledger("challenge_forfeited"))
    await world.stop(clean=False)
    over = world.ahead_ms < 0
    deadline = world.qq.now() + (SOON_MS if over else 12 * HOUR_MS)
    await world.challenge(one, two, deadline)
    await world.start()
    await world.ticked()
    if over:
        while world.qq.now() < deadline + 7_000:
            await asyncio.sleep(0.2)
        said = world.say("王五", "到点了吗")
        await world.ask(KEEPER, "/等级分 " + two, "实际分 1934.0")  # lost one, and 50 points
        rows = await world.ledger("challenge_forfeited")
        assert [row.said_at for row in rows[forfeited:]] == [deadline], (rows[forfeited:], deadline, said.time)
    else:
        await world.ask(KEEPER, "/等级分 " + two, two)
        await world.ticked()
        assert len(await world.ledger("challenge_forfeited")) == forfeited, f"{two} forfeited by the wrong clock"
        ended = world.say(KEEPER, "/约战", SCORING)
        await world.hear(two, after=ended, group=SCORING)
    await quiet(world)
