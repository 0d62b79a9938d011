"""An ingest stores what is new, once, whatever happened to the files."""

from __future__ import annotations

import json
import os
import random
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

from engram import Engram, SweepRunning
from engram.capture.ingest_report import Ingested
from engram.capture.sweep_lock import SweepLock
from engram.platform.zstd import zstd
from tests.capture.transcripts import SHARED, Claude


def told(engram: Engram) -> dict[str, Any]:
    """Return all facts about captured sessions, without those that differ between stores."""
    found = {}
    for capture in engram.list_sessions(subagents=True, limit=1000):
        session = capture.session
        events = [
            (e.key, e.kind, e.role, e.text, e.name, e.verdict) for e in engram.get_events(session.id, limit=100000)
        ]
        digest = engram.get_digest(session.id)
        costs = [(c.input, c.output, c.cache_read, c.money) for c in engram.cost("session", session.id)]
        found[str(session.native_id)] = (events, digest.facts, digest.outcome, session.summary, capture.relation, costs)
    return found


def only(engram: Engram) -> str:
    (capture,) = engram.list_sessions()
    return capture.session.id


def texts(engram: Engram) -> list[str]:
    return [event.text for event in engram.get_events(only(engram)) if event.text]


def test_a_sweep_reports_what_it_found_and_stored(engram: Engram, home: Path) -> None:
    work = Claude(home)
    work.says("Fix the login")
    work.answers("Done.")
    report = engram.ingest()
    assert (report.discovered, report.ingested, report.skipped_unchanged, report.analyzed) == (1, 1, 0, 1)
    assert (report.events, report.sessions, report.bytes) == (2, 1, work.path.stat().st_size)
    assert report.retention is not None
    assert report.retention.freed == 0
    assert report.retention.final_usage > 0


def test_an_unchanged_transcript_is_skipped(engram: Engram, home: Path) -> None:
    Claude(home).says("Hello")
    engram.ingest()
    again = engram.ingest()
    assert (again.ingested, again.skipped_unchanged, again.events, again.analyzed) == (0, 1, 0, 0)


def test_only_appended_data_is_read(engram: Engram, home: Path) -> None:
    work = Claude(home)
    work.says("One")
    engram.ingest()
    work.says("Two")
    report = engram.ingest()
    assert report.events == 1
    assert texts(engram) == ["One", "Two"]


def test_a_line_still_being_written_waits(engram: Engram, home: Path) -> None:
    work = Claude(home)
    work.says("One")
    line = json.dumps(work.record("user", message={"role": "user", "content": "Two"})).encode()
    with open(work.path, "ab") as file:
        file.write(line[:40])
    assert engram.ingest().damaged == 0
    with open(work.path, "ab") as file:
        file.write(line[40:] + b"\n")
    engram.ingest()
    assert texts(engram) == ["One", "Two"]


def test_a_bad_byte_costs_one_record(engram: Engram, home: Path) -> None:
    work = Claude(home)
    work.says("One")
    with open(work.path, "ab") as file:
        file.write(b'{"type":"user","mess\xff\x00age\n')
    work.says("Two")
    report = engram.ingest()
    assert report.damaged > 0
    assert texts(engram) == ["One", "Two"]
    assert [event.kind for event in engram.get_events(only(engram))].count("damage") == 1


def test_a_record_glued_to_a_cut_one_is_saved(engram: Engram, home: Path) -> None:
    work = Claude(home)
    work.says("One")
    whole = json.dumps(work.record("user", message={"role": "user", "content": "Two"}))
    with open(work.path, "a", encoding="utf-8") as file:
        file.write(whole[:50] + whole + "\n")
    engram.ingest()
    assert texts(engram) == ["One", "Two"]


def test_a_rewritten_transcript_is_read_again_without_duplicates(engram: Engram, home: Path) -> None:
    work = Claude(home)
    for word in ("One", "Two", "Three"):
        work.says(word)
    engram.ingest()
    lines = work.path.read_text().splitlines()
    work.path.write_text("\n".join(lines[1:]) + "\n")
    work.says("Four")
    engram.ingest()
    assert sorted(texts(engram)) == ["Four", "One", "Three", "Two"]


