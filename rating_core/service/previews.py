"""Previews (预N): what will be done when the same person confirms it in time."""

import json
from typing import Any

from rating_core.directory import Actor
from rating_core.service.people import PREVIEW_MINUTES, Place
from rating_core.service.transaction import Tx
from rating_core.store.desk_store import Preview


async def keep_preview(tx: Tx, actor: Actor, kind: str, data: Any, place: Place) -> Preview:
    """Keep what was shown (`data`: JSON values) as 预N, with the row at which the book stands."""
    actor = await tx.known(actor)
    preview = Preview(
        await tx.counters.take("preview"), kind, json.dumps(data, ensure_ascii=False), actor.account_id, place.chat,
        tx.book.seq, place.said_at, place.said_at + PREVIEW_MINUTES * 60_000,
    )  # fmt: skip
    await tx.desk.add_preview(preview)
    return preview


def book_moved(tx: Tx, preview: Preview) -> bool:
    """Return whether anything was entered since the preview: then it is shown anew, never applied blindly."""
    return preview.book_seq != tx.book.seq
