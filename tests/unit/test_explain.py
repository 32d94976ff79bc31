"""/解释 must be right: its figures give the book's change, and what it says of L6 is what the fold found (§10)."""

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rating_core.book import Book
from rating_core.ledger import Amend, Void
from rating_core.queries import Explanation, explain, meter
from rating_core.report_text import GameLine, Result
from tests.support.books import Books
from tests.support.rows import ms
from tests.unit.test_cases import LEAGUES, enter, load, pool_of

POOL, PAIRS = "单跳1v1", "单跳2v2"


def told(books: Books, number: int, book: Book | None = None) -> Explanation:
    found = explain(books.book() if book is None else book, books.directory, number)
    assert found is not None
    return found


def check_figures(book: Book, game: Explanation) -> None:
    """The numbers an explanation shows, put into (K·c)·(W − We), give the change that the book holds."""
    index = book.find_game(game.number)
    assert index is not None
    assert (game.void, game.counted) == (book.is_void(index), book.counted(index))
    if game.void:
        assert game.ours == game.theirs == ()
        return
    slots = {player: slot for slot, player in book.columns.members(index)}
    for sign, side in ((1, game.ours), (-1, game.theirs)):
        for player in side:
            term, slot = player.term, slots[player.player]
            expected = 1 / (10 ** (-sign * game.dr / 400) + 1)
            assert term.expected == pytest.approx(expected, abs=1e-12)
            assert term.rating == book.columns.before[slot][index]
            change = (term.k * game.weight) * (term.won - term.expected)
            assert term.change == pytest.approx(change, abs=1e-9)
            assert book.columns.change[slot][index] == pytest.approx(change if game.counted else 0.0, abs=1e-9)


# --- one game at a time -----------------------------------------------------------------------------------


def test_every_number_of_a_game() -> None:
    books = Books()
    books.join("甲", rating=2099.99)
    books.join("乙", rating=2400.0)
    event = books.event("皇后杯", 1.2)
    row = books.play("甲 胜 乙", at="2026-11-30 20:15", event=event, weight=1.2)
    game = told(books, 1)
    assert (game.report, game.seq, game.pool, game.at) == (1, row.seq, POOL, ms("2026-11-30 20:15"))
    assert (game.left, game.right, game.result, game.event, game.weight) == (
        ("甲",),
        ("乙",),
        Result.WIN,
        "皇后杯",
        1.2,
    )
    (ours,), (theirs,) = game.ours, game.theirs
    assert (ours.term.k, theirs.term.k, ours.term.won, theirs.term.won) == (32, 16, 1.0, 0.0)
    assert game.dr == pytest.approx(-300.01)
    assert (ours.missing, theirs.missing, game.needed) == (19, 19, 20)
    assert (game.meter, game.corrections) == (None, ())
    check_figures(books.book(), game)


def test_no_such_game() -> None:
    books = Books()
    books.play("甲 胜 乙")
    assert explain(books.book(), books.directory, 2) is None
    assert explain(books.book(), books.directory, 0) is None


def test_a_game_that_l6_kept_from_counting_says_what_was_owed() -> None:
    books = Books()
    books.play("甲 胜胜胜胜胜 乙")
    books.play("甲 胜平负 丙", "乙 平 丙")
    books.play("乙 平 甲")
    first, later = told(books, 5), told(books, 10)
    assert first.meter is not None
    assert (first.meter.net, first.meter.locked, first.meter.owed) == (4, True, ((1, 4), (2, 4)))
    assert (first.counted, first.ours[0].term.rating) == (False, books.book().columns.before[0][4])
    assert later.meter is not None
    assert (later.meter.net, later.meter.owed) == (-4, ((2, 3), (1, 1)))


def test_event_games_of_a_locked_pair_repay_nothing_in_an_explanation() -> None:
    books = Books()
    event = books.event("杯赛", 1.2)
    books.play("甲 胜胜胜胜 乙")
    books.play("甲 负负负负负 乙", event=event, weight=1.2)
    books.play("甲 胜 丙", event=event, weight=1.2)
    books.play("甲 平 乙")
    game = told(books, 11)
    assert game.meter is not None
    assert (game.counted, game.meter.net, game.meter.owed) == (False, 4, ((1, 3), (2, 4)))


def test_missing_games_are_those_after_that_game() -> None:
    books = Books()
    books.play("甲 胜 乙", "甲 平 丙")
    books.play("甲 乙 胜 丙 丁", pool=PAIRS)
    books.play("甲 平 乙")
    assert [told(books, n).ours[0].missing for n in (1, 2, 3, 4)] == [19, 18, 19, 17]
    assert [p.missing for p in told(books, 4).theirs] == [18]


# --- corrections ------------------------------------------------------------------------------------------


def test_a_void_before_a_locked_game_makes_it_count() -> None:
    books = Books()
    row = books.play("甲 胜胜胜胜胜 乙")
    assert told(books, 5).counted is False
    void = books.void(row, 2)
    game = told(books, 5)
    assert game.meter is not None
    assert (game.counted, game.meter.net, game.meter.locked) == (True, 3, False)
    check_figures(books.book(), game)
    assert [(c.seq, c.void) for c in told(books, 2).corrections] == [(void.seq, True)]
    assert (told(books, 2).void, told(books, 2).meter, game.corrections) == (True, None, ())


def test_an_amendment_is_named_and_explained_as_amended() -> None:
    books = Books()
    books.join("甲", "乙", "丙")
    row = books.play("甲 胜平 乙")
    amend = books.amend(row, 1, "甲 负 丙")
    game = told(books, 1)
    assert (game.left, game.result, game.right) == (("甲",), Result.LOSS, ("丙",))
    (correction,) = game.corrections
    assert (correction.seq, correction.void, correction.line) == (amend.seq, False, (("甲",), Result.LOSS, ("丙",)))
    check_figures(books.book(), game)
    assert told(books, 2).corrections == ()
    books.void(amend)
    restored = told(books, 1)
    assert (restored.right, restored.result, restored.corrections) == (("乙",), Result.WIN, ())


