"""Import of an older engram.db: nothing lost, nothing twice, half states repaired (EP-021..EP-B20, EX-001..EX-B12)."""

from __future__ import annotations

import os
import shutil
import time
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import apsw
import pytest

from engram import Engram
from engram.errors import ImportRefused, InvalidInput
from engram.importers import engram_rows
from engram.importers.engram import HELD_ON, LONG_ENTRY, LONG_NOTE, RECOVERED, import_engram

DDL = """
create table if not exists world_state (
  id INTEGER PRIMARY KEY CHECK (id = 1), updated_at TEXT NOT NULL, updated_by TEXT, content TEXT NOT NULL);
create table if not exists sessions (
  id TEXT PRIMARY KEY, session_type TEXT NOT NULL, summary TEXT NOT NULL, status TEXT NOT NULL DEFAULT 'active',
  started_at TEXT NOT NULL, last_heartbeat TEXT NOT NULL, completed_at TEXT, completion_summary TEXT, metadata TEXT);
create table if not exists session_logs (
  id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL REFERENCES sessions(id), timestamp TEXT NOT NULL,
  entry TEXT NOT NULL);
create table if not exists resource_locks (
  resource TEXT NOT NULL, session_id TEXT NOT NULL REFERENCES sessions(id), locked_at TEXT NOT NULL, note TEXT,
  PRIMARY KEY (resource, session_id));
create index if not exists idx_sessions_status on sessions(status);
create index if not exists idx_logs_session on session_logs(session_id);
create index if not exists idx_locks_resource on resource_locks(resource);
"""
LOOSE = DDL.replace("NOT NULL", "").replace("TEXT PRIMARY KEY", "TEXT")  # a file someone has tampered with
BERLIN = "Europe/Berlin"


class Python:
    """Writes as the Python version does: naive local time."""

    def stamp(self, at: datetime) -> str:
        return at.astimezone().replace(tzinfo=None).isoformat()

    def session_id(self, at: datetime) -> str:
        return f"{at.astimezone():%Y%m%d-%H%M%S}-{uuid.uuid4().hex[:8]}"


class Elixir(Python):
    """Writes as the Elixir version does: UTC with a Z."""

    def stamp(self, at: datetime) -> str:
        return at.astimezone(timezone.utc).replace(tzinfo=None).isoformat() + "Z"

    def session_id(self, at: datetime) -> str:
        return f"{at.astimezone(timezone.utc):%Y%m%d%H%M%S}-{uuid.uuid4().hex[:8]}"


class Older:
    """A database of an older Engram, open as its writers have it open."""

    def __init__(self, path: Path, ddl: str = DDL) -> None:
        self.path = str(path)
        self.db = apsw.Connection(self.path)
        self.db.pragma("journal_mode", "wal")
        self.db.execute(ddl)

    def insert(self, table: str, **row: Any) -> None:
        slots = ", ".join(f":{name}" for name in row)
        self.db.execute(f"insert into {table} ({', '.join(row)}) values ({slots})", row)

    def session(self, runtime: Python | None = None, ago: timedelta = timedelta(minutes=5), **facts: Any) -> str:
        runtime = runtime or Elixir()
        begun = datetime.now(timezone.utc) - ago
        row = {
            "id": runtime.session_id(begun), "session_type": "cowork", "summary": "tidy the parser",
            "started_at": runtime.stamp(begun), "last_heartbeat": runtime.stamp(begun),
        }  # fmt: skip
        row |= facts
        self.insert("sessions", **row)
        return str(row["id"])

    def completed(self, said: str = "all done", **facts: Any) -> str:
        done = Elixir().stamp(datetime.now(timezone.utc))
        return self.session(**({"status": "completed", "completed_at": done, "completion_summary": said} | facts))

    def log(self, session_id: Any, entry: Any, timestamp: Any = "2025-06-01T10:00:00Z") -> None:
        self.insert("session_logs", session_id=session_id, timestamp=timestamp, entry=entry)

    def lock(self, session_id: str, resource: str, note: str | None = None, at: str = "2025-06-01T10:00:00Z") -> None:
        self.insert("resource_locks", resource=resource, session_id=session_id, locked_at=at, note=note)

    def world(self, content: str, by: str | None = None, at: str = "2025-06-01T10:00:00Z") -> None:
        self.db.execute("delete from world_state")
        self.insert("world_state", id=1, updated_at=at, updated_by=by, content=content)


