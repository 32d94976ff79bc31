"""Events: standings and performance ratings both ways (L5; rulebook §2, E formula 1), in words and from the Book."""

import pytest

from plugins.rating_bot.wording import events as wording
from plugins.rating_bot.wording import rules
from plugins.rating_bot.wording.common import MAX_CHARS, MAX_LINES
from rating_core.directory import Directory
from rating_core.ledger import EventClosed, EventOpened
from rating_core.queries import EventStandings, Performance, event_performance, events, season_performance, standings
from rating_core.queries.events import EventInfo, EventRow
from rating_core.report_text import Result
from rating_core.rulebook import MASKED_NAME
from rating_core.times import day_of
from tests.support.books import Books
from tests.support.rows import ms

POOL, PAIRS = "单跳1v1", "单跳2v2"


def of_the_example() -> Books:
    """E: she beats a player of 1675 and draws with one of 1890."""
    books = Books()
    books.join("她", rating=1800.0)
    books.join("甲", rating=1675.0)
    books.join("乙", rating=1890.0)
    cup = books.event("皇后杯", 1.2)
    books.play("她 胜 甲", "乙 平 她", event=cup, weight=1.2, at="2026-03-02 20:00")
    return books


def performance(points: float, games: int, rating: float = 2000.0) -> Performance:
    """Return a performance of so many points against opponents of one rating, from a Book."""
    books = Books()
    books.join("我")
    won, drawn = int(points), int(points % 1 * 2)
    results = [Result.WIN] * won + [Result.DRAW] * drawn + [Result.LOSS] * (games - won - drawn)
    for number, result in enumerate(results):
        books.join(f"对手{number}号", rating=rating)
        books.play(f"我 {result.word} 对手{number}号", at="2026-03-02 20:00")
    found = season_performance(books.book(), POOL, 1, 2026)
    assert found is not None
    return found


# --- performance ratings --------------------------------------------------------------------------------------


def test_the_worked_example_of_the_source() -> None:
    """E formula 1: Rc 1782.5 → 1783, P 0.75: 1783 + 191 = 1974 by the formula, 1783 + 193 = 1976 by table one."""
    books = of_the_example()
    found = event_performance(books.book(), 1, books.id("她"))
    assert found is not None
    assert (found.mean, found.base, found.points, found.games, found.share) == (1782.5, 1783, 1.5, 2, 0.75)
    assert found.logistic == pytest.approx(1783 + 190.848, abs=1e-3)
    assert (round(found.logistic), found.table) == (1974, 1976)
    text = wording.performance("她", "皇后杯", found)
    assert text == (
        "她的表现分（皇后杯，2局1胜1平0负）\n"
        "表现分Rp=Rc+D（E公式1）\n"
        "Rc=对手赛前分的平均1782.50，取整1783\n"
        "P=得分÷局数=1.5÷2=0.75\n"
        "公式：D=-400×log10(1÷P-1)=+190.8，Rp=1783+190.8=1973.8\n"
        "查表（E表一）：P取0.75，D=+193，Rp=1976"
    )


def test_the_opponent_s_rating_is_the_one_before_each_game() -> None:
    books = Books()
    books.play("甲 胜胜 乙", at="2026-03-02 20:00")
    book = books.book()
    second = book.columns.before[2][1]
    found = season_performance(book, POOL, 1, 2026)
    assert found is not None
    assert second == 1984.0 and found.mean == (2000.0 + 1984.0) / 2 and found.logistic is None


@pytest.mark.parametrize(
    ("points", "games", "formula", "table"),
    [
        (0, 4, "—（P=0，没有分差D）", "—（P四舍五入是0.00，没有分差D）"),
        (4, 4, "—（P=1，没有分差D）", "—（P四舍五入是1.00，没有分差D）"),
        (2, 4, "Rp=2000+0.0=2000.0", "Rp=2000"),
        (0.5, 150, "Rp=2000-990.3=1009.7", "—（P四舍五入是0.00，没有分差D）"),
        (149.5, 150, "Rp=2000+990.3=2990.3", "—（P四舍五入是1.00，没有分差D）"),
        (1, 8, "D=-400×log10(1÷P-1)=-338.0", "P取0.13，D=-322，Rp=1678"),
    ],
)
def test_a_share_of_nothing_or_all_has_no_difference(points: float, games: int, formula: str, table: str) -> None:
    """§2: P that is 0 or 1, or for the table rounds to it, has no D: «—» with the reason."""
    text = wording.performance("我", "某赛", performance(points, games))
    by_formula, by_table = text.split("\n")[-2:]
    assert formula in by_formula and by_formula.startswith("公式：")
    assert table in by_table and by_table.startswith("查表（E表一）：")


