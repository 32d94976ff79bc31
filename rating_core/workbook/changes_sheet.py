"""调整: everything that is no game, in its place: balances, adjustments, forfeits, settlements, leaves, events."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from rating_core.book import Book
from rating_core.directory import Directory
from rating_core.fold import Mark
from rating_core.ledger import (
    Adjustment,
    ChallengeForfeited,
    Entry,
    EventClosed,
    EventOpened,
    LeaveTaken,
    OpeningBalance,
    Settlement,
)
from rating_core.queries.games import event_name
from rating_core.steps import Step
from rating_core.workbook import layout
from rating_core.workbook.cells import Formula, Moment, Place, Styles, Value, column_name, head, put
from rating_core.workbook.layout import CHANGE_COLUMNS, CHANGES
from rating_core.workbook.standings import Ratings

if TYPE_CHECKING:
    from xlsxwriter.worksheet import Worksheet

_PLACES = {title: place for place, title in enumerate(CHANGE_COLUMNS)}
_LETTERS = {title: column_name(place) for title, place in _PLACES.items()}
Row = dict[str, Value]


class ChangesSheet:
    """The sheet 调整 while it is being written."""

    def __init__(
        self, sheet: "Worksheet", styles: Styles, book: Book, directory: Directory, ratings: Ratings,
        openings: Mapping[int, Place],
    ) -> None:  # fmt: skip
        """`openings`: ledger row of each opening balance → the cell of its rating on 棋手."""
        self._sheet, self._styles, self._book, self._directory = sheet, styles, book, directory
        self._ratings, self._openings = ratings, openings
        self._marks: dict[tuple[int, int], Mark] = {(mark.seq, mark.player): mark for mark in book.marks}
        self.rows = 0
        self._formats = {_PLACES[title]: styles.rating for title in ("旧分", "新分")}
        self._formats[_PLACES["加减"]] = styles.change
        for title, place in _PLACES.items():
            wide = {"时间": 20, "发起时间": 20, "到期": 20, "棋手": 14, "对方": 14, "赛事": 16, "榜": 10}
            sheet.set_column(place, place, wide.get(title, 9))
        sheet.freeze_panes(1, 0)
        head(sheet, 0, CHANGE_COLUMNS, styles)

    def write(self, step: Step, after: int) -> None:
        """Write an entry that took effect after 局`after`; entries without a row here are passed over."""
        write = _WRITERS.get(type(step.entry))
        if write is None:
            return
        common: Row = {"账": step.seq, "在局后": after, "时间": Moment(step.said_at), "榜": step.pool or None}
        for row in write(self, step):
            self._put(common | row)

    def _put(self, row: Row) -> None:
        self.rows += 1
        for title, value in row.items():
            place = _PLACES[title]
            put(self._sheet, self.rows, place, value, self._styles, self._formats.get(place))

    def _cell(self, title: str, ahead: int) -> str:
        return f"{_LETTERS[title]}{self.rows + 1 + ahead}"

    def _moved(self, step: Step, player: int, amount: float, ahead: int = 1) -> Row:
        """A rating that changed by an amount, live. `ahead`: how many rows further down it will be written."""
        mark = self._marks[step.seq, player]
        old = self._ratings.seen_from(CHANGES, step.pool, player)
        self._ratings.move(step.pool, player, Place(CHANGES, self.rows + ahead, _LETTERS["新分"]))
        new = f"{self._cell('旧分', ahead)}+{self._cell('加减', ahead)}"
        name = self._directory.name_of(player)
        return {"棋手": name, "加减": amount, "旧分": Formula(old, mark.before), "新分": Formula(new, mark.after)}

    def _opening(self, step: Step) -> list[Row]:
        entry = step.entry
        assert isinstance(entry, OpeningBalance)
        old = self._ratings.seen_from(CHANGES, step.pool, entry.player)
        mark = self._marks[step.seq, entry.player]
        self._ratings.move(step.pool, entry.player, Place(CHANGES, self.rows + 1, _LETTERS["新分"]))
        new = self._openings[step.seq].seen_from(CHANGES)
        name = self._directory.name_of(entry.player)
        figures: Row = {"旧分": Formula(old, mark.before), "新分": Formula(new, mark.after)}
        return [{"类别": layout.OPENING, "棋手": name} | figures]

    def _adjustment(self, step: Step) -> list[Row]:
        entry = step.entry
        assert isinstance(entry, Adjustment)
        return [{"类别": layout.ADJUSTMENT} | self._moved(step, entry.player, entry.amount)]

    def _forfeit(self, step: Step) -> list[Row]:
        entry = step.entry
        assert isinstance(entry, ChallengeForfeited)
        challenge = self._book.state.challenges[entry.challenge]
        about: Row = {
            "类别": layout.FORFEIT, "对方": self._directory.name_of(challenge.challenger),
            "发起时间": Moment(challenge.issued_at), "到期": Moment(challenge.deadline),
        }  # fmt: skip
        return [about | self._moved(step, entry.player, -entry.amount)]

    def _settlement(self, step: Step) -> list[Row]:
        entry = step.entry
        assert isinstance(entry, Settlement)
        about: Row = {"类别": layout.SETTLEMENT, "赛季": entry.season, "到期": Moment(entry.until)}
        rows: list[Row] = []
        for ahead, (player, taken) in enumerate(entry.verdicts, start=1):
            row: Row = {"棋手": self._directory.name_of(player), "加减": 0.0}
            rows.append(about | (self._moved(step, player, -taken, ahead) if taken else row))
        return rows or [about]

    def _leave(self, step: Step) -> list[Row]:
        entry = step.entry
        assert isinstance(entry, LeaveTaken)
        name = self._directory.name_of(entry.player)
        return [{"类别": layout.LEAVE, "棋手": name, "榜": "、".join(entry.pools) or None, "到期": Moment(entry.until)}]

    def _event_opened(self, step: Step) -> list[Row]:
        entry = step.entry
        assert isinstance(entry, EventOpened)
        referee = None if entry.signoff else layout.NO_REFEREE
        name = event_name(self._directory, entry.event)
        return [{"类别": layout.EVENT_OPENED, "赛事": name, "系数": entry.weight, "裁判": referee}]

    def _event_closed(self, step: Step) -> list[Row]:
        entry = step.entry
        assert isinstance(entry, EventClosed)
        return [{"类别": layout.EVENT_CLOSED, "赛事": event_name(self._directory, entry.event)}]


_WRITERS: dict[type[Entry] | type[None], Callable[[ChangesSheet, Step], list[Row]]] = {
    OpeningBalance: ChangesSheet._opening,
    Adjustment: ChangesSheet._adjustment,
    ChallengeForfeited: ChangesSheet._forfeit,
    Settlement: ChangesSheet._settlement,
    LeaveTaken: ChangesSheet._leave,
    EventOpened: ChangesSheet._event_opened,
    EventClosed: ChangesSheet._event_closed,
}
