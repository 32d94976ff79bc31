"""Boards of past days where a history was moved in later than other things that were said after it."""

from rating_core.ledger import Adjustment, Void
from rating_core.queries import board
from tests.support.books import Books
from tests.support.leagues import PAIRS
from tests.support.rows import ms

POOL = "单跳1v1"


def shown(books: Books, day: str, pool: str = POOL) -> list[tuple[str, float, int]]:
    book = books.book().as_of(ms(day))
    return [(row.name, row.rating, row.games) for row in board(book, books.directory, pool, ms(day)).rows]


def test_players_registered_today_and_games_of_years_ago() -> None:
    books = Books()
    books.join("张三", "李四")  # a roster, imported in 2026
    books.play("张三 胜 李四", at="2016-05-01 12:00")
    books.play("张三 胜 李四", at="2018-05-01 12:00")
    assert shown(books, "2016-01-01") == []
    assert shown(books, "2017-01-01") == [("张三", 2016.0, 1), ("李四", 1984.0, 1)]
    assert [games for _, _, games in shown(books, "2019-01-01")] == [2, 2]


def test_two_histories_one_after_the_other() -> None:
    books = Books()
    books.play("张三 胜 李四", at="2016-05-01 12:00")
    void = books.play("张三 胜 王五", at="2016-06-01 12:00")
    books.play("张三 胜 李四", at="2020-05-01 12:00")
    books.add(Adjustment(1, 5.0), at="2020-06-01 12:00")
    first = books.play("张三 李四 胜 王五 赵六", at="2017-05-01 12:00", pool=PAIRS)
    books.play("张三 李四 负 王五 赵六", at="2021-05-01 12:00", pool=PAIRS)
    books.add(Void(), about=void)
    assert shown(books, "2018-01-01") == [("张三", 2016.0, 1), ("李四", 1984.0, 1)]
    assert [(name, games) for name, _, games in shown(books, "2018-01-01", PAIRS)] == [
        ("张三", 1), ("李四", 1), ("王五", 1), ("赵六", 1),
    ]  # fmt: skip
    past = books.book().as_of(ms("2018-01-01"))
    assert list(past.columns.number) == [1, 2, 4] and past.is_void(1)
    assert list(past.games_of(1)) == [0, 1, 2] and list(past.games_of_row(first.seq)) == [2]
    assert past.marks == [] and len(books.book().as_of(ms("2020-07-01")).marks) == 1
    whole = books.book()
    assert shown(books, "2027-01-01") == [
        (row.name, row.rating, row.games) for row in board(whole, books.directory, POOL, ms("2027-01-01")).rows
    ]
