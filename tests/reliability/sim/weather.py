"""How bad QQ is in one small world, drawn from its seed."""

import random
from dataclasses import dataclass

from plugins.rating_bot.sandbox.onebot import Style

STYLES: tuple[Style, ...] = ("napcat", "napcat", "napcat", "llonebot", "lagrange", "gocqhttp")


@dataclass(frozen=True, slots=True)
class Weather:
    """Chances of 0 to 1, times in seconds."""

    style: Style
    """Which client it is: how it pages history, which numbers it tells."""
    own_messages: bool
    """Whether the client tells of the bot's own messages."""
    late: float
    """An event takes up to LATE seconds instead of a blink: events overtake each other."""
    twice: float
    """An event comes again, at once or much later."""
    dropped: float
    """An event never comes although the connection stands."""
    call_lost: float
    """A call never reaches the client, or its answer never comes back (half and half)."""
    send_unclear: float
    """A send is answered with 1200, delivered or not (half and half)."""
    slow: float
    """A call takes up to SLOW seconds."""
    trouble: float
    """Before each thing said: a cut, an outage, a kill, a restart, a mute, history that hides …"""
    give_way: float
    """At a statement of the database another task goes on first."""
    shuffle: float
    """Ready tasks change places."""

    @property
    def calm(self) -> bool:
        """Nothing goes wrong in it."""
        return not (self.trouble or self.call_lost or self.send_unclear or self.dropped)

    @classmethod
    def draw(cls, rng: random.Random) -> "Weather":
        calm = rng.random() < 0.15
        bad = 0.0 if calm else rng.choice((0.3, 1.0, 1.0, 2.0))

        def chance(most: float) -> float:
            return bad * most * rng.random()

        return cls(
            style=rng.choice(STYLES),
            own_messages=rng.random() < 0.3,
            late=chance(0.3),
            twice=chance(0.2),
            dropped=chance(0.1) if rng.random() < 0.2 else 0.0,
            call_lost=chance(0.12),
            send_unclear=chance(0.2),
            slow=chance(0.2),
            trouble=chance(0.3),
            give_way=rng.choice((0.0, 0.02, 0.1)),
            shuffle=rng.choice((0.0, 0.5, 1.0)),
        )


LATE = 2.5
SLOW = 3.5
"""Less than the 5 s after which the sender takes what is not in history for not sent (wire.outbox.Patience)."""
API_TIMEOUT = 30.0
"""NoneBot's default."""
