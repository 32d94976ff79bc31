"""How long people wait for the bot: `python -m tests.bench.chat [--games N] [--folder F] [--rounds N] [--only NAME]`.

Real processes over real WebSockets: the bot with leagues of three sizes, and a bare NoneBot that repeats what it hears.
They take turns, message by message, so that a noisy machine is noisy to all of them. Then one bot under load: 100
messages a second from many people, and as many reports with their 确认 as it takes. Pages and pictures: see pages.py.
"""

import argparse
import asyncio
import itertools
import statistics
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

from plugins.rating_bot.sandbox.values import FakeMessage
from tests.bench.figures import shown, verdict
from tests.bench.ledgers import synthetic_league
from tests.bench.stack import ECHO, GROUPS, Stack, copy_of
from tests.reliability.flood import memory_of, percentile

FEW_GAMES, MANY_GAMES = 1_000, 100_000
FEW, MANY = 50, 10_000
ROUNDS, WARM = 400, 40
MEDIAN_RATIO, P99_RATIO, FLAT_RATIO = 3.0, 5.0, 1.3

LOAD_SECONDS, RATE, CONFIRMATIONS = 60, 100, 10
LOAD_P99_MS, GROWTH_MB = 500, 20
EARLY, SAMPLES_A_SECOND = 10, 2
SUSTAINED_SECONDS, AT_ONCE, SUSTAINED = 15, 16, 60
LOAD_PLAYERS = 2_000
CHATTER = ("下午有人下棋吗", "刚才那步跳得真好", "哈哈", "我先吃饭去了", "[图片]", "明天的比赛几点开始")


def pairs(players: int) -> Iterator[tuple[int, int]]:
    """Yield pairs of players, so that everybody has his turn and no pair comes again soon."""
    for distance in itertools.count(1):
        for left in range(1, players + 1):
            right = (left - 1 + distance) % players + 1
            if right != left:
                yield left, right


# --- one message at a time ----------------------------------------------------------------------------------


@dataclass(slots=True)
class Waits:
    """Seconds people waited, and of the processor the bot took."""

    report: list[float] = field(default_factory=list)
    confirm: list[float] = field(default_factory=list)
    processor: float = 0.0


async def one_by_one(echo: Stack, bots: Mapping[str, Stack], rounds: int) -> tuple[list[float], dict[str, Waits]]:
    """Take turns: an echo, a report at each bot, then a 确认 at each."""
    echoes: list[float] = []
    waits = {name: Waits() for name in bots}
    playing = {name: pairs(bot.players) for name, bot in bots.items()}
    before: dict[str, float] = {}
    for number in range(WARM + rounds):
        if number == WARM:
            echoes, waits = [], {name: Waits() for name in bots}
            before = {name: stack.processor for name, stack in {"echo": echo, **bots}.items()}
        echoes.append(await echo.echo(f"在吗 {number}"))
        games = {}
        for name, bot in bots.items():
            left, right = next(playing[name])
            report, prompt, seconds = await bot.report(left, right)
            waits[name].report.append(seconds)
            games[name] = right, report, prompt
        for name, bot in bots.items():  # not before the others were asked: nobody confirms in the same instant
            waits[name].confirm.append(await bot.confirm(*games[name]))
    for name, bot in bots.items():
        waits[name].processor = (bot.processor - before[name]) / rounds
    print(f"processor: echo {1000 * (echo.processor - before['echo']) / rounds:.2f} ms an answer; report and 确认 "
          + ", ".join(f"{name} {1000 * wait.processor:.2f} ms" for name, wait in waits.items()))  # fmt: skip
    return echoes, waits


def judge_waits(echoes: Sequence[float], waits: Mapping[str, Waits], base: str) -> None:
    """Print what people waited, beside an echo and beside the small league."""
    shown("echo", echoes)
    for name, wait in waits.items():
        shown(f"report → prompt, {name}", wait.report)
        shown(f"确认 → 收到, {name}", wait.confirm)
    for doing, of in (("report → prompt", lambda wait: wait.report), ("确认 → 收到", lambda wait: wait.confirm)):
        own = of(waits[base])
        verdict(f"{doing}, p50 beside an echo's", statistics.median(own) / statistics.median(echoes), MEDIAN_RATIO)
        verdict(f"{doing}, p99 beside an echo's", percentile(own, 0.99) / percentile(echoes, 0.99), P99_RATIO)
        for name, wait in waits.items():
            if name != base:
                ratio = statistics.median(of(wait)) / statistics.median(own)
                verdict(f"{doing}, {name} beside {base}", ratio, FLAT_RATIO)


# --- many at once -------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Load:
    """What came of the load."""

    prompts: list[float] = field(default_factory=list)
    acknowledgements: list[float] = field(default_factory=list)
    said: int = 0
    memory: list[float] = field(default_factory=list)
    """MB, sampled evenly."""


async def _game(bot: Stack, pair: tuple[int, int], group: int, load: Load) -> None:
    left, right = pair
    report, prompt, seconds = await bot.report(left, right, group)
    load.prompts.append(seconds)
    load.acknowledgements.append(await bot.confirm(right, report, prompt, group))
    load.said += 2


