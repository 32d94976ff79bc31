"""The league: one database, one Book, and the transactions through which everything is written.

A command is tried on a fork of the Book, committed, and only then the Book catches up by reading the ledger.
After any exception it catches up before the next command.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, replace

from rating_core.book import Book
from rating_core.directory import SCOREKEEPER, Account, Actor, Directory, Holding, PastBinding
from rating_core.ledger import Amend, Draft, Games, LedgerError, Merged, Row, Void, continues
from rating_core.names import skeleton
from rating_core.past import PastBooks
from rating_core.state import State
from rating_core.store.challenge_store import ChallengeStore
from rating_core.store.database import Database, DbConnection, StorageFailed
from rating_core.store.desk_store import DeskStore, JournalLine
from rating_core.store.forgetting import Forgetting
from rating_core.store.import_store import ImportStore
from rating_core.store.ledger_store import BATCH, LedgerStore
from rating_core.store.list_store import ListStore
from rating_core.store.people_store import Counters, PeopleStore
from rating_core.store.report_store import ReportStore
from rating_core.store.sealed import BrokenRow, broken_rows
from rating_core.store.snapshot import LEAST_GAMES, LEAST_ROWS, Snapshot, SnapshotUnfit
from rating_core.store.tables import roles
from rating_core.store.wire_store import ChatTable, InboxTable, OutboxTable
from rating_core.trial import Trial, announce


@dataclass(frozen=True, slots=True)
class Damage:
    """The ledger is not what was written, from row `seq` on. Only a restart after its repair makes it good."""

    seq: int
    read_to: int | None = None
    """The last row the Book holds, where the next one cannot be read; None: it holds all."""


class LedgerDamaged(StorageFailed):
    """Nothing is recorded until the ledger is repaired."""


@dataclass(frozen=True, slots=True)
class Tried:
    """A correction that was tried: the Book as it will be, made on that of the ledger row with hash `on`."""

    draft: Draft
    on: str
    book: Book


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
                await self.catch_up()

    def refuse_damage(self) -> None:
        """Raise LedgerDamaged where the ledger is."""
        if self.damage is not None:
            raise LedgerDamaged(f"ledger row {self.damage.seq} is not what was written")


class Tx:
    """One transaction: stores on its connection, a trial of the Book, and the directory as it will be."""

    def __init__(self, league: League, connection: DbConnection, head: tuple[int, str] | None = None) -> None:
        """`head`: that of the ledger, which is locked."""
        self.league = league
        self.book = league.book
        self.now = league.clock()
        self.ledger = LedgerStore(connection, head)
        self.people = PeopleStore(connection)
        self.reports = ReportStore(connection)
        self.challenges = ChallengeStore(connection)
        self.lists = ListStore(connection)
        self.imports = ImportStore(connection)
        self.desk = DeskStore(connection)
        self.inbox = InboxTable(connection)
        self.outbox = OutboxTable(connection)
        self.chats = ChatTable(connection)
        self.counters = Counters(connection)
        self.forgetting = Forgetting(connection)
        self.appended = 0
        self._rows: list[Row] = []
        self._trial: Trial | None = None
        self.edited = False
        self._directory = league.directory

    @property
    def trial(self) -> Trial:
        """The Book as it will be with what this transaction appended so far."""
        if self._trial is None:
            self.read_own()
            self._trial = Trial.of(self.book)
        return self._trial

    @property
    def seq(self) -> int:
        """The ledger's last row, what this transaction appended included."""
        return self._rows[-1].seq if self._rows else self.book.seq

    @property
    def head(self) -> tuple[int, str]:
        """Number and hash of that row."""
        return (self._rows[-1].seq, self._rows[-1].hash) if self._rows else (self.book.seq, self.book.hash)

    @property
    def state(self) -> State:
        """What stands now, with what this transaction appended so far; for looking things up, not for changing."""
        return self.trial.state if self.appended else self.book.state

    @property
    def directory(self) -> Directory:
        return self._directory

    def edit_directory(self) -> Directory:
        """Return a directory that may be changed; it becomes the league's when the transaction commits."""
        if not self.edited:
            self._directory, self.edited = self._directory.copy(), True
        return self._directory

    async def read_directory(self) -> None:
        """Read the directory anew, after somebody was forgotten."""
        merged = self._directory.merged
        self._directory, self.edited = await self.league.read_directory(self.people), True
        self._directory.merged = merged

    async def append(self, draft: Draft) -> tuple[Row, range]:
        """Try an entry and append it; games carry the figures the trial gave them.

        Return the row and the positions of its games in `trial.columns`. After a correction the trial begins anew,
        and `book` shows it.
        """
        self.league.refuse_damage()
        if isinstance(draft.entry, Void | Amend | Merged):
            (row,) = await self.ledger.append([draft], self.now)
            self.appended += 1
            tried, self.league.tried = self.league.tried, None
            if tried is not None and (tried.draft, tried.on) == (draft, self.book.hash) and not self._rows:
                self.book = tried.book
                self.book.hash = row.hash  # our clock's time is in it, which nobody knew before
            self._rows.append(row)
            await asyncio.to_thread(self.read_own)  # folds again from the old entry on; the bot goes on answering
            self._trial = Trial.of(self.book)
            return row, range(0)
        games = self.trial.apply(draft, self.seq + 1)
        if isinstance(draft.entry, Games):
            told = announce(self.trial.columns, games, draft.entry.lines)
            draft = replace(draft, entry=replace(draft.entry, announced=told))
        (row,) = await self.ledger.append([draft], self.now)
        self.appended += 1
        self._rows.append(row)
        return row, games

    async def try_out(self, draft: Draft) -> Book:
        """Return the Book as it would be with a correction; it is kept for `append`. The bot goes on answering."""
        self.read_own()
        book = await asyncio.to_thread(self.book.with_drafts, [draft])
        self.league.tried = Tried(draft, self.book.hash, book)
        return book

    async def append_all(self, drafts: list[Draft]) -> list[Row]:
        """Append many entries at once, as they are: what the Book made of them has been looked at before.

        `book` does not show them before `read_own`; games carry no announced figures, nobody was told any.
        """
        self.league.refuse_damage()
        rows = await self.ledger.append(drafts, self.now)
        self.appended += len(rows)
        self._rows += rows
        self._trial = None
        return rows

    def read_own(self) -> None:
        """Let `book` show what this transaction appended so far; the league's own Book does not move."""
        rows = [row for row in self._rows if row.seq > self.book.seq]
        if rows:
            self.book = self.book.fork()
            self.book.advance(rows)

    async def journal(
        self, actor: Actor, said_at: int, action: str, *, about: str = "", player: int | None = None,
        detail: str = "", reason: str = "",
    ) -> None:  # fmt: skip
        """Write down who did what, when and why."""
        await self.desk.write_journal(JournalLine(said_at, actor.account_id, action, about, player, detail, reason))

    # --- people -------------------------------------------------------------------------------------------

    async def account(self, qq: str) -> Account:
        """Return the account of a QQ, made when it has none."""
        known = self.directory.by_qq.get(qq)
        if known is not None:
            return known
        account = Account(await self.counters.take("account"), qq, None)
        await self.people.add_account(account.account_id, qq)
        self.edit_directory().put(account)
        return account

    async def actor(self, qq: str, *, scoring_admin: bool = False) -> Actor:
        """Return who this QQ is. Owner and admins of a scoring group are scorekeepers from the start."""
        actor = self.directory.actor(qq, self.league.superusers)
        if scoring_admin and not actor.desk:
            account = await self.account(qq)
            if self.directory.may_be_admitted(account.account_id):
                known = self.directory.roles.get(account.account_id, frozenset())
                await self.set_roles(account.account_id, known | {SCOREKEEPER}, by=0)
                actor = self.directory.actor(qq, self.league.superusers)
        return actor

    async def known(self, actor: Actor) -> Actor:
        """Return the actor with an account, made when he has none."""
        if actor.account_id:
            return actor
        return replace(actor, account_id=(await self.account(actor.qq)).account_id)

    async def note_card(self, qq: str, card: str) -> None:
        """Remember what a group calls an account that does things here."""
        account = self.directory.by_qq.get(qq)
        if account is not None and card and account.card != card:
            await self.people.set_card(account.account_id, card)
            self.edit_directory().put(replace(account, card=card))

    async def set_roles(self, account_id: int, roles: frozenset[str], *, by: int) -> None:
        await self.people.set_roles(account_id, roles, self.now, by)
        directory = self.edit_directory()
        directory.roles[account_id] = roles

    async def bind(self, account: Account, player: int | None, *, by: int) -> None:
        """Bind an account to a player (None: unbind); whom it was bound to before is remembered."""
        directory = self.edit_directory()
        if account.player_id is not None:
            past = PastBinding(account.account_id, account.player_id, account.bound_at or 0, self.now)
            await self.people.add_past_binding(past)
            directory.past_bindings = (*directory.past_bindings, past)
        await self.people.bind(account.account_id, player, self.now, by)
        directory.put(replace(account, player_id=player, bound_at=self.now))

    async def hand_out_masked(self, account: Account, at: int, *, by: int) -> None:
        """Let an account hold 蒙面人公用号 from `at` (ms) on; nobody may hold it."""
        await self.people.add_holding(account.account_id, at, by)
        directory = self.edit_directory()
        directory.holdings = (*directory.holdings, Holding(account.account_id, at))

    async def take_back_masked(self, at: int) -> None:
        """Nobody holds 蒙面人公用号 from `at` (ms) on; somebody must hold it."""
        await self.people.end_holding(at)
        directory = self.edit_directory()
        directory.holdings = (*directory.holdings[:-1], replace(directory.holdings[-1], until=at))

    async def name_player(self, player: int, name: str) -> None:
        """Give a player his (first or new) name; checks are the caller's."""
        await self.people.add_name(name, skeleton(name), player, self.now)
        roster = self.edit_directory().roster
        if player in roster.current_names():
            roster.rename(player, name)
        else:
            roster.add(name, player)
