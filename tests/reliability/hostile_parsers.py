"""Fuzz of everything that reads what people send: it never fails, refuses in known sentences, and is quick.

What is read and written again is read the same. The slowest inputs are spoilt further, to find slower ones.
"""

import json
import math
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any, cast

from nonebot.adapters.onebot.v11 import Adapter, MessageEvent

from plugins.rating_bot.handlers import dispatch
from plugins.rating_bot.handlers.dispatch import MAX_COMMAND_CHARS, command_text
from plugins.rating_bot.handlers.grammar import Mismatch, Person, split
from plugins.rating_bot.handlers.slots import EventNamed
from plugins.rating_bot.handlers.table import TABLE, Command
from plugins.rating_bot.handlers.words import read_word
from plugins.rating_bot.wire.inbound import chat_of, is_own, to_inbound, to_sent
from plugins.rating_bot.wire.messages import AT_MARK, at
from plugins.rating_bot.wire.repair import MAX_TEXT, repair
from plugins.rating_bot.wire.segments import text_of, to_segments
from plugins.rating_bot.wording.common import MAX_CHARS, MAX_LINES, fits
from plugins.rating_bot.wording.people import name_problem
from plugins.rating_bot.wording.report_errors import refused_report
from rating_core.ledger import EventOpened
from rating_core.names import check_new_name, normalize_name, skeleton
from rating_core.report_text import ReportText, format_report, looks_like_report, parse_report
from rating_core.rulebook import DEFAULT_POOL, POOLS
from tests.reliability.hostile_corpus import (
    BOT,
    CHATTER,
    EVENTS,
    FILES,
    KILO,
    NOW,
    PLAYERS,
    REPORTS,
    WORDS,
    Event,
    Spoiler,
    commands,
    directory_of,
    events,
    is_chinese,
)
from tests.reliability.hostile_files import Files
from tests.support.rows import Rows

ROSTER_SIZE = 2000
KEPT = 40
"""Slowest inputs of each kind that are spoilt further."""
LONGEST_NAME = 256
"""Characters; longer texts are no names, and are not brought into normal form."""
MEGA = 1 << 20
"""Characters of the longest inputs, of which one in MEGA_SHARE is tried."""
MEGA_SHARE = 400


@dataclass(slots=True)
class Kind:
    """One way in: `check` raises AssertionError where a promise is broken."""

    name: str
    seeds: Sequence[Any]
    spoil: Callable[[Spoiler, Any, int], Any]
    check: Callable[[Any], object]
    run: Callable[[Any], object]
    """What is timed."""
    share: int
    slowest: list[tuple[float, Any]] = field(default_factory=list)
    inputs: int = 0

    def time(self, value: Any, times: int = 1) -> float:
        """Return the CPU time it takes in seconds, the least of `times`."""
        best = math.inf
        for _ in range(times):
            begin = time.thread_time()
            self.run(value)
            best = min(best, time.thread_time() - begin)
        return best

    @property
    def worst(self) -> float:
        return self.slowest[0][0] if self.slowest else 0.0

    @property
    def shown(self) -> str:
        """Return the slowest input."""
        return repr(self.slowest[0][1]) if self.slowest else ""

    def keep(self, seconds: float, value: Any) -> None:
        """Keep a slow input; what seems slowest is timed again, since the machine may have been busy."""
        if len(self.slowest) == KEPT and seconds <= self.slowest[-1][0]:
            return
        seconds = min(seconds, self.time(value, 3))
        self.slowest.append((seconds, value))
        self.slowest.sort(key=lambda pair: -pair[0])
        del self.slowest[KEPT:]


