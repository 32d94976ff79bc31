"""What is left of raw messages after 30 days (store/forgetting.py, purge)."""

import re
from pathlib import Path

import pytest
from sqlalchemy import insert, select

from rating_core.store.database import Database
from rating_core.store.forgetting import CODES, Forgetting
from rating_core.store.tables import applications, chats, docket, inbox, metadata, outbox, previews
from rating_core.store.wire_store import ChatTable, InboxTable, OutboxTable

NOW = 1_800_000_000_000
OLD, NEW = NOW - 10_000, NOW + 10_000


async def take(database: Database, key: str, *, chat: str = "g1", at: int = OLD, about: str = "") -> int | None:
    async with database.write() as connection:
        box = InboxTable(connection)
        found = await box.take(
            key=key, twin=f"{key} twin", chat=chat, message_id=f"m{key}", qq="2012345678", said_at=at, text="原话"
        )
        if found is not None and about:
            await box.set_about(found, about)
        return found


async def purge(database: Database) -> int:
    async with database.write() as connection:
        return await Forgetting(connection).purge(NOW)


@pytest.fixture
async def read_on(database: Database) -> None:
    """The group was read on since."""
    async with database.write() as connection:
        await ChatTable(connection).set_watermark("g1", NEW, None)


@pytest.mark.usefixtures("read_on")
async def test_of_what_came_in_only_the_numbers_stay_that_a_quote_can_name(database: Database) -> None:
    await take(database, "a")
    await take(database, "b", about="#1")
    await take(database, "c", chat="u2012345678", about="审1")
    await take(database, "g1|reaction|5|2012345678|76", about="#1")
    await take(database, "new", at=NEW)
    assert await purge(database) == 0
    async with database.read() as connection:
        rows = (await connection.execute(select(inbox).order_by(inbox.c.inbox_id))).all()
        assert [(row.message_id, row.about) for row in rows] == [
            ("mb", "#1"), ("mg1|reaction|5|2012345678|76", "#1"), ("mnew", "")
        ]  # fmt: skip
        assert [(row.key.partition("|")[0], row.twin, row.qq, row.text) for row in rows[:2]] == 2 * [
            ("old", "", None, None)
        ]
        assert (rows[2].qq, rows[2].text) == ("2012345678", "原话")
        assert await InboxTable(connection).about_of("g1", "mb") == "#1"
    assert await purge(database) == 0


async def test_what_history_may_give_again_is_not_taken_twice(database: Database) -> None:
    """The last message of a group in which nobody spoke for 30 days: its key stays, who said it does not."""
    async with database.write() as connection:
        await ChatTable(connection).set_watermark("g1", OLD, None)
    await take(database, "last")
    await take(database, "before", at=OLD - 4_000)
    await purge(database)
    assert await take(database, "last") is None
    assert await take(database, "before") is not None
    async with database.read() as connection:
        row = (await connection.execute(select(inbox).where(inbox.c.key == "last"))).one()
        assert (row.qq, row.text) == (None, None)


async def test_of_what_went_out_the_same(database: Database) -> None:
    async with database.write() as connection:
        box = OutboxTable(connection)
        sent = await box.add(
            chat="g1", text="#1 张三", kind="prompt", about="#1", created_at=OLD, picture="x", caption="y"
        )
        await box.mark_sent(sent, "77")
        answer = await box.add(chat="g1", text="榜", kind="answer", created_at=OLD)
        await box.mark_sent(answer, "78")
        private = await box.add(chat="u2012345678", text="审1", kind="notice", about="审1", created_at=OLD)
        await box.mark_sent(private, "79")
        await box.add(chat="g1", text="没发出去", kind="forward", about="#2", created_at=OLD)
        await box.add(chat="g1", text="新的", kind="answer", created_at=NEW)
    assert await purge(database) == 1
    async with database.read() as connection:
        rows = (await connection.execute(select(outbox).order_by(outbox.c.outbox_id))).all()
        assert [(row.about, row.text, row.picture, row.caption) for row in rows] == [
            ("#1", "", None, ""), ("", "新的", None, "")
        ]  # fmt: skip
        assert await InboxTable(connection).about_of("g1", "77") == "#1"
        assert await OutboxTable(connection).kind_of("g1", "77") == "prompt"


async def test_rests_previews_the_docket_and_where_applicants_asked(database: Database) -> None:
    async with database.write() as connection:
        table = ChatTable(connection)
        await table.set_pause("u2012345678", OLD, "risk")
        await table.set_pause("u2012345679", NEW, "risk")
        await table.set_watermark("g1", OLD, None)
        for number, at in ((1, OLD), (2, NEW)):
            await connection.execute(
                insert(previews).values(
                    preview_id=number,
                    kind="leave",
                    payload="{}",
                    account_id=1,
                    chat="g1",
                    book_seq=1,
                    created_at=at,
                    expires_at=at,
                    state="open",
                )
            )
        for kind, at, closed in (
            ("missed", OLD, NOW), ("missed", OLD, None), ("old_command", OLD, None), ("old_command", NEW, None)
        ):  # fmt: skip
            values = {"kind": kind, "about": "", "detail": "词", "created_at": at, "closed_at": closed}
            await connection.execute(insert(docket).values(**values))
        for number, state, decided in ((1, "approved", OLD), (2, "waiting", None), (3, "refused", NEW)):
            await connection.execute(
                insert(applications).values(
                    application_id=number,
                    kind="register",
                    account_id=1,
                    name="张三",
                    placing="普通",
                    message_id="5",
                    chat="u2012345678",
                    said_at=OLD,
                    state=state,
                    decided_at=decided,
                    reason="",
                )
            )
    await purge(database)
    async with database.read() as connection:
        assert list((await connection.execute(select(chats.c.chat).order_by(chats.c.chat))).scalars()) == [
            "g1",
            "u2012345679",
        ]
        assert list((await connection.execute(select(previews.c.preview_id))).scalars()) == [2]
        left = (await connection.execute(select(docket.c.kind, docket.c.detail).order_by(docket.c.docket_id))).all()
        assert [tuple(row) for row in left] == [("missed", "词"), ("old_command", ""), ("old_command", "词")]
        query = select(applications.c.chat).order_by(applications.c.application_id)
        assert list((await connection.execute(query)).scalars()) == ["", "u2012345678", "u2012345678"]


def test_every_table_stands_in_the_document_and_no_other() -> None:
    text = (Path(__file__).resolve().parents[2] / "docs" / "隐私.md").read_text("utf-8")
    rows = re.findall(r"^\| (`.*?) \|", text, re.MULTILINE)
    named = [name for row in rows for name in re.findall("`([a-z_]+)`", row)]
    assert sorted(named) == sorted(metadata.tables)


def test_columns_that_are_taken_for_codes_exist() -> None:
    """Every other text column is searched when somebody is forgotten."""
    columns = {column.name for table in metadata.tables.values() for column in table.c}
    assert columns >= CODES
