"""Questions that have no answer as asked, and who is meant by a question."""

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any

from plugins.rating_bot.handlers.context import Context
from plugins.rating_bot.handlers.grammar import Person
from plugins.rating_bot.handlers.table import Answer
from plugins.rating_bot.wording import queries as wording


class Hint(Exception):
    """The question has no answer as asked; the text says what to do instead."""


def hinted(handler: Callable[..., Awaitable[Answer]]) -> Callable[..., Awaitable[Answer]]:
    """Answer with the text of a Hint where one is raised."""

    @wraps(handler)
    async def run(context: Context, **values: Any) -> Answer:
        try:
            return await handler(context, **values)
        except Hint as hint:
            return str(hint)

    return run


def player_of(context: Context, who: Person | None) -> int:
    """Return the player meant; None is the speaker. Raises Hint.

    In private the holder of 蒙面人公用号 without a name of his own means it; in a group he is nobody (L13).
    """
    player = context.actor.player_id if who is None else who.player_id
    if who is None and player is None and context.speaker is not None:
        player = context.speaker.player_id
    if player is None:
        raise Hint(wording.UNBOUND if who is None else wording.UNBOUND_OTHER)
    return player
