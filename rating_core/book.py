"""The Book: an in-memory fold of the ledger. Pure, synchronous, without clock or I/O.

The Book advances in one way only: by reading ledger rows after its seq (`advance`). Corrections are resolved
first (§10): the old entry is treated as never made or as amended in its old place, and the fold is run again
from the nearest checkpoint before it.
"""

from array import array
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from types import MappingProxyType
from typing import Any, TypeVar

from rating_core.columns import COUNTED, VOID, GameColumns
from rating_core.corrected import Corrections
from rating_core.fold import Mark, fold_entry, fold_games, fold_void
from rating_core.ledger import (
    GENESIS,
    Amend,
    Draft,
    Entry,
    Games,
    LedgerError,
    Merged,
    OpeningBalance,
    PlayerRegistered,
    Row,
    Settlement,
    Void,
    seal,
)
from rating_core.rulebook import Pool
from rating_core.rules import season as seasons
from rating_core.state import State
from rating_core.steps import Checkpoint, Original, Step

E = TypeVar("E", bound=Entry)
CHECKPOINT_GAMES = 250
"""Near the end there is a checkpoint about every so many games, or every thirtieth part of all where that is more."""
CHECKPOINT_SHARE = 8
"""Farther back, so big a part of the games from one to the end may lie between it and the next: an eighth."""


