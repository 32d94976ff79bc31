"""The parts of the running bot, for NoneBot's matchers, which are made before it starts."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plugins.rating_bot.wiring import Parts

parts: "Parts | None" = None
"""None until the bot has started."""
