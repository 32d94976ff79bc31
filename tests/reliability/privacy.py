"""QQ numbers are where they can be erased, and nowhere else; after 30 days and after /注销 they are gone.

    python -m tests.reliability.privacy [--long] [--rounds N] [--seed S]

A real bot in a world where every QQ number has ten digits of its own: every command by every role in every place,
previews confirmed, reports, mentions, misshapen events, refused clients, sends that fail with a number in the client's
words, handlers that crash over the database, with the log at its most talkative. Then every byte is searched that the
process wrote to its output, every column of every table, every page, /health, the exported workbook, every picture and
every file name. Then, on a clock set by hand, the same tables 31 days later, and after a player was forgotten.
"""

import argparse
import asyncio
import base64
import io
import random
import re
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, unquote

from plugins.rating_bot import jobs
from plugins.rating_bot.handlers.dispatch import load_handlers
from plugins.rating_bot.sandbox.client import Style
from plugins.rating_bot.sandbox.qq import FakeQQ
from plugins.rating_bot.wire.messages import group_chat, private_chat
from rating_core.service.health import examine
from rating_core.store.forgetting import LEDGER
from tests.e2e.world import OFFICIAL, SCORING, World
from tests.reliability.privacy_world import Exercise, Numbers, numbered
from tests.support import traces
from tests.support.forgotten import ALIKE, HIM, TRACES, ask_and_agree, busy, figures
from tests.support.pages import read
from tests.support.rig import running_rig

STYLES: tuple[Style, ...] = ("napcat", "llonebot", "lagrange", "gocqhttp")
ROUNDS_LONG = 8
ERASABLE = {
    "accounts.qq",
    "inbox.key", "inbox.twin", "inbox.chat", "inbox.qq", "inbox.text",
    "outbox.chat", "outbox.text", "outbox.error",
    "applications.chat", "chats.chat", "docket.detail", "previews.payload",
    "journal.reason", "ledger_notes.reason", "reports.reason",
}  # fmt: skip
"""Where a QQ number may stand: the accounts, the wire, and what somebody typed as his reason."""
AFTER_30_DAYS = {"accounts.qq"}


@dataclass
class Outcome:
    """What was searched, and what should not have been found."""

    numbers: int = 0
    said: int = 0
    lines: int = 0
    output: int = 0
    pages: int = 0
    parts: int = 0
    pictures: int = 0
    files: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    erased_columns: int = 0
    problems: list[str] = field(default_factory=list)

    def check(self, what: str, data: bytes | str, numbers: Sequence[str]) -> None:
        """Note where one of the numbers stands in something in which none may."""
        content = data.encode() if isinstance(data, str) else data
        for number in numbers:
            if number.encode() in content:
                at = content.index(number.encode())
                around = content[max(0, at - 60) : at + 60].decode("utf-8", "replace")
                self.problems.append(f"{what} holds {number}: …{around}…")
                return


# --- a real process ----------------------------------------------------------------------------------------


async def one_round(folder: Path, seed: int, style: Style, level: str, outcome: Outcome) -> None:
    """Let everything be said in one world, and search whatever came of it."""
    rng = random.Random(seed)
    numbers = Numbers(rng)
    with numbered(numbers):
        exercise = Exercise(folder, numbers, style, level)
        world = exercise.world
        await world.prepare("张三", "李四", "王五", "赵六")
        try:
            await world.start()
            for step in (exercise.play, exercise.everything, exercise.misshapen, exercise.strangers, exercise.failures):
                await step()
            known = [str(number) for number in numbers.given]
            await search_pages(exercise, known, outcome)
            await world.bot.stop(clean=False)
        finally:
            await world.close()
        outcome.said += exercise.said
        outcome.numbers += len(known)
        search_output(world, known, outcome)
        await search_tables(world, known, outcome)
        search_sent(world.qq, known, outcome)
        for path in folder.rglob("*"):
            outcome.files += 1
            outcome.check(f"the name of {path.name}", str(path.relative_to(folder)), known)


