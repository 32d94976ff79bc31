"""棋手: who there is, his 原始分 (L4), IP check (L11), former names, and the balances with which he came (§3 D)."""

from typing import TYPE_CHECKING

from rating_core.book import Book
from rating_core.directory import Directory
from rating_core.ledger import OpeningBalance
from rating_core.rulebook import ORDINARY_PLACING
from rating_core.workbook.cells import Moment, Place, Styles, Value, column_name, head, put
from rating_core.workbook.layout import ARCHIVED, CHECKED, LISTED, PLAYER_COLUMNS, PLAYERS
from rating_core.workbook.standings import Ratings

if TYPE_CHECKING:
    from xlsxwriter.worksheet import Worksheet

_PLACES = {title: place for place, title in enumerate(PLAYER_COLUMNS)}


def write_players(
    sheet: "Worksheet", styles: Styles, book: Book, directory: Directory, ratings: Ratings
) -> dict[int, Place]:
    """Write the sheet; note where each 原始分 stands, and return where each opening balance does (by ledger row)."""
    for title, place in _PLACES.items():
        wide = {"名字": 16, "曾用名": 24, "期初榜": 10, "最高分日期": 12, "截至": 12}
        sheet.set_column(place, place, wide.get(title, 9))
    sheet.freeze_panes(1, 1)
    head(sheet, 0, PLAYER_COLUMNS, styles)
    openings: dict[int, list[tuple[int, str, OpeningBalance]]] = {}
    for seq, pool, entry in book.entries(OpeningBalance):
        openings.setdefault(entry.player, []).append((seq, pool, entry))
    former = directory.roster.former_names()
    formats = {_PLACES[title]: styles.rating for title in ("原始分", "期初分", "历史最高分")}
    found: dict[int, Place] = {}
    row = 0
    for player in sorted(book.state.initial):
        if book.alias(player) != player:
            continue
        values: dict[str, Value] = {
            "名次": book.state.placing.get(player, ORDINARY_PLACING),
            "原始分": book.state.initial[player],
            "IP核验": CHECKED if player in book.state.ip_checked else None,
            "曾用名": "".join(f"「{name}」" for name in former.get(player, ())) or None,
        }
        ratings.start(player, Place(PLAYERS, row + 1, column_name(_PLACES["原始分"])))
        own: list[tuple[int, str, OpeningBalance] | None] = [*openings.get(player, ())]
        for opening in own or [None]:
            row += 1
            values["名字"] = directory.name_of(player)
            if opening is not None:
                seq, pool, entry = opening
                values |= _balance(pool, entry)
                found[seq] = Place(PLAYERS, row, column_name(_PLACES["期初分"]))
            for title, value in sorted(values.items(), key=lambda item: _PLACES[item[0]]):
                put(sheet, row, _PLACES[title], value, styles, formats.get(_PLACES[title]))
            values = {}
    if row:
        sheet.autofilter(0, 0, row, len(PLAYER_COLUMNS) - 1)
    return found


def _balance(pool: str, entry: OpeningBalance) -> dict[str, Value]:
    return {
        "期初榜": pool, "期初分": entry.rating, "胜": entry.wins, "平": entry.draws, "负": entry.losses,
        "历史最高分": entry.peak, "最高分日期": None if entry.peak_at is None else Moment(entry.peak_at, day=True),
        "本季盘数": entry.season_games, "状态": ARCHIVED if entry.archived else LISTED,
        "截至": Moment(entry.as_of, day=True),
    }  # fmt: skip
