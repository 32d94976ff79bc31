"""The folded Book in a file beside the database, so that a start need not fold a large ledger again.

It holds nothing the ledger does not say: it may be deleted at any time. It is of use only where ledger row `seq` has
the hash it was folded to, and while neither the rules nor the code of the fold have changed.
"""

import hashlib
import os
import pickle
import sys
import threading
from array import _array_reconstructor, array  # type: ignore[attr-defined]
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

from rating_core import columns, corrected, fold, ledger, report_text, rulebook, state, steps
from rating_core.book import Book

LEAST_GAMES = 20_000
"""A smaller league folds in less than a second."""
LEAST_ROWS = 1_000
"""So many new rows make a new file worth while; fewer are read in a moment."""
_SUM_BYTES = 32
_CHUNK = 1 << 20
_CORE = Path(__file__).resolve().parents[1]

_OURS: tuple[type, ...] = (
    Book, corrected.Correction, corrected.Corrections, fold.Mark, steps.Step, steps.Original, steps.Checkpoint,
    steps.KeptPool, state.State, state.PoolState, state.Standing, state.Lock, state.Nets, state.KeptNets,
    state.EventState, state.Challenge, state.PublishedList, columns.GameColumns, columns.Names, rulebook.Pool,
    rulebook.RuleSet, report_text.GameLine, report_text.Result, *ledger.KINDS.values(),
)  # fmt: skip
_ALLOWED: dict[tuple[str, str], Any] = {(cls.__module__, cls.__qualname__): cls for cls in _OURS}
_ALLOWED |= {("array", "array"): array, ("array", "_array_reconstructor"): _array_reconstructor}
"""All that a file may name: whoever changes it can make the Book wrong, but cannot run anything."""


class SnapshotUnfit(Exception):
    """The file is of no use; the text says why, for the log."""


@cache
def rules_version() -> str:
    """Return a hash over all that decides what the fold makes of a ledger, and how Python writes it down."""
    found = hashlib.sha256(sys.version.encode())
    for source in sorted((*_CORE.glob("*.py"), *(_CORE / "rules").glob("*.py"), Path(__file__))):
        found.update(source.name.encode() + b"\0" + source.read_bytes() + b"\0")
    return found.hexdigest()


class Snapshot:
    """The file. Everything here is slow: call it in a thread."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.seq = 0
        """The ledger row to which the file is folded, where it is known to be of use; else 0."""
        self.refused = ""
        """Why the file found at the start was of no use, for the log."""
        self._saving = threading.Lock()

    def key(self) -> tuple[int, str] | None:
        """Return the ledger row to which it is folded, and its hash; None: there is no file. Raises SnapshotUnfit."""
        try:
            with self.path.open("rb") as file:
                return _read_key(file)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise SnapshotUnfit(str(error)) from error

    def load(self) -> Book:
        """Return the Book. Raises SnapshotUnfit."""
        try:
            with self.path.open("rb") as file:
                key = _read_key(file)
                begin = file.tell()
                if not _is_whole(file):
                    raise SnapshotUnfit("damaged")
                file.seek(begin)
                book = _Unpickler(file).load()
        except SnapshotUnfit:
            raise
        except Exception as error:  # whatever stands in a file that only looks like one of ours
            raise SnapshotUnfit(repr(error)) from error
        if not isinstance(book, Book) or (book.seq, book.hash) != key:
            raise SnapshotUnfit("not what it says")
        self.seq = book.seq
        return book

    def save(self, book: Book, unmoved: Callable[[], bool]) -> bool:
        """Write a Book, unless it moves meanwhile (`unmoved` then says no) or cannot be written; return whether it was.

        The old file stands until the new one is whole.
        """
        part = self.path.with_name(f"{self.path.name}.part")
        with self._saving:
            seq = book.seq
            try:
                with part.open("wb") as file:
                    summed = _Summed(file)
                    summed.write(f"{rules_version()} {seq} {book.hash}\n".encode())
                    pickle.Pickler(summed, protocol=5).dump(book)
                    file.write(summed.sum.digest())
                    file.flush()
                    os.fsync(file.fileno())
                if not unmoved():
                    return False
                part.replace(self.path)
            except (OSError, RuntimeError):  # no space; or a dict changed while it was written
                return False
            finally:
                part.unlink(missing_ok=True)
            self.seq = seq
            return True

    def discard(self) -> None:
        """Delete the file; one that cannot be deleted is found to be of no use again at the next start."""
        self.seq = 0
        try:
            self.path.unlink(missing_ok=True)
        except OSError:
            return


def _read_key(file: BinaryIO) -> tuple[int, str]:
    parts = file.readline(200).split()
    if len(parts) != 3 or not parts[1].isdigit():
        raise SnapshotUnfit("damaged")
    if parts[0].decode("ascii", "replace") != rules_version():
        raise SnapshotUnfit("of another version")
    return int(parts[1]), parts[2].decode("ascii", "replace")


def _is_whole(file: BinaryIO) -> bool:
    """Whether the file ends with the sum of all before."""
    left = file.seek(0, os.SEEK_END) - _SUM_BYTES
    file.seek(0)
    found = hashlib.sha256()
    while left > 0 and (data := file.read(min(left, _CHUNK))):
        found.update(data)
        left -= len(data)
    return file.read() == found.digest()


class _Summed:
    """A file to write to, and the sum of what was written."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.sum = hashlib.sha256()

    def write(self, data: bytes) -> int:
        self.sum.update(data)
        return self._file.write(data)


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        try:
            return _ALLOWED[module, name]
        except KeyError:
            raise SnapshotUnfit(f"names {module}.{name}") from None
