"""From the bytes of a file to named columns and numbered rows; nothing is interpreted yet."""

import csv
import unicodedata
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from io import StringIO
from typing import Any

from rating_core.names import clean_text

MAX_BYTES = 5_000_000
MAX_ROWS = 10_000
LONGEST_HEADER = 100
"""Characters of a title that may be a known one; a single letter can stand for eighteen (NFKC)."""
MAX_LINE = 2000
"""Characters of one line."""

COLUMNS: dict[str, tuple[str, ...]] = {
    "name": ("名字", "姓名", "棋手", "选手", "名称", "棋手名字", "选手名字", "棋手姓名", "选手姓名"),
    "qq": ("qq", "qq号", "qq号码", "q号"),
    "placing": ("名次", "最佳名次", "最好名次"),
    "rating": ("等级分", "分数", "现分", "实际分", "实际等级分", "当前等级分"),
    "wins": ("胜", "胜局", "胜盘", "胜场"),
    "draws": ("平", "平局", "平盘", "平场", "和"),
    "losses": ("负", "负局", "负盘", "负场"),
    "games": ("盘数", "总盘数", "局数", "总局数"),
    "peak": ("历史最高分", "最高分", "历史最高"),
    "peak_at": ("最高分日期", "历史最高分日期", "最高日期"),
    "state": ("状态",),
    "season_games": ("本季盘数", "今年盘数", "本年盘数", "本赛季盘数", "本期盘数"),
    "as_of": ("日期", "截至", "截至日期"),
    "pool": ("榜", "项目", "榜名"),
    "ip": ("ip", "已验ip", "ip核验", "核验"),
}
"""Column → the headers by which it is known; the first is the one that messages recommend."""
IGNORED = frozenset(("序号", "编号", "排名", "涨跌", "排名涨跌", "分数涨跌", "胜率", "显示分", "备注", "说明"))
DELIMITERS = ",\t;，；|"
_KEYS = {alias: key for key, aliases in COLUMNS.items() for alias in aliases}


class FileProblem(Exception):
    """The file as a whole cannot be read. `code` names the reason, `facts` fill the sentence."""

    def __init__(self, code: str, **facts: Any) -> None:
        super().__init__(code)
        self.code = code
        self.facts = facts


@dataclass(frozen=True, slots=True)
class Table:
    """A file's rows. Rows are numbered as a spreadsheet numbers them: the first line of the file is row 1."""

    encoding: str
    delimiter: str
    columns: dict[str, int]
    """Column → its position."""
    titles: dict[str, str]
    """Column → its header as the file has it."""
    width: int
    rows: tuple[tuple[int, tuple[str, ...]], ...]


def read_table(data: bytes) -> Table:
    """Read a CSV, TSV or semicolon file in UTF-8, GB18030 or UTF-16 with a mark. Raises FileProblem.

    Encoding and delimiter are those under which most of the header is understood.
    """
    if len(data) > MAX_BYTES:
        raise FileProblem("too_big", size=len(data), most=MAX_BYTES)
    if data.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
        raise FileProblem("workbook")
    found = texts(data)
    if not found:
        raise FileProblem("encoding")
    readings = [
        (_understood(text, delimiter), encoding, delimiter, text)
        for encoding, text in found
        for delimiter in DELIMITERS
    ]
    (named, _), encoding, delimiter, text = max(readings, key=lambda reading: reading[0])  # the first of equals
    try:
        return table_of(records(delimiter, text), encoding, delimiter)
    except FileProblem as problem:
        if problem.code == "quotes" and not named:
            raise FileProblem("no_name_column", header=[_first_line(text)]) from None  # it is no table at all
        raise


def texts(data: bytes) -> list[tuple[str, str]]:
    """Return (encoding, text) for each way the bytes can be text."""
    if data.startswith(BOM_UTF8):
        encodings: tuple[str, ...] = ("utf-8-sig",)
    elif data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        encodings = ("utf-16",)
    else:
        encodings = ("utf-8",) if data.isascii() else ("utf-8", "gb18030")
    found = []
    for encoding in encodings:
        with suppress(UnicodeDecodeError):
            found.append((encoding, data.decode(encoding)))
    return found


