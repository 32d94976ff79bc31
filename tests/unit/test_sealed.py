"""Rows that grant rights: one that is not as it was written grants nothing, and is told of."""

from pathlib import Path

import pytest

from rating_core.directory import DISMISSED, REFEREE, SCOREKEEPER
from rating_core.service.league import League
from rating_core.store.sealed import SEALED_TABLES, broken_rows
from tests.conftest import FakeClock
from tests.support.engines import only_sqlite, sql

STORE = Path(__file__).resolve().parents[2]
PLAYER, KEEPER, HOLDER, ADMIN = "20001", "20002", "20003", "20004"


def spoil(league: League, statement: str) -> None:
    """Change one row behind the store's back."""
    assert len(sql(league.database.url.render_as_string(hide_password=False), f"{statement} RETURNING 1")) == 1


@pytest.fixture
async def peopled(league: League, clock: FakeClock) -> League:
    """A player, a scorekeeper, the holder of 蒙面人公用号, and an admin whose rights were taken away."""
    async with league.transaction() as tx:
        for player, qq in enumerate((PLAYER, KEEPER, HOLDER, ADMIN), 1):
            await tx.bind(await tx.account(qq), player, by=0)
            await tx.note_card(qq, f"名片{player}")
        await tx.set_roles(tx.directory.by_qq[KEEPER].account_id, frozenset({SCOREKEEPER, REFEREE}), by=0)
        await tx.set_roles(tx.directory.by_qq[ADMIN].account_id, frozenset({DISMISSED}), by=0)
        await tx.hand_out_masked(tx.directory.by_qq[HOLDER], tx.now, by=0)
    return league


async def again(league: League, clock: FakeClock) -> League:
    return await League.open(league.database, clock, league.superusers)


async def test_rows_are_whole_after_everything_that_changes_them(peopled: League, clock: FakeClock) -> None:
    async with peopled.transaction() as tx:
        await tx.take_back_masked(tx.now + 5)
        await tx.bind(tx.directory.by_qq[PLAYER], None, by=0)
        await tx.note_card(PLAYER, "新名片")
        await tx.set_roles(tx.directory.by_qq[KEEPER].account_id, frozenset({REFEREE}), by=0)
    fresh = await again(peopled, clock)
    assert fresh.broken_rights == ()
    for what in ("by_qq", "by_id", "roles", "holdings"):
        assert getattr(fresh.directory, what) == getattr(peopled.directory, what)


COLUMNS = [(table.name, column.name) for table in SEALED_TABLES for column in table.c]


@pytest.mark.parametrize(("table", "column"), COLUMNS)
async def test_a_row_edited_by_hand_grants_nothing(peopled: League, clock: FakeClock, table: str, column: str) -> None:
    """Whatever column it is, and whether its new value fits the column or not."""
    async with peopled.database.read() as connection:
        assert await broken_rows(connection) == []
    key = {"accounts": "qq = '20001'", "roles": "role = 'scorekeeper'"}.get(table, "holder_id = 1")
    spoil(peopled, f"UPDATE {table} SET {column} = '99' WHERE {key}")
    fresh = await again(peopled, clock)
    assert [row.table for row in fresh.broken_rights] == [table]
    directory = fresh.directory
    player, keeper = directory.actor(PLAYER), directory.actor(KEEPER)
    assert player.player_id == (None if table == "accounts" else 1)
    assert keeper.roles == ({REFEREE} if table == "roles" else {REFEREE, SCOREKEEPER})
    assert directory.actor("99").player_id is None
    assert (directory.holder is None) == (table == "masked_holders")


@only_sqlite
async def test_a_value_that_is_no_text_any_more(peopled: League, clock: FakeClock) -> None:
    spoil(peopled, "UPDATE accounts SET qq = CAST(x'ff3030' AS TEXT) WHERE qq = '20001'")
    fresh = await again(peopled, clock)
    assert [row.key for row in fresh.broken_rights] == ["1"] and PLAYER not in fresh.directory.by_qq


async def test_a_broken_row_is_never_sealed_anew(peopled: League, clock: FakeClock) -> None:
    spoil(peopled, "UPDATE accounts SET player_id = 2 WHERE qq = '20001'")
    async with peopled.transaction() as tx:  # it still has the right one in memory
        await tx.note_card(PLAYER, "另一张名片")
        await tx.bind(tx.directory.by_qq[PLAYER], 1, by=0)
    fresh = await again(peopled, clock)
    assert [row.key for row in fresh.broken_rights] == ["1"] and PLAYER not in fresh.directory.by_qq


async def test_who_was_dismissed_does_not_come_back_by_a_broken_row(peopled: League, clock: FakeClock) -> None:
    """Nobody can tell whose dismissal the row was: a group role gives nobody rights until that is cleared."""
    spoil(peopled, "UPDATE roles SET account_id = 77 WHERE role = 'dismissed'")
    fresh = await again(peopled, clock)
    async with fresh.transaction() as tx:
        assert not (await tx.actor(ADMIN, scoring_admin=True)).desk
        assert not (await tx.actor("20009", scoring_admin=True)).desk
    fresh.directory.roles_whole = True
    async with fresh.transaction() as tx:
        assert (await tx.actor("20009", scoring_admin=True)).desk


async def test_rights_are_given_anew_over_broken_rows(peopled: League, clock: FakeClock) -> None:
    spoil(peopled, "UPDATE accounts SET player_id = 4 WHERE qq = '20001'")
    spoil(peopled, "UPDATE roles SET granted_by = 9 WHERE role = 'scorekeeper'")
    fresh = await again(peopled, clock)
    async with fresh.transaction() as tx:
        await tx.bind(await tx.account(PLAYER), 1, by=0)
        await tx.set_roles(tx.directory.by_qq[KEEPER].account_id, frozenset({SCOREKEEPER}), by=0)
    healed = await again(fresh, clock)
    assert healed.broken_rights == () and healed.directory.roles_whole
    assert healed.directory.actor(PLAYER).player_id == 1 and healed.directory.actor(KEEPER).desk


def test_no_other_module_writes_such_rows() -> None:
    """insert(), update() and delete() of them stand in sealed.py alone, in whatever way they are called."""
    names = [table.name for table in SEALED_TABLES]
    found = [
        f"{path.name}: {verb}({name}"
        for path in sorted(STORE.glob("rating_core/**/*.py"))
        for name in names
        for verb in ("insert", "update", "delete")
        if f"{verb}({name}" in path.read_text("utf-8") or f"{name}.{verb}(" in path.read_text("utf-8")
    ]
    assert found == []
