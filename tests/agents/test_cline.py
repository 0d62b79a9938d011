"""Cline's tasks and sessions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from engram.agents.transcripts import roo
from engram.agents.transcripts.cline import adapter
from engram.types import Usage
from tests.agents.reading import abouts, events, read, recognised, samples, survives, totals

NOW = 1_700_000_000_000


def said(kind: str, text: Any = "", ask: bool = False, **facts: Any) -> dict[str, Any]:
    way = "ask" if ask else "say"
    return {"type": way, way: kind, "text": text if isinstance(text, str) else orjson.dumps(text).decode(), **facts}


def task(tmp_path: Path, *entries: dict[str, Any]) -> Path:
    path = tmp_path / "tasks" / "1700000000000" / "ui_messages.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(orjson.dumps([{"ts": NOW + place, **entry} for place, entry in enumerate(entries)]))
    return path


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    request = {
        "request": "<task>\n# Current Working Directory (/home/me/p) Files", "tokensIn": 10, "tokensOut": 5,
        "cacheReads": 3, "cacheWrites": 2, "cost": 0.01,
    }  # fmt: skip
    return task(
        tmp_path,
        said("task", "Fix it"),
        said("api_req_started", request),
        said("text", "Looking.", reasoning="hm"),
        said("tool", {"tool": "readFile", "path": "a.py"}, ask=True),
        said("command", "ls", ask=True),
        said("command_output", "a.py"),
        said("user_feedback", "Go on"),
        said("followup", {"question": "Which?", "options": ["a"]}, ask=True),
        said("api_req_started", {"request": "x", "cancelReason": "user_cancelled"}),
        said("error", "boom"),
        said("condense", "So far", ask=True),
        said("completion_result", "Done"),
        said("completion_result", "", ask=True),
        said("brand_new", "?"),
        said("text", "not yet", partial=True),
    )


def test_a_task_is_read(whole: Path) -> None:
    items = read(adapter, whole)
    assert [(event.kind, event.role, event.name, event.text) for event in events(items)] == [
        ("message", "user", None, "Fix it"),
        ("thinking", "assistant", None, "hm"),
        ("message", "assistant", None, "Looking."),
        ("call", "assistant", "readFile", ""),
        ("call", "assistant", "execute_command", ""),
        ("result", "tool", None, "a.py"),
        ("message", "user", None, "Go on"),
        ("message", "assistant", None, "Which?"),
        ("interrupt", "system", "user_cancelled", ""),
        ("lifecycle", "system", "error", "boom"),
        ("compaction", "system", "condense", "So far"),
        ("message", "assistant", None, "Done"),
        ("opaque", "system", "brand_new", "?"),
    ]
    call, result = (event for event in events(items) if event.name == "execute_command" or event.kind == "result")
    assert call.call_id == result.call_id is not None
    assert call.arguments == {"command": "ls"}
    assert abouts(items) == {"1700000000000": {"cwd": "/home/me/p"}}
    orders = [event.order for event in events(items)]
    assert orders == sorted(set(orders))


def test_requests_are_counted(whole: Path) -> None:
    items = read(adapter, whole)
    assert totals(items) == {"input": 10, "output": 5, "cache_read": 3, "cache_write": 2, "reasoning": 0}
    (usage,) = [item for item in items if isinstance(item, Usage)]
    assert (usage.cost, usage.key) == (0.01, f"1700000000000:{NOW + 1}")


def test_the_models_are_named_beside(whole: Path) -> None:
    whole.with_name("task_metadata.json").write_text('{"model_usage":[{"model_id":"m1"},{"model_id":"m2"}]}')
    assert abouts(read(adapter, whole))["1700000000000"]["model"] == "m2"


def test_a_rewritten_task_keeps_its_keys(whole: Path, tmp_path: Path) -> None:
    before = events(read(adapter, whole))
    entries = orjson.loads(whole.read_bytes())
    whole.write_bytes(orjson.dumps([*entries[:-1], {"ts": NOW + 99, **said("text", "More")}]))
    after = events(read(adapter, whole))
    assert after[:-1] == before
    assert after[-1].text == "More"


def test_entries_of_one_moment_stay_apart(tmp_path: Path) -> None:
    path = task(tmp_path, said("task", "A"), said("text", "B", ts=NOW), said("text", "C", ts=NOW))
    assert [event.text for event in events(read(adapter, path))] == ["A", "B", "C"]


def test_cline_is_distinguished_from_roo(tmp_path: Path, whole: Path) -> None:
    old = task(tmp_path, said("text", "Old Cline"))
    assert adapter.recognises(str(old), old.read_bytes())
    assert not roo.adapter.recognises(str(old), old.read_bytes())
    theirs = task(tmp_path, said("text", "Roo"), said("checkpoint_saved", "abc"))
    assert not adapter.recognises(str(theirs), theirs.read_bytes())
    assert roo.adapter.recognises(str(theirs), theirs.read_bytes())


SESSION = {
    "version": 1, "updated_at": "2026-01-01T00:00:00Z", "sessionId": "s1", "messages": [
        {"id": "m1", "role": "user", "ts": NOW, "content": [
            {"type": "text", "text": '<user_input mode="act">Fix it</user_input>'}]},
        {"id": "m2", "role": "assistant", "ts": NOW + 1, "modelInfo": {"id": "m"}, "content": [
            {"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Yes"},
            {"type": "tool_use", "id": "t1", "name": "run", "input": {"c": 1}}],
         "metrics": {"inputTokens": 9, "outputTokens": 2, "cacheReadTokens": 1, "cacheWriteTokens": 0}},
        {"id": "m3", "role": "user", "ts": NOW + 2, "content": [
            {"type": "tool_result", "tool_use_id": "t1", "content": "no", "is_error": True}]},
    ],
}  # fmt: skip


def test_a_session_of_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "s1.messages.json"
    path.write_bytes(orjson.dumps(SESSION))
    path.with_name("s1.json").write_text('{"cwd":"/w","model":"m","metadata":{"title":"T","git":{"branch":"b"}}}')
    assert adapter.recognises(str(path), path.read_bytes())
    items = read(adapter, path)
    assert [(event.kind, event.role, event.text, event.verdict) for event in events(items)] == [
        ("message", "user", "Fix it", None), ("thinking", "assistant", "hm", None),
        ("message", "assistant", "Yes", None), ("call", "assistant", "", None), ("result", "tool", "no", "error"),
    ]  # fmt: skip
    assert abouts(items) == {"s1": {"cwd": "/w", "model": "m", "title": "T", "branch": "b"}}
    (usage,) = [item for item in items if isinstance(item, Usage)]
    assert (usage.input, usage.output, usage.basis) == (9, 2, "uncertain")


def test_only_its_own_files_are_recognised() -> None:
    assert {name.split("/")[0] for name in recognised(adapter)} == {"cline"}


def test_the_sample_is_read() -> None:
    (path,) = samples("cline/**/task1/ui_messages.json")
    items = read(adapter, path)
    assert [(event.role, event.text) for event in events(items)] == [
        ("user", "Hello Cline"), ("assistant", "Hi from Cline"),
    ]  # fmt: skip
    assert abouts(items) == {"task1": {"title": "Cline fixture task"}}


def test_no_damage_makes_it_raise(whole: Path, tmp_path: Path) -> None:
    whole.write_bytes(orjson.dumps(orjson.loads(whole.read_bytes()), option=orjson.OPT_INDENT_2))
    survives(adapter, whole, tmp_path)
    survives(roo.adapter, whole, tmp_path)
    path = tmp_path / "s1.messages.json"
    path.write_bytes(orjson.dumps(SESSION, option=orjson.OPT_INDENT_2))
    survives(adapter, path, tmp_path, "s2.messages.json")
    for path in samples("cline/**/*.json"):
        read(adapter, path)


def test_places() -> None:
    roots = [place.root for place in adapter.places({"HOME": "/h"}, [])]
    assert "/h/.config/Code/User/globalStorage/saoudrizwan.claude-dev/tasks" in roots
    assert roots[-1] == "/h/.cline/data/sessions"


def history(folder: Path, *messages: dict[str, Any]) -> Path:
    path = folder / "tasks" / "1700000000000" / "api_conversation_history.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(orjson.dumps(list(messages)))
    return path


def talk(role: str, *texts: str, **facts: Any) -> dict[str, Any]:
    return {"role": role, "content": [{"type": "text", "text": text} for text in texts], **facts}


OLD_TASK = (
    talk("user", "<task>\nFix it\n</task>", "<environment_details>\n# Current Working Directory (/home/me/p) Files\n"),
    talk("assistant", "<thinking>hm</thinking>\n\nLooking.\n\n<read_file>\n<path>a.py</path>\n</read_file>"),
    talk("user", "[read_file for 'a.py'] Result:", "x = 1", "<environment_details>\n</environment_details>"),
    talk("assistant", "<execute_command>\n<command>ls</command>\n</execute_command>"),
    talk("user", "[execute_command for 'ls'] Result:", "The user denied this operation."),
    talk("assistant", "<attempt_completion>\n<result>\nDone\n</result>\n</attempt_completion>"),
    talk("user", "[attempt_completion] Result:", "<feedback>\nNot yet\n</feedback>"),
)


def test_what_was_sent_to_the_model_is_read_as_the_task(tmp_path: Path) -> None:
    items = read(adapter, history(tmp_path, *OLD_TASK))
    kept = [(event.kind, event.role, event.text) for event in events(items) if event.name != "injected"]
    assert kept == [
        ("message", "user", "Fix it"), ("thinking", "assistant", "hm"), ("message", "assistant", "Looking."),
        ("call", "assistant", ""), ("result", "tool", "x = 1"), ("call", "assistant", ""),
        ("result", "tool", "The user denied this operation."), ("message", "assistant", "Done"),
        ("message", "user", "Not yet"),
    ]  # fmt: skip
    calls = [event for event in events(items) if event.kind == "call"]
    assert [(call.name, call.arguments) for call in calls] == [
        ("read_file", {"path": "a.py"}), ("execute_command", {"command": "ls"}),
    ]  # fmt: skip
    results = [event for event in events(items) if event.kind == "result"]
    assert [result.call_id for result in results] == [call.call_id for call in calls]
    assert [result.verdict for result in results] == [None, "denied"]
    assert abouts(items) == {"1700000000000": {"cwd": "/home/me/p"}}
    assert events(items)[0].at == NOW * 1000


def test_tools_in_the_models_own_form_are_read_too(tmp_path: Path) -> None:
    call = {"type": "tool_use", "id": "c1", "name": "read_file", "input": {"path": "a.py"}}
    done = {"type": "tool_use", "id": "c2", "name": "attempt_completion", "input": {"result": "Done"}}
    result = {"type": "tool_result", "tool_use_id": "c1", "content": "x = 1"}
    more = {"type": "tool_result", "tool_use_id": "c2", "content": "<feedback>\nMore\n</feedback>"}
    path = history(
        tmp_path, talk("user", "<task>\nFix it\n</task>", ts=NOW), {"role": "assistant", "content": [call]},
        {"role": "user", "content": [result]}, {"role": "assistant", "content": [done]},
        {"role": "user", "content": [more]},
    )  # fmt: skip
    spoken = [event.text for event in events(read(adapter, path)) if event.kind == "message"]
    assert spoken == ["Fix it", "Done", "More"]
    joined = [event.call_id for event in events(read(adapter, path)) if event.kind in ("call", "result")]
    assert joined == ["c1", "c1", "c2"]


def test_roos_history_is_roos(tmp_path: Path) -> None:
    path = history(tmp_path, talk("user", "<task>\nFix it\n</task>", "<environment_details>\n<slug>code</slug>"))
    assert roo.adapter.recognises(str(path), path.read_bytes())
    assert not adapter.recognises(str(path), path.read_bytes())
    assert events(read(roo.adapter, path))[0].text == "Fix it"


def test_damage_to_a_history_does_not_raise(tmp_path: Path) -> None:
    survives(adapter, history(tmp_path, *OLD_TASK), tmp_path, "api_conversation_history.json")
