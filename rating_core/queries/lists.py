"""Published lists (第N期) and the archive list (封存名单) of a pool (§7, §8; L7, L8, L15)."""

from collections import Counter
from dataclasses import dataclass
from typing import Literal

from rating_core.book import Book
from rating_core.directory import Directory
from rating_core.ledger import LeaveTaken, ListRow, Settlement
from rating_core.queries.boards import Baseline, Board, BoardRow
from rating_core.rules.display import Display, masked_player
from rating_core.state import PublishedList, Standing
from rating_core.times import season_of, season_start


def find_list(book: Book, pool: str, number: int) -> PublishedList | None:
    """Return 第`number`期 of a pool; None where there is none or it was voided."""
    return next((each for each in book.state.lists.get(pool, ()) if each.number == number), None)


def published_board(book: Book, directory: Directory, pool: str, published: PublishedList) -> Board:
    """Return a published list as a board: its figures as published, names as they are now.

    Who stood on it under two names that were merged since is still two, each with his own name. The 涨跌 are against
    the list before it.
    """
    display, baseline = Display.on(published.as_of), Baseline.before(book, pool, published.number)
    times = Counter(book.alias(row[0]) for row in published.rows)

    def row_of(row: ListRow) -> BoardRow:
        player, rank, shown, rating, wins, draws, losses, peak, peak_at = row
        games = wins + draws + losses
        twice = times[book.alias(player)] > 1
        name = directory.name_before_merge(player) if twice else directory.name_of(player)
        return BoardRow(
            rank, player, name, shown, rating, games, wins, draws, losses, peak, peak_at,
            display.missing(games), player in book.state.ip_checked,
            None if baseline is None else baseline.change(player if twice else book.alias(player), rank, shown),
        )  # fmt: skip

    against = None if baseline is None else baseline.number
    rows = tuple(map(row_of, published.rows))
    return Board(pool, published.as_of, display.needed, rows, len(rows), 0, against, published.number)


# --- 封存名单 ---------------------------------------------------------------------------------------------

ArchiveReason = Literal["few_games", "leave", "opening"]


@dataclass(frozen=True, slots=True)
class ArchivedRow:
    """An archived player. Rating in points, unrounded; times in ms.

    reason: few_games (settlement, L7), leave (L8), opening (archived already when the league moved here).
    """

    player: int
    name: str
    rating: float
    since: int
    barred_until: int | None
    """By the archiving or by a leave in force; None once he may play again."""
    reason: ArchiveReason


def archived(book: Book, directory: Directory, pool: str, at: int) -> tuple[ArchivedRow, ...]:
    """Return who stands on a pool's archive list, by rating, then name. 蒙面人公用号 is on no list (L13)."""
    masked = masked_player(directory)
    found = {p: s for p, s in book.state.pools[pool].standings.items() if s.listed and s.archived and p != masked}
    reasons = _reasons(book, pool, found)

    def row_of(player: int, s: Standing) -> ArchivedRow:
        until = max(s.barred_until, book.state.leave_until.get(player, 0))
        barred_until = until if until > at else None
        return ArchivedRow(player, directory.name_of(player), s.rating, s.archived_at, barred_until, reasons[player])

    rows = [row_of(player, standing) for player, standing in found.items()]
    return tuple(sorted(rows, key=lambda row: (-row.rating, row.name)))


def _reasons(book: Book, pool: str, found: dict[int, Standing]) -> dict[int, ArchiveReason]:
    """Return why each is archived: by his last settlement, or by the leave of the season in which he was archived."""
    reasons: dict[int, ArchiveReason] = dict.fromkeys(found, "opening")
    for _, where, settlement in book.entries(Settlement):
        if where == pool:
            for player, taken in settlement.verdicts:
                if player in found:
                    reasons[player] = "few_games" if taken else "leave"
    for _, _, leave in book.entries(LeaveTaken):
        standing = found.get(leave.player) if pool in leave.pools else None
        if standing is not None and leave.until == season_start(season_of(standing.archived_at) + 1):
            reasons[leave.player] = "leave"
    return reasons
