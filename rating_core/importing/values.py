"""From one row's cells to values: names, QQ numbers, figures, dates. What is wrong is a value too."""

import re
import unicodedata
from collections.abc import Container
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any

from rating_core.importing.table import Table
from rating_core.ledger import OpeningBalance
from rating_core.names import check_new_name, clean_text, normalize_name
from rating_core.rulebook import (
    DEFAULT_POOL,
    MASKED_INITIAL,
    MASKED_NAME,
    ORDINARY_PLACING,
    PEAK_GAMES,
    PLACINGS,
    POOLS,
)
from rating_core.times import day_of, start_of

MAX_CELL = 100
"""Characters of one cell."""
MAX_PROBLEMS = 200
"""More are not looked for: the file is another one than was meant."""
LOWEST_RATING, HIGHEST_RATING = 500.0, 4000.0
"""Outside of these a number is no rating but a slip."""
FIRST_YEAR = 2000
BLANKS = frozenset(("", "-", "--", "—", "——", "–", "/", "\\", "无", "暂无", "n/a", "#n/a"))
STATES = {"在榜": False, "正常": False, "封存": True, "已封存": True}
YES = frozenset(("是", "有", "已验", "已核验", "√", "✓", "y", "yes", "1", "true"))
NO = frozenset(("否", "没有", "未验", "未核验", "×", "n", "no", "0", "false"))

_RATING = re.compile(r"\d{1,4}(?:\.\d{1,20})?")
_COUNT = re.compile(r"\d{1,5}")
_QQ = re.compile(r"[1-9]\d{4,11}")
_DATE = re.compile(r"(\d{4})[-/.年](\d{1,2})[-/.月](\d{1,2})日?(?: [\d:]{4,8})?")
_TIGHT_DATE = re.compile(r"(\d{4})(\d{2})(\d{2})")


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong in a row. `column` is the file's own header, "" for the row as a whole."""

    row: int
    column: str
    code: str
    facts: dict[str, Any] = field(default_factory=dict)
    sheet: str = ""
    """The sheet, where a file has several."""


@dataclass(frozen=True, slots=True)
class RosterRow:
    """One row that can be read. `opening` has no player yet (0); None where the row states no balance."""

    row: int
    name: str
    qqs: tuple[str, ...]
    placing: str | None
    pool: str
    opening: OpeningBalance | None
    ip_checked: bool
    stated: frozenset[str]
    """The columns in which the row says something."""

    @property
    def initial(self) -> float:
        """原始分 (L4)."""
        return MASKED_INITIAL if self.placing == MASKED_NAME else PLACINGS[self.placing or ORDINARY_PLACING]


def read_row(
    table: Table, number: int, cells: tuple[str, ...], at: int, reserved: Container[str]
) -> tuple[str | None, RosterRow | None, list[Problem]]:
    """Read a row; `at` (ms) is now.

    Return its name (None if no name can be that), the row (None if anything is wrong) and everything that is wrong.
    """
    reader = _Reader(table, number, cells, at)
    name = reader.name(reserved)
    row = reader.row(name or "")
    return name, row, reader.problems


