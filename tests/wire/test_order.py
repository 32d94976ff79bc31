"""Order within a chat, no waiting between chats, the gate, the flood."""

import asyncio
import random
from collections.abc import AsyncIterator

import pytest
from nonebot.log import logger

from plugins.rating_bot.wire import order
from plugins.rating_bot.wire.order import ChatQueues


@pytest.fixture
async def queues() -> AsyncIterator[ChatQueues]:
    queues = ChatQueues(gate=5, pending=30)
    yield queues
    await queues.close()


async def test_300_messages_of_one_chat_stay_in_order(queues: ChatQueues) -> None:
    done: list[int] = []

    async def work(number: int) -> None:
        for _ in range(random.Random(number).randrange(5)):
            await asyncio.sleep(0)
        done.append(number)

    for number in range(300):
        assert queues.submit("g1", lambda number=number: work(number), user=str(number % 10))
    await queues.idle()
    assert done == list(range(300))


async def test_chats_do_not_wait_for_each_other(queues: ChatQueues) -> None:
    stuck, other = asyncio.Event(), asyncio.Event()

    async def free() -> None:
        other.set()

    queues.submit("g1", stuck.wait)
    queues.submit("g2", free)
    await other.wait()
    stuck.set()
    await queues.idle()


async def test_a_failure_stops_nothing(queues: ChatQueues) -> None:
    done = asyncio.Event()

    async def fail() -> None:
        raise RuntimeError("on purpose")

    async def work() -> None:
        done.set()

    queues.submit("g1", fail)
    queues.submit("g1", work)
    await done.wait()


async def test_work_that_never_ends_does_not_hold_up_its_chat() -> None:
    queues, never, done = ChatQueues(limit=0.01), asyncio.Event(), asyncio.Event()

    async def work() -> None:
        done.set()

    queues.submit("g1", never.wait)
    queues.submit("g1", work)
    await done.wait()
    await queues.close()


async def test_live_messages_wait_behind_the_gate(queues: ChatQueues) -> None:
    done: list[str] = []

    async def work(what: str) -> None:
        done.append(what)

    queues.hold("g1")
    queues.hold("g1")
    queues.submit("g1", lambda: work("live"), keys=("k", "t"))
    queues.submit("g2", lambda: work("elsewhere"))
    for _ in range(10):
        await asyncio.sleep(0)
    assert done == ["elsewhere"]
    assert queues.has("g1", "k")
    assert queues.has("g1", "x", "t")
    assert not queues.has("g2", "k")
    queues.release("g1")
    for _ in range(10):
        await asyncio.sleep(0)
    assert done == ["elsewhere"]
    done.append("history")
    queues.release("g1")
    await queues.idle()
    assert done == ["elsewhere", "history", "live"]
    assert not queues.has("g1", "k")


async def test_the_gate_opens_by_itself() -> None:
    queues, done = ChatQueues(gate=0.01), asyncio.Event()

    async def work() -> None:
        done.set()

    queues.hold("g1")
    queues.submit("g1", work)
    await done.wait()
    queues.release("g1")
    await queues.close()


async def test_a_flood_of_one_is_dropped_and_others_go_on() -> None:
    queues = ChatQueues(pending=10, rate=1e6)
    done: list[str] = []

    async def work(user: str) -> None:
        done.append(user)

    taken = [queues.submit("g1", lambda: work("flood"), user="flood") for _ in range(200)]
    assert sum(taken) == 10
    assert queues.submit("g1", lambda: work("other"), user="other")
    assert queues.submit("g2", lambda: work("flood"), user="flood")
    await queues.idle()
    assert sorted(done) == ["flood"] * 11 + ["other"]
    assert queues.submit("g1", lambda: work("flood"), user="flood")
    await queues.close()


async def test_a_flood_that_is_handled_fast_is_dropped_too() -> None:
    queues = ChatQueues(burst=20, rate=0)
    done: list[int] = []

    async def work() -> None:
        done.append(1)

    for _ in range(200):
        queues.submit("g1", work, user="flood")
        await queues.idle()
    assert len(done) == 20
    await queues.close()


async def test_who_goes_on_is_not_heard_until_he_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three a second for a minute are too many; a pause of half a second is enough to be heard again."""
    queues, loop = ChatQueues(burst=20, rate=2), asyncio.get_running_loop()
    now = loop.time()
    monkeypatch.setattr(loop, "time", lambda: now)
    heard: list[int] = []

    async def work(number: int) -> None:
        heard.append(number)

    for number in range(180):
        now += 1 / 3
        queues.submit("g1", lambda number=number: work(number), user="flood")
        await queues.idle()
    assert heard == list(range(len(heard))) and len(heard) < 65
    now += 0.5
    assert queues.submit("g1", lambda: work(999), user="flood")
    await queues.close()


async def test_what_is_dropped_is_passed_over_in_its_turn() -> None:
    """Behind everything that was queued before it, the last of several in a row for all of them."""
    queues = ChatQueues(pending=2, burst=4)
    done: list[str] = []

    async def work(what: str) -> None:
        done.append(what)

    queues.hold("g1")
    for number in range(9):
        what = f"flood {number}"
        queues.submit("g1", lambda what=what: work(what), user="flood", dropped=lambda what=what: work(f"not {what}"))
        if number == 5:
            queues.submit("g1", lambda: work("other"), user="other")
    queues.release("g1")
    await queues.idle()
    assert done == ["flood 0", "flood 1", "not flood 5", "other", "not flood 8"]
    await queues.close()


@pytest.mark.parametrize("closed", [False, True], ids=["when it is over", "at the end"])
async def test_a_flood_is_counted_in_one_line(monkeypatch: pytest.MonkeyPatch, closed: bool) -> None:
    monkeypatch.setattr(order, "CALM_SECONDS", 60 if closed else 0.05)
    queues, lines, told = ChatQueues(burst=20, rate=0.001), list[str](), asyncio.Event()

    def listen(line: str) -> None:
        lines.append(line.strip())
        told.set()

    async def work() -> None:
        return None

    log = logger.add(listen, format="{message}", level="WARNING")
    for _ in range(500):
        queues.submit("g1", work, user="flood")
        await queues.idle()
    if closed:
        await queues.close()
    await told.wait()
    logger.remove(log)
    await queues.close()
    assert lines == ["flood chat=g1 who=flood shed=480 seconds=0"]


async def test_idle_workers_end() -> None:
    queues = ChatQueues(idle=0.01)

    async def work() -> None:
        return None

    before = asyncio.all_tasks()
    for chat in range(50):
        queues.submit(f"g{chat}", work)
    await queues.idle()
    workers = asyncio.all_tasks() - before
    assert len(workers) == 50
    await asyncio.gather(*workers)
    assert queues.submit("g1", work)
    await queues.idle()
    await queues.close()
