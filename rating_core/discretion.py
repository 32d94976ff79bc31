"""What is written for operators names nobody: numbers that may be QQ numbers become pseudonyms of this process.

Everything a process writes to stdout and stderr passes `discreet_output`: log lines, tracebacks, what a library prints.
"""

import re
import sys
from collections import OrderedDict
from collections.abc import Collection
from typing import Any, TextIO, cast

MOST_KEPT = 10_000
"""So many numbers keep their pseudonym; whoever was not named for longest gets a new one."""

_NUMBER = re.compile("[0-9]{5,}")
_OURS_BEFORE = re.compile(r"(?:\b(?:seq|ms|bytes|shed)=|process \[|[#局审预约账期]|-20[0-9]{6}-)\Z")
"""What stands before a number of our own: a ledger row, a count, a process, a short number, a time after a date."""
_PORT_BEFORE = re.compile(r"(?:[0-9]|\]|localhost):\Z")
_DATE = re.compile("20[0-9]{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])")
_LOOK_BACK = 12
_OURS_DIGITS = 7


class Pseudonyms:
    """用户N for each number of five digits or more that is not evidently something else."""

    def __init__(self) -> None:
        self._given: OrderedDict[str, int] = OrderedDict()
        self._last = 0
        self._public: frozenset[str] = frozenset()

    def publish(self, numbers: Collection[str]) -> None:
        """Let numbers that are nobody's (the configured groups') stand as they are."""
        self._public = frozenset(numbers)

    def of(self, number: str) -> str:
        """Return the pseudonym of a number."""
        if number in self._given:
            self._given.move_to_end(number)
        else:
            self._last += 1
            self._given[number] = self._last
            if len(self._given) > MOST_KEPT:
                self._given.popitem(last=False)
        return f"用户{self._given[number]}"

    def hide(self, text: str) -> str:
        """Return a text with a pseudonym in the place of every number that may be somebody's."""
        return _NUMBER.sub(self._replaced, text)

    def _replaced(self, match: re.Match[str]) -> str:
        number, text, start = match.group(), match.string, match.start()
        if number in self._public:
            return number
        since = max(0, start - _LOOK_BACK)
        if len(number) <= _OURS_DIGITS and _OURS_BEFORE.search(text, since, start):
            return number
        if len(number) == 5 and _PORT_BEFORE.search(text, since, start):
            return number
        if len(number) == 8 and _DATE.fullmatch(number) and text[start - 1 : start] == "-":
            return number
        return self.of(number)


PSEUDONYMS = Pseudonyms()
"""Those of this process."""


class _DiscreetStream:
    """A text stream on which everything is hidden that must be."""

    def __init__(self, stream: TextIO, pseudonyms: Pseudonyms) -> None:
        self._stream = stream
        self._pseudonyms = pseudonyms

    def write(self, text: str) -> int:
        self._stream.write(self._pseudonyms.hide(text))
        return len(text)

    def writelines(self, lines: list[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def discreet_output() -> None:
    """From now on this process writes to stdout and stderr discreetly. Call it before anything keeps the streams."""
    sys.stdout = cast("TextIO", _DiscreetStream(sys.stdout, PSEUDONYMS))
    sys.stderr = cast("TextIO", _DiscreetStream(sys.stderr, PSEUDONYMS))
