"""A stage for the scenes: the cast speaks in the real chat, and the bot's answers are waited for as they come."""

import asyncio
from collections.abc import Awaitable, Callable
from itertools import permutations

from rating_core.rulebook import DEFAULT_POOL
from rating_core.rules.challenge import debts, obstacle
from rating_core.rules.eligibility import bar_of
from rating_core.service.league import League
from rating_core.store.report_store import ReportStore
from rating_core.times import season_of

from .qq import FakeQQ
from .scene import CAST, OFFICIAL
from .values import FakeMessage

ANSWER_SECONDS = 20
BY_NAME = {actor.card or actor.nickname: actor.qq for actor in CAST}


class OffScript(Exception):
    """The bot did not answer as the scene has it, because of what was done before; the text says what it said."""


class Stage:
    """What a scene does. `pace` is the time in seconds that a reader gets before each line."""

    def __init__(
        self, qq: FakeQQ, league: League, *, pace: float, tell: Callable[[int, str], None],
        travel: Callable[[int], Awaitable[None]],
    ) -> None:  # fmt: skip
        """`tell(group, text)` shows a line of narration, `travel(to)` puts the clock forward."""
        self.qq = qq
        self.league = league
        self._pace = pace
        self._tell = tell
        self._travel = travel
        self._spoken_at = 0

    # --- doing --------------------------------------------------------------------------------------------

    async def tell(self, text: str, group: int = OFFICIAL) -> None:
        """Explain to the visitor what comes now."""
        await asyncio.sleep(self._pace)
        self._tell(group, text)

    async def say(self, who: str, text: str, *, group: int = OFFICIAL, quote: FakeMessage | None = None) -> FakeMessage:
        """Let somebody of the cast speak."""
        await asyncio.sleep(self._pace)
        self._spoken_at = self.now
        return self.qq.say(group, BY_NAME[who], text, quote=quote.message_id if quote else None)

    async def ask(
        self, who: str, text: str, *parts: str, group: int = OFFICIAL, quote: FakeMessage | None = None
    ) -> FakeMessage:
        """Let somebody speak and return the bot's answer. Raises OffScript unless all of `parts` are in it.

        The answer quotes what was said, or, of what took effect, the report.
        """
        said = await self.say(who, text, group=group, quote=quote)

        def fits(message: FakeMessage) -> bool:
            return message.quote == said.message_id or (bool(parts) and all(part in message.text for part in parts))

        answer = await self._wait(group, fits, said)
        if not all(part in answer.text for part in parts):
            raise OffScript(answer.text or "（一张图片）")
        return answer

    async def hear(self, *parts: str, group: int) -> FakeMessage:
        """Return the bot's first message in a group that holds all of `parts`, since somebody last spoke."""
        since = self._spoken_at

        def fits(message: FakeMessage) -> bool:
            return message.time >= since and all(part in message.text for part in parts)

        return await self._wait(group, fits, None)

    async def _wait(self, group: int, fits: Callable[[FakeMessage], bool], after: FakeMessage | None) -> FakeMessage:
        try:
            return await self.qq.wait_for(
                group, lambda m: m.user_id == self.qq.self_id and fits(m), ANSWER_SECONDS, after=after
            )
        except TimeoutError:
            raise OffScript(f"（等了{ANSWER_SECONDS}秒，没有等到要等的回答）") from None

    async def travel(self, to: int) -> None:
        """Go forward in time (ms)."""
        await asyncio.sleep(self._pace)
        await self._travel(to)

    official = OFFICIAL

    # --- looking ------------------------------------------------------------------------------------------

    @property
    def now(self) -> int:
        return self.qq.now()

    async def pair(self, *, challenge: bool = False) -> tuple[str, str]:
        """Return two of the cast who can play a counted game now, or of whom one can force the other to.

        Raises OffScript where there are none.
        """
        directory, state, at = self.league.directory, self.league.book.state, self.now
        bound = (directory.by_qq.get(str(actor.qq)) for actor in CAST)
        players = [account.player_id for account in bound if account is not None and account.player_id is not None]
        async with self.league.database.read() as connection:
            waiting = {frozenset(report.players) for report in await ReportStore(connection).open_ones()}
        for one, other in permutations(players, 2):
            free = not any(bar_of(state, DEFAULT_POOL, player, at) for player in (one, other))
            against = obstacle if challenge else debts
            if free and frozenset((one, other)) not in waiting and not against(state, DEFAULT_POOL, one, other, at):
                return directory.name_of(one), directory.name_of(other)
        raise OffScript("（现在没有两个人能下：还没到2月1日，或者都请了假）")

    async def undecided(self, season: int) -> list[int]:
        """Return the numbers of a season's reports that still wait for somebody."""
        async with self.league.database.read() as connection:
            found = await ReportStore(connection).open_ones()
        return [r.report_id for r in found if season_of(r.said_at) == season and r.pool == DEFAULT_POOL]