def _first_line(text: str) -> str:
    """Return the first line that is not blank."""
    return next((line for line in StringIO(text, newline="") if line.strip()), "")[:MAX_LINE]


def _understood(text: str, delimiter: str) -> tuple[bool, int]:
    """Return whether the first line names players, and how many of its columns are known."""
    header = _first_line(text)
    if delimiter not in header and delimiter != DELIMITERS[0]:
        return False, 0  # one column, as the first of them reads it
    keys = [_KEYS.get(plain_header(cell)) for cell in header.replace('"', "").split(delimiter)]
    return "name" in keys, sum(key is not None for key in keys)


def plain_header(title: str) -> str:
    """Return a header as it is compared: narrow, small, without spaces and decoration. Long ones are no headers."""
    plain = clean_text(title)
    if len(plain) > LONGEST_HEADER:
        return plain
    return unicodedata.normalize("NFKC", plain).casefold().replace(" ", "").strip("\n:*")


def table_of(found: Iterable[tuple[int, Sequence[str]]], encoding: str, delimiter: str) -> Table:
    """Return numbered records as a table; the first that is not blank is the header. Raises FileProblem."""
    lines = iter(found)
    header = next((cells for _, cells in lines if any(cell.strip() for cell in cells)), None)
    if header is None:
        raise FileProblem("empty")
    columns, titles = _columns(header)
    rows = []
    for number, cells in lines:
        if not any(clean_text(cell).strip() for cell in cells):
            continue
        rows.append((number, tuple(cells)))
        if len(rows) > MAX_ROWS:
            raise FileProblem("too_many_rows", most=MAX_ROWS)
    if not rows:
        raise FileProblem("no_rows")
    return Table(encoding, delimiter, columns, titles, len(header), tuple(rows))


def records(delimiter: str, text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the file's rows with their numbers. Raises FileProblem."""
    if "\x00" in text:
        raise FileProblem("not_text")
    number = 0
    try:
        for number, cells in enumerate(csv.reader(_lines(text), delimiter=delimiter, strict=True), start=1):
            yield number, cells
    except csv.Error:
        raise FileProblem("quotes", row=number + 1) from None


def _lines(text: str) -> Iterator[str]:
    for number, line in enumerate(StringIO(text, newline=""), start=1):
        if len(line) > MAX_LINE:
            raise FileProblem("long_line", row=number, most=MAX_LINE)
        yield line


def _columns(header: Sequence[str]) -> tuple[dict[str, int], dict[str, str]]:
    """Return where each column stands. Raises FileProblem: an unknown header could be a misspelt one."""
    columns: dict[str, int] = {}
    titles: dict[str, str] = {}
    known = [_KEYS.get(plain_header(title)) for title in header]
    if "name" not in known:
        raise FileProblem("no_name_column", header=header)
    for position, (title, key) in enumerate(zip(header, known, strict=True)):
        plain = plain_header(title)
        if key is None:
            if plain and plain not in IGNORED and not plain.startswith("备注"):
                raise FileProblem("unknown_column", title=title.strip(), place=position + 1, near=_near(plain))
            continue
        if key in columns:
            raise FileProblem("double_column", first=titles[key], second=title.strip())
        columns[key], titles[key] = position, title.strip()
    return columns, titles


def _near(plain: str) -> str | None:
    """Return the known header that an unknown one may have been meant as."""
    from rapidfuzz import fuzz, process  # rarely needed, and many modules

    found = process.extractOne(plain[:20], list(_KEYS), scorer=fuzz.ratio, score_cutoff=60)
    return title_of(_KEYS[found[0]]) if found else None


def title_of(key: str) -> str:
    """Return the header that messages recommend for a column."""
    return COLUMNS[key][0].upper()


def names_players(header: Sequence[str]) -> bool:
    """Return whether a line of headers is that of a roster."""
    return any(_KEYS.get(plain_header(title)) == "name" for title in header)
