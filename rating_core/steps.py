"""What the Book keeps of each ledger row, so that it can run the fold again from any of them."""

from dataclasses import dataclass

from rating_core.ledger import Amend, Entry, Merged, Void
from rating_core.state import State


@dataclass(slots=True)
class Step:
    """One ledger row as the fold sees it; games stand in the columns from `start` to before `stop`."""

    seq: int
    said_at: int
    pool: str
    entry: Entry | None
    """None for games."""
    start: int = 0
    stop: int = 0
    void: bool = False


@dataclass(slots=True)
class Original:
    """A game's line and weight as first written, kept once it has been amended or voided."""

    left: tuple[int, ...]
    result: str
    right: tuple[int, ...]
    event: int
    weight: float


@dataclass(slots=True)
class Correction:
    """Ledger row `seq` that corrects row `target`; void once it was corrected away itself."""

    seq: int
    target: int
    entry: Void | Amend | Merged
    void: bool = False


@dataclass(slots=True)
class Checkpoint:
    """The state before step number `step`, and how many games and marks there were."""

    step: int
    games: int
    marks: int
    state: State
