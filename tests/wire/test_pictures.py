"""Pictures go out with their caption, each once; where none can be drawn or QQ takes none, the text goes out."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from plugins.rating_bot.sandbox.onebot import message_event
from plugins.rating_bot.wire.inbound import to_sent
from plugins.rating_bot.wire.messages import AT_CLOSE, AT_OPEN, Picture, Sent, at
from plugins.rating_bot.wire.outbox import Patience, Sender
from plugins.rating_bot.wire.repair import repair
from rating_core.store.database import Database
from tests.support.images import PNG, png_of
from tests.support.qq import Style

from .fakes import CHAT, GROUP, league_qq, say_long_ago
from .test_outbox import QUICK, STYLES, Post

BOARD = Picture.of("board", {"title": "榜", "rows": ["张三 <b> \\ \" ' #"]})
TEXT, CAPTION = "单跳1v1排行榜\n1 张三 2016", "单跳1v1排行榜 第1/3页\n下一页：/排行榜 第2页"


class Gallery(Post):
    """A sender that draws; `drawn` are the pictures it was asked for, `cannot` makes it draw nothing."""

    def __init__(self, *args: Any) -> None:
        self.drawn: list[Picture] = []
        self.cannot = False
        super().__init__(*args)

    async def draw(self, picture: Picture) -> bytes | None:
        self.drawn.append(picture)
        await asyncio.sleep(0)
        return None if self.cannot else PNG + picture.data.encode()

    def new(self, patience: Patience = QUICK, interval: float = 0) -> Sender:
        self.sender = Sender(
            self.database, self, bots=lambda: self.bots, interval=interval, alarm=self._alarm, patience=patience,
            draw=self.draw,
        )  # fmt: skip
        return self.sender

    async def queue_board(self, **more: Any) -> int:
        fields = {"kind": "answer", "about": "", "picture": BOARD.dumps(), "caption": CAPTION} | more
        return await self.queue(TEXT, **fields)

    def shown(self) -> list[tuple[str, bytes | None]]:
        """Return what the bot said: the words, and the picture."""
        return [(m.text, png_of(m)) for m in self.qq.messages(CHAT) if m.user_id == self.qq.self_id]


AS_PICTURE = (CAPTION, PNG + BOARD.data.encode())
AS_TEXT = (TEXT, None)


@pytest.fixture
async def post(database: Database) -> AsyncIterator[Gallery]:
    post = Gallery(database, league_qq())
    say_long_ago(post.qq)
    yield post
    await post.sender.stop()


def test_a_picture_survives_being_kept() -> None:
    assert Picture.loads(BOARD.dumps()) == BOARD
    assert Picture.of("board", {"b": 1, "a": 2}) == Picture.of("board", {"a": 2, "b": 1})


@pytest.mark.parametrize("style", STYLES)
async def test_a_picture_goes_out_with_its_caption_quoting_the_question(post: Gallery, style: Style) -> None:
    asked = post.qq.say(GROUP, 1, "/排行榜")
    bot = await post.begin(style)
    row = await post.until(await post.queue_board(quote=str(asked.message_id)), "sent")
    said = post.qq.history(GROUP)[-1]
    assert (post.shown(), said.quote) == ([AS_PICTURE], asked.message_id)
    assert [part["type"] for part in bot.sent()[0]["message"]] == ["reply", "text", "image"]
    assert (row.attempts, row.message_id, post.drawn) == (1, str(said.message_id), [BOARD])


async def test_in_private_too(post: Gallery) -> None:
    await post.begin()
    await post.until(await post.queue_board(chat="u1"), "sent")
    assert [png_of(m) for m in post.qq.messages("u1")] == [AS_PICTURE[1]]


async def test_what_cannot_be_drawn_goes_out_as_text_at_once(post: Gallery) -> None:
    asked = post.qq.say(GROUP, 1, "/排行榜")
    post.cannot = True
    await post.begin()
    row = await post.until(await post.queue_board(quote=str(asked.message_id)), "sent")
    assert (post.shown(), row.attempts) == ([AS_TEXT], 1)
    assert post.qq.history(GROUP)[-1].quote == asked.message_id


async def test_with_pictures_off_the_text_goes_out(post: Gallery) -> None:
    post.sender = Sender(post.database, post, bots=lambda: post.bots, interval=0, alarm=post._alarm, patience=QUICK)
    await post.begin()
    await post.until(await post.queue_board(), "sent")
    assert (post.shown(), post.drawn) == ([AS_TEXT], [])


@pytest.mark.parametrize("style", STYLES)
async def test_where_qq_takes_no_pictures_the_text_goes_out(post: Gallery, style: Style) -> None:
    post.qq.say(GROUP, 1, "hello")
    bot = await post.begin(style, refuse_image=True)
    row = await post.until(await post.queue_board(), "sent")
    await post.until(await post.queue("next"), "sent")
    assert post.shown() == [AS_TEXT, ("next", None)]
    assert (row.attempts, len(bot.sent()), post.alarms) == (2, 3, [])


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("fault", ["fail_delivered", "mute_answers"])
async def test_a_timeout_of_a_picture_that_was_sent_leaves_one(post: Gallery, style: Style, fault: str) -> None:
    """It is found in history by its caption: the client tells of a picture's file, not of what it shows."""
    post.qq.say(GROUP, 1, "hello")
    await post.begin(style, **{fault: 1})
    row = await post.until(await post.queue_board(), "sent")
    await post.until(await post.queue("next"), "sent")
    assert post.shown() == [AS_PICTURE, ("next", None)]
    assert (row.attempts, bool(row.message_id), post.alarms) == (1, True, [])


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("fault", ["lose_sends", "swallow_sends"])
async def test_a_timeout_of_a_picture_that_was_not_sent_sends_it_again(
    post: Gallery, style: Style, fault: str
) -> None:  # fmt: skip
    post.qq.say(GROUP, 1, "hello")
    await post.begin(style, **{fault: 1})
    row = await post.until(await post.queue_board(), "sent")
    assert (post.shown(), row.attempts) == ([AS_PICTURE], 2)


