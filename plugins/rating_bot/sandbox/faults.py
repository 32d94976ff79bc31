"""What can go wrong between QQ and the bot, switched on by tests."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Event = dict[str, Any]


@dataclass(slots=True)
class Faults:
    """Counters say how many of the next sends or events are hit; sets hold group numbers; flags stay on."""

    lose_sends: int = 0
    """Not delivered, answered as failed by timeout (1200)."""
    swallow_sends: int = 0
    """Neither delivered nor answered."""
    fail_delivered: int = 0
    """Delivered, yet answered as failed by timeout (1200)."""
    mute_answers: int = 0
    """Delivered, never answered."""
    drop_after_send: int = 0
    """Delivered, then the connection drops before the answer."""
    muted: set[int] = field(default_factory=set)
    """Groups where the bot is muted: sends fail with result 120."""
    kicked: set[int] = field(default_factory=set)
    """Groups that threw the bot out: sends fail with result 110, everything else as for an unknown group."""
    hidden: set[int] = field(default_factory=set)
    """Groups where the bot is under risk control: sends succeed, and nobody ever sees them."""
    refuse_at: bool = False
    """Messages with a mention fail as a whole. A mention of someone who is not in the group always does."""
    refuse_reply: bool = False
    """Messages with a quote fail as a whole. A quote of an unknown message always does."""
    refuse_image: bool = False
    """Messages with a picture fail as a whole."""
    no_history: bool = False
    """History actions fail."""
    history_limit: int | None = None
    """Only this many of the newest messages are in history."""
    history_holes: set[int] = field(default_factory=set)
    """Ids of messages missing from history."""
    lose_events: int = 0
    """Events never pushed."""
    duplicate_events: bool = False
    """Each event is pushed twice."""
    reorder_events: int = 0
    """Events are held back until this many are there, then pushed newest first. Below 2: off."""
    own_messages: bool = False
    """The bot's own messages are pushed as message_sent events (reportSelfMessage)."""
    mangle: Callable[[Event], Event | None] | None = None
    """Changes each event before it is pushed; None swallows it."""

    def take(self, counter: str) -> bool:
        """Use up one of a counter; whether there was one."""
        left: int = getattr(self, counter)
        if left > 0:
            setattr(self, counter, left - 1)
        return left > 0
