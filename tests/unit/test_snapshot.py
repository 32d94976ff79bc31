"""A start from the snapshot: the same Book as from the ledger; and wherever the file does not fit, just a fold."""

import pickle
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

import pytest

from rating_core import ledger as ledger_module
from rating_core.check import difference
from rating_core.ledger import Adjustment, Draft, Row, Void
from rating_core.rulebook import MASKED_NAME
from rating_core.service import league as league_module
from rating_core.service.health import examine
from rating_core.service.league import League
from rating_core.store import snapshot as snapshot_module
from rating_core.store.database import Database
from rating_core.store.ledger_store import LedgerStore
from rating_core.store.snapshot import Snapshot, SnapshotUnfit, rules_version
from tests.conftest import FakeClock
from tests.support.engines import only_sqlite, sql, unguard
from tests.support.leagues import rich
from tests.support.rows import snapshot as whole

POOL = "单跳1v1"


@pytest.fixture(autouse=True)
def every_league_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(league_module, "LEAST_GAMES", 0)
    monkeypatch.setattr(league_module, "LEAST_ROWS", 1)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "ratings.snapshot"


@pytest.fixture
async def first(database: Database, clock: FakeClock, file: Path) -> League:
    """A league with something of everything, that was stopped in order."""
    await append(database, clock, [draft_of(row) for row in rich().rows.rows])
    league = await League.open(database, clock, snapshot=Snapshot(file))
    assert await league.save_snapshot() and file.exists()
    return league


def draft_of(row: Row) -> Draft:
    return Draft(row.entry(), row.said_at, row.actor, row.pool, row.refers_to)


async def append(database: Database, clock: FakeClock, drafts: Sequence[Draft]) -> None:
    async with database.write() as connection:
        await LedgerStore(connection).append(list(drafts), clock.now)


async def opened(first: League, file: Path) -> League:
    return await League.open(first.database, first.clock, snapshot=Snapshot(file))


async def assert_folded(first: League, file: Path) -> None:
    """The file is ignored and deleted; the Book is what the ledger says."""
    league = await opened(first, file)
    assert not league.from_snapshot and league.damage is None
    assert league.snapshot is not None and league.snapshot.refused
    assert not file.exists()
    assert difference(league.book, (await League.open(first.database, first.clock)).book) is None


async def test_it_is_the_book_that_was(first: League, file: Path) -> None:
    again = await opened(first, file)
    assert again.from_snapshot
    assert difference(again.book, first.book) is None
    assert whole(again.book) == whole(first.book)
    assert again.directory.merged == first.directory.merged
    assert (await examine(again)).well and not again.from_snapshot


async def test_rows_after_it_are_read_and_old_ones_can_be_corrected(
    first: League, file: Path, clock: FakeClock
) -> None:
    await append(first.database, clock, [Draft(Adjustment(1, 5.0), clock.now, 0, POOL)])
    again = await opened(first, file)
    assert again.from_snapshot and again.book.seq == first.book.seq + 1
    report = again.book.columns.seq[0]
    async with again.transaction() as tx:
        await tx.append(Draft(Void(), clock.now, 0, POOL, report))
    fresh = (await League.open(first.database, clock)).book
    assert fresh.is_void(0)
    assert difference(again.book, fresh) is None and whole(again.book) == whole(fresh)
    assert await again.save_snapshot()
    assert difference((await opened(first, file)).book, fresh) is None


