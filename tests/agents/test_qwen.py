"""Qwen Code: Claude's tree around Google's parts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engram.agents.transcripts.adapter import HEAD_BYTES
from engram.agents.transcripts.qwen import adapter
from tests.agents.trials import (
    CLIENTS,
    TRANSCRIPTS,
    about,
    events,
    files,
    ours,
    read,
    same_in_steps,
    shared,
    spoilt,
    tokens,
    truth,
    written,
)

USAGE = {"promptTokenCount": 100, "candidatesTokenCount": 9, "thoughtsTokenCount": 4, "cachedContentTokenCount": 60}


def record(uuid: str, kind: str, *parts: dict[str, Any], **facts: Any) -> dict[str, Any]:
    tree = {"uuid": uuid, "parentUuid": None, "sessionId": "s1", "timestamp": "2026-11-15T18:47:56.897Z"}
    said = {"message": {"role": "user", "parts": list(parts)}} if parts else {}
    return {**tree, "type": kind, "cwd": "/proj", "version": "0.24.4", "gitBranch": "main", **said, **facts}


def result(uuid: str, call: str, response: dict[str, Any], **facts: Any) -> dict[str, Any]:
    answer = {"functionResponse": {"id": call, "name": "shell", "response": response}}
    return record(uuid, "tool_result", answer, toolCallResult={"callId": call, **facts})


def system(uuid: str, subtype: str, payload: dict[str, Any]) -> dict[str, Any]:
    return record(uuid, "system", subtype=subtype, systemPayload=payload)


def conversation() -> list[dict[str, Any]]:
    call = {"functionCall": {"id": "c1", "name": "shell", "args": {"command": "false"}}}
    telemetry = {"uiEvent": {"event.name": "qwen-code.api_response", "input_token_count": 100}}
    failure = {"uiEvent": {"event.name": "qwen-code.api_error", "error": "429"}}
    history = [{"role": "user", "parts": [{"text": "<summary>done</summary>"}]}]
    typed = {"displayText": "Fix the port.", "hookContext": "port 4711"}
    return [
        record("u1", "user", {"text": "Fix the port."}, {"text": "port 4711"}, systemPayload=typed),
        system("y1", "ui_telemetry", telemetry),
        record("a1", "assistant", {"text": "Hm", "thought": True}, {"text": "I look."}, call, model="qwen3",
               usageMetadata={**USAGE, "totalTokenCount": 109}),
        result("r1", "c1", {"output": "no\nExit Code: 1"}, status="success"),
        result("r2", "c2", {"error": "[Operation Cancelled] Reason: User did not allow tool call"}, status="cancelled"),
        result("r3", "c3", {"error": "aborted"}, status="cancelled"),
        record("n1", "user", {"text": "<task-notification>"}, subtype="notification", provenance="system"),
        system("y2", "ui_telemetry", failure),
        system("k1", "chat_compression", {"info": {"originalTokenCount": 60000}, "compressedHistory": history}),
        system("t1", "custom_title", {"customTitle": "Port"}),
        system("c9", "slash_command", {"phase": "invocation", "rawCommand": "/about"}),
        system("e1", "turn_result", {"state": "cancelled", "promptId": "p"}),
        system("z1", "unheard_of", {}),
    ]  # fmt: skip


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    return written(tmp_path / "projects" / "-proj" / "chats" / "s1.jsonl", *conversation())


def test_speakers_are_recognized(transcript: Path) -> None:
    said = events(read(adapter, transcript), "message", "thinking")
    assert [(text.kind, text.role, text.name, text.text) for text in said] == [
        ("message", "user", None, "Fix the port."),
        ("message", "system", "injected", "port 4711"),
        ("thinking", "assistant", None, "Hm"),
        ("message", "assistant", None, "I look."),
        ("message", "system", "injected", "<task-notification>"),
        ("message", "user", "command", "/about"),
    ]


def test_results_and_their_verdicts(transcript: Path) -> None:
    results = events(read(adapter, transcript), "result")
    assert [(item.call_id, item.verdict, item.exit_code) for item in results] == [
        ("c1", "error", 1),
        ("c2", "denied", None),
        ("c3", "interrupted", None),
    ]


def test_the_life_of_a_session(transcript: Path) -> None:
    items = read(adapter, transcript)
    assert [event.text for event in events(items, "compaction")] == ["<summary>done</summary>"]
    assert [(event.name, event.verdict) for event in events(items, "lifecycle")] == [("qwen-code.api_error", "error")]
    assert [event.name for event in events(items, "interrupt")] == ["turn_result"]
    assert [event.name for event in events(items, "opaque")] == ["unheard_of"]
    facts = about(items)
    assert facts == {
        "session": "s1",
        "cwd": "/proj",
        "branch": "main",
        "version": "0.24.4",
        "model": "qwen3",
        "title": "Port",
    }


def test_thoughts_count_once(tmp_path: Path) -> None:
    path = written(
        tmp_path / "s.jsonl",
        record("a", "assistant", {"text": "x"}, usageMetadata={**USAGE, "totalTokenCount": 109}),
        record("b", "assistant", {"text": "y"}, usageMetadata={**USAGE, "totalTokenCount": 113}),
        record("a", "assistant", {"text": "x"}, usageMetadata={**USAGE, "totalTokenCount": 109}),
    )
    assert tokens(read(adapter, path)) == (80, 9 + 13, 120)


def test_a_subagent_is_a_session_under_its_parent(tmp_path: Path) -> None:
    side = {"agentId": "explore-1", "isSidechain": True}
    path = written(tmp_path / "agent-explore-1.jsonl", record("u", "user", {"text": "Count."}, **side))
    (tmp_path / "agent-explore-1.meta.json").write_bytes(orjson.dumps({"model": "qwen3", "description": "Counting"}))
    items = read(adapter, path)
    facts = about(items)
    assert (facts["session"], facts["parent"], facts["relation"]) == ("s1/explore-1", "s1", "subagent")
    assert (facts["model"], facts["title"]) == ("qwen3", "Counting")
    assert [(event.role, event.name) for event in events(items)] == [("system", "prompt")]


def test_a_branch_names_its_parent(tmp_path: Path) -> None:
    origin = {"sessionId": "s0", "messageUuid": "u"}
    path = written(tmp_path / "s1.jsonl", record("u", "user", {"text": "Hello"}, forkedFrom=origin))
    facts = about(read(adapter, path))
    assert (facts["parent"], facts["relation"]) == ("s0", "fork")


@pytest.mark.parametrize("step", [1, 83, 900])
def test_reading_in_steps_gives_the_same_as_one_read(transcript: Path, tmp_path: Path, step: int) -> None:
    same_in_steps(adapter, transcript, tmp_path / "steps", step)


def test_generated_sessions_cost_what_they_cost() -> None:
    root = shared("data", "transcripts", "qwen", "generated")
    assert tokens([item for path in ours(adapter, root) for item in read(adapter, path)]) == truth("qwen")


def test_we_read_what_the_model_was_sent() -> None:
    root = shared("realclients", "samples", "qwen", "tools")
    turns = orjson.loads((root / "manifest.json").read_bytes())["model_turns"]
    (path,) = ours(adapter, root)
    loaded = events(read(adapter, path))
    calls = [[event.name, event.arguments] for event in loaded if event.kind == "call"]
    assert calls == [call for turn in turns if turn["kind"] == "main" for call in turn["calls"]]
    assert len([event for event in loaded if event.kind == "result"]) == len(calls)


def test_only_its_own_files() -> None:
    shared("data", "transcripts")
    for path in (*files(TRANSCRIPTS), *files(CLIENTS)):
        if adapter.recognises(str(path), path.read_bytes()[:HEAD_BYTES]):
            assert "qwen" in path.parts


def test_samples_in_steps(tmp_path: Path) -> None:
    for number, path in enumerate(ours(adapter, shared("realclients", "samples", "qwen"))):
        same_in_steps(adapter, path, tmp_path / str(number), 5003)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cut=st.integers(0, 1 << 20), line=st.integers(0, 100), garbage=st.binary(max_size=60))
def test_nothing_that_happens_to_a_file_is_fatal(transcript: Path, cut: int, line: int, garbage: bytes) -> None:
    target = transcript.parent / "spoilt.jsonl"
    target.write_bytes(spoilt(transcript.read_bytes(), cut, line, garbage))
    adapter.recognises(str(target), target.read_bytes())
    read(adapter, target)


def test_values_of_the_wrong_type_are_not_fatal(tmp_path: Path) -> None:
    odd: list[Any] = [None, 5, "x", [], {}, [None], {"a": []}, True]
    names = (
        "message",
        "usageMetadata",
        "toolCallResult",
        "systemPayload",
        "forkedFrom",
        "agentId",
        "timestamp",
        "subtype",
    )
    kinds = ("user", "assistant", "tool_result", "system")
    rows = [{**record("a", kind), **dict.fromkeys(names, value)} for kind in kinds for value in odd]
    subtypes = ("chat_compression", "ui_telemetry", "slash_command", "turn_result", "rewind")
    inner = ("info", "compressedHistory", "uiEvent", "rawCommand", "state", "error", "displayText")
    rows += [system("a", kind, dict.fromkeys(inner, value)) for kind in subtypes for value in odd]
    rows += [
        record("a", kind, {"functionCall": value, "functionResponse": value, "text": value})
        for kind in kinds
        for value in odd
    ]
    read(adapter, written(tmp_path / "s.jsonl", *rows))


def test_places() -> None:
    (place,) = adapter.places({"HOME": "/home/a"}, [])
    assert place.root == "/home/a/.qwen/projects"
    (place,) = adapter.places({"HOME": "/home/a", "QWEN_HOME": "/q"}, [])
    assert place.root == "/q/projects"
