"""Each picture: its size, its structure, nothing cut off and nothing beside the paper, whatever people are called."""

import io
import json
from itertools import pairwise

import pytest
from PIL import Image

from plugins.rating_bot.pictures import board
from plugins.rating_bot.pictures.typesetting import Typesetter
from plugins.rating_bot.wire.messages import Picture
from tests.support import gallery

BACK = (0xEE, 0xF1, 0xF5)
PAPER = (0xFF, 0xFF, 0xFF)
HAIR = (0xE3, 0xE7, 0xEC)
MEDALS = ((0xCF, 0x9A, 0x17), (0x8C, 0x97, 0xA3), (0xB0, 0x70, 0x3A))
RISE, FALL = (0xC0, 0x39, 0x2B), (0x1C, 0x7F, 0x4D)
MARGIN, RANK = 36, 112
"""Pixels from the left edge to the paper; from there to the names."""


def image(png: bytes) -> Image.Image:
    return Image.open(io.BytesIO(png)).convert("RGB")


def data_of(picture: Picture) -> dict[str, object]:
    found: dict[str, object] = json.loads(picture.data)
    return found


@pytest.mark.parametrize("name", sorted(gallery.pictures()))
def test_a_picture_is_as_wide_as_a_phone_and_leaves_its_margins_empty(typesetter: Typesetter, name: str) -> None:
    drawn = image(typesetter.png(gallery.pictures()[name]))
    width, height = drawn.size
    assert width == 1080 and 400 < height < 3200
    for left in (0, width - MARGIN + 2):
        colours = drawn.crop((left, 0, left + MARGIN - 2, height)).getcolors(maxcolors=10_000)
        assert colours == [(height * (MARGIN - 2), BACK)], "something reaches into the margin"
    last = drawn.crop((0, height - 16, width, height)).getcolors(maxcolors=10_000)
    assert last == [(16 * width, BACK)], "something is cut off below"


# --- the board: the golden structure -----------------------------------------------------------------------


def rows_of(drawn: Image.Image) -> list[tuple[int, int]]:
    """Return where the rows of a board begin and end, told by the hair lines between them."""
    width, height = drawn.size
    x = width - MARGIN - 12
    column = [drawn.getpixel((x, y)) for y in range(height)]
    paper = [y for y, pixel in enumerate(column) if pixel != BACK]
    lines = [y for y in paper if column[y] != PAPER and drawn.getpixel((MARGIN + 8, y)) == PAPER]
    edges = [paper[0], *(y for y in lines if y - 1 not in lines), paper[-1] + 1]
    return list(pairwise(edges))


def colours_in(drawn: Image.Image, left: int, right: int, rows: tuple[int, int]) -> set[object]:
    return {colour for _, colour in drawn.crop((left, rows[0], right, rows[1])).getcolors(maxcolors=100_000) or ()}


def test_a_board_has_a_row_a_player_with_medals_arrows_and_marks(typesetter: Typesetter) -> None:
    picture = board.picture(gallery.the_board(), 1)
    drawn, shown = image(typesetter.png(picture)), data_of(picture)["rows"]
    assert isinstance(shown, list) and len(shown) == board.ROWS == 30
    rows = rows_of(drawn)
    assert len(rows) == 30
    heights = {end - begin for begin, end in rows[1:-1]}
    assert max(heights) - min(heights) <= 1, "all rows are of one height"
    for row, place in zip(shown, rows, strict=True):
        left = colours_in(drawn, MARGIN, MARGIN + RANK, place)
        right = colours_in(drawn, 1080 - MARGIN - 200, 1080 - MARGIN, place)
        assert [colour in left for colour in MEDALS] == [row["rank"] == n for n in (1, 2, 3)]
        assert (RISE in right, FALL in right) == (row["change"].startswith("▲"), row["change"].startswith("▼"))
        assert (RISE in left, FALL in left) == (row["rank_change"].startswith("▲"), row["rank_change"].startswith("▼"))