class Parsers:
    """All kinds of input, against one roster."""

    def __init__(self) -> None:
        self.directory = directory_of(ROSTER_SIZE)
        self.roster = self.directory.roster
        rows = Rows()
        rows.register(*[2000.0] * ROSTER_SIZE)
        for number in EVENTS:
            rows.add(EventOpened(number, 1.2), pool=DEFAULT_POOL)
        files = Files(rows.book(), self.directory)
        typed = commands()
        texts = [*REPORTS, *WORDS, *CHATTER, *typed, *FILES]
        self.texts = texts
        text = lambda spoiler, seed, most: spoiler.text(seed, most)  # noqa: E731
        self.kinds = [
            Kind("reports", [*REPORTS, *CHATTER], text, self.report, self.read_report, 30),
            Kind("commands", [*typed, *WORDS], text, self.command, self.read_command, 30),
            Kind("events", events(), lambda spoiler, seed, _: spoiler.event(seed), self.event, self.read_event, 25),
            Kind("names", [*PLAYERS, *EVENTS.values()], text, self.name, self.read_name, 10),
            Kind("files", FILES, lambda spoiler, seed, most: spoiler.file(seed, most), files.check, files.read, 5),
        ]  # fmt: skip

    # --- reports ------------------------------------------------------------------------------------------

    def read_report(self, text: str) -> object:
        return looks_like_report(text, self.roster, True), parse_report(
            text, self.roster, side_size=None, events=EVENTS.values(), pools=POOLS, mixed=True
        )

    def report(self, text: str) -> None:
        for side_size, mixed, player in ((1, False, True), (None, True, False), (2, False, True)):

            def parse(typed: str, side_size: int | None = side_size, mixed: bool = mixed) -> Any:
                return parse_report(
                    typed, self.roster, side_size=side_size, events=EVENTS.values(), pools=POOLS, mixed=mixed
                )

            looks, found = looks_like_report(text, self.roster, player), parse(text)
            if isinstance(found, ReportText):
                assert looks or len(text) > 4000, "a report that does not look like one"
                written = format_report(found.lines, self.roster.name_of, event=found.event, pool=found.pool)
                assert parse(written) == found, f"written again it is another report: {written!r}"
                continue
            assert found.problems, "refused without a reason"
            pages = refused_report(found)
            assert pages[0].startswith("未记录") and is_chinese(pages[0]), pages[0]
            assert all(fits(page) for page in pages), f"too long a refusal: {max(pages, key=len)!r}"
            if found.complete:
                assert isinstance(parse(found.corrected or ""), ReportText), f"no report: {found.corrected!r}"

    # --- commands -----------------------------------------------------------------------------------------

    def read_command(self, text: str) -> object:
        if (typed := command_text(text)) is None:
            return read_word(text[:300], True)
        found = TABLE.find(typed) if len(typed) <= MAX_COMMAND_CHARS else None
        if found is None:
            return None
        try:
            return split(found[1], found[0].slots, self.directory)
        except Mismatch as mismatch:
            return mismatch

    def command(self, text: str) -> None:
        typed = command_text(text)
        read_word(text[:300], False)
        found = TABLE.find(typed) if typed is not None and len(typed) <= MAX_COMMAND_CHARS else None
        if found is None:
            return
        command, rest = found
        try:
            values = split(rest, command.slots, self.directory)
        except Mismatch as mismatch:
            context = cast("Any", SimpleNamespace(directory=self.directory))
            said = dispatch._misuse(context, command, mismatch)
            assert is_chinese(said) and said.count("\n") < MAX_LINES and len(said) <= MAX_CHARS, said
            return
        written = self.written(command, values)
        if written is not None:
            again = split(written, command.slots, self.directory)
            assert _meant(again) == _meant(values), f"written again it differs: {written!r}"

    def written(self, command: Command, values: dict[str, Any]) -> str | None:
        """Write arguments down as one types them; None where a free text could be read as something else."""
        words = []
        for slot in command.slots:
            value = values[slot.key]
            if value is None or value == slot.default:
                continue
            for one in value if isinstance(value, list) else [value]:
                word = self._word(slot.key, one)
                if word is None:
                    return None
                words.append(word)
        return " ".join(words)

    def _word(self, key: str, value: Any) -> str | None:
        forms = {"page": "第{}页", "top": "前{}名", "days": "{}天"}
        match value:
            case Person(player_id=None):
                return at(value.qq or "")
            case Person():
                return at(value.qq) if value.qq else f"「{self.directory.name_of(cast('int', value.player_id))}」"
            case EventNamed(event=int()):
                return f"#{value.typed}"
            case int() if key in forms:
                return forms[key].format(value)
            case int() if value < 10**9:
                return str(value)
            case float():
                return f"{value:+.6f}" if key == "amount" else f"{value:.6f}"
            case str() if key in ("qq", "pool", "placing", "role", "weight", "no_signoff", "result", "undo"):
                return value
        return None  # reasons, names to be and choices that stand only where a word of theirs stands

    # --- events -------------------------------------------------------------------------------------------

    @staticmethod
    def _repaired(event: Event) -> Event | None:
        """As the adapter does it: it knows on whose connection the event came."""
        return repair(event | {"self_id": BOT}, now=NOW // 1000)

    def read_event(self, event: Event) -> object:
        """Our part; NoneBot's model of the event is measured on the whole way (hostile_chat.py)."""
        fixed = self._repaired(event)
        return None if fixed is None else to_inbound(fixed)

    def event(self, event: Event) -> None:
        fixed = self._repaired(event)
        if fixed is None:
            return
        assert repair(fixed, now=NOW // 1000) == fixed, "repaired twice it is another event"
        chat_of(fixed)
        inbound = to_inbound(fixed)
        if fixed["post_type"] in ("message", "message_sent"):
            to_sent(fixed)
            typed = Adapter.json_to_event(fixed)
            if fixed["message_type"] in ("group", "private") and fixed["post_type"] == "message":
                assert isinstance(typed, MessageEvent), "a message that becomes no message event"
                assert is_own(fixed) or to_inbound(typed) == inbound, "the event says something else than the data"
        if inbound is None:
            return
        assert len(inbound.text) <= MAX_TEXT and "\x00" not in inbound.text + inbound.card
        (inbound.text + inbound.card + inbound.key + inbound.twin).encode()  # no database takes a lone surrogate
        plain = AT_MARK.sub(lambda mark: at(mark[1]), inbound.text)
        assert text_of(to_segments(inbound.text)) == (plain.strip(), None), "what is sent again is another text"

    # --- names --------------------------------------------------------------------------------------------

    def read_name(self, text: str) -> object:
        name = normalize_name(text)
        return check_new_name(name), skeleton(name[:64]), self.roster.nearest(name)

    def name(self, text: str) -> None:
        name = normalize_name(text)
        if len(name) <= LONGEST_NAME:
            assert normalize_name(name) == name, "normal form is not normal"
        short = name[:64]
        assert skeleton(skeleton(short)) == skeleton(short)
        if (problem := check_new_name(name)) is not None:
            assert is_chinese(name_problem(name, problem)), problem
        else:
            assert name and self.roster.resolve(f" {name}\u200b ") == self.roster.resolve(name)


def _meant(values: dict[str, Any]) -> dict[str, Any]:
    """Arguments without how people were typed."""

    def bare(value: Any) -> Any:
        return replace(value, typed="") if isinstance(value, Person) else value

    return {key: [bare(v) for v in value] if isinstance(value, list) else bare(value) for key, value in values.items()}


@dataclass(frozen=True, slots=True)
class Broken:
    """An input that broke a promise."""

    kind: str
    seed: int
    number: int
    what: str
    value: Any

    def __str__(self) -> str:
        return f"{self.kind} input {self.number} of seed {self.seed}: {self.what}\n    {self.value!r:.2000}"


def size_of(value: Any) -> int:
    """Return how long an input is: characters, bytes, or the characters of its JSON."""
    return len(json.dumps(value, ensure_ascii=False)) if isinstance(value, dict) else len(value)


def fuzz(parsers: Parsers, seed: int, count: int) -> list[Broken]:
    """Try so many inputs of all kinds: each depends on the seed and its number, a quarter on what was slow as well."""
    broken: list[Broken] = []
    shares = [kind.share for kind in parsers.kinds]
    for number in range(count):
        rng = random.Random(f"{seed} {number}")
        kind = rng.choices(parsers.kinds, shares)[0]
        spoiler = Spoiler(rng, parsers.texts)
        slow = kind.slowest and rng.random() < 0.25
        source = rng.choice(kind.slowest)[1] if slow else rng.choice(kind.seeds)
        huge = rng.randrange(MEGA_SHARE) == 0
        value = kind.spoil(spoiler, source, MEGA if huge else KILO)
        kind.inputs += 1
        try:
            kind.check(value)
            if not huge and size_of(value) <= KILO:
                kind.keep(kind.time(value), value)
        except Exception as error:
            broken.append(Broken(kind.name, seed, number, f"{type(error).__name__}: {error}"[:1000], value))
            if len(broken) >= 5:
                break
    return broken
