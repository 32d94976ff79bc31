"""One person sends 200 messages a second while others report and confirm: he is not heard, and they notice nothing.

    python -m tests.reliability.flood [--long] [--seconds N] [--rate N] [--seed S]

The real bot over a real socket. The flood is of every kind: queries, commands, reports right and wrong, 确认 of others'
reports, chatter, reactions, recalls, pokes, private messages, another group. What he sends is dropped before it costs a
database write, but for what he may say at once; the others' 收到 come within a second, nothing of theirs is lost, and
the bot's memory does not grow. After the flood a report of his is taken like any other.
"""

import argparse
import asyncio
import contextlib
import json
import random
import re
import sqlite3
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from plugins.rating_bot.wording.commands import FLOODING
from tests.e2e.world import BOT, ELSEWHERE, OFFICIAL, POOL, SCORING, World, settings
from tests.support.qq import FakeMessage

SHORT, LONG = 10.0, 60.0
RATE = 200
AT_ONCE = 60
"""Messages a person may send at once in a chat (wire/order.py)."""
HEARD_CHATS = 2
"""Chats in which the flooding person says what the bot listens to: the official group and private."""
HEARD_SECONDS = 5.0
"""From so long after its begin on nothing of a flood is taken."""
SLOWEST = 1.0
"""Seconds from another's 确认 to his 收到, of 99 in 100."""
BUSY = 3.0
"""On a machine that is too busy for that without any flood: so many times what it takes there without one."""
CALM_SHARE = 0.3
"""For so much of the flood's time the others are alone before it."""
MOST_MEMORY = 250.0
MOST_GROWTH = 15.0
"""MB of the process, and how much of that may come after the flood's first quarter."""
PAIRS = [("张三", "李四"), ("郑重", "冯唐"), ("陈平", "褚英"), ("卫青", "蒋干")]
SECOND_GROUP = 100003
FLOODER, OPPONENT = "王五", "赵六"
ELSEWHERE_KIND = "elsewhere"
"""What is said in a group that is none of the bot's own: it is not heard at all."""
THINKING = 0.2


@dataclass(slots=True)
class Measured:
    """What came of it."""

    sent: Counter[str] = field(default_factory=Counter)
    waits: list[float] = field(default_factory=list)
    """Seconds from 确认 to 收到, during the flood."""
    waits_before: list[float] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)
    """MB, sampled during the flood."""
    rows: int = 0
    late_rows: int = 0
    answers: int = 0
    notices: int = 0
    shed: int = 0
    lines: int = 0
    problems: list[str] = field(default_factory=list)


def percentile(waits: Sequence[float], share: float) -> float:
    """Return how long the quickest `share` of the others waited at most."""
    return sorted(waits)[min(len(waits) - 1, int(share * len(waits)))]


