"""What the pages show: records, games explained, events, rules; what is not there; and names that want to be markup."""

import re
from typing import Any

import pytest

from plugins.rating_bot.site.html import TEMPLATES
from plugins.rating_bot.wording.rules import CLAUSES
from rating_core import queries
from rating_core.elo import show_change, show_rating
from rating_core.times import day_of
from tests.support.books import Books, sample
from tests.support.pages import HOSTILE, POOL, Reader, Shown, application, read, rows

PAIRS = "pool=%E5%8D%95%E8%B7%B32v2"


# --- two sides, one game ----------------------------------------------------------------------------------


async def test_a_record_is_that_of_the_query(reader: Reader, shown: Shown, books: Books) -> None:
    right = books.id("李四")
    record = queries.head_to_head(shown.book, shown.directory, POOL, (1,), (right,), shown.at)
    page, data = await reader.page(f"versus/1/{right}"), await reader.data(f"versus/1/{right}")
    assert (data["wins"], data["draws"], data["losses"]) == (record.wins, record.draws, record.losses)
    assert (data["wins"], data["draws"], data["losses"]) == (7, 7, 8)
    assert data["flow_left"] == record.flow_left and show_change(record.flow_left) in page
    assert (data["meter"]["net"], data["meter"]["locked"]) == (-1, False)
    assert "防刷分（L6）" in page and "下一局约战" in page
    outcomes = data["next"]["outcomes"]
    assert [one["result"] for one in outcomes] == ["W", "D", "L"]
    assert show_change(outcomes[0]["left"][0]["change"]) in page
    assert outcomes[0]["left"][0]["rating"] == shown.book.state.look(POOL, 1).rating


async def test_pairs_against_pairs_and_partners(reader: Reader, books: Books) -> None:
    one, two, three, four = (books.id(name) for name in ("张三", "李四", "王五", "赵六"))
    data = await reader.data(f"versus/{one}+{two}/{three}+{four}?{PAIRS}")
    assert [len(data[side]) for side in ("left", "right")] == [2, 2] and data["wins"] == 1
    data = await reader.data(f"versus/{one}/{two}?{PAIRS}")
    assert (data["losses"], data["together"]["games"], data["next"]) == (1, 1, None)
    assert "搭档1局" in await reader.page(f"versus/{one}/{two}?{PAIRS}")


async def test_names_are_looked_up(reader: Reader, books: Books) -> None:
    answer = await reader.get("/board/versus?a=张三&b=+李四")
    assert (answer.status, answer.headers["location"]) == (307, f"/board/versus/1/{books.id('李四')}")
    answer = await reader.get(f"/board/versus?{PAIRS}&a=张三、王五&b=李四、赵六")
    path = f"versus/1+{books.id('王五')}/{books.id('李四')}+{books.id('赵六')}"
    assert answer.headers["location"] == f"/board/{path}?{PAIRS}"
    page = await reader.page("versus?a=张四&b=李四")
    assert "榜上没有" in page and "是不是" in page and "张三" in page
    assert "自己和自己" in await reader.page("versus?a=张三&b=张三")
    assert "<script" not in (await reader.page("versus?a=<script>&b=\"'>")).split("</head>")[1]


async def test_every_game_is_explained(reader: Reader, shown: Shown) -> None:
    kinds = set()
    for number in shown.book.columns.number:
        found = queries.explain(shown.book, shown.directory, number)
        assert found is not None
        page, data = await reader.page(f"games/{number}"), await reader.data(f"games/{number}")
        kinds.add((found.void, found.counted, bool(found.corrections), bool(found.event), found.pool))
        assert (data["counted"], data["void"], data["weight"]) == (found.counted, found.void, found.weight)
        assert [p["change"] for p in data["ours"]] == [p.term.change for p in found.ours]
        if found.void:
            assert "已作废" in page and "怎么算的" not in page
        for player in (*found.ours, *found.theirs):
            assert show_rating(player.term.after) in page and show_change(player.term.change) in page
        if not found.counted and not found.void:
            assert "这一局不计分" in page and "不计分（L6）" in page
    assert len(kinds) >= 6


async def test_corrections_are_named_by_number_and_kind(reader: Reader, shown: Shown) -> None:
    data: Any = {"corrections": []}
    for number in shown.book.columns.number:
        if not data["corrections"]:
            data, page = await reader.data(f"games/{number}"), await reader.page(f"games/{number}")
    assert [set(one) for one in data["corrections"]] == [{"entry", "kind"}]
    assert data["corrections"][0]["kind"] == "result"
    assert f"账{data['corrections'][0]['entry']} 改判为负" in page


# --- events and rules -------------------------------------------------------------------------------------


