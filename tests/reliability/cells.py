"""Where in an SQLite file each byte of a table's rows stands (https://www.sqlite.org/fileformat.html, 1.6 and 2.1)."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

LEAF, INTERIOR = 13, 5


@dataclass(frozen=True, slots=True)
class Byte:
    """One byte of a row. `part`: the column it is of; seq, the row's number; or size, header, pointer, SQLite's own."""

    row: int
    part: str
    offset: int


class File:
    """A whole database file without a journal."""

    def __init__(self, path: Path) -> None:
        self.data = path.read_bytes()
        size = int.from_bytes(self.data[16:18], "big")
        self.page_size = 65536 if size == 1 else size
        self.usable = self.page_size - self.data[20]

    def varint(self, at: int) -> tuple[int, int]:
        """Return a variable-length integer and where it ends."""
        value = 0
        for number in range(9):
            byte = self.data[at + number]
            if number == 8:
                return value << 8 | byte, at + 9
            value = value << 7 | byte & 0x7F
            if byte < 0x80:
                return value, at + number + 1
        raise AssertionError

    def leaf_cells(self, page: int) -> Iterator[int]:
        """Yield where the cells of a table's leaf pages begin, in the order of its keys."""
        start = (page - 1) * self.page_size
        head = start + (100 if page == 1 else 0)
        kind, count = self.data[head], int.from_bytes(self.data[head + 3 : head + 5], "big")
        pointers = head + (8 if kind == LEAF else 12)
        for number in range(count):
            at = start + int.from_bytes(self.data[pointers + 2 * number : pointers + 2 * number + 2], "big")
            if kind == LEAF:
                yield at
            else:
                assert kind == INTERIOR, kind
                yield from self.leaf_cells(int.from_bytes(self.data[at : at + 4], "big"))
        if kind == INTERIOR:
            yield from self.leaf_cells(int.from_bytes(self.data[head + 8 : head + 12], "big"))

    def payload(self, at: int, size: int) -> tuple[list[int], list[int]]:
        """Return the offsets of a payload's bytes, and those of the pointers to the pages it goes on on."""
        most = self.usable - 35
        least = (self.usable - 12) * 32 // 255 - 23
        local = size
        if size > most:
            local = least + (size - least) % (self.usable - 4)
            local = local if local <= most else least
        offsets, pointers = list(range(at, at + local)), list[int]()
        follow = at + local
        while len(offsets) < size:
            pointers += range(follow, follow + 4)
            follow = (int.from_bytes(self.data[follow : follow + 4], "big") - 1) * self.page_size
            more = min(size - len(offsets), self.usable - 4)
            offsets += range(follow + 4, follow + 4 + more)
        return offsets, pointers


def bytes_of(path: Path, table: str) -> list[Byte]:
    """Return every byte of every row of a table whose key is its rowid."""
    with closing(sqlite3.connect(path)) as connection:
        ((root,),) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchall()
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
    file = File(path)
    found = []
    for at in file.leaf_cells(root):
        size, seq_at = file.varint(at)
        row, begin = file.varint(seq_at)
        offsets, pointers = file.payload(begin, size)
        found += [Byte(row, "size", offset) for offset in range(at, seq_at)]
        found += [Byte(row, "seq", offset) for offset in range(seq_at, begin)]
        found += [Byte(row, "pointer", offset) for offset in pointers]
        parts = _parts(bytes(file.data[offset] for offset in offsets), columns)
        found += [Byte(row, part, offset) for part, offset in zip(parts, offsets, strict=True)]
    return found


def _parts(payload: bytes, columns: list[str]) -> list[str]:
    """Return of which part each byte of a record is."""

    def varint(at: int) -> tuple[int, int]:
        value = 0
        while True:
            value, at = value << 7 | payload[at] & 0x7F, at + 1
            if payload[at - 1] < 0x80:
                return value, at

    end, at = varint(0)
    parts = ["header"] * end
    for column in columns:
        kind, at = varint(at)
        length = (kind - 12) // 2 if kind >= 12 else (0, 1, 2, 3, 4, 6, 8, 8, 0, 0)[kind]
        parts += [column] * length
    return parts
