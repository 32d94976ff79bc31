"""What the page can do beyond talking: put the clock forward, play a scene, begin anew. One of them at a time."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from nonebot.log import logger

from plugins.rating_bot.clock import ShiftedClock
from plugins.rating_bot.settings import Settings
from plugins.rating_bot.wire.messages import group_chat
from plugins.rating_bot.wiring import Parts
from rating_core.times import show_time

from . import travel
from .client import FakeClient
from .own_book import NotOurs, erase, own_book
from .qq import FakeQQ
from .scene import OFFICIAL, SCORING
from .scenes import SCENES, Scene
from .stage import OffScript, Stage

NOTES_KEPT = 500

News = dict[str, Any]
Progress = Callable[[str], None]
Seeder = Callable[[Parts, bool, Progress], Awaitable[None]]
"""Fills an empty book: the small league, or the one of 300."""


class Bot(Protocol):
    """The running bot, as far as the sandbox holds it."""

    settings: Settings

    @property
    def parts(self) -> Parts:
        """Its parts, while it is up."""
        ...

    async def up(self) -> None:
        """Start it."""
        ...

    async def down(self) -> None:
        """Stop it."""
        ...

    async def idle(self) -> None:
        """Wait until all that came in is handled and all that was to be said is out."""
        ...


class Refused(Exception):
    """This cannot be done, or not now; the text says in Chinese why not."""


class Director:
    """Runs what the page's buttons start, and tells the pages of it."""

    def __init__(self, qq: FakeQQ, client: FakeClient, bot: Bot, clock: ShiftedClock, seed: Seeder) -> None:
        self._qq = qq
        self._client = client
        self._bot = bot
        self._clock = clock
        self._seed = seed
        self._listeners: list[Callable[[News], None]] = []
        self._task: asyncio.Task[str] | None = None
        self._busy: News | None = None
        self._said = ""
        self._runs = 0
        self._notes: list[News] = []

    # --- what pages see -----------------------------------------------------------------------------------

    def subscribe(self, listener: Callable[[News], None]) -> Callable[[], None]:
        """Have `listener` called with all news; returns what ends it."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    @property
    def notes(self) -> list[News]:
        """The narration so far, as messages of nobody: each with its chat and the number of the message it follows."""
        return list(self._notes)

    def view(self) -> News:
        """Return the clock, what is under way (None: nothing), its number, and how the last thing ended."""
        news: News = {"type": "stage", "now": self._qq.now(), "run": self._runs}
        return news | {"busy": self._busy, "said": self._said}

    def _tell(self, news: News) -> None:
        for listener in tuple(self._listeners):
            listener(news)

    def _note(self, group: int, text: str) -> None:
        chat = group_chat(group)
        said = self._qq.messages(chat)
        note: News = {"chat": chat, "seq": said[-1].real_seq if said else 0, "time": self._qq.now(), "note": text}
        note |= {"id": self._notes[-1]["id"] - 1 if self._notes else -1}
        note |= {"who": 0, "name": "", "role": "member", "parts": [], "likes": {}}
        self._notes = [*self._notes[1 - NOTES_KEPT :], note]
        self._tell({"type": "note", "message": self._notes[-1]})

    def _progress(self, text: str) -> None:
        if self._busy is not None:
            self._busy = self._busy | {"line": text}
        self._tell(self.view())

    # --- what pages ask for -------------------------------------------------------------------------------

    def travel(self, where: str) -> None:
        """Go forward in time. Raises Refused."""
        try:
            to = travel.target(where, self._qq.now())
        except ValueError as error:
            raise Refused(str(error)) from None
        self._begin("travel", "快进", lambda: self._travel(to))

    def play(self, name: str, pace: float) -> None:
        """Play a scene; `pace` in seconds. Raises Refused."""
        scene = next((scene for scene in SCENES if scene.name == name), None)
        if scene is None:
            raise Refused("没有这一幕")
        self._begin("scene", scene.title, lambda: self._play(scene, pace))

    def reset(self) -> None:
        """Begin anew: an empty book with the small league, empty chats, the real time. Raises Refused."""
        self._begin("reset", "重置", lambda: self._renew(big=False))

    def stop(self) -> None:
        """End a scene or a journey where it is; a reset is always finished."""
        if self._task is not None and self._busy is not None and self._busy["what"] != "reset":
            self._task.cancel()

    async def close(self) -> None:
        """End whatever is under way."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def done(self) -> str:
        """Wait until nothing is under way; return how it ended, empty where all went as it should."""
        if self._task is not None:
            await asyncio.wait([self._task])
        return self._said

    # --- doing it -----------------------------------------------------------------------------------------

    def _begin(self, what: str, title: str, work: Callable[[], Awaitable[None]]) -> None:
        if self._busy is not None:
            raise Refused(f"「{self._busy['title']}」还没有完，等一下再来")
        self._busy, self._said = {"what": what, "title": title, "line": ""}, ""
        self._runs += 1
        self._tell(self.view())
        self._task = asyncio.create_task(self._run(work), name=f"sandbox {what}")
        self._task.add_done_callback(self._ended)

    def _ended(self, task: "asyncio.Task[str]") -> None:
        self._said = "停在这里了。" if task.cancelled() else task.result()
        self._busy = None
        self._tell(self.view())

    async def _run(self, work: Callable[[], Awaitable[None]]) -> str:
        """Do it; return what is to be said of its end, nothing where all went as it should."""
        try:
            await work()
        except OffScript as off:
            return f"没有照剧本走完，因为之前的事还在。机器人说：{off}\n点「重置」以后再来一遍。"
        except NotOurs as refused:
            return f"没有重置：{refused}"
        except Exception as error:
            logger.opt(exception=error).error("what the sandbox's page asked for broke off")
            return "中断了：机器人没有跟上。再试一次，或者点「重置」。"
        return ""

    async def _travel(self, to: int) -> None:
        async def passed() -> None:
            self._progress(show_time(self._qq.now()))

        self._progress(show_time(self._qq.now()))
        await self._client.connected()
        async with asyncio.timeout(travel.SENDING_SECONDS):
            await self._bot.idle()
        await travel.travel(self._bot.parts, self._clock, to, passed)
        for group in (OFFICIAL, SCORING):
            self._note(group, f"时间到了 {show_time(self._qq.now())}")

    async def _play(self, scene: Scene, pace: float) -> None:
        if scene.big:
            await self._renew(big=True)
        await self._client.connected()
        league = self._bot.parts.runtime.league
        await scene.play(Stage(self._qq, league, pace=pace, tell=self._narrate, travel=self._travel))

    def _narrate(self, group: int, text: str) -> None:
        self._tell({"type": "show", "chat": group_chat(group)})
        self._note(group, text)
        self._progress(text)

    async def _renew(self, *, big: bool) -> None:
        """Let the bot stop, erase the book and begin anew. Raises NotOurs; then nothing has changed."""
        own_book(self._bot.settings)
        before = self._busy
        self._busy = {"what": "reset", "title": "换一本新账", "line": ""}
        self._progress("等手头的事办完……")
        async with asyncio.timeout(travel.SENDING_SECONDS):
            await self._bot.idle()
        await self._client.stop()
        await self._bot.down()
        try:
            erase(self._bot.settings)
            self._clock.reset()
            self._qq.forget()
            self._notes = []
        finally:
            await self._bot.up()
        await self._seed(self._bot.parts, big, self._progress)
        await self._client.start()
        self._busy = before
        self._tell({"type": "renewed"})
