"""The Copilot CLI's events."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from engram import Engram
from engram.agents.transcripts.adapter import Mark
from engram.agents.transcripts.copilot import adapter
from engram.types import Usage
from tests.agents.reading import SHARED, abouts, events, in_steps, read, recognised, samples, survives, totals

CLIENTS = SHARED / "realclients" / "samples"


def written(path: Path, *records: tuple[str, dict[str, Any]], agent: str | None = None) -> Path:
    start = ("session.start", {"sessionId": "s1", "copilotVersion": "1.0.102", "context": {"cwd": "/w"}})
    lines = []
    for number, (kind, data) in enumerate((start, *records)):
        record = {"type": kind, "data": data, "id": f"e{number}", "parentId": None, "timestamp": "2026-01-01T00:00:00Z"}
        if agent and number:
            record["agentId"] = agent
        lines.append(orjson.dumps(record))
    path.write_bytes(b"\n".join([*lines, b""]))
    return path


def test_the_sample_counts_to_the_truth() -> None:
    found = [item for path in samples("copilot/generated/**/events.jsonl") for item in read(adapter, path)]
    assert totals(found) == {"input": 3000, "output": 160, "cache_read": 2400, "cache_write": 0, "reasoning": 0}
    results = [event for event in events(found) if event.kind == "result"]
    assert [(result.verdict, result.exit_code) for result in results] == [("ok", 0), ("error", 1), ("ok", 0)]
    calls = [event.call_id for event in events(found) if event.kind == "call"]
    assert calls == [result.call_id for result in results]
    (about,) = abouts(found).values()
    assert about == {
        "cwd": "/tmp/w/proj", "branch": "master", "model": "gpt-5.4", "version": "1.0.102",
        "title": "Create calc.py with an add function",
    }  # fmt: skip


def test_only_its_own_files_are_recognised() -> None:
    matched = recognised(adapter)
    assert {name.split("/")[0] for name in matched} == {"copilot"}
    assert len(matched) == 14


def test_old_versions_count_at_the_end_and_killed_sessions_by_message() -> None:
    found = [item for path in samples("copilot/EntityProcess*/**/*.jsonl") for item in read(adapter, path)]
    assert totals(found)["output"] == 1113 + 19254  # the second is the sum of the messages of a killed session
    assert {entry.session for entry in found if isinstance(entry, Usage)} < set(abouts(found))


def answer(output: int) -> tuple[str, dict[str, Any]]:
    return ("assistant.message", {"content": "Done.", "model": "gpt-5", "outputTokens": output})


def test_messages_count_until_the_totals_come(engram: Engram, home: Path) -> None:
    path = home / ".copilot" / "session-state" / "s1" / "events.jsonl"
    path.parent.mkdir(parents=True)
    written(path, answer(100), answer(30))
    engram.ingest()
    (killed,) = engram.cost("model", days=10_000)
    assert (killed.output, killed.answers, killed.basis) == (130, 2, "floor")
    usage = {"inputTokens": 1000, "outputTokens": 130, "cacheReadTokens": 800}
    written(path, answer(100), answer(30), ("session.shutdown", {"modelMetrics": {"gpt-5": {"usage": usage}}}))
    engram.ingest()
    (ended,) = engram.cost("model", days=10_000)
    assert (ended.input, ended.cache_read, ended.output, ended.answers, ended.basis) == (200, 800, 130, 1, "exact")


def test_totals_without_usage_do_not_replace_the_messages(tmp_path: Path) -> None:
    metrics = {"gpt-5": {"usage": {"inputTokens": 0, "outputTokens": 0}}}
    path = written(tmp_path / "events.jsonl", answer(7), ("session.shutdown", {"modelMetrics": metrics}))
    assert totals(read(adapter, path))["output"] == 7


def test_a_subagent_is_a_session_of_its_own() -> None:
    (path,) = samples("copilot/subagent/**/events.jsonl", CLIENTS)
    items = read(adapter, path)
    (child,) = [name for name, facts in abouts(items).items() if facts.get("relation") == "subagent"]
    assert abouts(items)[child]["parent"] == "3d4af0d4-e213-403a-ad3f-f453055f688a"
    said = [(event.role, event.name) for event in events(items, child) if event.kind == "message"]
    assert said == [("system", "prompt"), ("system", "injected"), ("assistant", None), ("assistant", None)]
    assert totals(item for item in items if isinstance(item, Usage) and item.session == child)["output"] == 80
    assert totals(items)["output"] == 160


def test_compaction_and_what_it_cost() -> None:
    (path,) = samples("copilot/compact/**/events.jsonl", CLIENTS)
    items = read(adapter, path)
    (summary,) = [event for event in events(items) if event.kind == "compaction"]
    assert summary.text.startswith("<summary>")
    assert totals(items)["output"] == 12 * 40 + 40
    assert len([event for event in events(items) if event.role == "user"]) == 5


def test_a_killed_session_leaves_its_call_open() -> None:
    (path,) = samples("copilot/killed/**/events.jsonl", CLIENTS)
    loaded = events(read(adapter, path))
    calls = {event.call_id for event in loaded if event.kind == "call"}
    assert len(calls - {event.call_id for event in loaded if event.kind == "result"}) == 1


@pytest.mark.parametrize(
    ("data", "verdict", "code"),
    [
        ({"success": True, "result": {"content": "x\n<shellId: 4 completed with exit code 2>"}}, "error", 2),
        ({"success": True, "result": {"content": "fine"}}, "ok", None),
        ({"success": False, "error": {"message": "no such file"}}, "error", None),
        ({"success": False, "error": {"message": "no", "code": "denied"}}, "denied", None),
        (
            {"success": False, "error": {"message": "Permission denied and could not request permission from user"}},
            "denied",
            None,
        ),
    ],
)
def test_verdicts(tmp_path: Path, data: dict[str, Any], verdict: str, code: int | None) -> None:
    path = written(tmp_path / "events.jsonl", ("tool.execution_complete", {"toolCallId": "c", **data}))
    result = events(read(adapter, path))[-1]
    assert (result.kind, result.verdict, result.exit_code, result.call_id) == ("result", verdict, code, "c")


def test_a_call_is_read_once(tmp_path: Path) -> None:
    request = {"toolCallId": "c1", "name": "bash", "arguments": '{"command":"ls"}'}
    path = written(
        tmp_path / "events.jsonl",
        ("assistant.message", {"content": "", "reasoningText": "hm", "toolRequests": [request]}),
        ("tool.execution_start", {"toolCallId": "c1", "toolName": "bash", "arguments": {}}),
        ("tool.execution_start", {"toolCallId": "c2", "toolName": "view", "arguments": {"path": "/x"}}),
        ("abort", {"reason": "user initiated"}),
        ("session.brand_new", {"what": 1}),
    )
    loaded = events(read(adapter, path))
    calls = [(event.call_id, event.name, event.arguments) for event in loaded if event.kind == "call"]
    assert calls == [("c1", "bash", {"command": "ls"}), ("c2", "view", {"path": "/x"})]
    kinds = [event.kind for event in loaded]
    assert kinds == ["lifecycle", "thinking", "call", "call", "interrupt", "opaque"]
    assert [event.order for event in loaded] == sorted(event.order for event in loaded)


def test_speakers_are_recognized(tmp_path: Path) -> None:
    path = written(
        tmp_path / "events.jsonl",
        ("user.message", {"content": "Mine", "transformedContent": "<x>Mine"}),
        ("user.message", {"content": "Skill", "source": "skill-pdf"}),
        ("system.notification", {"content": "Shell done"}),
    )
    messages = [
        (event.text, event.role, event.name) for event in events(read(adapter, path)) if event.kind == "message"
    ]
    assert messages == [("Mine", "user", None), ("Skill", "system", "injected"), ("Shell done", "system", "injected")]
    asked = written(tmp_path / "sub.jsonl", ("user.message", {"content": "Count"}), agent="a1")
    last = events(read(adapter, asked))[-1]
    assert (last.session, last.role, last.name) == ("s1/a1", "system", "prompt")


def test_a_copied_usage_record_keeps_its_key(tmp_path: Path) -> None:
    usage = {"model": "m", "inputTokens": 10, "outputTokens": 2, "cacheReadTokens": 4}
    made = {"usage": {**usage, "accounting": {"sourceSessionId": "s0", "sequence": 3}}}
    path = written(tmp_path / "a.jsonl", ("session.usage_record", made), ("session.usage_record", made))
    assert totals(read(adapter, path)) == {
        "input": 6, "output": 2, "cache_read": 4, "cache_write": 0, "reasoning": 0
    }  # fmt: skip


def test_reading_in_steps_gives_the_same_as_one_read(tmp_path: Path) -> None:
    for path in (*samples("copilot/*/**/*.jsonl"), *samples("copilot/**/events.jsonl", CLIENTS)):
        once, steps = read(adapter, path), in_steps(adapter, path, tmp_path)
        assert events(steps) == events(once)
        assert totals(steps) == totals(once)
        assert isinstance(steps[-1], Mark)
        assert steps[-1].offset == path.stat().st_size - len(path.read_bytes().rsplit(b"\n", 1)[-1])


def test_the_fixture_with_a_cut_line_is_read() -> None:
    (path,) = samples("copilot/**/cli_truncated_resume.events.jsonl")
    loaded = events(read(adapter, path))
    assert [(event.kind, event.role) for event in loaded] == [
        ("message", "user"), ("damage", "system"), ("message", "assistant")
    ]  # fmt: skip


def test_no_damage_makes_it_raise(tmp_path: Path) -> None:
    paths = [*samples("copilot/generated/**/events.jsonl"), *samples("copilot/subagent/**/events.jsonl", CLIENTS)]
    for path in paths:
        survives(adapter, path, tmp_path)


def test_places() -> None:
    (place,) = adapter.places({"HOME": "/h"}, [])
    assert place.root == "/h/.copilot/session-state"
    (moved,) = adapter.places({"HOME": "/h", "COPILOT_HOME": "/c"}, [])
    assert moved.root == "/c/session-state"
