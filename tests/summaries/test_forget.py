"""Deleting a session removes everything about it, and nothing brings it back."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from engram import Engram
from engram.errors import InvalidInput, NotFound
from engram.store import sessions
from engram.store.blobs import BlobStore
from engram.summaries import delete_session
from tests.capture.transcripts import Claude
from tests.summaries.talking import said

WORD = "moonfish"
AT = "2026-11-03T12:00:00+00:00"


def everywhere(engram: Engram) -> Iterator[str]:
    """Yield where a word of the deleted session can still be read: in any column of any table, in any body."""
    tables = {
        "sqlite": "select name from sqlite_master where type = 'table' and name not like 'event_words_%'",
        "postgres": "select tablename as name from pg_tables where schemaname = current_schema()",
    }
    for table in engram.engine.run(tables[engram.engine.dialect]):
        for row in engram.engine.run(f"select * from {table['name']}"):
            for name, cell in row.items():
                text = bytes(cell).decode("utf-8", "replace") if isinstance(cell, bytes | memoryview) else str(cell)
                if WORD in text.lower():
                    yield f"{table['name']}.{name}: {text[:80]}"


def bodies(engram: Engram) -> set[str]:
    return {row["sha256"] for row in engram.engine.run("select sha256 from blobs")}


def captured(engram: Engram, home: Path) -> Claude:
    """Ingest a session that mentions the secret everywhere, and one that does not."""
    work = Claude(home)
    work.says("Let's call the project Moonfish because I like it. I live in Moonfish Bay.")
    work.runs("grep moonfish README.md", "moonfish: a fish", code=1)
    work.edits("/home/me/app/moonfish.py")
    work.answers("I renamed it to Moonfish. Next step: the moonfish logo.")
    other = Claude(home)
    other.says("Let's write the importer in Rust because it is fast. I live in Berlin.")
    other.answers("The importer is written in Rust.")
    engram.ingest()
    return work


def test_nothing_of_a_captured_session_is_left(engram: Engram, home: Path) -> None:
    """LY-047, LY-B05."""
    work = captured(engram, home)
    engram.summarize()
    engram.integrate()
    engram.index()
    session = next(each.session for each in engram.list_sessions() if each.session.native_id == work.session)
    assert len(set(everywhere(engram))) > 5
    before = bodies(engram)
    gone = engram.delete_session(session.id)
    assert (gone.sessions, gone.exchanges) == ((session.id,), 2)
    assert gone.events >= 6
    assert list(everywhere(engram)) == []
    assert before - bodies(engram)
    assert BlobStore(engram.engine, engram.settings).list_names() == bodies(engram)
    assert engram.check().problems == ()
    with pytest.raises(NotFound):
        engram.get_session(session.id)
    assert [hit for hit in engram.recall("moonfish", abstain=False) if WORD in hit.snippet.lower()] == []
    eras = engram.list_eras()
    assert [era.session_count for era in eras] == [1]
    assert "importer in Rust" in eras[0].content
    assert "Berlin" in (engram.get_profile() or "")
    assert "era 2026-11" in gone.remade


def test_a_deleted_session_is_not_taken_in_again(engram: Engram, home: Path) -> None:
    work = captured(engram, home)
    session = next(each.session for each in engram.list_sessions() if each.session.native_id == work.session)
    engram.delete_session(session.id)
    engram.ingest()
    work.says("And the moonfish again.")
    engram.ingest()
    assert list(everywhere(engram)) == []
    assert len(engram.list_sessions()) == 1


def test_its_subagents_go_with_it(engram: Engram, home: Path) -> None:
    work = captured(engram, home)
    child = Claude(home, work.session)
    child.path = work.path.parent / work.session / "subagents" / "agent-a1.jsonl"
    child.path.parent.mkdir(parents=True)
    child.write(
        child.record("user", message={"role": "user", "content": "Draw a moonfish."}, isSidechain=True, agentId="a1")
    )
    engram.ingest()
    assert len(engram.list_sessions(subagents=True)) == 3
    session = next(each.session for each in engram.list_sessions() if each.session.native_id == work.session)
    gone = engram.delete_session(session.id)
    assert len(gone.sessions) == 2
    assert list(everywhere(engram)) == []
    engram.ingest()
    assert len(engram.list_sessions(subagents=True)) == 1


def test_what_two_sessions_said_alike_stays_with_the_other(engram: Engram, home: Path) -> None:
    one, other = Claude(home), Claude(home)
    for work in (one, other):
        work.says("Mend the login form.")
    engram.ingest()
    first = next(capture.session for capture in engram.list_sessions() if capture.session.native_id == one.session)
    engram.delete_session(first.id)
    (left,) = engram.list_sessions()
    assert left.session.native_id == other.session
    assert [event.text for event in engram.get_events(left.session.id)] == ["Mend the login form."]
    assert engram.recall("login form")[0].session_id == left.session.id


def test_a_session_at_work_is_not_deleted(engram: Engram, tmp_path: Path) -> None:
    session = engram.register("claude", "works", cwd=str(tmp_path))
    engram.remember(session, "user", "Hello there.")
    with pytest.raises(InvalidInput, match="still active"):
        engram.delete_session(session)
    assert len(engram.history(session)) == 1
    engram.complete(session, "done")
    assert engram.delete_session(session).exchanges == 1


def test_a_remembered_session_is_deleted_and_can_begin_anew(engram: Engram) -> None:
    """LY-047."""
    said(engram, "a", AT, "The moonfish is blue.")
    engram.store_summary("a", "They speak of the moonfish.")
    gone = engram.delete_session("a")
    assert (gone.sessions, gone.exchanges, gone.events) == (("a",), 1, 0)
    assert list(everywhere(engram)) == []
    said(engram, "a", AT, "The heron is grey.")
    assert engram.recall("heron")[0].session_id == "a"


def test_a_message_to_a_session_that_is_being_deleted_begins_it_anew(postgres_store: str, tmp_path: Path) -> None:
    """SQLite lets only one process write at a time."""
    homes = [str(tmp_path / name) for name in ("here", "there")]
    with Engram(store=postgres_store, home=homes[0]) as engram, Engram(store=postgres_store, home=homes[1]) as other:
        engram.remember("a", "user", "The moonfish is blue.")
        with ThreadPoolExecutor() as pool:
            with other.engine.transaction():
                sessions.lock_rows(other.engine, ["a"])  # as a deletion begins
                writing = pool.submit(engram.remember, "a", "user", "The heron is grey.")
                while not other.engine.run("select pid from pg_locks where not granted"):
                    assert not writing.done()
                other.delete_session("a")
            assert writing.result(60)
        assert [exchange.content for exchange in other.history("a")] == ["The heron is grey."]


def test_a_given_self_state_stays_and_is_named_where_it_may_speak_of_the_session(engram: Engram) -> None:
    said(engram, "a", AT, "The moonfish is blue.")
    state = {"mood": {"joy": 0.7, "of": "moonfish"}, "thoughts": ["x", 3], "on": True}
    engram.set_self_state(state)
    assert engram.delete_session("a").mentions == ("self state (moonfish)",)
    assert engram.get_self_state() == state


def test_a_session_nobody_heard_of_cannot_be_deleted(engram: Engram) -> None:
    with pytest.raises(NotFound):
        engram.delete_session("nobody")


def test_others_are_found_as_before(engram: Engram) -> None:
    for n in range(5):
        said(engram, f"s{n}", AT, f"Bird {n} is a kestrel{n}.", f"Noted, kestrel{n}.")
    engram.index()
    engram.delete_session("s2")
    for n in (0, 1, 3, 4):
        assert engram.recall(f"kestrel{n}")[0].session_id == f"s{n}"
    assert [hit for hit in engram.recall("kestrel2") if "kestrel2" in hit.snippet] == []


def test_the_file_itself_no_longer_holds_the_words(tmp_path: Path) -> None:
    with Engram(tmp_path / "home") as engram:
        said(engram, "a", AT, "The moonfish is blue.", "Noted: the moonfish.")
        said(engram, "b", AT, "The heron is grey.")
        engram.index()
        engram.delete_session("a")
    for path in (tmp_path / "home").rglob("*"):
        assert not path.is_file() or WORD.encode() not in path.read_bytes().lower(), path


def test_a_deletion_that_was_cut_short_is_finished_by_the_next_index(
    engram: Engram, monkeypatch: pytest.MonkeyPatch
) -> None:
    said(engram, "a", AT, "The moonfish is blue.")
    said(engram, "b", AT, "The heron is grey.")
    engram.index()

    def dies(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(delete_session, "update_index", dies)
    with pytest.raises(KeyboardInterrupt):
        engram.delete_session("a")
    assert engram.recall("moonfish") == []
    engram.index()
    assert list(everywhere(engram)) == []