def test_a_truncated_transcript_loses_us_nothing(engram: Engram, home: Path) -> None:
    work = Claude(home)
    for word in ("One", "Two", "Three"):
        work.says(word)
    engram.ingest()
    work.path.write_text(work.path.read_text().splitlines()[0] + "\n")
    engram.ingest()
    assert texts(engram) == ["One", "Two", "Three"]


def test_a_moved_transcript_is_the_same_session(engram: Engram, home: Path) -> None:
    work = Claude(home)
    work.says("One")
    engram.ingest()
    place = work.path.parent.parent / "elsewhere"
    place.mkdir()
    work.path = work.path.rename(place / work.path.name)
    work.says("Two")
    engram.ingest()
    assert texts(engram) == ["One", "Two"]


def test_a_vanished_transcript_leaves_its_events(engram: Engram, home: Path) -> None:
    work = Claude(home)
    work.says("Remember me")
    engram.ingest()
    work.path.unlink()
    assert engram.ingest().vanished == 1
    assert engram.ingest().vanished == 0
    assert texts(engram) == ["Remember me"]


def test_a_compressed_transcript_continues_where_the_plain_one_stopped(engram: Engram, home: Path) -> None:
    rollout = home / ".codex" / "sessions" / "2026" / "rollout-2026-11-01T10-00-00-0199.jsonl"
    rollout.parent.mkdir(parents=True)
    lines = [
        {"timestamp": "2026-11-01T10:00:00Z", "type": "session_meta", "payload": {"id": "t1", "cwd": "/work"}},
        *({"timestamp": "2026-11-01T10:00:01Z", "type": "response_item", "payload": {
            "type": "message", "id": f"m{n}", "role": "user", "content": [{"type": "input_text", "text": f"word {n}"}],
        }} for n in range(3)),
    ]  # fmt: skip
    rollout.write_text("".join(json.dumps(line) + "\n" for line in lines[:3]))
    engram.ingest()
    whole = "".join(json.dumps(line) + "\n" for line in lines).encode()
    rollout.with_name(rollout.name + ".zst").write_bytes(zstd.compress(whole))
    rollout.unlink()
    report = engram.ingest()
    assert (report.events, report.vanished) == (1, 0)
    assert [e.text for e in engram.get_events(only(engram), "message")] == ["word 0", "word 1", "word 2"]


def test_a_registered_session_and_its_transcript_are_one(engram: Engram, home: Path) -> None:
    work = Claude(home)
    live = engram.register("claude-code", "mending the login", flavor="claude", native_id=work.session)
    work.says("Fix the login")
    engram.ingest()
    assert only(engram) == live
    session = engram.get_session(live)
    assert (session.summary, session.status) == ("mending the login", "active")


def test_the_sitrep_shows_what_a_captured_session_was_about(engram: Engram, home: Path) -> None:
    work = Claude(home)
    work.says("Mend the login")
    record = work.record("user", message={"role": "user", "content": "Hello"})
    work.write({**record, "timestamp": datetime.now(timezone.utc).isoformat().replace("+00:00", "Z")})
    engram.ingest()
    assert "Mend the login" in engram.get_situation_report(project="/home/me/app")


def test_a_captured_session_that_registers_continues(engram: Engram, home: Path) -> None:
    work = Claude(home)
    work.says("Fix the login")
    engram.ingest()
    captured = only(engram)
    assert engram.register("claude-code", "on it", flavor="claude", native_id=work.session) == captured
    assert engram.get_session_logs(captured) == []


def test_a_session_spread_over_files_is_one(engram: Engram, home: Path) -> None:
    first = Claude(home)
    first.says("One")
    second = Claude(home, first.session)
    second.path = second.path.with_name("resumed.jsonl")
    second.clock = 30
    second.says("Two")
    engram.ingest()
    assert texts(engram) == ["One", "Two"]


