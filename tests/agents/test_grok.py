"""Grok Build: a session is a directory."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engram.agents.transcripts.adapter import HEAD_BYTES, Mark
from engram.agents.transcripts.grok import adapter
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

SESSION = "01a1e000-0000-7000-8000-000000000001"


def update(number: int, kind: str, method: str = "session/update", **facts: Any) -> dict[str, Any]:
    meta = {"eventId": f"{SESSION}-{number}", "agentTimestampMs": 1794768283000 + number, "promptId": "p1"}
    body = {"sessionUpdate": kind, **facts}
    params = {"sessionId": SESSION, "update": body, "_meta": meta}
    return {"timestamp": 1794768283, "method": method, "params": params}


def chunk(number: int, kind: str, text: str, **meta: Any) -> dict[str, Any]:
    return update(number, kind, content={"type": "text", "text": text}, _meta=meta)


def turn(number: int, prompt: str = "p1", **facts: Any) -> dict[str, Any]:
    return update(number, "turn_completed", "_x.ai/session/update", prompt_id=prompt, **facts)


def conversation() -> list[dict[str, Any]]:
    tool = {"x.ai/tool": {"name": "run_terminal_command"}}
    failed = {"exit_code": 1, "output": [79, 75]}
    usage = {"inputTokens": 100, "outputTokens": 7, "cachedReadTokens": 40, "modelUsage": {"grok-4.6": {}}}
    return [
        chunk(1, "user_message_chunk", "Fix the ", promptIndex=0),
        chunk(2, "user_message_chunk", "port.", promptIndex=0),
        chunk(3, "agent_thought_chunk", "Where is it?"),
        chunk(4, "agent_message_chunk", "I "),
        chunk(5, "agent_message_chunk", "look."),
        update(6, "tool_call", toolCallId="c1", title="run", rawInput={"command": "false"}, _meta=tool),
        update(7, "tool_call_update", toolCallId="c1", status="completed", rawOutput=failed),
        update(8, "tool_call", toolCallId="c2", title="edit", rawInput={}),
        update(9, "tool_call_update", toolCallId="c2", rawInput={"file": "a.py"}),
        update(10, "tool_call_update", toolCallId="c2", status="completed", content=[]),
        update(11, "novelty", what="unheard of"),
        turn(12, stop_reason="end_turn", usage=usage),
    ]  # fmt: skip


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    folder = tmp_path / "sessions" / "%2Fproj" / SESSION
    ended = {"type": "tool_completed", "outcome": "permission_rejected", "tool_call_id": "c2"}
    written(folder / "events.jsonl", {"type": "turn_started"}, ended)
    summary = {"info": {"id": SESSION, "cwd": "/proj"}, "head_branch": "main", "generated_title": "Port"}
    (folder / "summary.json").write_bytes(orjson.dumps(summary))
    return written(folder / "updates.jsonl", *conversation())


def test_chunks_are_one_message(transcript: Path) -> None:
    said = events(read(adapter, transcript), "message", "thinking")
    assert [(text.kind, text.role, text.text) for text in said] == [
        ("message", "user", "Fix the port."),
        ("thinking", "assistant", "Where is it?"),
        ("message", "assistant", "I look."),
    ]


def test_a_completed_call_may_have_failed(transcript: Path) -> None:
    results = events(read(adapter, transcript), "result")
    assert [(result.call_id, result.verdict, result.exit_code, result.text) for result in results] == [
        ("c1", "error", 1, "OK"),
        ("c2", "denied", None, ""),
    ]


def test_arguments_may_come_after_the_call(transcript: Path) -> None:
    calls = events(read(adapter, transcript), "call")
    assert [(call.name, call.arguments) for call in calls] == [
        ("run_terminal_command", {"command": "false"}),
        ("edit", {"file": "a.py"}),
    ]


def test_the_directory_has_facts_about_the_session(transcript: Path) -> None:
    facts = about(read(adapter, transcript))
    assert (facts["session"], facts["cwd"], facts["branch"], facts["title"]) == (SESSION, "/proj", "main", "Port")


def test_an_unknown_kind_is_kept(transcript: Path) -> None:
    assert [event.name for event in events(read(adapter, transcript), "opaque")] == ["novelty"]


def test_a_message_still_being_written_is_read_again(transcript: Path, tmp_path: Path) -> None:
    lines = transcript.read_bytes().splitlines(keepends=True)
    transcript.write_bytes(b"".join(lines[:4]))
    early = read(adapter, transcript)
    assert events(early, "message")[-1].text == "I "
    mark = next(item for item in early[::-1] if isinstance(item, Mark))
    assert mark.offset == sum(map(len, lines[:3]))
    transcript.write_bytes(b"".join(lines))
    late = read(adapter, transcript, mark)
    assert events(late, "message")[-1].key == events(early, "message")[-1].key
    assert events(late, "message")[-1].text == "I look."


@pytest.mark.parametrize("step", [1, 97, 500])
def test_reading_in_steps_gives_the_same_as_one_read(transcript: Path, tmp_path: Path, step: int) -> None:
    same_in_steps(adapter, transcript, tmp_path / "steps", step)


def test_a_turn_counts_by_its_prompt(tmp_path: Path) -> None:
    models = {"a": {"inputTokens": 10, "outputTokens": 1}, "b": {"inputTokens": 5, "costUsdTicks": 20_000_000_000}}
    path = written(
        tmp_path / "updates.jsonl",
        turn(1, "p1", usage={"inputTokens": 9, "outputTokens": 2, "costUsdTicks": 5_000_000_000}),
        turn(2, "p2", usage={"inputTokens": 9, "costUsdTicks": 5, "usageIsIncomplete": True}),
        turn(3, "p3", usage={"inputTokens": 15, "outputTokens": 1, "modelUsage": models}),
    )
    replies = usages(read(adapter, path))
    assert {key: (reply.cost, reply.basis) for key, reply in replies.items()} == {
        "p1": (0.5, "exact"),
        "p2": (None, "floor"),
        "p3:a": (None, "exact"),
        "p3:b": (2.0, "exact"),
    }


def test_a_cancelled_turn_is_an_interrupt(tmp_path: Path) -> None:
    path = written(tmp_path / "updates.jsonl", turn(1, stop_reason="cancelled"), turn(2, stop_reason="error"))
    ends = events(read(adapter, path))
    assert [(end.kind, end.verdict) for end in ends] == [("interrupt", "interrupted"), ("lifecycle", "error")]


def test_bare_notifications_of_old_files(tmp_path: Path) -> None:
    path = written(tmp_path / "updates.jsonl", *(item["params"] for item in conversation()))
    assert adapter.recognises(str(path), path.read_bytes())
    assert len(events(read(adapter, path), "call", "result")) == 4


def test_a_subagent_is_asked_by_its_parent_and_not_counted(transcript: Path) -> None:
    child = transcript.parent.parent / "child" / "updates.jsonl"
    written(child, *(orjson.loads(orjson.dumps(item).replace(SESSION.encode(), b"child")) for item in conversation()))
    (child.parent / "summary.json").write_bytes(orjson.dumps({"info": {"id": "child"}, "session_kind": "subagent"}))
    meta = transcript.parent / "subagents" / "child" / "meta.json"
    meta.parent.mkdir(parents=True)
    meta.write_bytes(orjson.dumps({"parent_session_id": SESSION}))
    items = read(adapter, child)
    assert (about(items)["parent"], about(items)["relation"]) == (SESSION, "subagent")
    assert next((event.role, event.name) for event in events(items, "message")) == ("system", "prompt")
    assert usages(items) == {}


def test_a_chat_history_is_read_only_without_updates(transcript: Path) -> None:
    chat = written(
        transcript.parent / "chat_history.jsonl",
        {"type": "system", "content": "You are Grok"},
        {"type": "user", "content": "<user_query>\nHello\n</user_query>", "prompt_index": 0},
        {"type": "user", "content": "<system-reminder>x</system-reminder>", "synthetic_reason": "system_reminder"},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "c2", "function": {"name": "ls", "arguments": "{}"}}],
        },
        {"type": "tool_result", "tool_call_id": "c2", "content": "exit: 2\nno"},
        {"type": "assistant", "content": "Done.", "model_id": "grok-4.5"},
        {"type": "assistant", "content": "Done.", "model_id": "grok-4.5"},
    )
    assert adapter.recognises(str(chat), chat.read_bytes())
    assert read(adapter, chat) == [Mark(offset=0, state={})]
    transcript.unlink()
    loaded = events(read(adapter, chat))
    assert [(event.role, event.name, event.text) for event in loaded if event.kind == "message"] == [
        ("system", "injected", "You are Grok"),
        ("user", None, "Hello"),
        ("system", "injected", "<system-reminder>x</system-reminder>"),
        ("assistant", None, "Done."),
        ("assistant", None, "Done."),
    ]
    assert [(event.verdict, event.exit_code) for event in loaded if event.kind == "result"] == [("denied", 2)]


def test_generated_sessions_cost_what_they_cost() -> None:
    root = shared("data", "transcripts", "grok", "generated")
    items = [item for path in ours(adapter, root) if "killed" not in path.parts for item in read(adapter, path)]
    assert tokens(items) == truth("grok")


def test_forks_and_compactions_of_the_real_program() -> None:
    root = shared("data", "transcripts", "grok", "generated", "grok-1.0.41")
    found = {path.parent.name: read(adapter, path) for path in ours(adapter, root) if path.name == "updates.jsonl"}
    fork = about(found["01a1e086-ebd0-7263-ad9a-06be7747d2b3"])
    assert (fork["parent"], fork["relation"]) == ("01a1e086-e77e-71f2-9259-0fcc9e6db535", "fork")
    compacted = events(found["01a1e08b-a2db-76f0-8033-0f0d8ae26e32"], "compaction")
    assert [item.name for item in compacted] == ["summary", "auto_compact_completed"]
    assert "calc.py" in compacted[0].text


def test_we_read_what_the_model_was_sent() -> None:
    root = shared("realclients", "samples", "grok", "tools")
    turns = orjson.loads((root / "manifest.json").read_bytes())["model_turns"]
    (path,) = [item for item in ours(adapter, root) if item.name == "updates.jsonl"]
    loaded = events(read(adapter, path))
    calls = [[event.name, event.arguments] for event in loaded if event.kind == "call"]
    assert calls == [call for item in turns for call in item["calls"]]
    said = [event.text for event in loaded if event.kind == "message" and event.role == "assistant"]
    assert said == [item["text"] for item in turns]


def test_only_its_own_files() -> None:
    shared("data", "transcripts")
    for path in (*files(TRANSCRIPTS), *files(CLIENTS)):
        if adapter.recognises(str(path), path.read_bytes()[:HEAD_BYTES]):
            assert "grok" in path.parts
            assert path.name in ("updates.jsonl", "chat_history.jsonl", "source-v1.jsonl")


def test_samples_in_steps(tmp_path: Path) -> None:
    for number, path in enumerate(ours(adapter, shared("realclients", "samples", "grok"))):
        same_in_steps(adapter, path, tmp_path / str(number), 4001)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cut=st.integers(0, 1 << 20), line=st.integers(0, 100), garbage=st.binary(max_size=60), name=st.integers(0, 1))
def test_nothing_that_happens_to_a_file_is_fatal(
    transcript: Path, cut: int, line: int, garbage: bytes, name: int
) -> None:
    folder = transcript.parent.parent / "spoilt"
    shutil.copytree(transcript.parent, folder, dirs_exist_ok=True)
    target = folder / ("updates.jsonl", "events.jsonl")[name]
    target.write_bytes(spoilt((transcript.parent / target.name).read_bytes(), cut, line, garbage))
    adapter.recognises(str(folder / "updates.jsonl"), (folder / "updates.jsonl").read_bytes())
    read(adapter, folder / "updates.jsonl")


def test_values_of_the_wrong_type_are_not_fatal(tmp_path: Path) -> None:
    odd: list[Any] = [None, 5, "x", [], {}, [None], {"a": []}, True]
    kinds = ["tool_call", "tool_call_update", "turn_completed", "hook_execution", "compaction_checkpoint", "plan"]
    names = ("toolCallId", "rawInput", "rawOutput", "content", "status", "usage", "prompt_id", "runs", "_meta", "type")
    rows = [update(1, kind, **dict.fromkeys(names, value)) for kind in kinds for value in odd]
    rows += [{"params": value} for value in odd] + [{"params": {"update": value, "sessionId": value}} for value in odd]
    rows += [update(2, "tool_call_update", status="completed", rawOutput=value) for value in odd]
    read(adapter, written(tmp_path / "updates.jsonl", *rows))
    chat = [{"type": kind, "content": value, "tool_calls": value, "kind": value, "model_id": value, "summary": value,
             "tool_call_id": value} for kind in ("user", "assistant", "tool_result", "backend_tool_call", "reasoning")
            for value in odd]  # fmt: skip
    read(adapter, written(tmp_path / "chat" / "chat_history.jsonl", *chat))


def test_places() -> None:
    (place,) = adapter.places({"HOME": "/home/a"}, [])
    assert place.root == "/home/a/.grok/sessions"
    (place,) = adapter.places({"HOME": "/home/a", "GROK_HOME": "/g"}, [])
    assert place.root == "/g/sessions"
