"""Reports that wait, were settled or took effect, and copies that the desk is asked about."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, bindparam, insert, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from rating_core.report_text import GameLine, Result
from rating_core.store.tables import among, copies, reports, unindexed

OPEN_STATES = ("waiting", "disputed", "expired", "confirmed")
"""States in which a report may still take effect. confirmed: by the players; it waits for a referee or the desk."""
# Built once: they run with every report. Open ones are few; a pair's reports are all that it ever played.
_ADD = insert(reports)
_SAVE = update(reports).where(reports.c.report_id == bindparam("number"))
_ONE = select(reports).where(reports.c.report_id == bindparam("number"))
_OPEN = select(reports).where(among(reports.c.state, OPEN_STATES)).order_by(reports.c.report_id)
_OPEN_OF_PAIR = _OPEN.where(reports.c.pool == bindparam("in_pool"), unindexed(reports.c.pair_key) == bindparam("pair"))
_WAITING = select(reports).where(reports.c.state == "waiting").order_by(reports.c.report_id)
_REMINDERS = _WAITING.where(reports.c.remind_at <= bindparam("at"))
_EXPIRIES = _WAITING.where(reports.c.expire_at <= bindparam("at"))


@dataclass(frozen=True, slots=True)
class Report:
    """A report #`report_id`. `said_at` is its games' time; `player_id` the poster as a player of it, else None."""

    report_id: int
    state: str
    pool: str
    event_id: int | None
    weight: float
    lines: tuple[GameLine, ...]
    chat: str
    message_id: str
    said_at: int
    account_id: int
    player_id: int | None
    remind_at: int | None = None
    expire_at: int | None = None
    confirmed_by: int | None = None
    decided_at: int | None = None
    reason: str = ""
    seq: int | None = None

    @property
    def players(self) -> tuple[int, ...]:
        """Everybody who plays in it, in order of appearance."""
        return tuple(dict.fromkeys(p for line in self.lines for p in line.players))

    @property
    def open(self) -> bool:
        return self.state in OPEN_STATES

    def sides(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The two sides of a player's report: the poster's and the other."""
        line = self.lines[0]
        return (line.left, line.right) if self.player_id in line.left else (line.right, line.left)


@dataclass(frozen=True, slots=True)
class Copy:
    """A desk post that was answered 「与#12相同」 and not recorded."""

    chat: str
    message_id: str
    report_id: int
    lines: tuple[GameLine, ...]
    pool: str
    event_id: int | None
    weight: float
    account_id: int
    said_at: int


def dump_lines(lines: Sequence[GameLine]) -> str:
    return json.dumps([[list(g.left), g.result.value, list(g.right)] for g in lines], separators=(",", ":"))


def load_lines(text: str) -> tuple[GameLine, ...]:
    return tuple(GameLine(tuple(a), Result(r), tuple(b)) for a, r, b in json.loads(text))


def _oriented(line: GameLine) -> list[Any]:
    left, right = sorted(line.left), sorted(line.right)
    return [left, line.result.value, right] if left <= right else [right, line.result.mirrored.value, left]


def same_key(lines: Sequence[GameLine]) -> str:
    """Equal for the same games in the same order, mirrored or not (§5 D)."""
    return json.dumps([_oriented(line) for line in lines], separators=(",", ":"))


def pair_text(lines: Sequence[GameLine]) -> str:
    """Equal for reports of the same pair of sides; "" for a report of several pairs."""
    pairs = {json.dumps(_oriented(line)[::2], separators=(",", ":")) for line in lines}
    return pairs.pop() if len(pairs) == 1 else ""


class ReportStore:
    """Reports seen through one connection."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def add(self, report: Report) -> None:
        await self._connection.execute(_ADD, _columns(report))

    async def add_all(self, found: Sequence[Report]) -> None:
        """Add many reports."""
        if found:
            await self._connection.execute(insert(reports), [_columns(report) for report in found])

    async def save(self, report: Report) -> None:
        """Write a report that changed."""
        await self._connection.execute(_SAVE, _columns(report) | {"number": report.report_id})

    async def _select(self, *where: Any, limit: int | None = None) -> list[Report]:
        return await self._read(select(reports).where(*where).order_by(reports.c.report_id).limit(limit), {})

    async def _read(self, query: Select[Any], values: Mapping[str, Any]) -> list[Report]:
        return [_report(row) for row in (await self._connection.execute(query, values)).mappings()]

    async def get(self, report_id: int) -> Report | None:
        found = await self._read(_ONE, {"number": report_id})
        return found[0] if found else None

    async def open_ones(self) -> list[Report]:
        """All reports that may still take effect."""
        return await self._read(_OPEN, {})

    async def open_of_pair(self, pool: str, lines: Sequence[GameLine]) -> list[Report]:
        return await self._read(_OPEN_OF_PAIR, {"in_pool": pool, "pair": pair_text(lines)})

    async def same(self, pool: str, lines: Sequence[GameLine], effective_since: int) -> Report | None:
        """Return an equal report that waits, or that took effect at or after `effective_since` (ms)."""
        found = await self._select(
            reports.c.same_key == same_key(lines),
            reports.c.pool == pool,
            or_(
                reports.c.state.in_(OPEN_STATES),
                (reports.c.state == "effective") & (reports.c.decided_at >= effective_since),
            ),
        )
        return found[-1] if found else None

    async def reminders_due(self, at: int) -> list[Report]:
        return await self._read(_REMINDERS, {"at": at})

    async def expiries_due(self, at: int) -> list[Report]:
        return await self._read(_EXPIRIES, {"at": at})

    async def add_copy(self, copy: Copy) -> None:
        values = {name: getattr(copy, name) for name in ("chat", "message_id", "report_id", "pool", "event_id")}
        values |= {"games": dump_lines(copy.lines), "weight": repr(copy.weight), "used": False}
        values |= {"account_id": copy.account_id, "said_at": copy.said_at}
        await self._connection.execute(insert(copies).values(**values))

    async def copy_of(self, chat: str, message_ids: Sequence[str]) -> Copy | None:
        """Return the unused copy that was posted as one of these messages."""
        query = (
            select(copies)
            .where(
                copies.c.chat == chat,
                copies.c.message_id.in_(message_ids),
                ~copies.c.used,
            )
            .limit(1)
        )
        row = (await self._connection.execute(query)).mappings().first()
        if row is None:
            return None
        return Copy(
            row["chat"], row["message_id"], row["report_id"], load_lines(row["games"]), row["pool"], row["event_id"],
            float(row["weight"]), row["account_id"], row["said_at"],
        )  # fmt: skip

    async def use_copy(self, copy: Copy) -> None:
        """Mark a copy as recorded."""
        known = (copies.c.chat == copy.chat, copies.c.message_id == copy.message_id)
        await self._connection.execute(update(copies).where(*known).values(used=True))


def _columns(report: Report) -> dict[str, Any]:
    values = {name: getattr(report, name) for name in Report.__dataclass_fields__ if name != "lines"}
    return values | {
        "games": dump_lines(report.lines),
        "weight": repr(report.weight),
        "same_key": same_key(report.lines),
        "pair_key": pair_text(report.lines),
    }


def _report(row: Any) -> Report:
    values = {name: row[name] for name in Report.__dataclass_fields__ if name not in ("lines", "weight")}
    return Report(**values, lines=load_lines(row["games"]), weight=float(row["weight"]))
