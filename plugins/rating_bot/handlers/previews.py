"""Applying a preview (预N): by the same person, within ten minutes, once."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from plugins.rating_bot.handlers.context import Context
from plugins.rating_bot.handlers.table import Role, role_of
from plugins.rating_bot.wire.messages import Out
from plugins.rating_bot.wording import commands as commands_wording
from plugins.rating_bot.wording import desk as wording
from rating_core.store.desk_store import Preview

Apply = Callable[[Context, Preview], Awaitable[list[Out]]]


@dataclass(frozen=True, slots=True)
class Applier:
    """What applies previews of a kind. `role`: who may still do it when he confirms; `bare`: a bare 确认 will do."""

    apply: Apply
    role: Role
    bare: bool


APPLIERS: dict[str, Applier] = {}
"""Preview kind → what applies it."""


def applies(kind: str, *, role: Role = Role.SCOREKEEPER, bare: bool = False) -> Callable[[Apply], Apply]:
    """Register what applies previews of a kind."""

    def register(apply: Apply) -> Apply:
        APPLIERS[kind] = Applier(apply, role, bare)
        return apply

    return register


def bare_preview(previews: Sequence[Preview]) -> int | None:
    """Return the one open preview of somebody that a bare 确认 may apply (his own leave), else None."""
    return previews[0].preview_id if len(previews) == 1 and APPLIERS[previews[0].kind].bare else None


async def apply_preview(context: Context, number: int) -> list[Out]:
    """Apply 预`number` if it is the speaker's, open and not too old, and he may still do it."""
    preview = await context.tx.desk.preview(number)
    if preview is None:
        return [context.answer(wording.no_preview(number))]
    if preview.account_id != context.actor.account_id:
        return [context.answer(wording.not_your_preview(preview))]
    applier = APPLIERS[preview.kind]
    if role_of(context.actor) < applier.role:
        return [context.answer(commands_wording.no_right(applier.role))]
    if preview.state != "open":
        return [context.answer(wording.preview_closed(preview))]
    if context.at >= preview.expires_at:
        return [context.answer(wording.preview_expired(preview))]
    await context.tx.desk.close_preview(number, "applied")
    context.about = f"预{number}"
    return await applier.apply(context, preview)
