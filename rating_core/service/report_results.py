"""What happened to a report: the values the service returns (§4–§6)."""

from dataclasses import dataclass

from rating_core.ledger import Announced
from rating_core.report_text import ReportProblems
from rating_core.rules.eligibility import Bar
from rating_core.store.report_store import Report


@dataclass(frozen=True, slots=True)
class Refused:
    """The text cannot be read as games."""

    problems: ReportProblems


@dataclass(frozen=True, slots=True)
class Outsider:
    """Neither of the two sides, nor a referee or scorekeeper (§5)."""


@dataclass(frozen=True, slots=True)
class NotEligible:
    """Players who may not play now, with clause and date."""

    bars: tuple[Bar, ...]


@dataclass(frozen=True, slots=True)
class AskPool:
    """The pool cannot be told: a first line #榜名 is needed."""

    pools: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StillWaiting:
    """The same games were posted before by the same side."""

    report: Report


@dataclass(frozen=True, slots=True)
class Overlap:
    """The same pair's games in another order, or a part of a report that waits."""

    report: Report


@dataclass(frozen=True, slots=True)
class SameAs:
    """A referee's or scorekeeper's post equal to a report that waits or took effect within 72 h."""

    report: Report


@dataclass(frozen=True, slots=True)
class Posted:
    """The report waits for the other side."""

    report: Report
    confirmers: tuple[int, ...]
    others_waiting: tuple[int, ...] = ()
    """Numbers of other reports of the same pair that wait as well."""


@dataclass(frozen=True, slots=True)
class Debt:
    """A pair that is locked (L6) after the report: what each of its players still owes."""

    players: tuple[tuple[int, int], ...]
    net: int


@dataclass(frozen=True, slots=True)
class Effective:
    """The report took effect: the figures as announced, and who was involved."""

    report: Report
    first_game: int
    announced: Announced
    games_after: dict[int, int]
    """Counted games of each player in the pool, after the report."""
    debts: tuple[Debt, ...]
    reporter: int
    confirmer: int | None
    by_desk: bool = False


@dataclass(frozen=True, slots=True)
class Changed:
    """A report's state was changed without effect on the book: disputed, withdrawn or void."""

    report: Report
    by: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class NotYours:
    """Only the players of the other side can do that."""

    report: Report
    who: tuple[int, ...]
    why: str
    """own_side | not_bound | third | same_account | own_case | only_reporter"""


@dataclass(frozen=True, slots=True)
class NotOpen:
    """The report is in no state for that: effective, withdrawn or void."""

    report: Report


@dataclass(frozen=True, slots=True)
class NoSuchReport:
    number: int


PostResult = (
    Refused | Outsider | NotEligible | AskPool | StillWaiting | Overlap | SameAs | Posted | Effective | NotYours
)
ChangeResult = Effective | Changed | NotYours | NotOpen | NoSuchReport
