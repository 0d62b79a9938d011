"""claude.ai's export."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson

from engram.agents.transcripts.claude_web import adapter
from tests.agents.reading import abouts, events, read, recognised, samples, survives


def message(name: str, sender: str, text: str = "", **facts: Any) -> dict[str, Any]:
    return {"uuid": name, "sender": sender, "text": text, "created_at": "2026-08-01T10:00:01Z", **facts}


def export(tmp_path: Path, *messages: dict[str, Any], **facts: Any) -> Path:
    path = tmp_path / "conversations.json"
    path.write_bytes(orjson.dumps([{"uuid": "c1", "name": "T", "chat_messages": list(messages), **facts}]))
    return path


def test_a_conversation_is_read(tmp_path: Path) -> None:
    content = [
        {"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Yes"}, {"type": "token_budget"},
        {"type": "tool_use", "id": "t1", "name": "search", "input": {"q": 1}},
        {"type": "tool_result", "tool_use_id": "t1", "name": "search", "content": [{"type": "text", "text": "no"}],
         "is_error": True},
    ]  # fmt: skip
    path = export(
        tmp_path,
        message("m1", "human", "Hi", content=[], attachments=[{"file_name": "a.txt", "extracted_content": "body"}]),
        message("m2", "assistant", "Yes", content=content),
    )
    assert adapter.recognises(str(path), path.read_bytes())
    items = read(adapter, path)
    assert [(event.key, event.kind, event.role, event.text, event.verdict) for event in events(items)] == [
        ("m1", "message", "user", "Hi", None),
        ("m1:1", "message", "system", "[file a.txt]\nbody", None),
        ("m2", "thinking", "assistant", "hm", None),
        ("m2:1", "message", "assistant", "Yes", None),
        ("m2:2", "call", "assistant", "", None),
        ("m2:3", "result", "tool", "no", "error"),
    ]
    assert events(items)[0].at == 1_785_578_401_000_000
    assert abouts(items) == {"c1": {"title": "T"}}


def test_branches_are_kept_with_their_parents(tmp_path: Path) -> None:
    path = export(
        tmp_path,
        message("m1", "human", "Q", parent_message_uuid="00000000-0000-4000-8000-000000000000"),
        message("m2", "assistant", "old", parent_message_uuid="m1"),
        message("m3", "assistant", "new", parent_message_uuid="m1"),
        current_leaf_message_uuid="m3",
    )
    assert [(event.parent, event.data) for event in events(read(adapter, path))] == [
        (None, None), ("m1", {"shown": False}), ("m1", None),
    ]  # fmt: skip


def test_the_sample_is_read() -> None:
    (path,) = samples("claude-ai-export/**/*.json")
    (said,) = events(read(adapter, path))
    assert (said.session, said.role, said.text) == ("origin-matrix-claude-ai", "user", "Prove the parser claim.")


def test_only_its_own_files_are_recognised() -> None:
    assert {name.split("/")[0] for name in recognised(adapter)} == {"claude-ai-export"}


def test_no_damage_makes_it_raise(tmp_path: Path) -> None:
    survives(adapter, samples("claude-ai-export/**/*.json")[0], tmp_path)
    garbage = message("m1", "human", content=[1, {"type": "tool_result", "content": 3}], files=[4], attachments={})
    read(adapter, export(tmp_path, garbage, {"uuid": [], "parent_message_uuid": 3}, current_leaf_message_uuid=[]))


def test_it_has_no_places() -> None:
    assert list(adapter.places({}, ["/p"])) == []
