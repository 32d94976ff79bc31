"""Which connected account serves a chat."""

from collections.abc import Callable, Mapping
from typing import Any

from nonebot.exception import ActionFailed, ApiNotAvailable, NetworkError

from .history import Caller
from .repair import whole

LIST_SECONDS = 5.0
"""How long an account has to tell which groups it is in."""


class Serving:
    """The first connected account, by number, that is in the group; where none says so, the first of all."""

    def __init__(self, bots: Callable[[], Mapping[str, Caller]]) -> None:
        self._bots = bots
        self._groups: dict[str, set[str] | None] = {}
        self._lost: set[tuple[str, str]] = set()
        self._known: set[str] = set()

    def any(self) -> bool:
        """Return whether an account is connected."""
        return bool(self._bots())

    def own_ids(self) -> set[str]:
        """Return the numbers of all accounts connected now or before."""
        return {*self._bots(), *self._known}

    def connected(self, self_id: str) -> None:
        """Ask an account anew which groups it is in."""
        self._known.add(self_id)
        self._groups.pop(self_id, None)
        self._lost = {(bot, chat) for bot, chat in self._lost if bot != self_id}

    def lost(self, self_id: str, chat: str) -> bool:
        """Note that an account is no longer in a group; return whether another one is left for it."""
        self._lost.add((self_id, chat))
        return any((other, chat) not in self._lost and self._may(other, chat) for other in self._bots())

    async def pick(self, chat: str) -> Caller | None:
        """Return the account to send through, None while none is connected."""
        bots = dict(sorted(self._bots().items()))
        if len(bots) > 1 and chat.startswith("g"):
            for self_id, bot in bots.items():
                if self_id not in self._groups:
                    self._groups[self_id] = await groups_of(bot)
            for self_id, bot in bots.items():
                if (self_id, chat) not in self._lost and self._may(self_id, chat):
                    return bot
        return next(iter(bots.values()), None)

    def _may(self, self_id: str, chat: str) -> bool:
        groups = self._groups.get(self_id)
        return groups is None or chat[1:] in groups


async def groups_of(bot: Caller) -> set[str] | None:
    """Return the groups an account is in, None when the client does not say."""
    try:
        answer: Any = await bot.call_api("get_group_list", _timeout=LIST_SECONDS)
    except (ActionFailed, ApiNotAvailable, NetworkError):
        return None
    entries = answer if isinstance(answer, list) else []
    return {str(whole(entry.get("group_id"))) for entry in entries if isinstance(entry, Mapping)} or None
