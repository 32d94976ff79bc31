"""The league: one database, one Book, and the transactions through which everything is written.

A command is tried on a fork of the Book, committed, and only then the Book reads the rows that were committed.
After any exception it catches up from the database before the next command.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass

from rating_core.book import Book
from rating_core.directory import Directory
from rating_core.ledger import LedgerError, Row, continues
from rating_core.past import PastBooks
from rating_core.service.collector import collector_paused
from rating_core.service.transaction import Tried, Tx
from rating_core.store.database import Database, StorageFailed
from rating_core.store.ledger_store import BATCH, LedgerStore
from rating_core.store.people_store import PeopleStore
from rating_core.store.sealed import BrokenRow, broken_rows
from rating_core.store.snapshot import LEAST_GAMES, LEAST_ROWS, Snapshot, SnapshotUnfit
from rating_core.store.tables import roles


@dataclass(frozen=True, slots=True)
class Damage:
    """The ledger is not what was written, from row `seq` on. Only a restart after its repair makes it good."""

    seq: int
    read_to: int | None = None
    """The last row the Book holds, where the next one cannot be read; None: it holds all."""


class LedgerDamaged(StorageFailed):
    """Nothing is recorded until the ledger is repaired."""


class _Nonsense(Exception):
    """A row holds what the fold cannot do with."""


@contextmanager
def _nonsense() -> Iterator[None]:
    """Turn whatever a Book raises into _Nonsense: what holds nonsense may fail anywhere in the fold, half-way."""
    try:
        yield
    except Exception as error:
        raise _Nonsense(repr(error)) from error


class League:
    """Everything the bot knows, and the only way to change it."""

    def __init__(self, database: Database, clock: Callable[[], int], superusers: frozenset[str] = frozenset()) -> None:
        self.database = database
        self.clock = clock
        self.superusers = superusers
        self.book = Book()
        self.past = PastBooks()
        self.directory = Directory()
        self.broken_rights: tuple[BrokenRow, ...] = ()
        """Rows that should grant rights and grant none, as of the last reading."""
        self.damage: Damage | None = None
        self.tried: Tried | None = None
        """The last correction that was shown, until the book moves: applying it need not fold again."""
        self.snapshot: Snapshot | None = None
        self.from_snapshot = False
        """The Book began as a snapshot, and no fresh fold has confirmed it yet."""
        self._uncertain = False
        self._written = (0, "")
        """The ledger's head after the last transaction of ours that appended to it."""
        self._catching_up = asyncio.Lock()

    @classmethod
    async def open(
        cls, database: Database, clock: Callable[[], int], superusers: frozenset[str] = frozenset(),
        snapshot: Snapshot | None = None,
    ) -> "League":  # fmt: skip
        """Read the directory and fold the whole ledger, as far as it can be. The database must be migrated.

        With a snapshot that is of this very ledger only the rows after it are read; `health.examine` looks at all.
        """
        league = cls(database, clock, superusers)
        league.snapshot = snapshot
        await league._reload_directory()
        if snapshot is not None:
            await league._begin_with(snapshot)
        with collector_paused():
            await league.catch_up()
        return league

    async def _begin_with(self, snapshot: Snapshot) -> None:
        """Begin with the snapshot's Book, where ledger row `seq` is the one it was folded to; else delete it."""
        try:
            if (key := await asyncio.to_thread(snapshot.key)) is None:
                return
            async with self.database.read() as connection:
                row = await LedgerStore(connection).first_after(key[0] - 1)
            if row is None or (row.seq, row.hash) != key:
                raise SnapshotUnfit("of another ledger")
            self.book = await asyncio.to_thread(snapshot.load)
            self.from_snapshot = True
        except (SnapshotUnfit, LedgerError) as error:
            snapshot.refused = str(error)
            await asyncio.to_thread(snapshot.discard)

    async def replace_snapshot(self, fresh: Book) -> None:
        """The snapshot was wrong: delete it and go on with a fresh fold. Raises StorageFailed."""
        async with self.database.write():  # no transaction is under way that began on the other Book
            self.book = fresh
            await self.catch_up()
        if self.snapshot is not None:
            await asyncio.to_thread(self.snapshot.discard)

    async def save_snapshot(self) -> bool:
        """Write the Book down for the next start, where that is worth while; return whether it was."""
        snapshot, book, seq = self.snapshot, self.book, self.book.seq
        if snapshot is None or self.damage or len(book.columns) < LEAST_GAMES or seq - snapshot.seq < LEAST_ROWS:
            return False
        return await asyncio.to_thread(snapshot.save, book, lambda: self.book is book and book.seq == seq)

    async def _reload_directory(self) -> None:
        async with self.database.read() as connection:
            self.broken_rights = tuple(await broken_rows(connection))
            self.directory = await self.read_directory(PeopleStore(connection))

    async def read_directory(self, people: PeopleStore) -> Directory:
        """Return the directory as the tables have it."""
        return Directory.build(
            await people.names(), await people.accounts(), await people.roles(), await people.events(),
            await people.holdings(), await people.past_bindings(), await people.merged_names(),
            roles_whole=all(row.table != roles.name for row in self.broken_rights),
        )  # fmt: skip

    async def catch_up(self) -> None:
        """Let the Book read what the ledger holds after its seq, and look whether it is what was written.

        Where it is not, `damage` says so, and from then on the Book stands still.
        """
        if self.damage is not None:
            return
        async with self._catching_up, self.database.read() as connection:
            ledger = LedgerStore(connection)
            try:
                readable = await self._read_on(ledger)
            except _Nonsense:
                self.book = await self._up_to_nonsense(ledger)
                readable = False
            if not readable:
                self.found_damage(self.book.seq + 1, self.book.seq)
            elif await ledger.head() != (self.book.seq, self.book.hash):
                self.found_damage(self.book.seq + 1)
        self.directory.merged = self.book.merged

    async def _take_in(self, committed: Sequence[Row]) -> None:
        """Let the Book read what a transaction of ours committed: a few rows as they are, many from the database."""
        async with self._catching_up:
            rows = [row for row in committed if row.seq > self.book.seq]
            if len(rows) < BATCH and self.damage is None:
                try:
                    self.book.advance(rows)
                    self.directory.merged = self.book.merged
                    return
                except Exception:  # what it holds now is of no use; reading all again finds the row
                    self.book = Book()
        await self.catch_up()

    async def _read_on(self, ledger: LedgerStore) -> bool:
        """Let the Book read the rows after its seq; return whether all can be read, else it ends before the first.

        A few rows are folded at once. Many are read part by part into a fork that is folded once, in a thread: the bot
        goes on answering, and nobody sees a Book that is not folded. Raises _Nonsense: the Book is then of no use.
        """
        book, seq, previous, readable = self.book, self.book.seq, self.book.hash, True
        try:
            async for batch in ledger.batches_after(seq):
                for row in batch:
                    seq += 1
                    if not continues(row, seq, previous):
                        self.found_damage(seq)
                    previous = row.hash
                if book is self.book and len(batch) == BATCH:
                    book = book.fork()
                with _nonsense():
                    book.read(batch)
                    if book is self.book:
                        book.fold()
                await asyncio.sleep(0)
        except LedgerError:
            readable = False
        if book is not self.book:
            with _nonsense():
                await asyncio.to_thread(book.fold)
            if book.seq > self.book.seq:  # else a transaction put a newer one in place meanwhile
                self.book = book
        return readable

    async def _up_to_nonsense(self, ledger: LedgerStore) -> Book:
        """Return a Book of the rows before the first that no Book can read."""
        trial, good = Book(), Book()
        sensible: list[Row] = []
        async for row in ledger.rows_after(0):
            try:
                trial.advance([row])
            except Exception:
                break
            sensible.append(row)
        good.advance(sensible)
        return good

    def found_damage(self, seq: int, read_to: int | None = None) -> None:
        """Ledger row `seq` is not what was written: nothing more is entered. The first finding stands."""
        if self.damage is None or (read_to is not None and self.damage.read_to is None):
            self.damage = Damage(min(seq, self.damage.seq) if self.damage else seq, read_to)

    async def _read_again(self) -> None:
        await self._reload_directory()
        await self.catch_up()
        self._uncertain = False

    @asynccontextmanager
    async def transaction(self, *, entries: bool = True) -> AsyncIterator["Tx"]:
        """Open a writing transaction. It commits when the block ends, and rolls back on any exception.

        Raises StorageFailed where the database refuses; nothing is then recorded. LedgerDamaged is one of these: only
        with `entries` off (nothing of the league's will be changed) can anything be written beside a damaged ledger.
        """
        if entries:
            self.refuse_damage()
        try:
            async with self.database.write() as connection:
                head = await LedgerStore(connection).head(lock=True)
                if self.damage is None and (self._uncertain or head != (self.book.seq, self.book.hash)):
                    if self._uncertain or head != self._written:
                        await self._read_again()
                    else:  # the transaction before this one has ended, and its rows are not read yet
                        await self.catch_up()
                    if entries:
                        self.refuse_damage()
                tx = Tx(self, connection, head)
                yield tx
        except BaseException:
            self._uncertain = True  # a commit that failed may have gone through
            with suppress(StorageFailed):  # if it cannot be read now, then before the next command
                await self._read_again()
            raise
        if tx.book.seq > self.book.seq:  # folded already, where the transaction looked at a correction
            self.book = tx.book
        if tx.appended:
            self.tried = None
        if tx.edited:
            self.directory = tx.directory
        if tx.appended:
            self._written = tx.head
            with suppress(StorageFailed):  # committed it is; the next command catches up
                await self._take_in(tx.rows)

    def refuse_damage(self) -> None:
        """Raise LedgerDamaged where the ledger is."""
        if self.damage is not None:
            raise LedgerDamaged(f"ledger row {self.damage.seq} is not what was written")
