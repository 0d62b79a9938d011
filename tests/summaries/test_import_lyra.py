"""Import of a Lyra memory: completely and once."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import apsw
import pytest

from engram import Engram, ImportRefused, StoreDamaged
from engram.importers import repairs
from engram.importers.lyra import import_database
from engram.store import documents
from tests.summaries.talking import passages

SCHEMA = """
create table exchanges (id integer primary key autoincrement, session_id text not null, role text not null,
  content text not null, embedding blob not null, created_at text not null);
create index idx_session_created on exchanges (session_id, created_at);
create table sessions (id text primary key, name text, created_at text not null);
create table summaries (session_id text primary key, content text not null, embedding blob not null,
  last_exchange_id integer not null, created_at text not null);
create table profile (id text primary key, content text not null, sessions_covered integer not null,
  updated_at text not null);
create table eras (month text primary key, content text not null, embedding blob not null,
  session_count integer not null, created_at text not null);
create table narrative (id text primary key, content text not null, updated_at text not null);
create table self_state (id text primary key, data text not null, updated_at text not null);
"""
VECTOR = struct.pack("<8f", *range(8))
NOON = "2026-03-10T12:00:00+00:00"


class Lyra:
    """A Lyra database that tests can change."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)
        self.db = apsw.Connection(self.path)
        self.db.execute(SCHEMA)

    def add(self, table: str, *values: Any) -> int:
        """Add a row."""
        slots = ", ".join("?" * len(values))
        names = "(session_id, role, content, embedding, created_at)" if table == "exchanges" else ""
        self.db.execute(f"insert into {table} {names} values ({slots})", values)
        return self.db.last_insert_rowid()


@pytest.fixture
def lyra(tmp_path: Path) -> Lyra:
    return Lyra(tmp_path / "lyra.db")


@pytest.fixture
def whole(lyra: Lyra) -> Lyra:
    """A database with data in every table."""
    lyra.add("sessions", "chat", "About the garden", NOON)
    lyra.add("exchanges", "chat", "user", "I have a garden with nine apple trees.", VECTOR, NOON)
    last = lyra.add("exchanges", "chat", "assistant", "How lovely, nine trees!", VECTOR, "2026-03-10T12:01:00+00:00")
    lyra.add("exchanges", "chat", "user", "One of them fell in the storm.", VECTOR, "2026-03-12T12:00:00+00:00")
    lyra.add("summaries", "chat", "They grow apples.", VECTOR, last, NOON)
    lyra.add("eras", "2026-03", "A month of apples.", VECTOR, 1, NOON)
    lyra.add("profile", "self", "Grows apples.", 1, NOON)
    lyra.add("narrative", "current", "The trees are growing.", NOON)
    lyra.add("self_state", "lyra", '{"mood": "calm", "drives": {"curiosity": 0.3}}', NOON)
    return lyra


def test_everything_is_taken_over(engram: Engram, whole: Lyra) -> None:
    done = engram.import_lyra(whole.path)
    assert (done.sessions, done.exchanges, done.gists, done.eras, done.documents) == (1, 3, 1, 1, 3)
    assert (done.mended, done.failed, done.vectors) == ({}, (), {"8 dimensions": 3})
    session = engram.get_session("chat")
    assert (session.flavor, session.summary, session.status) == ("lyra", "About the garden", "completed")
    assert session.last_heartbeat.isoformat() == "2026-03-12T12:00:00+00:00"
    first = engram.history("chat")[0]
    assert (first.content, first.origin) == ("I have a garden with nine apple trees.", "import")
    assert first.created_at.isoformat() == NOON
    gist = engram.get_summary("chat")
    assert gist is not None
    assert (gist.content, gist.exchanges, gist.unsummarized, gist.made_by) == ("They grow apples.", 2, 1, "import lyra")
    assert gist.trust == "import"
    assert [(era.month, era.content, era.session_count) for era in engram.list_eras()] == [
        ("2026-03", "A month of apples.", 1)
    ]
    assert (engram.get_profile(), engram.profile_sessions_covered()) == ("Grows apples.", 1)
    assert engram.get_narrative() == "The trees are growing."
    assert engram.get_self_state() == {"mood": "calm", "drives": {"curiosity": 0.3}}
    assert passages(engram, "gist") == {"chat": "They grow apples."}


