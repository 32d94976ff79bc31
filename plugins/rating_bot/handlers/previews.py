"""Applying a preview (预N): by the same person, within ten minutes, once."""

from collections.abc import Awaitable, Callable

from plugins.rating_bot.handlers.context import Context
from plugins.rating_bot.wire.messages import Out
from plugins.rating_bot.wording import desk as wording
from rating_core.store.desk_store import Preview

Apply = Callable[[Context, Preview], Awaitable[list[Out]]]
APPLIERS: dict[str, Apply] = {}
"""Preview kind → what applies it."""


def applies(kind: str) -> Callable[[Apply], Apply]:
    """Register what applies previews of a kind."""

    def register(apply: Apply) -> Apply:
        APPLIERS[kind] = apply
        return apply

    return register


async def apply_preview(context: Context, number: int) -> list[Out]:
    """Apply 预`number` if it is the speaker's, open and not too old."""
    preview = await context.tx.desk.preview(number)
    if preview is None:
        return [context.answer(wording.no_preview(number))]
    if preview.account_id != context.actor.account_id:
        return [context.answer(wording.not_your_preview(preview))]
    if preview.state != "open":
        return [context.answer(wording.preview_closed(preview))]
    if context.at >= preview.expires_at:
        return [context.answer(wording.preview_expired(preview))]
    await context.tx.desk.close_preview(number, "applied")
    context.about = f"预{number}"
    return await APPLIERS[preview.kind](context, preview)
