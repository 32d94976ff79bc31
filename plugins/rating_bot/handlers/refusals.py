"""What the service refuses, answered in the words of its subject; and names that are nobody's."""

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any, TypeVar

from plugins.rating_bot.handlers.context import Context
from plugins.rating_bot.handlers.grammar import Person
from plugins.rating_bot.wire.messages import Out
from rating_core.service.refusal import Refusal

A = TypeVar("A")


def explained(
    say: Callable[[Context, Refusal], str],
) -> Callable[[Callable[..., Awaitable[A]]], Callable[..., Awaitable[A | list[Out]]]]:
    """Let a handler answer a refusal with what `say` makes of it: why, by which clause, and what to do instead."""

    def of(handler: Callable[..., Awaitable[A]]) -> Callable[..., Awaitable[A | list[Out]]]:
        @wraps(handler)
        async def run(context: Context, *args: Any, **values: Any) -> A | list[Out]:
            try:
                return await handler(context, *args, **values)
            except Refusal as refusal:
                context.refused = True
                return [context.answer(say(context, refusal))]

        return run

    return of


def bound(who: Person) -> int:
    """Return the player who is named. Raises Refusal where a mentioned account is bound to none."""
    if who.player_id is None:
        raise Refusal("mention_not_bound", typed=who.typed)
    return who.player_id
