"""Rating curves, and whom a player met."""

from itertools import pairwise

from rating_core import queries
from rating_core.ledger import Adjustment, Merged, Settlement
from rating_core.queries import CurvePoint
from tests.support.books import Books, sample
from tests.support.rows import ms

POOL = "单跳1v1"


def test_a_curve_goes_from_the_first_rating_to_the_last() -> None:
    books = Books()
    books.join("张三", rating=2100.0)
    books.play("张三 胜负平 李四", at="2026-03-01 20:00")
    books.add(Adjustment(1, -15.0), pool=POOL, at="2026-04-01 12:00")
    books.play("李四 胜 张三", at="2026-05-01 20:00")
    books.add(Settlement(2026, ms("2027-02-01"), ((1, 20.0),)), pool=POOL, at="2027-01-01 09:00")
    book = books.book()
    points = queries.curve(book, books.directory, POOL, 1).points
    assert points[0] == CurvePoint(ms("2026-03-01 20:00"), 2100.0, 0.0, "start", 0)
    kinds = [(p.kind, p.number) for p in points[1:]]
    assert kinds == [("game", 1), ("game", 2), ("game", 3), ("adjustment", 4), ("game", 4), ("settlement", 6)]
    assert points[-1].rating == book.state.look(POOL, 1).rating
    for before, after in pairwise(points):
        assert after.rating - before.rating == after.change or abs(after.rating - before.rating - after.change) < 1e-9
        assert after.at >= before.at
    assert points[4].change == -15.0 and points[6].change == -20.0


def test_what_took_effect_late_stands_where_it_took_effect() -> None:
    books = Books()
    books.play("张三 胜 李四", at="2026-03-01 20:00")
    line = books.line("张三 负 李四")
    books.rows.play([line], at=ms("2026-02-01 20:00"), confirmed_at=ms("2026-03-02 20:00"))
    points = queries.curve(books.book(), books.directory, POOL, 1).points
    assert [p.number for p in points] == [0, 1, 2] and points[2].at == points[1].at == ms("2026-03-01 20:00")


def test_games_that_do_not_count_are_no_points() -> None:
    books = sample()
    book = books.book()
    curve = queries.curve(book, books.directory, POOL, books.id("张三"))
    assert len(curve.points) - 1 == book.state.look(POOL, 1).games < len(book.games_of(1))
    assert queries.curve(book, books.directory, "空跳2v2", 1).points == ()


def test_the_peak_is_that_of_the_card_and_the_masked_player_has_none() -> None:
    books = Books()
    books.join("蒙面人公用号")
    for month in range(1, 13):
        books.play("张三 胜负 蒙面人公用号", at=f"2025-{month:02}-05 20:00")
    book = books.book()
    curve, card = (
        queries.curve(book, books.directory, POOL, 2),
        queries.card(book, books.directory, POOL, 2, ms("2026-01-01")),
    )
    assert (curve.peak, curve.peak_at) == (card.peak, card.peak_at) and curve.peak is not None
    assert curve.peak in {p.rating for p in curve.points[20:]}
    assert queries.curve(book, books.directory, POOL, 1).peak is None


def test_a_merged_name_s_games_are_on_one_curve() -> None:
    books = Books()
    books.play("张三 胜 李四", "张叁 胜 王五", at="2026-03-01 20:00")
    books.add(Merged(books.id("张叁"), books.id("张三")))
    assert len(queries.curve(books.book(), books.directory, POOL, books.id("张三")).points) == 3


# --- whom he met ------------------------------------------------------------------------------------------


def test_company_agrees_with_head_to_head() -> None:
    books = sample()
    book = books.book()
    for player in books.directory.roster.ids():
        met = queries.company(book, books.directory, POOL, player)
        assert met.partners == ()
        for row in met.opponents:
            record = queries.head_to_head(book, books.directory, POOL, (player,), (row.player,), ms("2026-11-30"), 99)
            assert (row.wins, row.draws, row.losses, row.uncounted) == (
                record.wins, record.draws, record.losses, record.uncounted,
            )  # fmt: skip
            assert abs(row.flow - record.flow_left) < 1e-9
            assert (row.name, row.games) == (record.right[0], record.wins + record.draws + record.losses)
            assert row.last_at == record.rows[0].at
        assert [(-row.games, -row.last_at) for row in met.opponents] == sorted(
            (-row.games, -row.last_at) for row in met.opponents
        )
        assert sum(row.games for row in met.opponents) == book.state.look(POOL, player).games


def test_partners_and_opponents_of_pairs() -> None:
    books = Books()
    books.play("甲 乙 胜 丙 丁", "甲 丙 负 乙 丁", "丁 甲 平 丙 乙", at="2026-06-01 20:00", pool="单跳2v2")
    book = books.book()
    met = queries.company(book, books.directory, "单跳2v2", books.id("甲"))
    assert {(r.name, r.wins, r.draws, r.losses) for r in met.partners} == {
        ("乙", 1, 0, 0),
        ("丙", 0, 0, 1),
        ("丁", 0, 1, 0),
    }
    assert {(r.name, r.wins, r.draws, r.losses) for r in met.opponents} == {
        ("丙", 1, 1, 0), ("丁", 1, 0, 1), ("乙", 0, 1, 1),
    }  # fmt: skip
    for row in met.partners:
        record = queries.head_to_head(
            book, books.directory, "单跳2v2", (books.id("甲"),), (row.player,), ms("2026-11-30")
        )
        assert record.together is not None and abs(record.together.flow_first - row.flow) < 1e-9


def test_an_order_at_hand_gives_the_same_board_and_card() -> None:
    books = sample()
    book, at = books.book(), ms("2026-11-30")
    order = queries.boards.Order.of(book, books.directory, POOL, at)
    board = queries.board(book, books.directory, POOL, at)
    assert queries.board(book, books.directory, POOL, at, order) == board
    assert queries.board(book, books.directory, POOL, at, order, slice(1, 3)).rows == board.rows[1:3]
    for row in board.rows:
        card = queries.card(book, books.directory, POOL, row.player, at)
        assert queries.card(book, books.directory, POOL, row.player, at, order) == card
        assert card.rank == row.rank == order.rank(row.player)


def test_a_history_can_be_read_from_further_back() -> None:
    books = sample()
    book = books.book()
    whole = queries.history(book, books.directory, POOL, 1, 99)
    parts = [queries.history(book, books.directory, POOL, 1, 2, skip) for skip in range(0, whole.total + 2, 2)]
    assert [row for part in parts for row in part.rows] == list(whole.rows)
    assert {part.total for part in parts} == {whole.total}
