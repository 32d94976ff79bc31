"""Looking for somebody's name and numbers wherever a league may hold them: tables, files, pages, the workbook."""

import io
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from sqlalchemy import LargeBinary, Text, select

from rating_core.names import clean_text
from rating_core.service.league import League
from rating_core.store.tables import metadata
from rating_core.workbook.export import export
from tests.support.pages import Reader, crawl, of_rig
from tests.support.rig import Rig

STARTS = ("/board/", "/board/api/", "/board/archive", "/board/lists", "/board/events")


def _forms(word: str) -> tuple[str, str]:
    """Return a word as it may stand in a text or in JSON."""
    return word, word.encode("unicode_escape").decode()


def _names(text: str, words: Iterable[str], but: str) -> bool:
    for form in _forms(but) if but else ():
        text = text.replace(form, "")
    return any(form in text for word in words for form in _forms(word))


async def in_tables(league: League, words: Sequence[str], but: str = "") -> list[str]:
    """Return table.column and value wherever one of the words, apart from `but`, stands in any text column."""
    found = []
    async with league.database.read() as connection:
        for table in metadata.sorted_tables:
            columns = [column for column in table.c if isinstance(column.type, Text | LargeBinary)]
            for row in await connection.execute(select(*columns)) if columns else ():
                for column, value in zip(columns, row, strict=True):
                    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
                    if _names(text, words, but) or _names(clean_text(text), words, but):
                        found.append(f"{table.name}.{column.name}: {text}")
    return found


def in_files(folder: Path, words: Sequence[str]) -> list[str]:
    """Return the files of a folder in whose bytes, or in whose name, one of the words stands."""
    found = []
    for path in sorted(folder.rglob("*")):
        data = path.read_bytes() if path.is_file() else b""
        hit = [word for word in words if word.encode() in data or word in path.name]
        if hit:
            found.append(f"{path.name}: {hit}")
    return found


async def in_pages(rig: Rig, words: Sequence[str], but: str = "") -> list[str]:
    """Follow every link of the public pages; return the addresses where one of the words, apart from `but`, stands."""
    players = [f"/board/players/{player}" for player in rig.league.book.state.initial]
    pages = await crawl(Reader(of_rig(rig)), *STARTS, *players)
    rules = "/rules"  # whose examples have names of their own
    return [a for a, answer in pages if rules not in a and _names(a + answer.text, words, but)]


def in_workbook(rig: Rig, words: Sequence[str], but: str = "") -> list[str]:
    """Return the parts of the exported workbook in which one of the words, apart from `but`, stands."""
    stream = io.BytesIO()
    export(rig.league.book, rig.league.directory, rig.clock.at, stream)
    with zipfile.ZipFile(stream) as parts:
        texts = {name: parts.read(name).decode("utf-8", "replace") for name in parts.namelist()}
    return [name for name, text in texts.items() if _names(text, words, but)]
