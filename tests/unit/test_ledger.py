"""Entries, their payloads, and the hash chain."""

import json
from dataclasses import fields, replace
from typing import Any

import pytest

from rating_core import ledger
from rating_core.ledger import (
    GENESIS,
    KINDS,
    Adjustment,
    Amend,
    Announced,
    ChallengeCancelled,
    ChallengeExtended,
    ChallengeForfeited,
    ChallengeFulfilled,
    ChallengeIssued,
    Draft,
    Entry,
    EventClosed,
    EventOpened,
    Games,
    IpChecked,
    LeaveTaken,
    LedgerError,
    ListPublished,
    Merged,
    OpeningBalance,
    PlayerRegistered,
    Row,
    Settlement,
    Void,
    canonical,
    decode,
    row_hash,
    seal,
)
from tests.support.rows import line

LINES = (line(1, "W", 2), line((1, 3), "D", (2, 4)))
ENTRIES: list[Entry] = [
    PlayerRegistered(1, 2000.0, "普通"),
    OpeningBalance(1, 2211.25, 3, 0, 1, 1_700_000_000_000),
    OpeningBalance(1, 2211.25, 3, 0, 1, 1_700_000_000_000, 2, True, 2300.5, 1_600_000_000_000),
    IpChecked(1, False),
    EventOpened(3, 1.2, False),
    EventClosed(3),
    Games(12, 34, 1_700_000_000_000, 1.2, LINES, 5),
    Games(12, 34, 1, 1.0, LINES, 5, 3, 6, Announced((True, False), ((1, 2000.0, 2014.528517), (2, 2000.0, 1985.5)))),
    Adjustment(1, -0.1),
    LeaveTaken(1, 1_800_000_000_000, ("单跳1v1", "单跳2v2")),
    Settlement(2026, 1_800_000_000_000, ((1, 20.0), (2, 0.0))),
    Void(),
    Void(34),
    Amend(34, line(1, "L", 2)),
    Amend(event=3, weight=2.0),
    ChallengeIssued(5, 1, 2, 1_800_000_000_000),
    ChallengeExtended(5, 1_900_000_000_000),
    ChallengeFulfilled(5, 12),
    ChallengeCancelled(5),
    ChallengeForfeited(5, 2, 50.0),
    ListPublished(
        9,
        1_800_000_000_000,
        ((1, 1, 2016.5, 2016.5, 12, 3, 5, 2020.25, 1_700_000_000_000), (2, 2, 1800.5, 1990.5, 0, 0, 1, None, 0)),
    ),
    Merged(3, 1),
]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.KIND)
def test_an_entry_reads_as_it_was_written(entry: Entry) -> None:
    payload = canonical(entry.payload())
    assert decode(entry.KIND, entry.V, payload) == entry
    assert canonical(json.loads(payload)) == payload


def test_every_kind_is_tested() -> None:
    assert {entry.KIND for entry in ENTRIES} == set(KINDS)
    assert all(kind == cls.KIND for kind, cls in KINDS.items())


def test_payloads_are_canonical_and_leave_out_what_is_absent() -> None:
    assert canonical(Void().payload()) == "{}"
    assert canonical(Amend(34, line(1, "L", 2)).payload()) == '{"game":34,"line":[[1],"L",[2]]}'
    assert canonical(Adjustment(1, 0.1 + 0.2).payload()) == '{"amount":0.30000000000000004,"player":1}'
    assert canonical(PlayerRegistered(1, 2000.0, "4强").payload()) == '{"initial":2000.0,"placing":"4强","player":1}'
    assert canonical(ENTRIES[7].payload()).startswith('{"announced":{"counted":"10","ratings":[[1,2000.0,')


def test_a_payload_holds_no_infinity() -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        canonical(Adjustment(1, float("inf")).payload())


@pytest.mark.parametrize(
    ("kind", "v", "payload"),
    [
        ("poem", 1, "{}"), ("void", 0, "{}"), ("void", 2, "{}"), ("adjustment", 1, "{}"), ("void", 1, "[]"),
        ("adjustment", 1, '{"player":1,"amount":2,"more":3}'), ("void", 1, "{"), ("void", 1, "3"),
        ("games", 1, '{"report":1}'), ("amend", 1, '{"game":1,"line":[[1],"X",[2]]}'),
        ("settlement", 1, '{"season":2026,"until":1,"verdicts":[[1]]}'), ("leave_taken", 1, '{"player":1,"until":1}'),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_an_error(kind: str, v: int, payload: str) -> None:
    with pytest.raises(LedgerError):
        decode(kind, v, payload)


def test_old_payloads_are_read_by_upcasting(monkeypatch: pytest.MonkeyPatch) -> None:
    def to_two(data: dict[str, Any]) -> dict[str, Any]:
        return {"player": data["who"], "amount": data["by"]}

    def to_three(data: dict[str, Any]) -> dict[str, Any]:
        return data | {"amount": float(data["amount"])}

    monkeypatch.setattr(Adjustment, "V", 3)
    monkeypatch.setitem(ledger.UPCASTS, ("adjustment", 1), to_two)
    monkeypatch.setitem(ledger.UPCASTS, ("adjustment", 2), to_three)
    assert decode("adjustment", 1, '{"who":4,"by":5}') == Adjustment(4, 5.0)
    assert decode("adjustment", 2, '{"player":4,"amount":5}') == Adjustment(4, 5.0)
    with pytest.raises(LedgerError):
        decode("adjustment", 4, "{}")


def chain() -> list[Row]:
    rows: list[Row] = []
    for number, entry in enumerate(ENTRIES, 1):
        draft = Draft(entry, 1000 + number, 7, "单跳1v1", number - 1 or None)
        rows.append(seal(draft, number, 2000 + number, rows[-1].hash if rows else GENESIS))
    return rows


def first_broken(rows: list[Row]) -> int | None:
    previous = GENESIS
    for row in rows:
        if row_hash(previous, row) != row.hash:
            return row.seq
        previous = row.hash
    return None


def test_a_chain_is_whole() -> None:
    rows = chain()
    assert first_broken(rows) is None
    assert [row.entry() for row in rows] == ENTRIES
    assert len({row.hash for row in rows}) == len(rows)
    assert all(len(row.hash) == 64 for row in rows)


@pytest.mark.parametrize("column", [f.name for f in fields(Row) if f.name != "hash"])
def test_any_changed_column_breaks_the_chain(column: str) -> None:
    rows = chain()
    old = getattr(rows[6], column)
    new = old + "x" if isinstance(old, str) else old + 1
    rows[6] = replace(rows[6], **{column: new})
    assert row_hash(rows[5].hash, rows[6]) != rows[6].hash


def test_columns_cannot_run_into_each_other() -> None:
    """The same characters in other columns give another hash."""
    row = chain()[0]
    moved = replace(row, kind=row.kind + row.pool, pool="")
    assert row_hash(GENESIS, moved) != row.hash
    assert row_hash(GENESIS, replace(row, refers_to=None)) != row_hash(GENESIS, replace(row, refers_to=0))


def test_a_resealed_row_breaks_the_next_one() -> None:
    """Whoever changes a row and its hash must change every row after it, and the head."""
    rows = chain()
    forged = replace(rows[3], payload='{"player":1,"valid":true}')
    rows[3] = replace(forged, hash=row_hash(rows[2].hash, forged))
    assert first_broken(rows) == 5


def test_a_row_left_out_breaks_the_chain() -> None:
    rows = chain()
    del rows[4]
    assert first_broken(rows) == 6
