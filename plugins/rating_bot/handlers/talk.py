"""Messages of people that led to nothing: who quotes one means no report, whatever it looks like."""

from collections import OrderedDict

MOST_KEPT = 5000


class Talk:
    """The latest of them. Message ids repeat: one of the bot's own may be that of somebody's message as well."""

    def __init__(self) -> None:
        self._heard: OrderedDict[tuple[str, str], None] = OrderedDict()

    def note(self, chat: str, message_id: str) -> None:
        """A message led to nothing."""
        self._heard[chat, message_id] = None
        self._heard.move_to_end((chat, message_id))
        if len(self._heard) > MOST_KEPT:
            self._heard.popitem(last=False)

    def holds(self, chat: str, message_id: str | None) -> bool:
        """Return whether a message of this id led to nothing."""
        return (chat, message_id) in self._heard