def test_only_counted_games_of_the_season_and_pool() -> None:
    """Not those of another season or pool, kept from counting by L6, or void; event games are among them."""
    books = Books()
    books.play("甲 胜 乙", at="2025-12-31 23:59")
    books.play("甲 胜胜胜胜胜 乙", at="2026-01-01")
    books.play("甲 丙 胜 乙 丁", at="2026-01-02", pool=PAIRS)
    cup = books.event("杯", 2.0)
    books.play("甲 负 乙", at="2026-01-03", event=cup, weight=2.0)
    row = books.play("甲 平 丙", at="2026-01-04")
    books.void(row)
    found = season_performance(books.book(), POOL, books.id("甲"), 2026)
    assert found is not None
    assert (found.wins, found.draws, found.losses, found.points) == (4, 0, 1, 4.0)
    assert season_performance(books.book(), POOL, books.id("丁"), 2026) is None


def test_two_against_two_goes_by_the_other_side_s_mean() -> None:
    """§2 D: a side's rating is the mean of its two players."""
    books = Books()
    for name, rating in (("甲", 2000.0), ("乙", 2100.0), ("丙", 2300.0), ("丁", 1900.0)):
        books.join(name, rating=rating)
    cup = books.event("双打杯", 1.0, PAIRS)
    books.play("甲 乙 平 丙 丁", event=cup, pool=PAIRS)
    book = books.book()
    means = [event_performance(book, cup, player) for player in (1, 2, 3, 4)]
    assert [found.mean for found in means if found] == [2100.0, 2100.0, 2050.0, 2050.0]


# --- standings ----------------------------------------------------------------------------------------------------


def a_cup() -> Books:
    books = Books()
    books.event("皇后杯", 1.2)
    books.event("月赛", 1.0)
    books.play("甲 胜 乙", "丙 平 丁", event=1, weight=1.2)
    books.play("乙 胜胜 丁", event=1, weight=1.2)
    books.play("甲 平 丙", event=1, weight=1.2)
    books.play("甲 胜 乙")
    books.play("戊 胜 甲", event=2)
    return books


def test_standings_by_points_then_fewer_games_then_wins_then_name() -> None:
    books = a_cup()
    table = standings(books.book(), books.directory, 1)
    rows = [(r.rank, r.name, r.performance.points, r.performance.games) for r in table.rows]
    assert rows == [(1, "乙", 2.0, 3), (2, "甲", 1.5, 2), (3, "丙", 1.0, 2), (4, "丁", 0.5, 3)]
    assert (table.event.games, table.event.players, table.event.pool, table.event.weight) == (5, 4, POOL, 1.2)
    # 1.5 points each: fewer games first
    books.play("丁 胜 丙", event=1, weight=1.2)
    assert [r.name for r in standings(books.book(), books.directory, 1).rows] == ["乙", "甲", "丁", "丙"]


def test_standings_in_words() -> None:
    books = a_cup()
    assert wording.standings_page(standings(books.book(), books.directory, 1), 1) == (
        "皇后杯战绩（单跳1v1，系数1.2，进行中）：5局4人\n"
        "名次 名字 得分/局数（战绩）对手平均分Rc 表现分：公式/E表一\n"
        "1 乙 2分/3局（2胜0平1负）Rc1993 2113.4/2118\n"
        "2 甲 1.5分/2局（1胜1平0负）Rc2000 2190.8/2193\n"
        "3 丙 1分/2局（0胜2平0负）Rc2010 2010.0/2010\n"
        "4 丁 0.5分/3局（0胜1平2负）Rc1994 1714.4/1721"
    )
    table = standings(of_the_example().book(), of_the_example().directory, 1)
    text = wording.standings_page(table, 1)
    assert "2 乙 0.5分/1局（0胜1平0负）" in text and "甲 0分/1局（0胜0平1负）Rc1800 —/—" in text
    assert text.endswith(wording.NO_DIFFERENCE)


