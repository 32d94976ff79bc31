"""What nothing keeps waiting is marked as being sent in the transaction that queues it, and goes out once."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from plugins.rating_bot.wire.queueing import Queueing
from rating_core.store.database import Database
from rating_core.store.wire_store import OutboxTable

from .fakes import CHAT, league_qq, say_long_ago
from .test_outbox import Post

ROW: dict[str, Any] = {"kind": "ack", "about": "#1", "quote": None, "created_at": 0, "expires_at": None}


@pytest.fixture
async def post(database: Database) -> AsyncIterator[Post]:
    post = Post(database, league_qq())
    say_long_ago(post.qq)
    yield post
    await post.sender.stop()


async def states(post: Post) -> list[str]:
    async with post.database.read() as connection:
        rows = await OutboxTable(connection).rows("held", "pending", "sending", "unknown", "sent")
    return [row.state for row in rows]


async def say(post: Post, *texts: str, **more: Any) -> None:
    with post.sender.queueing() as queueing:
        async with post.database.write() as connection:
            await add(queueing, OutboxTable(connection), *texts, **more)


async def add(queueing: Queueing, box: OutboxTable, *texts: str, **more: Any) -> None:
    for text in texts:
        await queueing.add(box, chat=CHAT, text=text, **ROW | more)


async def test_what_is_first_is_marked_with_its_transaction_and_the_rest_follows(post: Post) -> None:
    await post.begin()
    await post.sender.idle()
    with post.sender.queueing() as queueing:
        async with post.database.write() as connection:
            await add(queueing, OutboxTable(connection), "收到 #1", "收到 #2")
        assert await states(post) == ["sending", "pending"]
        post.sender.wake([CHAT])
        await asyncio.sleep(0.1)
        assert post.said() == []  # not before it is handed over, and nothing before it
    await post.sender.idle()
    assert post.said() == ["收到 #1", "收到 #2"]
    assert await states(post) == ["sent", "sent"]
    assert (await post.row(1)).attempts == 1


async def test_what_has_to_wait_is_pending(post: Post) -> None:
    await say(post, "收到 #1")
    assert await states(post) == ["pending"]  # the sender does not run
    bot = await post.begin()
    await post.sender.idle()
    await say(post, "收到 #2", held=True)
    assert await states(post) == ["sent", "held"]
    post.bots.clear()
    await say(post, "收到 #3")
    assert await states(post) == ["sent", "held", "pending"]  # no account is connected
    post.bots[bot.self_id] = bot
    await say(post, "收到 #4")
    assert (await states(post))[2:] == ["pending", "pending"]  # it waits for the one before it
    post.sender.connected(bot)
    await post.sender.idle()
    assert post.said() == ["收到 #1", "收到 #3", "收到 #4"]


async def fail(post: Post, *, committed: bool) -> None:
    """Queue 收到 #1 in a transaction that fails, or that commits before something else fails."""
    with pytest.raises(KeyError), post.sender.queueing() as queueing:
        async with post.database.write() as connection:
            await add(queueing, OutboxTable(connection), "收到 #1")
            if not committed:
                raise KeyError
        raise KeyError


async def test_what_was_rolled_back_is_not_sent(post: Post) -> None:
    await post.begin()
    await post.sender.idle()
    await fail(post, committed=False)
    await say(post, "收到 #2")
    await post.sender.idle()
    assert post.said() == ["收到 #2"]


async def test_a_commit_of_which_nobody_knows_is_looked_for_and_sent(post: Post) -> None:
    """The commit went through, and what came after it failed: the row may be out for all that the next look knows."""
    await post.begin()
    await post.sender.idle()
    await fail(post, committed=True)
    await post.sender.idle()
    assert post.said() == ["收到 #1"]


async def test_a_refused_one_is_tried_again(post: Post) -> None:
    bot = await post.begin()
    await post.sender.idle()
    bot.faults.lose_sends = 1
    await say(post, "收到 #1")
    await post.sender.idle()
    assert post.said() == ["收到 #1"]


async def test_a_stop_gives_back_what_was_not_begun(post: Post) -> None:
    await post.begin()
    await post.sender.idle()
    await say(post, "收到 #1")  # its lane has not run yet
    await post.sender.stop()
    assert (post.said(), await states(post)) == ([], ["pending"])
