"""Agents add fields to their records every few weeks; that must not make a transcript unknown or change its content."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engram.agents.transcripts.adapter import HEAD_BYTES, Mark
from engram.agents.transcripts.registry import load_adapters, match_adapter
from engram.types import Event
from tests.agents.trials import files, shared

AT = "2026-11-01T10:00:00.000Z"
MS = 1_793_527_200_000
LINES: dict[str, list[dict[str, Any]]] = {
    "claude/a.jsonl": [
        {"type": "user", "uuid": "u1", "sessionId": "s", "timestamp": AT, "message": {"role": "user", "content": "Hi"}},
        {"type": "assistant", "uuid": "u2", "parentUuid": "u1", "sessionId": "s", "timestamp": AT, "message": {
            "id": "m", "role": "assistant", "content": [
                {"type": "text", "text": "Yes"},
                {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls"}},
            ]}},
        {"type": "user", "uuid": "u3", "sessionId": "s", "message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t", "content": "a b"}]}},
    ],
    "codex/rollout-a.jsonl": [
        {"timestamp": AT, "type": "session_meta", "payload": {"id": "s", "cwd": "/w", "cli_version": "1"}},
        {"timestamp": AT, "type": "response_item", "payload": {
            "type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi"}]}},
        {"timestamp": AT, "type": "response_item", "payload": {
            "type": "function_call", "name": "shell", "arguments": '{"command":["ls"]}', "call_id": "t"}},
    ],
    "codex/old.jsonl": [
        {"id": "s", "timestamp": AT, "instructions": None},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi"}]},
    ],
    "grok/updates.jsonl": [
        {"timestamp": AT, "method": "session/update", "params": {"sessionId": "s", "update": {
            "sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": "Hi"}}}},
        {"timestamp": AT, "method": "session/update", "params": {"sessionId": "s", "update": {
            "sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "Yes"}}}},
    ],
    "grok/chat_history.jsonl": [
        {"type": "user", "content": "Hi", "prompt_index": 0}, {"type": "assistant", "content": "Yes", "model_id": "g"},
    ],
    "gemini/a.jsonl": [
        {"sessionId": "s", "projectHash": "h", "startTime": AT, "lastUpdated": AT, "kind": "main"},
        {"id": "1", "timestamp": AT, "type": "user", "content": [{"text": "Hi"}]},
        {"id": "2", "timestamp": AT, "type": "gemini", "content": "Yes", "model": "g"},
        {"$set": {"summary": "Greeting"}},
    ],
    "gemini/changes.jsonl": [{"$set": {"messages": [{"id": "1", "type": "user", "content": [{"text": "Hi"}]}]}}],
    "qwen/a.jsonl": [
        {"uuid": "1", "sessionId": "s", "timestamp": AT, "type": "user",
         "message": {"role": "user", "parts": [{"text": "Hi"}]}},
        {"uuid": "2", "sessionId": "s", "timestamp": AT, "type": "assistant",
         "message": {"role": "model", "parts": [{"text": "Yes"}]}},
    ],
    "copilot/events.jsonl": [
        {"type": "session.start", "id": "1", "parentId": None, "timestamp": AT, "data": {"sessionId": "s"}},
        {"type": "user.message", "id": "2", "parentId": "1", "timestamp": AT, "data": {"content": "Hi"}},
    ],
    "cursor/a.jsonl": [
        {"role": "user", "message": {"content": [{"type": "text", "text": "<user_query>Hi</user_query>"}]}},
        {"role": "assistant", "message": {"content": [
            {"type": "text", "text": "Yes"}, {"type": "tool_use", "name": "Read", "input": {"p": 1}}]}},
    ],
}  # fmt: skip
WHOLE: dict[str, Any] = {
    "gemini/session-a.json": {"sessionId": "s", "projectHash": "h", "messages": [
        {"id": "1", "timestamp": AT, "type": "user", "content": "Hi"}]},
    "opencode/export.json": {"info": {"id": "ses_1", "directory": "/w", "title": "T"}, "messages": [
        {"info": {"id": "msg_1", "role": "user", "time": {"created": MS}}, "parts": [
            {"id": "prt_1", "type": "text", "text": "Hi"}]}]},
    "opencode/ses_1.json": {"id": "ses_1", "projectID": "p", "title": "T", "time": {"created": MS}},
    "cline/ui_messages.json": [
        {"ts": MS, "type": "say", "say": "task", "text": "Hi"},
        {"ts": MS + 1, "type": "say", "say": "text", "text": "Yes"}],
    "cline/plain/ui_messages.json": [{"role": "user", "content": "Hi", "timestamp": AT}],
    "cline/s.messages.json": {"sessionId": "s", "messages": [
        {"id": "1", "role": "user", "ts": MS, "content": [{"type": "text", "text": "Hi"}]}]},
    "roo/roo-cline/ui_messages.json": [
        {"ts": MS, "type": "say", "say": "text", "text": "Hi"},
        {"ts": MS + 1, "type": "ask", "ask": "followup", "text": "?"}],
    "chatgpt/conversations.json": [{"title": "T", "conversation_id": "c", "current_node": "b", "mapping": {
        "a": {"id": "a", "parent": None, "children": ["b"], "message": {
            "id": "a", "author": {"role": "user"}, "content": {"content_type": "text", "parts": ["Hi"]}}},
        "b": {"id": "b", "parent": "a", "children": [], "message": {
            "id": "b", "author": {"role": "assistant"}, "content": {"content_type": "text", "parts": ["Yes"]}}}}}],
    "claude-web/conversations.json": [{"uuid": "c", "name": "T", "chat_messages": [
        {"uuid": "m", "sender": "human", "created_at": AT, "text": "Hi",
         "content": [{"type": "text", "text": "Hi"}]}]}],
    "grok-web/prod-grok-backend.json": {"conversations": [{"conversation": {"id": "c", "title": "T"}, "responses": [
        {"response": {"_id": "r", "sender": "human", "message": "Hi"}}]}]},
}  # fmt: skip
ANY = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text('ab{}[]"\\ é', max_size=4),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text("ab", max_size=2), inner, max_size=2),
    max_leaves=4,
)
EXTRA = st.dictionaries(st.from_regex(r"new_[a-z]{1,6}", fullmatch=True), ANY, min_size=1, max_size=3)


def grown(thing: Any, extra: dict[str, Any], first: bool) -> Any:
    """Return a record with unknown fields at every level, before or after the known ones."""
    if isinstance(thing, list):
        return [grown(item, extra, first) for item in thing]
    if not isinstance(thing, dict):
        return thing
    inner = {name: grown(field, extra, first) for name, field in thing.items()}
    return {**extra, **inner} if first else {**inner, **extra}


def said(path: Path) -> tuple[str, list[tuple[Any, ...]]]:
    """Return the agent of a file by its content alone, and its items."""
    head = path.read_bytes()[:HEAD_BYTES]
    (adapter,) = [item for item in load_adapters().values() if item.recognises(str(path), head)]
    found = [entry for entry in adapter.read(str(path), Mark()) if isinstance(entry, Event)]
    return adapter.flavor, [_told(item) for item in found]


def _told(event: Event) -> tuple[Any, ...]:
    text = "" if event.kind in ("opaque", "lifecycle") else event.text  # which keep a record unchanged
    return event.session, event.kind, event.role, event.name, text, event.verdict, event.call_id


def lines(values: list[Any]) -> bytes:
    return b"".join(orjson.dumps(value) + b"\n" for value in values)


def compare(path: Path, plain: Any, write: Any, extra: dict[str, Any], first: bool) -> None:
    """Assert that a transcript with more fields has the same agent and the same content."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(write(plain))
    expected = said(path)
    path.write_bytes(write(grown(plain, extra, first)))
    assert said(path) == expected


