"""Events and bodies of a session_memory store in all their formats, and imported digests."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import apsw
import pytest

from engram import Engram
from engram.capture.digests.fold import VERSION
from engram.platform.zstd import zstd
from tests.capture.transcripts import Claude

AT = "2026-06-01T10:{:02}:00+00:00"


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "user"))


def store(root: Path, events: str, rows: list[tuple[Any, ...]], *, extra: str = "", session: str = "claude:s1") -> Path:
    """Write a store with one session and events with some columns."""
    place = root / ".store"
    (place / "blobs").mkdir(parents=True, exist_ok=True)
    with apsw.Connection(str(place / "session_memory.db")) as db:
        db.execute("create table sessions (session_uid text primary key, flavor text, repo text, started_at text)")
        db.execute("create table digests (session_uid text primary key, outcome text, summary text, lessons text)")
        db.execute(f"create table session_events (session_uid text, {events}); {extra}")
        row = (session, session.partition(":")[0], "/srv/mill", AT.format(0))
        db.execute("insert into sessions values (?, ?, ?, ?)", row)
        for each in rows:
            slots = ", ".join("?" * (len(each) + 1))
            db.execute(f"insert into session_events values ({slots})", (session, *each))
    return place


def told(engram: Engram, session: str = "s1") -> list[str]:
    return [event.text for event in engram.get_events(session)]


@pytest.mark.parametrize(
    ("name", "reference"),
    [
        ("blobs/ab/cdef.txt", "abcdef"),
        ("blobs/ab/cdef", "sha256:abcdef"),
        ("blobs/abcdef.txt", "/old/machine/.store/blobs/abcdef.txt"),
        ("blobs/abcdef.txt", "blobs\\abcdef.txt"),
        ("bodies/claude_s1/1.txt", "bodies/claude_s1/1.txt"),
        ("blobs/claude_s1/1.txt", None),
        ("blobs/s1/1.txt", None),
    ],
)
@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstd.compress])
def test_a_body_is_found_by_whatever_names_it(
    engram: Engram, tmp_path: Path, name: str, reference: str | None, pack: Any
) -> None:
    place = store(tmp_path, "seq integer, kind text, role text, body_ref text", [(1, "message", "user", reference)])
    (place / name).parent.mkdir(parents=True, exist_ok=True)
    (place / name).write_bytes(pack(b"Which gear squeaks?"))
    taken = engram.import_session_memory(str(place))
    assert (taken.bodies, taken.left) == (1, ())
    assert told(engram) == ["Which gear squeaks?"]


def test_texts_in_columns_and_in_json_are_read(engram: Engram, tmp_path: Path) -> None:
    call = json.dumps({"arguments": {"command": "make mill"}, "tool_name": "Bash", "call_id": "c1"})
    result = json.dumps({"output": "gear 4 broke", "is_error": True, "call_id": "c1"})
    rows = [("user_message", "Build the mill", None), ("tool_use", None, call), ("tool_result", None, result)]
    engram.import_session_memory(str(store(tmp_path, "type text, content text, payload text", rows)))
    asked, called, answered = engram.get_events("s1")
    assert (asked.kind, asked.role, asked.text) == ("message", "user", "Build the mill")
    assert (called.kind, called.name, called.arguments) == ("call", "Bash", {"command": "make mill"})
    assert (answered.kind, answered.verdict, answered.text) == ("result", "error", "gear 4 broke")
    assert called.call_id == answered.call_id


def test_lines_of_one_file_are_the_bodies_of_as_many_rows(engram: Engram, tmp_path: Path) -> None:
    rows = [(1, "message", "user"), (2, "message", "assistant")]
    place = store(tmp_path, "seq integer, kind text, role text", rows)
    lines = [{"seq": 1, "text": "Grind it"}, {"seq": 2, "text": "Ground."}]
    (place / "blobs" / "claude_s1.jsonl.gz").write_bytes(gzip.compress("\n".join(map(json.dumps, lines)).encode()))
    engram.import_session_memory(str(place))
    assert told(engram) == ["Grind it", "Ground."]


def test_what_is_new_in_the_store_comes_with_the_next_import(engram: Engram, tmp_path: Path) -> None:
    place = store(tmp_path, "seq integer, kind text, role text, text text", [(1, "message", "user", "first words")])
    engram.import_session_memory(str(place))
    with apsw.Connection(str(place / "session_memory.db")) as db:
        db.execute("insert into session_events values ('claude:s1', 2, 'message', 'assistant', 'second words')")
    assert engram.import_session_memory(str(place)).events == 1
    assert told(engram) == ["first words", "second words"]


def test_a_bomb_and_a_damaged_body_cost_themselves_only(engram: Engram, tmp_path: Path) -> None:
    rows = [(1, "message", "user", "bomb"), (2, "message", "user", "torn"), (3, "message", "user", "fine")]
    place = store(tmp_path, "seq integer, kind text, role text, body_ref text", rows)
    (place / "blobs" / "bomb.gz").write_bytes(gzip.compress(bytes(40 << 20)))
    (place / "blobs" / "torn.gz").write_bytes(gzip.compress(b"words of a long text")[:25])
    (place / "blobs" / "fine.txt").write_text("still here")
    taken = engram.import_session_memory(str(place))
    assert told(engram) == ["", "", "still here"]
    assert "bomb.gz" in taken.left[0]
    assert "torn.gz" in taken.left[0]


def test_costs_of_a_table_are_counted_once(engram: Engram, tmp_path: Path) -> None:
    extra = "create table costs (session_uid text, model text, input_tokens integer, output_tokens integer, usd real)"
    place = store(tmp_path, "seq integer, kind text, role text, text text", [(1, "message", "user", "x")], extra=extra)
    with apsw.Connection(str(place / "session_memory.db")) as db:
        db.execute("insert into costs values ('claude:s1', 'claude-sonnet-4-5', 10, 20, 1.5)")
        db.execute("insert into costs values ('claude:s1', 'claude-sonnet-4-5', 10, 20, 0.5)")
    for _ in range(2):
        assert engram.import_session_memory(str(place)).left == ()
    assert engram.cost("session", "s1")[0].money == pytest.approx(2.0)


def test_a_lone_database_brings_only_bodies_of_directories_called_so(engram: Engram, tmp_path: Path) -> None:
    rows = [(1, "message", "user", "inside"), (2, "message", "user", "diary")]
    place = store(tmp_path / "x", "seq integer, kind text, role text, body_ref text", rows)
    home = place.rename(tmp_path / "lone")
    (home / "blobs" / "inside.txt").write_text("a body")
    (home / "diary.txt").write_text("what nobody shall read")
    taken = engram.import_session_memory(str(home / "session_memory.db"))
    assert told(engram) == ["a body", ""]
    assert not any("diary.txt" in each for each in taken.left)


def test_events_of_a_transcript_on_this_machine_are_left_to_the_sweep(engram: Engram, tmp_path: Path) -> None:
    work = Claude(tmp_path / "user", "s1")
    work.says("Turn the mill")
    work.answers("It turns.", output=5)
    rows = [(1, "message", "user", "Turn the mill"), (2, "message", "assistant", "It turns.")]
    place = store(tmp_path, "seq integer, kind text, role text, text text", rows, session=f"claude:{work.session}")
    taken = engram.import_session_memory(str(place))
    assert taken.events == 0
    assert "engram ingest" in taken.left[0]
    engram.ingest()
    assert len(engram.history(work.session)) == 2


# ---- Imported digests are kept


def digested(place: Path, session: str = "claude:s1") -> Path:
    lessons = json.dumps(["Oil the gear before the frost"])
    with apsw.Connection(str(place / "session_memory.db")) as db:
        db.execute("insert into digests values (?, 'failed', 'Repair the mill', ?)", (session, lessons))
    return place


def test_a_capture_adds_to_an_imported_digest_and_replaces_nothing(engram: Engram, tmp_path: Path) -> None:
    work = Claude(tmp_path / "user", "s1")
    work.says("Now something else entirely")
    work.edits("/srv/mill/gear.py")
    work.answers("Done, all tests pass.", output=5)
    place = digested(store(tmp_path, "seq integer", [], session=f"claude:{work.session}"), f"claude:{work.session}")
    engram.import_session_memory(str(place))
    engram.ingest()
    digest = engram.get_digest(work.session)
    assert (digest.outcome, digest.facts["goal"]) == ("failure", "Repair the mill")
    assert "Oil the gear before the frost" in digest.facts["notable"]
    assert digest.facts["changed"]
    assert any("Oil the gear" in hit.snippet for hit in engram.recall("oil gear frost", tiers=["digest"]))


def test_a_digest_that_was_replaced_by_an_earlier_version_comes_back(engram: Engram, tmp_path: Path) -> None:
    from engram.store import captures, digests

    place = digested(store(tmp_path, "seq integer", []))
    engram.import_session_memory(str(place))
    capture = captures.find_by_session(engram.engine, "s1")
    assert capture is not None
    facts: dict[str, Any] = {"version": 1, "through": 0, "state": None, "confidence": 0.1, "now": engram.now()}
    digests.save(engram.engine, capture=capture["num"], facts="{}", outcome="unclear", **facts)
    assert engram.import_session_memory(str(place)).digests == 1
    assert engram.get_digest("s1").facts["goal"] == "Repair the mill"


def test_a_digest_imported_before_digests_said_so_stands_too(engram: Engram, tmp_path: Path) -> None:
    from engram.store import captures, digests

    place = digested(store(tmp_path, "seq integer", []))
    engram.import_session_memory(str(place))
    capture = captures.find_by_session(engram.engine, "s1")
    assert capture is not None
    row: dict[str, Any] = {"version": 0, "through": 0, "state": None, "confidence": 0.3, "now": engram.now()}
    facts = json.dumps({"goal": "Repair the mill", "imported": "session_memory"})
    digests.save(engram.engine, capture=capture["num"], facts=facts, outcome="failure", **row)
    Claude(tmp_path / "user").says("Something else")
    for _ in range(2):
        engram.ingest()
    digest = engram.get_digest("s1")
    assert (digest.outcome, digest.facts["goal"], digest.version) == ("failure", "Repair the mill", VERSION)


def test_all_that_a_digest_says_is_kept_but_secrets(engram: Engram, tmp_path: Path) -> None:
    place = digested(store(tmp_path, "seq integer", []))
    key = "ghp_" + "0aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0uV1wX"
    with apsw.Connection(str(place / "session_memory.db")) as db:
        db.execute("alter table digests add column retrospective text; alter table digests add column tools text")
        tools = json.dumps({"Bash": "twelve calls", "n": 3})
        db.execute("update digests set retrospective = ?, tools = ?", (f"The belt slipped; {key}", tools))
    engram.import_session_memory(str(place))
    notable = " ".join(engram.get_digest("s1").facts["notable"])
    assert "retrospective: The belt slipped" in notable
    assert "twelve calls" in notable
    assert key not in notable
