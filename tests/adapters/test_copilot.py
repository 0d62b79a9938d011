"""The Copilot CLI's events."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from engram.adapters.adapter import Mark
from engram.adapters.copilot import adapter
from engram.model import Usage
from tests.adapters.reading import SHARED, abouts, events, in_steps, read, recognised, samples, survives, totals

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
    found = [each for path in samples("copilot/generated/**/events.jsonl") for each in read(adapter, path)]
    assert totals(found) == {"input": 3000, "output": 160, "cache_read": 2400, "cache_write": 0, "reasoning": 0}
    results = [each for each in events(found) if each.kind == "result"]
    assert [(each.verdict, each.exit_code) for each in results] == [("ok", 0), ("error", 1), ("ok", 0)]
    calls = [each.call_id for each in events(found) if each.kind == "call"]
    assert calls == [each.call_id for each in results]
    (about,) = abouts(found).values()
    assert about == {
        "cwd": "/tmp/w/proj", "branch": "master", "model": "gpt-5.4", "version": "1.0.102",
        "title": "Create calc.py with an add function",
    }  # fmt: skip


def test_only_its_own_files_are_recognised() -> None:
    found = recognised(adapter)
    assert {name.split("/")[0] for name in found} == {"copilot"}
    assert len(found) == 14


def test_old_versions_count_at_the_end_only() -> None:
    found = [each for path in samples("copilot/EntityProcess*/**/*.jsonl") for each in read(adapter, path)]
    assert totals(found)["output"] == 1113
    assert {each.session for each in found if isinstance(each, Usage)} < set(abouts(found))


def test_a_subagent_is_a_session_of_its_own() -> None:
    (path,) = samples("copilot/subagent/**/events.jsonl", CLIENTS)
    found = read(adapter, path)
    (child,) = [name for name, facts in abouts(found).items() if facts.get("relation") == "subagent"]
    assert abouts(found)[child]["parent"] == "3d4af0d4-e213-403a-ad3f-f453055f688a"
    said = [(each.role, each.name) for each in events(found, child) if each.kind == "message"]
    assert said == [("system", "prompt"), ("system", "injected"), ("assistant", None), ("assistant", None)]
    assert totals(each for each in found if isinstance(each, Usage) and each.session == child)["output"] == 80
    assert totals(found)["output"] == 160


def test_compaction_and_what_it_cost() -> None:
    (path,) = samples("copilot/compact/**/events.jsonl", CLIENTS)
    found = read(adapter, path)
    (summary,) = [each for each in events(found) if each.kind == "compaction"]
    assert summary.text.startswith("<summary>")
    assert totals(found)["output"] == 12 * 40 + 40
    assert len([each for each in events(found) if each.role == "user"]) == 5


def test_a_killed_session_leaves_its_call_open() -> None:
    (path,) = samples("copilot/killed/**/events.jsonl", CLIENTS)
    found = events(read(adapter, path))
    calls = {each.call_id for each in found if each.kind == "call"}
    assert len(calls - {each.call_id for each in found if each.kind == "result"}) == 1


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


def test_a_call_is_told_once(tmp_path: Path) -> None:
    request = {"toolCallId": "c1", "name": "bash", "arguments": '{"command":"ls"}'}
    path = written(
        tmp_path / "events.jsonl",
        ("assistant.message", {"content": "", "reasoningText": "hm", "toolRequests": [request]}),
        ("tool.execution_start", {"toolCallId": "c1", "toolName": "bash", "arguments": {}}),
        ("tool.execution_start", {"toolCallId": "c2", "toolName": "view", "arguments": {"path": "/x"}}),
        ("abort", {"reason": "user initiated"}),
        ("session.brand_new", {"what": 1}),
    )
    found = events(read(adapter, path))
    calls = [(each.call_id, each.name, each.arguments) for each in found if each.kind == "call"]
    assert calls == [("c1", "bash", {"command": "ls"}), ("c2", "view", {"path": "/x"})]
    kinds = [each.kind for each in found]
    assert kinds == ["lifecycle", "thinking", "call", "call", "interrupt", "opaque"]
    assert [each.order for each in found] == sorted(each.order for each in found)


def test_who_speaks(tmp_path: Path) -> None:
    path = written(
        tmp_path / "events.jsonl",
        ("user.message", {"content": "Mine", "transformedContent": "<x>Mine"}),
        ("user.message", {"content": "Skill", "source": "skill-pdf"}),
        ("system.notification", {"content": "Shell done"}),
    )
    found = [(each.text, each.role, each.name) for each in events(read(adapter, path)) if each.kind == "message"]
    assert found == [("Mine", "user", None), ("Skill", "system", "injected"), ("Shell done", "system", "injected")]
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


def test_steps_say_what_one_reading_says(tmp_path: Path) -> None:
    for path in (*samples("copilot/*/**/*.jsonl"), *samples("copilot/**/events.jsonl", CLIENTS)):
        once, steps = read(adapter, path), in_steps(adapter, path, tmp_path)
        assert events(steps) == events(once)
        assert totals(steps) == totals(once)
        assert isinstance(steps[-1], Mark)
        assert steps[-1].offset == path.stat().st_size - len(path.read_bytes().rsplit(b"\n", 1)[-1])


def test_the_fixture_with_a_cut_line_is_read() -> None:
    (path,) = samples("copilot/**/cli_truncated_resume.events.jsonl")
    found = events(read(adapter, path))
    assert [(each.kind, each.role) for each in found] == [
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
