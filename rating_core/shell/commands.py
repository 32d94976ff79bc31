"""What the shell's commands do. `say` takes a line for people; the return value is the exit code."""

from collections.abc import Callable, Iterable
from pathlib import Path

from rich.console import Console
from rich.progress import track

from rating_core.book import Book
from rating_core.check import Replay
from rating_core.ledger import LedgerError, Row
from rating_core.queries import board, calculate
from rating_core.report_text import Result
from rating_core.rulebook import EVENT_WEIGHTS, POOLS
from rating_core.service.backups import make_backup
from rating_core.service.league import League
from rating_core.shell import wording
from rating_core.shell.opening import BACKUPS, ShellError, file_of, reading, writing
from rating_core.store.backup import BackupFailed
from rating_core.store.database import Database
from rating_core.store.ledger_store import LedgerStore
from rating_core.store.sealed import SEALED_TABLES, SealedTable, broken_rows
from rating_core.times import to_datetime

Say = Callable[[str], None]
Clock = Callable[[], int]


async def league_of(database: Database, clock: Clock) -> League:
    """Open the league for a command. Raises ShellError where the ledger cannot be read."""
    league = await League.open(database, clock)
    if league.damage is not None:
        raise ShellError(wording.chain_broken(league.damage.seq))
    return league


# --- board, calc ------------------------------------------------------------------------------------------


async def show_board(url: str, pool: str, top: int | None, as_json: bool, clock: Clock, say: Say) -> int:
    """Print a pool's board."""
    if pool not in POOLS:
        raise ShellError(wording.bad_pool(pool))
    async with reading(url) as database:
        league = await league_of(database, clock)
    found = board(league.book, league.directory, pool, clock())
    say(wording.board_json(found, top) if as_json else wording.board(found, top))
    return 0


def calc(left: float, word: str, right: float, weight: str, say: Say) -> int:
    """Print the new ratings of both sides with the formula filled in."""
    result = next((result for result in Result if result.word == word), None)
    if result is None:
        raise ShellError(wording.bad_result(word))
    if weight not in EVENT_WEIGHTS:
        raise ShellError(wording.bad_weight(weight))
    say(wording.calculation(calculate([left], result, [right], EVENT_WEIGHTS[weight])))
    return 0


# --- replay -----------------------------------------------------------------------------------------------


async def replay(url: str, verify: bool, say: Say) -> int:
    """Fold the ledger afresh; with `verify` check chain, announced figures and rights too. 1 if something is wrong."""
    fold = Replay(dict(POOLS))
    async with reading(url) as database, database.read() as connection:
        ledger = LedgerStore(connection)
        head: tuple[int, str] | None = await ledger.head()
        rows: list[Row] = []
        try:
            rows = [row async for row in ledger.rows_after(0)]
        except LedgerError:
            head = None
        referred_to = await ledger.last_referred_to()
        broken_rights = await broken_rows(connection)
    fold.read(_progress(rows))
    fold.end(head, referred_to)
    if fold.broken is not None:
        say(wording.chain_broken(fold.broken))
        return 1
    _say_figures(fold.book, rows, say)
    if not verify:
        return 0
    say(wording.CHAIN_WHOLE)
    say(wording.REPLAY_EQUAL if fold.wrong is None else wording.replay_differs(fold.wrong))
    if broken_rights:
        say(wording.broken_rights(broken_rights))
    return 0 if fold.wrong is None and not broken_rights else 1


def _progress(rows: list[Row]) -> Iterable[Row]:
    return track(rows, "重算", console=Console(stderr=True), transient=True)


def _say_figures(book: Book, rows: list[Row], say: Say) -> None:
    counted = sum(book.counted(index) for index in range(len(book.columns)))
    corrections = sum(row.kind in ("void", "amend") for row in rows)
    last_at = rows[-1].at if rows else None
    say(wording.replayed(len(rows), last_at, len(book.state.initial), len(book.columns), counted, corrections))
    listed = {name: [s for s in pool.standings.values() if s.listed] for name, pool in book.state.pools.items()}
    lines = [(n, len(found), sum(s.games for s in found), sum(s.rating for s in found)) for n, found in listed.items()]
    if any(line[1] for line in lines):
        say(wording.standings(line for line in lines if line[1]))


# --- backup -----------------------------------------------------------------------------------------------


async def backup(url: str, folder: Path | None, clock: Clock, say: Say) -> int:
    """Copy the SQLite file, also while the bot uses it."""
    path = file_of(url)
    if path is None:
        raise ShellError(wording.NO_BACKUP_HERE)
    label = to_datetime(clock()).strftime("%Y%m%d-%H%M%S")
    try:
        saved = await make_backup(path, folder or path.parent / BACKUPS, label)
    except BackupFailed as error:
        raise ShellError(wording.backup_failed(error)) from error
    say(wording.backed_up(saved, saved.stat().st_size))
    return 0


# --- rights -----------------------------------------------------------------------------------------------


async def rights(url: str, drop: bool, say: Say) -> int:
    """Show the rows that should grant rights and are not what was written; `drop` deletes them. 1 if there are any."""
    if drop:
        async with writing(url) as (database, _), database.write() as connection:
            dropped = sum([await SealedTable(connection, table).remove_broken() for table in SEALED_TABLES])
        say(wording.rights_dropped(dropped))
        return 0
    async with reading(url) as database, database.read() as connection:
        found = await broken_rows(connection)
    say(wording.broken_rights(found) if found else wording.RIGHTS_WHOLE)
    return 1 if found else 0
