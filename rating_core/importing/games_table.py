"""A table of games, a row a game: which column means what, and the rows as they stand."""

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rating_core.importing.files import MAX_GAMES, GameFile, RawGame
from rating_core.importing.moments import read_moment
from rating_core.importing.table import FileProblem, plain_header
from rating_core.importing.values import BLANKS, MAX_CELL, MAX_PROBLEMS, Problem
from rating_core.names import clean_text
from rating_core.rulebook import POOLS
from rating_core.workbook import layout

TOP_ROWS = 20
"""The line of headers stands among so many first rows."""
CASUAL_WORDS = frozenset(("约战", "训练赛", "训练"))
"""Events that are none: c = 1 outside events (L5)."""

_SIDES = ("左方", "左", "甲方", "甲", "棋手a", "选手a", "a", "棋手1", "选手1", "选手甲", "棋手甲")
_OTHERS = ("右方", "右", "乙方", "乙", "棋手b", "选手b", "b", "棋手2", "选手2", "选手乙", "棋手乙")
_PARTNERS = ("左方同伴", "左2", "甲2", "甲方2", "甲方同伴", "左伴")
_OTHER_PARTNERS = ("右方同伴", "右2", "乙2", "乙方2", "乙方同伴", "右伴")
_THIRDS = ("棋手c", "选手c", "c")
_FOURTHS = ("棋手d", "选手d", "d")
_BEFORE = ("旧分", "原分", "赛前分", "旧等级分", "原等级分", "赛前等级分")
_AFTER = ("新分", "现分", "赛后分", "新等级分", "现等级分", "赛后等级分")
_NEEDED = frozenset(("left", "right", "result"))
_PLAYERS = ("left", "left2", "right", "right2")
COLUMNS: dict[str, tuple[str, ...]] = {
    "left": _SIDES,
    "left2": _PARTNERS,
    "right": _OTHERS,
    "right2": _OTHER_PARTNERS,
    "third": _THIRDS,
    "fourth": _FOURTHS,
    "result": ("结果", "胜负", "比赛结果", "对局结果", "战果", "result"),
    "date": ("日期", "时间", "比赛日期", "对局日期", "比赛时间", "date"),
    "event": ("赛事", "赛事名", "赛事名称", "比赛", "比赛名称", "event"),
    "weight": ("系数", "权重", "weight"),
    "pool": ("榜", "项目", "榜名"),
    "counts": ("计分", "是否计分"),
    "number": ("局", "局号"),
    "report": ("报分", "报分号"),
    "effective": ("生效时间",),
}
"""Column → the headers by which it is known; the first is the one that messages recommend."""
_IGNORED = frozenset(("序号", "编号", "说明"))
_KEYS = {alias: key for key, aliases in COLUMNS.items() for alias in aliases}
_FIGURES = {
    f"{side}{what}": f"{player} {when}"
    for player, sides in zip(
        (*_PLAYERS, "third", "fourth"), (_SIDES, _PARTNERS, _OTHERS, _OTHER_PARTNERS, _THIRDS, _FOURTHS), strict=True
    )
    for side in sides
    for when, whats in (("before", _BEFORE), ("after", _AFTER))
    for what in whats
}
_KEYS |= _FIGURES


@dataclass(frozen=True, slots=True)
class Header:
    """The line of headers: where each column stands, and what was not understood."""

    row: int
    columns: dict[str, int]
    titles: dict[str, str]
    unused: tuple[str, ...]

    @property
    def pairs(self) -> bool:
        """The four players are called A, B, C and D: A and B sit together."""
        return {"third", "fourth"} <= self.columns.keys() and "left2" not in self.columns


def find_header(records: Iterable[tuple[int, Sequence[str]]]) -> Header | None:
    """Return the line of headers among the first rows, None where these are no games. Raises FileProblem."""
    for _, (number, cells) in zip(range(TOP_ROWS), records, strict=False):
        if len(cells) < len(_NEEDED):
            continue
        keys = [_KEYS.get(plain_header(cell)) for cell in cells]
        if set(keys) >= _NEEDED:
            return _header(number, cells, keys)
    return None


def _header(number: int, cells: Sequence[str], keys: Sequence[str | None]) -> Header:
    columns: dict[str, int] = {}
    titles: dict[str, str] = {}
    unused = []
    for place, (cell, key) in enumerate(zip(cells, keys, strict=True)):
        title = " ".join(clean_text(cell).split())[:20]
        if key is None:
            if title and plain_header(cell) not in _IGNORED:
                unused.append(title)
        elif key in columns:
            raise FileProblem("double_column", first=titles[key], second=title)
        else:
            columns[key], titles[key] = place, title
    if (misspelt := _misspelt(unused, columns)) is not None:
        raise misspelt
    return Header(number, columns, titles, tuple(unused))


def _misspelt(unused: Iterable[str], known: Iterable[str]) -> FileProblem | None:
    """Return the first unknown header that may have been meant as a column that is missing: a letter away."""
    from rapidfuzz import fuzz, process  # rarely needed, and many modules

    missing = [alias for alias, key in _KEYS.items() if key not in known and len(alias) > 1 and alias not in _FIGURES]
    for title in dict.fromkeys(unused):
        found = process.extractOne(plain_header(title), missing, scorer=fuzz.ratio, score_cutoff=75)
        if found is not None:
            return FileProblem("misspelt_column", title=title, near=COLUMNS[_KEYS[found[0]]][0])
    return None


