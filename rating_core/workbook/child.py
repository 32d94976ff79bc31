"""Reads a workbook in a process of its own, within limits. Run as a script: the file on stdin, JSON on stdout.

Nobody knows where the file comes from: its zip directory and the extent of its sheets are looked at before anything
is unpacked into memory, and what slips through that ends this process, not the bot. It imports nothing of ours.
"""

import io
import json
import re
import sys
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import date, datetime, timedelta
from typing import Any

MEMORY_BYTES = 450 * 1024 * 1024
CPU_SECONDS = 25
MAX_ENTRIES = 2_000
MAX_UNPACKED = 400 * 1024 * 1024
MAX_RATIO = 200
"""Unpacked to packed bytes of a part; sheets of our own have about 15."""
SMALL_PART = 5 * 1024 * 1024
"""A part that small may be packed as tightly as it likes."""
MAX_ROWS, MAX_COLUMNS = 110_000, 256
MAX_CELLS = 6_000_000
MAX_TEXT = 500
"""Characters kept of a cell."""
MAX_MERGED = 20_000
CHUNK = 1024 * 1024

_CELL = re.compile(rb'<c [^>]{0,200}?\br="([A-Z]{1,3})([0-9]{1,7})"[^>]{0,200}(?<!/)>')
"""A cell that holds something; those that only have a format close themselves."""
_OLD_DATES = re.compile(rb'date1904="(?:1|true)"')


class Refused(Exception):
    """Why the file is not read."""

    def __init__(self, code: str, **facts: Any) -> None:
        super().__init__(code)
        self.answer = {"refused": code, "facts": facts}


def limit() -> None:
    """Cap this process's memory and time, where the system can."""
    try:
        import resource
    except ImportError:  # Windows: the checks below and the parent's patience have to do
        return
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def main() -> None:
    """Read stdin, write the answer."""
    limit()
    try:
        answer = read(sys.stdin.buffer.read(), sys.argv[1:])
    except Refused as refused:
        answer = refused.answer
    except MemoryError:
        answer = {"refused": "too_heavy", "facts": {}}
    sys.stdout.buffer.write(json.dumps(answer, ensure_ascii=False).encode("utf-8", "replace"))


def read(data: bytes, wanted: Iterable[str]) -> dict[str, Any]:
    """Return {"sheets": {name: rows}}: the wanted sheets if the first of them is there, else the first sheet."""
    from python_calamine import CalamineError, CalamineWorkbook, PasswordError

    check_zip(data)
    try:
        book = CalamineWorkbook.from_filelike(io.BytesIO(data))
        wanted = list(wanted)
        ours = wanted[:1] and wanted[0] in book.sheet_names
        names = [name for name in wanted if name in book.sheet_names] if ours else book.sheet_names[:1]
        if not names:
            raise Refused("no_sheet")
        return {"sheets": {name: rows_of(book.get_sheet_by_name(name)) for name in names}}
    except PasswordError:
        raise Refused("password") from None
    except CalamineError as error:
        raise Refused("damaged", why=str(error)[:100]) from None


# --- before anything is unpacked --------------------------------------------------------------------------


