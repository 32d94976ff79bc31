"""Writing cells: what a cell holds decides how it is written; names are text whatever they look like."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rating_core.times import to_datetime
from rating_core.workbook.layout import serial

if TYPE_CHECKING:
    from xlsxwriter.format import Format
    from xlsxwriter.worksheet import Worksheet


@dataclass(frozen=True, slots=True)
class Formula:
    """A live cell: the formula without its =, and what it comes to now, for programs that do not compute."""

    text: str
    value: float | str


@dataclass(frozen=True, slots=True)
class Moment:
    """An instant (ms)."""

    ms: int
    day: bool = False
    """Only the day is shown."""


FIRST_SURE_SERIAL = 61
"""Spreadsheets have no days before 1900 and a wrong one in its February: such dates are written as text."""

Value = str | int | float | Formula | Moment | None


@dataclass(frozen=True, slots=True)
class Place:
    """A cell of a sheet; row and column count from 0."""

    sheet: str
    row: int
    column: str

    def seen_from(self, sheet: str) -> str:
        """Return how a formula on a sheet names this cell."""
        cell = f"{self.column}{self.row + 1}"
        return cell if sheet == self.sheet else f"'{self.sheet}'!{cell}"


def column_name(place: int) -> str:
    """Return the letters of a column (0 → A)."""
    name = ""
    place += 1
    while place:
        place, rest = divmod(place - 1, 26)
        name = chr(ord("A") + rest) + name
    return name


class Styles:
    """The number formats of a workbook; the figures themselves are never rounded."""

    def __init__(self, workbook: Any) -> None:
        def style(text: str, **more: Any) -> "Format":
            found: Format = workbook.add_format({"num_format": text, **more})
            return found

        self.title = style("General", bold=True, font_size=14)
        self.head = style("General", bold=True, bottom=1, bg_color="#F2F2F2")
        self.note = style("General", font_color="#808080")
        self.rating = style("0.0")
        self.whole = style("0")
        self.change = style("+0.0;-0.0;0.0")
        self.rank_change = style("+0;-0;0")
        self.rate = style("0.0%")
        self.expected = style("0.0000")
        self.day = style("yyyy-mm-dd")
        self.moment = style("yyyy-mm-dd hh:mm:ss")
        self.bound = style('0;"最低"')
        self.entry = style("0.0", bg_color="#FFF8DC", border=1)
        self.word = style("@", bg_color="#FFF8DC", border=1)


def put(sheet: "Worksheet", row: int, column: int, value: Value, styles: Styles, style: "Format | None" = None) -> None:
    """Write one cell; None leaves it empty."""
    if isinstance(value, str):
        sheet.write_string(row, column, value, style)
    elif isinstance(value, Formula):
        sheet.write_formula(row, column, f"={value.text}", style, value.value)
    elif isinstance(value, Moment) and serial(value.ms) < FIRST_SURE_SERIAL:
        sheet.write_string(row, column, to_datetime(value.ms).strftime("%Y-%m-%d %H:%M:%S")[: 10 if value.day else 19])
    elif isinstance(value, Moment):
        sheet.write_number(row, column, serial(value.ms), styles.day if value.day else styles.moment)
    elif value is not None:
        sheet.write_number(row, column, value, style)


def head(sheet: "Worksheet", row: int, titles: Iterable[str], styles: Styles) -> None:
    """Write a line of headers."""
    for column, title in enumerate(titles):
        sheet.write_string(row, column, title, styles.head)
