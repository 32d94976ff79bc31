"""One writing transaction of the league: what it looks at, tries and appends, and what it says about people."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rating_core.book import Book
from rating_core.directory import SCOREKEEPER, Account, Actor, Directory, Holding, PastBinding
from rating_core.ledger import Amend, Draft, Games, Merged, Row, Void
from rating_core.names import skeleton
from rating_core.service.impact import Impact, compare
from rating_core.state import State
from rating_core.store.challenge_store import ChallengeStore
from rating_core.store.database import DbConnection
from rating_core.store.desk_store import DeskStore, JournalLine
from rating_core.store.forgetting import Forgetting
from rating_core.store.import_store import ImportStore
from rating_core.store.ledger_store import LedgerStore
from rating_core.store.list_store import ListStore
from rating_core.store.people_store import Counters, PeopleStore
from rating_core.store.report_store import ReportStore
from rating_core.store.wire_store import ChatTable, InboxTable, OutboxTable
from rating_core.times import day_of
from rating_core.trial import Trial, announce

if TYPE_CHECKING:
    from rating_core.service.league import League


@dataclass(frozen=True, slots=True)
class Tried:
    """A correction that was tried: the Book as it will be, made on that of the ledger row with hash `on`.

    `impact` is what it changes, with the names of `directory` and the ranks of the day of `at` (ms).
    """

    draft: Draft
    on: str
    book: Book
    impact: Impact
    directory: Directory
    at: int


class Tx:
    """One transaction: stores on its connection, a trial of the Book, and the directory as it will be."""

    def __init__(self, league: "League", connection: DbConnection, head: tuple[int, str] | None = None) -> None:
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
        self._tried: Tried | None = None

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
    def rows(self) -> Sequence[Row]:
        """The rows that this transaction appended."""
        return self._rows

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
                self._tried, self.book = tried, tried.book
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

    async def try_out(self, draft: Draft, at: int) -> Tried:
        """Return what a correction would make of the Book and change in it, with the ranks of the day of `at` (ms).

        It is kept for `append` and `impact`. The bot goes on answering meanwhile.
        """
        self.read_own()
        before, directory = self.book, self.directory

        def work_out() -> tuple[Book, Impact]:
            book = before.with_drafts([draft])
            return book, compare(before, book, directory, at)

        book, impact = await asyncio.to_thread(work_out)
        self.league.tried = Tried(draft, before.hash, book, impact, directory, at)
        return self.league.tried

    async def impact(self, before: Book, at: int) -> Impact:
        """Return what changed since `before`, the Book at the beginning of this transaction, which then corrected it.

        What was worked out when the correction was tried still holds by the same names on the same day.
        """
        tried = self._tried
        if tried is not None and tried.directory is self.directory and day_of(tried.at) == day_of(at):
            return tried.impact
        return await asyncio.to_thread(compare, before, self.book, self.directory, at)

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
