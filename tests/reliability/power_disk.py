"""A disk made of a recorded log: what it may hold after a power cut.

What was synced is there. Of what was not: each write is there, or not, or torn at sectors of 512 bytes; of the names
made, changed or removed in a folder since that was synced the first ones are there, the others not.
"""

import random
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

SECTOR = 512
_HEAD = struct.Struct("<cQQII")


@dataclass(frozen=True, slots=True)
class Record:
    """One call: C(reate) T(runcate) W(rite) S(ync) U(nlink) R(ename) D (mkdir), or M(ark)."""

    kind: str
    inode: int
    where: int
    path: str
    data: bytes


def read_log(file: Path) -> Iterator[Record]:
    """Yield the records in the order in which they happened."""
    log, at = file.read_bytes(), 0
    while at < len(log):
        kind, inode, where, path, data = _HEAD.unpack_from(log, at)
        at += _HEAD.size
        yield Record(kind.decode(), inode, where, log[at : at + path].decode(), log[at + path : at + path + data])
        at += path + data


@dataclass(slots=True)
class _File:
    durable: bytearray = field(default_factory=bytearray)
    waiting: list[Record] = field(default_factory=list)
    """Writes and truncations since it was synced."""


def _put(image: bytearray, at: int, data: bytes) -> None:
    if len(image) < at:
        image.extend(bytes(at - len(image)))
    image[at : at + len(data)] = data


def _apply(image: bytearray, record: Record) -> None:
    if record.kind == "W":
        _put(image, record.where, record.data)
    elif len(image) > record.where:
        del image[record.where :]
    else:
        image.extend(bytes(record.where - len(image)))


def _apply_torn(image: bytearray, record: Record, rng: random.Random) -> None:
    """Some sectors of a write arrive, the others stay as they were."""
    at, end = record.where, record.where + len(record.data)
    while at < end:
        upto = min(end, (at // SECTOR + 1) * SECTOR)
        if rng.random() < 0.5:
            _put(image, at, record.data[at - record.where : upto - record.where])
        at = upto


class Disk:
    """The folder `root`, as records are applied to it one after the other."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._files: list[_File] = []
        self._by_inode: dict[int, int] = {}
        self._names: dict[str, int] = {}
        """Path → file, as far as names are durable."""
        self._folders: dict[str, list[tuple[Record, int]]] = {root: []}
        """Path → what happened to the names in it since it was synced."""
        self._new_folders: set[str] = set()

    def apply(self, record: Record) -> None:
        """Let the next thing happen."""
        if record.kind == "S":
            self._sync(record)
        elif record.kind in "WT":
            self._files[self._by_inode[record.inode]].waiting.append(record)
        elif record.kind == "D":
            self._folders[record.path] = []
            self._new_folders.add(record.path)
        elif record.kind in "CUR":
            if record.kind == "C":
                self._files.append(_File())
                self._by_inode[record.inode] = len(self._files) - 1
            self._folders[str(PurePosixPath(record.path).parent)].append((record, len(self._files) - 1))

    def _sync(self, record: Record) -> None:
        waiting = self._folders.get(record.path)
        if waiting is None:
            file = self._files[self._by_inode[record.inode]]
            for one in file.waiting:
                _apply(file.durable, one)
            file.waiting.clear()
            return
        for one, file_number in waiting:
            _rename(self._names, one, file_number)
        waiting.clear()
        self._new_folders.discard(record.path)  # the journal of a file system is written in order

    def after_cut(self, rng: random.Random) -> dict[str, bytes]:
        """Return what may be there: path below the root → content."""
        names = dict(self._names)
        for waiting in self._folders.values():
            for one, file_number in waiting[: rng.randint(0, len(waiting))]:
                _rename(names, one, file_number)
        lost = {path for path in self._new_folders if rng.random() < 0.5}
        mood = rng.choice(("all", "none", "mixed", "mixed", "mixed"))
        return {
            path[len(self._root) + 1 :]: bytes(self._image(self._files[number], mood, rng))
            for path, number in sorted(names.items())
            if str(PurePosixPath(path).parent) not in lost
        }

    def _image(self, file: _File, mood: str, rng: random.Random) -> bytearray:
        image = bytearray(file.durable)
        for record in file.waiting:
            fate = rng.choice(("kept", "lost", "torn")) if mood == "mixed" else mood
            if fate in ("kept", "all"):
                _apply(image, record)
            elif fate == "torn" and record.kind == "W":
                _apply_torn(image, record, rng)
        return image


def _rename(names: dict[str, int], record: Record, number: int) -> None:
    if record.kind == "C":
        names[record.path] = number
    elif (moved := names.pop(record.path, None)) is not None and record.kind == "R":
        names[record.data.decode()] = moved


def write_down(disk: dict[str, bytes], folder: Path) -> None:
    """Make real files of it."""
    for path, content in disk.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
