"""What an import would do: new players, opening balances, rows already there, and everything that is wrong."""

from collections.abc import Container, Mapping
from dataclasses import dataclass, replace

from rating_core.book import Book
from rating_core.directory import Directory
from rating_core.importing.table import Table
from rating_core.importing.values import Problem, RosterRow, read_row
from rating_core.ledger import OpeningBalance
from rating_core.report_text import WORDS, WRONG_WORDS
from rating_core.roster import Roster
from rating_core.rulebook import IP_CHECK_RATING, MASKED_NAME, ORDINARY_PLACING, PROVISIONAL_GAMES
from rating_core.times import day_of, show_day
from rating_core.words import RESERVED_WORDS

RESERVED = RESERVED_WORDS | frozenset(WORDS) | frozenset(WRONG_WORDS)

Openings = Mapping[tuple[int, str], OpeningBalance]
"""(player, pool) → the opening balance in force."""


@dataclass(frozen=True, slots=True)
class NewPlayer:
    """A player to be registered, with the QQ numbers to be bound to him."""

    row: int
    name: str
    placing: str
    initial: float
    qqs: tuple[str, ...]
    ip_checked: bool


@dataclass(frozen=True, slots=True)
class NewOpening:
    """An opening balance to be entered; `entry.player` is 0 until the player has his number."""

    row: int
    name: str
    pool: str
    entry: OpeningBalance


@dataclass(frozen=True, slots=True)
class Notes:
    """What is right but worth a look: names, and counts of rows."""

    need_ip_check: tuple[str, ...] = ()
    """L11: from 2200 on and without an IP check: cannot play counted games yet."""
    provisional: int = 0
    """Balances with fewer than N games (L12), whose rating must be the actual one."""
    no_season_games: int = 0
    """Balances that do not say how many games this season has seen (L7)."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything or nothing: it may be applied only when there are no problems."""

    rows: int
    players: tuple[NewPlayer, ...]
    openings: tuple[NewOpening, ...]
    known: int
    """Rows whose data is in the book already."""
    problems: tuple[Problem, ...]
    notes: Notes

    @property
    def changes(self) -> bool:
        return bool(self.players or self.openings)


def plan(
    table: Table, book: Book, directory: Directory, openings: Openings, at: int, reserved: Container[str] = RESERVED
) -> Plan:
    """Check a file against the book and against itself; `at` (ms) is now. Nothing is changed."""
    return _Planner(table, book, directory, openings, at).plan(reserved)


