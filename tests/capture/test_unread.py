"""A file that cannot be read is named with the reason, remembered, and read again once an adapter can."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import orjson
import pytest

from engram import Engram
from engram.agents.transcripts.registry import load_adapters
from engram.capture import spool, worker
from tests.capture.transcripts import Claude


def cursor_file(home: Path, *records: dict[str, Any], name: str = "0b1c7a4e-0000-4000-8000-000000000001") -> Path:
    path = home / ".cursor" / "projects" / "slug" / "agent-transcripts" / name / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(orjson.dumps(record) + b"\n" for record in records))
    return path


def message(role: str, text: str, **more: Any) -> dict[str, Any]:
    return {"role": role, "message": {"content": [{"type": "text", "text": text}]}, **more}


def told(engram: Engram) -> dict[str, Any]:
    """Return everything that is kept of captured sessions."""
    found: dict[str, Any] = {}
    for capture in engram.list_sessions(subagents=True, limit=1000):
        session = capture.session
        events = [(event.key, event.kind, event.text) for event in engram.get_events(session.id, limit=10_000)]
        said = [(exchange.role, exchange.content) for exchange in engram.history(session.id)]
        costs = [(cost.input, cost.output) for cost in engram.cost("session", session.id)]
        digest = engram.get_digest(session.id)
        found[session.id] = (events, said, costs, digest.facts, digest.outcome, capture.events, capture.read_bytes)
    return found


def test_a_new_field_in_a_cursor_record_loses_nothing(engram: Engram, home: Path) -> None:
    cursor_file(home, message("user", "Hi", createdAt=1), message("assistant", "Yes", createdAt=2))
    report = engram.ingest()
    assert (report.unknown, report.events) == (0, 2)
    assert engram.list_sessions()[0].session.flavor == "cursor"


@pytest.mark.parametrize("by_name", [True, False])
def test_a_files_location_identifies_its_agent_if_the_content_does_not(
    engram: Engram, home: Path, by_name: bool
) -> None:
    path = cursor_file(home, {"role": "user", "message": {"content": "Hi, as a plain text"}})
    report = engram.ingest([str(path)] if by_name else None)
    assert (report.unknown, report.events) == (0, 1)
    assert engram.list_sessions()[0].session.flavor == "cursor"


def test_a_file_that_no_adapter_can_read_is_named_with_the_reason(engram: Engram, home: Path) -> None:
    path = cursor_file(home, {"hello": "world"})
    report = engram.ingest()
    (unread,) = report.unread
    assert (unread.path, unread.size) == (str(path), path.stat().st_size)
    assert "cursor" in unread.reason
    assert engram.list_sessions() == []
    assert (engram.ingest().unread, engram.ingest().skipped_unchanged) == (report.unread, 1)


def test_a_dry_run_names_it_too(engram: Engram, home: Path) -> None:
    path = cursor_file(home, {"hello": "world"})
    assert [file.path for file in engram.ingest(dry_run=True).unread] == [str(path)]


def test_an_archive_that_cannot_be_unpacked_is_named(engram: Engram, home: Path) -> None:
    path = home / ".codex" / "sessions" / "rollout-a.jsonl.zst"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"not zstd at all")
    (unread,) = engram.ingest().unread
    assert unread.path == str(path)
    assert "unpack" in unread.reason


def test_an_empty_file_is_nothing_to_worry_about(engram: Engram, home: Path) -> None:
    cursor_file(home)
    report = engram.ingest()
    assert (report.unknown, report.unread) == (0, ())


def test_bookkeeping_of_an_agent_is_not_a_transcript(engram: Engram, home: Path) -> None:
    chats = home / ".gemini" / "tmp" / "p" / "chats"
    chats.mkdir(parents=True)
    (chats.parent / "logs.json").write_text('[{"sessionId": "s", "type": "user", "message": "Hi"}]')
    (home / ".claude" / "projects" / "p" / "s" / "subagents" / "workflows" / "w").mkdir(parents=True)
    (home / ".claude/projects/p/s/subagents/workflows/w/journal.jsonl").write_text('{"type": "started", "key": "v"}\n')
    report = engram.ingest()
    assert (report.discovered, report.unread) == (0, ())


def test_doctor_names_what_was_not_read_and_does_not_call_it_captured(engram: Engram, home: Path) -> None:
    good, bad = cursor_file(home, message("user", "Hi")), cursor_file(home, {"hello": "world"}, name="odd")
    engram.ingest()
    first, second = [
        finding for finding in engram.doctor() if finding.subject == "cursor" and "MCP" not in finding.text
    ][-2:]
    assert first.text == "2 transcripts, 1 captured, 1 unreadable."
    assert (first.level, second.level) == ("warning", "warning")
    assert str(bad) in second.text
    assert str(good) not in second.text
    assert second.mend


def test_doctor_names_a_file_that_lies_elsewhere(engram: Engram, home: Path, tmp_path: Path) -> None:
    odd = tmp_path / "odd.jsonl"
    odd.write_text('{"hello": "world"}\n')
    engram.ingest([str(odd)])
    (found,) = [finding for finding in engram.doctor() if finding.subject == "files"]
    assert str(odd) in found.text
    odd.unlink()
    assert not [finding for finding in engram.doctor() if finding.subject == "files"]


def test_a_file_without_permission_is_named_by_doctor_and_read_once_it_may_be(engram: Engram, home: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    path = cursor_file(home, message("user", "Hi"))
    path.chmod(0)
    report = engram.ingest()
    assert "Permission denied" in report.unread[0].reason
    assert any(str(path) in finding.text and "Permission denied" in finding.text for finding in engram.doctor())
    path.chmod(0o600)
    assert engram.ingest().events == 1


def test_a_file_that_made_an_adapter_fail_is_named_by_doctor_and_tried_again(
    engram: Engram, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = tmp_path / "odd.jsonl"
    odd.write_text("new words\n")
    toy = Toy(b"new")
    monkeypatch.setitem(load_adapters(), "toy", toy)
    toy.fails = OSError("the disk has a hole")
    report = engram.ingest([str(odd)])
    assert report.failures
    assert [file.path for file in report.unread] == [str(odd)]
    assert any(str(odd) in finding.text for finding in engram.doctor())
    toy.fails = None
    assert engram.ingest([str(odd)]).events == 1
    assert not any(str(odd) in finding.text for finding in engram.doctor())


def test_a_reason_that_is_kept_holds_no_secret(
    engram: Engram, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    odd = tmp_path / "odd.jsonl"
    odd.write_text("new words\n")
    toy = Toy(b"new")
    toy.fails = ValueError(f"cannot make a number of {secret} \udcff \0")
    monkeypatch.setitem(load_adapters(), "toy", toy)
    (unread,) = engram.ingest([str(odd)]).unread
    assert unread.reason.startswith("ValueError: cannot make a number of")
    assert secret not in unread.reason
    assert not any(secret in finding.text for finding in engram.doctor())


def test_files_beside_a_subagents_transcript_are_not_read_as_transcripts(engram: Engram, home: Path) -> None:
    work = Claude(home)
    work.says("Look around")
    beside = work.path.with_suffix("") / "subagents"
    beside.mkdir(parents=True)
    (beside / "agent-a1.meta.json").write_text('{"agentType": "Explore"}')
    request = spool.CaptureRequest(flavor="claude", native_id=work.session, path=str(work.path), event="stop")
    spool.add_request(engram.settings.home, request)
    assert [report.unread for report in worker.run_worker(engram)] == [(), ()]


class Toy:
    """An adapter somebody else brings, which learns to read more."""

    flavor = "toy"
    version = 1
    fails: Exception | None = None

    def __init__(self, word: bytes) -> None:
        self.word = word

    def places(self, environ: Any, projects: Any) -> Any:
        return iter(())

    def recognises(self, path: str, head: bytes) -> bool:
        return head.startswith(self.word)

    def read(self, path: str, since: Any) -> Any:
        from engram.agents.transcripts.adapter import Mark
        from engram.types import Event

        if self.fails:
            raise self.fails
        for number, line in enumerate(Path(path).read_bytes().splitlines()):
            if line.startswith(self.word):
                yield Event(session="t", key=str(number), kind="message", role="user", text=line.decode())
            else:
                yield Event(session="t", key=f"damage:{number}", kind="damage", data={"bytes": len(line)})
        yield Mark(offset=Path(path).stat().st_size)


def test_unreadable_files_are_read_again_when_an_adapters_version_changes(
    engram: Engram, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Claude(home).says("Hello")
    odd = tmp_path / "odd.jsonl"
    odd.write_text("new words\n")
    monkeypatch.setitem(load_adapters(), "toy", Toy(b"old"))
    engram.ingest()
    assert len(engram.ingest([str(odd)]).unread) == 1
    monkeypatch.setitem(load_adapters(), "toy", Toy(b"new"))
    assert engram.ingest([str(odd)]).skipped_unchanged == 1
    monkeypatch.setattr(Toy, "version", 2)
    report = engram.ingest([str(odd)])
    assert (report.ingested, report.events, report.unread) == (1, 1, ())
    assert engram.ingest().skipped_unchanged == 1


def test_a_partly_read_file_is_read_again_by_a_newer_adapter_without_duplicates(
    engram: Engram, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = tmp_path / "odd.jsonl"
    odd.write_text("new one\nnewer two\nold three\n")
    monkeypatch.setitem(load_adapters(), "toy", Toy(b"new "))
    assert engram.ingest([str(odd)]).damaged > 0
    monkeypatch.setitem(load_adapters(), "toy", Toy(b"new"))
    monkeypatch.setattr(Toy, "version", 2)
    assert engram.ingest([str(odd)]).events == 1
    session = engram.list_sessions()[0].session.id
    assert [event.text for event in engram.get_events(session, "message")] == ["new one", "newer two"]
    assert engram.ingest([str(odd)]).skipped_unchanged == 1


def test_what_an_older_version_skipped_is_read_after_the_update(engram: Engram, home: Path) -> None:
    path = cursor_file(home, message("user", "Hi", createdAt=1))
    engram.ingest()
    session = engram.list_sessions()[0].session
    engram.delete_session(session.id)
    engram.engine.run("delete from deleted_sessions")
    facts = "flavor = '', place = 0, head = '', tail = '', num = 0, readers = '', unread = null"
    engram.engine.run(f"update cursors set {facts} where path = :path", path=str(path))
    assert engram.ingest().events == 1


def test_again_reads_everything_and_adds_nothing_twice(engram: Engram, home: Path) -> None:
    work = Claude(home)
    work.says("Mend the login")
    work.runs("pytest -q", "3 passed")
    work.answers("Done.", output=70)
    cursor_file(home, message("user", "Hi"), message("assistant", "Yes"))
    engram.ingest()
    before = told(engram)
    for found in (engram.ingest(again=True), engram.ingest([str(work.path)], again=True)):
        assert (found.skipped_unchanged, found.events) == (0, 0)
        assert found.bytes >= work.path.stat().st_size
    assert told(engram) == before
    assert not engram.check().problems


def test_again_continues_at_the_end_of_a_transcript(engram: Engram, home: Path) -> None:
    work = Claude(home)
    work.says("One")
    engram.ingest()
    work.says("Two")
    engram.ingest(again=True)
    work.says("Three")
    assert engram.ingest().events == 1
    (capture,) = engram.list_sessions()
    assert [event.text for event in engram.get_events(capture.session.id)] == ["One", "Two", "Three"]
    assert capture.read_bytes == work.path.stat().st_size


def test_what_was_deleted_or_corrected_stays_so_when_all_is_read_again(engram: Engram, home: Path) -> None:
    gone, kept = Claude(home), Claude(home)
    gone.says("Forget me")
    kept.says("Keep me")
    engram.ingest()
    ids = {capture.session.native_id: capture.session.id for capture in engram.list_sessions()}
    engram.delete_session(ids[gone.session])
    engram.set_outcome(ids[kept.session], "failure")
    engram.ingest(again=True)
    (capture,) = engram.list_sessions()
    assert (capture.session.native_id, capture.outcome) == (kept.session, "failure")
    assert engram.recall("Forget me") == []


def test_a_secret_that_was_removed_stays_removed_when_all_is_read_again(engram: Engram, home: Path) -> None:
    secret = "Tr0ub4dor-" + "x9Kq27vLmZ"
    work = Claude(home)
    work.says(f"it is {secret} alone")
    work.says(f"API_KEY={secret}")
    engram.ingest()
    engram.ingest(again=True)
    texts = [event.text for event in engram.get_events(engram.list_sessions()[0].session.id)]
    assert not any(secret in text for text in texts)
    assert not engram.recall(secret)
