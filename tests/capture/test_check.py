"""A check reports what is wrong with a store, repairs it only when asked, and changes nothing otherwise."""

from __future__ import annotations

from pathlib import Path
from threading import Thread

import pytest

from engram import BodyGone, Engram, StoreDamaged, SweepRunning
from engram.capture.sweep_lock import SweepLock
from engram.platform.zstd import zstd
from engram.store import blobs, event_words
from engram.types import Check
from tests.capture.transcripts import Claude


def of_body(engram: Engram, name: str) -> Path:
    """Return the path of a body on SQLite."""
    bodies = Path(engram.settings.home).rglob("blobs/**/*.zst")
    return next(path for path in bodies if path.parent.name + path.stem == name)


def packed(engram: Engram, name: str) -> bytes:
    """Return a body as stored."""
    if engram.engine.dialect == "sqlite":
        return of_body(engram, name).read_bytes()
    rows = engram.engine.run("select content from blob_contents where sha256 = :name", name=name)
    return bytes(rows[0]["content"])


def keep(store: blobs.BlobStore, body: bytes) -> tuple[str, int]:
    """Save a body and make it durable."""
    kept = store.save(body)
    store.sync()
    return kept


def replace(engram: Engram, name: str, content: bytes | None) -> None:
    """Damage a body as a broken disk does; without content it is deleted."""
    if engram.engine.dialect == "postgres":
        engram.engine.run("delete from blob_contents where sha256 = :name", name=name)
        if content is not None:
            engram.engine.run("insert into blob_contents values (:name, :content)", name=name, content=content)
    elif content is None:
        of_body(engram, name).unlink()
    else:
        of_body(engram, name).write_bytes(content)


def names(engram: Engram) -> list[str]:
    """Return the names of all bodies that should exist."""
    return [row["sha256"] for row in blobs.list_kept(engram.engine)]


def session_of(engram: Engram, work: Claude) -> str:
    """Return the session of a transcript."""
    sessions = engram.list_sessions(subagents=True, limit=1000)
    return next(session.session.id for session in sessions if session.session.native_id == work.session)


@pytest.fixture
def works(engram: Engram, home: Path) -> list[Claude]:
    """Two captured sessions."""
    made = [Claude(home), Claude(home)]
    for number, work in enumerate(made):
        work.says(f"Build the flywheel of engine {number}")
        work.answers("Done.")
    engram.ingest()
    return made


def state(engram: Engram) -> object:
    """Return everything in the store that a check could change."""
    tables = ("captures", "digests", "blobs", "events", "cursors", "sessions", "usage", "counters")
    rows = {table: engram.engine.run(f"select * from {table} order by 1, 2") for table in tables}
    bodies = sorted(blobs.BlobStore(engram.engine, engram.settings).list_names())
    found = [hit.event for hit in engram.recall("flywheel", k=100)]
    files = sorted(str(path) for path in Path(engram.settings.home).rglob("blobs/**/*"))
    return rows, bodies, found, files


def test_a_sound_store_has_no_problems(engram: Engram, works: list[Claude]) -> None:
    assert engram.check() == Check(
        problems=(), mended=(), sessions=2, captures=2, events=4, digests=2, bodies=2, leftovers=0
    )  # fmt: skip
    assert engram.check(repair=True).mended == ()


def test_an_empty_store_is_sound(engram: Engram) -> None:
    assert engram.check(repair=True).problems == ()


def test_a_missing_body_is_named_with_its_session(engram: Engram, works: list[Claude]) -> None:
    name = names(engram)[0]
    replace(engram, name, None)
    report = engram.check()
    (problem,) = report.problems
    assert name in problem
    assert any(session_of(engram, work) in problem for work in works)
    assert report.bodies == 1