@pytest.fixture
def older(tmp_path: Path) -> Older:
    return Older(tmp_path / "older.db")


@pytest.fixture
def loose(tmp_path: Path) -> Older:
    return Older(tmp_path / "loose.db", LOOSE)


def entries(engram: Engram, session_id: str) -> list[str]:
    return [log.entry for log in reversed(engram.get_session_logs(session_id, limit=10_000))]


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=timezone.utc)  # type: ignore[arg-type,misc]


def test_both_runtimes_in_one_file_are_imported(engram: Engram, older: Older) -> None:
    first = older.session(Python(), summary="from Python", session_type="claude-code")
    second = older.session(Elixir(), summary="from Elixir", metadata='{"repo": "x"}')
    older.log(first, "one")
    older.log(second, "two")
    older.log(first, "three")
    older.world("# Muse", by=first)
    done = import_engram(engram, older.path)
    assert (done.sessions, done.logs, done.world_versions, done.already_here) == (2, 3, 1, 0)
    assert (done.mended, done.dropped) == ({}, ())
    assert entries(engram, first) == ["one", "three"]
    mine, theirs = engram.get_session(first), engram.get_session(second)
    assert (mine.flavor, mine.presence, mine.project, mine.native_id) == ("claude", "here", "", None)
    assert (theirs.flavor, theirs.summary, theirs.metadata) == ("cowork", "from Elixir", {"repo": "x"})
    assert abs(mine.started_at - theirs.started_at) < timedelta(seconds=10)
    world = engram.world_state()
    assert (world.content, world.updated_by, world.updated_at) == ("# Muse", first, utc(2025, 6, 1, 10))


def test_importing_twice_adds_nothing(engram: Engram, older: Older) -> None:
    older.log(older.session(summary="x" * 70_000), "one")
    older.log("20240101-000000-00000000", "an orphan")
    older.session(completed_at="2025-06-01T10:00:00Z", completion_summary="done once")
    older.world("# Muse")
    engram.set_world_state("# Ours")
    first, before = import_engram(engram, older.path), engram.stats()
    again = import_engram(engram, older.path)
    assert (again.sessions, again.updated, again.logs, again.world_versions, again.mended) == (0, 0, 0, 0, {})
    assert again.already_here == first.sessions + first.logs + first.world_versions == 6
    assert engram.stats() == before


def test_a_dry_run_reports_the_same_and_writes_nothing(engram: Engram, older: Older, tmp_path: Path) -> None:
    session = older.session()
    older.log(session, "one\0")
    older.lock(session, str(tmp_path / "a.py"))
    older.lock("nobody", str(tmp_path / "b.py"))
    older.world("# Muse")
    before = engram.stats()
    dry = import_engram(engram, older.path, dry_run=True)
    assert engram.stats() == before
    assert engram.activity("imported") == []
    assert engram.list_locks() == []
    assert import_engram(engram, older.path) == replace(dry, dry_run=False)
    assert engram.activity("imported")[0].detail["sessions"] == 1


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("2025-01-15T12:00:00.000250", utc(2025, 1, 15, 11, 0, 0, 250)),
        ("2025-07-15T12:00:00", utc(2025, 7, 15, 10)),
        ("2025-10-26T02:30:00", utc(2025, 10, 26, 0, 30)),  # comes twice: the first turn
        ("2025-03-30T02:30:00", utc(2025, 3, 30, 1, 30)),  # never comes
        ("2025-07-15T12:00:00Z", utc(2025, 7, 15, 12)),
        ("2025-07-15T12:00:00-04:00", utc(2025, 7, 15, 16)),
    ],
)
def test_naive_times_are_local_to_where_they_were_written(
    engram: Engram, older: Older, written: str, meant: datetime
) -> None:
    session = older.session(started_at=written, last_heartbeat=written)
    assert import_engram(engram, older.path, timezone=BERLIN).mended == {}
    assert engram.get_session(session).started_at == meant


