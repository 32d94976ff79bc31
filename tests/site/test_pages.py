"""What the pages show: boards, lists, past days, players; and the same as data."""

import pytest

from rating_core import queries
from rating_core.elo import show_change, show_rating
from rating_core.ledger import Merged
from rating_core.times import show_day
from tests.support.books import Books
from tests.support.pages import HOSTILE, POOL, Reader, Shown, application, read, rows

PAIRS = "pool=%E5%8D%95%E8%B7%B32v2"


# --- boards -----------------------------------------------------------------------------------------------


async def test_the_board_is_that_of_the_query(reader: Reader, shown: Shown) -> None:
    page, data = await reader.page(""), await reader.data("")
    board = queries.board(shown.book, shown.directory, POOL, shown.at)
    table = [row for row in rows(page) if row[0][:1].isdigit()]
    assert len(table) == len(board.rows) == len(data["rows"]) == data["of"] > 8
    for row, cells, as_data in zip(board.rows, table, data["rows"], strict=True):
        assert cells[0].rstrip("▲▼0123456789 ") == "" and cells[0].startswith(str(row.rank))
        assert cells[1].startswith(" ".join(row.name.split()))
        assert cells[2] == show_rating(row.shown, 0) + ("*" if row.missing else "")
        assert row.change is not None
        assert cells[3] == ("新" if row.change.rating is None else show_change(row.change.rating))
        assert cells[4:6] == [str(row.games), f"{row.wins}/{row.draws}/{row.losses}"]
        assert cells[6] == f"{show_rating(100 * row.wins / row.games)}%"
        assert cells[7] == ("—" if row.peak is None else show_rating(row.peak, 0))
        assert (as_data["rank"], as_data["player"], as_data["name"]) == (row.rank, row.player, row.name)
        assert (as_data["shown"], as_data["rating"], as_data["peak"]) == (row.shown, row.rating, row.peak)
        assert as_data["rating_change"] == row.change.rating
    assert f"涨跌比第{board.against}期" in page and "挑战者" in page and data["credit"] == "挑战者"


async def test_masked_archived_and_unlisted_players_are_not_on_the_board(reader: Reader) -> None:
    names = {row["name"] for row in (await reader.data(""))["rows"]}
    assert "张三" in names and not names & {"蒙面人公用号", "王五"}
    archived = await reader.data("archive")
    assert [(row["name"], row["reason"]) for row in archived["archived"]] == [("王五", "leave")]
    assert archived["archived"][0]["barred_until"] == "2027-01-01T00:00:00+08:00"
    assert any(row[0].startswith("王五") and row[3] == "请假" for row in rows(await reader.page("archive")))


@pytest.mark.parametrize("sort", ["rank", "change", "games", "rate", "peak"])
@pytest.mark.parametrize("way", ["asc", "desc"])
async def test_a_board_can_be_sorted_and_who_has_no_figure_stands_last(reader: Reader, sort: str, way: str) -> None:
    found = (await reader.data(f"?sort={sort}&dir={way}"))["rows"]
    field = {"rank": "rank", "change": "rating_change", "games": "games", "peak": "peak"}.get(sort)
    values = [row["wins"] / row["games"] if field is None else row[field] for row in found]
    known = [value for value in values if value is not None]
    assert known == sorted(known, reverse=way == "desc") and len(set(known)) > 1
    assert values == known + [None] * (len(values) - len(known))
    assert {row["rank"] for row in found} == set(range(1, len(found) + 1))


async def test_sorting_by_name_goes_by_sound(reader: Reader) -> None:
    names = [row["name"] for row in (await reader.data("?sort=name"))["rows"]]
    chinese = [name for name in names if name in ("张三", "李四", "赵六", "长孙无忌")]
    assert chinese == ["李四", "张三", "长孙无忌", "赵六"]  # li, zhang, zhang (长 has that reading too), zhao


@pytest.mark.parametrize(
    ("typed", "names"),
    [
        ("三", {"张三", HOSTILE[4]}),
        ("zhangsan", {"张三"}),
        ("zs", {"张三", "长孙无忌"}),
        ("ZHANG S", {"张三", "长孙无忌"}),
        ("cswj", {"长孙无忌"}),
        ("wuji", {"长孙无忌", HOSTILE[4]}),  # 无忌 and 戊己
        ("%F0%A0%AE%B7", {HOSTILE[3]}),
        ("onerror", {HOSTILE[0]}),
        ("nobody", set()),
    ],
)
async def test_a_board_can_be_searched_by_characters_and_by_pinyin(reader: Reader, typed: str, names: set[str]) -> None:
    data = await reader.data(f"?q={typed.replace(' ', '+')}")
    assert {row["name"] for row in data["rows"]} == names
    assert data["found"] == len(names) < data["of"]


