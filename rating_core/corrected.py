"""The corrections of a ledger (§10): which are in force, what they are about in the end, whose names were merged."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from rating_core.ledger import Amend, Entry, Merged, PlayerRegistered, Settlement, Void


@dataclass(slots=True)
class Correction:
    """Ledger row `seq` that corrects row `target`; void once it was corrected away itself."""

    seq: int
    target: int
    entry: Void | Amend | Merged
    void: bool = False


@dataclass(slots=True)
class Corrections:
    """All corrections that were read."""

    by_seq: dict[int, Correction] = field(default_factory=dict)
    """By their ledger rows, ascending."""
    alias: dict[int, int] = field(default_factory=dict)
    """Wrong names and whose they are, by the merges in force."""
    _by_target: dict[int, list[Correction]] = field(default_factory=dict)

    def copy(self) -> "Corrections":
        twin = Corrections({seq: replace(correction) for seq, correction in self.by_seq.items()}, dict(self.alias))
        for correction in twin.by_seq.values():
            twin._by_target.setdefault(correction.target, []).append(correction)
        return twin

    def add(self, seq: int, target: int, entry: Void | Amend | Merged) -> Correction:
        """Enter a correction; return it, or where it corrects a correction the one that all this is about in the end.

        After a merge was made or undone `merge` is due.
        """
        correction = self.by_seq[seq] = Correction(seq, target, entry)
        self._by_target.setdefault(target, []).append(correction)
        while correction.target in self.by_seq:
            correction = self.by_seq[correction.target]
            correction.void = any(isinstance(other.entry, Void) for other in self.of(correction.seq))
        return correction

    def merge(self) -> None:
        """Find out anew whose the wrong names are."""
        found = (c.entry for c in self.by_seq.values() if not c.void)
        pairs = {entry.player: entry.into for entry in found if isinstance(entry, Merged)}
        self.alias = {}
        for player, into in pairs.items():
            while into in pairs:
                into = pairs[into]
            self.alias[player] = into

    def of(self, seq: int) -> Iterator[Correction]:
        """Yield the corrections in force of a ledger row."""
        return (correction for correction in self._by_target.get(seq, ()) if not correction.void)

    def make_void(self, seq: int) -> bool:
        """Whether a correction in force declares a ledger row void as a whole."""
        return any(isinstance(c.entry, Void) and c.entry.game is None for c in self.of(seq))

    def after(self, since: int) -> Iterator[Correction]:
        """Yield the corrections after ledger row `since`, each as the one that it is about in the end."""
        for seq in reversed(self.by_seq):
            if seq <= since:
                return
            correction = self.by_seq[seq]
            while correction.target in self.by_seq:
                correction = self.by_seq[correction.target]
            yield correction

    def as_merged(self, entry: Entry) -> Entry:
        """Return an entry as it counts with the merges in force."""
        changes = {
            name: self.alias[player]
            for name in ("player", "challenger", "opponent")
            if (player := getattr(entry, name, None)) in self.alias and not isinstance(entry, PlayerRegistered)
        }
        if isinstance(entry, Settlement) and any(player in self.alias for player, _ in entry.verdicts):
            return replace(entry, verdicts=self._verdicts(entry.verdicts))
        return replace(entry, **changes) if changes else entry

    def _verdicts(self, verdicts: Iterable[tuple[int, float]]) -> tuple[tuple[int, float], ...]:
        """Verdicts stand: one on a wrong name is the right player's, unless he has one of his own."""
        found = {player: taken for player, taken in verdicts if player not in self.alias}
        for player, taken in verdicts:
            found.setdefault(self.alias.get(player, player), taken)
        return tuple(found.items())