def test_without_a_zone_naive_times_are_local_here(
    engram: Engram, older: Older, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "EST5EDT,M3.2.0,M11.1.0")
    time.tzset()
    try:
        session = older.session(started_at="2025-07-15T12:00:00")
        import_engram(engram, older.path)
    finally:
        monkeypatch.undo()
        time.tzset()
    assert engram.get_session(session).started_at == utc(2025, 7, 15, 16)


@pytest.mark.parametrize("name", ["Mars/Base", "", "../etc", "Europe", "a\0b"])
def test_an_unknown_time_zone_is_refused(engram: Engram, older: Older, name: str) -> None:
    with pytest.raises(InvalidInput, match="timezone"):
        import_engram(engram, older.path, timezone=name)


@pytest.mark.parametrize(
    ("session_id", "meant"),
    [
        ("20250715-120000-0a1b2c3d", utc(2025, 7, 15, 10)),  # Python: local
        ("20250715120000-0a1b2c3d", utc(2025, 7, 15, 12)),  # Elixir: UTC
    ],
)
def test_a_time_that_cannot_be_read_is_taken_from_the_id(
    engram: Engram, older: Older, session_id: str, meant: datetime
) -> None:
    older.session(id=session_id, started_at="yesterday", last_heartbeat="")
    older.log(session_id, "one", timestamp="???")
    assert import_engram(engram, older.path, timezone=BERLIN).mended == {engram_rows.BROKEN_TIME: 3}
    session = engram.get_session(session_id)
    assert (session.started_at, session.last_heartbeat) == (meant, meant)
    assert engram.get_session_logs(session_id)[0].timestamp == meant


def test_a_broken_time_is_replaced_by_the_nearest_known_one(engram: Engram, older: Older) -> None:
    session = older.session(id="opaque", started_at="2025-07-01T00:00:00Z", last_heartbeat="0000-99-99")
    older.log(session, "one", timestamp="2025-07-03T00:00:00Z")
    older.log(session, "two", timestamp="9999999999")
    import_engram(engram, older.path)
    assert engram.get_session(session).last_heartbeat == utc(2025, 7, 1)
    assert engram.get_session_logs(session)[0].timestamp == utc(2025, 7, 3)


def test_a_time_in_the_future_does_not_make_a_session_active(engram: Engram, older: Older, tmp_path: Path) -> None:
    session = older.session(id="s", started_at="2025-07-01T00:00:00Z", last_heartbeat="2999-01-01T00:00:00")
    older.lock(session, str(tmp_path / "a.py"))
    done = import_engram(engram, older.path)
    assert (done.mended, done.locks) == ({engram_rows.FUTURE_TIME: 1}, 0)
    assert engram.get_session(session).presence == "stale"


def test_a_clock_slightly_ahead_is_accepted(engram: Engram, older: Older) -> None:
    session = older.session(ago=timedelta(minutes=-1))
    assert import_engram(engram, older.path).mended == {}
    assert engram.get_session(session).presence == "here"


def test_a_revived_session_is_active_and_its_completion_is_kept_in_its_place(engram: Engram, older: Older) -> None:
    """EP-B06: a heartbeat on a completed session left its completion on it."""
    session = older.session(completed_at="2025-07-02T00:00:00Z", completion_summary="shipped 1.0")
    older.log(session, "before", timestamp="2025-07-01T00:00:00Z")
    older.log(session, "after", timestamp="2025-07-03T00:00:00Z")
    assert import_engram(engram, older.path).mended == {engram_rows.REVIVED: 1}
    found = engram.get_session(session)
    assert (found.status, found.completed_at, found.completion_summary) == ("active", None, None)
    before, kept, after = entries(engram, session)
    assert (before, after) == ("before", "after")
    assert "2025-07-02" in kept
    assert "shipped 1.0" in kept


