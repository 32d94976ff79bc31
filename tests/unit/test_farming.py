"""L6, 约战<2>, rulebook §6: when a pair's casual games stop counting, and what makes them count again."""

import pytest

from rating_core.book import Book
from rating_core.ledger import EventOpened
from rating_core.report_text import GameLine
from rating_core.rules import farming
from rating_core.state import pair_code
from tests.support.rows import Rows, line, ms

POOL = "单跳1v1"
A, B, C, D, E, F = 1, 2, 3, 4, 5, 6
MIRROR = {"W": "L", "L": "W", "D": "D"}


def league(players: int = 6) -> Rows:
    rows = Rows()
    rows.register(*[2000.0] * players)
    return rows


def series(left: int | tuple[int, ...], results: str, right: int | tuple[int, ...]) -> list[GameLine]:
    return [line(left, result, right) for result in results]


def counted(book: Book) -> str:
    """Return the reports in order: 1 for each game that counted, 0 for each that did not."""
    reports: dict[int, str] = {}
    for index in range(len(book.columns)):
        number = book.columns.report[index]
        reports[number] = reports.get(number, "") + ("1" if book.counted(index) else "0")
    return " ".join(reports.values())


def debts(book: Book, left: tuple[int, ...], right: tuple[int, ...], pool: str = POOL, at: str = "2026-03-02"):
    return farming.owed(book.state.pools[pool], pair_code(left, right), int(at[:4]), ms(at))


@pytest.mark.parametrize("mirrored", [False, True])
def test_six_wins_and_a_loss_in_one_report(mirrored: bool) -> None:
    """L's own example: games 1–4 count, 5–7 do not; both owe four."""
    rows = league()
    lines = series(A, "WWWWWWL", B)
    if mirrored:
        lines = [line(B, MIRROR[g.result.value], A) if i % 2 else g for i, g in enumerate(lines)]
    rows.play(lines)
    book = rows.book()
    assert counted(book) == "1111000"
    assert debts(book, (A,), (B,)) == {A: 4, B: 4}
    a, b = (book.state.look(POOL, player) for player in (A, B))
    assert (a.games, a.wins, a.losses, b.games, b.losses) == (4, 4, 0, 4, 4)
    assert book.columns.before[0][6] == a.rating
    assert book.columns.change[0][6] == 0.0


@pytest.mark.parametrize(
    ("results", "expected"),
    [
        ("WLWWWWW", "1111110"), ("DDDDDDDD", "11111111"), ("WWWDWW", "111110"), ("LLLLLL", "111100"),
        ("WWWLLLLLLLL", "11111111110"), ("WLWLWLWLWL", "1111111111"),
    ],
)  # fmt: skip
def test_the_running_net_decides(results: str, expected: str) -> None:
    rows = league()
    rows.play(series(A, results, B))
    assert counted(rows.book()) == expected


def test_both_must_have_played_four_with_others() -> None:
    rows = league()
    rows.play(series(A, "WWWW", B))
    rows.play([*series(A, "WLW", C)])
    rows.play(series(A, "W", B))
    assert debts(rows.book(), (A,), (B,)) == {A: 1, B: 4}
    rows.play(series(A, "D", D))
    rows.play(series(B, "DDD", C))
    rows.play(series(A, "W", B))
    assert debts(rows.book(), (A,), (B,)) == {A: 0, B: 1}
    rows.play(series(B, "D", D))
    rows.play(series(B, "WWWWW", A))
    book = rows.book()
    assert counted(book) == "1111 111 0 1 111 0 1 11110"


def test_the_fourth_game_with_another_opens_the_pair_within_a_mixed_report() -> None:
    rows = league()
    rows.play(series(A, "WWWW", B))
    rows.play([*series(A, "DDDD", C), *series(B, "DDD", D), *series(A, "W", B), *series(B, "D", E), *series(A, "W", B)])
    assert counted(rows.book()) == "1111 1111111011"


