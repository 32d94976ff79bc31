"""What a handler gets: the transaction, who spoke, where, and under which settings."""

from dataclasses import dataclass
from typing import Any

from plugins.rating_bot.settings import Settings
from plugins.rating_bot.wire.messages import Inbound, Out, OutKind, Picture, group_chat, private_chat
from rating_core.book import Book
from rating_core.directory import Actor, Directory
from rating_core.rulebook import DEFAULT_POOL
from rating_core.service.masked import speaker
from rating_core.service.people import Place
from rating_core.service.transaction import Tx


@dataclass(slots=True)
class Context:
    """One message being handled."""

    tx: Tx
    message: Inbound
    actor: Actor
    settings: Settings
    prepared: Any = None
    """What the command's `prepare` fetched before the transaction began."""
    stray: bool = False
    """Whether what is quoted or reacted to is somebody's message that led to nothing, not the bot's and no report."""
    about: str = ""
    """Short number this message led to (#12, 审3); set by the handler, kept with the message."""
    refused: bool = False
    """Whether the answer is that it cannot be done; for the log."""

    @property
    def book(self) -> Book:
        return self.tx.book

    @property
    def directory(self) -> Directory:
        return self.tx.directory

    @property
    def at(self) -> int:
        """QQ's time of the message, ms."""
        return self.message.said_at

    @property
    def place(self) -> Place:
        """Where and when it was said."""
        return Place(self.message.chat, self.message.message_id, self.at)

    @property
    def speaker(self) -> Actor | None:
        """Who speaks where it is about reports: in private only 蒙面人公用号 does (§5), as which its holder speaks."""
        return self.actor if self.message.group is not None else speaker(self.directory, self.actor)

    @property
    def pool(self) -> str:
        """The pool of queries here: the group's, else 单跳1v1 (§1)."""
        return self.settings.official_groups.get(self.message.group or "", DEFAULT_POOL) or DEFAULT_POOL

    @property
    def scoring_chats(self) -> list[str]:
        return [group_chat(group) for group in self.settings.scoring_groups]

    async def about_of(self, message_id: str | None) -> str:
        """Return the short number a message in this chat is about, "" if it is nothing of ours."""
        if self.stray:
            return ""
        return await self.tx.inbox.about_of(self.message.chat, message_id) if message_id else ""

    def answer(
        self, text: str, *, about: str = "", kind: OutKind = "answer", quote: bool = True,
        picture: Picture | None = None, caption: str = "",
    ) -> Out:  # fmt: skip
        """Return an answer to the message, where it was asked; `text` stands for the picture where none can be sent."""
        if picture is None or not self.settings.pictures:
            picture, caption = None, ""
        quoted = self.message.message_id if quote else None
        return Out(self.message.chat, text, kind, about, quoted, picture, caption)

    def privately(self, text: str) -> Out:
        """Return what only the speaker may read, wherever he asked."""
        return Out(private_chat(self.message.user), text, "notice")

    async def known_actor(self) -> Actor:
        """Return the speaker with an account of his own."""
        self.actor = await self.tx.known(self.actor)
        return self.actor
