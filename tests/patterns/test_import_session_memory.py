"""Import of a session_memory store: sessions, digests, and patterns as candidates."""

from __future__ import annotations

import json
from pathlib import Path

import apsw
import pytest

from engram import Engram, ImportRefused
from engram.store import patterns
from tests.patterns import plots
from tests.patterns.writers import Claude

SCHEMA = """
create table sessions (session_uid text primary key, flavor text, repo text, started_at text, ended_at text, x blob);
create table digests (session_uid text primary key, outcome text, data text, schema_version integer);
create table patterns (id text primary key, kind text, title text, frequency integer, cross_flavor integer,
  evidence text);
"""


def forge(path: Path) -> Path:
    """Write a store with some facts in columns and others in JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with apsw.Connection(str(path)) as db:
        db.execute(SCHEMA)
        for name, flavor in (("claude:aaa", "claude"), ("grok:bbb", "grok"), ("codex:ccc", "codex")):
            at = "2026-06-01T10:00:00+00:00"
            db.execute("insert into sessions values (?, ?, '/srv/app', ?, ?, x'00ff')", (name, flavor, at, at))
            error = "ConnectionError: the report server refused the connection ×3 [python report.py]"
            facts = {"goal": "Speed the report up", "errors": [error], "tokens": 5}
            db.execute("insert into digests values (?, 'failed', ?, 2)", (name, json.dumps(facts)))
        named = json.dumps(["claude:aaa", {"session_uid": "grok:bbb"}])
        db.execute("insert into patterns values ('x1', 'problem', 'Lock file is stale <!-- x -->', 4, 1, ?)", (named,))
        db.execute("insert into patterns values ('x2', 'success', 'Run it twice', 2, 0, '[\"nobody\"]')")
    return path


def test_sessions_digests_and_patterns_come_once(engram: Engram, tmp_path: Path) -> None:
    place = forge(tmp_path / "forge" / ".store" / "memory.db").parents[1]
    assert engram.import_session_memory(str(place), dry_run=True).sessions == 3
    assert engram.list_sessions() == []
    taken = engram.import_session_memory(str(place))
    assert (taken.sessions, taken.digests, taken.patterns, taken.already_here) == (3, 3, 1, 0)
    assert taken.failed == ("patterns: Run it twice: does not name a session known here",)
    digest = engram.get_digest("aaa")
    assert (digest.outcome, digest.facts["goal"]) == ("failure", "Speed the report up")
    again = engram.import_session_memory(str(place))
    assert (again.sessions, again.digests, again.already_here) == (0, 0, 6)


def test_a_pattern_is_a_candidate_of_the_sessions_it_names(engram: Engram, tmp_path: Path) -> None:
    engram.import_session_memory(str(forge(tmp_path / "memory.db")))
    detection = engram.detect()
    lock = next(candidate for candidate in detection.candidates if "Lock file" in candidate.title)
    assert (lock.cross_flavor, lock.sessions, lock.times) == (True, 2, 4)
    assert "<" not in lock.title
    row = patterns.get(engram.engine, lock.id)
    assert row is not None
    assert row["state"] == patterns.CANDIDATE


def test_the_digests_of_imported_sessions_are_looked_through(engram: Engram, tmp_path: Path) -> None:
    engram.import_session_memory(str(forge(tmp_path / "memory.db")))
    kinds = {candidate.kind: candidate for candidate in engram.detect(statistics=True).candidates}
    assert kinds["failing-command"].sessions == 3
    assert kinds["failing-command"].flavors == ("claude", "codex", "grok")


def test_a_session_that_was_captured_here_keeps_its_own_digest(engram: Engram, tmp_path: Path) -> None:
    made = Claude(tmp_path / "user", "mine")
    plots.correction(made, 0)
    engram.ingest([str(tmp_path / "user")])
    mine = engram.list_sessions()[0].session
    path = forge(tmp_path / "memory.db")
    with apsw.Connection(str(path)) as db:
        db.execute("update sessions set session_uid = ? where flavor = 'claude'", (f"claude:{mine.native_id}",))
        db.execute("update digests set session_uid = ? where session_uid = 'claude:aaa'", (f"claude:{mine.native_id}",))
    before = engram.get_digest(mine.id)
    assert engram.import_session_memory(str(path)).already_here == 2
    assert engram.get_digest(mine.id) == before


@pytest.mark.parametrize("name", ["nothing.db", "empty", "other.db"])
def test_what_is_no_such_store_is_refused(engram: Engram, tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    with apsw.Connection(str(tmp_path / "other.db")) as db:
        db.execute("create table sessions (id text)")
    with pytest.raises(ImportRefused):
        engram.import_session_memory(str(tmp_path / name))