class _Reader:
    def __init__(self, table: Table, number: int, cells: tuple[str, ...], at: int) -> None:
        self._table, self._number, self._at = table, number, at
        self.problems: list[Problem] = []
        self._raw = {key: cells[place] if place < len(cells) else "" for key, place in table.columns.items()}
        extra = [cell.strip() for cell in cells[table.width :] if cell.strip()]
        if extra:
            self._wrong("", "extra_cells", first=extra[0][:20])
        for key, cell in self._raw.items():
            if len(cell) > MAX_CELL or "\n" in cell.strip():
                self._wrong(key, "long_cell", most=MAX_CELL)
                self._raw[key] = ""

    def _wrong(self, key: str, code: str, **facts: Any) -> None:
        self.problems.append(Problem(self._number, self._table.titles.get(key, ""), code, facts))

    def _text(self, key: str) -> str:
        """Return a cell without decoration: full-width digits made plain, placeholders for nothing made empty."""
        text = unicodedata.normalize("NFKC", clean_text(self._raw.get(key, ""))).strip().lstrip("'").strip()
        return "" if text.casefold() in BLANKS else text

    def _count(self, key: str) -> int | None:
        text = self._text(key).removesuffix("盘").removesuffix(".0")
        if not text:
            return None
        if _COUNT.fullmatch(text):
            return int(text)
        self._wrong(key, "not_a_count", value=text)
        return None

    def _rating(self, key: str) -> float | None:
        text = self._text(key).removesuffix("分")
        if not text:
            return None
        if not _RATING.fullmatch(text):
            self._wrong(key, "not_a_rating", value=text)
            return None
        value = float(text)
        if LOWEST_RATING <= value <= HIGHEST_RATING:
            return value
        self._wrong(key, "unlikely_rating", value=text, low=LOWEST_RATING, high=HIGHEST_RATING)
        return None

    def _day(self, key: str) -> date | None:
        text = self._text(key)
        if not text:
            return None
        match = _DATE.fullmatch(text) or _TIGHT_DATE.fullmatch(text)
        try:
            day = date(*(int(part) for part in match.groups())) if match else None
        except ValueError:
            day = None
        if day is None or day.year < FIRST_YEAR:
            self._wrong(key, "not_a_date", value=text)
            return None
        if start_of(day) > self._at:
            self._wrong(key, "future_date", value=text)
            return None
        return day

    # --- the row ------------------------------------------------------------------------------------------

    def row(self, name: str) -> RosterRow | None:
        masked = name == MASKED_NAME
        qqs, placing, pool = self._qqs(), self._placing(masked), self._pool()
        ip_checked = self._ip()
        opening = self._opening()
        if masked and qqs:
            self._wrong("qq", "masked_qq")
        if masked and opening is not None and opening.peak is not None:
            self._wrong("peak", "masked_peak")
        if self.problems:
            return None
        stated = frozenset(key for key in self._raw if self._text(key))
        return self._without_games(RosterRow(self._number, name, qqs, placing, pool, opening, ip_checked, stated))

    def _without_games(self, row: RosterRow) -> RosterRow | None:
        """A balance without a single game says nothing where it equals the initial rating; else it is a slip."""
        opening = row.opening
        if opening is None or opening.wins + opening.draws + opening.losses:
            return row
        if opening.rating == row.initial and not opening.archived:
            return replace(row, opening=None)
        self._wrong("rating", "rating_without_games", initial=row.initial, placing=row.placing or ORDINARY_PLACING)
        return None

    def name(self, reserved: Container[str]) -> str | None:
        name = normalize_name(self._raw["name"])
        if not name:
            self._wrong("name", "no_name")
            return None
        if (problem := check_new_name(name, reserved)) is not None:
            self._wrong("name", "bad_name", name=name, problem=problem)
            return None
        return name

    def _qqs(self) -> tuple[str, ...]:
        parts = [part.removesuffix(".0") for part in re.split(r"[ 、,，;；/|]", self._text("qq")) if part]
        for part in parts:
            if not _QQ.fullmatch(part):
                self._wrong("qq", "scientific_qq" if re.fullmatch(r"[\d.]+[eE]\+?\d+", part) else "bad_qq", value=part)
        return tuple(dict.fromkeys(parts))

    def _placing(self, masked: bool) -> str | None:
        text = self._text("placing").replace(" ", "")
        if masked:
            if text not in ("", MASKED_NAME):
                self._wrong("placing", "masked_placing")
            return MASKED_NAME
        if not text or text in PLACINGS:
            return text or None
        code = "rank_as_placing" if text.isdigit() or text.startswith("第") else "bad_placing"
        self._wrong("placing", code, value=text, placings=tuple(PLACINGS))
        return None

    def _pool(self) -> str:
        text = self._text("pool").replace(" ", "")
        for pool in POOLS:
            if text.casefold() == pool.casefold():
                return pool
        if text:
            self._wrong("pool", "bad_pool", value=text, pools=tuple(POOLS))
        return DEFAULT_POOL

    def _ip(self) -> bool:
        text = self._text("ip").casefold()
        if text and text not in YES and text not in NO:
            self._wrong("ip", "bad_ip", value=text)
        return text in YES

    def _state(self) -> bool:
        text = self._text("state")
        if text and text not in STATES:
            self._wrong("state", "on_leave" if text == "请假" else "bad_state", value=text)
        return STATES.get(text, False)

    def _opening(self) -> OpeningBalance | None:
        before = len(self.problems)
        rating, peak = self._rating("rating"), self._rating("peak")
        counts = {key: self._count(key) for key in ("wins", "draws", "losses", "games", "season_games")}
        archived, peak_day, as_of = self._state(), self._day("peak_at"), self._day("as_of") or day_of(self._at)
        if len(self.problems) > before:
            return None
        if rating is None:
            stated = [key for key in ("wins", "draws", "losses", "peak", "peak_at", "season_games") if self._text(key)]
            stated = [key for key in stated if counts.get(key) != 0]
            if stated or archived:
                self._wrong("rating", "no_rating", because=self._table.titles[stated[0] if stated else "state"])
            return None
        missing = [word for key, word in (("wins", "胜"), ("draws", "平"), ("losses", "负")) if counts[key] is None]
        if missing:
            self._wrong("rating", "no_counts", missing=missing)
            return None
        self._check_counts(counts)
        self._check_peak(rating, peak, peak_day, as_of, counts)
        return OpeningBalance(
            0, rating, counts["wins"] or 0, counts["draws"] or 0, counts["losses"] or 0, start_of(as_of),
            counts["season_games"] or 0, archived, peak, start_of(peak_day) if peak_day else None,
        )  # fmt: skip

    def _check_counts(self, counts: dict[str, int | None]) -> None:
        games = sum(counts[key] or 0 for key in ("wins", "draws", "losses"))
        if counts["games"] not in (None, games):
            self._wrong("games", "other_sum", value=counts["games"], games=games)
        if (counts["season_games"] or 0) > games:
            self._wrong("season_games", "season_above_all", value=counts["season_games"], games=games)

    def _check_peak(
        self, rating: float, peak: float | None, peak_day: date | None, as_of: date, counts: dict[str, int | None]
    ) -> None:
        """L14: the highest rating from the 20th game on, so not below the rating of now."""
        games = sum(counts[key] or 0 for key in ("wins", "draws", "losses"))
        if peak is None:
            if peak_day is not None:
                self._wrong("peak_at", "date_without_peak")
            return
        needed = PEAK_GAMES.on(as_of)
        if games < needed:
            self._wrong("peak", "peak_too_early", games=games, needed=needed)
        elif peak < rating:
            shown = {"peak": self._text("peak"), "rating": self._text("rating")}
            self._wrong("peak", "peak_below_rating", needed=needed, **shown)
        if peak_day is not None and peak_day > as_of:
            self._wrong("peak_at", "peak_after_date")
