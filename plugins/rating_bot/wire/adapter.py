"""The door: a OneBot v11 adapter whose only way in is the reverse WebSocket /onebot/v11/ws with the token."""

import asyncio
import hmac
import json
from collections.abc import Callable
from typing import Any, ClassVar

from nonebot.adapters import Bot as BaseBot
from nonebot.adapters.onebot.utils import get_auth_bearer
from nonebot.adapters.onebot.v11 import Adapter, ApiNotAvailable, Bot, MessageEvent
from nonebot.drivers import URL, Request, WebSocket, WebSocketServerSetup
from nonebot.exception import WebSocketClosed
from nonebot.log import logger
from nonebot.message import handle_event
from typing_extensions import override

from ..clock import TOLERANCE_MS, QQClock
from .inbound import chat_of, is_own, to_inbound, to_sent
from .link import Link, result_of
from .messages import Inbound, Sent
from .order import ChatQueues
from .pulse import MISSED_BEATS, Pulses
from .repair import MILLISECONDS_FROM, Data, repair, whole

WS_PATH = "/onebot/v11/ws"
MAX_FRAME = 4 * 1024 * 1024
"""Characters of one frame; longer ones are skipped."""
MAX_WHY = 60
LONGEST_MUTE = 31 * 24 * 3600
"""Seconds; QQ mutes for 30 days at most."""
PROBE_SECONDS = 3.0
"""How long the older of two connections with the same self id has to answer."""

UVICORN_OPTIONS: dict[str, Any] = {
    "ws_ping_interval": 4.0,
    "ws_ping_timeout": 8.0,
    "ws_max_size": 4 * MAX_FRAME,
    "timeout_graceful_shutdown": 5,
}
"""For `nonebot.run(**UVICORN_OPTIONS)`: a half-open socket is noticed within 12 s, a giant frame ends it."""


class RatingBot(Bot):
    """A connected QQ account."""