async def test_events_and_their_standings(reader: Reader, shown: Shown) -> None:
    assert [(e["name"], e["games"], e["open"]) for e in (await reader.data("events"))["events"]] == [
        ("皇后杯", 4, True)
    ]
    found, data = queries.standings(shown.book, shown.directory, 1), await reader.data("events/1")
    page = rows(await reader.page("events/1"))[1:]
    for row, as_data, cells in zip(found.rows, data["rows"], page, strict=True):
        performance = row.performance
        assert (as_data["rank"], as_data["name"]) == (row.rank, row.name)
        assert as_data["performance_logistic"] == performance.logistic
        assert cells[2] == f"{performance.points:g}/{performance.games}"
        assert cells[5] == ("—" if performance.logistic is None else show_rating(performance.logistic))
    assert [row["rank"] for row in data["rows"] if row["name"] == "蒙面人公用号"] == [None]


async def test_the_rules_are_ours_with_the_numbers_of_today(reader: Reader, shown: Shown) -> None:
    page, data = read(await reader.page("rules")), await reader.data("rules")
    text = "\n".join(page.texts)
    assert [one["clause"] for one in data["clauses"]] == [clause.key for clause in CLAUSES]
    for clause in CLAUSES:
        assert all(line in text for line in clause.text(day_of(shown.at)).split("\n"))
        assert f"#{clause.key}" in page.addresses and any(tag.get("id") == clause.key for _, tag in page.tags)
    assert "挑战者" in text


# --- what is not there ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("nothing", "没有这一页"),
        ("players/99", "没有这个编号的棋手"),
        ("players/0", "没有这一页"),
        ("players/x", "没有这一页"),
        ("players/٣", "没有这一页"),
        (f"players/{'9' * 5000}", "没有这一页"),
        ("players/1?page=0", "没有这一页"),
        ("players/1?page=-1", "没有这一页"),
        ("?page=99", "没有这一页"),
        ("?sort=qq", "没有这一页"),
        ("?pool=别的榜", "没有这个榜"),
        ("games/999", "没有这一局"),
        ("lists/9", "没有第9期"),
        ("days/2026-13-01", "没有这一天"),
        ("days/2027-01-01", "还没有单跳1v1的榜"),
        ("days/2016-01-01", "从2026-01-05到今天"),
        ("events/9", "没有这个赛事"),
        ("versus/1/1", "没有这一页"),
        ("versus/1+2/3+4", "没有这一页"),
        ("versus/1/99", "没有这个编号的棋手"),
        ("lists/", "没有这一页"),
        ("static/routes.py", "没有这一页"),
        ("static/..%2Froutes.py", "没有这一页"),
    ],
)
async def test_what_is_not_there_is_said_in_chinese(reader: Reader, path: str, said: str) -> None:
    answer = await reader.get(f"/board/{path}")
    assert (answer.status, answer.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert said in answer.text and 'href="/board/"' in answer.text
    if not path.startswith("static"):
        answer = await reader.get(f"/board/api/{path}")
        assert answer.status == 404 and said in answer.data["error"]


# --- names that want to be markup --------------------------------------------------------------------------


async def test_names_are_shown_and_never_read_as_markup(reader: Reader, shown: Shown, books: Books) -> None:
    players = [books.id(name) for name in HOSTILE]
    paths = ["", "lists/2", "players/1", "players/1/opponents", "?q=onerror", "?sort=name"]
    paths += [f"players/{player}" for player in players] + [f"versus/1/{player}" for player in players]
    paths += [f"games/{number}" for number in list(shown.book.columns.number)[-12:]]
    for path in paths:
        reading = read(await reader.page(path))
        assert {tag for tag, _ in reading.tags} <= ALLOWED_TAGS, path
        assert not [name for _, tag in reading.tags for name in tag if name.startswith("on") or name == "style"], path
        assert sum(tag == "script" for tag, _ in reading.tags) == 1, path
    text = "".join(read(await reader.page("")).texts)
    assert all(name in text for name in HOSTILE)
    page = await reader.page("")
    for name in HOSTILE[2:]:
        assert f"<bdi>{name}</bdi>" in page  # right to left stays within the name


ALLOWED_TAGS = set(
    "html head meta title link script body header div a img b nav main footer p h1 h2 span form input select option "
    "button table thead tbody tr th td i abbr small sup bdi label section figure svg rect line text path circle".split()
)


def test_every_template_is_used_and_none_can_leave_escaping() -> None:
    for path in TEMPLATES.iterdir():
        assert not re.search(r"\|\s*safe|autoescape|Markup|<style|\sstyle=|\son\w+=", path.read_text("utf-8")), (
            path.name
        )
    sources = "".join(path.read_text("utf-8") for path in [*TEMPLATES.parent.glob("*.py"), *TEMPLATES.iterdir()])
    assert all(f'"{path.name}"' in sources for path in TEMPLATES.iterdir())


async def test_the_small_sample_is_whole() -> None:
    """The league of other tests: every page of it can be made."""
    books = sample()
    reader = Reader(application(Shown.of(books)))
    for player in books.directory.roster.ids():
        for pool in ("", f"?{PAIRS}"):
            await reader.page(f"players/{player}{pool}")
            await reader.data(f"players/{player}{pool}")