async def under_load(bot: Stack, seconds: float) -> Load:
    """RATE messages a second: CONFIRMATIONS reports with their 确认, questions, and chatter."""
    load, playing, people = Load(), pairs(bot.players), itertools.cycle(range(1, bot.players + 1))
    groups, every = itertools.cycle(GROUPS), RATE // CONFIRMATIONS
    begin, done = time.monotonic(), 0
    async with asyncio.TaskGroup() as games:
        while (passed := time.monotonic() - begin) < seconds:
            while done < passed * RATE:
                if done % every == 0:
                    games.create_task(_game(bot, next(playing), next(groups), load))
                elif done % every == 1:
                    bot.say(next(people), "/等级分", next(groups))
                    load.said += 1
                elif done % every > 2:  # one is the 确认 of a game
                    bot.say(next(people), CHATTER[done % len(CHATTER)], next(groups))
                    load.said += 1
                done += 1
            if len(load.memory) < passed * SAMPLES_A_SECOND:
                load.memory.append(memory_of(bot.bot.pid))
            await asyncio.sleep(0.005)
    return load


async def sustained(bot: Stack, seconds: float) -> tuple[float, float]:
    """Return how many games a second AT_ONCE pairs play, and how many 确认 a second of what was reported before."""
    playing, load = pairs(bot.players), Load()

    async def confirm(group: int, games: Sequence[tuple[int, FakeMessage, FakeMessage]]) -> None:
        for right, report, prompt in games:
            await bot.confirm(right, report, prompt, group)

    async def play(group: int) -> list[tuple[int, FakeMessage, FakeMessage]]:
        games = []
        while time.monotonic() < until:
            left, right = next(playing)
            games.append((right, *(await bot.report(left, right, group))[:2]))
        return games

    async def both(group: int) -> None:
        while time.monotonic() < until:
            await _game(bot, next(playing), group, load)

    groups = [group for _, group in zip(range(AT_ONCE), itertools.cycle(GROUPS), strict=False)]
    until = time.monotonic() + seconds
    begin = time.monotonic()
    await asyncio.gather(*(both(group) for group in groups))
    in_turns = len(load.acknowledgements) / (time.monotonic() - begin)
    until = time.monotonic() + seconds
    reported = await asyncio.gather(*(play(group) for group in groups))
    await asyncio.sleep(1)  # all prompts are noted as sent
    begin = time.monotonic()
    await asyncio.gather(*(confirm(group, games) for group, games in zip(groups, reported, strict=True)))
    return in_turns, sum(map(len, reported)) / (time.monotonic() - begin)


async def loaded(folder: Path, leagues: Path) -> None:
    """Run one bot under load."""
    league = synthetic_league(leagues, FEW_GAMES, LOAD_PLAYERS)
    bot = Stack(copy_of(league, folder / "loaded"), None, LOAD_PLAYERS)
    try:
        await bot.start()
        used = bot.processor
        load = await under_load(bot, LOAD_SECONDS)
        used = bot.processor - used
        print(f"\n{load.said} messages in {LOAD_SECONDS} s, {len(load.acknowledgements)} 收到; "
              f"processor {used:.1f} s")  # fmt: skip
        shown("report → prompt under load", load.prompts)
        shown("确认 → 收到 under load", load.acknowledgements)
        verdict(f"{RATE} messages/s: p99 of 收到", 1000 * percentile(load.acknowledgements, 0.99), LOAD_P99_MS, " ms")
        grown = load.memory[-1] - load.memory[EARLY * SAMPLES_A_SECOND]
        verdict(f"memory {load.memory[-1]:.0f} MB, beside that at {EARLY} s", grown, GROWTH_MB, " MB")
        games, confirmations = await sustained(bot, SUSTAINED_SECONDS)
        print(f"games a second, each a report and its 确认, from {AT_ONCE} pairs without a pause: {games:.1f}")
        verdict("确认 a second, sustained", confirmations, SUSTAINED, most=False)
    finally:
        await bot.close()


# --- all of it ----------------------------------------------------------------------------------------------


async def waiting(folder: Path, leagues: Path, games: int, rounds: int) -> None:
    """Measure one message at a time."""
    sizes = {f"{g:,} games {p:,} players": (g, p) for g, p in ((FEW_GAMES, FEW), (FEW_GAMES, MANY), (games, FEW))}
    files = {name: synthetic_league(leagues, *size) for name, size in sizes.items()}
    async with AsyncExitStack() as stacks:
        (folder / "echo").mkdir()
        echo = Stack(folder / "echo", ECHO, FEW)
        bots = {
            name: Stack(copy_of(file, folder / file.parent.name), None, sizes[name][1]) for name, file in files.items()
        }
        for stack in (echo, *bots.values()):
            stacks.push_async_callback(stack.close)
            await stack.start()
        echoes, waits = await one_by_one(echo, bots, rounds)
    judge_waits(echoes, waits, next(iter(bots)))


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.chat", description=__doc__)
    parser.add_argument("--games", type=int, default=MANY_GAMES, help=f"of the largest league (default {MANY_GAMES})")
    parser.add_argument("--folder", type=Path, help="where leagues are kept for the next run")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"messages of each kind (default {ROUNDS})")
    parser.add_argument("--only", choices=("waiting", "load"), help="only this part")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        leagues = options.folder or folder / "leagues"
        if options.only in (None, "waiting"):
            asyncio.run(waiting(folder, leagues, options.games, options.rounds))
        if options.only in (None, "load"):
            asyncio.run(loaded(folder, leagues))


if __name__ == "__main__":
    main()