def test_a_completion_without_time_is_dated_by_the_last_sign_of_life(engram: Engram, older: Older) -> None:
    session = older.completed(completed_at=None, last_heartbeat="2025-07-02T00:00:00Z")
    assert import_engram(engram, older.path).mended == {engram_rows.UNDATED: 1}
    assert engram.get_session(session).completed_at == utc(2025, 7, 2)


def test_an_unknown_status_is_settled_and_remembered(engram: Engram, older: Older) -> None:
    paused, gone = older.session(status="paused"), older.completed(status="archived")
    older.session(status=" Active")
    assert import_engram(engram, older.path).mended == {engram_rows.STATUS: 2}
    assert [engram.get_session(item).status for item in (paused, gone)] == ["active", "completed"]
    assert entries(engram, paused) == ["Its status had been 'paused'."]


def test_a_text_over_the_limit_is_cut_and_kept_whole_in_the_log(engram: Engram, older: Older) -> None:
    summary, said, meta = "ä" * 40_000, "ö" * 600_000, "x" * 1_100_000
    session = older.completed(said, summary=summary, metadata=meta)
    assert import_engram(engram, older.path).mended == {engram_rows.LONG_TEXT: 3}
    found = engram.get_session(session)
    assert found.summary.startswith("äää")
    assert len(found.summary.encode()) <= 64 * 1024
    assert len((found.completion_summary or "").encode()) <= 1024 * 1024
    assert found.metadata is None
    assert all(len(entry.encode()) <= 1024 * 1024 for entry in entries(engram, session))
    whole = "".join(entries(engram, session))
    assert all(text in whole for text in (summary, said, meta))


def test_a_log_entry_over_the_limit_is_split(engram: Engram, older: Older) -> None:
    session = older.session()
    older.log(session, "é" * 900_000)
    done = import_engram(engram, older.path)
    assert (done.logs, done.mended) == (1, {LONG_ENTRY: 1})
    assert "".join(entries(engram, session)) == "é" * 900_000
    assert import_engram(engram, older.path).logs == 0


@pytest.mark.parametrize(
    ("entry", "stored", "note"),
    [
        ("a\0b\x1b[31m", "a␀b[31m", engram_rows.BROKEN_TEXT),
        (b"blob \xff", "blob \\xff", engram_rows.NOT_TEXT),
        (None, "(nothing)", engram_rows.ABSENT),
        (7.5, "7.5", None),  # SQLite itself turns it into text
        ("one\r\ntwo 🙂", "one\ntwo 🙂", None),
        ("", "", None),
    ],
)
def test_any_value_becomes_text(engram: Engram, loose: Older, entry: Any, stored: str, note: str | None) -> None:
    session = loose.session()
    loose.log(session, entry)
    assert import_engram(engram, loose.path).mended == ({note: 1} if note else {})
    assert entries(engram, session) == [stored]


def test_text_that_is_not_utf8_is_kept_readable(engram: Engram, older: Older) -> None:
    session = older.session()
    older.db.execute("insert into session_logs values (1, ?, '2025-06-01', cast(x'61eda080ff' as text))", (session,))
    older.log(session, "two")
    assert import_engram(engram, older.path).logs == 2
    assert entries(engram, session) == ["a\\xed\\xa0\\x80\\xff", "two"]


def test_a_session_of_nothing_but_nulls_loses_nothing(engram: Engram, loose: Older) -> None:
    nothing = dict.fromkeys(("session_type", "summary", "status", "started_at", "last_heartbeat"))
    loose.insert("sessions", id=None, **nothing)
    loose.insert("sessions", id=None, **(nothing | {"summary": "kept", "started_at": "2025-06-01"}))
    loose.insert("sessions", id="a\nb", **nothing)
    loose.insert("sessions", id="z" * 4000, **nothing)
    loose.log("a\nb", "its entry")
    loose.log(None, "nobody's entry")
    done = import_engram(engram, loose.path)
    assert (done.sessions, done.logs, done.mended[engram_rows.BROKEN_ID]) == (5, 2, 4)
    sessions = engram.get_active_sessions()
    assert {session.summary for session in sessions} == {"(no summary)", "kept"}
    assert ["its entry"] in [entries(engram, session.id) for session in sessions]
    assert import_engram(engram, loose.path).sessions == 0


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ('{"a": [1, "\\u0000"]}', {"a": [1, "\0"]}),
        ("plain words", "plain words"),
        ("NaN", "NaN"),
        ("[" * 100_000, "[" * 100_000),
        ("", ""),
        (None, None),
    ],
)
def test_metadata_is_json_or_the_text_itself(engram: Engram, older: Older, given: str | None, found: Any) -> None:
    session = older.session(metadata=given)
    assert import_engram(engram, older.path).mended == {}
    assert engram.get_session(session).metadata == found