def test_a_subagent_is_a_child_and_no_transcript_of_its_own(engram: Engram, home: Path) -> None:
    work = Claude(home)
    work.says("Look around")
    child = Claude(home, work.session)
    child.path = work.path.parent / work.session / "subagents" / "agent-a1.jsonl"
    child.path.parent.mkdir(parents=True)
    child.write(
        {**child.record("user", message={"role": "user", "content": "Explore"}), "agentId": "a1", "isSidechain": True}
    )
    engram.ingest()
    (found,) = engram.get_children(only(engram))
    assert (found.relation, found.session.native_id) == ("subagent", f"{work.session}/a1")
    assert len(engram.list_sessions()) == 1


def test_a_fork_repeats_its_parent_and_is_counted_once(engram: Engram, home: Path) -> None:
    work = Claude(home)
    work.says("Add two numbers")
    work.answers("Done.", output=70)
    fork = Claude(home)
    repeated = [{**json.loads(line), "sessionId": fork.session} for line in work.path.read_text().splitlines()]
    begins = {
        "type": "queue-operation",
        "operation": "enqueue",
        "sessionId": fork.session,
        "timestamp": "2026-11-01T11:00:00Z",
    }
    fork.write(begins, *repeated)
    fork.clock = 100
    fork.answers("More.", output=7)
    engram.ingest()
    parent = engram.get_capture(
        next(c.session.id for c in engram.list_sessions() if c.session.native_id == work.session)
    )
    (child,) = engram.get_children(parent.session.id)
    assert child.relation == "fork"
    assert sum(cost.output for cost in engram.cost("session", days=10000)) == 77
    assert engram.cost("session", parent.session.id)[0].output == 70


def test_a_reply_in_pieces_counts_its_largest_output(engram: Engram, home: Path) -> None:
    work = Claude(home)
    for output in (3, 55, 20):
        work.answers("piece", output=output, message="msg_1")
    engram.ingest()
    assert engram.cost("session", only(engram))[0].output == 55


