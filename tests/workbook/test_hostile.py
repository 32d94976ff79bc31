"""Workbooks that mean no good: refused with a reason, or read, within 500 MB and 30 seconds."""

import io
import json
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter

from rating_core.importing import FileProblem
from rating_core.importing.detect import read_file
from rating_core.importing.files import GameFile
from rating_core.shell.games_wording import file_problem
from rating_core.workbook import child, reading

ROOT = Path(__file__).resolve().parents[2]
MEMORY = 500 * 1024 * 1024
SECONDS = 30
HEAD = ["日期", "棋手A", "结果", "棋手B"]
ROW = ["2026-03-02", "张三", "胜", "李四"]


def plain(fill: Callable[[Any, Any], object] | None = None) -> bytes:
    stream = io.BytesIO()
    book = xlsxwriter.Workbook(stream)
    sheet = book.add_worksheet("记录")
    sheet.write_row(0, 0, HEAD)
    sheet.write_row(1, 0, ROW)
    if fill is not None:
        fill(sheet, book)
    book.close()
    return stream.getvalue()


def with_parts(data: bytes, parts: dict[str, bytes], *, without: tuple[str, ...] = ()) -> bytes:
    """Return a workbook with some parts replaced or added."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as target:
        for item in source.infolist():
            if item.filename not in parts and item.filename not in without:
                target.writestr(item, source.read(item))
        for name, content in parts.items():
            target.writestr(name, content)
    return out.getvalue()


SHEET = "xl/worksheets/sheet1.xml"
OPEN = b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
CLOSE = b"</sheetData></worksheet>"


def rows_of(count: int) -> bytes:
    """Return a sheet of so many short rows."""
    return OPEN + b"".join(b'<row r="%d"><c r="A%d"><v>1</v></c></row>' % (n, n) for n in range(1, count + 1)) + CLOSE


READ = """
import json, re, resource, sys, time
begin = time.monotonic()
from rating_core.importing import FileProblem
from rating_core.importing.detect import read_file
from rating_core.shell.games_wording import file_problem
try:
    found = {"games": len(read_file(sys.stdin.buffer.read()).games)}
except FileProblem as problem:
    found = {"code": problem.code, "said": file_problem(problem)}
own = int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])
child = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
print(json.dumps(found | {"memory": 1024 * (own + child), "seconds": time.monotonic() - begin}))
"""


def read(data: bytes) -> dict[str, Any]:
    """Read a file in a process of its own; what that and its reader need must be within bounds."""
    done = subprocess.run([sys.executable, "-c", READ], input=data, capture_output=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["seconds"] < SECONDS and found["memory"] < MEMORY, found
    return found


def code_of(data: bytes) -> str:
    """Return why a file is refused; it must be said in a sentence, in time and in bounds."""
    found = read(data)
    assert len(found["said"]) > 10, found
    return str(found["code"])


def code_here(data: bytes) -> str:
    """Return why a file is refused, read in this process."""
    with pytest.raises(FileProblem) as caught:
        read_file(data)
    assert len(file_problem(caught.value)) > 10
    return caught.value.code


def test_a_workbook_in_order_is_read() -> None:
    found = read_file(plain())
    assert isinstance(found, GameFile) and len(found.games) == 1


@pytest.mark.parametrize("cell", ["XFD1048576", "XFD2", "A1048576", "IW5"])
def test_one_cell_far_away(cell: str) -> None:
    code = code_of(plain(lambda sheet, _: sheet.write(cell, "x")))
    assert code in ("too_many_rows", "too_wide")


def test_formats_without_content_far_away_do_no_harm() -> None:
    def fill(sheet: Any, book: Any) -> None:
        sheet.set_row(1_048_575, 20)
        sheet.set_column("XFD:XFD", 30)
        sheet.write_blank("XFD1048576", None, book.add_format({"bold": True}))

    found = read_file(plain(fill))
    assert isinstance(found, GameFile) and len(found.games) == 1


def test_a_million_rows() -> None:
    assert code_of(with_parts(plain(), {SHEET: rows_of(1_000_000)})) == "too_many_rows"


def test_as_many_rows_as_are_let_through_are_read() -> None:
    cells = "".join(
        f'<row r="{n}">' + "".join(
            f'<c r="{"ABCD"[i]}{n}" t="inlineStr"><is><t>{text}</t></is></c>'
            for i, text in enumerate(HEAD if n == 1 else ROW)
        ) + "</row>"
        for n in range(1, 100_001)
    )  # fmt: skip
    assert read(with_parts(plain(), {SHEET: OPEN + cells.encode() + CLOSE}))["games"] == 99_999


def test_zip_bombs() -> None:
    zeros = bytes(600 * 1024 * 1024)
    assert code_of(with_parts(plain(), {"xl/media/a.bin": zeros})) == "bomb"
    few = bytes(50 * 1024 * 1024)
    assert code_of(with_parts(plain(), {"xl/sharedStrings.xml": few})) == "bomb"
    parts = {f"xl/media/{n}.bin": b"" for n in range(3000)}
    assert code_of(with_parts(plain(), parts)) == "too_many_parts"


def test_a_zip_that_lies_about_its_sizes() -> None:
    """The directory says 100 bytes, the part unpacks to much more."""
    data = bytearray(with_parts(plain(), {SHEET: rows_of(200_000)}))
    with zipfile.ZipFile(io.BytesIO(bytes(data))) as archive:
        size = archive.getinfo(SHEET).file_size
    lie = size.to_bytes(4, "little")
    assert data.count(lie) >= 2
    assert code_of(bytes(data).replace(lie, (100).to_bytes(4, "little"))) in ("damaged", "too_many_rows", "too_heavy")


def test_what_the_checks_miss_the_limits_of_the_process_catch(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A child without our looking first: the memory limit ends it, and the parent says so."""
    text = Path(child.__file__).read_text("utf-8").replace("    check_zip(data)\n", "")
    careless = tmp_path / "child.py"
    careless.write_text(text, "utf-8")
    monkeypatch.setattr(reading, "_CHILD", careless)
    assert code_here(plain(lambda sheet, _: sheet.write("XFD1048576", "x"))) == "too_heavy"


