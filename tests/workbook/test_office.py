"""LibreOffice computes the workbook anew: it agrees with the book, also after a result was changed in it.

Skipped where LibreOffice is not installed (Debian: libreoffice-calc-nogui); .ci/run installs it.
"""

from math import inf
from pathlib import Path
from typing import Any

import pytest
from python_calamine import CalamineWorkbook

from rating_core.book import Book
from rating_core.directory import Directory
from rating_core.elo import game_changes
from rating_core.importing.detect import read_file
from rating_core.importing.files import GameFile
from rating_core.ledger import Amend
from rating_core.queries import archived, board
from rating_core.rulebook import Pool, RuleSet
from rating_core.workbook.export import export
from rating_core.workbook.layout import BOARD, CALCULATOR, GAMES, SHEETS, SLOT_TITLES
from tests.support import office
from tests.support.books import Books
from tests.support.leagues import PAIRS, large, rich
from tests.support.rows import line, ms

pytestmark = [
    pytest.mark.skipif(office.SOFFICE is None, reason="no LibreOffice here (apt install libreoffice-calc-nogui)"),
    pytest.mark.timeout(300),
]
NOW = ms("2026-11-30 12:00")
POOL = "单跳1v1"
GAMES_SHEET = SHEETS.index(GAMES) + 1
close = pytest.approx


def written(books: Books, path: Path) -> tuple[Book, Path]:
    book = books.book()
    export(book, books.directory, NOW, str(path))
    return book, path


def sheet(path: Path, name: str) -> list[list[Any]]:
    return CalamineWorkbook.from_path(str(path)).get_sheet_by_name(name).to_python(skip_empty_area=False)


def check(path: Path, book: Book, directory: Directory) -> int:
    """Compare every rating, count and rank on the sheets with the book; return how many games were compared."""
    head, *found = sheet(path, GAMES)
    columns = book.columns
    assert len(found) == len(columns)
    compared = 0
    for index, cells in enumerate(found):
        row = dict(zip(head, cells, strict=True))
        if book.is_void(index):
            continue
        for slot, _ in columns.members(index):
            before, change = columns.before[slot][index], columns.change[slot][index]
            figures = [row[f"{SLOT_TITLES[slot]}{what}"] for what in ("旧分", "变化", "新分")]
            assert figures == close([before, change, before + change], abs=1e-9), index
        compared += 1
    boards = [row for row in sheet(path, BOARD) if row[0] in book.state.pools and row[1] != "名次"]
    expected = [(pool, row) for pool in book.state.pools for row in board(book, directory, pool, NOW).rows]
    by_name = {(row[0], row[2]): row for row in boards}
    assert len(by_name) == len(expected)
    for pool, ours in expected:
        _, rank, _, shown, rating, games, wins, draws, losses, *_ = by_name[pool, ours.name]
        assert (rank, games, wins, draws, losses) == (ours.rank, ours.games, ours.wins, ours.draws, ours.losses), ours
        assert (shown, rating) == close((ours.shown, ours.rating), abs=1e-9)
    away = {(row[0], row[1]): row[2] for row in sheet(path, "封存名单")[1:]}
    assert away == {
        (pool, row.name): close(row.rating, abs=1e-9)
        for pool in book.state.pools
        for row in archived(book, directory, pool, NOW)
    }
    return compared


def test_five_thousand_games_agree_to_a_billionth(tmp_path: Path) -> None:
    books = large(5000)
    book, path = written(books, tmp_path / "等级分.xlsx")
    assert check(office.recalculated(path, tmp_path), book, books.directory) == 5000

    changed = office.with_text(path, tmp_path / "改过.xlsx", GAMES_SHEET, "E2", "负")
    books.add(Amend(1, line(1, "L", 2)), about=next(row for row in books.rows.rows if row.kind == "games"))
    corrected = books.book()
    assert corrected.columns.change[0][0] < 0 < book.columns.change[0][0]
    assert corrected.columns.flags == book.columns.flags, "which games count is a constant column"
    assert check(office.recalculated(changed, tmp_path), corrected, books.directory) == 5000
    moved = [abs(a - b) for a, b in zip(book.columns.before[0], corrected.columns.before[0], strict=True)]
    assert max(moved) > 1, "the change reached far"


def test_pairs_and_everything_else_agree(tmp_path: Path) -> None:
    books = rich()
    for row in large(300, 8, pool=PAIRS).rows.rows:
        entry = row.entry()
        if row.kind == "games":
            books.rows.play([line(g.left, g.result.value, g.right) for g in entry.lines], pool=PAIRS)
    book, path = written(books, tmp_path / "b.xlsx")
    assert check(office.recalculated(path, tmp_path), book, books.directory) > 300


@pytest.mark.parametrize(
    "rules",
    [
        RuleSet(k_bands=((-inf, 40), (1200.0, 30), (1600.0, 20)), draw_score=0.3),
        RuleSet(first_move_bonus=-65.0),
        RuleSet(expectancy="normal"),
        RuleSet(expectancy="fide_table", first_move_bonus=-65.0),
    ],
    ids=["bands", "first move", "normal", "table"],
)
def test_every_option_of_a_pool_has_its_formula(tmp_path: Path, rules: RuleSet) -> None:
    books = Books()
    for number in range(1, 7):
        books.join(f"棋手{number}", rating=1100.0 + 160 * number)
    for left in range(1, 7):
        for right in range(1, 7):
            if left != right:
                books.rows.play([line(left, "WDL"[(left + 2 * right) % 3], right)], pool=POOL, event=1)
    books.directory.events[1] = "月赛"
    book = Book.of({POOL: Pool(POOL, 1, rules)})
    book.advance(books.rows.rows)
    export(book, books.directory, NOW, str(tmp_path / "b.xlsx"))
    assert check(office.recalculated(tmp_path / "b.xlsx", tmp_path), book, books.directory) == 30


def test_the_calculator_computes(tmp_path: Path) -> None:
    _, path = written(rich(), tmp_path / "b.xlsx")
    changed = office.with_text(path, tmp_path / "c.xlsx", SHEETS.index(CALCULATOR) + 1, "B4", "平")
    cells = sheet(office.recalculated(changed, tmp_path), CALCULATOR)
    _, _, gained, lost = game_changes([2000.0], [2200.0], "D", 1.0, RuleSet())
    assert cells[10][1:3] == close([gained[0], lost[0]], abs=1e-9)
    assert cells[11][1:3] == close([2000 + gained[0], 2200 + lost[0]], abs=1e-9)
    assert cells[9][1:3] == [32, 24]


def test_what_libreoffice_saved_can_be_imported(tmp_path: Path) -> None:
    books = rich()
    book, path = written(books, tmp_path / "b.xlsx")
    found = read_file(office.recalculated(path, tmp_path).read_bytes())
    assert isinstance(found, GameFile) and found.form == "workbook"
    assert found.problems == () and len(found.games) == len(book.columns)
    assert [game.at for game in found.games] == list(book.columns.at)
