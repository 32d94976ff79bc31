"""A made-up league with names that are hard to show, and every kind of picture of it.

`python -m tests.support.gallery FOLDER` draws them all into a folder, to be looked at.
"""

import random
import sys
from functools import cache
from pathlib import Path

from plugins.rating_bot.pictures import board, card, curve, head_to_head, settlement
from plugins.rating_bot.wire.messages import Picture
from rating_core import queries
from rating_core.book import Book
from rating_core.directory import Directory
from rating_core.ledger import IpChecked, ListPublished
from rating_core.report_text import GameLine, Result
from rating_core.rulebook import DEFAULT_POOL
from rating_core.service.season import Judged, Sheet
from tests.support.books import Books
from tests.support.rows import ms

POOL = DEFAULT_POOL
NOW = ms("2026-11-30 12:00")
LONGEST = "一二三四五六七八九十一二三四五六"
RARE = "𠮷野家"
MISSING = "𠀀稀有字"
"""Its first character is in none of the fonts."""
HOSTILE = ("<b>#*_[x]$", "#let x = 1", '\\"`~|', "=cmd|1", "$x^2$", "//comment", "@local/preview:1", "]#panic()[")
NAMES = (
    "张三", "李四", "王五", "赵六", "钱七", "孙八", "周九", "吴十", "常胜将军", "石头", "清风", "云中鹤", "跳跳虎",
    "平安", "小马哥", "老 顽童", "夜行者", RARE, MISSING, LONGEST, "W" * 16, "😀笑脸王", "🇨🇳❤✨🫠", "Иван", "ไทย",
    "Ünïçødé", "한국 기사", *HOSTILE,
)  # fmt: skip
UNPLAYED = "–——－"
TITLE = "传统单跳1v1跳棋等级分排行榜2026年11月30日（含十一月月赛）"


@cache
def league(games: int = 900) -> tuple[Book, Directory]:
    """Return the Book after so many games in three seasons; 第3期 was published 80 games before the end."""
    chance = random.Random(4)
    books = Books()
    for name in (*NAMES, UNPLAYED):
        books.join(name, rating=chance.choice([2000.0, 2000.0, 2000.0, 2100.0, 2200.0, 2300.0]))
    strength = {name: chance.gauss(0, 130) for name in NAMES}
    begin, end = ms("2024-02-01 20:00"), ms("2026-11-29 20:00")
    late = set(NAMES[-2:])
    for number, at in enumerate(sorted(chance.randint(begin, end) for _ in range(games))):
        pair = chance.sample([name for name in NAMES if name not in late or number > games - 40], 2)
        expected = 1 / (1 + 10 ** ((strength[pair[1]] - strength[pair[0]]) / 400))
        draw = chance.random() < 0.12
        result = Result.DRAW if draw else Result.WIN if chance.random() < expected else Result.LOSS
        books.rows.play([GameLine((books.id(pair[0]),), result, (books.id(pair[1]),))], at=at)
        if number == games - 80:
            _publish(books, at)
    for name in ("张三", RARE, LONGEST, "W" * 16):
        books.add(IpChecked(books.id(name), True), at="2026-11-29 22:00")
    return books.book(), books.directory


def _publish(books: Books, at: int) -> None:
    """Publish the board as it stands."""
    rows = queries.board(books.book(), books.directory, POOL, at).rows
    listed = tuple(
        (r.player, r.rank, r.shown, r.rating, r.wins, r.draws, r.losses, r.peak, r.peak_at) for r in rows
    )  # fmt: skip
    books.rows.add(ListPublished(3, at, listed), at=at, pool=POOL)


def number(name: str) -> int:
    """Return a player's number in the league."""
    player = league()[1].roster.resolve(name)
    assert player is not None, name
    return player


def the_board() -> queries.Board:
    return queries.board(*league(), POOL, NOW)


def card_of(name: str) -> Picture:
    book, directory = league()
    player = number(name)
    return card.picture(
        queries.card(book, directory, POOL, player, NOW), queries.curve(book, directory, POOL, player)
    )  # fmt: skip


def curves_of(*names: str) -> Picture:
    book, directory = league()
    players = [number(name) for name in names]
    return curve.picture(
        [queries.curve(book, directory, POOL, player) for player in players],
        [queries.card(book, directory, POOL, player, NOW) for player in players], NOW,
    )  # fmt: skip


def record_of(left: str, right: str) -> Picture:
    book, directory = league()
    record = queries.head_to_head(book, directory, POOL, (number(left),), (number(right),), NOW)
    return head_to_head.picture(record, NOW, directory.name_of)


def the_sheet() -> Sheet:
    """Return a settlement that concerns everybody in some way."""
    few = tuple(Judged(number(name), index % 10, 0, index == 3) for index, name in enumerate(NAMES))
    return Sheet(
        2026, POOL, few, 20.0, (Judged(number(LONGEST), 2, 0),),
        (Judged(number("平安"), 3, 0), Judged(number("石头"), 4, 1)), (Judged(number(UNPLAYED), 1, 0),), 75, 12, (),
        ms("2027-02-01"),
    )  # fmt: skip


def the_settlement() -> Picture:
    found = settlement.picture(the_sheet(), league()[1], NOW)
    assert found is not None
    return found


def pictures() -> dict[str, Picture]:
    """Return every kind of picture by name."""
    found = {
        "board": board.picture(the_board(), 1),
        "board-published": board.picture(the_board(), 2, title=TITLE),
        "card": card_of("平安"),
        "card-longest": card_of(LONGEST),
        "card-unplayed": card_of(UNPLAYED),
        "curve": curves_of("平安"),
        "curves": curves_of("平安", LONGEST, RARE, "😀笑脸王", HOSTILE[0]),
        "head-to-head": record_of("平安", "张三"),
        "head-to-head-longest": record_of(LONGEST, "W" * 16),
        "settlement": the_settlement(),
    }
    return found


def main() -> None:
    """Draw everything into the folder named."""
    from plugins.rating_bot.pictures.typesetting import Typesetter

    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    typesetter = Typesetter()
    for name, picture in pictures().items():
        (folder / f"{name}.png").write_bytes(typesetter.png(picture))


if __name__ == "__main__":
    main()