def test_orphan_log_entries_get_a_session(engram: Engram, older: Older) -> None:
    """EP-B07: foreign keys were never enforced."""
    older.log("20250101-000000-deadbeef", "one", timestamp="2025-01-01T00:00:00Z")
    older.log("20250101-000000-deadbeef", "two", timestamp="2025-01-02T00:00:00Z")
    done = import_engram(engram, older.path)
    assert (done.sessions, done.logs, done.mended) == (1, 2, {RECOVERED: 1})
    session = engram.get_session("20250101-000000-deadbeef")
    assert (session.status, session.session_type, session.flavor) == ("completed", "unknown", "unknown")
    assert "orphan log entries" in session.summary
    assert (session.started_at, session.completed_at) == (utc(2025, 1, 1), utc(2025, 1, 2))


def test_a_lock_of_a_session_that_is_here_is_taken_over(engram: Engram, older: Older, tmp_path: Path) -> None:
    session = older.session(ago=timedelta(minutes=5))
    older.lock(session, str(tmp_path / "a.py"), note="renaming")
    assert import_engram(engram, older.path).locks == 1
    (lock,) = engram.list_locks()
    assert (lock.session_id, lock.resource, lock.note) == (session, str(tmp_path / "a.py"), "renaming")
    quiet = datetime.now(timezone.utc) - engram.get_session(session).last_heartbeat
    assert timedelta(minutes=5) <= quiet < timedelta(minutes=6)
    until = lock.until
    assert import_engram(engram, older.path).locks == 0
    assert abs(engram.list_locks()[0].until - until) < timedelta(milliseconds=100)


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        ({"ago": timedelta(minutes=31)}, "silent for 31 min"),
        ({"status": "completed"}, "completed"),
        ({"resource": "src/app.py"}, "relative"),
        ({"resource": " "}, "empty"),
        ({"holder": "nobody"}, "does not exist"),
    ],
)
def test_a_lock_that_means_nothing_any_more_is_dropped_by_name(
    engram: Engram, older: Older, tmp_path: Path, facts: dict[str, Any], reason: str
) -> None:
    facts = dict(facts)
    resource = facts.pop("resource", str(tmp_path / "a.py"))
    holder = facts.pop("holder", None) or older.session(**facts)
    older.lock(holder, resource, note="wip")
    done = import_engram(engram, older.path)
    assert done.locks == 0
    assert engram.list_locks() == []
    (dropped,) = done.dropped
    assert all(part in dropped for part in (resource.strip(), holder, "wip", reason))


def test_a_long_note_on_a_lock_is_kept_whole(engram: Engram, older: Older, tmp_path: Path) -> None:
    session = older.session()
    older.lock(session, str(tmp_path / "a.py"), note="n" * 70_000)
    assert import_engram(engram, older.path).mended == {LONG_NOTE: 1}
    assert len(engram.list_locks()[0].note or "") < 65_536
    assert "n" * 70_000 in entries(engram, session)[0]


def test_locks_left_on_a_completed_session_are_counted_once(engram: Engram, older: Older, tmp_path: Path) -> None:
    """EX-B09: completing and releasing were two statements."""
    older.lock(older.completed(), str(tmp_path / "a.py"))
    assert import_engram(engram, older.path).mended == {HELD_ON: 1}
    assert import_engram(engram, older.path).mended == {}


