"""What a correction changes (§10): the Book before and after it, figure by figure.

Ratings, K, farming and peaks are re-decided. Verdicts of settlements and ends of forced challenges stand; where they
would now be others they are listed. Published lists never change.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rating_core.book import Book
from rating_core.check import TOLERANCE
from rating_core.columns import VOID
from rating_core.directory import Directory
from rating_core.ledger import Settlement
from rating_core.order import Order
from rating_core.report_text import GameLine, Result
from rating_core.rules import challenge as challenges
from rating_core.state import Challenge, Standing


@dataclass(frozen=True, slots=True)
class Figures:
    """A player in a pool. Ratings in points, unrounded; `rank` is None off the board, `peak` None without one."""

    rating: float
    games: int
    rank: int | None
    peak: float | None
    archived: bool


@dataclass(frozen=True, slots=True)
class PersonChange:
    """A player whose figures in a pool are others after the correction."""

    pool: str
    player: int
    before: Figures
    after: Figures

    @property
    def moved(self) -> float:
        """Points by which his rating is higher than before."""
        return self.after.rating - self.before.rating

    @property
    def only_rank(self) -> bool:
        """Nothing but his rank changed: others passed him."""
        return _same(self.before, self.after, rank=False)


@dataclass(frozen=True, slots=True)
class GameView:
    """A game as one Book has it; `changes` in points by the players in the line's order."""

    line: GameLine
    event: int
    weight: float
    counted: bool
    void: bool
    changes: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class GameChange:
    """局`number`, which is another one after the correction: of others, of another result, event or weight, or void."""

    number: int
    before: GameView
    after: GameView


@dataclass(frozen=True, slots=True)
class VerdictChange:
    """A verdict of a settlement that stands although it would now be another one.

    `stored` and `now`: points taken from a player who is archived; None: not archived.
    """

    season: int
    pool: str
    seq: int
    player: int
    stored: float | None
    now: float | None


@dataclass(frozen=True, slots=True)
class ChallengeChange:
    """A forced challenge that changes (state or deadline), or whose end stands although the games say otherwise.

    `played`: whether a game of the two, posted in time, is in the book after the correction.
    """

    was: Challenge
    now: Challenge
    played: bool

    @property
    def stands(self) -> bool:
        """Nothing about it changes, although it would now end otherwise."""
        return (self.was.state, self.was.deadline) == (self.now.state, self.now.deadline)


@dataclass(frozen=True, slots=True)
class Impact:
    """Everything in which two Books differ, and what stands although it would now be decided otherwise."""

    people: tuple[PersonChange, ...]
    """Largest change of rating first; those whose rank alone changed last."""
    games: int
    """How many are others, count otherwise or change ratings otherwise (`changed_games`)."""
    rewritten: tuple[GameChange, ...]
    """Those of them that are others."""
    verdicts: tuple[VerdictChange, ...]
    challenges: tuple[ChallengeChange, ...]

    @property
    def own(self) -> tuple[PersonChange, ...]:
        """Those of whom more changed than the rank."""
        return tuple(change for change in self.people if not change.only_rank)

    @property
    def players(self) -> int:
        """How many players changed in any pool, by more than the rank."""
        return len({change.player for change in self.own})


def compare(before: Book, after: Book, directory: Directory, at: int) -> Impact:
    """Return what changes from one Book to another that has read more rows; ranks are those of the day of `at` (ms)."""
    return Impact(
        tuple(sorted(_people(before, after, directory, at), key=_most_first)), *_games(before, after),
        tuple(_verdicts(before, after)), tuple(_challenges(before, after)),
    )  # fmt: skip


# --- people -----------------------------------------------------------------------------------------------


def _same(a: Figures, b: Figures, *, rank: bool = True) -> bool:
    peaks = (a.peak, b.peak)
    return (
        abs(a.rating - b.rating) <= TOLERANCE
        and (a.games, a.archived) == (b.games, b.archived)
        and (None in peaks) == (peaks == (None, None))
        and abs((a.peak or 0.0) - (b.peak or 0.0)) <= TOLERANCE
        and (not rank or a.rank == b.rank)
    )


def _most_first(change: PersonChange) -> tuple[bool, float, str, int]:
    return change.only_rank, -abs(change.moved), change.pool, change.player


def _people(before: Book, after: Book, directory: Directory, at: int) -> Iterator[PersonChange]:
    for name, pool in after.state.pools.items():
        old, new = before.state.pools[name].standings, pool.standings
        changed = {player for player in old.keys() & new.keys() if not _unmoved(old[player], new[player])}
        changed |= old.keys() ^ new.keys()
        order = Order.of(before, directory, name, at)
        was_ranked, now_ranked = order.ranks(), order.moved(after, directory, name, at, changed).ranks()
        passed = {player for player, rank in now_ranked.items() if was_ranked.get(player) != rank}
        for player in changed | passed:
            was = _figures(before.state.look(name, player), was_ranked.get(player))
            now = _figures(after.state.look(name, player), now_ranked.get(player))
            if not _same(was, now):
                yield PersonChange(name, player, was, now)


