"""Gemini CLI: whole files, then a log of changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engram.agents.transcripts.adapter import HEAD_BYTES
from engram.agents.transcripts.gemini import adapter
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
    usages,
    written,
)

HEADER = {"sessionId": "s1", "projectHash": "ab", "startTime": "2026-11-15T18:46:03.735Z", "kind": "main"}
CONTEXT = "<session_context>\n- **Workspace Directories:**\n  - /proj\n</session_context>"
TOKENS = {"input": 100, "output": 8, "cached": 60, "thoughts": 2, "tool": 5, "total": 115}


def message(identity: str, kind: str, content: Any, **facts: Any) -> dict[str, Any]:
    return {"id": identity, "timestamp": "2026-11-15T18:47:46.335Z", "type": kind, "content": content, **facts}


def call(identity: str, status: str, output: str, **facts: Any) -> dict[str, Any]:
    answer = {"functionResponse": {"id": identity, "name": "shell", "response": {"output": output}}}
    return {"id": identity, "name": "shell", "args": {"command": "x"}, "status": status, "result": [answer], **facts}


def conversation() -> list[dict[str, Any]]:
    answer = message("m2", "gemini", "I look.", thoughts=[{"subject": "Look"}], tokens=TOKENS, model="gemini-3")
    calls = [call("c1", "success", "no\nExit Code: 1"), call("c2", "cancelled", "User did not allow tool call")]
    copies = [
        message("m0", "user", [{"text": CONTEXT}]),
        message("n1", "user", [{"text": "<summary>what was done</summary>"}]),
        message("n2", "gemini", [{"text": "Got it."}]),
        message("n3", "gemini", [{"text": "I look."}, {"functionCall": {"id": "c1", "name": "shell"}}]),
    ]
    return [
        HEADER,
        {"$set": {"messages": [message("m0", "user", [{"text": CONTEXT}])]}},
        message("m1", "user", [{"text": "<hook_context>port 4711</hook_context>\n\nFix the port."}]),
        answer,
        {"$set": {"lastUpdated": "2026-11-15T18:47:46.335Z"}},
        {**answer, "toolCalls": calls},
        message("m3", "user", [calls[0]["result"][0], calls[1]["result"][0]]),
        {"$set": {"messages": copies, "summary": "Port"}},
        message("m4", "info", "Request cancelled."),
        {"$rewindTo": "m1"},
        {"strange": True},
    ]


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    return written(tmp_path / "tmp" / "proj" / "chats" / "session-1.jsonl", *conversation())


def test_the_last_copy_of_a_message_counts_once(transcript: Path) -> None:
    items = read(adapter, transcript)
    assert tokens(items) == (45, 10, 60)
    assert [usage.basis for usage in usages(items).values()] == ["floor"]
    assert [event.text for event in events(items, "message") if event.role == "assistant"] == ["I look."]


def test_calls_and_results_come_from_the_message(transcript: Path) -> None:
    items = read(adapter, transcript)
    assert [event.call_id for event in events(items, "call")] == ["c1", "c2"]
    assert [(event.verdict, event.exit_code) for event in events(items, "result")] == [("error", 1), ("denied", None)]


def test_only_typed_text_counts_as_the_users(transcript: Path) -> None:
    said = events(read(adapter, transcript), "message", "compaction")
    assert [(text.kind, text.role, text.name, text.text) for text in said] == [
        ("message", "system", "injected", CONTEXT),
        ("message", "system", "injected", "<hook_context>port 4711</hook_context>"),
        ("message", "user", None, "Fix the port."),
        ("message", "assistant", None, "I look."),
        ("compaction", "system", "summary", "<summary>what was done</summary>"),
        ("message", "system", "injected", "Got it."),
    ]


def test_rewinds_interrupts_and_novelties_are_kept(transcript: Path) -> None:
    items = read(adapter, transcript)
    assert [event.text for event in events(items, "interrupt")] == ["Request cancelled."]
    assert [(event.name, event.text) for event in events(items, "lifecycle")] == [("rewind", "m1")]
    assert len(events(items, "opaque")) == 1


def test_what_is_known_about_the_session(transcript: Path) -> None:
    expected = {"session": "s1", "cwd": "/proj", "title": "Port", "model": "gemini-3"}
    assert about(read(adapter, transcript)) == expected
    (transcript.parents[1] / ".project_root").write_text("/elsewhere\n")
    assert about(read(adapter, transcript)) == {**expected, "cwd": "/elsewhere"}


@pytest.mark.parametrize("step", [1, 61, 700])
def test_reading_in_steps_gives_the_same_as_one_read(transcript: Path, tmp_path: Path, step: int) -> None:
    same_in_steps(adapter, transcript, tmp_path / "steps", step)


def test_a_subagent_lies_under_its_parent(tmp_path: Path) -> None:
    header = {**HEADER, "kind": "subagent", "directories": ["/proj"]}
    path = written(tmp_path / "chats" / "parent" / "s1.jsonl", header, message("u", "user", [{"text": "Count."}]))
    items = read(adapter, path)
    assert about(items) == {"session": "s1", "parent": "parent", "relation": "subagent", "cwd": "/proj"}
    assert [(event.role, event.name) for event in events(items)] == [("system", "prompt")]


def whole_file(path: Path, text: bytes | None = None) -> Path:
    messages = [turn for turn in conversation() if "id" in turn and turn["type"] != "info"]
    whole = orjson.dumps({**HEADER, "messages": messages}, option=orjson.OPT_INDENT_2)
    path.write_bytes(whole if text is None else text)
    return path


def test_a_whole_file_is_read_again_with_the_same_keys(tmp_path: Path) -> None:
    path = whole_file(tmp_path / "session-1.json")
    assert adapter.recognises(str(path), path.read_bytes())
    first, again = read(adapter, path), read(adapter, path, None)
    assert events(first) == events(again)
    assert [event.kind for event in events(first)][:3] == ["message", "message", "thinking"]
    assert tokens(first) == (45, 10, 60)


def test_one_line_without_an_end_is_a_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "session-1.json"
    path.write_bytes(orjson.dumps({**HEADER, "messages": [message("u", "user", "Hello")]}))
    assert [event.text for event in events(read(adapter, path))] == ["Hello"]


def test_the_whole_messages_of_a_cut_file_are_saved(tmp_path: Path) -> None:
    content = whole_file(tmp_path / "whole.json").read_bytes()
    path = whole_file(tmp_path / "session-1.json", content[: content.index(b"toolCalls")])
    items = read(adapter, path)
    assert [event.session for event in events(items, "message")][0] == "s1"  # noqa: RUF015
    assert "Fix the port." in [event.text for event in events(items, "message")]
    assert len(events(items, "damage")) == 1


def test_generated_sessions_cost_what_they_cost() -> None:
    root = shared("data", "transcripts", "gemini", "generated")
    assert tokens([item for path in ours(adapter, root) for item in read(adapter, path)]) == truth("gemini")


@pytest.mark.parametrize("kind", ["tools", "compact"])
def test_we_read_what_the_model_was_sent(kind: str) -> None:
    root = shared("realclients", "samples", "gemini", kind)
    turns = orjson.loads((root / "manifest.json").read_bytes())["model_turns"]
    (path,) = ours(adapter, root)
    loaded = events(read(adapter, path))
    calls = [(event.name, event.arguments) for event in loaded if event.kind == "call"]
    assert calls == [tuple(call) for turn in turns if turn["kind"] == "main" for call in turn["calls"]]
    said = [event.text for event in loaded if event.kind == "message" and event.role == "assistant"]
    assert said == [turn["text"] for turn in turns if turn["kind"] == "main"]
    assert len([event for event in loaded if event.kind == "result"]) == len(calls)


def test_only_its_own_files() -> None:
    shared("data", "transcripts")
    for path in (*files(TRANSCRIPTS), *files(CLIENTS)):
        if adapter.recognises(str(path), path.read_bytes()[:HEAD_BYTES]):
            assert b"projectHash" in path.read_bytes()
            assert b"parentUuid" not in path.read_bytes()[:4096]


def test_samples_in_steps(tmp_path: Path) -> None:
    for number, path in enumerate(ours(adapter, shared("realclients", "samples", "gemini"))):
        same_in_steps(adapter, path, tmp_path / str(number), 5003)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cut=st.integers(0, 1 << 20), line=st.integers(0, 100), garbage=st.binary(max_size=60), whole=st.booleans())
def test_nothing_that_happens_to_a_file_is_fatal(
    transcript: Path, cut: int, line: int, garbage: bytes, whole: bool
) -> None:
    source = whole_file(transcript.parent / "whole.json") if whole else transcript
    target = transcript.parent / ("spoilt.json" if whole else "spoilt.jsonl")
    target.write_bytes(spoilt(source.read_bytes(), cut, line, garbage))
    adapter.recognises(str(target), target.read_bytes())
    read(adapter, target)


def test_values_of_the_wrong_type_are_not_fatal(tmp_path: Path) -> None:
    odd: list[Any] = [None, 5, "x", [], {}, [None], {"a": []}, True]
    names = ("content", "toolCalls", "thoughts", "tokens", "model", "timestamp", "displayContent")
    rows: list[Any] = [
        {"id": "a", "type": kind, **dict.fromkeys(names, value)}
        for kind in ("user", "gemini", "error")
        for value in odd
    ]
    rows += [{"$set": value} for value in odd] + [{"$set": {"messages": value, "directories": value}} for value in odd]
    rows += [{**HEADER, "messages": value, "kind": value, "directories": value, "sessionId": value} for value in odd]
    rows += [message("a", "gemini", "", toolCalls=[{"id": value, "result": value, "status": "error"}]) for value in odd]
    rows += [message("a", "user", [{"functionResponse": value}]) for value in odd]
    read(adapter, written(tmp_path / "session-1.jsonl", HEADER, *rows))


def test_places() -> None:
    (place,) = adapter.places({"HOME": "/home/a"}, [])
    assert place.root == "/home/a/.gemini/tmp"
    (place,) = adapter.places({"HOME": "/home/a", "GEMINI_CLI_HOME": "/g"}, [])
    assert place.root == "/g/.gemini/tmp"
