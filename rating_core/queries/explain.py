"""Why a game changed ratings as it did, from the ledger (§10): every number, and whether and why it counted."""

from dataclasses import dataclass

from rating_core.book import Book
from rating_core.directory import Directory
from rating_core.ledger import Amend, Void
from rating_core.queries.farming import Meter, meter_before
from rating_core.queries.formula import Calculation, Term, calculate
from rating_core.queries.games import event_name, names_of
from rating_core.report_text import Result
from rating_core.rules.display import Display
from rating_core.state import Side


@dataclass(frozen=True, slots=True)
class Correction:
    """A correction in force of the game or of its report; `seq` is its own ledger row (账)."""

    seq: int
    void: bool
    line: tuple[tuple[str, ...], Result, tuple[str, ...]] | None = None
    """What the game was amended to."""
    event: str = ""
    weight: float | None = None
    """Weight the report was amended to, with `event` (empty: 约战)."""


@dataclass(frozen=True, slots=True)
class ExplainedPlayer:
    """A player of an explained game."""

    player: int
    name: str
    term: Term
    """The formula's numbers; in a game that does not count, what it would have given."""
    missing: int
    """Counted games missing to N after this game (L12); 0 when none."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """局`number` as the book has it now. `at` (ms) is when it was posted."""

    number: int
    report: int
    seq: int
    pool: str
    at: int
    left: tuple[str, ...]
    right: tuple[str, ...]
    result: Result
    event: str
    weight: float
    void: bool
    counted: bool
    dr: float
    """The left side's rating less the right side's, before the game; 0 for a void game."""
    ours: tuple[ExplainedPlayer, ...]
    """The left side; empty for a void game, which has no figures."""
    theirs: tuple[ExplainedPlayer, ...]
    meter: Meter | None
    """What the game found of L6; None for void games and in events, which always count."""
    needed: int
    """N of the day of the game (L12)."""
    corrections: tuple[Correction, ...]
    """In force, in the ledger's order."""
    left_players: Side
    """Numbers of the players named in `left`, in the same order."""
    right_players: Side


def _games_after(book: Book, index: int, player: int) -> int:
    """Return how many counted games a player had in the pool once the game at `index` was entered."""
    pool = book.columns.pool[index]
    later = sum(1 for g in book.games_of(player) if g > index and book.columns.pool[g] == pool and book.counted(g))
    return book.state.look(pool, player).games - later


def _corrections(book: Book, directory: Directory, index: int) -> tuple[Correction, ...]:
    found = []
    for seq, entry in book.corrections_of(book.columns.seq[index]):
        if entry.game not in (None, book.columns.number[index]):
            continue
        if isinstance(entry, Void):
            found.append(Correction(seq, True))
        elif isinstance(entry, Amend) and entry.line is not None:
            line = names_of(directory, entry.line.left), entry.line.result, names_of(directory, entry.line.right)
            found.append(Correction(seq, False, line))
        else:
            weight = book.columns.weight[index] if entry.weight is None else entry.weight
            found.append(Correction(seq, False, None, event_name(directory, entry.event or 0), weight))
    return tuple(found)


def explain(book: Book, directory: Directory, number: int) -> Explanation | None:
    """Explain 局`number` from the ledger, corrections included; None when there is no such game."""
    index = book.find_game(number)
    if index is None:
        return None
    columns = book.columns
    left, right, pool, at = columns.left(index), columns.right(index), columns.pool[index], columns.at[index]
    result, void, display = Result(chr(columns.result[index])), book.is_void(index), Display.on(columns.at[index])
    before = {player: columns.before[slot][index] for slot, player in columns.members(index)}
    worked: Calculation | None = None
    if not void:
        rules = book.state.pools[pool].pool.rules
        worked = calculate([before[p] for p in left], result, [before[p] for p in right], columns.weight[index], rules)

    def side(players: tuple[int, ...], terms: tuple[Term, ...]) -> tuple[ExplainedPlayer, ...]:
        return tuple(
            ExplainedPlayer(player, directory.name_of(player), term, display.missing(_games_after(book, index, player)))
            for player, term in zip(players, terms, strict=True)
        )

    return Explanation(
        number, columns.report[index], columns.seq[index], pool, at,
        names_of(directory, left), names_of(directory, right), result,
        event_name(directory, columns.event[index]), columns.weight[index], void, book.counted(index),
        worked.dr if worked else 0.0,
        side(left, worked.left) if worked else (), side(right, worked.right) if worked else (),
        None if void or columns.event[index] else meter_before(book, index),
        display.needed, _corrections(book, directory, index), left, right,
    )  # fmt: skip
