"""Finding out whether a message whose sending ended unclear is out: by the bot's own messages in the chat.

A picture is known by its caption, a text by itself: either may be what a row became.
"""

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Sequence

from rating_core.store.database import Database
from rating_core.store.wire_store import OutboxTable, OutRow

from .history import Caller, History, HistoryUnavailable, read_back, read_one
from .inbound import to_sent
from .messages import Sent
from .repair import Data
from .segments import fingerprint, plain

BEFORE_MS = 600_000
"""QQ's clock and ours may differ: own messages count from so long before the sending."""
MOST_CALLS = 200
"""Pages read for one message: go-cqhttp gives 19 a page, and what cannot be read back to is never decided."""
KEPT = 200


class OwnMessages:
    """The bot's own messages: those the client told of, and those in history."""

    def __init__(self, database: Database, own_ids: Callable[[], set[str]]) -> None:
        self._database = database
        self._own_ids = own_ids
        self._told: dict[str, deque[Sent]] = defaultdict(lambda: deque(maxlen=KEPT))

    def saw(self, sent: Sent) -> None:
        """Remember an own message the client told of."""
        self._told[sent.chat].append(sent)

    async def find(self, bot: Caller, row: OutRow) -> str | None:
        """Return the message id under which a row is out, None when it is not out.

        Raises HistoryUnavailable when neither can be said.
        """
        found = await self._match(row, self._told.get(row.chat, ()))
        if found is not None:
            return found
        since = _since(row)
        history = await read_back(bot, row.chat, lambda item: item["time"] * 1000 < since, max_calls=MOST_CALLS)
        found = await self._match(row, self.own_of(history))
        if found is None and not history.reached and not (history.exhausted and _begins_before(history, row)):
            raise HistoryUnavailable(row.chat, "not all that was said since can be read")
        return found

    def told_of(self, chat: str, message_id: str) -> bool:
        """Return whether the client told of an own message."""
        return any(sent.message_id == message_id for sent in self._told.get(chat, ()))

    def own_of(self, history: History) -> list[Sent]:
        """Return the own messages in a history."""
        return [sent for item in history.items if self._is_own(item) and (sent := to_sent(item)) is not None]

    async def strangers(self, chat: str, own: Sequence[Sent]) -> list[Sent]:
        """Return those of the account's messages that no row became, and none of those under way may be."""
        if not own:
            return []
        async with self._database.read() as connection:
            box = OutboxTable(connection)
            taken = await box.taken(chat, [sent.message_id for sent in own])
            unclear = await box.rows("sending", "unknown", chat=chat)
        left = [sent for sent in own if sent.message_id not in taken]
        return [sent for sent in left if not any(fits(row, sent, 0) for row in unclear)]

    async def which(self, bot: Caller, rows: Iterable[OutRow], chat: str, message_id: str) -> OutRow | None:
        """Return which of a chat's rows a message is; None where it is none of them or the client does not tell."""
        item = await read_one(bot, chat, message_id)
        if item is None or not self._is_own(item) or (sent := to_sent(item)) is None:
            return None
        for row in rows:
            if await self._match(row, [sent]) is not None:
                return row
        return None

    async def _match(self, row: OutRow, messages: Iterable[Sent]) -> str | None:
        since = _since(row)
        fitting = [sent for sent in messages if fits(row, sent, since)]
        if not fitting:
            return None
        async with self._database.read() as connection:
            taken = await OutboxTable(connection).taken(row.chat, [sent.message_id for sent in fitting])
        return next((sent.message_id for sent in fitting if sent.message_id not in taken), None)

    def _is_own(self, item: Data) -> bool:
        return item["post_type"] == "message_sent" or str(item["user_id"]) in self._own_ids()


def fits(row: OutRow, sent: Sent, since: int) -> bool:
    """Whether an own message, said at `since` (ms) or later, is what a row became."""
    texts = {fingerprint(row.text), fingerprint(plain(row.text))}
    captions = {fingerprint(row.caption)} if row.picture else set()
    return sent.said_at >= since and fingerprint(sent.text) in (captions if sent.picture else texts)


def _begins_before(history: History, row: OutRow) -> bool:
    """Whether a history that ends somewhere can show a sending: where it begins later, it may only be short.

    QQ's times are whole seconds: what was said in the second of the sending may be after it.
    """
    return not history.items or (history.items[0]["time"] + 1) * 1000 <= (row.sending_at or row.created_at)


def _since(row: OutRow) -> int:
    return (row.sending_at or row.created_at) - BEFORE_MS