@pytest.mark.parametrize("name", [*LINES, *WHOLE])
@given(extra=EXTRA, first=st.booleans())
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_unknown_fields_change_nothing(name: str, extra: dict[str, Any], first: bool, tmp_path: Path) -> None:
    plain = LINES.get(name) or WHOLE[name]
    compare(tmp_path / name, plain, lines if name in LINES else orjson.dumps, extra, first)
    if name in WHOLE:
        compare(tmp_path / name, plain, lambda value: orjson.dumps(value, option=orjson.OPT_INDENT_2), extra, first)


COMMON = ("timestamp", "uuid", "id", "version", "cwd", "createdAt", "parentId")
ADDED = [(name, field) for name in LINES for field in COMMON if not any(field in line for line in LINES[name])]


@pytest.mark.parametrize(("name", "field"), ADDED)
def test_a_field_that_others_write_too_changes_nothing_where_the_agent_keeps_its_transcripts(
    name: str, field: str, tmp_path: Path
) -> None:
    flavor, path = name.partition("/")[0], tmp_path / name
    path.parent.mkdir(parents=True)
    path.write_bytes(lines([{**line, field: f"{number}"} for number, line in enumerate(LINES[name])]))
    adapter = match_adapter(str(path), path.read_bytes(), flavor)
    assert adapter is not None
    assert adapter.flavor == flavor


def test_every_flavor_of_fields_is_tried() -> None:
    tried = {name.partition("/")[0] for name in [*LINES, *WHOLE]} | {"grok-cli"}
    assert tried == set(load_adapters()) - {"aider"}  # which writes markdown


def _sampled(folder: Path, most: int = 6) -> Iterator[Path]:
    """Yield the smallest JSON samples of a folder that an adapter recognizes."""
    adapters = load_adapters().values()
    small = [path for path in files(folder) if path.suffix in (".json", ".jsonl") and path.stat().st_size < 200_000]
    known = [
        path
        for path in small
        if any(adapter.recognises(str(path), path.read_bytes()[:HEAD_BYTES]) for adapter in adapters)
    ]
    yield from sorted(known, key=lambda path: path.stat().st_size)[:most]


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("folder", [
    "chatgpt-export", "claude", "claude-ai-export", "cline", "codex", "copilot", "cursor", "gemini", "grok",
    "grok-web-export", "opencode", "qwen",
])  # fmt: skip
def test_real_samples_with_unknown_fields_say_the_same(folder: str, first: bool, tmp_path: Path) -> None:
    root = shared("data", "transcripts")
    for sample in _sampled(root / folder):
        content = sample.read_bytes()
        whole = _parsed(content)
        plain = whole or [*filter(None, map(_parsed, content.split(b"\n")))]
        place = tmp_path / sample.relative_to(root)
        extra = {"new_a": {"new_b": ["x", {"c": 1}]}, "new_d": "text"}
        compare(place, plain, orjson.dumps if whole else lines, extra, first)


def _parsed(line: bytes) -> Any:
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError:
        return None


def test_a_database_with_more_tables_and_columns_is_still_known(tmp_path: Path) -> None:
    path = tmp_path / "grok.db"
    db = apsw.Connection(str(path))
    for number in range(400):
        db.execute(f"create table new_{number} (a text, {', '.join(f'column_{column} text' for column in range(80))})")
    for table in ("sessions (id, created_at, cwd_at_start, new_a)", "messages (session_id, seq, role, message_json)",
                  "usage_events (id)", "workspaces (scope_key)"):  # fmt: skip
        db.execute(f"create table {table}")
    db.close()
    assert load_adapters()["grok-cli"].recognises(str(path), path.read_bytes()[:HEAD_BYTES])
