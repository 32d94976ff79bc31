"""The command table: word, slots, role, where, help. Dispatch, /帮助, the docs check and the rights matrix read it."""

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, Literal

from plugins.rating_bot.handlers.context import Context
from plugins.rating_bot.handlers.grammar import Slot
from plugins.rating_bot.runtime import Runtime
from plugins.rating_bot.wire.messages import Inbound, Out
from rating_core.directory import REFEREE, Actor


class Role(IntEnum):
    """Who may use a command; each may what those before it may."""

    MEMBER = 0
    PLAYER = 1
    REFEREE = 2
    SCOREKEEPER = 3
    SUPERUSER = 4

    @property
    def title(self) -> str:
        return ("群友", "已绑定的棋手", "裁判", "记分员", "超级用户")[self]


def role_of(actor: Actor) -> Role:
    """Return the highest role an actor has."""
    if actor.superuser:
        return Role.SUPERUSER
    if actor.desk:
        return Role.SCOREKEEPER
    if REFEREE in actor.roles:
        return Role.REFEREE
    return Role.PLAYER if actor.player_id is not None else Role.MEMBER


Answer = str | Sequence[Out]
Where = Literal["any", "group", "private"]


@dataclass(frozen=True, slots=True)
class Command:
    """A command as people see it and as it is run.

    `form` and `example` are typed as they stand. `query` commands read only: they are limited per person and
    group, and are not made up for after an outage.
    """

    word: str
    run: Callable[[Context, dict[str, Any]], Awaitable[Answer]]
    form: str
    help: str
    example: str
    slots: tuple[Slot, ...] = ()
    aliases: tuple[str, ...] = ()
    role: Role = Role.MEMBER
    where: Where = "any"
    query: bool = False
    quote: bool = True
    """Whether the answer quotes the message."""
    instead: str = ""
    """The shorter command that is meant where what follows the word fits no form of this one."""
    prepare: Callable[[Runtime, Inbound], Awaitable[Any]] | None = None
    """Slow reading (QQ's member list, a check of the whole book) done before the transaction begins."""


@dataclass(slots=True)
class Table:
    """All commands by word; the longest word that begins a text wins."""

    commands: dict[str, Command] = field(default_factory=dict)

    def add(self, command: Command) -> None:
        for word in (command.word, *command.aliases):
            if word in self.commands:
                raise ValueError(f"two commands are called {word}")
            self.commands[word] = command

    def find(self, text: str) -> tuple[Command, str] | None:
        """Return the command whose word begins `text` (without its slash), and the rest after it."""
        found = ((word, re.match(re.escape(word).replace(r"\ ", r"\s+"), text)) for word in self.commands)
        word, match = max(((w, m) for w, m in found if m), key=lambda pair: len(pair[0]), default=("", None))
        return None if match is None else (self.commands[word], text[match.end() :])

    def listed(self) -> list[Command]:
        """Every command once, in the order of registration."""
        return list({command.word: command for command in self.commands.values()}.values())


TABLE = Table()


def command(
    word: str, *, form: str, help: str, example: str, slots: Sequence[Slot] = (), aliases: Sequence[str] = (),
    role: Role = Role.MEMBER, where: Where = "any", query: bool = False, quote: bool = True,
    instead: str = "", prepare: Callable[[Runtime, Inbound], Awaitable[Any]] | None = None,
) -> Callable[[Callable[..., Awaitable[Answer]]], Callable[..., Awaitable[Answer]]]:  # fmt: skip
    """Register a handler: `async def handler(ctx, **slots) -> str | list[Out]`."""

    def register(handler: Callable[..., Awaitable[Answer]]) -> Callable[..., Awaitable[Answer]]:
        async def run(context: Context, values: dict[str, Any]) -> Answer:
            return await handler(context, **values)

        TABLE.add(
            Command(
                word, run, form, help, example, tuple(slots), tuple(aliases), role, where, query, quote, instead,
                prepare,
            )
        )  # fmt: skip
        return handler

    return register
