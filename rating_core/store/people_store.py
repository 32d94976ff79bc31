"""Names, accounts, roles and applications: the erasable side of the book."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from sqlalchemy import bindparam, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from rating_core.directory import Account, Holding, PastBinding
from rating_core.ledger import LedgerError, Merged, decode
from rating_core.store.sealed import SealedTable
from rating_core.store.tables import (
    accounts,
    applications,
    counters,
    events,
    ledger,
    masked_holders,
    merge_items,
    names,
    past_bindings,
    roles,
)

MASKED = "masked"
"""Kind of the applications for 蒙面人公用号: the superusers' matter, and nobody else's to read."""
ERASE, ERASE_FOR = "erase", "erase_for"
"""Kinds of the applications to be forgotten (/注销): his own, and what the desk asks for one without a QQ."""
ERASING = frozenset({ERASE, ERASE_FOR})


@dataclass(frozen=True, slots=True)
class Application:
    """Someone asks for a name (register), for his QQ to be bound to one (claim), for 蒙面人公用号 (masked), or to be
    forgotten (erase, erase_for). It is 审`application_id`.
    """

    application_id: int
    kind: str
    account_id: int
    name: str
    player_id: int | None
    placing: str
    chat: str
    message_id: str
    said_at: int
    state: str = "waiting"


@dataclass(frozen=True, slots=True)
class MergeItem:
    """Something that went over with a merge: a name, or the number of an account, report or application."""

    kind: str
    item: str
    current: bool = False
    """Of a name: it was the wrong player's current one."""


_TAKE = (
    update(counters)
    .where(counters.c.name == bindparam("of"))
    .values(value=counters.c.value + bindparam("more"))
    .returning(counters.c.value)
)