def test_of_two_holders_the_first_keeps_the_lock(engram: Engram, older: Older, tmp_path: Path) -> None:
    """EP-033: several sessions could hold one resource."""
    late, early = older.session(), older.session()
    older.lock(late, str(tmp_path / "a.py"), at="2025-06-02T00:00:00Z")
    older.lock(early, str(tmp_path / "a.py"), at="2025-06-01T00:00:00Z")
    done = import_engram(engram, older.path)
    assert [lock.session_id for lock in engram.list_locks()] == [early]
    assert early in done.dropped[0]


def test_existing_locks_keep_their_holders(engram: Engram, older: Older, repository: Path) -> None:
    mine = engram.register("codex", "edit", cwd=str(repository))
    engram.lock_resource(mine, "src")
    older.lock(older.session(), str(repository / "src" / "app.py"))
    done = import_engram(engram, older.path)
    assert [lock.session_id for lock in engram.list_locks()] == [mine]
    assert mine in done.dropped[0]
    assert engram.stats().conflicts_prevented == 0


def test_an_imported_world_state_goes_beneath_the_one_people_see(engram: Engram, older: Older) -> None:
    engram.set_world_state("# Ours", updated_by="ann")
    older.world("# Theirs", by="bob")
    seen = engram.world_state()
    assert import_engram(engram, older.path).world_versions == 1
    now = engram.world_state()
    assert (now.content, now.updated_by, now.updated_at) == (seen.content, "ann", seen.updated_at)
    history = [(state.version, state.content, state.updated_by) for state in engram.world_history()]
    assert history == [(3, "# Ours", "ann"), (2, "# Theirs", "bob"), (1, "# Ours", "ann")]
    assert import_engram(engram, older.path).world_versions == 0
    older.world("# Theirs, later")
    assert import_engram(engram, older.path).world_versions == 1
    assert engram.get_world_state() == "# Ours"


def test_an_identical_world_state_adds_no_version(engram: Engram, older: Older) -> None:
    engram.set_world_state("# Same")
    older.world("# Same")
    assert import_engram(engram, older.path).world_versions == 0
    assert engram.world_state().version == 1


def test_an_oversized_world_state_comes_whole(engram: Engram, older: Older) -> None:
    older.world("words " * 300_000)
    import_engram(engram, older.path)
    assert engram.get_world_state() == "words " * 300_000


def test_an_empty_world_state_is_not_imported(engram: Engram, older: Older) -> None:
    older.world("")
    assert import_engram(engram, older.path).world_versions == 0
    assert engram.stats().world_versions == 0


def test_a_newer_copy_brings_news(engram: Engram, older: Older, tmp_path: Path) -> None:
    session = older.session(ago=timedelta(minutes=5))
    older.log(session, "one")
    older.lock(session, str(tmp_path / "a.py"))
    import_engram(engram, older.path)
    done = Elixir().stamp(datetime.now(timezone.utc))
    older.db.execute("update sessions set status='completed', completed_at=?, completion_summary='shipped'", (done,))
    older.db.execute("delete from resource_locks")
    older.log(session, "two")
    news = import_engram(engram, older.path)
    assert (news.sessions, news.updated, news.logs, news.already_here) == (0, 1, 1, 1)
    found = engram.get_session(session)
    assert (found.status, found.completion_summary, entries(engram, session)) == (
        "completed",
        "shipped",
        ["one", "two"],
    )
    assert engram.list_locks() == []


def test_an_older_copy_undoes_nothing(engram: Engram, older: Older, tmp_path: Path) -> None:
    session = older.session()
    older.log(session, "one")
    older.lock(session, str(tmp_path / "a.py"))
    older.db.execute("vacuum into ?", (str(tmp_path / "copy.db"),))
    older.log(session, "two")
    older.db.execute("delete from resource_locks")
    now = Elixir().stamp(datetime.now(timezone.utc))
    older.db.execute("update sessions set status='completed', completed_at=?, completion_summary='done'", (now,))
    import_engram(engram, older.path)
    before = engram.get_session(session)
    done = import_engram(engram, str(tmp_path / "copy.db"))
    assert (done.sessions, done.updated, done.logs, done.locks) == (0, 0, 0, 0)
    assert engram.get_session(session) == before


