"""A QQ in memory: groups, people, messages. It knows nothing of OneBot and nothing of the bot.

The sandbox page and the end-to-end tests speak through `say`, `recall` and `react`; `client.FakeClient`
carries what happens to the bot and what the bot sends back. Single-threaded: use it from one event loop.
"""

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence

from ..wire.messages import group_chat, private_chat
from .files import FileShelf
from .values import FakeMessage, Group, Happened, Listener, Member, Person, Predicate, QQRefused, Role, Segment, compose

__all__ = ["FakeMessage", "FakeQQ", "Group", "Happened", "Member", "Person", "QQRefused", "Segment", "wall_clock"]

EPOCH_MS = 1_735_689_600_000
"""2025-01-01 UTC: numbers given out count from here, so that they never repeat after a restart."""
NUMBER_MS = 10
"""A number for each such span that passed: nobody, not even a test, says more in that time."""
ID_BITS = 31
ID_SPREAD = 1_103_515_245
"""Odd, so multiplying by it modulo 2^31 repeats no id, and ids are as unordered as NapCat's hashes."""


def wall_clock() -> int:
    """Return the time in ms since the epoch."""
    return time.time_ns() // 1_000_000


class FakeQQ:
    """Groups, people and what they say. `now` gives ms since the epoch."""

    def __init__(self, *, self_id: int = 10000, self_name: str = "记分机器人", now: Callable[[], int] = wall_clock):
        self.self_id = self_id
        self.now = now
        self.groups: dict[int, Group] = {}
        self.people: dict[int, Person] = {self_id: Person(self_id, self_name)}
        self._messages: dict[str, list[FakeMessage]] = {}
        self._by_id: dict[int, FakeMessage] = {}
        self._listeners: list[Listener] = []
        self.shelf = FileShelf()
        self._first_seq = max(1, (now() - EPOCH_MS) // NUMBER_MS)
        self._next_id = self._first_seq

    # --- who there is -------------------------------------------------------------------------------------

    def add_person(self, user_id: int, nickname: str) -> Person:
        """Add someone, or rename him."""
        person = self.people.setdefault(user_id, Person(user_id, nickname))
        person.nickname = nickname
        return person

    def add_group(self, group_id: int, name: str) -> Group:
        """Add a group with the bot in it."""
        group = self.groups[group_id] = Group(group_id, name)
        group.members[self.self_id] = Member(self.self_id, "", "member", self.now())
        return group

    def add_member(
        self,
        group_id: int,
        user_id: int,
        *,
        card: str = "",
        role: Role = "member",
        nickname: str = "",
        joined_at: int | None = None,
    ) -> Member:
        """Put someone into a group; an unknown person is made, named by nickname, else card, else number.

        `joined_at` in ms, default now. Raises QQRefused for an unknown group.
        """
        group = self.group(group_id)
        if user_id not in self.people or nickname:
            self.add_person(user_id, nickname or card or str(user_id))
        member = Member(user_id, card, role, self.now() if joined_at is None else joined_at)
        group.members[user_id] = member
        return member

    def remove_member(self, group_id: int, user_id: int) -> None:
        """Take someone out of a group."""
        self.group(group_id).members.pop(user_id, None)

    def set_card(self, group_id: int, user_id: int, card: str) -> None:
        """Change someone's group card. Raises QQRefused when he is not in the group."""
        self.member(group_id, user_id).card = card
        self._tell(Happened("card", group_chat(group_id), user_id=user_id))

    def group(self, group_id: int) -> Group:
        """Return a group or raise QQRefused."""
        if group_id not in self.groups:
            raise QQRefused(f"no group {group_id}")
        return self.groups[group_id]

    def member(self, group_id: int, user_id: int) -> Member:
        """Return someone's place in a group or raise QQRefused."""
        members = self.group(group_id).members
        if user_id not in members:
            raise QQRefused(f"{user_id} is not in group {group_id}")
        return members[user_id]

    def shown_name(self, chat: str, user_id: int) -> str:
        """Return what a chat calls someone: card, else nickname, else number."""
        if chat.startswith("g"):
            group = self.groups.get(int(chat[1:]))
            if group and user_id in group.members and group.members[user_id].card:
                return group.members[user_id].card
        person = self.people.get(user_id)
        return person.nickname if person else str(user_id)

    # --- what they do -------------------------------------------------------------------------------------

    def say(
        self,
        group_id: int,
        user_id: int,
        text: str = "",
        *,
        quote: int | None = None,
        at: Sequence[int] = (),
        segments: list[Segment] | None = None,
    ) -> FakeMessage:
        """Let someone say something in a group; `segments` replaces text, quote and at.

        Raises QQRefused when he is not in the group.
        """
        member = self.member(group_id, user_id)
        parts = compose(text, quote, at) if segments is None else segments
        return self._post(group_chat(group_id), user_id, parts, member.card, member.role)

    def say_private(
        self, user_id: int, text: str = "", *, quote: int | None = None, segments: list[Segment] | None = None
    ) -> FakeMessage:
        """Let someone write to the bot. Raises QQRefused for an unknown person."""
        parts = compose(text, quote) if segments is None else segments
        return self._post(private_chat(self._known(user_id)), user_id, parts)

    def deliver(self, chat: str, segments: list[Segment]) -> FakeMessage:
        """Let the bot say something in a chat. Raises QQRefused for an unknown group or person."""
        if chat.startswith("g"):
            return self.say(int(chat[1:]), self.self_id, segments=segments)
        return self._post(private_chat(self._known(int(chat[1:]))), self.self_id, segments)

    def recall(self, group_id: int, message_id: int, by: int) -> None:
        """Take back a message of a group.

        Raises QQRefused for an unknown message, and unless it is his own or he is owner or admin.
        """
        message = self._in_chat(group_chat(group_id), message_id)
        if message.user_id != by and self.member(group_id, by).role == "member":
            raise QQRefused("只能撤回自己的消息")
        self._recall(message, by)

    def recall_private(self, user_id: int, message_id: int) -> None:
        """Take back one's own message to the bot. Raises QQRefused for an unknown message or the bot's."""
        message = self._in_chat(private_chat(user_id), message_id)
        if message.user_id != user_id:
            raise QQRefused("只能撤回自己的消息")
        self._recall(message, user_id)

    def react(self, group_id: int, message_id: int, user_id: int, emoji_id: str | int) -> None:
        """Put an emoji on a message (76 is 👍). Twice is once. Raises QQRefused for an unknown message."""
        message = self._in_chat(group_chat(group_id), message_id)
        self.member(group_id, user_id)
        people = message.reactions.setdefault(str(emoji_id), set())
        if user_id not in people:
            people.add(user_id)
            self._tell(Happened("reaction", message.chat, message, user_id, str(emoji_id)))

    # --- what was said ------------------------------------------------------------------------------------

    def history(self, group_id: int) -> list[FakeMessage]:
        """Return all messages of a group, oldest first, recalled ones included."""
        return self.messages(group_chat(group_id))

    def private_history(self, user_id: int) -> list[FakeMessage]:
        """Return all messages between someone and the bot, oldest first."""
        return self.messages(private_chat(user_id))

    def messages(self, chat: str) -> list[FakeMessage]:
        """Return all messages of a chat, oldest first."""
        return list(self._messages.get(chat, ()))

    def said_by_bot(self, group_id: int) -> list[FakeMessage]:
        """Return what the bot said in a group, oldest first."""
        return [m for m in self.history(group_id) if m.user_id == self.self_id]

    def find(self, message_id: int) -> FakeMessage | None:
        """Return a message by its id."""
        return self._by_id.get(message_id)

    def forget(self) -> None:
        """Forget all that was said; groups and people stay, and no number is given twice."""
        self._first_seq = max((said[-1].real_seq + 1 for said in self._messages.values()), default=self._first_seq)
        self._messages.clear()
        self._by_id.clear()
        self.shelf.files.clear()

    # --- listening ----------------------------------------------------------------------------------------

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Have `listener` called at once for everything that happens; returns what ends it."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener) if listener in self._listeners else None

    async def wait_for(
        self, group_id: int, predicate: Predicate, timeout: float = 10, *, after: FakeMessage | None = None
    ) -> FakeMessage:
        """Return the first message of a group that fits, already said or yet to come, after `after` if given.

        Raises TimeoutError with the transcript after `timeout` seconds.
        """
        return await self.wait_in(group_chat(group_id), predicate, timeout, after=after)

    async def wait_private(
        self, user_id: int, predicate: Predicate, timeout: float = 10, *, after: FakeMessage | None = None
    ) -> FakeMessage:
        """Like `wait_for`, between someone and the bot."""
        return await self.wait_in(private_chat(user_id), predicate, timeout, after=after)

    async def wait_in(
        self, chat: str, predicate: Predicate, timeout: float = 10, *, after: FakeMessage | None = None
    ) -> FakeMessage:
        """Like `wait_for`, by chat key."""
        since = after.real_seq if after else 0

        def fits(message: FakeMessage) -> bool:
            return message.chat == chat and message.real_seq > since and bool(predicate(message))

        for message in self._messages.get(chat, ()):
            if fits(message):
                return message
        found: asyncio.Future[FakeMessage] = asyncio.get_running_loop().create_future()

        def listen(event: Happened) -> None:
            if event.kind == "message" and event.message and not found.done() and fits(event.message):
                found.set_result(event.message)

        stop = self.subscribe(listen)
        try:
            async with asyncio.timeout(timeout):
                return await found
        except TimeoutError:
            raise TimeoutError(f"nothing that fits in {chat} within {timeout} s:\n{self.transcript(chat)}") from None
        finally:
            stop()

    def transcript(self, chat: str, last: int = 30) -> str:
        """Return the last messages of a chat as text, for error messages."""
        lines = [f"  {m.real_seq} {self.shown_name(chat, m.user_id)}: {m.text!r}" for m in self.messages(chat)[-last:]]
        return "\n".join(lines) or "  (nothing was said)"

    # --- inside -------------------------------------------------------------------------------------------

    def _known(self, user_id: int) -> int:
        if user_id not in self.people:
            raise QQRefused(f"no person {user_id}")
        return user_id

    def _in_chat(self, chat: str, message_id: int) -> FakeMessage:
        message = self._by_id.get(message_id)
        if message is None or message.chat != chat:
            raise QQRefused(f"no message {message_id} in {chat}")
        return message

    def _post(
        self, chat: str, user_id: int, segments: Iterable[Segment], card: str = "", role: Role = "member"
    ) -> FakeMessage:
        said = self._messages.setdefault(chat, [])
        message = FakeMessage(
            chat=chat,
            message_id=self.number(),
            real_seq=said[-1].real_seq + 1 if said else self._first_seq,
            user_id=user_id,
            segments=list(segments),
            time=self.now(),
            nickname=self.people[user_id].nickname,
            card=card,
            role=role,
        )
        said.append(message)
        self._by_id[message.message_id] = message
        self._tell(Happened("message", chat, message, user_id))
        return message

    def number(self) -> int:
        """Return a message id that no other message has."""
        self._next_id += 1
        return self._next_id * ID_SPREAD % (1 << ID_BITS)

    def _recall(self, message: FakeMessage, by: int) -> None:
        if message.recalled_by is None:
            message.recalled_by = by
            self._tell(Happened("recall", message.chat, message, by))

    def _tell(self, event: Happened) -> None:
        for listener in tuple(self._listeners):
            listener(event)