class Flood:
    """The flood itself: `send` is one message of it."""

    def __init__(self, world: World, rng: random.Random, sent: Counter[str]) -> None:
        self._world = world
        self._rng = rng
        self._sent = sent
        self._me = world.people[FLOODER]
        self._last: FakeMessage | None = None
        self._kinds: dict[str, tuple[int, Callable[[], object]]] = {
            "query": (
                12,
                lambda: self._say(rng.choice(("/等级分", "/排行榜", "/战绩 张三", "/曲线 张三 李四", "/规则"))),
            ),
            "command": (14, lambda: self._say(self._command())),
            "wrong report": (12, lambda: self._say(self._wrong_report())),
            "report": (14, lambda: self._say("\n".join(self._games(rng.randint(1, 3))))),
            "confirmation": (10, self._confirm),
            "chatter": (
                12,
                lambda: self._say(rng.choice(("下午有人下棋吗", "哈哈", "?", "[CQ:face,id=1]", "长" * 4000))),
            ),
            "reaction": (6, self._react),
            "recall": (6, self._recall),
            "poke": (4, self._poke),
            "private": (14, self._whisper),
            ELSEWHERE_KIND: (4, lambda: self._say(f"{FLOODER} 胜 {OPPONENT}", ELSEWHERE)),
        }

    def send(self) -> None:
        """Send one message or notice."""
        kind = self._rng.choices(list(self._kinds), [weight for weight, _ in self._kinds.values()])[0]
        self._sent[kind] += 1
        self._kinds[kind][1]()

    async def run(self, seconds: float, rate: float) -> None:
        """Send `rate` messages a second, all of them, however busy the machine is."""
        begin, done = time.monotonic(), 0
        while done < seconds * rate:
            while done < min(time.monotonic() - begin, seconds) * rate:
                self.send()
                done += 1
            await asyncio.sleep(0.005)

    def _say(self, text: str, group: int = OFFICIAL, quote: int | None = None) -> None:
        self._last = self._world.say(FLOODER, text, group, quote=quote)

    def _command(self) -> str:
        rng = self._rng
        return rng.choice((
            f"/报名 新人{rng.randrange(10**6)}", f"/撤回 {rng.randint(1, 50)}", "/强制约战 张三", "/任命 记分员 20001",
            f"/代确认 {rng.randint(1, 50)} 快点", "/认领 张三", "/调分 王五 +50 理由", "/导出", "/体检", "/不认识 1",
            "/", "/等级分 " + "张" * 400,
        ))  # fmt: skip

    def _games(self, count: int) -> list[str]:
        return [f"{FLOODER} {self._rng.choice('胜平负')} {OPPONENT}" for _ in range(count)]

    def _wrong_report(self) -> str:
        return self._rng.choice((
            f"{FLOODER} 赢 {OPPONENT}", f"{FLOODER} 胜 张二", f"{FLOODER} 胜 {OPPONENT}\n张三 胜 李四", "张三 胜 李四",
            "\n".join([f"{FLOODER} 胜 李五"] * 50), "\n".join(self._games(60)),
        ))  # fmt: skip

    def _confirm(self) -> None:
        """Confirm what is not his to confirm."""
        said = [message for message in self._world.qq.said_by_bot(OFFICIAL)[-20:] if "待确认" in message.text]
        quote = self._rng.choice(said).message_id if said else None
        self._say(self._rng.choice(("确认", "对", "有误 没下过", f"确认 {self._rng.randint(1, 50)}")), quote=quote)

    def _react(self) -> None:
        said = self._world.qq.said_by_bot(OFFICIAL)
        target = said[-1].message_id if said else 1
        likes = [{"emoji_id": self._rng.choice(("76", "124")), "count": 1}]
        self._notice(notice_type="group_msg_emoji_like", message_id=target, likes=likes, is_add=True)

    def _recall(self) -> None:
        if self._last is not None and self._last.group_id == OFFICIAL:
            self._world.qq.recall(OFFICIAL, self._last.message_id, by=self._me)

    def _poke(self) -> None:
        self._notice(notice_type="notify", sub_type="poke", target_id=BOT)

    def _notice(self, **what: object) -> None:
        now = int(time.time())
        self._world.client.push(
            {"time": now, "self_id": BOT, "post_type": "notice", "group_id": OFFICIAL, "user_id": self._me} | what
        )

    def _whisper(self) -> None:
        self._world.qq.say_private(
            self._me, self._rng.choice(("/等级分", "/报名 新人", "王五 胜 赵六", "在吗", "确认"))
        )


async def play(world: World, group: int, left: str, right: str, until: asyncio.Event, waits: list[float]) -> None:
    """Report and confirm as people do, and measure how long each 收到 takes."""
    while not until.is_set():
        said = world.say(left, f"{left} 平 {right}", group)
        prompt = await world.qq.wait_for(
            group, lambda m, said=said: m.user_id == BOT and m.quote == said.message_id, 30, after=said
        )
        number = re.match(r"#([0-9]+) ", prompt.text)
        assert number, prompt.text
        await asyncio.sleep(THINKING)
        begin = time.monotonic()
        world.say(right, "确认", group, quote=prompt.message_id)
        begins = f"收到 #{number[1]}（"
        await world.qq.wait_for(group, lambda m, begins=begins: m.text.startswith(begins), 30, after=prompt)
        waits.append(time.monotonic() - begin)
        left, right = right, left
        await asyncio.sleep(THINKING)


@contextlib.asynccontextmanager
async def playing(world: World, waits: list[float]) -> AsyncIterator[None]:
    """Let everybody play inside; at the end they finish what they began."""
    over, groups = asyncio.Event(), (OFFICIAL, OFFICIAL, OFFICIAL, SECOND_GROUP)
    async with asyncio.TaskGroup() as players:
        for group, pair in zip(groups, PAIRS, strict=True):
            players.create_task(play(world, group, *pair, over, waits))
        yield
        over.set()


