"""Inbox, outbox and chats in the database."""

import asyncio

from rating_core.store.database import Database
from rating_core.store.wire_store import ChatTable, InboxTable, OutboxTable
from tests.support.chats import chat_row

NOW = 1_780_000_000_000


async def take(database: Database, key: str, twin: str = "t", message_id: str = "5", said_at: int = NOW) -> int | None:
    async with database.write() as connection:
        return await InboxTable(connection).take(
            key=key, twin=twin, chat="g1", message_id=message_id, qq="1", said_at=said_at, text="确认"
        )


async def test_a_message_is_taken_once(database: Database) -> None:
    first = await take(database, "a", "x")
    assert first is not None
    assert await take(database, "a", "y") is None
    second = await take(database, "b", "z")
    assert second not in (None, first)


async def test_two_at_once_are_one(database: Database) -> None:
    taken = await asyncio.gather(*(take(database, "a") for _ in range(8)))
    assert sum(number is not None for number in taken) == 1


async def test_one_message_under_two_ids_is_taken_once(database: Database) -> None:
    assert await take(database, "g1|id|5|100", "same", "5") is not None
    assert await take(database, "g1|id|6|100", "same", "6") is None
    assert await take(database, "g1|seq|9", "same", "6") is None  # the same, told by another client


async def test_two_messages_with_qqs_numbers_are_two(database: Database) -> None:
    assert await take(database, "g1|seq|9", "same", "5") is not None
    assert await take(database, "g1|seq|10", "same", "6") is not None
    assert await take(database, "g1|id|7|100", "same", "7") is None


async def test_a_rolled_back_message_can_be_taken_again(database: Database) -> None:
    try:
        async with database.write() as connection:
            await InboxTable(connection).take(
                key="a", twin="a", chat="g1", message_id="5", qq="1", said_at=NOW, text=""
            )
            raise RuntimeError
    except RuntimeError:
        pass
    assert await take(database, "a") is not None


async def test_what_a_message_is_about(database: Database) -> None:
    old = await take(database, "a", "a", "5", NOW)
    new = await take(database, "b", "b", "5", NOW + 1000)  # the id came round again
    assert old and new
    async with database.write() as connection:
        box = InboxTable(connection)
        assert await box.about_of("g1", "5") == ""
        await box.set_about(old, "#12")
        assert await box.about_of("g1", "5") == "#12"
        await box.set_about(new, "#90")
        assert await box.about_of("g1", "5") == "#90"
        assert await box.about_of("g2", "5") == ""
        assert await box.about_of("g1", "") == ""
        out = OutboxTable(connection)
        prompt = await out.add(chat="g1", text="#12", kind="prompt", about="#12", created_at=NOW)
        await out.mark_sent(prompt, "-88")
        assert await box.about_of("g1", "-88") == "#12"
        later = await out.add(chat="g1", text="#91", kind="prompt", about="#91", created_at=NOW + 2000)
        await out.mark_sent(later, "5")
        assert await box.about_of("g1", "5") == "#91"


async def test_the_life_of_a_message_to_send(database: Database) -> None:
    async with database.write() as connection:
        box = OutboxTable(connection)
        answer = await box.add(chat="g1", text="榜", kind="answer", quote="7", created_at=NOW, expires_at=NOW + 60)
        first = await box.add(chat="g1", text="收到 #1", kind="ack", about="#1", created_at=NOW + 1)
        other = await box.add(chat="g1", text="收到 #2", kind="ack", about="#2", created_at=NOW + 1)
        private = await box.add(chat="u2", text="好", kind="answer", created_at=NOW + 2)
        following = [(await box.work(chat)).following for chat in ("g1", "u2", "g3")]
        assert [row and row.outbox_id for row in following] == [first, private, None]
        assert await box.chats_with_work() == ["g1", "u2"]
        assert await box.backlog() == (4, NOW)

        await box.mark_sending(first, NOW + 5)
        row = (await box.rows("sending"))[0]
        assert (row.attempts, row.sending_at, row.about, row.quote) == (1, NOW + 5, "#1", None)
        assert await box.recover() == 1
        assert [row.state for row in await box.rows("unknown")] == ["unknown"]
        await box.mark_pending(first, "timeout")
        await box.mark_sending(first, NOW + 6)
        await box.mark_pending(first, attempts=1)
        again = (await box.work("g1")).following
        assert again is not None and (again.outbox_id, again.attempts) == (first, 1)
        await box.mark_sent(first, "99")
        assert await box.taken("g1", ["99", "100"]) == {"99"}
        assert await box.taken("g2", ["99"]) == set()
        for number in (other, answer):
            coming = (await box.work("g1")).following
            assert coming is not None and coming.outbox_id == number
            await box.mark_dropped(number)
        assert await box.chats_with_work() == ["u2"]
        assert await box.counts() == {"sent": 1, "dropped": 2, "pending": 1}


async def test_what_is_sent_stays_sent(database: Database) -> None:
    """Somebody quoted it, so it is out, while the sender still looked for it in vain."""
    async with database.write() as connection:
        outbox = OutboxTable(connection)
        number = await outbox.add(chat="g1", text="收到 #1", kind="ack", created_at=1)
        await outbox.mark_unknown(number, "no answer")
        await outbox.mark_sent(number, "11")
        await outbox.mark_pending(number)
        await outbox.mark_failed(number, "given up")
        (row,) = await outbox.rows("pending", "failed", "sent")
    assert (row.state, row.message_id) == ("sent", "11")


async def test_chats(database: Database) -> None:
    async with database.write() as connection:
        chats = ChatTable(connection)
        assert await chat_row(connection, "g1") is None
        await chats.set_pause("g1", NOW, "muted")
        await chats.set_watermark("g1", NOW, 5)
        await chats.set_watermark("g1", NOW - 1, 4)
        await chats.set_watermark("g1", NOW, 6)
        row = await chat_row(connection, "g1")
        assert row is not None
        assert (row.watermark_at, row.watermark_seq, row.paused_until, row.paused_why) == (NOW, 6, NOW, "muted")
        await chats.set_pause("g1", None)
        assert [(row.chat, row.watermark_seq, row.paused_until) for row in await chats.all()] == [("g1", 6, None)]
