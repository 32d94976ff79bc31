"""Input made to break the bot, to stall it, or to pass for somebody else's.

    python -m tests.reliability.hostile [--long] [--inputs N] [--messages N] [--seed S] [--only PART …]

parsers: spoilt reports, commands, events, names and files; nothing fails, refusals are in known sentences, what is
read and written again is the same; the slowest inputs are spoilt further. chat: spoilt messages, and messages of a
megabyte, through the whole bot. names: tests/data/confusables.txt. forgeries: confirmations that are none, over a real
socket. rights: everybody types every command everywhere.
"""

import argparse
import asyncio
import random
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from nonebot.log import logger

from tests.reliability.hostile_chat import fuzz_chat
from tests.reliability.hostile_forgeries import try_forgeries
from tests.reliability.hostile_names import wrong_names
from tests.reliability.hostile_parsers import Parsers, fuzz
from tests.reliability.hostile_rights import try_cells

INPUTS, MESSAGES = 6_000, 600
LONG_INPUTS, LONG_MESSAGES = 100_000, 20_000
PARSER_LIMIT, LOOP_LIMIT = 0.005, 0.050
"""CPU seconds that 4 KB may take in a parser, and of the loop on the whole way."""
GENEROUS = 2.0
"""So many times the limits break the promise: the machine may be slower, or busy."""
PARTS = ("parsers", "names", "chat", "forgeries", "rights")
SHORT_SEED = 1
"""The short form tries the same each time: what it says is of the code alone. The long form draws."""


class Run:
    """What is asked for; each part returns its figure and adds to `problems`."""

    def __init__(self, options: argparse.Namespace, seed: int) -> None:
        self.seed = seed
        self.long: bool = options.long
        self.inputs = options.inputs or (LONG_INPUTS if self.long else INPUTS)
        self.messages = options.messages or (LONG_MESSAGES if self.long else MESSAGES)
        self.share: float = options.share
        self.problems: list[str] = []

    def parsers(self) -> str:
        """Everything that reads what people send."""
        parsers = Parsers()
        self.problems += map(str, fuzz(parsers, self.seed, self.inputs))
        for kind in parsers.kinds:
            print(f"  {kind.name}: {kind.inputs} inputs, slowest {1000 * kind.worst:.2f} ms: {kind.shown:.160}")
            self.in_time(f"4 KB of {kind.name}", kind.worst, PARSER_LIMIT)
        worst = ", ".join(f"{kind.name} {1000 * kind.worst:.1f} ms" for kind in parsers.kinds)
        return f"{self.inputs} spoilt inputs, slowest 4 KB: {worst}"

    def names(self) -> str:
        """Names that pass for others."""
        kinds, wrong = wrong_names()
        self.problems += wrong
        return f"{kinds.total() - kinds['allowed']} deceptive names refused, {kinds['allowed']} other names allowed"

    def chat(self) -> str:
        """The whole way of a message."""
        with tempfile.TemporaryDirectory() as folder:
            told = asyncio.run(fuzz_chat(Path(folder), self.seed, self.messages))
        self.problems += told.problems
        for seconds, event in told.slowest[:3]:
            print(f"  {1000 * seconds:.1f} ms: {event['raw_message']!r:.160}")
        self.in_time("4 KB on the loop", told.worst, LOOP_LIMIT)
        self.in_time("1 MB on the loop", told.mega, LOOP_LIMIT)
        return (
            f"{told.inputs} spoilt messages through the whole bot, at most {1000 * told.worst:.0f} ms of the loop,"
            f" of 1 MB {1000 * told.mega:.0f} ms"
        )

    def forgeries(self) -> str:
        """Confirmations that are none."""
        with tempfile.TemporaryDirectory() as folder:
            forged = asyncio.run(try_forgeries(Path(folder)))
        self.problems += forged.accepted
        return f"{forged.messages} forged confirmations of {forged.tried} kinds, 0 accepted"

    def rights(self) -> str:
        """Who may do what where."""
        with tempfile.TemporaryDirectory() as folder:
            cells = asyncio.run(try_cells(Path(folder), self.share, self.seed))
        self.problems += cells.wrong
        print(f"  {dict(cells.kinds)}")
        return f"rights matrix of {cells.count} cells, 0 wrong"

    def in_time(self, what: str, seconds: float, limit: float) -> None:
        """Note what took too long; the short form only reports it, since CI shares its machine."""
        if self.long and seconds > GENEROUS * limit:
            self.problems.append(f"{what} took {1000 * seconds:.1f} ms, {1000 * limit:.0f} are promised")


def main(arguments: Sequence[str] | None = None) -> int:
    """Return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.reliability.hostile", description=__doc__)
    parser.add_argument("--long", action="store_true", help=f"{LONG_INPUTS} inputs, {LONG_MESSAGES} messages")
    parser.add_argument("--inputs", type=int, help=f"how many to the parsers (default {INPUTS})")
    parser.add_argument("--messages", type=int, help=f"how many through the whole bot (default {MESSAGES})")
    parser.add_argument("--share", type=float, default=1.0, help="of the cells of the rights matrix (default 1)")
    parser.add_argument("--seed", type=int, help="repeat an earlier run")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, metavar="PART", help=", ".join(PARTS))
    options = parser.parse_args(arguments)
    drawn = random.randrange(1_000_000) if options.long else SHORT_SEED
    seed = drawn if options.seed is None else options.seed
    print(f"seed {seed}", flush=True)
    run, figures = Run(options, seed), []
    for name in options.only:
        part: Callable[[], str] = getattr(run, name)
        begin = time.monotonic()
        figures.append(part())
        print(f"{name}: {time.monotonic() - begin:.0f} s", flush=True)
    for problem in run.problems:
        print(f"seed {seed}: {problem}")
    if run.problems:
        return 1
    print(f"FIGURE hostile: {'; '.join(figures)}; nothing failed")
    return 0


if __name__ == "__main__":
    logger.remove()  # every message has its line in the log
    raise SystemExit(main())
