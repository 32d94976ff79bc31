"""榜单 and 封存名单: standings that follow 战绩: rating, 胜/平/负, rank and 涨跌 are live, the peak is as of now."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rating_core.book import Book
from rating_core.directory import Directory
from rating_core.ledger import OpeningBalance
from rating_core.queries.boards import Board, BoardRow, board
from rating_core.queries.lists import ArchivedRow, archived
from rating_core.report_text import Result
from rating_core.rulebook import CHIEF_EDITOR
from rating_core.rules.display import Display
from rating_core.times import show_day
from rating_core.workbook import formulas
from rating_core.workbook.cells import Formula, Moment, Styles, Value, column_name, head, put
from rating_core.workbook.games_sheet import GamesSheet
from rating_core.workbook.layout import (
    ARCHIVE,
    ARCHIVE_COLUMNS,
    BOARD,
    BOARD_COLUMNS,
    COUNTED,
    COUNTS,
    GAMES,
    POOL,
    RESULT,
    figure,
)
from rating_core.workbook.standings import Ratings

if TYPE_CHECKING:
    from xlsxwriter.worksheet import Worksheet

_PLACES = {title: place for place, title in enumerate(BOARD_COLUMNS)}
_LETTERS = {title: column_name(place) for title, place in _PLACES.items()}
_ARCHIVE_PLACES = {title: place for place, title in enumerate(ARCHIVE_COLUMNS)}
_HELPERS = ("号", "名序", "上期分", "上期名次")
REASONS = {"few_games": "结算", "leave": "请假", "opening": "搬来时已封存"}


@dataclass(frozen=True, slots=True)
class Sources:
    """What the standings on the sheets are made of."""

    book: Book
    directory: Directory
    ratings: Ratings
    games: GamesSheet
    at: int

    def counts(self, pool: str, player: str, opening: OpeningBalance | None) -> tuple[str, str, str]:
        """Return the formulas of a player's counted games, wins and draws; `player` is the cell of his number."""
        sheet = self.games

        def area(title: str) -> str:
            letter = sheet.letter(title)
            return f"'{GAMES}'!${letter}$2:${letter}${sheet.rows + 1}"

        def count(slot: int, result: Result | None) -> str:
            parts = [area(figure(slot, "号")), player, area(COUNTS), f'"{COUNTED}"', area(POOL), f'"{pool}"']
            if result is not None:
                parts += [area(RESULT), f'"{result.word}"']
            return f"COUNTIFS({','.join(parts)})"

        start = ("0", "0", "0")
        if opening is not None:
            games = opening.wins + opening.draws + opening.losses
            start = (str(games), str(opening.wins), str(opening.draws))
        if not sheet.rows:
            return start
        size = self.book.state.pools[pool].pool.side_size
        left, right = (0, 1)[:size], (2, 3)[:size]
        played = "+".join(count(slot, None) for slot in (*left, *right))
        drawn = "+".join(count(slot, Result.DRAW) for slot in (*left, *right))
        won = "+".join(count(slot, Result.WIN) for slot in left)
        won += "".join(  # any other word than 胜 and 平 is the left side's loss
            f"+{count(slot, None)}-{count(slot, Result.WIN)}-{count(slot, Result.DRAW)}" for slot in right
        )
        return f"{played}+{start[0]}", f"{won}+{start[1]}", f"{drawn}+{start[2]}"


def write_boards(sheet: "Worksheet", styles: Styles, sources: Sources) -> None:
    """Write the current board of every pool that has one, one below the other."""
    for title, place in _PLACES.items():
        width = {"棋手": 16, "最高分日期": 12, "榜": 10}.get(title, 9)
        sheet.set_column(place, place, width, None, {"hidden": title in _HELPERS})
    openings = {(pool, entry.player): entry for _, pool, entry in sources.book.entries(OpeningBalance)}
    row = 0
    for pool in sources.book.state.pools:
        found = board(sources.book, sources.directory, pool, sources.at)
        if found.rows:
            row = _Block(sheet, styles, sources, found, openings).write(row) + 1