async def test_a_search_says_who_is_not_on_the_board_and_who_may_be_meant(reader: Reader, books: Books) -> None:
    page = await reader.page("?q=王五")
    assert "榜上没有" in page and "不在榜上的" in page and f"/board/players/{books.id('王五')}" in page
    assert "是不是" in await reader.page("?q=张四") and '/board/players/1"' in await reader.page("?q=张四")
    for typed in ("蒙面", "mmr", "蒙面人公用号"):
        assert f"/board/players/{books.id('蒙面人公用号')}" not in await reader.page(f"?q={typed}")


async def test_lists_stay_as_published_and_days_are_worked_out_anew(reader: Reader, shown: Shown) -> None:
    lists = await reader.data("lists")
    assert [(one["number"], one["day"]) for one in lists["lists"]] == [(2, "2026-10-20"), (1, "2026-07-20")]
    assert [row[0] for row in rows(await reader.page("lists"))][1:] == ["第2期", "第1期"]
    published = await reader.data("lists/1")
    stored = shown.book.state.lists[POOL][0].rows
    assert [(row["player"], row["rank"], row["shown"]) for row in published["rows"]] == [row[:3] for row in stored]
    assert (published["number"], published["day"]) == (1, "2026-07-20")
    day = await reader.data("days/2026-08-15")
    before = shown.book.as_of(shown.at)
    assert {row["name"]: row["games"] for row in day["rows"]}["张三"] == 44
    assert before.state.look(POOL, 1).games > 44
    assert "2026年8月15日" in await reader.page("days/2026-08-15")
    today = await reader.data("days/2026-11-30")
    assert today["rows"] == (await reader.data(""))["rows"]


async def test_the_form_for_days_leads_to_the_day(reader: Reader) -> None:
    answer = await reader.get(f"/board/days?{PAIRS}&day=2026-11-05")
    assert (answer.status, answer.headers["location"]) == (307, f"/board/days/2026-11-05?{PAIRS}")
    for typed in ("", "?day="):
        answer = await reader.get(f"/board/days{typed}")
        assert (answer.status, answer.headers["location"]) == (307, "/board/days/2026-11-30")
    for typed in ("?day=../../onebot/v11/ws", "?day=//evil.example"):
        assert (await reader.get(f"/board/days{typed}")).status == 404


async def test_each_pool_has_its_board(reader: Reader) -> None:
    data = await reader.data(f"?{PAIRS}")
    assert data["pool"] == "单跳2v2" and {row["name"] for row in data["rows"]} == {"张三", "李四", "王五", "赵六"}
    page = read(await reader.page(""))
    assert f"/board/?{PAIRS}" in page.addresses
    links = [address for address in read(await reader.page(f"?{PAIRS}")).addresses if "/players/" in address]
    assert links and all(address.endswith(f"?{PAIRS}") for address in links)


async def test_long_boards_have_pages() -> None:
    books = Books()
    for number in range(60):
        books.play(f"甲{number:02}x 胜 乙{number:02}x", at="2026-11-01 20:00")
    reader = Reader(application(Shown.of(books)))
    first, second = await reader.data(""), await reader.data("?page=2")
    assert (first["of"], first["pages"], len(first["rows"]), len(second["rows"])) == (120, 2, 100, 20)
    assert [row["rank"] for row in first["rows"] + second["rows"]] == list(range(1, 121))
    assert "/board/?page=2" in read(await reader.page("")).addresses
    assert "/board/?q=x&page=2&sort=games" in read(await reader.page("?q=x&sort=games")).addresses
    assert (await reader.get("/board/?page=3")).status == 404


async def test_an_empty_league_has_pages_too() -> None:
    reader = Reader(application(Shown.of(Books())))
    for path in ("", "lists", "archive", "events", "versus", "rules"):
        assert "还没有" in await reader.page(path) or path in ("archive", "versus", "rules")
        await reader.data(path)


# --- players ----------------------------------------------------------------------------------------------