def read_games(
    records: Iterable[tuple[int, Sequence[str]]], header: Header, about: dict[str, object], *, ours: bool = False
) -> GameFile:
    """Read the rows below the headers. `ours`: a workbook of ours, whose instants are exact. Raises FileProblem."""
    reader = _Reader(header, ours)
    games = []
    for number, cells in records:
        if number > header.row and (game := reader.read(number, cells)) is not None:
            games.append(game)
            if len(games) > MAX_GAMES:
                raise FileProblem("too_many_games", most=MAX_GAMES)
        if len(reader.problems) >= MAX_PROBLEMS:
            break
    if not games and not reader.problems and not ours:
        raise FileProblem("no_games")
    about = about | {"titles": tuple(header.titles.values()), "unused": header.unused}
    return GameFile("workbook" if ours else "table", tuple(games), problems=tuple(reader.problems), about=about)


class _Reader:
    """Reads row after row; a date or a name that is left out in a row is that of the row above."""

    def __init__(self, header: Header, ours: bool) -> None:
        self._header, self._ours = header, ours
        self._sheet = layout.GAMES if ours else ""
        self._last_date: str = ""
        self.problems: list[Problem] = []
        order = ("left", "right", "third", "fourth") if header.pairs else _PLAYERS
        self._order = tuple(key for key in order if key in header.columns)
        self._figured = any(f"{key} {when}" in header.columns for key in order for when in ("before", "after"))

    def _wrong(self, row: int, key: str, code: str, **facts: object) -> None:
        self.problems.append(Problem(row, self._header.titles.get(key, ""), code, facts, self._sheet))

    def read(self, row: int, cells: Sequence[str]) -> RawGame | None:
        if not any(cells):
            return None
        texts = {}
        for key, place in self._header.columns.items():
            text = cells[place].strip() if place < len(cells) else ""
            if len(text) > MAX_CELL or "\n" in text:
                self._wrong(row, key, "long_cell", most=MAX_CELL)
                return None
            texts[key] = "" if text.casefold() in BLANKS and key not in _PLAYERS else text
        names = [texts[key] for key in self._order]
        if not any(names) and not texts["result"]:
            return None  # a blank row, or one that only counts something
        before = len(self.problems)
        left, right, shown = self._sides(texts)
        at, weight = self._moment(row, texts, "date", follow=True), self._weight(row, texts)
        effective = self._moment(row, texts, "effective")
        pool, number, report = (
            self._pool(row, texts),
            self._whole(row, texts, "number"),
            self._whole(row, texts, "report"),
        )
        if not left or not right:
            self._wrong(row, "left" if not left else "right", "no_player")
        if len(self.problems) > before:
            return None
        event = " ".join(texts.get("event", "").split())
        return RawGame(
            row, left, right, texts["result"], at=at, pool=pool, event="" if event in CASUAL_WORDS else event,
            weight=weight, void=texts.get("counts") == layout.VOID, number=number, report=report,
            effective_at=effective, shown=shown,
        )  # fmt: skip

    def _sides(
        self, texts: dict[str, str]
    ) -> tuple[tuple[str, ...], tuple[str, ...], tuple[tuple[float | None, float | None], ...]]:
        pairs = self._header.pairs and (texts["third"] or texts["fourth"])
        order = [("left", "right"), ("third", "fourth")] if pairs else [("left", "left2"), ("right", "right2")]
        left, right = ([key for key in side if texts.get(key)] for side in order)
        shown: tuple[tuple[float | None, float | None], ...] = ()
        if self._figured:
            shown = tuple((_figure(texts, f"{key} before"), _figure(texts, f"{key} after")) for key in left + right)
        return tuple(texts[key] for key in left), tuple(texts[key] for key in right), shown

    def _moment(self, row: int, texts: dict[str, str], key: str, *, follow: bool = False) -> int | None:
        text = texts.get(key, "")
        if follow:
            text = self._last_date = text or self._last_date
        if not text:
            if key == "date" and key in self._header.columns:
                self._wrong(row, key, "no_date")
            return None
        found = read_moment(text)
        if found is None:
            self._wrong(row, key, "not_a_date", value=text[:30])
            return None
        return found.ms if self._ours else found.played

    def _weight(self, row: int, texts: dict[str, str]) -> float | None:
        text = unicodedata.normalize("NFKC", texts.get("weight", ""))
        try:
            return float(text) if text else None
        except ValueError:
            self._wrong(row, "weight", "bad_weight", value=text[:20])
            return None

    def _pool(self, row: int, texts: dict[str, str]) -> str:
        text = unicodedata.normalize("NFKC", texts.get("pool", "")).replace(" ", "")
        for pool in POOLS:
            if text.casefold() == pool.casefold():
                return pool
        if text:
            self._wrong(row, "pool", "bad_pool", value=text[:20], pools=tuple(POOLS))
        return ""

    def _whole(self, row: int, texts: dict[str, str], key: str) -> int | None:
        text = texts.get(key, "").lstrip("#局").strip()
        if not text or not self._ours:
            return None  # numbers of other people's sheets are not ours
        if text.isdecimal() and len(text) < 10:
            return int(text)
        self._wrong(row, key, "bad_number", value=text[:20])
        return None


def _figure(texts: dict[str, str], key: str) -> float | None:
    try:
        return float(texts.get(key, "") or "nan") if texts.get(key) else None
    except ValueError:
        return None