class _Block:
    """The board of one pool."""

    def __init__(
        self, sheet: "Worksheet", styles: Styles, sources: Sources, found: Board,
        openings: Mapping[tuple[str, int], OpeningBalance],
    ) -> None:  # fmt: skip
        self._sheet, self._styles, self._sources, self._board = sheet, styles, sources, found
        self._openings = openings
        self._display = Display.on(found.at)
        self._formats = {
            "等级分": styles.whole, "实际分": styles.rating, "胜率": styles.rate, "历史最高分": styles.whole,
            "分数涨跌": styles.change, "排名涨跌": styles.rank_change,
        }  # fmt: skip

    def write(self, top: int) -> int:
        """Write title, headers and rows from row `top` on (from 0); return the row below."""
        found = self._board
        title = f"{found.pool} 等级分排行榜 {show_day(found.at)}　表格主编：{CHIEF_EDITOR}"
        if found.against is not None:
            title += f"　涨跌比第{found.against}期"
        self._sheet.write_string(top, 0, title, self._styles.title)
        head(self._sheet, top + 1, BOARD_COLUMNS, self._styles)
        first, last = top + 2, top + 1 + len(found.rows)
        names = sorted(row.name for row in found.rows)
        order = {name: number for number, name in enumerate(names, start=1)}
        for row in found.rows:
            at = first + row.rank - 1
            values = self._values(row, at, first, last) | self._against(row, at) | {"名序": order[row.name]}
            for name, value in sorted(values.items(), key=lambda item: _PLACES[item[0]]):
                put(self._sheet, at, _PLACES[name], value, self._styles, self._formats.get(name))
        return last + 1

    def _values(self, row: BoardRow, at: int, first: int, last: int) -> dict[str, Value]:
        pool = self._board.pool
        cell = {title: f"{letter}{at + 1}" for title, letter in _LETTERS.items()}
        area = {title: f"${letter}${first + 1}:${letter}${last + 1}" for title, letter in _LETTERS.items()}
        opening = self._openings.get((pool, row.player))
        played, won, drawn = self._sources.counts(pool, cell["号"], opening)
        step, needed = formulas.number(self._display.step), self._display.needed

        def above(title: str, then: str) -> str:
            return f"({area[title]}>{cell[title]})+({area[title]}={cell[title]})*({then})"

        ahead = above("等级分", above("实际分", above("盘数", f"{area['名序']}<{cell['名序']}")))
        rate = row.wins / row.games if row.games else 0.0
        return {
            "榜": pool,
            "名次": Formula(f"1+SUMPRODUCT({ahead})", row.rank),
            "棋手": row.name,
            "等级分": Formula(f"{cell['实际分']}-{step}*{cell['差盘数']}", row.shown),
            "实际分": Formula(self._sources.ratings.seen_from(BOARD, pool, row.player), row.rating),
            "盘数": Formula(played, row.games),
            "胜": Formula(won, row.wins),
            "平": Formula(drawn, row.draws),
            "负": Formula(f"{cell['盘数']}-{cell['胜']}-{cell['平']}", row.losses),
            "胜率": Formula(f"IF({cell['盘数']}=0,0,{cell['胜']}/{cell['盘数']})", rate),
            "历史最高分": row.peak,
            "最高分日期": None if row.peak is None else Moment(row.peak_at, day=True),
            "差盘数": Formula(f"MAX(0,{needed}-{cell['盘数']})", row.missing),
            "IP": "IP" if row.ip_checked else None,
            "号": row.player,
        }

    def _against(self, row: BoardRow, at: int) -> dict[str, Value]:
        """涨跌 (L15) against the last published list, whose figures stand in hidden columns."""
        change = row.change
        if change is None:
            return {}
        if change.rating is None or change.rank is None:
            return {"分数涨跌": "新", "排名涨跌": "新"}
        shown, rank, last, before = (f"{_LETTERS[t]}{at + 1}" for t in ("等级分", "名次", "上期分", "上期名次"))
        return {
            "分数涨跌": Formula(f"{shown}-{last}", change.rating),
            "排名涨跌": Formula(f"{before}-{rank}", change.rank),
            "上期分": row.shown - change.rating,
            "上期名次": row.rank + change.rank,
        }


def write_archive(sheet: "Worksheet", styles: Styles, sources: Sources) -> None:
    """Write who is archived in each pool; their ratings are live."""
    for title, place in _ARCHIVE_PLACES.items():
        sheet.set_column(place, place, {"棋手": 16, "榜": 10, "封存日期": 12, "可参赛日期": 12}.get(title, 9))
    sheet.freeze_panes(1, 0)
    head(sheet, 0, ARCHIVE_COLUMNS, styles)
    number = 0
    for pool in sources.book.state.pools:
        for row in archived(sources.book, sources.directory, pool, sources.at):
            number += 1
            for title, value in _archived(sources, pool, row).items():
                style = styles.rating if title == "实际分" else None
                put(sheet, number, _ARCHIVE_PLACES[title], value, styles, style)


def _archived(sources: Sources, pool: str, row: ArchivedRow) -> dict[str, Value]:
    standing = sources.book.state.look(pool, row.player)
    return {
        "榜": pool,
        "棋手": row.name,
        "实际分": Formula(sources.ratings.seen_from(ARCHIVE, pool, row.player), row.rating),
        "盘数": standing.games,
        "胜": standing.wins,
        "平": standing.draws,
        "负": standing.losses,
        "封存日期": Moment(row.since, day=True),
        "原因": REASONS[row.reason],
        "可参赛日期": None if row.barred_until is None else Moment(row.barred_until, day=True),
    }