def test_importing_again_adds_nothing(engram: Engram, whole: Lyra) -> None:
    engram.import_lyra(whole.path)
    again = engram.import_lyra(whole.path)
    assert (again.sessions, again.exchanges, again.gists, again.eras, again.documents) == (0, 0, 0, 0, 0)
    assert again.already_here == 8
    assert len(engram.history("chat")) == 3
    assert documents.count_versions(engram.engine, "gist") == 1


def test_what_is_new_in_the_source_comes_with_the_next_import(engram: Engram, whole: Lyra) -> None:
    engram.import_lyra(whole.path)
    last = whole.add("exchanges", "chat", "user", "I planted a tenth tree.", VECTOR, "2026-03-20T12:00:00+00:00")
    whole.db.execute("update summaries set content = 'They planted anew.', last_exchange_id = ?", (last,))
    done = engram.import_lyra(whole.path)
    assert (done.sessions, done.exchanges, done.gists) == (0, 1, 1)
    gist = engram.get_summary("chat")
    assert gist is not None
    assert (gist.content, gist.version, gist.unsummarized) == ("They planted anew.", 2, 0)


def test_a_dry_run_tells_the_same_and_writes_nothing(engram: Engram, whole: Lyra) -> None:
    whole.add("exchanges", "other", "user", "Without a row of its own.", VECTOR, NOON)
    before = engram.stats()
    tried = engram.import_lyra(whole.path, dry_run=True)
    assert engram.stats() == before
    assert engram.backlog_stats().sessions == 0
    done = engram.import_lyra(whole.path)
    facts = ("sessions", "exchanges", "gists", "eras", "documents", "mended", "failed", "vectors")
    assert [getattr(tried, name) for name in facts] == [getattr(done, name) for name in facts]
    assert tried.dry_run


def test_odd_rows_are_mended_and_counted(engram: Engram, lyra: Lyra) -> None:
    lyra.add("exchanges", "a", "user", "with a \0 inside", b"\0" * 6, NOON)
    lyra.add("exchanges", "a", "user", "in local time", VECTOR, "2026-03-10T13:30:00+01:00")
    lyra.add("exchanges", "a", "user", "without a zone", VECTOR, "2026-03-10T13:00:00")
    lyra.add("exchanges", "a", "user", "at no time", VECTOR, "yesterday")
    lyra.add("exchanges", "a", "user", "in the far future", VECTOR, "9999-01-01T00:00:00+00:00")
    lyra.add("exchanges", "a", "user", "as a number", VECTOR, 1773147600.5)
    lyra.add("exchanges", "a", "user", "   ", VECTOR, NOON)
    lyra.add("exchanges", "a", "user", b"as bytes \xff\xfe", VECTOR, NOON)
    lyra.add("self_state", "lyra", '{"mood": ', NOON)
    done = engram.import_lyra(lyra.path)
    assert (done.exchanges, done.failed) == (7, ())
    assert done.mended == {
        repairs.NO_ROW: 1, repairs.BROKEN_TEXT: 2, repairs.OTHER_ZONE: 1, repairs.NO_ZONE: 2,
        repairs.NO_TIME: 2, repairs.EMPTY: 1, repairs.ODD_VECTOR: 1, repairs.UNREADABLE: 1,
    }  # fmt: skip
    times = {version.content: f"{version.created_at:%H:%M}" for version in engram.history("a")}
    assert times["in local time"] == "12:30"
    assert times["at no time"] == times["without a zone"] == "13:00"
    assert engram.get_self_state() is None


def test_a_row_that_cannot_be_kept_stops_no_other(engram: Engram, whole: Lyra) -> None:
    whole.add("eras", "long ago", "Not a month, but kept by that name.", VECTOR, 1, NOON)
    whole.add("profile", "x" * 5000, "Of a name no store takes.", 1, NOON)
    done = engram.import_lyra(whole.path)
    assert (done.exchanges, done.documents) == (3, 3)
    assert len(done.failed) == 2
    assert all(each.startswith(("profile xxx", "eras long")) for each in done.failed)


def test_secrets_are_removed_before_anything_is_written(engram: Engram, lyra: Lyra) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    lyra.add("sessions", "a", f"about {secret}", NOON)
    lyra.add("exchanges", "a", "user", f"My token is {secret}, keep it.", VECTOR, NOON)
    lyra.add("summaries", "a", f"The token {secret} was given.", VECTOR, 1, NOON)
    lyra.add("profile", "self", f"Uses {secret}.", 1, NOON)
    lyra.add("self_state", "lyra", f'{{"memory": "{secret}"}}', NOON)
    done = engram.import_lyra(lyra.path)
    assert sum(done.redacted.values()) >= 5
    for table in ("exchanges", "documents", "passages", "sessions"):
        assert secret not in str(engram.engine.run(f"select * from {table}"))