@dataclass(slots=True)
class Book:
    """Standings, games and farming as the ledger says up to `seq`."""

    state: State = field(default_factory=State.empty)
    columns: GameColumns = field(default_factory=GameColumns)
    marks: list[Mark] = field(default_factory=list)
    """Rating changes that are no games, in the ledger's order."""
    seq: int = 0
    hash: str = GENESIS
    """Hash of the row `seq`."""
    judged: dict[int, dict[int, float]] = field(default_factory=dict)
    """By the ledger row of each settlement: whom it would archive and what it would take, were it made only now."""
    stirred: int = 0
    """The last ledger row that was not just a new game: any standing may have changed with it."""
    orders: dict[str, Any] = field(default_factory=dict, compare=False)
    """By pool the order of its board as it was last asked for, and of what moment of the Book it is."""
    _steps: list[Step] = field(default_factory=list)
    _step_seqs: list[int] = field(default_factory=list)
    """Ledger row of each step, ascending; that of each game stands in the columns."""
    _played: dict[int, "array[int]"] = field(default_factory=dict)
    _corrections: Corrections = field(default_factory=Corrections)
    _originals: dict[int, Original] = field(default_factory=dict)
    _registered: dict[int, int] = field(default_factory=dict)
    """Ledger row in which each player was registered."""
    _checkpoints: list[Checkpoint] = field(default_factory=list)
    _unfolded: tuple[int, int] | None = None
    """How many steps and games were there before the rows that are read and not yet folded; None: all is folded."""
    _reached: int | None = None
    """The first ledger row touched by the corrections among those."""

    def __getstate__(self) -> tuple[None, dict[str, Any]]:
        """What pickle writes: nothing that was only worked out."""
        return None, {name: getattr(self, name) for name in self.__slots__} | {"orders": {}}

    @classmethod
    def of(cls, pools: dict[str, Pool] | None = None) -> "Book":
        """Return an empty book with the given pools (default: the league's)."""
        return cls(State.empty(pools))

    def advance(self, rows: Iterable[Row]) -> None:
        """Read ledger rows after `seq`, in order; corrections among them are resolved first, then all is folded once.

        Raises LedgerError on a gap or an unreadable row: the Book then stands before it. Where the fold itself fails
        on what a row holds, the Book is of no more use.
        """
        try:
            self.read(rows)
        finally:  # what was read is in force, whatever follows
            self.fold()

    def read(self, rows: Iterable[Row]) -> None:
        """Read ledger rows after `seq`, in order; the Book is of no use before `fold`. Raises what `advance` does.

        Many rows are read part by part and then folded once: while the games grow, each fold makes checkpoints that
        the next one drops.
        """
        if self._unfolded is None:
            self._unfolded = len(self._steps), len(self.columns)
        for row in rows:
            if row.seq != self.seq + 1:
                raise LedgerError(f"row {row.seq} after {self.seq}")
            entry = row.entry(told=False)
            if not isinstance(entry, Games):
                self.stirred = row.seq
            if isinstance(entry, Void | Amend | Merged):
                target = self._correct(row, entry)
                self._reached = target if self._reached is None else min(self._reached, target)
            else:
                self._add(row, entry)
            self.seq, self.hash = row.seq, row.hash

    def fold(self) -> None:
        """Fold what was read since the last time."""
        unfolded, reached = self._unfolded, self._reached
        self._unfolded = self._reached = None
        if reached is not None:
            self._refold(reached)
        elif unfolded is not None:
            self._run(*unfolded)

    # --- running the fold ---------------------------------------------------------------------------------

    def _add(self, row: Row, entry: Entry) -> None:
        if not isinstance(entry, Games):
            self._steps.append(Step(row.seq, row.said_at, row.pool, entry, len(self.columns)))
            self._step_seqs.append(row.seq)
            if isinstance(entry, PlayerRegistered):
                self._registered[entry.player] = row.seq
                # 原始分 holds from the first: an amendment may name a player who was registered after the game
                fold_entry(self.state, entry, row.seq, row.said_at, row.pool)
            return
        columns, played = self.columns, self._played
        for number, line in enumerate(entry.lines, entry.first):
            for player in line.players:
                if player not in played:
                    played[player] = array("i")
                played[player].append(len(columns))
            columns.append(
                number, entry.report, row.seq, entry.posted_at, row.said_at, row.pool, entry.event or 0, entry.weight,
                line.result, line.left, line.right,
            )  # fmt: skip

    def _run(self, steps: int, games: int) -> None:
        """Fold to the end from behind the first `steps` steps and `games` games."""
        for number in range(steps, len(self._steps)):
            step = self._steps[number]
            self._run_games(number, games, step.games)
            games = step.games
            if step.void:
                fold_void(self.state, step.entry, step.seq)
            else:
                entry = self._corrections.as_merged(step.entry)
                if isinstance(entry, Settlement):
                    self.judged[step.seq] = seasons.archived_by(self.state, step.pool, entry.season)
                self.marks += fold_entry(self.state, entry, step.seq, step.said_at, step.pool)
        self._run_games(len(self._steps), games, len(self.columns))

    def _run_games(self, steps: int, start: int, stop: int) -> None:
        """Fold the games from position `start` to `stop`, which stand behind `steps` steps."""
        while start < stop:
            last = self._checkpoints[-1].games if self._checkpoints else 0
            if start >= self._next_checkpoint(last):
                self._checkpoints.append(Checkpoint.of(steps, start, len(self.marks), self.state))
                self._thin_checkpoints()
                continue
            end = self.columns.same_pool(start, min(stop, self._next_checkpoint(last)))
            fold_games(self.state, self.columns, start, end)
            start = end

    def _thin_checkpoints(self) -> None:
        """Drop each checkpoint without which the next one is near enough to the one before."""
        kept: list[Checkpoint] = []
        for checkpoint, following in zip_longest(self._checkpoints, self._checkpoints[1:]):
            last = kept[-1].games if kept else 0
            if following is None or following.games > self._next_checkpoint(last):
                kept.append(checkpoint)
        self._checkpoints = kept

    def _next_checkpoint(self, last: int) -> int:
        """Return the most games there may be before the checkpoint that follows one at `last` games."""
        games = len(self.columns)
        return last + max(CHECKPOINT_GAMES, games // 30, (games - last) // CHECKPOINT_SHARE)

    def _place(self, seq: int) -> tuple[int, int]:
        """Return how many steps and how many games stand before ledger row `seq`."""
        return bisect_left(self._step_seqs, seq), bisect_left(self.columns.seq, seq)

    def _refold(self, seq: int) -> None:
        """Run the fold again from ledger row `seq`."""
        steps, games = self._place(seq)
        while self._checkpoints and (self._checkpoints[-1].steps > steps or self._checkpoints[-1].games > games):
            self._checkpoints.pop()
        initial, placing = self.state.initial, self.state.placing
        if self._checkpoints:
            point = self._checkpoints[-1]
            steps, games, marks, self.state = point.steps, point.games, point.marks, point.state()
        else:
            steps, games, marks = 0, 0, 0
            self.state = State.empty({name: pool.pool for name, pool in self.state.pools.items()})
        self.state.initial, self.state.placing = initial, placing
        del self.marks[marks:]
        self._run(steps, games)

    # --- corrections --------------------------------------------------------------------------------------

    def _correct(self, row: Row, entry: Void | Amend | Merged) -> int:
        """Resolve what a correction is about; return the ledger row from which the fold is to be run again."""
        target = row.refers_to or 0
        if not isinstance(entry, Merged) and not 0 < target <= self.seq:
            raise LedgerError(f"row {row.seq} corrects nothing")
        found = self._corrections.add(row.seq, target, entry)
        if isinstance(found.entry, Merged):
            return self._merge(found.entry)
        self._resolve(found.target)
        return found.target

    def _merge(self, merged: Merged) -> int:
        """Resolve all merges anew, after one was made or undone; return the row where the first of them began."""
        involved = {merged.player, merged.into, self.alias(merged.player), self.alias(merged.into)}
        self._corrections.merge()
        involved |= {self.alias(player) for player in involved}
        first = min(self._registered[player] for player in involved)
        touched = {self.columns.seq[index] for player in involved for index in self.games_of(player)}
        for seq in touched:
            self._resolve(seq)
        return first

    @property
    def merged(self) -> Mapping[int, int]:
        """Wrong names and whose they are, by the merges in force."""
        return MappingProxyType(self._corrections.alias)

    def alias(self, player: int) -> int:
        """Return who a player is, merges in force considered."""
        return self._corrections.alias.get(player, player)

    def _resolve(self, target: int) -> None:
        """Make the step or the games of row `target` what all corrections in force say."""
        active = [c.entry for c in self._corrections.of(target)]
        void = self._corrections.make_void(target)
        if (step := self._step(target)) is not None:
            self._steps[bisect_left(self._step_seqs, target)] = replace(step, void=void)
        for index in self.games_of_row(target):
            self._resolve_game(index, active, void=void)

    def _step(self, seq: int) -> Step | None:
        """Return the step of ledger row `seq`; None for games and corrections."""
        number = bisect_left(self._step_seqs, seq)
        return self._steps[number] if number < len(self._steps) and self._step_seqs[number] == seq else None

    def _resolve_game(self, index: int, active: Sequence[Void | Amend | Merged], *, void: bool) -> None:
        columns = self.columns
        number = columns.number[index]
        original = self._originals.setdefault(
            index,
            Original(
                columns.left(index), chr(columns.result[index]), columns.right(index), columns.event[index],
                columns.weight[index],
            ),
        )  # fmt: skip
        left, result, right = original.left, original.result, original.right
        columns.event[index], columns.weight[index] = original.event, original.weight
        for entry in active:
            if isinstance(entry, Merged) or entry.game not in (None, number):
                continue
            if isinstance(entry, Void):
                void = True
            elif entry.line is not None:
                left, result, right = entry.line.left, entry.line.result.value, entry.line.right
            else:
                columns.event[index] = entry.event or 0
                columns.weight[index] = columns.weight[index] if entry.weight is None else entry.weight
        for _, player in columns.members(index):
            self._played[player].remove(index)
        columns.set_line(index, tuple(map(self.alias, left)), result, tuple(map(self.alias, right)))
        for _, player in columns.members(index):
            insort(self._played.setdefault(player, array("i")), index)
        columns.flags[index] = VOID if void else 0

    # --- other books --------------------------------------------------------------------------------------

    def fork(self) -> "Book":
        """Return an independent Book that stands where this one stands."""
        return self._fork(self.state.copy())

    def _fork(self, state: State) -> "Book":
        twin = Book(
            state, self.columns.copy(), list(self.marks), self.seq, self.hash, dict(self.judged),
            self.stirred,
        )  # fmt: skip
        twin._steps, twin._step_seqs = list(self._steps), list(self._step_seqs)
        twin._played = {player: played[:] for player, played in self._played.items()}
        twin._corrections, twin._registered = self._corrections.copy(), dict(self._registered)
        twin._originals, twin._checkpoints = dict(self._originals), list(self._checkpoints)
        return twin

    def with_drafts(self, drafts: Iterable[Draft]) -> "Book":
        """Return the Book as it will be with these entries; this one does not move. Raises LedgerError."""
        drafts = list(drafts)
        if any(isinstance(draft.entry, Void | Amend | Merged) for draft in drafts):
            state = self.state.fork()  # folding again puts another in its place
            state.part()
        else:
            state = self.state.copy()
        twin = self._fork(state)
        for draft in drafts:
            twin.read([seal(draft, twin.seq + 1, draft.said_at, twin.hash)])
        twin.fold()
        return twin

    def as_of(self, moment: int) -> "Book":
        """Return the Book of what took effect before `moment` (ms), with all corrections known now."""
        twin, said_at = self.fork(), self.columns.said_at
        step = next((n for n, each in enumerate(self._steps) if each.said_at >= moment), len(self._steps))
        game = next((n for n, at in enumerate(said_at) if at >= moment), len(said_at))
        first = min([*self._step_seqs[step : step + 1], *self.columns.seq[game : game + 1]], default=self.seq + 1)
        steps, games = self._place(first)
        if all(at >= moment for at in (*(each.said_at for each in self._steps[steps:]), *said_at[games:])):
            twin._cut(first)
        else:  # a history was moved in behind entries of a later time: its players, or another pool's
            twin._drop(moment)
        return twin

    def _drop(self, moment: int) -> None:
        """Drop what took effect at or after `moment` (ms), wherever it stands. Such a Book is good for reading only."""
        kept = [index for index, at in enumerate(self.columns.said_at) if at < moment]
        steps = (replace(s, games=bisect_left(kept, s.games)) for s in self._steps if s.said_at < moment)
        self._steps = list(steps)
        self._step_seqs, self._checkpoints = [step.seq for step in self._steps], []
        self.columns = self.columns.pick(kept)
        self._played, self.marks = {}, []
        for index in range(len(self.columns)):
            for _, player in self.columns.members(index):
                self._played.setdefault(player, array("i")).append(index)
        self._refold(0)

    def _cut(self, seq: int) -> None:
        """Drop the steps and games from ledger row `seq` on."""
        steps, games = self._place(seq)
        if (steps, games) == (len(self._steps), len(self.columns)):
            return
        del self._steps[steps:], self._step_seqs[steps:]
        self.columns.truncate(games)
        for played in self._played.values():
            del played[bisect_left(played, games) :]
        self._refold(seq)

    def posted_before(self, moment: int) -> "Book":
        """Return the Book without what was posted at or after `moment` (ms): a season as it ended (§8).

        Games posted before it are in it whenever they took effect, with all corrections known now.
        """
        twin, touched = self.fork(), []
        for number, step in enumerate(twin._steps):
            if step.said_at >= moment and not step.void:
                twin._steps[number] = replace(step, void=True)
                touched.append(step.seq)
        columns = twin.columns
        for index, at in enumerate(columns.at):
            if at >= moment and not columns.flags[index] & VOID:
                columns.flags[index] = VOID
                touched.append(columns.seq[index])
        if touched:
            twin._refold(min(touched))
        return twin

    # --- reading ------------------------------------------------------------------------------------------

    def games_of(self, player: int) -> "array[int]":
        """Return the positions of all games (counted or not, void ones too) of a player, ascending."""
        return self._played.get(player, array("q"))

    def find_game(self, number: int) -> int | None:
        """Return the position of game 局`number`, or None."""
        index = bisect_left(self.columns.number, number)
        return index if index < len(self.columns) and self.columns.number[index] == number else None

    def games_of_row(self, seq: int) -> range:
        """Return the positions of the games entered by ledger row `seq` (empty if it holds none)."""
        return range(bisect_left(self.columns.seq, seq), bisect_right(self.columns.seq, seq))

    def counted(self, index: int) -> bool:
        return bool(self.columns.flags[index] & COUNTED)

    def is_void(self, index: int) -> bool:
        return bool(self.columns.flags[index] & VOID)

    def entries(self, kind: type[E]) -> Iterator[tuple[int, str, E]]:
        """Yield (seq, pool, entry) of the entries of a kind that are in force, with the merges in force."""
        for step in self._steps:
            if isinstance(step.entry, kind) and not step.void:
                entry = self._corrections.as_merged(step.entry)
                assert isinstance(entry, kind)
                yield step.seq, step.pool, entry

    def timeline(self) -> Iterator[Step | int]:
        """Yield what counts, in the ledger's order, with the merges in force; games by position, void ones too."""
        position = 0
        for step in self._steps:
            yield from range(position, step.games)
            position = step.games
            if not step.void:
                yield replace(step, entry=self._corrections.as_merged(step.entry))
        yield from range(position, len(self.columns))

    def began(self, pool: str) -> int | None:
        """Return when (ms) the first games or opening balance of a pool took effect; None where there are none."""
        opened = (s for s in self._steps if s.pool == pool and not s.void and isinstance(s.entry, OpeningBalance))
        step, columns = next(opened, None), self.columns
        played = (i for i, name in enumerate(columns.pool) if name == pool and not columns.flags[i] & VOID)
        game = next(played, None)
        if step is None or (game is not None and game < step.games):
            return None if game is None else columns.said_at[game]
        return step.said_at

    def in_force(self, seq: int) -> bool:
        """Whether ledger row `seq` counts: no correction in force declares it void as a whole."""
        if (correction := self._corrections.by_seq.get(seq)) is not None:
            return not correction.void
        step = self._step(seq)
        return not self._corrections.make_void(seq) if step is None else not step.void

    def reaches_back_to(self, since: int) -> int:
        """Return the first ledger row that the rows after `since` touch: by correcting it, or by being new."""
        reached = [since + 1]
        for correction in self._corrections.after(since):
            entry = correction.entry
            players = (entry.player, entry.into) if isinstance(entry, Merged) else ()
            reached += [self._registered[player] for player in players] or [correction.target]
        return min(reached)

    def corrected_by(self, seq: int) -> int | None:
        """Return the ledger row that the correction in row `seq` is about; None where that row is no correction."""
        correction = self._corrections.by_seq.get(seq)
        return None if correction is None or isinstance(correction.entry, Merged) else correction.target

    def corrections_of(self, seq: int) -> Iterator[tuple[int, Void | Amend]]:
        """Yield (seq, entry) of the corrections in force that refer to ledger row `seq`."""
        for correction in self._corrections.of(seq):
            if not isinstance(correction.entry, Merged):
                yield correction.seq, correction.entry