def search_output(world: World, numbers: Sequence[str], outcome: Outcome) -> None:
    """Search what the process wrote; it must have written what is looked for, or the search proves nothing."""
    lines = world.bot.lines
    outcome.lines += len(lines)
    outcome.output += sum(len(line.encode()) + 1 for line in lines)
    for line in lines:
        outcome.check("the log", line, numbers)
    log = "\n".join(lines)
    found = Counter(re.findall(r" decision .*?did=(\w+)", log))
    outcome.kinds += found
    for wanted in ("recorded", "noted", "answered", "refused", "failed"):
        if not found[wanted]:
            outcome.problems.append(f"the exercise led to no decision {wanted!r}")
    heard = set(re.findall(r" what=/(\S+) did=(?!limited)", log))
    for command in load_handlers():
        if command.word.replace(" ", "_") not in heard:
            outcome.problems.append(f"nobody was heard with /{command.word}")
    for wanted in ("Traceback", "connection refused", "EventChecker Failed", "IntegrityError", "database is locked"):
        if wanted not in log:
            outcome.problems.append(f"the exercise led to no {wanted!r} in the log")
    if "用户" not in log:
        outcome.problems.append("nobody has a pseudonym in the log")


async def search_tables(world: World, numbers: Sequence[str], outcome: Outcome) -> None:
    async with world.league() as league:
        found = await traces.in_tables(league, numbers)
        health = await examine(league)
    if health.broken_row is not None or health.difference is not None:
        outcome.problems.append(f"the book is not well: {health}")
    for line in found:
        column = line.split(":")[0]
        if column not in ERASABLE or column.split(".")[0] in LEDGER:
            outcome.problems.append(f"a table holds a number: {line[:200]}")
    if not any(line.startswith("accounts.qq") for line in found):
        outcome.problems.append("the accounts hold no numbers: the search finds nothing")


async def search_pages(exercise: Exercise, numbers: Sequence[str], outcome: Outcome) -> None:
    """Follow every link of the public pages and ask for /health."""
    waiting, seen = ["/board/", "/board/api/", "/health"], set()
    while waiting:
        address = waiting.pop().split("#")[0]
        if address in seen or not address.startswith(("/board", "/health")):
            continue
        seen.add(address)
        kind, body = await asyncio.to_thread(exercise.get, quote(unquote(address), safe="/?=&+%"))
        outcome.check(f"the page {address}", body, numbers)
        outcome.check("an address", unquote(address), numbers)
        if kind.startswith("text/html"):
            waiting += [found for found in read(body.decode()).addresses if not found.startswith("#")]
    if len(seen) < 20:
        outcome.problems.append(f"only {len(seen)} pages were found")
    outcome.pages += len(seen)


def search_sent(qq: FakeQQ, numbers: Sequence[str], outcome: Outcome) -> None:
    """Search what the bot gave out besides words: the workbook, whole and in its parts, and every picture."""
    for file in qq.shelf.files.values():
        outcome.check(f"the name of {file.name}", file.name, numbers)
        for name, data in _parts(file.data):
            outcome.parts += 1
            outcome.check(f"{file.name} {name}", data, numbers)
    chats = [group_chat(OFFICIAL), group_chat(SCORING), *(private_chat(who) for who in qq.people)]
    for message in [message for chat in chats for message in qq._messages.get(chat, ())]:
        if message.user_id != qq.self_id:
            continue
        for part in message.segments:
            if part["type"] == "image":
                outcome.pictures += 1
                outcome.check("a picture", _picture(part["data"]), numbers)
    if not outcome.parts or not outcome.pictures:
        outcome.problems.append("no workbook or no picture was given out")


def _parts(data: bytes) -> Iterator[tuple[str, bytes]]:
    yield "as it is", data
    if zipfile.is_zipfile(io.BytesIO(data)):
        with closing(zipfile.ZipFile(io.BytesIO(data))) as archive:
            for name in archive.namelist():
                yield name, archive.read(name) + name.encode()


