"""Roo Code's tasks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from engram.agents.transcripts.roo import adapter
from engram.types import Usage
from tests.agents.reading import abouts, events, read, recognised, totals

ITEM = {
    "id": "t1", "number": 1, "ts": 1_700_000_000_000, "task": "Fix it", "tokensIn": 100, "tokensOut": 20,
    "cacheReads": 7, "cacheWrites": 4, "totalCost": 0.5, "workspace": "/w", "parentTaskId": "t0",
}  # fmt: skip


@pytest.fixture
def task(tmp_path: Path) -> Path:
    path = tmp_path / "t1" / "ui_messages.json"
    path.parent.mkdir()
    request = orjson.dumps({"request": "<model>m</model><slug>code</slug>", "tokensIn": 60, "tokensOut": 12}).decode()
    entries: list[dict[str, Any]] = [
        {"ts": 1_700_000_000_000, "type": "say", "say": "text", "text": "Fix it"},
        {"ts": 1_700_000_000_001, "type": "say", "say": "api_req_started", "text": request},
        {"ts": 1_700_000_000_002, "type": "ask", "ask": "tool", "text": '{"tool":"newTask","mode":"code"}'},
        {"ts": 1_700_000_000_003, "type": "say", "say": "subtask_result", "text": "Did it"},
        {"ts": 1_700_000_000_004, "type": "say", "say": "condense_context", "contextCondense": {"summary": "So far"}},
    ]
    path.write_bytes(orjson.dumps(entries))
    return path


def test_a_task_counts_by_its_history(task: Path) -> None:
    assert totals(read(adapter, task))["input"] == 60
    task.with_name("history_item.json").write_bytes(orjson.dumps(ITEM))
    items = read(adapter, task)
    assert totals(items) == {"input": 100, "output": 20, "cache_read": 7, "cache_write": 4, "reasoning": 0}
    (usage,) = [item for item in items if isinstance(item, Usage)]
    assert (usage.key, usage.cost) == ("t1", 0.5)
    assert next((event.role, event.name) for event in events(items)) == ("system", "prompt")
    assert abouts(items)["t1"] == {
        "cwd": "/w", "title": "Fix it", "parent": "t0", "relation": "subagent", "model": "m",
    }  # fmt: skip


def test_a_task_is_read(task: Path) -> None:
    assert [(event.kind, event.role, event.name, event.text) for event in events(read(adapter, task))] == [
        ("message", "user", None, "Fix it"),
        ("call", "assistant", "newTask", ""),
        ("result", "tool", None, "Did it"),
        ("compaction", "system", "condense_context", "So far"),
    ]


def test_only_its_own_files_are_recognised(task: Path) -> None:
    assert recognised(adapter) == set()
    assert adapter.recognises(str(task), task.read_bytes())


def test_places() -> None:
    roots = [place.root for place in adapter.places({"HOME": "/h", "APPDATA": "/r"}, [])]
    assert "/r/Code/User/globalStorage/rooveterinaryinc.roo-cline/tasks" in roots
