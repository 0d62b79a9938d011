"""Bodies: named by their content, durable before a row refers to them, verified whenever they are read."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from engram import BodyGone, Engram, StoreDamaged, StoreFull
from engram.platform.zstd import zstd
from engram.store import blobs
from engram.store.blobs import BlobStore
from engram.store.filesystem import sync_filesystem
from tests.capture.test_check import keep, replace
from tests.capture.transcripts import Claude

BODY = b'{"text": "Build the flywheel"}\n' * 40
NAME = sha256(BODY).hexdigest()


@pytest.fixture
def bodies(engram: Engram) -> BlobStore:
    """The bodies of an empty store on each engine."""
    return BlobStore(engram.engine, engram.settings)


@pytest.fixture
def local(timed: Engram) -> BlobStore:
    """The bodies of a SQLite store: files."""
    return BlobStore(timed.engine, timed.settings)


def path_of(store: BlobStore, name: str = NAME, directory: str = "") -> Path:
    return Path(directory or store.directory) / name[0] / f"{name[1:]}.zst"


# ---- Saving and reading


def test_a_body_is_named_by_its_content_and_read_back(bodies: BlobStore) -> None:
    name, size = keep(bodies, BODY)
    assert (name, bodies.get(name)) == (NAME, BODY)
    assert 0 < size < len(BODY)
    assert bodies.list_names() == {NAME}


def test_a_body_is_one_compressed_file_that_only_its_owner_reads(local: BlobStore) -> None:
    before = os.umask(0)
    try:
        _, size = keep(local, BODY)
    finally:
        os.umask(before)
    path = path_of(local)
    assert path.stat().st_size == size
    assert zstd.decompress(path.read_bytes()) == BODY
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert {stat.S_IMODE(folder.stat().st_mode) for folder in (path.parent, path.parent.parent)} == {0o700}
    assert [item.name for item in path.parent.iterdir()] == [path.name]


def test_a_body_that_is_stored_already_is_not_written_again(local: BlobStore) -> None:
    first = keep(local, BODY)
    written = path_of(local).stat().st_ino
    assert keep(local, BODY) == first
    assert path_of(local).stat().st_ino == written


def test_a_body_that_is_gone_is_called_gone(bodies: BlobStore) -> None:
    with pytest.raises(BodyGone) as refused:
        bodies.get(NAME)
    assert NAME in str(refused.value)


@pytest.mark.parametrize("content", [b"not zstd at all", zstd.compress(b"another body")], ids=["noise", "another"])
def test_a_damaged_body_is_named_and_never_returned(engram: Engram, content: bytes) -> None:
    store = BlobStore(engram.engine, engram.settings)
    keep(store, BODY)
    replace(engram, NAME, content)
    with pytest.raises(StoreDamaged) as refused:
        store.get(NAME)
    place = str(path_of(store)) if engram.engine.dialect == "sqlite" else f"blob {NAME}"
    assert place in str(refused.value)


# ---- Surviving a power cut


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The files and directories synced to disk, in order, as they are named at that time."""
    paths: list[Path] = []
    fsync = os.fsync

    def record(descriptor: int) -> None:
        status = os.fstat(descriptor)
        paths.append(Path(os.readlink(f"/proc/self/fd/{descriptor}")) if os.path.exists("/proc/self/fd") else Path())
        assert stat.S_ISDIR(status.st_mode) or status.st_size  # nothing of the content waits in a buffer
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", record)
    return paths


linux = pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="needs /proc to name what is synced")


@linux
def test_a_new_body_and_its_new_directories_are_synced_before_it_is_named(local: BlobStore, synced: list[Path]) -> None:
    local.save(BODY)
    path = path_of(local)
    parent, root, home = path.parent, path.parent.parent, path.parent.parent.parent
    assert synced == [home, root]
    assert not path.exists()
    synced.clear()
    descriptors = os.listdir("/proc/self/fd")
    local.sync()
    assert [item.suffix for item in synced] == [".tmp", ""]
    assert [item.parent for item in synced] == [parent, root]
    assert path.exists()
    synced.clear()
    local.sync()
    assert synced == []
    assert os.listdir("/proc/self/fd") == descriptors


@linux
def test_a_body_left_by_a_crash_gets_its_directory_synced_too(timed: Engram, synced: list[Path]) -> None:
    crashed, later = (BlobStore(timed.engine, timed.settings) for _ in range(2))
    crashed.save(BODY)
    crashed.sync()
    synced.clear()
    later.save(BODY)
    assert synced == []
    later.sync()
    assert synced == [path_of(later).parent]


