"""A group that takes nothing: only its own queue waits, the desk hears of it elsewhere, once, and all comes at last."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from tests.e2e.world import BOT, OWNER
from tests.reliability.outage_world import (
    LIVE,
    OFFICIAL,
    SCORING,
    SECOND,
    OutageWorld,
    Script,
    Talk,
    living,
    quiet,
    recorded,
    spoken,
    until,
    well,
)

MUTE_SECONDS = 2
SOON = 20.0
"""Seconds until a group is told what it missed, from when the bot can know that it may speak."""
RESTS = 150.0
"""The same where nothing tells it: the group is tried now and then."""
Event = dict[str, Any]


def notice(world: OutageWorld, group: int, **more: Any) -> Event:
    """A notice about the bot itself in a group."""
    return {"time": world.qq.now() // 1000, "self_id": BOT, "post_type": "notice", "group_id": group, "user_id": BOT,
            "operator_id": OWNER, **more}  # fmt: skip


class Trouble:
    """One way in which a group takes nothing. `over` ends it, and lets the bot know as far as QQ does."""

    def __init__(
        self, name: str, word: str, over: Callable[[OutageWorld, int], Awaitable[None]], within: float = SOON
    ) -> None:  # fmt: skip
        self.name = name
        self.word = word
        self.over = over
        self.within = within

    async def begin(self, world: OutageWorld, group: int) -> None:
        faults = world.client.faults
        {"muted": faults.muted, "kicked": faults.kicked, "hidden": faults.hidden}[self.name].add(group)


async def _unmuted(world: OutageWorld, group: int) -> None:
    world.client.faults.muted.discard(group)
    world.client.push(notice(world, group, notice_type="group_ban", sub_type="lift_ban", duration=0))


async def _ran_out(world: OutageWorld, group: int) -> None:
    """QQ tells when it begins and for how long, not that it is over."""
    mute = notice(world, group, notice_type="group_ban", sub_type="ban", duration=MUTE_SECONDS)
    world.client.push(mute)
    await asyncio.sleep(MUTE_SECONDS)
    world.client.faults.muted.discard(group)


async def _back_again(world: OutageWorld, group: int) -> None:
    world.client.faults.kicked.discard(group)
    world.client.push(notice(world, group, notice_type="group_increase", sub_type="approve"))


async def _shown(world: OutageWorld, group: int) -> None:
    world.client.faults.hidden.discard(group)
    await world.client.drop()  # a new connection is tried at once
    await world.client.connected()


async def _shown_later(world: OutageWorld, group: int) -> None:
    world.client.faults.hidden.discard(group)


MUTED = Trouble("muted", "被禁言", _unmuted)
TROUBLES = [MUTED, Trouble("muted", "被禁言", _ran_out), Trouble("kicked", "不在群", _back_again),
            Trouble("hidden", "风控", _shown)]  # fmt: skip
LONG = [*TROUBLES, Trouble("hidden", "风控", _shown_later, RESTS)]


async def groups(folder: Path, rng: random.Random, long: bool) -> str:
    """Muted, muted for a time, thrown out, under risk control; an official group, and the scoring group."""
    world = OutageWorld(folder)
    talk = Talk(rng)
    kept, slowest = 0, 0.0
    troubles = LONG * 3 if long else TROUBLES
    async with living(world):
        for trouble in troubles:
            waiting, seconds = await _closed(world, talk, trouble)
            kept += waiting
            slowest = max(slowest, seconds)
        await _scoring_muted(world, talk)
        await well(world)
    return (
        f"{len(troubles) + 1} times a group took nothing: {kept} messages kept and sent once, the others' answers"
        f" within {slowest:.1f} s, the desk told once each time"
    )


async def _closed(world: OutageWorld, talk: Talk, trouble: Trouble) -> tuple[int, float]:
    """Return how many messages were kept, and how long the other groups waited for theirs (seconds)."""
    loop = asyncio.get_running_loop()
    told = sum(trouble.word in text for text in world.told(SCORING))
    before = len(world.told(OFFICIAL))
    await trouble.begin(world, OFFICIAL)
    script = talk.script(8, 2, kinds=LIVE)
    while {report.line.group for report in script.reports if report.state and report.line} != {OFFICIAL, SECOND}:
        script = talk.script(8, 2, kinds=LIVE)
    begin = loop.time()
    spoken(world, script)
    await recorded(world, script)
    for number in _numbers(world, script, SECOND):
        await until(lambda n=number: world.count(SECOND, f"收到 #{n}（") == 1, "the other group is answered")
    seconds = loop.time() - begin
    if trouble.name == "hidden":
        await asyncio.sleep(6)  # QQ's seconds and ours differ by up to five
        world.say("王五", "怎么没反应")
    await until(lambda: sum(trouble.word in text for text in world.told(SCORING)) > told, "the desk is told", 90)
    assert any(trouble.word in line for line in world.docket("failed_send")), world.docket("failed_send")
    assert world.told(OFFICIAL)[before:] == [], "said in a group that takes nothing"
    kept = len(world.rows("SELECT 1 FROM outbox WHERE chat = ? AND state = 'pending'", f"g{OFFICIAL}"))
    assert kept > 0
    await trouble.over(world, OFFICIAL)
    for number in _numbers(world, script, OFFICIAL):
        await until(lambda n=number: world.count(OFFICIAL, f"收到 #{n}（") == 1, "the group is told", trouble.within)
    await quiet(world)
    assert sum(trouble.word in text for text in world.told(SCORING)) == told + 1, "the desk was told more than once"
    world.clear_docket()
    return kept, seconds


def _numbers(world: OutageWorld, script: Script, group: int) -> list[int]:
    """Return the numbers of a script's reports in a group that took effect."""
    messages = [report.line.message for report in script.reports if report.line and report.line.group == group]
    found = [world.report_of(message) for message in messages if message]
    return [number for report in found for number, state in report if state == "effective"]


async def _scoring_muted(world: OutageWorld, talk: Talk) -> None:
    """The desk's own group takes nothing: the superuser is told in private, once, and the forwards come later."""
    before = len(world.qq.private_history(OWNER))
    await MUTED.begin(world, SCORING)
    script = talk.script(4, 0, kinds=LIVE)
    spoken(world, script)
    await recorded(world, script)
    await until(lambda: len(world.qq.private_history(OWNER)) > before, "the superuser is told")
    await MUTED.over(world, SCORING)
    await quiet(world)
    (told,) = world.qq.private_history(OWNER)[before:]
    assert "被禁言" in told.text and str(SCORING) in told.text
