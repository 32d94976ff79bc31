"""Names that pass for others: the corpus tests/data/confusables.txt against what the league lets anybody be called."""

import codecs
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from plugins.rating_bot.handlers.dispatch import load_handlers
from plugins.rating_bot.handlers.people import reserved
from rating_core.directory import Directory
from rating_core.roster import Roster
from rating_core.service.people import check_name
from rating_core.service.refusal import Refusal

CORPUS = Path(__file__).parents[1] / "data" / "confusables.txt"
VERDICTS = {
    "name_taken": "taken", "name_confusable": "confusable", "bad_name": "unsafe", "name_masked": "masked",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Pair:
    """A name on the roster, a new one, and what must be said to it."""

    line: int
    verdict: str
    known: str
    new: str
    why: str


def pairs() -> Iterator[Pair]:
    """Yield the corpus."""
    for number, line in enumerate(CORPUS.read_text("utf-8").split("\n"), 1):
        if line and not line.startswith("#"):
            verdict, known, new, why = line.split("\t")
            yield Pair(number, verdict, known, _seen(new), why)


def _seen(text: str) -> str:
    """Return a text with its escapes read."""
    parts = text.split("\\")
    read = [parts[0]]
    for part in parts[1:]:
        size = {"u": 5, "U": 9, "t": 1}[part[0]]
        read += [codecs.decode("\\" + part[:size], "unicode_escape"), part[size:]]
    return "".join(read)


def verdict_of(pair: Pair) -> str:
    """Return what the league says to somebody who wants this name."""
    directory = Directory(Roster([(pair.known, 1, True)]))
    try:
        check_name(cast("Any", SimpleNamespace(directory=directory)), pair.new, reserved())
    except Refusal as refusal:
        return VERDICTS[refusal.code]
    return "allowed"


def wrong_names() -> tuple[Counter[str], list[str]]:
    """Return how many pairs of each kind there are, and those that are judged otherwise."""
    load_handlers()
    found = list(pairs())
    wrong = [
        f"{CORPUS.name}:{pair.line} {pair.new!r} beside {pair.known!r} ({pair.why}): {said}, should be {pair.verdict}"
        for pair in found
        if (said := verdict_of(pair)) != pair.verdict
    ]
    return Counter(pair.verdict for pair in found), wrong