def test_no_secret_reaches_any_file_of_the_home(engram: Engram, home: Path, tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    work = Claude(home)
    work.says(f"My token is {secret}, use it")
    work.runs(f"curl -H 'Authorization: Bearer {secret}' x", output=f"bad token {secret}", code=1)
    work.write({"type": "custom-title", "customTitle": f"about {secret}", "sessionId": work.session})
    report = engram.ingest()
    assert sum(report.redacted.values()) >= 3
    engram.close()
    held = [p for p in (tmp_path / "home").rglob("*") if p.is_file() and secret.encode() in _plain(p)]
    assert held == []


def _plain(path: Path) -> bytes:
    content = path.read_bytes()
    return zstd.decompress(content) if path.suffix == ".zst" else content


def test_our_own_helpers_sessions_are_left_out(engram: Engram, home: Path) -> None:
    helper = Claude(home, cwd=os.path.join(engram.settings.home, "flush"))
    helper.says("Summarise this conversation")
    assert engram.ingest().discovered == 1
    assert engram.list_sessions() == []


def test_a_second_sweep_reports_the_running_one(engram: Engram, home: Path) -> None:
    with SweepLock(engram.settings.home), pytest.raises(SweepRunning, match=str(os.getpid())):
        engram.ingest()


def test_a_dry_run_reads_and_writes_nothing(engram: Engram, home: Path) -> None:
    Claude(home).says("Hello")
    report = engram.ingest(dry_run=True)
    assert (report.ingested, report.events, report.dry_run) == (1, 1, True)
    assert engram.list_sessions() == []
    assert engram.ingest().events == 1


def test_a_file_that_is_not_a_transcript_is_counted_and_skipped(engram: Engram, home: Path) -> None:
    work = Claude(home)
    work.path.write_text('{"hello": "world"}\n')
    assert engram.ingest().unknown == 1


def test_a_flavor_is_recognized_by_content_not_by_place(engram: Engram, home: Path) -> None:
    work = Claude(home)
    work.says("Hello")
    astray = home / ".codex" / "sessions" / "x.jsonl"
    astray.parent.mkdir(parents=True)
    work.path.rename(astray)
    engram.ingest()
    assert engram.list_sessions()[0].session.flavor == "claude"


def test_a_line_of_megabytes_is_kept_at_both_ends(engram: Engram, home: Path) -> None:
    work = Claude(home)
    work.says("begin " + "x" * (6 << 20) + " end")
    engram.ingest()
    (text,) = texts(engram)
    assert text.startswith("begin")
    assert text.endswith("end")
    assert len(text) < 100_000


def test_unknown_records_are_kept_as_they_are(engram: Engram, home: Path) -> None:
    work = Claude(home)
    work.says("Hello")
    work.write(work.record("next-years-record", payload={"depth": 3}))
    engram.ingest()
    (event,) = engram.get_events(only(engram), "opaque")
    assert event.name == "next-years-record"
    assert '"depth":3' in event.text


def test_captured_messages_are_found_immediately(engram: Engram, home: Path) -> None:
    work = Claude(home)
    work.says("The flux capacitor leaks")
    engram.ingest()
    (hit,) = engram.recall("flux capacitor")
    assert hit.session_id == only(engram)
    assert "flux capacitor" in hit.snippet
    assert engram.recall('"unbalanced (query* AND') == []
    assert hit.exchange is not None


@pytest.mark.parametrize("seed", range(3))
def test_reading_in_steps_is_reading_once(home: Path, tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    work = Claude(home)
    for turn in range(12):
        work.says(f"Turn {turn} ✓ \u2028")
        work.edits(f"/home/me/app/{turn}.py")
        work.runs("pytest -q", "1 failed" if turn % 2 else "3 passed", code=turn % 2)
        work.answers("Done.", output=turn)
    whole = work.path.read_bytes()
    with Engram(tmp_path / "once") as once:
        once.ingest()
        expected = told(once)
    with Engram(tmp_path / "steps") as steps:
        cuts = sorted(chance.sample(range(len(whole)), 8))
        for cut in [*cuts, len(whole)]:
            work.path.write_bytes(whole[:cut])
            os.utime(work.path, (cut, cut))
            steps.ingest()
        assert told(steps) == expected


@pytest.mark.parametrize("series", ["198393f2-22db-477b-ac77-1825bea883ae", "3a782158-6c7c-4d4d-9c73-eae031da5b18"])
def test_a_real_session_rewritten_several_times_is_the_same_as_all_its_files_at_once(
    home: Path, tmp_path: Path, series: str
) -> None:
    moments = sorted((SHARED / "data/transcripts/claude/growth" / series).glob("*.jsonl"))
    if not moments:
        pytest.skip("the growth series of real transcripts are not here (../shared)")
    place = home / ".claude" / "projects" / "p" / "session.jsonl"
    place.parent.mkdir(parents=True)
    with Engram(tmp_path / "steps") as steps:
        for number, moment in enumerate(moments):
            place.write_bytes(moment.read_bytes())
            os.utime(place, (number + 1, number + 1))
            steps.ingest()
        grown = told(steps)
    with Engram(tmp_path / "once") as once:
        for number, moment in enumerate(moments):
            place.with_name(f"{number}.jsonl").write_bytes(moment.read_bytes())
        place.unlink()
        once.ingest()
        assert grown == told(once)


def test_one_transcript_that_cannot_be_read_does_not_stop_the_others(engram: Engram, home: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    first, second = Claude(home), Claude(home)
    first.says("One")
    second.says("Two")
    first.path.chmod(0)
    found: Ingested = engram.ingest()
    assert found.unknown + len(found.failures) == 1
    assert len(engram.list_sessions()) == 1


def test_a_session_belongs_to_the_project_where_it_began(engram: Engram, tmp_path: Path) -> None:
    moved, worktree, gone = (Claude(tmp_path / name, cwd="/home/me/app") for name in ("a", "b", "c"))
    moved.says("Look around")
    moved.cwd = "/home/me/app/src"
    moved.says("And below")
    worktree.cwd = "/home/me/app/.claude/worktrees/calm-river-1"
    worktree.says("In a worktree that is gone")
    gone.cwd = r"D:\code\app\.worktrees\2\src"
    gone.says("On another machine")
    engram.ingest([str(transcript.path) for transcript in (moved, worktree, gone)])
    projects = [engram.get_session(transcript.session).project for transcript in (moved, worktree, gone)]
    assert projects == ["/home/me/app", "/home/me/app", r"D:\code\app"]