def test_copies_that_parted_give_all_their_entries(engram: Engram, older: Older, tmp_path: Path) -> None:
    session = older.session()
    older.log(session, "shared")
    older.db.execute("vacuum into ?", (str(tmp_path / "copy.db"),))
    copy = Older(tmp_path / "copy.db")
    older.log(session, "here")
    copy.log(session, "there")
    assert [import_engram(engram, item.path).logs for item in (older, copy)] == [2, 1]
    assert entries(engram, session) == ["shared", "here", "there"]


@pytest.mark.parametrize("act", ["heartbeat", "log", "complete"])
def test_a_session_that_lived_on_here_is_never_overwritten(
    engram: Engram, older: Older, tmp_path: Path, act: str
) -> None:
    session = older.session()
    older.lock(session, str(tmp_path / "a.py"))
    import_engram(engram, older.path)
    acts: dict[str, Callable[[], object]] = {
        "heartbeat": lambda: engram.heartbeat(session, "mine now"),
        "log": lambda: engram.log(session, "mine"),
        "complete": lambda: engram.complete(session, "mine"),
    }
    acts[act]()
    engram.release_all(session)
    before = engram.get_session(session)
    done = Elixir().stamp(datetime.now(timezone.utc))
    older.db.execute("update sessions set status='completed', completed_at=?, completion_summary='theirs'", (done,))
    for _ in range(2):
        assert import_engram(engram, older.path).updated == 0
    assert engram.get_session(session) == before
    assert engram.list_locks() == []
    assert sum("theirs" in entry for entry in entries(engram, session)) == 1


def test_a_lock_taken_since_is_taken_over_and_changes_nothing_else(
    engram: Engram, older: Older, tmp_path: Path
) -> None:
    session = older.session()
    import_engram(engram, older.path)
    before = engram.get_session(session)
    older.lock(session, str(tmp_path / "a.py"))
    assert import_engram(engram, older.path).locks == 1
    assert engram.get_session(session) == before


def test_two_imports_at_once_add_everything_once(engram: Engram, older: Older) -> None:
    for number in range(20):
        older.log(older.session(), f"entry {number}")
    older.world("# Muse")
    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda _: import_engram(engram, older.path), range(4)))
    assert [sum(counts) for counts in zip(*((d.sessions, d.logs, d.world_versions) for d in done), strict=True)] == [
        20, 20, 1,
    ]  # fmt: skip
    assert (engram.stats().total_logs, engram.stats().world_versions) == (20, 1)


