"""No answer is too long for a chat: 15 lines, 500 characters, in a league of 300 with the longest names."""

import random
from collections.abc import Iterator
from functools import cache

from plugins.rating_bot.wording import formula, queries, rules
from rating_core.book import Book
from rating_core.directory import Directory
from rating_core.ledger import OpeningBalance
from rating_core.queries import board, calculate, card, explain, head_to_head, history, prediction
from rating_core.report_text import Result
from rating_core.rulebook import LEAGUE_RULES
from rating_core.times import day_of
from tests.support.books import Books
from tests.support.rows import ms

POOL, PAIRS = "单跳1v1", "单跳2v2"
NOW = ms("2026-11-30 12:00")


def long_name(number: int) -> str:
    return f"{number:03}号名字特别特别长的棋手甲"[:16].ljust(16, "长")


@cache
def big_league() -> tuple[Book, Directory]:
    """300 players with names of 16 characters, years of games, games in events with long names, 2v2 too."""
    books, dice = Books(), random.Random(1)
    for number in range(1, 301):
        books.join(long_name(number), rating=2000.0)
        for pool in (POOL, PAIRS):
            few = number % 7 < 5
            wins, draws, losses = (1, 1, 0) if few else (dice.randint(0, 400), 111, dice.randint(1, 400))
            rating = 2199.5 - number / 3 + (180 if few else 0)
            books.add(OpeningBalance(number, rating, wins, draws, losses, ms("2020-01-01")), pool=pool)
    books.rows.game = 123_455
    books.rows.reports = 45_678
    events = {pool: books.event("某某网某某年度传统跳棋个人公开赛", 1.2, pool) for pool in (POOL, PAIRS)}
    row = books.play(f"{long_name(1)} 胜胜胜胜胜 {long_name(2)}", at="2025-06-01")
    for other in (3, 4, 5):
        books.play(f"{long_name(1)} 胜负平 {long_name(other)}", at="2025-07-01", event=events[POOL], weight=1.2)
    pairs = f"{long_name(1)} {long_name(2)} {{}} {long_name(3)} {long_name(4)}"
    books.play(pairs.format("胜负平"), at="2025-08-01", pool=PAIRS, event=events[PAIRS], weight=1.2)
    paired = books.play(pairs.format("胜胜胜胜胜"), at="2026-08-01", pool=PAIRS)
    books.play(f"{long_name(1)} 胜胜胜胜胜 {long_name(2)}", at="2026-09-01")
    for text in ("负", "平", "胜", "负"):
        books.amend(row, 123_456, f"{long_name(1)} {text} {long_name(2)}")
        books.amend(paired, books.rows.game - 9, pairs.format(text))
    return books.book(), books.directory


def long_answers() -> Iterator[str]:
    book, directory = big_league()
    for pool in (POOL, PAIRS):
        rows = board(book, directory, pool, NOW)
        assert len(rows.rows) == 300
        yield from (queries.board_page(rows, page) for page in range(1, 31))
        for player in (1, 2, 3, 4, 150):
            yield queries.card(card(book, directory, pool, player, NOW))
            for page in (1, 2, 3, 4):
                games = history(book, directory, pool, player, page * queries.HISTORY_PAGE)
                yield queries.history_page(games, page, NOW)
            yield queries.history_page(history(book, directory, pool, player, 999), 1, NOW, 999)
    for pool, left, right in ((POOL, (1,), (2,)), (PAIRS, (1,), (3,)), (PAIRS, (2, 1), (3, 4))):
        yield queries.head_to_head(head_to_head(book, directory, pool, left, right, NOW), NOW, directory.name_of)
    for pool, left, right in ((POOL, (1,), (2,)), (POOL, (1,), (9,)), (PAIRS, (1, 2), (3, 4)), (PAIRS, (5, 6), (7, 8))):
        yield formula.prediction(prediction(book, directory, pool, left, right, NOW), directory.name_of)
    for index in range(len(book.columns)):
        found = explain(book, directory, book.columns.number[index])
        assert found is not None
        yield formula.explanation(found, directory.name_of)
    yield from (rules.rules(asked, day_of(NOW)) for asked in ("", "?", "封存", *(c.key for c in rules.CLAUSES)))
    yield formula.calculation(calculate([99999.0], Result.WIN, [-99999.0], 1.2), LEAGUE_RULES)


def test_no_answer_is_too_long() -> None:
    for answer in long_answers():
        assert len(answer) <= 500 and answer.count("\n") < 15, answer
        assert "http" not in answer
        if "……" in answer:  # only with four of the longest names in one line, and never what matters most
            assert answer.endswith("……其余见 /战绩") or "计分（L6）" in answer, answer


def test_long_histories_lose_no_game() -> None:
    book, directory = big_league()
    for pool in (POOL, PAIRS):
        seen: list[str] = []
        for page in range(1, 9):
            games = history(book, directory, pool, 1, page * queries.HISTORY_PAGE)
            text = queries.history_page(games, page, NOW)
            seen += [line.split()[0] for line in text.splitlines()[1:] if line.startswith("局")]
        numbers = [book.columns.number[i] for i in book.games_of(1) if book.columns.pool[i] == pool]
        assert seen == [f"局{number}" for number in reversed(numbers)]