@linux
def test_a_second_body_in_a_known_directory_makes_no_directory(local: BlobStore, synced: list[Path]) -> None:
    keep(local, BODY)
    beside = next(body for body in (b"%d" % number for number in range(9999)) if sha256(body).hexdigest()[0] == NAME[0])
    synced.clear()
    local.save(beside)
    assert synced == []


def test_many_bodies_are_synced_at_once(local: BlobStore, synced: list[Path]) -> None:
    if not sync_filesystem(os.getcwd()):
        pytest.skip("this system cannot sync a filesystem: every body is synced by itself")
    names = [local.save(b"%d" % number)[0] for number in range(100)]
    assert local.list_names() == set()
    synced.clear()
    local.sync()
    assert synced == []  # by one call for all of them, before they are named, and one after
    assert local.list_names() == set(names)
    assert local.list_unfinished_files() == []


def test_bodies_that_are_not_wanted_leave_nothing(local: BlobStore) -> None:
    local.save(BODY)
    local.discard_unsynced()
    local.sync()
    assert (local.list_names(), local.list_unfinished_files()) == (set(), [])


@linux
def test_moves_into_and_out_of_quarantine_are_synced(local: BlobStore, synced: list[Path]) -> None:
    keep(local, BODY)
    synced.clear()
    local.quarantine(NAME)
    kept = path_of(local, directory=local.quarantine_directory)
    assert synced[-1] == kept.parent
    assert kept.parent.parent.parent in synced
    path_of(local).parent.rmdir()
    synced.clear()
    local.restore_from_quarantine(NAME)
    assert synced == [path_of(local).parent.parent, path_of(local).parent]


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_called_full_and_leaves_no_half_a_body(
    local: BlobStore, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    Path(path_of(local).parent).mkdir(parents=True)
    monkeypatch.setattr(os, "fsync", failing(number))
    local.save(BODY)
    with pytest.raises(StoreFull) as refused:
        local.sync()
    assert local.directory in str(refused.value)
    monkeypatch.undo()
    assert (local.list_names(), local.list_unfinished_files()) == (set(), [])
    keep(local, BODY)
    assert local.get(NAME) == BODY


@pytest.mark.parametrize("number", [errno.EIO, errno.EACCES])
def test_another_failure_of_the_disk_is_not_called_full(
    local: BlobStore, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    Path(path_of(local).parent).mkdir(parents=True)
    monkeypatch.setattr(os, "fsync", failing(number))
    local.save(BODY)
    with pytest.raises(OSError, match="disk") as refused:
        local.sync()
    assert refused.value.errno == number
    assert local.list_unfinished_files() == []


def failing(number: int) -> Callable[[int], None]:
    def fail(_descriptor: int) -> None:
        raise OSError(number, "the disk says no")

    return fail


# ---- Removing and quarantine


def test_a_removed_body_is_gone_also_from_quarantine(bodies: BlobStore) -> None:
    keep(bodies, BODY)
    bodies.quarantine(NAME)
    keep(bodies, BODY)
    bodies.remove(NAME)
    assert (bodies.list_names(), bodies.list_quarantined()) == (set(), set())
    bodies.remove(NAME)


def test_a_quarantined_body_is_out_of_the_way_and_comes_back_whole(bodies: BlobStore) -> None:
    keep(bodies, BODY)
    bodies.quarantine(NAME)
    assert (bodies.list_names(), bodies.list_quarantined()) == (set(), {NAME})
    assert zstd.decompress(path_of(bodies, directory=bodies.quarantine_directory).read_bytes()) == BODY
    bodies.restore_from_quarantine(NAME)
    assert (bodies.list_names(), bodies.list_quarantined()) == ({NAME}, set())
    assert bodies.get(NAME) == BODY


def test_an_unfinished_file_is_no_body(local: BlobStore) -> None:
    keep(local, BODY)
    unfinished = path_of(local).with_suffix(".zst.0a1b.tmp")
    unfinished.write_bytes(b"half")
    assert (local.list_names(), local.list_unfinished_files()) == ({NAME}, [str(unfinished)])


def test_bodies_older_than_the_database_are_counted_to_the_microsecond(engram: Engram) -> None:
    store = BlobStore(engram.engine, engram.settings)
    names = [keep(store, body)[0] for body in (b"one", b"two", b"three")]
    assert store.count_older_than_database() == 0
    if engram.engine.dialect == "postgres":
        return
    made = engram.engine.run("select min(applied_at) as at from schema_migrations")[0]["at"]
    for name, offset in zip(names, (-1, 0, 1), strict=True):
        os.utime(path_of(store, name), ns=(made * 1000, (made + offset) * 1000))
    assert store.count_older_than_database() == 1
    path_of(store, NAME).parent.mkdir(exist_ok=True)
    path_of(store, NAME).symlink_to("removed meanwhile")
    assert store.count_older_than_database() == 2


# ---- Rows


@pytest.fixture
def row(engram: Engram, home: Path) -> dict[str, object]:
    """The row of the body of one captured session."""
    Claude(home).says("Build the flywheel")
    engram.ingest()
    (row,) = blobs.list_kept(engram.engine)
    return row


def add_row(engram: Engram, row: dict[str, object], size: int) -> int:
    return blobs.insert(
        engram.engine, sha256=row["sha256"], capture=row["capture"], batch=99, raw_bytes=size, stored_bytes=size,
        now=engram.now(),
    )  # fmt: skip


def test_the_bytes_kept_follow_every_row(engram: Engram, row: dict[str, object]) -> None:
    first = blobs.get_kept_bytes(engram.engine)
    assert first == row["stored_bytes"]
    num = add_row(engram, row, 1000)
    assert blobs.get_kept_bytes(engram.engine) == first + 1000
    blobs.mark_lost(engram.engine, [{"num": num, "stored_bytes": 1000}], engram.now())
    assert blobs.get_kept_bytes(engram.engine) == first
    assert [item["num"] for item in blobs.list_half_evicted(engram.engine)] == [num]
    blobs.mark_evicted(engram.engine, num, engram.now())
    assert blobs.list_half_evicted(engram.engine) == []


def test_a_wrong_count_of_bytes_is_corrected_by_what_it_was_off(engram: Engram, row: dict[str, object]) -> None:
    engram.engine.run("update counters set counter = counter + 70 where name = 'kept bytes'")
    assert blobs.recount_kept_bytes(engram.engine) == -70
    assert blobs.recount_kept_bytes(engram.engine) == 0
    assert blobs.get_kept_bytes(engram.engine) == row["stored_bytes"]


def test_on_a_server_a_row_refers_only_to_a_body_that_is_stored(postgres_store: str, tmp_path: Path) -> None:
    with Engram(store=postgres_store, home=str(tmp_path / "home")) as engram:
        with pytest.raises(BodyGone, match=NAME):
            add_row(engram, {"sha256": NAME, "capture": 1}, 1000)
        keep(BlobStore(engram.engine, engram.settings), BODY)
        with pytest.raises(Exception, match=r"(?i)foreign key"):
            add_row(engram, {"sha256": NAME, "capture": 1}, 1000)


def test_bodies_marked_for_eviction_no_longer_count(engram: Engram, row: dict[str, object]) -> None:
    now = engram.now()
    assert blobs.list_evictable(engram.engine, now - 60_000_000, 5, by_worth=False) == []
    rows = blobs.list_evictable(engram.engine, now + 60_000_000, 5, by_worth=False)
    assert [item["num"] for item in rows] == [row["num"]]
    blobs.mark_evicting(engram.engine, rows, now)
    assert (blobs.get_kept_bytes(engram.engine), blobs.list_kept(engram.engine)) == (0, [])


def test_a_body_is_needed_while_a_row_refers_to_it(engram: Engram, row: dict[str, object]) -> None:
    name = str(row["sha256"])
    assert (blobs.is_needed(engram.engine, name), blobs.is_needed(engram.engine, NAME)) == (True, False)
    blobs.mark_lost(engram.engine, [row], engram.now())
    assert not blobs.is_needed(engram.engine, name)
    assert blobs.has_rows(engram.engine)
    assert [item["num"] for item in blobs.list_by_capture(engram.engine, int(str(row["capture"])))] == [row["num"]]


def test_an_empty_store_has_no_rows(engram: Engram) -> None:
    assert not blobs.has_rows(engram.engine)
    assert blobs.recount_kept_bytes(engram.engine) == 0


def test_a_body_no_digest_covers_is_listed_until_one_does(engram: Engram, row: dict[str, object]) -> None:
    assert blobs.list_undigested(engram.engine, 5) == []
    engram.engine.run("delete from digests")
    assert [item["num"] for item in blobs.list_undigested(engram.engine, 5)] == [row["num"]]
