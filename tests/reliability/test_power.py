"""The power cut harness itself: a few cuts, and what its disk may and may not show."""

import random

import pytest

from tests.reliability import power
from tests.reliability.power_disk import SECTOR, Disk, Record

ROOT = "/disk"


def disk_of(*records: Record) -> Disk:
    disk = Disk(ROOT)
    for record in records:
        disk.apply(record)
    return disk


def shown(disk: Disk, times: int = 300) -> set[tuple[tuple[str, bytes], ...]]:
    """Return all that was seen in so many cuts."""
    rng = random.Random(1)
    return {tuple(disk.after_cut(rng).items()) for _ in range(times)}


def create(name: str, inode: int = 1) -> Record:
    return Record("C", inode, 0, f"{ROOT}/{name}", b"")


def write(data: bytes, at: int = 0, inode: int = 1) -> Record:
    return Record("W", inode, at, "", data)


def sync(path: str = f"{ROOT}/a", inode: int = 1) -> Record:
    return Record("S", inode, 0, path, b"")


SYNC_NAMES = sync(ROOT, 99)


def test_what_was_synced_is_there() -> None:
    assert shown(disk_of(create("a"), SYNC_NAMES, write(b"old"), sync())) == {(("a", b"old"),)}


def test_what_was_not_synced_is_there_or_not() -> None:
    disk = disk_of(create("a"), SYNC_NAMES, write(b"old"), sync(), write(b"new"))
    assert shown(disk) == {(("a", b"old"),), (("a", b"new"),)}


def test_a_write_is_torn_at_sectors() -> None:
    disk = disk_of(create("a"), SYNC_NAMES, write(b"o" * 3 * SECTOR), sync(), write(b"n" * 2 * SECTOR, at=SECTOR))
    images = {content for ((_, content),) in shown(disk)}
    assert images == {b"o" * SECTOR + one * SECTOR + two * SECTOR for one in (b"o", b"n") for two in (b"o", b"n")}


def test_a_name_that_was_not_synced_may_be_lost() -> None:
    assert shown(disk_of(create("a"), write(b"x"), sync())) == {(), (("a", b"x"),)}


def test_names_change_in_their_order() -> None:
    rename = Record("R", 0, 0, f"{ROOT}/a", f"{ROOT}/b".encode())
    disk = disk_of(create("a"), SYNC_NAMES, write(b"x"), sync(), rename, create("a", 2))
    assert shown(disk) == {(("a", b"x"),), (("b", b"x"),), (("a", b""), ("b", b"x"))}


def test_a_number_used_again_is_another_file() -> None:
    remove = Record("U", 0, 0, f"{ROOT}/a", b"")
    disk = disk_of(create("a"), write(b"x"), sync(), remove, create("b"), SYNC_NAMES, write(b"y"), sync(f"{ROOT}/b"))
    assert shown(disk) == {(("b", b"y"),)}


@pytest.mark.timeout(180)
def test_a_few_cuts_and_that_without_syncs_commits_are_lost(capsys: pytest.CaptureFixture[str]) -> None:
    assert power.main(["--cuts", "10", "--commits", "8", "--jobs", "1", "--seed", "1"]) == 0
    said = capsys.readouterr().out
    if "SKIPPED" in said:
        pytest.skip(said)
    assert "10 cuts" in said
    assert power.main(["--cuts", "10", "--commits", "8", "--jobs", "1", "--seed", "1", "--synchronous", "OFF"]) == 1
    assert "acknowledged" in capsys.readouterr().out
