"""战绩: a row a game in the ledger's order, with both old and new ratings as live formulas.

An old rating is the cell of that player's last new rating, known when the row is written: no lookup, whatever the
length. Whether a game counts (L6) is a constant.
"""

from typing import TYPE_CHECKING

from rating_core.book import Book
from rating_core.directory import Directory
from rating_core.queries.games import event_name
from rating_core.report_text import Result
from rating_core.rulebook import EVENT_WEIGHTS
from rating_core.workbook import formulas
from rating_core.workbook.cells import Formula, Moment, Place, Styles, Value, column_name, head, put
from rating_core.workbook.layout import (
    COUNTED,
    COUNTS,
    DAY,
    EFFECTIVE,
    EVENT,
    GAMES,
    NUMBER,
    PLAYER_TITLES,
    POOL,
    REPORT,
    RESULT,
    UNCOUNTED,
    VOID,
    WEIGHT,
    GameColumns,
    figure,
)
from rating_core.workbook.standings import Ratings

if TYPE_CHECKING:
    from xlsxwriter.worksheet import Worksheet

_WIDTHS = {DAY: 20, POOL: 10, EVENT: 16, COUNTS: 10, EFFECTIVE: 20} | dict.fromkeys(PLAYER_TITLES, 14)


class GamesSheet:
    """The sheet 战绩 while it is being written."""

    def __init__(self, sheet: "Worksheet", styles: Styles, book: Book, directory: Directory, ratings: Ratings) -> None:
        self._sheet, self._styles, self._book, self._directory = sheet, styles, book, directory
        self._ratings = ratings
        pools = {book.columns.pool[index] for index in range(len(book.columns))}
        self.columns = GameColumns(max((book.state.pools[pool].pool.side_size for pool in pools), default=1))
        self.rows = 0
        """Games written so far."""
        self.last = 0
        """局 of the last game written."""
        self._letters = {title: column_name(place) for title, place in self.columns.places.items()}
        places, whole, rating = self.columns.places, styles.whole, styles.rating
        self._formats = {places[figure(slot, what)]: rating for slot in self.columns.slots for what in ("旧分", "新分")}
        self._formats |= {places[figure(slot, "变化")]: styles.change for slot in self.columns.slots}
        self._formats |= {places[figure(slot, "号")]: whole for slot in self.columns.slots}
        for title, place in places.items():
            sheet.set_column(place, place, _WIDTHS.get(title, 9))
        sheet.freeze_panes(1, places[RESULT] + 1)
        head(sheet, 0, self.columns.titles, styles)

    def letter(self, title: str) -> str:
        """Return the letters of a column."""
        return self._letters[title]

    def write(self, index: int, effective_at: int) -> None:
        """Write the game at a position of the Book's columns, which took effect at `effective_at` (ms)."""
        self.rows += 1
        book, columns = self._book, self._book.columns
        self.last = columns.number[index]
        void, counted = book.is_void(index), book.counted(index)
        values: dict[str, Value] = {
            NUMBER: self.last,
            DAY: Moment(columns.at[index]),
            POOL: columns.pool[index],
            RESULT: Result(chr(columns.result[index])).word,
            WEIGHT: columns.weight[index],
            EVENT: event_name(self._directory, columns.event[index]) or None,
            COUNTS: VOID if void else COUNTED if counted else UNCOUNTED,
            REPORT: columns.report[index],
            EFFECTIVE: Moment(effective_at),
        }
        for slot, player in columns.members(index):
            values[PLAYER_TITLES[slot]] = self._directory.name_of(player)
            values[figure(slot, "号")] = player
        if not void:
            values |= self._figures(index)
        places = self.columns.places
        for title, value in sorted(values.items(), key=lambda item: places[item[0]]):
            put(self._sheet, self.rows, places[title], value, self._styles, self._formats.get(places[title]))

    def _cell(self, title: str) -> str:
        return f"{self._letters[title]}{self.rows + 1}"

    def _figures(self, index: int) -> dict[str, Value]:
        """The old and new ratings of all and the change between, live."""
        columns = self._book.columns
        pool = columns.pool[index]
        rules = self._book.state.pools[pool].pool.rules
        members = list(columns.members(index))
        side = {
            left: formulas.mean([self._cell(figure(slot, "旧分")) for slot, _ in members if (slot < 2) == left])
            for left in (True, False)
        }
        values: dict[str, Value] = {}
        for slot, player in members:
            left, own = slot < 2, self._cell(figure(slot, "旧分"))
            before, change = columns.before[slot][index], columns.change[slot][index]
            won = formulas.score(self._cell(RESULT), rules, left=left)
            expected = formulas.expected(side[left], side[not left], rules, left=left)
            text = formulas.change(own, self._cell(WEIGHT), won, expected, rules)
            values[figure(slot, "旧分")] = Formula(self._ratings.seen_from(GAMES, pool, player), before)
            values[figure(slot, "变化")] = Formula(f'IF({self._cell(COUNTS)}="{COUNTED}",{text},0)', change)
            values[figure(slot, "新分")] = Formula(f"{own}+{self._cell(figure(slot, '变化'))}", before + change)
        for slot, player in members:
            self._ratings.move(pool, player, Place(GAMES, self.rows, self._letters[figure(slot, "新分")]))
        return values

    def finish(self) -> None:
        """Offer the words that results and weights can be, and filters."""
        if self.rows:
            places = self.columns.places
            for title, words in ((RESULT, [result.word for result in Result]), (WEIGHT, list(EVENT_WEIGHTS.values()))):
                self._sheet.data_validation(
                    1, places[title], self.rows, places[title], {"validate": "list", "source": words}
                )
            self._sheet.autofilter(0, 0, self.rows, len(places) - 1)