def test_void_and_amended_games_and_other_events_are_not_in_it() -> None:
    books = a_cup()
    row = books.play("戊 胜 己", event=1, weight=1.2)
    assert len(standings(books.book(), books.directory, 1).rows) == 6
    books.void(row)
    table = standings(books.book(), books.directory, 1)
    assert len(table.rows) == 4 and "戊" not in [r.name for r in table.rows]


def test_the_masked_account_is_ranked_nowhere() -> None:
    """L13: it stands in the table, for its opponents' games to be seen, but has no rank."""
    books = Books()
    books.event("杯", 1.0)
    books.join(MASKED_NAME, rating=2300.0)
    books.play(f"{MASKED_NAME} 胜 甲", "甲 胜 乙", event=1)
    rows = standings(books.book(), books.directory, 1).rows
    assert [(r.rank, r.name) for r in rows] == [(None, MASKED_NAME), (1, "甲"), (2, "乙")]


def test_events_open_ones_first_then_the_newest() -> None:
    books = a_cup()
    books.directory.events[3] = "鬼面赛"
    books.add(EventOpened(3, 0.0, signoff=False), pool=POOL)
    books.add(EventClosed(2), pool=POOL)
    found = events(books.book(), books.directory)
    assert [(e.name, e.open, e.rated, e.games) for e in found] == [
        ("鬼面赛", True, False, 0), ("皇后杯", True, True, 5), ("月赛", False, True, 1),
    ]  # fmt: skip
    assert found[0].signoff is False and found[1].signoff is True


def test_no_such_event() -> None:
    books = a_cup()
    with pytest.raises(KeyError):
        standings(books.book(), Directory(), 9)


# --- in words: within the limits of a message ---------------------------------------------------------------------


def big(players: int) -> EventStandings:
    event = EventInfo(1, "很长很长很长很长很长很长很长很长", "单跳1v1", 1.2, True, True, 5000, players)
    rows = tuple(
        EventRow(
            n, n, f"名字也要十六个字那么长的棋手{n:02}号", Performance(100, 99, 98, 149.5, 2000.4, 2000, None, None)
        )
        for n in range(1, players + 1)
    )
    return EventStandings(event, rows)


def test_long_standings_are_paged() -> None:
    table = big(47)
    seen: list[str] = []
    page = 1
    while True:
        text = wording.standings_page(table, page)
        assert len(text) <= MAX_CHARS and text.count("\n") < MAX_LINES
        seen += [line.split()[1] for line in text.split("\n") if line[0].isdigit()]
        if f"第{page + 1}页" not in text:
            break
        assert text.endswith(f"/赛事 战绩 {table.event.name} 第{page + 1}页")
        page += 1
    assert seen == [row.name for row in table.rows]
    assert wording.NO_DIFFERENCE in wording.standings_page(table, 1)
    assert "没有第99页" in wording.standings_page(table, 99)


def test_a_long_list_of_events_is_paged() -> None:
    found = [
        EventInfo(n, f"第{n}届十六个字那么长的赛事名字啊", "单跳1v1", 1.2, False, n > 25, 1000, 100)
        for n in range(30, 0, -1)
    ]
    waiting, numbers = {30: 40}, range(100001, 100041)
    names: list[str] = []
    for page in range(1, 30):
        text = wording.event_list(found, page, waiting, numbers)
        assert len(text) <= MAX_CHARS and text.count("\n") < MAX_LINES
        assert text.split("\n")[-1].startswith("确认 100001 100002 ")
        names += [line for line in text.split("\n") if line.startswith("#")]
        if f"第{page + 1}页" not in text:
            break
    assert len(names) == 30
    assert wording.event_list(found, 1, waiting).split("\n")[-1] == f"/赛事 战绩 {found[0].name}"


def test_the_clause_of_weights_tells_how_events_are_reported() -> None:
    """L5 as /规则 tells it: the three weights, the referee's confirmation, and events that take no reports."""
    text = rules.rules("L5", day_of(ms("2026-11-30")))
    assert "训练赛1，集中短期的正式比赛1.2，重大比赛2" in text
    assert "还要裁判或记分员确认" in text and "免裁判" in text and "不计分，不收报分" in text
    assert len(text) <= MAX_CHARS and text.count("\n") < MAX_LINES