def test_a_reader_that_does_not_end_is_ended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    endless = tmp_path / "child.py"
    endless.write_text("while True: pass", "utf-8")
    monkeypatch.setattr(reading, "_CHILD", endless)
    monkeypatch.setattr(reading, "SECONDS", 0.5)
    assert code_here(plain()) == "too_slow"


def test_macros_passwords_and_other_formats() -> None:
    assert code_of(with_parts(plain(), {"xl/vbaProject.bin": b"x"})) == "macros"
    assert code_of(with_parts(plain(), {}, without=("xl/workbook.xml",))) == "not_xlsx"
    assert code_of(b"\xd0\xcf\x11\xe0" + bytes(600)) == "old_workbook"
    assert code_of(b"PK\x03\x04" + bytes(600)) == "damaged"
    assert code_of(plain()[:-300]) == "damaged"
    assert code_of(b"PK" + bytes(reading.MAX_BYTES)) == "too_big"
    with zipfile.ZipFile(io.BytesIO(plain())) as archive:
        workbook = archive.read("xl/workbook.xml").replace(b"<workbookPr ", b'<workbookPr date1904="1" ')
    assert code_of(with_parts(plain(), {"xl/workbook.xml": workbook})) == "old_dates"


def test_entities_are_not_expanded() -> None:
    laughs = b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "ha">' + b"".join(
        b'<!ENTITY %c "%s">' % (98 + n, b"&%c;" % (97 + n) * 10) for n in range(8)
    )
    sheet = laughs + b"]>" + OPEN + b'<row r="1"><c r="A1" t="str"><v>&i;</v></c></row>' + CLOSE
    assert code_of(with_parts(plain(), {SHEET: sheet})) in ("damaged", "no_header")


@pytest.mark.parametrize("area", ["A1:XFD1048576", "A2:A1048576"])
def test_merged_without_end(area: str) -> None:
    with zipfile.ZipFile(io.BytesIO(plain())) as archive:
        sheet = archive.read(SHEET).replace(
            b"</sheetData>", b'</sheetData><mergeCells count="1"><mergeCell ref="%s"/></mergeCells>' % area.encode()
        )
    data = with_parts(plain(), {SHEET: sheet})
    if area.startswith("A1"):
        assert code_of(data) == "no_header", "one cell over everything leaves no headers"
    else:
        found = read_file(data)
        assert isinstance(found, GameFile) and len(found.games) == 1


def test_thousands_of_merged_cells() -> None:
    with zipfile.ZipFile(io.BytesIO(plain())) as archive:
        cells = b"".join(b'<mergeCell ref="A1:D2"/>' for _ in range(50_000))
        sheet = archive.read(SHEET).replace(b"</sheetData>", b"</sheetData><mergeCells>" + cells + b"</mergeCells>")
    assert code_of(with_parts(plain(), {SHEET: sheet})) == "too_many_merged"


def test_errors_and_odd_cells_are_text() -> None:
    def fill(sheet: Any, book: Any) -> None:
        sheet.write_row(2, 0, ["2026-03-02", "张三", "胜", "x" * 3000])
        sheet.write_formula(3, 1, "=1/0", None, "#DIV/0!")
        sheet.write_boolean(4, 1, True)

    found = read_file(plain(fill))
    assert isinstance(found, GameFile)
    assert {problem.row for problem in found.problems} == {3, 5} and len(found.games) == 1
