"""GET /health on the bot's port: is it well? 200 or 503, as JSON, without anybody's number or any secret.

For Docker's HEALTHCHECK, a monitor or curl. It reads what is known and writes nothing.
"""

import asyncio
from collections.abc import Callable
from datetime import datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from plugins.rating_bot.clock import Clock
from plugins.rating_bot.runtime import bot_version
from plugins.rating_bot.wire.pulse import Pulse, Pulses
from plugins.rating_bot.wiring import Parts
from rating_core.store.database import StorageFailed
from rating_core.store.wire_store import OutboxTable
from rating_core.times import to_datetime

PATH = "/health"
CONNECT_GRACE = 300.0
"""Seconds after the start in which the QQ client may still be on its way: compose starts it when the bot is well."""
READ_SECONDS = 2.0

Answer = dict[str, Any]


class HealthPage:
    """Looks at the running parts. `parts` returns None while the bot begins anew; `pulses` what is known of QQ."""

    def __init__(self, parts: Callable[[], Parts | None], pulses: Pulses, clock: Clock) -> None:
        self._parts = parts
        self._pulses = pulses
        self._clock = clock
        self._version = bot_version()

    def route(self) -> Route:
        return Route(PATH, self._answer)

    async def _answer(self, request: Request) -> JSONResponse:
        found = await self.look()
        return JSONResponse(found, 503 if found["problems"] else 200, {"Cache-Control": "no-store"})

    async def look(self) -> Answer:
        """Return what the page says; `problems` is empty when all is well."""
        parts, pulse = self._parts(), self._pulses.look()
        if parts is None:
            return {"status": "fail", "problems": ["starting"], "version": self._version}
        problems = _qq_problems(pulse)
        league, database = parts.runtime.league, parts.database
        if database.failing:
            problems.append("database_not_writable")
        integrity = _integrity(parts)
        if integrity not in ("ok", "checking"):
            problems.append(integrity)
        try:
            async with asyncio.timeout(READ_SECONDS), database.read() as connection:
                waiting, oldest = await OutboxTable(connection).backlog()
        except (StorageFailed, TimeoutError):
            problems.append("database_not_readable")
            waiting, oldest = None, None
        now = self._clock.now()
        backup_at = parts.runtime.last_backup_at
        return {
            "status": "fail" if problems else "ok",
            "problems": problems,
            "version": self._version,
            "ledger_seq": league.book.seq,
            "database": {"writable": not database.failing},
            "integrity": integrity,
            "onebot": {
                "connected": pulse.connected is not None,
                "online": pulse.online,
                "since": None if pulse.connected is None else _iso(now - 1000 * pulse.connected),
                "heartbeat_seconds": None if pulse.beat is None else round(pulse.beat, 1),
            },
            "outbox": {
                "waiting": waiting,
                "oldest_seconds": None if oldest is None else max(0, (now - oldest) // 1000),
            },
            "last_backup": None if backup_at is None else _iso(backup_at),
        }


def _qq_problems(pulse: Pulse) -> list[str]:
    if pulse.connected is not None:
        return [] if pulse.online else ["qq_offline"]
    return [] if 0 < pulse.awaited < CONNECT_GRACE else ["onebot_not_connected"]


def _integrity(parts: Parts) -> str:
    league, last = parts.runtime.league, parts.integrity.last
    if league.damage is not None:
        return "ledger_damaged"
    if league.broken_rights:
        return "rights_damaged"
    if last is None:
        return "checking"
    return "ok" if last.difference is None else "replay_differs"


def _iso(ms: float) -> str:
    moment: datetime = to_datetime(int(ms))
    return moment.isoformat(timespec="seconds")