def _unmoved(was: Standing, now: Standing) -> bool:
    """Whether all is the same that decides a player's figures and his place."""
    return (
        was.rating == now.rating and was.wins == now.wins and was.draws == now.draws and was.losses == now.losses
        and was.peak == now.peak and was.archived == now.archived and was.opened_at == now.opened_at
    )  # fmt: skip


def _figures(standing: Standing, rank: int | None) -> Figures:
    return Figures(standing.rating, standing.games, rank, standing.peak, standing.archived)


# --- games ------------------------------------------------------------------------------------------------


def changed_games(before: Book, after: Book) -> Iterator[int]:
    """Yield the positions of the games that are others, count otherwise or change ratings otherwise."""
    start, _, changed = _compared(before, after)
    return (start + offset for offset, mark in enumerate(changed) if mark)


def _games(before: Book, after: Book) -> tuple[int, tuple[GameChange, ...]]:
    """Return how many games changed, and those that are others now."""
    start, others, changed = _compared(before, after)
    rewritten = (start + offset for offset, mark in enumerate(others) if mark)
    numbers = before.columns.number
    return changed.count(1), tuple(GameChange(numbers[i], view(before, i), view(after, i)) for i in rewritten)


def _compared(before: Book, after: Book) -> tuple[int, bytearray, bytearray]:
    """Compare games column by column; return from which position on, and marks of the others and of all changed."""
    start = before.games_of_row(after.reaches_back_to(before.seq)).start
    tail, a, b = slice(start, len(before.columns)), before.columns, after.columns
    others = bytearray(len(before.columns) - start)
    void, voided = (columns.flags[tail].tobytes().translate(_VOID_ONLY) for columns in (a, b))
    _mark_unequal(void, voided, others)
    exact: list[_Columns] = [(a.result, b.result), (a.event, b.event), (a.weight, b.weight)]
    exact += zip(a.players, b.players, strict=True)
    for one, other in exact:
        _mark_unequal(one[tail], other[tail], others)
    changed = others[:]
    figures: list[_Columns] = [(a.flags, b.flags), *zip(a.change, b.change, strict=True)]
    for one, other in figures:
        _mark_unequal(one[tail], other[tail], changed, TOLERANCE)
    return start, others, changed


_Columns = tuple[Sequence[float], Sequence[float]]
_VOID_ONLY = bytes(flag & VOID for flag in range(256))


def _mark_unequal(one: Sequence[float], other: Sequence[float], marks: bytearray, tolerance: float = 0.0) -> None:
    """Set the mark of each place where two columns differ by more than `tolerance`."""
    if one == other:
        return
    for index, (x, y) in enumerate(zip(one, other, strict=True)):
        if x != y and abs(x - y) > tolerance:
            marks[index] = 1


def view(book: Book, index: int) -> GameView:
    """Return the game at a position of the columns."""
    columns = book.columns
    line = GameLine(columns.left(index), Result(chr(columns.result[index])), columns.right(index))
    changes = tuple(columns.change[slot][index] for slot, _ in columns.members(index))
    return GameView(
        line, columns.event[index], columns.weight[index], book.counted(index), book.is_void(index), changes
    )


# --- what stands ------------------------------------------------------------------------------------------


def _verdicts(before: Book, after: Book) -> Iterator[VerdictChange]:
    """Judge the settled seasons again (L7, L8, L10), each on what its settlement would have found."""
    reached = after.reaches_back_to(before.seq)
    for seq, pool, entry in after.entries(Settlement):
        if seq <= reached:
            continue
        stored, now, was = dict(entry.verdicts), after.judged[seq], before.judged.get(seq)
        for player in sorted(stored.keys() | now.keys()):
            verdict = now.get(player)
            if verdict == stored.get(player) or (was is not None and was.get(player) == verdict):
                continue
            yield VerdictChange(entry.season, pool, seq, player, stored.get(player), verdict)


def _challenges(before: Book, after: Book) -> Iterator[ChallengeChange]:
    for number, now in after.state.challenges.items():
        was = before.state.challenges[number]
        change = ChallengeChange(was.copy(), now.copy(), was_played(after, now))
        contradicts = now.state == ("forfeited" if change.played else "fulfilled")
        if not change.stands or (contradicts and change.played != was_played(before, was)):
            yield change


def was_played(book: Book, challenge: Challenge) -> bool:
    """Return whether a game of the two stands in the book that was posted in time (§9)."""
    columns = book.columns
    for index in book.games_of(challenge.opponent):
        line = GameLine(columns.left(index), Result.WIN, columns.right(index))
        if not book.is_void(index) and challenges.fulfils(challenge, columns.pool[index], [line], columns.at[index]):
            return True
    return False