async def test_a_picture_that_times_out_again_and_again_becomes_text(post: Gallery) -> None:
    post.qq.say(GROUP, 1, "hello")
    await post.begin(lose_sends=2)
    row = await post.until(await post.queue_board(), "sent")
    assert (post.shown(), row.attempts) == ([AS_TEXT], 3)


async def test_text_that_stood_in_for_a_picture_is_found_again_too(post: Gallery) -> None:
    post.qq.say(GROUP, 1, "hello")
    post.cannot = True
    await post.begin(mute_answers=1)
    await post.until(await post.queue_board(), "sent")
    assert post.shown() == [AS_TEXT]


@pytest.mark.parametrize("about", ["caption alone", "other picture"])
async def test_only_the_caption_with_a_picture_counts_as_the_picture(post: Gallery, about: str) -> None:
    """The caption without a picture, or a picture with other words, is another message."""
    post.qq.say(GROUP, 1, "hello")
    bot = await post.begin(lose_sends=1)
    words = CAPTION if about == "caption alone" else "单跳1v1排行榜 第2/3页"
    image = [] if about == "caption alone" else [{"type": "image", "data": {"file": "base64://AAAA"}}]
    post.qq.deliver(CHAT, [{"type": "text", "data": {"text": words}}, *image])
    row = await post.until(await post.queue_board(), "sent")
    assert row.attempts == 2 and len(bot.sent()) == 2
    assert post.shown()[-1] == AS_PICTURE


async def test_the_client_s_own_word_about_a_picture_is_enough(post: Gallery) -> None:
    post.new(Patience(look_again=(60,)))
    await post.begin("gocqhttp", mute_answers=1)
    held = await post.queue_board(chat="u1")  # go-cqhttp has no private history
    async with asyncio.timeout(5):
        await post.alarmed.wait()
    told = repair(message_event(post.qq, post.qq.messages("u1")[-1]))
    assert told is not None and "base64" not in str(told)
    sent = to_sent(told)
    assert sent == Sent("u1", str(told["message_id"]), CAPTION, told["time"] * 1000, picture=True)
    post.sender.saw(sent)
    await post.until(held, "sent")
    assert len(post.qq.messages("u1")) == 1


async def test_not_in_history_means_not_sent_only_after_the_picture_had_time_to_be_uploaded(post: Gallery) -> None:
    post.qq.say(GROUP, 1, "hello")
    post.new(Patience(settle=0, settle_picture=30, retry=(0,), look_again=(0.02,)))
    await post.begin(swallow_sends=1)
    number = await post.queue_board()
    await post.until(number, "unknown")
    later = await post.queue("next")
    said = post.qq.deliver(CHAT, [
        {"type": "text", "data": {"text": CAPTION}}, {"type": "image", "data": {"file": "A.png"}}
    ])  # fmt: skip
    post.sender.saw(Sent(CHAT, str(said.message_id), said.text, said.time, picture=True))
    assert (await post.until(number, "sent")).attempts == 1
    await post.until(later, "sent")


async def test_after_a_restart_a_picture_under_way_is_looked_for(post: Gallery) -> None:
    post.qq.say(GROUP, 1, "hello")
    post.new(Patience(settle=600, settle_picture=600))
    await post.begin(mute_answers=1, no_history=True)
    number = await post.queue_board()
    await post.until(number, "unknown")
    await post.sender.stop()
    post.new()
    await post.begin()
    await post.until(number, "sent")
    assert post.shown() == [AS_PICTURE]


async def test_marks_in_a_caption_are_names(post: Gallery) -> None:
    """Nobody is called by a caption; the marks of a mention never go out."""
    await post.begin()
    await post.until(await post.queue_board(caption=f"{at('2', '李四')} 的曲线"), "sent")
    ((said, _),) = post.shown()
    assert said == "@李四 的曲线" and AT_OPEN not in said and AT_CLOSE not in said