def test_a_file_in_a_closed_directory_is_read_as_it_is(engram: Engram, tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir()
    older = Older(tmp_path / "closed" / "older.db")
    older.session()
    older.db.close()
    (tmp_path / "closed").chmod(0o500)
    try:
        assert import_engram(engram, older.path).sessions == 1
    finally:
        (tmp_path / "closed").chmod(0o700)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_log_that_cannot_be_read_is_not_passed_over(engram: Engram, older: Older, tmp_path: Path) -> None:
    older.session()
    (tmp_path / "closed").mkdir()
    for end in ("", "-wal"):
        shutil.copy(older.path + end, str(tmp_path / "closed" / "older.db") + end)
    (tmp_path / "closed").chmod(0o500)
    log = tmp_path / "closed" / "older.db-wal"
    try:
        log.chmod(0)
        with pytest.raises(ImportRefused, match="-wal"):
            import_engram(engram, str(tmp_path / "closed" / "older.db"))
        log.chmod(0o600)
        assert import_engram(engram, str(tmp_path / "closed" / "older.db")).sessions == 1
    finally:
        (tmp_path / "closed").chmod(0o700)


def test_rows_only_in_the_log_of_a_live_database_are_read(engram: Engram, older: Older) -> None:
    older.db.pragma("wal_autocheckpoint", 0)
    older.db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    session = older.session(summary="still in the log")
    assert os.path.getsize(older.path + "-wal") > 0
    older.db.execute("begin immediate")  # and another program is writing at this moment
    older.log(session, "not yet committed")
    done = import_engram(engram, older.path)
    older.db.execute("rollback")
    assert (done.sessions, done.logs) == (1, 0)
    assert engram.get_session(session).summary == "still in the log"


def test_nothing_is_written_to_the_source(engram: Engram, older: Older) -> None:
    older.log(older.session(), "one")
    before = older.db.serialize("main"), older.db.total_changes(), older.db.data_version()
    import_engram(engram, older.path)
    assert (older.db.serialize("main"), older.db.total_changes(), older.db.data_version()) == before


@pytest.mark.parametrize("name", ["what?.db", "100%20.db", "a#b.db", "ä ö.db"])
def test_any_file_name_will_do(engram: Engram, tmp_path: Path, name: str) -> None:
    Older(tmp_path / name).session()
    assert import_engram(engram, str(tmp_path / name)).sessions == 1


def test_extra_or_missing_tables_and_columns_are_tolerated(engram: Engram, older: Older) -> None:
    session = older.session()
    for table in ("world_state", "resource_locks", "session_logs"):
        older.db.execute(f"drop table {table}")
    older.db.execute("alter table sessions drop column metadata; alter table sessions add column colour text")
    older.db.execute("create table other (x)")
    assert import_engram(engram, older.path).sessions == 1
    assert engram.get_session(session).summary == "tidy the parser"


def test_logs_and_locks_alone_are_imported(engram: Engram, older: Older) -> None:
    older.db.execute("drop table sessions")
    older.log("x", "one")
    older.lock("x", "/a")
    done = import_engram(engram, older.path)
    assert (done.sessions, done.logs, len(done.dropped)) == (1, 1, 1)


def test_what_is_not_an_older_engram_is_refused_with_the_reason(engram: Engram, tmp_path: Path) -> None:
    text, empty, other, almost = (tmp_path / name for name in ("text.db", "empty.db", "other.db", "almost.db"))
    text.write_text("not a database, but long enough to look at " * 100)
    empty.touch()
    apsw.Connection(str(other)).execute("create table things (id)")
    apsw.Connection(str(almost)).execute("create table sessions (id, summary, status, session_type, started_at)")
    os.mkfifo(tmp_path / "pipe.db")
    reasons = {
        "nowhere.db": "no such file", "": "directory", "text.db": "not a SQLite database", "pipe.db": "regular file",
        "empty.db": "sessions, session_logs, resource_locks, world_state", "other.db": "none of the tables",
        "almost.db": "sessions lacks last_heartbeat",
    }  # fmt: skip
    for name, reason in reasons.items():
        with pytest.raises(ImportRefused, match=reason):
            import_engram(engram, str(tmp_path / name))
    assert engram.stats().total_sessions == 0


def test_our_own_stores_are_refused(tmp_path: Path) -> None:
    with Engram(tmp_path / "one") as one, Engram(tmp_path / "two") as two:
        with pytest.raises(ImportRefused, match="store in use"):
            import_engram(one, one.settings.store)
        with pytest.raises(ImportRefused, match="store of this Engram"):
            import_engram(one, two.settings.store)


def test_a_damaged_file_changes_nothing(engram: Engram, older: Older) -> None:
    session = older.session()
    for number in range(2000):
        older.log(session, f"entry {number} " * 20)
    older.db.pragma("journal_mode", "delete")
    older.db.close()
    pages = bytearray(Path(older.path).read_bytes())
    pages[20 * 4096 : 40 * 4096] = os.urandom(20 * 4096)
    Path(older.path).write_bytes(pages)
    with pytest.raises(ImportRefused, match="damaged"):
        import_engram(engram, older.path)
    assert engram.stats().total_sessions == 0


def test_many_entries_are_imported_in_order(engram: Engram, older: Older) -> None:
    ids = [older.session(ago=timedelta(days=n)) for n in range(20)]
    rows = [(ids[n % 20], "2025-06-01T10:00:00.000001", f"entry {n}") for n in range(5_000)]
    with older.db:
        older.db.executemany("insert into session_logs (session_id, timestamp, entry) values (?, ?, ?)", rows)
    assert import_engram(engram, older.path).logs == 5_000
    assert entries(engram, ids[3])[:3] == ["entry 3", "entry 23", "entry 43"]