def memory_of(pid: int) -> float:
    """Return how much memory a process has, in MB."""
    found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text("utf-8"))
    assert found
    return int(found[1]) / 1024


async def watch(pid: int, measured: Measured) -> None:
    """Look at the bot's memory until cancelled."""
    while True:
        measured.memory.append(memory_of(pid))
        await asyncio.sleep(0.25)


async def afterwards(world: World) -> None:
    """The flood is over: a report of his is taken, and confirmed, like any other."""
    await asyncio.sleep(1)
    said = world.say(FLOODER, f"{FLOODER} 胜 {OPPONENT}\n" * 4 + f"{FLOODER} 平 {OPPONENT}\n" * 3)
    prompt = await world.qq.wait_for(OFFICIAL, lambda m: m.quote == said.message_id, 15, after=said)
    assert "待确认" in prompt.text, prompt.text
    world.say(OPPONENT, "确认", quote=prompt.message_id)
    await world.hear("收到", after=prompt)


def count_rows(file: Path, user: int, since: int) -> tuple[int, int]:
    """Return how many messages of somebody the database holds, and how many said after `since` (ms)."""
    with contextlib.closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as connection:
        (rows,) = connection.execute("SELECT count(*) FROM inbox WHERE qq = ?", (str(user),)).fetchone()
        (late,) = connection.execute(
            "SELECT count(*) FROM inbox WHERE qq = ? AND said_at > ?", (str(user), since)
        ).fetchone()
    return rows, late


async def flooded(folder: Path, seconds: float, rate: float, seed: int) -> Measured:
    """Run it; return what was measured. `problems` names every promise that was broken."""
    world, measured = World(folder), Measured()
    world.bot = type(world.bot)(folder, settings(world.port, world.url) | {
        "TIAOQI__OFFICIAL_GROUPS": json.dumps({str(OFFICIAL): POOL, str(SECOND_GROUP): POOL}),
        "TIAOQI__PICTURES": "true",
    })  # fmt: skip
    world.qq.add_group(SECOND_GROUP, "第二群")
    await world.prepare(FLOODER, OPPONENT, *(name for pair in PAIRS for name in pair))
    for pair in PAIRS:
        for name in pair:
            world.qq.add_member(SECOND_GROUP, world.people[name], card=name)
    try:
        await world.start()
        for asked in ("/排行榜", "/曲线 张三", "/等级分 张三"):  # the first picture takes memory, flood or not
            said = world.say("张三", asked)
            await world.qq.wait_for(OFFICIAL, lambda m, said=said: m.quote == said.message_id, 30, after=said)
        async with playing(world, measured.waits_before):
            await asyncio.sleep(CALM_SHARE * seconds)
        begin = world.qq.now()
        watcher = asyncio.create_task(watch(world.bot.pid, measured))
        async with playing(world, measured.waits):
            await Flood(world, random.Random(seed), measured.sent).run(seconds, rate)
        watcher.cancel()
        me = world.people[FLOODER]
        measured.rows, measured.late_rows = count_rows(world.file, me, begin + int(1000 * HEARD_SECONDS))
        await asyncio.gather(*(world.bot.log_line(f"flood chat={chat}", 15) for chat in (f"g{OFFICIAL}", "u")))
        count_answers(world, me, measured)
        await afterwards(world)
        await world.stop()
        await check_others(world, measured)
    finally:
        await world.close()
    judge(measured, seconds)
    return measured


def count_answers(world: World, me: int, measured: Measured) -> None:
    """Count what the bot said to him, and what the log says of the flood."""
    qq = world.qq
    said = [*qq.said_by_bot(OFFICIAL), *(m for m in qq.private_history(me) if m.user_id == BOT)]
    to_me = [m for m in said if m.quote and (quoted := qq.find(m.quote)) is not None and quoted.user_id == me]
    measured.answers = len(to_me)
    measured.notices = sum(m.text == FLOODING for m in said)
    if qq.said_by_bot(ELSEWHERE):
        measured.problems.append("the bot spoke in a group that is none of its own")
    floods = [int(found[1]) for line in world.bot.lines if (found := re.search(r"flood chat=\S+ .*shed=(\d+)", line))]
    measured.shed, measured.lines = sum(floods), len(floods)