def check_zip(data: bytes) -> None:
    """Look at a workbook from outside. Raises Refused."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            parts = archive.infolist()
            _check_directory(parts)
            for part in parts:
                if re.fullmatch(r"xl/worksheets/[^/]+\.xml", part.filename):
                    _check_extent(archive, part)
            if _OLD_DATES.search(archive.read("xl/workbook.xml")[:CHUNK]):
                raise Refused("old_dates")
    except (zipfile.BadZipFile, NotImplementedError, KeyError, EOFError, OSError, ValueError, RuntimeError) as error:
        raise Refused("damaged", why=str(error)[:100]) from None


def _check_directory(parts: list[zipfile.ZipInfo]) -> None:
    names = {part.filename for part in parts}
    if len(parts) > MAX_ENTRIES:
        raise Refused("too_many_parts", count=len(parts))
    if any(part.flag_bits & 1 for part in parts):
        raise Refused("password")
    if any(name.endswith("vbaProject.bin") for name in names):
        raise Refused("macros")
    if "xl/workbook.xml" not in names:
        raise Refused("not_xlsx")
    unpacked = sum(part.file_size for part in parts)
    if unpacked > MAX_UNPACKED:
        raise Refused("bomb", size=unpacked // 1_000_000, most=MAX_UNPACKED // 1_000_000)
    for part in parts:
        if part.file_size > SMALL_PART and part.file_size > MAX_RATIO * max(1, part.compress_size):
            raise Refused("bomb", size=part.file_size // 1_000_000, most=SMALL_PART // 1_000_000)


def _check_extent(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> None:
    """Find the last row and column that hold anything, without keeping the sheet."""
    last_row, last_column, last = 0, 0, ""
    for column, row in _cells(archive, part):
        if row > last_row or column > last_column:
            last = f"{column_name(column)}{row}"
        last_row, last_column = max(last_row, row), max(last_column, column)
        if last_row > MAX_ROWS:
            raise Refused("too_many_rows", most=MAX_ROWS, cell=last)
        if last_column > MAX_COLUMNS:
            raise Refused("too_wide", most=MAX_COLUMNS, cell=last)
    if last_row * last_column > MAX_CELLS:
        raise Refused("too_large", rows=last_row, columns=last_column)


def _cells(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> Iterator[tuple[int, int]]:
    """Yield (column, row) of a sheet's cells that hold something, from 1."""
    rest = b""
    with archive.open(part) as stream:
        while chunk := stream.read(CHUNK):
            text = rest + chunk
            cut = max(text.rfind(b"<c "), len(text) - 500)
            for found in _CELL.finditer(text, 0, cut):
                yield column_number(found[1]), int(found[2])
            rest = text[cut:]
    for found in _CELL.finditer(rest):
        yield column_number(found[1]), int(found[2])


def column_number(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + letter - 64
    return number


def column_name(number: int) -> str:
    name = ""
    while number:
        number, rest = divmod(number - 1, 26)
        name = chr(65 + rest) + name
    return name


# --- cells ------------------------------------------------------------------------------------------------


def rows_of(sheet: Any) -> list[list[Any]]:
    """Return a sheet's cells from A1 on; what is merged stands in every cell of its range."""
    rows = [[value_of(cell) for cell in row] for row in sheet.to_python(skip_empty_area=False)]
    merged = sheet.merged_cell_ranges or []
    if len(merged) > MAX_MERGED:
        raise Refused("too_many_merged", count=len(merged))
    room = MAX_CELLS
    for (top, left), (bottom, right) in merged:
        bottom = min(bottom, len(rows) - 1)
        if top > bottom or left >= len(rows[top]):
            continue
        right = min(right, len(rows[top]) - 1)
        room -= (bottom - top + 1) * (right - left + 1)
        if room < 0:
            raise Refused("too_many_merged", count=len(merged))
        value = rows[top][left]
        for row in range(top, bottom + 1):
            rows[row][left : right + 1] = [value] * (right - left + 1)
    return rows


def value_of(cell: Any) -> Any:
    """Return a cell as JSON: text, a number, a date as text, null for an empty one."""
    if cell is None or cell == "":
        return None
    if isinstance(cell, bool):
        return "TRUE" if cell else "FALSE"
    if isinstance(cell, int | float):
        return cell
    if isinstance(cell, datetime):
        rounded = cell + timedelta(microseconds=500)
        return rounded.isoformat(sep=" ", timespec="milliseconds")
    if isinstance(cell, date):
        return cell.isoformat()
    return str(cell)[:MAX_TEXT]


if __name__ == "__main__":
    with suppress(BrokenPipeError):
        main()
