"""Where NoneBot hands over: every message and notice, already in order, goes to the dispatcher."""

from nonebot import on_message, on_notice
from nonebot.adapters.onebot.v11 import Event

from plugins.rating_bot import running
from plugins.rating_bot.wire.inbound import to_inbound


async def take(event: Event) -> None:
    """Reduce an event to what the bot acts on, and handle it."""
    inbound = to_inbound(event)
    if inbound is not None and (parts := running.parts) is not None:
        await parts.dispatcher.handle(inbound)


on_message(priority=10, block=False).append_handler(take)
on_notice(priority=10, block=False).append_handler(take)
