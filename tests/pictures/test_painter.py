"""Pictures are drawn beside the event loop: one at a time, each content once, nobody waits longer than the limit."""

import asyncio
import threading
import time

import pytest

from plugins.rating_bot.pictures.painter import LIMIT_SECONDS, Painter
from plugins.rating_bot.wire.messages import Picture


def picture(name: str) -> Picture:
    return Picture.of("board", {"name": name})


class Press:
    """Draws when allowed to; knows what it drew, in which thread, and how many at once."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.gate.set()
        self.drawn: list[str] = []
        self.threads: set[int] = set()
        self.at_once = self.most_at_once = 0
        self.began = threading.Event()

    def __call__(self, picture: Picture) -> bytes:
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        self.threads.add(threading.get_ident())
        self.began.set()
        assert self.gate.wait(20)
        self.drawn.append(picture.data)
        self.at_once -= 1
        return picture.data.encode()


async def test_what_is_drawn_is_kept_by_its_content() -> None:
    press = Press()
    painter = Painter(press)
    assert await painter.draw(picture("甲")) == b'{"name":"\xe7\x94\xb2"}'
    assert await painter.draw(Picture.of("board", {"name": "甲"})) == b'{"name":"\xe7\x94\xb2"}'
    assert len(press.drawn) == 1
    await painter.draw(picture("乙"))
    await painter.draw(Picture("card", picture("甲").data))
    assert len(press.drawn) == 3


async def test_only_the_pictures_used_last_are_kept() -> None:
    press = Press()
    painter = Painter(press, kept=2)
    for name in "甲乙甲丙甲乙":
        await painter.draw(picture(name))
    assert press.drawn == [picture(name).data for name in "甲乙丙乙"]


async def test_one_at_a_time_and_not_in_the_loop_s_thread() -> None:
    press = Press()
    painter = Painter(press)
    done = await asyncio.gather(*(painter.draw(picture(str(n))) for n in range(8)))
    assert done == [picture(str(n)).data.encode() for n in range(8)]
    assert press.most_at_once == 1
    assert threading.get_ident() not in press.threads


async def test_the_loop_goes_on_while_a_picture_is_drawn() -> None:
    press = Press()
    press.gate.clear()
    painter = Painter(press)
    drawing = asyncio.create_task(painter.draw(picture("甲")))
    await asyncio.to_thread(press.began.wait)
    assert not drawing.done()  # this line runs while the press holds its thread
    press.gate.set()
    assert await drawing is not None


async def test_the_same_picture_asked_for_twice_at_once_is_drawn_once() -> None:
    press = Press()
    painter = Painter(press)
    assert len(set(await asyncio.gather(*(painter.draw(picture("甲")) for _ in range(5))))) == 1
    assert len(press.drawn) == 1


async def test_a_late_picture_is_none_and_found_by_who_asks_again() -> None:
    press = Press()
    press.gate.clear()
    painter = Painter(press, limit=0.05)
    begin = time.monotonic()
    assert await painter.draw(picture("甲")) is None
    assert time.monotonic() - begin < 5
    assert await painter.draw(picture("乙")) is None  # its turn does not come
    press.gate.set()
    while await painter.draw(picture("甲")) is None:
        await asyncio.sleep(0.01)
    while await painter.draw(picture("乙")) is None:
        await asyncio.sleep(0.01)
    assert len(press.drawn) == 2


async def test_a_picture_that_cannot_be_drawn_is_none_and_the_next_one_is_drawn() -> None:
    def press(picture: Picture) -> bytes:
        if "甲" in picture.data:
            raise RuntimeError("typst says no")
        return b"png"

    painter = Painter(press)
    assert await painter.draw(picture("甲")) is None
    assert await painter.draw(picture("乙")) == b"png"


async def test_closing_does_not_wait_for_what_hangs() -> None:
    press = Press()
    press.gate.clear()
    painter = Painter(press)
    drawing = asyncio.create_task(painter.draw(picture("甲")))
    await asyncio.to_thread(press.began.wait)
    await painter.close()
    with pytest.raises(asyncio.CancelledError):
        await drawing
    press.gate.set()


async def test_typst_draws_within_the_limit_from_a_cold_start() -> None:
    """Fonts, templates and all; the limit is what people wait at most."""
    data = {"title": "榜", "badge": "", "facts": ["甲"], "rows": [], "notes": [], "credit": "乙"}
    made = await Painter().draw(Picture.of("board", data))
    assert made is not None and made.startswith(b"\x89PNG")
    assert LIMIT_SECONDS == 5


async def test_an_unknown_template_or_wrong_data_is_none() -> None:
    painter = Painter()
    assert await painter.draw(Picture.of("../../settings", {})) is None
    assert await painter.draw(Picture.of("nowhere", {})) is None
    assert await painter.draw(Picture.of("board", {"title": "榜"})) is None
