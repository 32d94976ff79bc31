"""计算器: two ratings, a result, a weight and the K bands give both new ratings (L1, L5)."""

from typing import TYPE_CHECKING

from rating_core.queries.formula import calculate
from rating_core.report_text import Result
from rating_core.rulebook import CHIEF_EDITOR, EVENT_WEIGHTS, LEAGUE_RULES
from rating_core.workbook import formulas
from rating_core.workbook.cells import Formula, Styles, Value, column_name, put

if TYPE_CHECKING:
    from xlsxwriter.format import Format
    from xlsxwriter.worksheet import Worksheet

    Cells = dict[tuple[int, int], tuple[Value, Format]]

_LEFT, _RIGHT = 2000.0, 2200.0
"""What the sheet shows at first."""
_LOWEST = -100_000.0
"""Stands for "no lower bound" where a lookup wants a number."""
_LABELS = ("左方等级分", "结果（左方）", "右方等级分", "系数", "预期得分 We", "K", "变化", "新等级分")


def write_calculator(sheet: "Worksheet", styles: Styles) -> None:
    """Write the sheet: yellow cells are to be filled in."""
    sheet.set_column(0, 0, 16)
    sheet.set_column(1, 2, 12)
    sheet.set_column(4, 5, 14)
    cells = _inputs(styles) | _results(styles)
    for (row, column), (value, style) in sorted(cells.items(), key=lambda item: item[0]):  # rows one after the other
        put(sheet, row, column, value, styles, style)
    sheet.data_validation(3, 1, 3, 1, {"validate": "list", "source": [result.word for result in Result]})
    sheet.data_validation(5, 1, 5, 1, {"validate": "list", "source": list(EVENT_WEIGHTS.values())})


def _inputs(styles: Styles) -> "Cells":
    cells: Cells = {
        (0, 0): (f"等级分计算器　表格主编：{CHIEF_EDITOR}", styles.title),
        (2, 1): (_LEFT, styles.entry), (3, 1): (Result.WIN.word, styles.word),
        (4, 1): (_RIGHT, styles.entry), (5, 1): (1.0, styles.entry),
        (2, 4): ("等级分从（含）", styles.head), (2, 5): ("K", styles.head),
        (7, 1): ("左方", styles.head), (7, 2): ("右方", styles.head),
        (13, 0): ("新等级分 = 等级分 + (K × 系数) × (得分 − We)，胜1、平0.5、负0（L1）。", styles.note),
        (14, 0): ("We = 1 / (10^(-dr/400) + 1)，dr = 自己的等级分 − 对手的等级分。", styles.note),
    }  # fmt: skip
    for row, label in zip((2, 3, 4, 5, 8, 9, 10, 11), _LABELS, strict=True):
        cells[row, 0] = (label, styles.head)
    for row, (bound, k) in enumerate(LEAGUE_RULES.k_bands, start=3):
        cells[row, 4], cells[row, 5] = (max(bound, _LOWEST), styles.bound), (k, styles.entry)
    return cells


def _results(styles: Styles) -> "Cells":
    """We, K, change and new rating of both sides, live."""
    last = 3 + len(LEAGUE_RULES.k_bands)
    bands = f"$E$4:$E${last},$F$4:$F${last}"
    found = calculate([_LEFT], Result.WIN, [_RIGHT])
    cells: Cells = {}
    for column, (own, other, term) in enumerate((("B3", "B5", found.left[0]), ("B5", "B3", found.right[0])), start=1):
        left, letter = column == 1, column_name(column)
        won = formulas.score("$B$4", LEAGUE_RULES, left=left)
        expected = Formula(formulas.expected(own, other, LEAGUE_RULES, left=left), term.expected)
        cells[8, column] = (expected, styles.expected)
        cells[9, column] = (Formula(f"LOOKUP({own},{bands})", term.k), styles.whole)
        cells[10, column] = (Formula(f"{letter}10*$B$6*({won}-{letter}9)", term.change), styles.change)
        cells[11, column] = (Formula(f"{own}+{letter}11", term.after), styles.rating)
    return cells