def test_games_that_do_not_count_repay_nothing() -> None:
    """A is locked with B and with C; games of A and C that do not count leave A's debt to B as it is."""
    rows = league()
    rows.play(series(A, "WWWW", C))
    rows.play(series(A, "WWWW", B))  # repays what A owes for C
    rows.play(series(A, "WWWW", C))  # C has repaid nothing: none of these counts
    book = rows.book()
    assert counted(book) == "1111 1111 0000"
    assert debts(book, (A,), (C,)) == {A: 0, C: 4}
    assert debts(book, (A,), (B,)) == {A: 4, B: 4}


def test_event_games_always_count_never_move_the_net_and_repay_others() -> None:
    rows = league()
    rows.add(EventOpened(1, 1.2), pool=POOL)
    rows.play(series(A, "WWW", B))
    rows.play(series(A, "WWWW", B), event=1, weight=1.2)  # net stays 3
    rows.play(series(A, "W", B))  # net 4: locked
    rows.play(series(A, "WWWW", B), event=1, weight=1.2)  # count, but repay nothing of this pair
    rows.play(series(A, "W", B))
    assert debts(rows.book(), (A,), (B,)) == {A: 4, B: 4}
    rows.play([*series(A, "WLWL", C), *series(B, "WLWL", D)], event=1, weight=1.2)  # repay
    rows.play(series(A, "W", B))
    book = rows.book()
    assert counted(book) == "111 1111 1 1111 0 11111111 1"
    assert book.state.look(POOL, A).season_event_games == {2026: 12}


def test_a_new_season_starts_unlocked_at_nought() -> None:
    rows = league()
    rows.play(series(A, "WWWWW", B), at=ms("2026-12-31 23:59:59"))
    rows.play(series(A, "WWW", C), at=ms("2026-12-31 23:59:59"))
    rows.play(series(A, "WWWWW", B), at=ms("2027-01-01"))
    rows.play(series(A, "LWWWW", C), at=ms("2027-01-01"))
    assert counted(rows.book()) == "11110 111 11110 11111"


def test_the_posting_time_decides_the_season() -> None:
    """Posted in the old year, confirmed in the new one: the old year's lock still holds; the new one is not moved."""
    rows = league()
    rows.play(series(A, "WWWW", B), at=ms("2026-12-30"))
    rows.play(series(A, "WWW", B), at=ms("2027-01-02"))
    rows.play(series(A, "W", B), at=ms("2026-12-31"), confirmed_at=ms("2027-01-03"))
    rows.play(series(A, "WW", B), at=ms("2027-01-04"))
    assert counted(rows.book()) == "1111 111 0 10"


def test_pools_do_not_mix() -> None:
    rows = league()
    rows.play(series(A, "WWWW", B))
    rows.play(series((A, C), "WWWW", (B, D)), pool="单跳2v2")
    rows.play(series(A, "W", B))
    assert counted(rows.book()) == "1111 1111 0"


def test_in_pairs_each_of_the_four_must_repay() -> None:
    pool = "单跳2v2"
    rows = league()
    rows.play(series((A, B), "WWWWW", (C, D)), pool=pool)
    assert debts(rows.book(), (B, A), (D, C), pool) == {A: 4, B: 4, C: 4, D: 4}
    rows.play(series((A, C), "WLWL", (B, D)), pool=pool)  # another pair of sides, though the same four
    rows.play(series((D, C), "L", (B, A)), pool=pool)
    book = rows.book()
    assert counted(book) == "11110 1111 1"
    assert debts(book, (A, B), (C, D), pool) == {}


def test_in_pairs_one_who_owes_keeps_all_locked() -> None:
    pool = "单跳2v2"
    rows = league()
    rows.play(series((A, B), "WWWW", (C, D)), pool=pool)
    rows.play(series((A, B), "WLWL", (C, E)), pool=pool)
    rows.play(series((A, B), "W", (C, D)), pool=pool)
    book = rows.book()
    assert counted(book) == "1111 1111 0"
    assert debts(book, (A, B), (C, D), pool) == {A: 0, B: 0, C: 0, D: 4}