async def check_others(world: World, measured: Measured) -> None:
    """Everything that the others said is in the book."""
    await world.check_book()
    async with world.league() as league:
        names = league.directory.roster.current_names()
        games = league.book.state.pools[POOL].standings
        played = sum(games[player].games for player, name in names.items() if player in games and name not in
                     (FLOODER, OPPONENT)) // 2  # fmt: skip
    said = len(measured.waits_before) + len(measured.waits)
    if played != said:
        measured.problems.append(f"the others said {said} reports, the book holds {played} games of theirs")
    forwards = Counter(m.text.split()[0] for m in world.qq.said_by_bot(SCORING) if m.text.startswith("#"))
    if twice := [number for number, times in forwards.items() if times > 1]:
        measured.problems.append(f"forwarded twice: {twice}")


def judge(measured: Measured, seconds: float) -> None:
    """Name the promises that were broken."""
    slowest = percentile(measured.waits, 0.99)
    allowed = max(SLOWEST, BUSY * percentile(measured.waits_before, 0.99))
    quarter, end = measured.memory[len(measured.memory) // 4], measured.memory[-1]
    heard = measured.sent.total() - measured.sent[ELSEWHERE_KIND]
    for broken, what in (
        (measured.rows > HEARD_CHATS * AT_ONCE, f"{measured.rows} of his messages cost a database write"),
        (measured.late_rows, f"{measured.late_rows} of them after the first {HEARD_SECONDS:g} s"),
        (slowest > allowed, f"of 100 confirmations one took {slowest:.2f} s"),
        (max(measured.memory) > MOST_MEMORY, f"{max(measured.memory):.0f} MB"),
        (end - quarter > MOST_GROWTH, f"memory grew from {quarter:.0f} to {end:.0f} MB"),
        (measured.notices > 1, f"{measured.notices} notices to one person"),
        (measured.shed < heard - (HEARD_CHATS + 1) * AT_ONCE - 2 * seconds,
         f"{heard} sent where the bot listens, {measured.shed} counted as dropped"),
        (measured.lines > 3 * (1 + seconds // 60), f"{measured.lines} lines in the log"),
    ):  # fmt: skip
        if broken:
            measured.problems.append(what)


def main(arguments: Sequence[str] | None = None) -> int:
    """Return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.reliability.flood", description=__doc__)
    parser.add_argument("--long", action="store_true", help=f"{LONG:g} s instead of {SHORT:g}")
    parser.add_argument("--seconds", type=float, help="how long it lasts")
    parser.add_argument("--rate", type=float, default=RATE, help=f"messages a second (default {RATE})")
    parser.add_argument("--seed", type=int, help="repeat the choices of an earlier run (its moments differ)")
    options = parser.parse_args(arguments)
    seed = random.randrange(1_000_000) if options.seed is None else options.seed
    seconds = options.seconds or (LONG if options.long else SHORT)
    print(f"seed {seed}: {options.rate:g} messages a second for {seconds:g} s", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        found = asyncio.run(flooded(Path(folder), seconds, options.rate, seed))
    print(f"sent {dict(found.sent)}")
    print(f"{found.answers} answers to him, {found.notices} notices, {found.lines} lines in the log")
    print(f"slowest confirmations {', '.join(f'{wait:.2f}' for wait in sorted(found.waits)[-5:])} s")
    for problem in found.problems:
        print(f"seed {seed}: {problem}")
    if found.problems:
        return 1
    before, during = (
        [percentile(waits, share) for share in (0.5, 0.99)] for waits in (found.waits_before, found.waits)
    )
    print(
        f"FIGURE flood: {found.sent.total()} messages in {seconds:g} s from one person: {found.rows} cost a database"
        f" write, {found.shed} were dropped before, {found.notices} notice; {len(found.waits)} confirmations of others"
        f" took {during[0]:.2f} s (median), {during[1]:.2f} s (99 %), {max(found.waits):.2f} s (worst), before it"
        f" {before[0]:.2f} and {before[1]:.2f} s; all their {len(found.waits_before) + len(found.waits)} reports are in"
        f" the book; memory {max(found.memory):.0f} MB at most"
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