async def test_a_player_s_page_says_what_his_card_says(reader: Reader, shown: Shown) -> None:
    page, data = await reader.page("players/1"), await reader.data("players/1")
    card = queries.card(shown.book, shown.directory, POOL, 1, shown.at)
    assert card.peak is not None and card.win_rate is not None
    for text in (
        "张三", f"第{card.rank}名，共{card.of}人", show_rating(card.shown), f"{card.games}盘",
        f"{card.wins}胜 {card.draws}平 {card.losses}负", f"{show_rating(100 * card.win_rate)}%",
        show_rating(card.peak), show_day(card.peak_at), "在榜",
    ):  # fmt: skip
        assert text in page, text
    for name in ("rank", "of", "shown", "rating", "games", "wins", "draws", "losses", "peak", "state", "against"):
        assert data[name] == getattr(card, name), name
    assert data["season_games"] == card.games == shown.book.state.look(POOL, 1).season_games[2026]
    curve = queries.curve(shown.book, shown.directory, POOL, 1)
    assert [point["rating"] for point in data["curve"]] == [point.rating for point in curve.points]
    assert data["curve"][-1]["rating"] == data["rating"]


async def test_games_have_pages_with_their_figures(reader: Reader, shown: Shown) -> None:
    history = queries.history(shown.book, shown.directory, POOL, 1, 999)
    pages = [await reader.data(f"players/1?page={number}") for number in (1, 2, 3)]
    assert [row["game"] for page in pages for row in page["rows"]] == [row.number for row in history.rows]
    assert pages[0]["total"] == history.total == len(history.rows) and pages[0]["pages"] == 3
    html = await reader.page("players/1")
    table = [cells for cells in rows(html) if cells[0].startswith("局") and cells[0] != "局"]
    for row, cells in zip(history.rows[:20], table, strict=True):
        assert cells[0].startswith(f"局{row.number}") and cells[2] == row.result.word
        assert cells[5] == (show_change(row.change) if row.counted else "不计分")
        if row.counted and row.before is not None and row.after is not None:
            assert cells[4] == f"{show_rating(row.before)} → {show_rating(row.after)}"
    assert "/board/players/1?page=2#games" in read(html).addresses
    assert (await reader.get("/board/players/1?page=4")).status == 404


async def test_opponents_are_those_he_met(reader: Reader, shown: Shown) -> None:
    met = queries.company(shown.book, shown.directory, POOL, 1)
    data = await reader.data("players/1/opponents")
    assert [(row["name"], row["games"], row["flow"]) for row in data["opponents"]] == [
        (row.name, row.games, row.flow) for row in met.opponents
    ]
    assert (await reader.data("players/1"))["opponents"] == data["opponents"][:12]
    page = rows(await reader.page("players/1/opponents"))
    first = met.opponents[0]
    assert page[1][0] == first.name and page[1][1].startswith(f"{first.games}盘")
    assert page[1][3] == show_change(first.flow)
    pairs = await reader.data(f"players/1/opponents?{PAIRS}")
    assert {row["name"] for row in pairs["partners"]} == {"李四", "王五"}


async def test_off_the_board(reader: Reader, books: Books) -> None:
    masked, away = books.id("蒙面人公用号"), books.id("王五")
    page, data = await reader.page(f"players/{masked}"), await reader.data(f"players/{masked}")
    assert "不参与排名" in page and "公用号不统计" in page and "未满" not in page
    assert (data["rank"], data["peak"], data["state"]) == (None, None, "masked")
    assert "请假（封存），2027-01-01起可参赛" in await reader.page(f"players/{away}")
    unlisted = Reader(application(Shown.of(_joined("新人"))))
    assert "还没有对局" in await unlisted.page("players/1")


def _joined(*names: str) -> Books:
    books = Books()
    books.join(*names)
    return books


async def test_a_player_of_one_pool_is_shown_in_it() -> None:
    books = Books()
    books.play("甲 乙 胜 丙 丁", at="2026-11-01 20:00", pool="单跳2v2")
    data = await Reader(application(Shown.of(books))).data("players/1")
    assert (data["pool"], data["games"]) == ("单跳2v2", 1)


async def test_a_wrong_name_leads_to_the_right_one() -> None:
    books = Books()
    books.play("张三 胜 李四", "张叁 胜 李四", at="2026-11-01 20:00")
    books.add(Merged(books.id("张叁"), books.id("张三")))
    shown = Shown.of(books)
    shown.directory.merged = shown.book.merged
    reader = Reader(application(shown))
    answer = await reader.get(f"/board/players/{books.id('张叁')}?{PAIRS}")
    assert (answer.status, answer.headers["location"]) == (307, f"/board/players/{books.id('张三')}?{PAIRS}")
    answer = await reader.get(f"/board/api/players/{books.id('张叁')}/opponents")
    assert answer.headers["location"] == f"/board/api/players/{books.id('张三')}/opponents"