class RatingAdapter(Adapter):
    """See the module. `access_token`: what a client must show; while it is empty nobody gets in.

    `allowed_self_ids`: QQ numbers that may connect, empty for any.

    Set on the instance before the first connection: `on_connect` (called at once, before any event is handled),
    `on_sent` (the bot's own messages), `on_handled` (after the matchers, or in its turn when it was dropped),
    `on_shed` (it was just dropped: its sender floods the chat), `on_unmuted` (a chat may be sent to again), `on_return`
    (QQ was away so many seconds, for this reason).
    """

    access_token: ClassVar[str] = ""
    allowed_self_ids: ClassVar[frozenset[str]] = frozenset()
    on_connect: Callable[[RatingBot], object] | None = None
    on_sent: Callable[[Sent], object] | None = None
    on_handled: Callable[[Inbound], object] | None = None
    on_shed: Callable[[Inbound], object] | None = None
    on_unmuted: Callable[[str], object] | None = None
    on_return: Callable[[float, str], object] | None = None
    clock: QQClock | None = None
    """Learns the time from what is said; not in the sandbox, where the clock is QQ's own."""

    def _setup(self) -> None:
        self.queues = ChatQueues()
        self.pulses = Pulses()
        self._links: dict[str, Link] = {}
        self._own_ids = set(self.allowed_self_ids)
        self._admissions: dict[str, asyncio.Lock] = {}
        self.setup_websocket_server(WebSocketServerSetup(URL(WS_PATH), "QQ client", self._handle_ws))
        self.driver.on_shutdown(self._stop)

    @override
    async def _stop(self) -> None:
        await self.queues.close()
        await super()._stop()

    # --- events -------------------------------------------------------------------------------------------

    def enqueue(self, bot: RatingBot, data: Data) -> bool:
        """Queue an event behind everything of its chat; False when its sender floods the chat.

        NoneBot sees a message as it was sent, and not before its turn: what is dropped never becomes an event.
        """
        inbound = to_inbound(data)

        async def work() -> None:
            event = self.json_to_event(data)
            if data["post_type"] == "message" and not isinstance(event, MessageEvent):
                logger.error(f"message that is no message event dropped: {_shape(data)}")
            elif event is not None:
                await handle_event(bot, event)
            await passed()

        async def passed() -> None:
            if inbound is not None and self.on_handled is not None:
                self.on_handled(inbound)

        user = str(whole(data.get("user_id")) or "") if inbound is None else inbound.user
        keys = () if inbound is None else (inbound.key, inbound.twin)
        taken = self.queues.submit(chat_of(data), work, user=user, keys=keys, dropped=passed)
        if not taken and inbound is not None and self.on_shed is not None:
            self.on_shed(inbound)
        return taken

    def spawn(self, work: Any) -> None:
        """Run something as a task of the adapter."""
        task = asyncio.ensure_future(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    def _take(self, bot: RatingBot, data: Data) -> Data | None:
        """Return the event of a frame, repaired, if it is for the handlers; None for all others."""
        if data.get("self_id") is not None and str(whole(data["self_id"])) != bot.self_id:
            logger.warning(f"event for another account on the connection of {bot.self_id} dropped")
            return None
        fixed = repair(data | {"self_id": int(bot.self_id)}, now=self.clock.now() // 1000 if self.clock else None)
        if fixed is None:
            logger.warning(f"event without sender or chat dropped: {_shape(data)}")
            return None
        if is_own(fixed) or (fixed["post_type"] == "message" and str(fixed.get("user_id")) in self._own_ids):
            if self.on_sent is not None and (sent := to_sent(fixed)) is not None:
                self.on_sent(sent)
            return None
        self._watch_time(data, fixed)
        self._watch_mute(bot, fixed)
        self._watch_pulse(bot, fixed)
        return fixed

    def _hand_on(self, bot: RatingBot, data: Data) -> None:
        """Queue a message or notice; hand anything else on at once."""
        if data["post_type"] in ("message", "notice"):
            self.enqueue(bot, data)
        elif (event := self.json_to_event(data)) is not None:
            self.spawn(handle_event(bot, event))

    def _watch_time(self, data: Data, fixed: Data) -> None:
        """QQ's servers date messages; what dates a notice is the client's machine, whose clock may be wrong."""
        if self.clock is None:
            return
        if fixed["post_type"] == "message" and (given := whole(data.get("time"))) and given < MILLISECONDS_FROM:
            self.clock.heard(1000 * given, live=True)
        elif fixed["post_type"] == "notice" and abs(1000 * fixed["time"] - self.clock.now()) > TOLERANCE_MS:
            fixed["time"] = self.clock.now() // 1000

    def _watch_mute(self, bot: RatingBot, data: Data) -> None:
        """The bot may speak again: a mute was lifted, or ran out (of which QQ does not tell), or it is in the group."""
        if self.on_unmuted is None or str(data.get("user_id")) not in (bot.self_id, "0"):
            return
        kind, seconds = (data.get("notice_type"), data.get("sub_type")), whole(data.get("duration")) or 0
        if kind == ("group_ban", "lift_ban") or kind[0] == "group_increase":
            self.on_unmuted(chat_of(data))
        elif kind == ("group_ban", "ban") and 0 < seconds <= LONGEST_MUTE:
            asyncio.get_running_loop().call_later(seconds + 1, self.on_unmuted, chat_of(data))

    def _watch_pulse(self, bot: RatingBot, data: Data) -> None:
        """QQ itself can be away while its client is connected: by NapCat's notice, or by the heartbeat's status."""
        online: bool | None = None
        if data.get("notice_type") == "bot_offline":
            self._went_offline(bot, f"{data.get('tag') or ''} {data.get('message') or ''}".strip())
        elif data.get("meta_event_type") == "heartbeat":
            online = self.pulses.beat(bot.self_id, data)
            if online is False:
                self._went_offline(bot, "")
        else:
            online = data["post_type"] == "message"  # somebody said something, so QQ is there
        if online and (away := self.pulses.online_again(bot.self_id)) is not None:
            self._connected(bot)  # as after an outage: read what was said, then go on sending
            self._came_back(bot, *away)

    def _went_offline(self, bot: RatingBot, why: str) -> None:
        if self.pulses.offline(bot.self_id, why[:MAX_WHY]):
            logger.error(f"QQ is offline on the connection of {bot.self_id}; its client is still there")

    def _came_back(self, bot: RatingBot, seconds: float, why: str) -> None:
        logger.warning(f"QQ is back on the connection of {bot.self_id} after {seconds:.0f} s")
        if self.on_return is not None:
            self.on_return(seconds, why)

    # --- the connection -----------------------------------------------------------------------------------

    @override
    async def _call_api(self, bot: BaseBot, api: str, **data: Any) -> Any:
        """Call an API. Raises ApiNotAvailable (nothing was sent), NetworkError (no answer) or ActionFailed."""
        link = self._links.get(bot.self_id)
        if link is None:
            raise ApiNotAvailable
        timeout = data.pop("_timeout", None) or self.config.api_timeout or 30.0
        return result_of(await link.call(api, data, timeout))

    @override
    async def _handle_ws(self, websocket: WebSocket) -> None:
        refusal = self._refusal(websocket.request)
        if refusal:
            logger.warning(f"connection refused: {refusal}")
            await websocket.close(1008, refusal)
            return
        self_id = websocket.request.headers["x-self-id"]
        async with self._admissions.setdefault(self_id, asyncio.Lock()):
            older = self._links.get(self_id)
            if older is not None and await older.answers(PROBE_SECONDS):
                logger.warning(f"{self_id} is connected already; the second connection is refused")
                await websocket.close(1008, "Duplicate X-Self-ID")
                return
            if older is not None:
                logger.warning(f"the older connection of {self_id} does not answer and is replaced")
                await self._detach(older)
            await websocket.accept()
            link = Link(self_id, websocket)
            bot = self._attach(link)
        try:
            await self._receive(link, bot)
        finally:
            await self._detach(link)

    def _refusal(self, request: Request) -> str:
        """Return why a connection is refused, empty when it is not."""
        self_id = request.headers.get("x-self-id") or ""
        if not (self_id.isascii() and self_id.isdigit() and len(self_id) <= 20):
            return "Missing X-Self-ID Header"
        wanted = self.access_token
        given = get_auth_bearer(request.headers.get("authorization")) or ""
        if not wanted or not hmac.compare_digest(given.encode(), wanted.encode()):
            return "Authorization Header is invalid"
        if self.allowed_self_ids and self_id not in self.allowed_self_ids:
            return f"X-Self-ID {self_id} is not allowed"
        return ""

    def _attach(self, link: Link) -> RatingBot:
        bot = RatingBot(self, link.self_id)
        self._links[link.self_id] = link
        self._own_ids.add(link.self_id)
        self.connections[link.self_id] = link.websocket
        self.bot_connect(bot)
        logger.info(f"{link.self_id} connected")
        away = self.pulses.connected(link.self_id)
        self._connected(bot)
        if away is not None:
            self._came_back(bot, *away)
        return bot

    def _connected(self, bot: RatingBot) -> None:
        try:
            if self.on_connect is not None:
                self.on_connect(bot)
        except Exception as error:
            logger.opt(exception=error).error(f"what was to happen when {bot.self_id} connected failed")

    async def _detach(self, link: Link) -> None:
        link.shut()
        if self._links.get(link.self_id) is link:
            del self._links[link.self_id]
            self.connections.pop(link.self_id, None)
            self.pulses.disconnected(link.self_id)
            self.bot_disconnect(self.bots[link.self_id])
            logger.warning(f"{link.self_id} disconnected")
        await link.close()

    async def _receive(self, link: Link, bot: RatingBot) -> None:
        while True:
            try:
                async with asyncio.timeout(self.pulses.patience(link.self_id)):
                    raw = await link.websocket.receive()
            except WebSocketClosed:
                return
            except TimeoutError:
                logger.warning(f"the client of {link.self_id} missed {MISSED_BEATS} heartbeats: disconnecting")
                return
            except Exception as error:
                logger.warning(f"the connection of {link.self_id} broke: {error!r}")
                return
            try:
                data = _decode(raw)
                if data is None:
                    continue
                if "post_type" not in data:
                    link.answer(data)
                elif (event := self._take(bot, data)) is not None:
                    self._hand_on(bot, event)
            except Exception as error:
                logger.opt(exception=error).error("a frame could not be handled and was skipped")


def _decode(raw: str | bytes | None) -> Data | None:
    """Return the object of a frame; None, with a word in the log, for anything else."""
    if not raw or len(raw) > MAX_FRAME:
        logger.warning(f"frame of {len(raw or '')} characters skipped")
        return None
    try:
        data = json.loads(raw)
    except (ValueError, RecursionError) as error:
        logger.warning(f"frame that is not JSON skipped: {error!r:.200}")
        return None
    if not isinstance(data, dict):
        logger.warning("frame that is no object skipped")
        return None
    return data


def _shape(data: Data) -> str:
    """Return which fields an event has, of which types: enough to mend the repair, and nothing of what was said."""
    shape = {name: type(value).__name__ for name, value in sorted(data.items())}
    return " ".join(f"{name}:{kind}" for name, kind in shape.items())[:500]
