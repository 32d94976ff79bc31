"""The workbook as it is written: sheets, columns, cached values, names as text, and formulas every spreadsheet has."""

import io
import re
import zipfile
from typing import Any

import pytest
from python_calamine import CalamineWorkbook

from rating_core.book import Book
from rating_core.directory import Directory
from rating_core.queries import archived, board
from rating_core.workbook.export import Exported, export
from rating_core.workbook.layout import CHANGES, GAMES, SHEETS, from_serial, serial
from tests.support.leagues import PAIRS, large, rich
from tests.support.rows import ms

NOW = ms("2026-11-30 12:00")
POOL = "单跳1v1"
Row = dict[str, Any]


def written(book: Book, directory: Directory) -> tuple[bytes, Exported]:
    stream = io.BytesIO()
    done = export(book, directory, NOW, stream)
    return stream.getvalue(), done


def rows(data: bytes, sheet: str, top: int = 0) -> list[Row]:
    """Return a sheet's rows by their headers."""
    found = CalamineWorkbook.from_filelike(io.BytesIO(data)).get_sheet_by_name(sheet).to_python(skip_empty_area=False)
    return [dict(zip(found[top], row, strict=True)) for row in found[top + 1 :]]


def xml(data: bytes) -> str:
    """Return the sheets as they stand in the file."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return "".join(archive.read(n).decode() for n in archive.namelist() if n.startswith("xl/worksheets/"))


@pytest.fixture(scope="module")
def whole() -> tuple[Book, Directory, bytes]:
    books = rich()
    book = books.book()
    return book, books.directory, written(book, books.directory)[0]


def test_sheets(whole: tuple[Book, Directory, bytes]) -> None:
    assert CalamineWorkbook.from_filelike(io.BytesIO(whole[2])).sheet_names == list(SHEETS)
    done = written(whole[0], whole[1])[1]
    assert (done.players, done.games, done.changes) == (8, len(whole[0].columns), 12)


def test_a_row_a_game_in_the_ledger_s_order(whole: tuple[Book, Directory, bytes]) -> None:
    book, directory, data = whole
    found = rows(data, GAMES)
    columns = book.columns
    assert [row["局"] for row in found] == list(columns.number)
    slots = ("左", "左伴", "右", "右伴")
    for index, row in enumerate(found):
        names = [row[title] for title in ("左方", "左方同伴", "右方", "右方同伴")]
        members = dict(columns.members(index))
        assert names == [directory.name_of(members[slot]) if slot in members else "" for slot in range(4)]
        assert row["结果"] == {"W": "胜", "D": "平", "L": "负"}[chr(columns.result[index])]
        why = "作废" if book.is_void(index) else "是" if book.counted(index) else "不计(L6)"
        assert (row["计分"], row["榜"], row["系数"]) == (why, columns.pool[index], columns.weight[index])
        for slot in members:
            figures = [row[f"{slots[slot]}{what}"] for what in ("旧分", "变化", "新分")]
            if book.is_void(index):
                assert figures == ["", "", ""]
                continue
            before, change = columns.before[slot][index], columns.change[slot][index]
            assert figures == pytest.approx([before, change, before + change], abs=1e-9)
    assert {row["计分"] for row in found} == {"是", "不计(L6)", "作废"}
    assert {row["赛事"] for row in found} == {"", "皇后杯"}


def test_the_board_is_the_board(whole: tuple[Book, Directory, bytes]) -> None:
    book, directory, data = whole
    top = 0
    for pool in (POOL, PAIRS):
        expected = board(book, directory, pool, NOW)
        sheet = CalamineWorkbook.from_filelike(io.BytesIO(data)).get_sheet_by_name("榜单").to_python()
        assert sheet[top][0].startswith(f"{pool} 等级分排行榜 2026-11-30") and "表格主编：挑战者" in sheet[top][0]
        found = rows(data, "榜单", top + 1)[: len(expected.rows)]
        for row, ours in zip(found, expected.rows, strict=True):
            assert (row["名次"], row["棋手"], row["盘数"], row["胜"], row["平"], row["负"]) == (
                ours.rank, ours.name, ours.games, ours.wins, ours.draws, ours.losses,
            )  # fmt: skip
            assert (row["等级分"], row["实际分"]) == pytest.approx((ours.shown, ours.rating), abs=1e-9)
            assert row["历史最高分"] == ("" if ours.peak is None else pytest.approx(ours.peak, abs=1e-9))
        top += len(expected.rows) + 3
    away = [row for pool in (POOL, PAIRS) for row in archived(book, directory, pool, NOW)]
    assert [(row["棋手"], row["原因"]) for row in rows(data, "封存名单")] == [
        (row.name, {"few_games": "结算", "leave": "请假", "opening": "搬来时已封存"}[row.reason]) for row in away
    ]
    assert {row.reason for row in away} == {"few_games", "leave"}


def test_what_is_no_game_stands_in_its_place(whole: tuple[Book, Directory, bytes]) -> None:
    kinds = [row["类别"] for row in rows(whole[2], CHANGES)]
    assert kinds == "期初 期初 赛事新建 调分 约战扣分 请假 赛事新建 赛事结束 结算 结算 结算 结算".split()
    forfeit = rows(whole[2], CHANGES)[4]
    assert (forfeit["棋手"], forfeit["加减"], forfeit["对方"]) == ("王五", -50.0, "张三")
    assert 100.0 not in [row["加减"] for row in rows(whole[2], CHANGES)], "an adjustment that was undone"


def test_names_are_text_whatever_they_look_like(whole: tuple[Book, Directory, bytes]) -> None:
    text = xml(whole[2])
    assert "<t>=cmd|calc!A1</t>" in text and "<t>&lt;b&gt;&amp;甲&lt;/b&gt;</t>" in text
    assert not re.search(r"<f>[^<]*cmd", text)
    assert any(row["左方"] == "=cmd|calc!A1" for row in rows(whole[2], GAMES))


def test_every_formula_has_its_value_and_is_one_that_all_spreadsheets_have(
    whole: tuple[Book, Directory, bytes],
) -> None:
    cells = re.findall(r"<c [^>]*><f>(.*?)</f><v>(.*?)</v></c>", xml(whole[2]))
    assert len(cells) == xml(whole[2]).count("<f>") > 150
    assert all(value for _, value in cells)
    used = {name for formula, _ in cells for name in re.findall(r"([A-Z][A-Z.]+)\(", formula)}
    assert used == {"IF", "MAX", "COUNTIFS", "SUMPRODUCT", "LOOKUP"}
    assert "_xlfn" not in xml(whole[2])


def test_an_old_rating_is_the_cell_of_the_last_new_one() -> None:
    """Direct references: 战绩 may grow without a lookup growing with it."""
    books = large(400, players=12)
    text = xml(written(books.book(), books.directory)[0])
    game_rows = re.findall(r"<row r=\"\d+\".*?</row>", text.split("<sheetData>")[1])[1:]
    assert len(game_rows) == 400
    assert all("LOOKUP" not in row and ":" not in "".join(re.findall(r"<f>(.*?)</f>", row)) for row in game_rows)
    assert max(map(len, game_rows)) < 2500


@pytest.mark.parametrize("text", ["2026-03-02 20:00:07", "1999-12-31 23:59:59", "2026-01-01 00:00:00"])
def test_instants_survive(text: str) -> None:
    assert from_serial(serial(ms(text))) == ms(text)
    assert from_serial(serial(ms(text) + 123)) == ms(text) + 123


def test_an_empty_book_can_be_written() -> None:
    data, done = written(Book(), Directory())
    assert (done.players, done.games, done.changes) == (0, 0, 0)
    assert rows(data, GAMES) == [] and rows(data, "计算器")