async def test_few_new_rows_or_a_small_league_are_not_worth_a_file(
    first: League, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not await first.save_snapshot(), "nothing is new"
    monkeypatch.setattr(league_module, "LEAST_GAMES", len(first.book.columns) + 1)
    file.unlink()
    league = await opened(first, file)
    assert not await league.save_snapshot() and not file.exists()


async def test_a_book_that_moves_while_it_is_written_is_not_kept(first: League, file: Path) -> None:
    before = file.read_bytes()
    assert not Snapshot(file).save(first.book, lambda: False)
    assert file.read_bytes() == before and list(file.parent.glob("*.part")) == []


@pytest.mark.parametrize("place", [3, 70, 200, -2000, -1])
async def test_a_flipped_byte(first: League, file: Path, place: int) -> None:
    data = bytearray(file.read_bytes())
    data[place] ^= 1
    file.write_bytes(data)
    await assert_folded(first, file)


@pytest.mark.parametrize("size", [0, 10, 300, -1])
async def test_a_file_that_was_cut(first: League, file: Path, size: int) -> None:
    file.write_bytes(file.read_bytes()[:size])
    await assert_folded(first, file)


async def test_other_rules(first: League, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot_module, "rules_version", lambda: "0" * 64)
    await assert_folded(first, file)


def test_whatever_decides_what_the_fold_makes_of_a_ledger_is_in_the_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("rulebook", "elo", "fold", "state", "book", "steps", "ledger", "rules/farming", "rules/season"):
        (tmp_path / "rules").mkdir(exist_ok=True)
        monkeypatch.setattr(snapshot_module, "_CORE", tmp_path)
        (tmp_path / f"{name}.py").write_text("a = 1")
        before = rules_version.__wrapped__()
        (tmp_path / f"{name}.py").write_text("a = 2")
        assert rules_version.__wrapped__() != before, name


@only_sqlite
async def test_a_ledger_that_was_cut(first: League, file: Path) -> None:
    address = first.database.url.render_as_string(hide_password=False)
    unguard(address)
    last = first.book.seq - 1
    async with first.database.read() as connection:
        row = await LedgerStore(connection).row(last)
    assert row is not None
    sql(address, f"DELETE FROM ledger WHERE seq > {last}")
    sql(address, f"UPDATE ledger_head SET seq = {last}, hash = '{row.hash}'")
    await assert_folded(first, file)


async def test_another_ledger_of_the_same_length(first: League, file: Path) -> None:
    """A backup was restored, and other things happened since."""
    book = first.book.fork()
    book.hash = "f" * 64
    assert Snapshot(file).save(book, lambda: True)
    await assert_folded(first, file)


class Nasty:
    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return (eval, ("open('ran', 'w')",))


async def test_a_file_made_up_to_run_something(
    first: League, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    key = f"{rules_version()} {first.book.seq} {first.book.hash}\n".encode()
    data = key + pickle.dumps(Nasty())
    file.write_bytes(data + sha256(data).digest())
    with pytest.raises(SnapshotUnfit, match="eval"):
        Snapshot(file).load()
    await assert_folded(first, file)
    assert not Path("ran").exists()


async def test_a_snapshot_that_is_wrong_is_found_by_the_check_after_the_start(first: League, file: Path) -> None:
    wrong = first.book.fork()
    wrong.state.standing(POOL, 1).rating += 1
    assert Snapshot(file).save(wrong, lambda: True)
    league = await opened(first, file)
    assert league.from_snapshot and league.book.state.look(POOL, 1) != first.book.state.look(POOL, 1)
    health = await examine(league)
    assert health.snapshot_wrong == f"{POOL} 1" and health.well
    assert difference(league.book, first.book) is None and not file.exists()
    async with league.transaction() as tx:
        await tx.append(Draft(Adjustment(1, 5.0), tx.now, 0, POOL))
    assert (await examine(league)).well


@only_sqlite
async def test_a_row_before_it_that_is_not_what_was_written(first: League, file: Path) -> None:
    """The start does not read it; the check after the start does, and then nothing more is recorded."""
    address = first.database.url.render_as_string(hide_password=False)
    unguard(address)
    sql(address, "UPDATE ledger SET said_at = said_at + 1 WHERE seq = 12")
    league = await opened(first, file)
    assert league.from_snapshot and league.damage is None
    assert (await examine(league)).broken_row == 12
    assert league.damage is not None and not await league.save_snapshot()


async def test_nobody_is_named_in_it(first: League, file: Path) -> None:
    data = file.read_bytes()
    for name in set(rich().directory.roster.current_names().values()) - {MASKED_NAME}:
        assert name.encode() not in data
    assert b"10001" not in data
    assert {cls.__name__ for cls in ledger_module.KINDS.values()} <= {name for _, name in snapshot_module._ALLOWED}
