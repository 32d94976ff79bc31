"""After an outage: the answers to what was made up for are merged, at most three messages a chat."""

from collections.abc import Sequence
from itertools import groupby

from plugins.rating_bot.runtime import Runtime
from plugins.rating_bot.wording.makeup import merged
from rating_core.failpoints import hit
from rating_core.store.wire_store import OutRow

MOST_MESSAGES = 3


async def merge_held(runtime: Runtime) -> set[str]:
    """Queue the held answers, merged per chat; return the chats that have something to send."""
    async with runtime.league.transaction(entries=False) as tx:
        held = sorted(await tx.outbox.rows("held", limit=100_000), key=lambda row: (row.chat, row.outbox_id))
        chats = set()
        for chat, found in groupby(held, key=lambda row: row.chat):
            chats.add(chat)
            whole = list(found)
            done = {row.about for row in whole if row.kind == "ack"}
            for row in (answered := [row for row in whole if row.kind == "prompt" and row.about in done]):
                await tx.outbox.mark_dropped(row.outbox_id)  # its confirmation was said meanwhile too
            rows = [row for row in whole if row not in answered]
            if len(rows) <= MOST_MESSAGES:
                for row in rows:
                    await tx.outbox.mark_pending(row.outbox_id)
                continue
            for part in _parts(rows, MOST_MESSAGES):
                alone = len(part) == 1
                await tx.outbox.add(
                    chat=chat, text=part[0].text if alone else merged([row.text for row in part]),
                    kind=part[0].kind, created_at=tx.now, about=part[0].about if alone else "",
                    quote=part[0].quote if alone else None, picture=part[0].picture if alone else None,
                    caption=part[0].caption if alone else "",
                )  # fmt: skip
            for row in rows:
                await tx.outbox.mark_dropped(row.outbox_id)
        hit("before_merge_commit")
    hit("after_merge_commit")
    return chats


def _parts(rows: Sequence[OutRow], most: int) -> list[Sequence[OutRow]]:
    """Cut into at most `most` runs of about equal length of text."""
    total = sum(len(row.text) for row in rows)
    parts: list[list[OutRow]] = [[]]
    size = 0
    for row in rows:
        if parts[-1] and len(parts) < most and size >= total * len(parts) / most:
            parts.append([])
        parts[-1].append(row)
        size += len(row.text)
    return list(parts)
