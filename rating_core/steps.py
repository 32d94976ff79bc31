"""What the Book keeps of each ledger row, so that it can run the fold again from any of them."""

from dataclasses import dataclass

from rating_core.ledger import Amend, Entry, Merged, Void
from rating_core.state import State


@dataclass(slots=True)
class Step:
    """A ledger row that is neither games nor a correction, as the fold sees it."""

    seq: int
    said_at: int
    pool: str
    entry: Entry
    games: int
    """How many games stand before it."""
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
    """The state behind the first `steps` steps and `games` games, and how many marks there were.

    Where players began (`initial`, `placing`) is not in it: that is the same for all.
    """

    steps: int
    games: int
    marks: int
    state: State
