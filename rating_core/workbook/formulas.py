"""The rating formula (L1, L5) as text for spreadsheets: the same operations in the same order as rating_core.elo.

Only functions that every spreadsheet has: no XLOOKUP, no SORT, no names.
"""

from rating_core.elo import fide_steps
from rating_core.report_text import Result
from rating_core.rulebook import FIDE_TABLE_LIMIT, LOGISTIC_SCALE, NORMAL_SIGMA, RuleSet


def number(value: float) -> str:
    """Return a number as formulas write it."""
    return repr(int(value)) if value == int(value) else repr(value)


def k_factor(rating: str, rules: RuleSet) -> str:
    """K by the player's own rating (a cell)."""
    text = number(rules.k_bands[0][1])
    for bound, k in rules.k_bands[1:]:
        text = f"IF({rating}>={number(bound)},{number(k)},{text})"
    return text


def mean(cells: list[str]) -> str:
    """A side's rating: its player's, or the mean of its two (§2 D)."""
    return cells[0] if len(cells) == 1 else f"({'+'.join(cells)})/{len(cells)}"


def expected(own: str, other: str, rules: RuleSet, *, left: bool) -> str:
    """We of a side by its own and the other side's rating (texts)."""
    dr = f"{own}-{other}"
    if rules.first_move_bonus:
        dr += f"{rules.first_move_bonus if left else -rules.first_move_bonus:+}"
    if rules.expectancy == "logistic":
        return f"1/(10^(-({dr})/{number(LOGISTIC_SCALE)})+1)"
    if rules.expectancy == "normal":
        return f"NORMSDIST(({dr})/{NORMAL_SIGMA!r})"
    lower, scores = fide_steps()
    size = f"ROUND(ABS({dr}),0)"
    table = f"LOOKUP({size},{{{','.join(map(str, lower))}}},{{{','.join(map(repr, scores))}}})"
    higher = f"IF({size}>{FIDE_TABLE_LIMIT},1,{table})"
    return f"IF({dr}>=0,{higher},1-{higher})"


def score(result: str, rules: RuleSet, *, left: bool) -> str:
    """W of a side by the cell that holds the left side's result; as in the league's sheet, any other word is a loss."""
    won, lost = ("1", "0") if left else ("0", "1")
    drawn = number(rules.draw_score)
    return f'IF({result}="{Result.WIN.word}",{won},IF({result}="{Result.DRAW.word}",{drawn},{lost}))'


def change(own: str, weight: str, won: str, expectation: str, rules: RuleSet) -> str:
    """(K·c)·(W − We)."""
    return f"{k_factor(own, rules)}*{weight}*({won}-{expectation})"
