"""Files that nobody would make on purpose: refused in a sentence, or read, and written again read the same.

Workbooks that mean no good are in tests/workbook/test_hostile.py.
"""

import csv
import io
from dataclasses import replace

from plugins.rating_bot.wording.common import fits
from plugins.rating_bot.wording.workbook import games_refused, roster_refused, unreadable
from rating_core.book import Book
from rating_core.directory import Directory
from rating_core.importing import FileProblem, plan
from rating_core.importing.detect import read_file
from rating_core.importing.files import GameFile, RawGame
from rating_core.importing.games_entries import plan_games
from rating_core.importing.games_plan import Numbers, Options
from rating_core.importing.table import Table, names_players
from rating_core.times import to_datetime
from tests.reliability.hostile_corpus import NOW, is_chinese

LONGEST_EVENT = 40
_NO_TEXT = ("long_line", "encoding", "no_games", "no_name_column")
"""Why a text that is written again may be refused: it grew, or what made it a text of games was not of its games."""


def _headers(before: RawGame, game: RawGame) -> list[str]:
    """Return the lines that must stand between two games of a text."""
    lines = []
    if game.at is not None and game.at != before.at:
        lines.append(to_datetime(game.at).strftime("%Y-%m-%d %H:%M:%S"))
    if game.pool != before.pool or (before.event and not game.event):
        lines.append(f"#{game.pool}" if game.pool else "#约战")
    if game.event and (game.event, game.weight) != (before.event, before.weight):
        lines.append(f"#{game.event}" + (f" {game.weight:g}" if game.weight is not None else ""))
    return lines


class Files:
    """What the importers make of them, against one league."""

    def __init__(self, book: Book, directory: Directory) -> None:
        self._book = book
        self._directory = directory

    def read(self, data: bytes) -> object:
        """Return what a file says, or why it says nothing."""
        try:
            return read_file(data)
        except FileProblem as problem:
            return problem

    def check(self, data: bytes) -> None:
        """Raise AssertionError where a promise is broken."""
        found = self.read(data)
        if isinstance(found, FileProblem):
            assert is_chinese(unreadable(found)), found.code
        elif isinstance(found, Table):
            roster = plan(found, self._book, self._directory, {}, NOW)
            if roster.problems:
                said = roster_refused(roster)
                assert is_chinese(said) and fits(said), said
            self._same_table(found)
        else:
            assert isinstance(found, GameFile)
            for options in (Options(), Options(new_players=True, unknown_as_loss=True, pool="单跳2v2")):
                games = plan_games(found, self._book, self._directory, Numbers(), options, NOW)
                if not games.clear:
                    said = games_refused(games)
                    assert is_chinese(said) and fits(said), said
            self._same_games(found)

    def _same_table(self, table: Table) -> None:
        """Each row is written in its place: what is looked for among the first rows must find as many."""
        stream = io.StringIO()
        writer = csv.writer(stream, quoting=csv.QUOTE_ALL)
        writer.writerow([self._title(table, place) for place in range(table.width)])
        last = 1
        for number, cells in table.rows:
            writer.writerows([()] * (number - last - 1))
            writer.writerow(cells)
            last = number
        again = self.read(stream.getvalue().encode("utf-8", "surrogatepass"))
        if isinstance(again, FileProblem) and again.code in ("long_line", "encoding"):
            return  # quotes made it longer; it held a lone surrogate
        assert isinstance(again, Table), f"written again it is refused: {again!r}"
        assert again.rows == table.rows

    @staticmethod
    def _title(table: Table, place: int) -> str:
        return next((table.titles[key] for key, at_ in table.columns.items() if at_ == place), "备注")

    def _same_games(self, file: GameFile) -> None:
        """Only of what a text holds; tables have their round trip in tests/workbook.

        Names of events that are too long for the plan to take may end like a weight.
        """
        if file.form != "text" or file.problems or any(len(game.event) > LONGEST_EVENT for game in file.games):
            return
        lines: list[str] = []
        before = RawGame(0, (), (), "")
        for game in file.games:
            lines += _headers(before, game)
            lines.append(game.line)
            before = game
        again = self.read("\n".join(lines).encode("utf-8", "surrogatepass"))
        if isinstance(again, GameFile):
            assert [replace(g, row=0) for g in again.games] == [replace(g, row=0) for g in file.games]
        elif isinstance(again, Table):
            assert names_players(lines[:1]), (
                "its first line is no header of a roster"
            )  # cut off by a line end of Unicode
        else:
            assert again.code in _NO_TEXT, again.code