def test_a_report_moved_to_an_event_says_so_for_all_its_games() -> None:
    books = Books()
    event = books.event("皇后杯", 2.0)
    row = books.play("甲 胜平 乙")
    books.add(Amend(event=event, weight=2.0), about=row)
    for number in (1, 2):
        game = told(books, number)
        (correction,) = game.corrections
        assert (game.event, game.weight, game.meter) == ("皇后杯", 2.0, None)
        assert (correction.event, correction.weight, correction.line) == ("皇后杯", 2.0, None)
        check_figures(books.book(), game)
    books.add(Amend(event=None, weight=1.0), about=row)
    back = told(books, 1)
    assert (back.event, back.weight, [c.event for c in back.corrections]) == ("", 1.0, ["皇后杯", ""])
    assert back.meter is not None


def test_a_void_report_voids_all_its_games() -> None:
    books = Books()
    row = books.play("甲 胜平 乙")
    void = books.void(row)
    for number in (1, 2):
        game = told(books, number)
        assert (game.void, game.counted, game.ours, [c.seq for c in game.corrections]) == (True, False, (), [void.seq])


# --- cases of an independent implementation ---------------------------------------------------------------


@pytest.mark.parametrize("name", LEAGUES)
def test_explanations_of_the_cases(name: str) -> None:
    case, pool = load(name), pool_of(name)
    rows, ids = enter(case, pool)
    books = Books(rows)
    for player, number in ids.items():
        books.directory.roster.add(player, number)
    book = books.book()
    for number, game in enumerate(case["games"], 1):
        found = told(books, number, book)
        assert found.counted == game["counted"]
        check_figures(book, found)
        if found.counted:
            changes = {p.name: p.term.change for p in (*found.ours, *found.theirs)}
            assert changes == pytest.approx(game["change"], abs=1e-9)


# --- any league, any corrections --------------------------------------------------------------------------


@dataclass(frozen=True)
class Played:
    line: GameLine
    casual: bool
    at: int


History = tuple[str, list[list[Played]], list[tuple[str, int, Played]]]
"""Pool, reports, corrections: void or amend, number of the game, what it becomes."""

DAYS = (ms("2026-12-30"), ms("2026-12-31 23:59"), ms("2027-01-01"), ms("2027-03-01"))


@st.composite
def played(draw: st.DrawFn, size: int) -> Played:
    """A game of few players, so that pairs lock and repay; mostly decided, mostly casual."""
    players = draw(st.permutations(range(1, 2 * size + 3)))
    line = GameLine(
        tuple(players[:size]), draw(st.sampled_from([Result.WIN, Result.WIN, Result.LOSS, Result.DRAW])),
        tuple(players[size : 2 * size]),
    )  # fmt: skip
    return Played(line, draw(st.integers(0, 4)) > 0, draw(st.sampled_from(DAYS)))


@st.composite
def histories(draw: st.DrawFn) -> History:
    """Reports with repeats of a pair, and corrections."""
    size = draw(st.sampled_from([1, 2]))
    reports = []
    for first in draw(st.lists(played(size), min_size=1, max_size=9)):
        count = draw(st.integers(1, 5))
        reports.append([first] * count)
    games = sum(map(len, reports))
    corrections = draw(
        st.lists(
            st.tuples(st.sampled_from(["void", "amend"]), st.integers(1, games), played(size)), max_size=4,
        )
    )  # fmt: skip
    return (POOL if size == 1 else PAIRS), reports, corrections


def league(pool: str) -> tuple[Books, int]:
    books = Books()
    for number in range(1, 7):
        books.join(f"棋手{number}", rating=1950.0 + 50 * number)
    return books, books.event("杯赛", 1.2, pool)


@given(histories())
def test_explanations_equal_the_fold(told_history: History) -> None:
    """After any corrections every explanation equals what a ledger without mistakes would have found at that game."""
    pool, reports, corrections = told_history
    books, event = league(pool)
    owner = []
    for report in reports:
        first = report[0]
        args = {} if first.casual else {"event": event, "weight": 1.2}
        row = books.rows.play([game.line for game in report], at=first.at, pool=pool, **args)  # type: ignore[arg-type]
        owner += [row] * len(report)
    resolved: list[Played | None] = [game for report in reports for game in report]
    for kind, number, other in corrections:
        row, old = owner[number - 1], resolved[number - 1]
        if kind == "void":
            books.add(Void(number), about=row)
            resolved[number - 1] = None
        elif old is not None:
            books.add(Amend(number, other.line), about=row)
            resolved[number - 1] = Played(other.line, old.casual, old.at)
    book = books.book()
    clean, event = league(pool)
    for number, game in enumerate(resolved, 1):
        found = told(books, number, book)
        check_figures(book, found)
        if game is None:
            assert found.void
            continue
        before = clean.book()
        if game.casual:
            assert found.meter == meter(before, pool, game.line.left, game.line.right, game.at)
            assert found.counted == (not found.meter.locked)
        else:
            assert found.meter is None and found.counted
        for player in (*found.ours, *found.theirs):
            assert player.term.rating == pytest.approx(before.state.look(pool, player.player).rating, abs=1e-9)
        clean.rows.play(
            [game.line], at=game.at, pool=pool, event=None if game.casual else event, weight=1.0 if game.casual else 1.2
        )
        after = clean.book()
        for player in (*found.ours, *found.theirs):
            assert player.missing == max(0, 20 - after.state.look(pool, player.player).games)
