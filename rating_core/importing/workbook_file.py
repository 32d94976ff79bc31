"""A workbook as read by another process: ours with 战绩, 棋手 and 调整, or somebody else's first sheet."""

from collections.abc import Iterator, Mapping, Sequence

from rating_core.importing.files import GameFile, RawChange, RawPlayer
from rating_core.importing.games_table import find_header, read_games
from rating_core.importing.moments import read_moment
from rating_core.importing.table import FileProblem, Table, names_players, table_of
from rating_core.importing.values import Problem
from rating_core.ledger import OpeningBalance
from rating_core.rulebook import POOLS
from rating_core.workbook import layout
from rating_core.workbook.reading import Cell, Sheet

KINDS = (
    layout.OPENING, layout.ADJUSTMENT, layout.FORFEIT, layout.SETTLEMENT, layout.LEAVE, layout.EVENT_OPENED,
    layout.EVENT_CLOSED,
)  # fmt: skip


def text_of(cell: Cell) -> str:
    """Return a cell as text: whole numbers without a fraction, others in full."""
    if cell is None:
        return ""
    if isinstance(cell, float):
        return str(int(cell)) if cell == int(cell) and abs(cell) < 1e15 else repr(cell)
    return str(cell)


def _records(sheet: Sheet) -> Iterator[tuple[int, Sequence[str]]]:
    for number, row in enumerate(sheet, start=1):
        yield number, [text_of(cell) for cell in row]


def read_sheets(sheets: Mapping[str, Sheet]) -> GameFile | Table:
    """Return what a workbook holds: games, or a roster. Raises FileProblem."""
    ours = layout.GAMES in sheets
    name, sheet = (layout.GAMES, sheets[layout.GAMES]) if ours else next(iter(sheets.items()))
    about: dict[str, object] = {"sheet": name}
    header = find_header(_records(sheet))
    if header is None:
        if any(names_players(cells) for _, cells in _records(sheet[:1])):
            return table_of(_records(sheet), "xlsx", "")
        raise FileProblem("no_header", sheet=name)
    if not (ours and layout.PLAYERS in sheets and "counts" in header.columns):
        return read_games(_records(sheet), header, about)
    games = read_games(_records(sheet), header, about, ours=True)
    reader = _Reader()
    players = reader.players(sheets[layout.PLAYERS])
    changes = reader.changes(sheets.get(layout.CHANGES, []))
    return GameFile("workbook", games.games, players, changes, (*games.problems, *reader.problems), games.about)


class _Row:
    """One row of a sheet of ours by its headers."""

    def __init__(self, row: int, cells: Mapping[str, Cell]) -> None:
        self.row, self._cells = row, cells
        self.bad: str = ""
        """The first column that cannot be read."""

    def text(self, title: str) -> str:
        return text_of(self._cells.get(title)).strip()

    def number(self, title: str) -> float | None:
        text = self.text(title)
        try:
            return float(text) if text else None
        except ValueError:
            self.bad = self.bad or title
            return None

    def whole(self, title: str) -> int:
        value = self.number(title) or 0.0
        if value != int(value):
            self.bad = self.bad or title
        return int(value)

    def moment(self, title: str) -> int | None:
        text = self.text(title)
        found = read_moment(text) if text else None
        if text and found is None:
            self.bad = self.bad or title
        return None if found is None else found.ms

    def pool(self, title: str) -> str:
        text = self.text(title)
        if text and text not in POOLS:
            self.bad = self.bad or title
        return text


class _Reader:
    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self._openings: dict[tuple[str, str], list[OpeningBalance]] = {}

    def _rows(self, sheet: Sheet, name: str, needed: str) -> Iterator[_Row]:
        titles = [text_of(cell).strip() for cell in sheet[0]] if sheet else []
        if sheet and needed not in titles:
            raise FileProblem("no_column", sheet=name, title=needed)
        for number, cells in enumerate(sheet[1:], start=2):
            if any(cell is not None for cell in cells):
                yield _Row(number, dict(zip(titles, cells, strict=False)))

    def _done(self, row: _Row, sheet: str) -> bool:
        if row.bad:
            self.problems.append(Problem(row.row, row.bad, "bad_cell", {"value": row.text(row.bad)[:30]}, sheet))
        return not row.bad

    def players(self, sheet: Sheet) -> tuple[RawPlayer, ...]:
        """Read 棋手; a further row with the same name is a further balance."""
        found: dict[str, RawPlayer] = {}
        for row in self._rows(sheet, layout.PLAYERS, "名字"):
            name, former = row.text("名字"), row.text("曾用名")
            if name not in found:
                names = tuple(part.removesuffix("」") for part in former.split("「") if part)
                found[name] = RawPlayer(
                    row.row, name, row.text("名次") or None, row.number("原始分"),
                    row.text("IP核验") == layout.CHECKED, names, layout.PLAYERS,
                )  # fmt: skip
            pool = row.pool("期初榜")
            rating = row.number("期初分")
            if pool and rating is not None:
                entry = OpeningBalance(
                    0, rating, row.whole("胜"), row.whole("平"), row.whole("负"), row.moment("截至") or 0,
                    row.whole("本季盘数"), row.text("状态") == layout.ARCHIVED, row.number("历史最高分"),
                    row.moment("最高分日期"),
                )  # fmt: skip
                self._openings.setdefault((name, pool), []).append(entry)
            self._done(row, layout.PLAYERS)
        return tuple(found.values())

    def changes(self, sheet: Sheet) -> tuple[RawChange, ...]:
        """Read 调整; the balances that stand in it are those of 棋手."""
        found = []
        for row in self._rows(sheet, layout.CHANGES, "类别"):
            kind, at = row.text("类别"), row.moment("时间")
            if kind not in KINDS:
                row.bad = "类别"
            pool, player = row.text("榜"), row.text("棋手")
            if kind != layout.LEAVE:
                row.pool("榜")
            opening = None
            if kind == layout.OPENING:
                waiting = self._openings.get((player, pool))
                if waiting:
                    opening = waiting.pop(0)
                else:
                    row.bad = row.bad or "棋手"
            change = RawChange(
                row.row, kind, row.whole("在局后"), at or 0, row.whole("账"), pool, player, row.number("加减") or 0.0,
                row.text("对方"), row.moment("发起时间") or 0, row.moment("到期") or 0, row.whole("赛季"),
                row.text("赛事"), row.number("系数") or 0.0, row.text("裁判") != layout.NO_REFEREE, opening,
            )  # fmt: skip
            if self._done(row, layout.CHANGES):
                found.append(change)
        return tuple(found)
