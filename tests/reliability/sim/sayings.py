"""What somebody says or does in a simulated world, as he meant it: the text is made from this, never read back."""

from dataclasses import dataclass, field
from typing import Literal

from tests.reliability.sim.league import Person
from tests.support.plain_book import Line

Kind = Literal["report", "word", "recall", "reaction", "command", "query", "chat"]
Verb = Literal[
    "withdraw", "confirm for", "void report", "amend", "void game", "leave", "challenge", "publish", "adjust",
]  # fmt: skip


@dataclass(slots=True)
class Saying:
    """One message or notice. `at` is QQ's time of it, whole seconds in ms; `message_id` that of what it concerns."""

    kind: Kind
    person: Person
    group: int
    at: int
    message_id: int
    text: str = ""
    lines: tuple[Line, ...] = ()
    """Of a report."""
    pool: str = ""
    """Of a report: the pool in its first line, if there is one."""
    wrong: bool = False
    """Of a word: 有误 instead of 确认."""
    numbers: tuple[int, ...] = ()
    """Report numbers named; of a command on games the number of the game."""
    preview: int | None = None
    """Of a word: 确认 预N."""
    quote: int | None = None
    bare: bool = False
    """Of a word: 确认 itself, naming nothing."""
    verb: Verb | None = None
    players: tuple[int, ...] = ()
    """Of a challenge: one opponent, or challenger and opponent; of an adjustment: whom."""
    amount: float = 0.0
    result: str = ""
    """Of 改判: W, D or L of the left side."""

    delivered: list[tuple[int, float]] = field(default_factory=list)
    """In which lives of the bot its event arrived, and when (loop time)."""
    heard: bool = False
    """The bot has carried it out, or said why not."""
    made_up: bool = False
    """The desk was told that a command of long ago is not carried out."""
    led_to: str = ""
    """The short number it led to, by the rules."""

    @property
    def chat(self) -> str:
        return f"g{self.group}"

    def says_the_same(self, other: "Saying") -> bool:
        """Whether somebody said the same words twice in one second."""
        ours, theirs = ((s.person.qq, s.group, s.at, s.quote, "".join(s.text.split())) for s in (self, other))
        return ours == theirs

    def __str__(self) -> str:
        what = f"{self.kind} of {self.message_id}" if self.kind in ("recall", "reaction") else repr(self.text)
        quoting = f" (quotes {self.quote})" if self.quote is not None else ""
        return f"{self.person.name} in {self.group}: {what}{quoting}"