class Counters:
    """Short numbers, unique in the whole book."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def take(self, name: str, count: int = 1) -> int:
        """Return the first of `count` new numbers."""
        last = (await self._connection.execute(_TAKE, {"of": name, "more": count})).scalar()
        if last is None:
            await self._connection.execute(insert(counters).values(name=name, value=count))
            last = count
        return int(last) - count + 1

    async def last(self, name: str) -> int:
        """Return the last number given out, 0 if none was."""
        found = (await self._connection.execute(select(counters.c.value).where(counters.c.name == name))).scalar()
        return int(found or 0)


class PeopleStore:
    """People seen through one connection."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection
        self._accounts = SealedTable(connection, accounts)
        self._roles = SealedTable(connection, roles)
        self._holders = SealedTable(connection, masked_holders)

    async def _all(self, table: Any) -> Sequence[Any]:
        return (await self._connection.execute(select(table))).all()

    async def names(self) -> list[tuple[str, int, bool]]:
        return [(row.name, row.player_id, row.current) for row in await self._all(names)]

    async def accounts(self) -> list[Account]:
        """Return the accounts as far as their rows are whole."""
        rows = await self._accounts.rows()
        return [Account(r["account_id"], r["qq"], r["player_id"], r["bound_at"], r["card"]) for r in rows]

    async def roles(self) -> list[tuple[int, str]]:
        """Return (account, role) as far as the rows are whole."""
        return [(row["account_id"], row["role"]) for row in await self._roles.rows()]

    async def events(self) -> dict[int, str]:
        return {row.event_id: row.name for row in await self._all(events)}

    async def add_name(self, name: str, skeleton: str, player_id: int, since: int) -> None:
        """Make `name` the player's current name; an earlier one becomes a former name."""
        await self._connection.execute(update(names).where(names.c.player_id == player_id).values(current=False))
        found = await self._connection.execute(
            update(names).where(names.c.name == name, names.c.player_id == player_id).values(current=True)
        )
        if not found.rowcount:
            await self._connection.execute(
                insert(names).values(name=name, skeleton=skeleton, player_id=player_id, current=True, since=since)
            )

    async def names_of(self, player_id: int) -> list[tuple[str, bool]]:
        """Return a player's names, each with whether it is his current one."""
        query = select(names.c.name, names.c.current).where(names.c.player_id == player_id).order_by(names.c.name)
        return [(row.name, row.current) for row in await self._connection.execute(query)]

    async def hand_over_name(self, name: str, player_id: int, *, current: bool) -> None:
        """Make a name that is somebody's another player's."""
        await self._connection.execute(
            update(names).where(names.c.name == name).values(player_id=player_id, current=current)
        )

    async def keep_merge_items(self, seq: int, items: Sequence[MergeItem]) -> None:
        """Remember what went over with the merge in ledger row `seq`."""
        if items:
            rows = [{"seq": seq, "kind": i.kind, "item": i.item, "current": i.current} for i in items]
            await self._connection.execute(insert(merge_items), rows)

    async def merged_names(self) -> dict[int, str]:
        """Return what each wrong name's player was called when he was merged, as far as it was not forgotten."""
        query = select(merge_items.c.item, ledger.c.kind, ledger.c.v, ledger.c.payload).order_by(ledger.c.seq)
        query = query.join(ledger, ledger.c.seq == merge_items.c.seq)
        query = query.where(merge_items.c.kind == "name", merge_items.c.current)
        found: dict[int, str] = {}
        for row in await self._connection.execute(query):
            with suppress(LedgerError):  # of a damaged row, which is told of elsewhere
                entry = decode(row.kind, row.v, row.payload)
                if isinstance(entry, Merged):
                    found[entry.player] = row.item
        return found

    async def merge_items(self, seq: int) -> list[MergeItem]:
        """Return what went over with a merge, as far as it was not forgotten."""
        query = select(merge_items).where(merge_items.c.seq == seq).order_by(merge_items.c.kind, merge_items.c.item)
        return [MergeItem(row.kind, row.item, row.current) for row in await self._connection.execute(query)]

    async def add_account(self, account_id: int, qq: str) -> None:
        """Enter an account; a broken row with the same QQ, which nobody is, makes way."""
        await self._accounts.remove_broken(accounts.c.qq == qq)
        await self._accounts.add(account_id=account_id, qq=qq)

    async def set_card(self, account_id: int, card: str) -> None:
        await self._accounts.change(accounts.c.account_id == account_id, card=card)

    async def bind(self, account_id: int, player_id: int | None, at: int, by: int) -> None:
        """Bind an account to a player, or unbind it with None."""
        known = accounts.c.account_id == account_id
        await self._accounts.change(known, player_id=player_id, bound_at=at, bound_by=by)

    async def past_bindings(self) -> list[PastBinding]:
        """Return whom accounts were bound to before, oldest first."""
        rows = await self._connection.execute(select(past_bindings).order_by(past_bindings.c.binding_id))
        return [PastBinding(row.account_id, row.player_id, row.since, row.until) for row in rows]

    async def add_past_binding(self, past: PastBinding) -> None:
        values = {name: getattr(past, name) for name in PastBinding.__dataclass_fields__}
        await self._connection.execute(insert(past_bindings).values(**values))

    async def set_roles(self, account_id: int, wanted: frozenset[str], at: int, by: int) -> None:
        """Replace the roles of an account."""
        await self._roles.remove(roles.c.account_id == account_id)
        for role in sorted(wanted):
            await self._roles.add(account_id=account_id, role=role, granted_at=at, granted_by=by)

    async def add_event(self, event_id: int, name: str) -> None:
        await self._connection.execute(insert(events).values(event_id=event_id, name=name))

    # --- 蒙面人公用号 ---------------------------------------------------------------------------------------

    async def holdings(self) -> list[Holding]:
        """Return who held 蒙面人公用号, oldest first, as far as the rows are whole."""
        return [Holding(row["account_id"], row["since"], row["until"]) for row in await self._holders.rows()]

    async def add_holding(self, account_id: int, since: int, by: int) -> None:
        await self._holders.add(account_id=account_id, since=since, approved_by=by)

    async def end_holding(self, until: int) -> None:
        """Whoever holds 蒙面人公用号 holds it no longer."""
        await self._holders.change(masked_holders.c.until.is_(None), until=until)

    # --- applications -------------------------------------------------------------------------------------

    async def add_application(self, application: Application) -> None:
        values = {name: getattr(application, name) for name in Application.__dataclass_fields__}
        await self._connection.execute(insert(applications).values(**values))

    async def application(self, number: int) -> Application | None:
        query = select(applications).where(applications.c.application_id == number)
        row = (await self._connection.execute(query)).mappings().first()
        return _application(row) if row else None

    async def waiting_applications(self) -> list[Application]:
        query = select(applications).where(applications.c.state == "waiting").order_by(applications.c.application_id)
        return [_application(row) for row in (await self._connection.execute(query)).mappings()]

    async def names_applied_for(self, account_ids: Sequence[int]) -> list[str]:
        """Return the names under which these accounts ever asked to be entered."""
        known = (applications.c.account_id.in_(account_ids), applications.c.kind == "register")
        return list((await self._connection.execute(select(applications.c.name).where(*known).distinct())).scalars())

    async def hand_over_application(self, number: int, player_id: int) -> None:
        """Let a waiting application be about another player."""
        known = (applications.c.application_id == number, applications.c.state == "waiting")
        await self._connection.execute(update(applications).where(*known).values(player_id=player_id))

    async def decide_application(self, number: int, state: str, by: int, at: int, reason: str = "") -> bool:
        """Decide a waiting application; False if it was decided before."""
        result = await self._connection.execute(
            update(applications)
            .where(applications.c.application_id == number, applications.c.state == "waiting")
            .values(state=state, decided_by=by, decided_at=at, reason=reason)
        )
        return bool(result.rowcount)


def _application(row: Any) -> Application:
    return Application(**{name: row[name] for name in Application.__dataclass_fields__})
