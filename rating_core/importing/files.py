"""What a file of games says, read but not yet understood: names are text, nothing is checked against the book."""

from dataclasses import dataclass, field
from typing import Any, Literal

from rating_core.importing.values import Problem
from rating_core.ledger import OpeningBalance

MAX_GAMES = 100_000


@dataclass(frozen=True, slots=True)
class RawGame:
    """One game. `row` is its line in the file (of the sheet 战绩 in a workbook)."""

    row: int
    left: tuple[str, ...]
    right: tuple[str, ...]
    result: str
    """As written; numbers are the left side's points."""
    line: str = ""
    """The whole line of a text file, to be split by the roster; the names are empty then."""
    at: int | None = None
    """When it was played (ms); None where the file has no dates."""
    pool: str = ""
    event: str = ""
    weight: float | None = None
    void: bool = False
    number: int | None = None
    """局."""
    report: int | None = None
    effective_at: int | None = None
    shown: tuple[tuple[float | None, float | None], ...] = ()
    """Ratings before and after as the file shows them, in the order of the names."""


@dataclass(frozen=True, slots=True)
class RawPlayer:
    """Somebody whom the file introduces; `initial` None: by his placing."""

    row: int
    name: str
    placing: str | None = None
    initial: float | None = None
    ip_checked: bool = False
    former: tuple[str, ...] = ()
    sheet: str = ""


@dataclass(frozen=True, slots=True)
class RawChange:
    """A line of the sheet 调整: something that is no game. `after`: the 局 before it, 0 for none."""

    row: int
    kind: str
    after: int
    at: int
    entry: int = 0
    """账 in the workbook: lines with the same number are one entry."""
    pool: str = ""
    player: str = ""
    amount: float = 0.0
    other: str = ""
    issued_at: int = 0
    until: int = 0
    season: int = 0
    event: str = ""
    weight: float = 1.0
    signoff: bool = True
    opening: OpeningBalance | None = None
    """Of an opening balance: its figures, without the player."""


@dataclass(frozen=True, slots=True)
class GameFile:
    """A file of games as read. `form`: workbook (ours), table (CSV or a sheet), text (report lines)."""

    form: Literal["workbook", "table", "text"]
    games: tuple[RawGame, ...]
    players: tuple[RawPlayer, ...] = ()
    changes: tuple[RawChange, ...] = ()
    problems: tuple[Problem, ...] = ()
    about: dict[str, Any] = field(default_factory=dict)
    """How it was read: encoding, delimiter, titles of the columns, titles that were not used."""
