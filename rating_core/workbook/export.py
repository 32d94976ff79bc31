"""The whole book as one workbook: live formulas with their values beside them, rows written as they come."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, Any

from rating_core.book import Book
from rating_core.directory import Directory
from rating_core.steps import Step
from rating_core.workbook import layout
from rating_core.workbook.board_sheets import Sources, write_archive, write_boards
from rating_core.workbook.calculator_sheet import write_calculator
from rating_core.workbook.cells import Styles
from rating_core.workbook.changes_sheet import ChangesSheet
from rating_core.workbook.games_sheet import GamesSheet
from rating_core.workbook.players_sheet import write_players
from rating_core.workbook.standings import Ratings


@dataclass(frozen=True, slots=True)
class Exported:
    """What a workbook holds."""

    players: int
    games: int
    changes: int


def export(
    book: Book, directory: Directory, at: int, target: IO[bytes] | str, progress: Callable[[int], object] | None = None
) -> Exported:
    """Write the book as of `at` (ms) to a file or stream; `progress` is told how many games were written.

    QQ numbers, roles, reports that wait, reasons, published lists and challenges still open are not in it.
    """
    import xlsxwriter

    options: dict[str, Any] = {"constant_memory": True, "in_memory": False}
    workbook = xlsxwriter.Workbook(target, options)
    sheets = {name: workbook.add_worksheet(name) for name in layout.SHEETS}
    styles, ratings = Styles(workbook), Ratings()
    openings = write_players(sheets[layout.PLAYERS], styles, book, directory, ratings)
    games = GamesSheet(sheets[layout.GAMES], styles, book, directory, ratings)
    changes = ChangesSheet(sheets[layout.CHANGES], styles, book, directory, ratings, openings)
    for each in book.timeline():
        if isinstance(each, Step):
            changes.write(each, games.last)
            continue
        games.write(each, book.columns.said_at[each])
        if progress is not None:
            progress(games.rows)
    games.finish()
    sources = Sources(book, directory, ratings, games, at)
    write_boards(sheets[layout.BOARD], styles, sources)
    write_archive(sheets[layout.ARCHIVE], styles, sources)
    write_calculator(sheets[layout.CALCULATOR], styles)
    workbook.close()
    return Exported(len(set(book.state.initial) - set(book.merged)), games.rows, changes.rows)
