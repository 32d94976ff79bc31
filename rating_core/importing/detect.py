"""Which kind of file somebody brings: a workbook, a table of games, report lines, or a roster."""

import csv
from contextlib import suppress

from rating_core.importing.files import GameFile
from rating_core.importing.games_table import Header, find_header, read_games
from rating_core.importing.games_text import looks_like_games, read_text
from rating_core.importing.table import DELIMITERS, MAX_BYTES, FileProblem, Table, read_table, records, texts
from rating_core.importing.workbook_file import read_sheets
from rating_core.workbook.reading import MAX_BYTES as MAX_WORKBOOK_BYTES
from rating_core.workbook.reading import WorkbookRefused, read_workbook

LARGEST = max(MAX_BYTES, MAX_WORKBOOK_BYTES)


def read_file(data: bytes) -> GameFile | Table:
    """Return what a file says: games, or a roster (Table). Raises FileProblem. May block for some seconds."""
    if data.startswith(b"PK"):
        try:
            return read_sheets(read_workbook(data))
        except WorkbookRefused as refused:
            raise FileProblem(refused.code, **refused.facts) from None
    if data.startswith(b"\xd0\xcf\x11\xe0"):
        raise FileProblem("old_workbook")
    if len(data) > MAX_BYTES:
        raise FileProblem("too_big", size=len(data), most=MAX_BYTES)
    found = texts(data)
    best: tuple[int, str, str, str, Header] | None = None
    for encoding, text in found:
        for delimiter in DELIMITERS:
            header = _header(delimiter, text)
            if header is not None and (best is None or len(header.columns) > best[0]):
                best = len(header.columns), encoding, delimiter, text, header
    if best is not None:
        _, encoding, delimiter, text, header = best
        return read_games(records(delimiter, text), header, {"encoding": encoding, "delimiter": delimiter})
    roster = _roster(data)
    if isinstance(roster, FileProblem) and roster.code == "no_name_column":
        for encoding, text in found:
            if looks_like_games(text):
                return read_text(text, encoding)
    if isinstance(roster, FileProblem):
        raise roster
    return roster


def _header(delimiter: str, text: str) -> Header | None:
    with suppress(csv.Error):
        try:
            return find_header(records(delimiter, text))
        except FileProblem as problem:
            if problem.code in ("double_column", "misspelt_column"):
                raise
    return None


def _roster(data: bytes) -> Table | FileProblem:
    try:
        return read_table(data)
    except FileProblem as problem:
        return problem