def _picture(data: dict[str, str]) -> bytes:
    return base64.b64decode(str(data.get("file", "")).removeprefix("base64://"))


# --- a clock set by hand -----------------------------------------------------------------------------------


async def forget(folder: Path, outcome: Outcome) -> None:
    """Search the tables 31 days later, and after a player was forgotten: no name, no number, equal figures."""
    async with running_rig(folder) as rig:
        assert rig.parts is not None
        await busy(rig)
        before, columns = figures(rig), await traces.in_tables(rig.league, TRACES, ALIKE)
        outcome.erased_columns = len({line.split(":")[0] for line in columns})
        await ask_and_agree(rig)
        left = await traces.in_tables(rig.league, TRACES, ALIKE)
        outcome.problems += [f"after /注销: {line[:200]}" for line in left]
        outcome.problems += [f"after /注销: page {page}" for page in await traces.in_pages(rig, TRACES, ALIKE)]
        outcome.problems += [f"after /注销: {part}" for part in traces.in_workbook(rig, TRACES, ALIKE)]
        if figures(rig) != before:
            outcome.problems.append("after /注销 somebody else's figures changed")
        if not (health := await examine(rig.league)).well:
            outcome.problems.append(f"after /注销 the book is not well: {health}")
        numbers = [str(number) for number in rig.people.values()]
        rig.clock.pass_hours(31 * 24)
        await rig.parts.tick()
        await rig.idle()
        await jobs.forget_raw(rig.parts.runtime)
        for line in await traces.in_tables(rig.league, numbers):
            if line.split(":")[0] not in AFTER_30_DAYS:
                outcome.problems.append(f"after 30 days: {line[:200]}")
        words = [trace for trace in TRACES if trace not in ALIKE]
        outcome.problems += [f"after both: the bytes of {file}" for file in traces.in_files(rig.folder, words)]
    assert HIM in ALIKE


# --- all of it ---------------------------------------------------------------------------------------------


async def run(folder: Path, seed: int, rounds: int) -> Outcome:
    """Do everything; return what was found."""
    outcome = Outcome()
    for number in range(rounds):
        place = folder / f"round-{number}"
        place.mkdir()
        level = "TRACE" if number % 2 == 0 else "INFO"
        await one_round(place, seed + number, STYLES[number % len(STYLES)], level, outcome)
        print(f"round {number + 1}: seed {seed + number}, log {level}: {len(outcome.problems)} problems", flush=True)
    place = folder / "forgotten"
    place.mkdir()
    await forget(place, outcome)
    return outcome


def figure(outcome: Outcome, seconds: float) -> str:
    """Return the line of figures."""
    return (
        f"FIGURE privacy: {outcome.numbers} QQ numbers, {outcome.said} messages, {sum(outcome.kinds.values())} "
        f"decisions; none in {outcome.lines} log lines ({outcome.output // 1024} KB), the ledger, {outcome.pages} "
        f"pages, {outcome.parts} parts of workbooks, {outcome.pictures} pictures, {outcome.files} file names; after 30 "
        f"days only in accounts.qq; after /注销 none of {outcome.erased_columns} columns names him; {seconds:.0f} s"
    )


def main() -> None:
    """Run it; exit with 1 if a number was found where none may be."""
    parser = argparse.ArgumentParser(prog="python -m tests.reliability.privacy", description=__doc__)
    parser.add_argument("--long", action="store_true", help=f"{ROUNDS_LONG} rounds, with every client")
    parser.add_argument("--rounds", type=int, help="worlds of a real bot (1)")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        outcome = asyncio.run(run(Path(folder), asked.seed, asked.rounds or (ROUNDS_LONG if asked.long else 1)))
    if outcome.problems:
        print(f"seed {asked.seed}: {len(outcome.problems)} problems")
        print("\n".join(outcome.problems[:40]))
        sys.exit(1)
    print(figure(outcome, time.monotonic() - begin))


if __name__ == "__main__":
    main()