def test_a_damaged_body_is_named_with_its_session(engram: Engram, works: list[Claude]) -> None:
    name = names(engram)[1]
    content = bytearray(packed(engram, name))
    content[len(content) // 2] ^= 1
    replace(engram, name, bytes(content))
    report = engram.check()
    (problem,) = report.problems
    assert name[2:] in problem
    assert "damaged" in problem
    assert any(session_of(engram, work) in problem for work in works)


def test_a_body_two_sessions_need_is_named_for_both(engram: Engram, works: list[Claude]) -> None:
    kept, other = engram.engine.run("select * from blobs order by num")
    engram.engine.run("update blobs set sha256 = :name where num = :num", name=kept["sha256"], num=other["num"])
    replace(engram, kept["sha256"], None)
    found = " ".join(engram.check().problems)
    assert all(session_of(engram, work) in found for work in works)


@pytest.mark.parametrize("cut", [0, 1, 10, -1])
def test_a_body_cut_short_is_damaged(engram: Engram, works: list[Claude], cut: int) -> None:
    name = names(engram)[0]
    replace(engram, name, packed(engram, name)[:cut])
    (problem,) = engram.check().problems
    assert "damaged" in problem


def test_any_flipped_bit_is_noticed_or_harmless(home: Path, tmp_path: Path) -> None:
    with Engram(tmp_path / "home") as engram:
        Claude(home).says("The flywheel of the engine")
        engram.ingest()
        (name,) = names(engram)
        bodies, sound = blobs.BlobStore(engram.engine, engram.settings), packed(engram, name)
        content = bodies.get(name)
        for bit in range(len(sound) * 8):
            flipped = bytearray(sound)
            flipped[bit // 8] ^= 1 << bit % 8
            of_body(engram, name).write_bytes(flipped)
            try:
                assert bodies.get(name) == content
            except StoreDamaged:
                pass


def test_content_of_another_body_is_noticed(engram: Engram, works: list[Claude]) -> None:
    name = names(engram)[0]
    replace(engram, name, zstd.compress(b"something else"))
    (problem,) = engram.check().problems
    assert "does not match its name" in problem


def test_leftovers_are_counted_and_no_problem(engram: Engram, works: list[Claude]) -> None:
    bodies = blobs.BlobStore(engram.engine, engram.settings)
    keep(bodies, b"of a sweep that was killed")
    report = engram.check()
    assert (report.problems, report.leftovers) == ((), 1)


def test_repair_removes_leftovers_and_nothing_else(engram: Engram, works: list[Claude]) -> None:
    bodies = blobs.BlobStore(engram.engine, engram.settings)
    keep(bodies, b"of a sweep that was killed")
    assert engram.check(repair=True).mended == ("moved 1 body that nothing refers to into quarantine",)
    assert bodies.list_names() == set(names(engram))
    assert engram.check().leftovers == 0


def test_a_body_whose_writing_was_broken_off_is_a_leftover(works: list[Claude], engram: Engram) -> None:
    if engram.engine.dialect == "postgres":
        pytest.skip("a table writes a body whole or not at all")
    part = of_body(engram, names(engram)[0]).with_suffix(".zst.0123abcd.tmp")
    part.write_bytes(b"half a bo")
    assert engram.check().leftovers == 1
    engram.check(repair=True)
    assert not part.exists()
    assert engram.check() == engram.check(repair=True)


def test_a_body_about_to_be_dropped_is_neither_missed_nor_left_over(engram: Engram, works: list[Claude]) -> None:
    rows = blobs.list_evictable(engram.engine, (1 << 63) - 1, 1, by_worth=True)
    with engram.engine.transaction():
        blobs.mark_evicting(engram.engine, rows, engram.now())
    report = engram.check(repair=True)
    assert (report.problems, report.mended, report.leftovers) == ((), (), 0)


def test_an_event_missing_in_the_index_is_reported_and_indexed(engram: Engram, works: list[Claude]) -> None:
    event_words.unindex_events(engram.engine, [engram.recall("flywheel")[0].event or 0])
    (problem,) = engram.check().problems
    assert "index" in problem
    assert "1 differ" in problem
    assert engram.check(repair=True).mended == ("rebuilt the index of 4 events",)
    assert engram.check().problems == ()


def test_an_extra_event_in_the_index_is_reported_and_dropped(home: Path, tmp_path: Path) -> None:
    with Engram(tmp_path / "home") as engram:  # PostgreSQL itself refuses it
        Claude(home).says("Build the flywheel")
        engram.ingest()
        event_words.index_events(engram.engine, [{"id": 999, "words": "flywheel of nothing"}])
        assert "1 differ" in engram.check().problems[0]
        assert len(engram.recall("flywheel")) == 1
        engram.check(repair=True)
        assert engram.check().problems == ()


def test_an_empty_index_is_rebuilt_from_the_bodies(engram: Engram, home: Path, works: list[Claude]) -> None:
    work = Claude(home)
    work.runs("make gearbox", "built")
    engram.ingest()
    before = state(engram)
    event_words.clear_index(engram.engine)
    assert engram.recall("gearbox", tiers=["event"]) == []
    engram.check(repair=True)
    assert state(engram) == before
    assert engram.recall("gearbox", tiers=["event"]) != []


def test_repair_indexes_what_is_left_when_a_body_is_missing(engram: Engram, works: list[Claude]) -> None:
    name = names(engram)[0]
    replace(engram, name, None)
    event_words.clear_index(engram.engine)
    assert engram.check(repair=True).mended == ("rebuilt the index of 4 events",)
    (problem,) = engram.check().problems
    assert name in problem


def test_repair_rebuilds_a_due_digest(engram: Engram, works: list[Claude]) -> None:
    engram.engine.run("update captures set digest_due = 1 where num = (select min(num) from captures)")
    assert engram.check(repair=True).mended == ("rebuilt 1 digest",)
    assert engram.check(repair=True).mended == ()


def test_a_session_without_its_digest_is_named(engram: Engram, works: list[Claude]) -> None:
    engram.engine.run("delete from digests where capture = (select min(capture) from digests)")
    assert engram.check().problems == ("1 session without a digest",)


def test_nothing_is_changed_without_repair(engram: Engram, works: list[Claude]) -> None:
    keep(blobs.BlobStore(engram.engine, engram.settings), b"of a sweep that was killed")
    replace(engram, names(engram)[0], None)
    event_words.unindex_events(engram.engine, [engram.recall("flywheel")[0].event or 0])
    engram.engine.run("update captures set digest_due = 1")
    before = state(engram)
    assert len(engram.check().problems) == 2
    assert state(engram) == before


def test_repair_does_not_wait_for_a_sweep_but_reports_it(engram: Engram, works: list[Claude]) -> None:
    name, _ = keep(blobs.BlobStore(engram.engine, engram.settings), b"of a sweep that is still running")
    with SweepLock(engram.settings.home):
        assert engram.check().leftovers == 1
        with pytest.raises(SweepRunning):
            engram.check(repair=True)
    assert name in blobs.BlobStore(engram.engine, engram.settings).list_names()


def test_a_body_another_machine_cleared_away_is_not_named_by_this_one(
    postgres_store: str, home: Path, tmp_path: Path
) -> None:
    with (
        Engram(store=postgres_store, home=tmp_path / "a") as here,
        Engram(store=postgres_store, home=tmp_path / "b") as there,
    ):
        Claude(home).says("Hello")
        here.ingest()
        name, size = keep(blobs.BlobStore(here.engine, here.settings), b"just read by us")
        there.check(repair=True)
        with pytest.raises(BodyGone):
            blobs.insert(here.engine, sha256=name, capture=1, batch=1, raw_bytes=15, stored_bytes=size, now=here.now())


def test_a_body_another_machine_is_about_to_name_is_not_cleared_away(
    postgres_store: str, home: Path, tmp_path: Path
) -> None:
    with (
        Engram(store=postgres_store, home=tmp_path / "a") as here,
        Engram(store=postgres_store, home=tmp_path / "b") as there,
    ):
        Claude(home).says("Hello")
        here.ingest()
        bodies = blobs.BlobStore(there.engine, there.settings)
        name, size = keep(blobs.BlobStore(here.engine, here.settings), b"just read by us")
        facts = {"capture": 1, "batch": 2, "raw_bytes": 15, "stored_bytes": size}
        cleaner = Thread(target=bodies.remove, args=(name,))
        with here.engine.transaction():
            blobs.insert(here.engine, sha256=name, now=1, **facts)
            cleaner.start()
            cleaner.join(0.3)
        cleaner.join()
        assert bodies.get(name) == b"just read by us"


def test_an_index_that_does_not_match_the_exchanges_is_reported_and_rebuilt(
    engram: Engram, works: list[Claude]
) -> None:
    engram.engine.run("delete from segments")
    (problem,) = engram.check().problems
    assert "exchanges and passages" in problem
    (mended,) = engram.check(repair=True).mended
    assert "rebuilt" in mended
    assert engram.check().problems == ()
    assert engram.recall("flywheel") != []
