"""What happened to a report: the values the service returns (§4–§6)."""

from dataclasses import dataclass
from typing import Literal

from rating_core.ledger import Announced
from rating_core.report_text import ReportProblems
from rating_core.rules.eligibility import Bar
from rating_core.service.challenges import Ended
from rating_core.store.report_store import Report


@dataclass(frozen=True, slots=True)
class Refused:
    """The text cannot be read as games."""

    problems: ReportProblems


@dataclass(frozen=True, slots=True)
class Outsider:
    """Neither of the two sides, nor a referee or scorekeeper (§5)."""


@dataclass(frozen=True, slots=True)
class MaskedFree:
    """A game of 蒙面人公用号, which nobody held when it was posted (L13)."""


@dataclass(frozen=True, slots=True)
class InPrivate:
    """The holder of 蒙面人公用号 posted its game in a group, where he is somebody else (§7 D)."""


@dataclass(frozen=True, slots=True)
class NotEligible:
    """Players who may not play now, with clause and date."""

    bars: tuple[Bar, ...]


@dataclass(frozen=True, slots=True)
class AskPool:
    """The pool cannot be told: a first line #榜名 is needed."""

    pools: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EventRefused:
    """The event of the header takes no such report.

    why: closed; unrated (不计); pool: it is of `pool`, which the games or a second header do not fit.
    """

    name: str
    pool: str
    why: Literal["closed", "unrated", "pool"]


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
    """Games that are in a report already; recorded only after 另记.

    A referee's or scorekeeper's post equal to a report that waits or took effect within 72 h; or a player's of what
    both sides have confirmed and a referee has not.
    """

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
    """The confirmer is not of the other side but a scorekeeper."""
    signer: int | None = None
    """The referee or scorekeeper who confirmed an event's report after the other side did (§5)."""
    fulfilled: tuple[tuple[int, int], ...] = ()
    """Numbers of the forced challenges (L9) that it fulfils, each with the ledger row that says so."""


@dataclass(frozen=True, slots=True)
class Changed:
    """A report's state was changed without effect on the book: confirmed, disputed, withdrawn or void."""

    report: Report
    by: int
    reason: str = ""
    ended: tuple[Ended, ...] = ()
    """Forced challenges (L9) whose penalty it had kept waiting."""
    player: int | None = None
    """As whom it was disputed; somebody who plays in none of the games is a referee."""


@dataclass(frozen=True, slots=True)
class NotYours:
    """Only the players of the other side can do that."""

    report: Report
    who: tuple[int, ...]
    why: str
    """own_side | not_bound | third | same_account | both_sides | own_case | only_reporter | signoff

    Of 蒙面人公用号 (§7 D): own_game | held_later (service.masked) | secret_case: an own case that nobody may learn of.
    """
    disputed: bool = False
    """Whether the report is disputed from now on because of this."""


@dataclass(frozen=True, slots=True)
class NotOpen:
    """The report is in no state for that: effective, withdrawn or void; or disputed already."""

    report: Report


@dataclass(frozen=True, slots=True)
class NoSuchReport:
    number: int


PostResult = (
    Refused
    | Outsider
    | MaskedFree
    | InPrivate
    | NotEligible
    | AskPool
    | EventRefused
    | StillWaiting
    | Overlap
    | SameAs
    | Posted
    | Effective
    | Changed
    | NotYours
)
ChangeResult = Effective | Changed | NotYours | NotOpen | NoSuchReport