class _Planner:
    def __init__(self, table: Table, book: Book, directory: Directory, openings: Openings, at: int) -> None:
        self._table, self._book, self._directory, self._existing, self._at = table, book, directory, openings, at
        self._roster: Roster = directory.roster.copy()
        """The book's names, and those new in the file under numbers below 0."""
        self._problems: list[Problem] = []
        self._players: dict[str, NewPlayer] = {}
        self._openings: dict[tuple[str, str], NewOpening] = {}
        self._name_rows: dict[str, int] = {}
        self._pool_rows: dict[tuple[str, str], int] = {}
        self._qq_rows: dict[str, tuple[int, str]] = {}
        self._known = self._no_season = 0

    def plan(self, reserved: Container[str]) -> Plan:
        for number, cells in self._table.rows:
            name, row, problems = read_row(self._table, number, cells, self._at, reserved)
            self._problems += problems
            if name is not None and self._take_name(number, name) and row is not None:
                self._take(row)
        return Plan(
            len(self._table.rows), tuple(self._players.values()), tuple(self._openings.values()), self._known,
            tuple(sorted(self._problems, key=lambda problem: problem.row)), self._notes(),
        )  # fmt: skip

    def _wrong(self, row: int, key: str, code: str, **facts: object) -> None:
        self._problems.append(Problem(row, self._table.titles.get(key, ""), code, facts))

    def _take_name(self, number: int, name: str) -> bool:
        """Enter a name; return whether the row may go on with it."""
        owner = self._roster.resolve(name)
        if owner is not None and owner > 0 and self._directory.name_of(owner) != name:
            self._wrong(number, "name", "former_name", name=name, now=self._directory.name_of(owner))
            return False
        if owner is None:
            if (alike := self._roster.confusable_with(name)) is not None:
                self._wrong(number, "name", "confusable", name=name, alike=alike, other=self._name_rows.get(alike))
                return False
            self._name_rows[name] = number
            self._roster.add(name, -len(self._name_rows))
        return True

    def _take(self, row: RosterRow) -> None:
        first = self._pool_rows.setdefault((row.name, row.pool), row.row)
        if first != row.row:
            self._wrong(row.row, "name", "double_row", name=row.name, other=first, pool=row.pool)
            return
        player = self._directory.roster.resolve(row.name)
        if self._take_qqs(row, player):
            if player is None:
                self._new(row)
            else:
                self._compare(row, player)

    def _take_qqs(self, row: RosterRow, player: int | None) -> bool:
        """§5: a QQ is bound to at most one name."""
        before = len(self._problems)
        for qq in row.qqs:
            other_row, other_name = self._qq_rows.setdefault(qq, (row.row, row.name))
            account = self._directory.by_qq.get(qq)
            bound = account.player_id if account else None
            if other_name != row.name:
                self._wrong(row.row, "qq", "qq_twice", qq=qq, other=other_row, name=other_name)
            elif bound is not None and bound != player:
                self._wrong(row.row, "qq", "qq_bound", qq=qq, name=self._directory.name_of(bound))
            elif bound is None and player is not None:
                self._wrong(row.row, "qq", "qq_not_bound", qq=qq, name=row.name)
        return len(self._problems) == before

    def _new(self, row: RosterRow) -> None:
        player = self._players.get(row.name)
        if player is None:
            player = NewPlayer(row.row, row.name, row.placing or ORDINARY_PLACING, row.initial, row.qqs, row.ip_checked)
        elif row.placing is not None and row.placing != player.placing:
            self._wrong(row.row, "placing", "other_placing", other=player.row, ours=player.placing, theirs=row.placing)
            return
        else:
            qqs = tuple(dict.fromkeys(player.qqs + row.qqs))
            player = replace(player, qqs=qqs, ip_checked=player.ip_checked or row.ip_checked)
        self._players[row.name] = player
        self._open(row)

    def _open(self, row: RosterRow) -> None:
        if row.opening is not None:
            self._openings[row.name, row.pool] = NewOpening(row.row, row.name, row.pool, row.opening)
            self._no_season += "season_games" not in row.stated

    def _compare(self, row: RosterRow, player: int) -> None:
        """A name that is on the roster: the same data is passed over, other data is a slip or another matter."""
        before = len(self._problems)
        state = self._book.state
        if row.placing is not None and row.placing != state.placing[player]:
            self._wrong(row.row, "placing", "differs", ours=state.placing[player], theirs=row.placing)
        if row.ip_checked and player not in state.ip_checked:
            self._wrong(row.row, "ip", "not_ip_checked", name=row.name)
        existing = self._existing.get((player, row.pool))
        fresh = False
        if row.opening is not None and existing is not None:
            self._compare_openings(row, row.opening, existing)
        elif row.opening is not None:
            fresh = not state.look(row.pool, player).listed
            if not fresh:
                self._wrong(row.row, "rating", "has_games", name=row.name, pool=row.pool)
        if len(self._problems) > before:
            return
        if fresh:
            self._open(row)
        else:
            self._known += 1

    def _compare_openings(self, row: RosterRow, opening: OpeningBalance, existing: OpeningBalance) -> None:
        for key, name in _COMPARED.items():
            theirs, ours = getattr(opening, name), getattr(existing, name)
            if key in row.stated and theirs != ours:
                self._wrong(row.row, key, "differs", ours=_said(name, ours), theirs=_said(name, theirs))

    def _notes(self) -> Notes:
        day = day_of(self._at)
        limit = IP_CHECK_RATING.on(day)
        high = {name: None for name, player in self._players.items() if player.initial >= limit}
        high |= {new.name: None for new in self._openings.values() if new.entry.rating >= limit}
        checked = {self._directory.name_of(player) for player in self._book.state.ip_checked}
        checked |= {name for name, player in self._players.items() if player.ip_checked} | {MASKED_NAME}
        games = [new.entry.wins + new.entry.draws + new.entry.losses for new in self._openings.values()]
        return Notes(
            tuple(name for name in high if name not in checked),
            sum(count < PROVISIONAL_GAMES.on(day) for count in games),
            self._no_season,
        )


_COMPARED = {
    "rating": "rating",
    "wins": "wins",
    "draws": "draws",
    "losses": "losses",
    "season_games": "season_games",
    "state": "archived",
    "peak": "peak",
    "peak_at": "peak_at",
    "as_of": "as_of",
}


def _said(name: str, value: object) -> str:
    """Return a field's value as the file would say it."""
    if value is None:
        return "空"
    if name == "archived":
        return "封存" if value else "在榜"
    if name in ("peak_at", "as_of") and isinstance(value, int):
        return show_day(value)
    return f"{value:g}" if isinstance(value, float) and value == round(value) else str(value)
