"""A problem in one transcript affects only that transcript; hostile or odd content does no harm."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from engram import Engram, InvalidInput
from engram.platform.zstd import zstd
from engram.redaction.known_secrets import save_known_hashes
from engram.redaction.store_redactor import load_hub_redactor
from tests.capture.transcripts import Claude

SECRET = "Tr0ub4dor-" + "x9Kq27vLmZ"


def sessions(engram: Engram) -> dict[str | None, int]:
    return {capture.session.native_id: capture.events for capture in engram.list_sessions(subagents=True)}


def on_disk(directory: Path, value: str) -> list[str]:
    """Return the files of a home that contain a value, also compressed."""
    found = []
    for path in directory.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            content = zstd.decompress(content) if path.suffix == ".zst" else content
            if value.encode() in content:
                found.append(path.name)
    return found


def test_an_unstorable_number_affects_no_other_session(engram: Engram, home: Path) -> None:
    good, odd, last = Claude(home), Claude(home), Claude(home)
    good.says("One")
    odd.runs("x", code=99999999999999999999)
    last.says("Two")
    assert engram.ingest().failures == {}
    assert set(sessions(engram)) == {good.session, odd.session, last.session}


def test_an_unstorable_model_name_affects_no_other_session(engram: Engram, home: Path) -> None:
    good, odd = Claude(home), Claude(home)
    good.says("One")
    odd.answers("hi")
    odd.path.write_text(odd.path.read_text().replace("claude-sonnet-4-5", "bad\\u0000model"))
    assert engram.ingest().failures == {}
    assert len(sessions(engram)) == 2


def test_a_field_of_an_unexpected_kind_costs_its_record(engram: Engram, home: Path) -> None:
    work = Claude(home)
    work.says("Before")
    work.write(
        work.record("assistant", message={"content": [[["deep"]]], "usage": {"output_tokens": {"x": 1}}, "id": 7})
    )
    work.write(
        work.record("user", message={"content": [{"type": "tool_result"}]}, toolUseResult={"structuredPatch": 7})
    )
    work.says("After")
    assert engram.ingest().failures == {}
    texts = [event.text for event in engram.get_events(engram.list_sessions()[0].session.id, "message")]
    assert (texts[0], texts[-1]) == ("Before", "After")


def test_arguments_nested_without_end_are_pruned(engram: Engram, home: Path) -> None:
    deep: Any = "bottom"
    for _ in range(200):
        deep = {"in": [deep]}
    work = Claude(home)
    block = {"type": "tool_use", "id": "t1", "name": "x", "input": deep}
    work.write(work.record("assistant", message={"id": "m1", "role": "assistant", "content": [block]}))
    work.says("After")
    assert engram.ingest().failures == {}
    assert len(engram.get_events(engram.list_sessions()[0].session.id)) == 2


def test_equal_messages_without_ids_are_all_kept(engram: Engram, home: Path) -> None:
    path = home / ".codex" / "sessions" / "rollout-old.jsonl"
    path.parent.mkdir(parents=True)
    item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "continue"}]}
    lines: list[dict[str, Any]] = [{"id": "old", "timestamp": "2025-09-01T00:00:00Z", "instructions": None}, item, item]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    engram.ingest()
    assert len(engram.get_events(engram.list_sessions()[0].session.id, "message")) == 2


def test_a_secret_seen_behind_a_label_is_known_in_later_sweeps(engram: Engram, home: Path, tmp_path: Path) -> None:
    work = Claude(home)
    work.says(f"API_KEY={SECRET}")
    engram.ingest()
    work.says(f"and now {SECRET} alone")
    engram.ingest()
    assert not any(SECRET in event.text for event in engram.get_events(engram.list_sessions()[0].session.id))
    engram.close()
    assert on_disk(tmp_path / "home", SECRET) == []


def test_only_a_hash_of_a_secret_is_kept(tmp_path: Path, home: Path) -> None:
    with Engram(tmp_path / "home") as engram:
        cleaner = load_hub_redactor(engram)
        cleaner.redact(f"password: {SECRET}")
        save_known_hashes(engram.settings.home, cleaner)
        assert SECRET not in (tmp_path / "home" / "redaction.known").read_text()
        assert SECRET not in load_hub_redactor(engram).redact(f"again {SECRET}.")


@pytest.mark.parametrize("arguments", [
    {"passwords": [SECRET]}, {"password": {"value": SECRET}}, {"name": "DB_PASSWORD", "value": SECRET},
    {"argv": ["mysql", "--password", SECRET]}, {"env": {"API_TOKEN": SECRET}},
])  # fmt: skip
def test_secrets_in_structured_arguments_do_not_reach_the_disk(
    engram: Engram, home: Path, tmp_path: Path, arguments: dict[str, Any]
) -> None:  # fmt: skip
    work = Claude(home)
    block = {"type": "tool_use", "id": "t1", "name": "mcp__db__connect", "input": arguments}
    work.write(work.record("assistant", message={"id": "m1", "role": "assistant", "content": [block]}))
    engram.ingest()
    (event,) = engram.get_events(engram.list_sessions()[0].session.id, "call")
    assert set(event.arguments) == set(arguments)
    engram.close()
    assert on_disk(tmp_path / "home", SECRET) == []


def test_secrets_in_facts_about_a_session_do_not_reach_the_disk(engram: Engram, home: Path, tmp_path: Path) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    work = Claude(home)
    call = {"type": "tool_use", "id": "t", "name": token, "input": {token: 1}}
    message = {"id": "m", "model": token, "content": [call], "usage": {"output_tokens": 3}}
    work.write(work.record("assistant", message=message, entrypoint=token, gitBranch=token, version=token))
    engram.ingest()
    engram.close()
    assert on_disk(tmp_path / "home", token) == []


def test_our_own_model_calls_stay_out_when_their_transcript_continues(engram: Engram, home: Path) -> None:
    helper = Claude(home, cwd=os.path.join(engram.settings.home, "flush"))
    helper.says("Summarise this")
    engram.ingest()
    helper.cwd = ""
    helper.says("And this")
    engram.ingest()
    assert engram.list_sessions(subagents=True) == []


def test_a_dry_run_leaves_no_trace(tmp_path: Path, home: Path) -> None:
    Claude(home).says("Hello")
    with Engram(tmp_path / "home") as engram:
        before = engram.engine.run("select * from counters")
        engram.ingest(dry_run=True)
        assert engram.engine.run("select * from counters") == before
    assert {path.name for path in (tmp_path / "home").iterdir()} <= {
        "engram.db",
        "engram.db-wal",
        "engram.db-shm",
        "sweep.lock",
    }


def test_a_rewritten_file_keeps_its_order(engram: Engram, home: Path) -> None:
    work = Claude(home)
    work.says("old one")
    engram.ingest()
    fresh = Claude(home, work.session)
    work.path.unlink()
    fresh.clock = 50
    for word in ("new one", "new two"):
        fresh.says(word)
    engram.ingest()
    fresh.says("new three")
    engram.ingest()
    texts = [event.text for event in engram.get_events(engram.list_sessions()[0].session.id)]
    assert texts == ["old one", "new one", "new two", "new three"]


def test_links_pipes_and_directories_among_transcripts_are_skipped(engram: Engram, home: Path) -> None:
    work = Claude(home)
    work.says("Hello")
    place = work.path.parent
    os.symlink(place / "loop.jsonl", place / "loop.jsonl")
    os.mkfifo(place / "pipe.jsonl")
    inner = place / "folder.jsonl"
    inner.mkdir()
    os.symlink(place, place / "above")
    (place / "empty.jsonl").touch()
    work.path.rename(inner / work.path.name)
    report = engram.ingest()
    assert (report.failures, report.sessions) == ({}, 1)
    assert engram.doctor()


def test_a_directory_may_be_named_and_a_missing_file_is_refused(engram: Engram, home: Path, tmp_path: Path) -> None:
    work = Claude(tmp_path / "elsewhere")
    work.says("Hello")
    assert engram.ingest([str(tmp_path / "elsewhere")]).sessions == 1
    with pytest.raises(InvalidInput, match="No such file"):
        engram.ingest([str(tmp_path / "missing.jsonl")])


def test_bytes_are_counted_once(engram: Engram, home: Path) -> None:
    work = Claude(home)
    total = 0
    for word in ("One", "Two", "Three"):
        work.says(word)
        total += engram.ingest().bytes
    assert total == work.path.stat().st_size
    assert engram.list_sessions()[0].read_bytes == total


def test_a_record_cut_by_a_newline_is_the_same_in_steps(engram: Engram, home: Path) -> None:
    work = Claude(home)
    work.says("One")
    line = json.dumps(work.record("user", message={"role": "user", "content": "first half second half"})).encode()
    first, second = line.split(b"half ", 1)
    with open(work.path, "ab") as file:
        file.write(first + b"half\n")
    engram.ingest()
    with open(work.path, "ab") as file:
        file.write(second + b"\n")
    work.says("Two")
    engram.ingest()
    events = engram.get_events(engram.list_sessions()[0].session.id)
    assert [event.text for event in events] == ["One", "first half\nsecond half", "Two"]


def test_an_absurd_date_is_ignored(engram: Engram, home: Path) -> None:
    work = Claude(home)
    work.write(
        {**work.record("user", message={"role": "user", "content": "Hello"}), "timestamp": "9999-12-31T23:59:59-14:00"}
    )
    engram.ingest()
    assert len(engram.list_sessions()) == 1


def test_a_file_no_adapter_knows_is_looked_at_once(engram: Engram, home: Path) -> None:
    work = Claude(home)
    work.path.write_text('{"hello": "world"}\n')
    assert engram.ingest().unknown == 1
    assert (engram.ingest().unknown, engram.ingest().skipped_unchanged) == (0, 1)


def test_many_sessions_are_not_all_held_in_memory(tmp_path: Path, home: Path) -> None:
    from engram.capture import session_match
    from engram.capture.discover import iter_transcripts
    from engram.capture.ingest_run import ingest_transcripts
    from engram.capture.sweep import Sweep

    for _ in range(session_match._REMEMBERED + 60):
        Claude(home).says("Hello")
    with Engram(tmp_path / "home") as engram:
        run = Sweep(engram, load_hub_redactor(engram))
        run.run(list(iter_transcripts([])))
        assert len(run.writer.register._known) < session_match._REMEMBERED + 60
        assert ingest_transcripts(engram, iter_transcripts([])).skipped_unchanged == session_match._REMEMBERED + 60


def test_one_file_of_more_sessions_than_are_remembered_counts_them_all(tmp_path: Path, home: Path) -> None:
    from engram.capture import session_match

    work = Claude(home)
    for number in range(session_match._REMEMBERED + 40):
        record = work.record("assistant", message={
            "id": f"m{number}", "role": "assistant", "model": "claude-sonnet-4-5", "usage": {"output_tokens": 1},
            "content": [{"type": "text", "text": "x" * 4000}],
        })  # fmt: skip
        work.write({**record, "sessionId": f"s{number}"}, {**work.record("user", message={"content": "y"})})
    with Engram(tmp_path / "home") as engram:
        assert engram.ingest().failures == {}
        assert len(sessions(engram)) == 50
        assert engram.cost("flavor", days=10000)[0].output == session_match._REMEMBERED + 40