def test_what_was_made_here_since_is_newer_and_stays(engram: Engram, whole: Lyra) -> None:
    engram.import_lyra(whole.path)
    engram.set_profile("Sells apples.")
    engram.set_self_state({"mood": "busy"})
    whole.db.execute("update profile set content = 'Grows pears.'; update self_state set data = '{\"mood\": \"sad\"}'")
    done = engram.import_lyra(whole.path)
    assert done.mended == {repairs.NEWER: 2}
    assert (engram.get_profile(), engram.get_self_state()) == ("Sells apples.", {"mood": "busy"})


def test_a_session_that_was_deleted_here_does_not_come_back(engram: Engram, whole: Lyra) -> None:
    engram.import_lyra(whole.path)
    engram.delete_session("chat")
    done = engram.import_lyra(whole.path)
    assert (done.sessions, done.exchanges, done.gists) == (0, 0, 0)
    assert (done.mended[repairs.DELETED], done.mended[repairs.FORGOTTEN]) == (3, 3)
    assert (engram.list_eras(), engram.get_profile(), engram.get_narrative()) == ([], None, None)


def test_forgetting_an_imported_session_forgets_what_lyra_made_of_it(engram: Engram, whole: Lyra) -> None:
    engram.import_lyra(whole.path)
    engram.delete_session("chat")
    assert (engram.list_eras(), engram.get_profile(), engram.get_narrative()) == ([], None, None)


def test_an_id_that_is_taken_here_is_told_apart(engram: Engram, whole: Lyra) -> None:
    engram.remember("chat", "user", "I was here first.")
    engram.import_lyra(whole.path)
    assert [version.content for version in engram.history("chat")] == ["I was here first."]
    assert len(engram.history("lyra-chat")) == 3
    assert engram.import_lyra(whole.path).exchanges == 0


def test_the_watermark_is_by_time_where_ids_are_not(engram: Engram, lyra: Lyra) -> None:
    mark = lyra.add("exchanges", "a", "user", "said in May", VECTOR, "2026-05-01T12:00:00+00:00")
    lyra.add("exchanges", "a", "user", "said in March, imported later", VECTOR, "2026-03-01T12:00:00+00:00")
    lyra.add("summaries", "a", "May.", VECTOR, mark, NOON)
    engram.import_lyra(lyra.path)
    assert engram.unsummarized_count("a") == 2  # the messages before it are not covered, so neither is the rest


def test_progress_is_told(engram: Engram, lyra: Lyra) -> None:
    for n in range(1200):
        lyra.add("exchanges", f"s{n % 3}", "user", f"Message number {n} of many.", VECTOR, NOON)
    seen: list[tuple[int, int]] = []
    done = import_database(engram, lyra.path, progress=lambda now, total, _: seen.append((now, total)))
    assert done.exchanges == 1200
    assert seen[-1] == (1200, 1200)
    assert len(seen) > 2


def test_a_database_in_another_encoding_is_read(engram: Engram, tmp_path: Path) -> None:
    other = apsw.Connection(str(tmp_path / "wide.db"))
    other.execute("pragma encoding = 'UTF-16le'")
    other.execute(SCHEMA)
    other.execute("insert into exchanges values (1, 'a', 'user', 'Grüße aus Köln', x'', '2026-03-10T12:00:00+00:00')")
    assert engram.import_lyra(str(tmp_path / "wide.db")).exchanges == 1
    assert engram.history("a")[0].content == "Grüße aus Köln"


def test_what_is_no_lyra_is_refused(engram: Engram, tmp_path: Path) -> None:
    with pytest.raises(ImportRefused, match="no such file"):
        engram.import_lyra(str(tmp_path / "nothing.db"))
    apsw.Connection(str(tmp_path / "other.db")).execute("create table exchanges (id integer primary key)")
    with pytest.raises(ImportRefused, match="not a Lyra database"):
        engram.import_lyra(str(tmp_path / "other.db"))
    (tmp_path / "words.db").write_text("just words, " * 100)
    with pytest.raises(StoreDamaged):
        engram.import_lyra(str(tmp_path / "words.db"))