def test_a_second_page_holds_the_rest(typesetter: Typesetter) -> None:
    found = gallery.the_board()
    assert board.pages(found) == 2 and board.pages(found, 30) == 1 and board.pages(found, 0) == 1
    second = board.picture(found, 2)
    rest = data_of(second)["rows"]
    assert isinstance(rest, list)
    assert [row["rank"] for row in rest] == list(range(31, len(found.rows) + 1))
    assert len(rows_of(image(typesetter.png(second)))) == len(rest)


def test_a_board_says_all_that_it_should() -> None:
    found = data_of(board.picture(gallery.the_board(), 2, title=gallery.TITLE))
    rows = found.pop("rows")
    assert isinstance(rows, list)
    assert found == {
        "title": gallery.TITLE, "badge": "", "credit": "表格主编：挑战者",
        "facts": ["单跳1v1", "2026-11-30", "共35人", "涨跌比第3期", "第2/2页"],
        "notes": ["n/20盘：未满20盘，显示分已扣（L12）"],
    }  # fmt: skip
    assert data_of(board.picture(gallery.the_board(), 1))["notes"] == ["IP：已核验IP（L11）"]
    new = next(row for row in rows if row["change"] == "新")
    assert new["rank_change"] == "新"
    assert [tag["kind"] for tag in new["tags"]] == ["provisional"]


# --- long and strange names ---------------------------------------------------------------------------------


def widest(picture: Picture, name: str) -> Picture:
    """Return a picture in which everybody has the same name."""
    return Picture(picture.template, json.dumps(_renamed(json.loads(picture.data), name), ensure_ascii=False))


def _renamed(value: object, name: str) -> object:
    keys = ("name", "left", "right", "others")
    if isinstance(value, list):
        return [_renamed(item, name) for item in value]
    if isinstance(value, dict):
        return {k: name if k in keys and isinstance(v, str) else _renamed(v, name) for k, v in value.items()}
    return value


@pytest.mark.parametrize("kind", ["board", "card", "curves", "head-to-head"])
@pytest.mark.parametrize("name", ["龘" * 16, "W" * 16, "😀" * 16, "﷽" * 16, "ก็็็็็็" * 4, "o\u0335\u0338" * 10])
def test_no_name_pushes_anything_aside(typesetter: Typesetter, kind: str, name: str) -> None:
    """Sixteen wide characters, or the widest and highest there are: the picture stays as it is, margins empty."""
    picture = gallery.pictures()[kind]
    plain, drawn = (image(typesetter.png(widest(picture, each))) for each in ("甲", name))
    assert drawn.size == plain.size
    for left in (0, 1080 - MARGIN + 2):
        colours = drawn.crop((left, 0, left + MARGIN - 2, drawn.height)).getcolors(maxcolors=10_000)
        assert colours == [(drawn.height * (MARGIN - 2), BACK)]


def test_a_name_that_fits_is_not_made_smaller(typesetter: Typesetter) -> None:
    """Sixteen Chinese characters stand on a board in full size beside both marks' room: the row of one is as high."""
    picture = board.picture(gallery.the_board(), 1)
    drawn = image(typesetter.png(widest(picture, "国" * 16)))
    begin = rows_of(drawn)[3][0]
    ink = [
        x for x in range(MARGIN + RANK, 1000)
        if any(sum(drawn.getpixel((x, y))) < 200 for y in range(begin + 12, begin + 44))  # type: ignore[arg-type]
    ]  # fmt: skip
    name = [x for x in ink if x < MARGIN + RANK + 16 * 33 + 4]
    assert name[-1] - name[0] > 16 * 33 - 8


# --- settlement ---------------------------------------------------------------------------------------------


def test_a_settlement_names_everybody_and_grows_with_them(typesetter: Typesetter) -> None:
    found = gallery.the_settlement()
    groups = data_of(found)["groups"]
    assert isinstance(groups, list)
    assert [group["title"][:8] for group in groups] == [
        "扣20分并封存3", "请假封存、不扣分", "2200分以上、", "其中没下过赛事、", "赛季最后几天才上"
    ]  # fmt: skip
    assert [one["name"] for one in groups[0]["players"]] == list(gallery.NAMES)
    assert image(typesetter.png(found)).height > 1000
