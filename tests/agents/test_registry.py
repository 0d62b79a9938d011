"""The adapter for a file is found by its content, and only one matches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engram.agents.transcripts import registry
from engram.agents.transcripts.adapter import HEAD_BYTES, Mark
from engram.agents.transcripts.registry import load_adapters, match_adapter
from tests.agents.trials import files, shared

# Samples of agents we do not read, or without a session.
FOREIGN = {"amp", "antigravity", "entire-compact", "gptme", "iflow", "kimi", "kiro", "openclaw", "pi", "vibe"}
NAMES = {"chatgpt-export": {"chatgpt"}, "claude-ai-export": {"claude-web"}, "grok-web-export": {"grok-web"},
         "cline": {"cline", "roo"}, "grok": {"grok", "grok-cli"}}  # fmt: skip


def test_no_sample_is_claimed_by_two_adapters_and_none_by_a_stranger() -> None:
    astray = []
    root = shared("data", "transcripts")
    for path in files(root):
        folder = path.relative_to(root).parts[0]
        claims = {
            adapter.flavor
            for adapter in load_adapters().values()
            if adapter.recognises(str(path), path.read_bytes()[:HEAD_BYTES])
        }
        allowed = set() if folder in FOREIGN else NAMES.get(folder, {folder})
        if len(claims) > 1 or claims - allowed:
            astray.append((str(path.relative_to(root)), claims))
    assert astray == []


def test_every_sample_is_read_without_an_exception() -> None:
    read = 0
    for path in files(shared("data", "transcripts")):
        adapter = match_adapter(str(path), path.read_bytes()[:HEAD_BYTES])
        if adapter is not None:
            items = list(adapter.read(str(path), Mark()))
            assert isinstance(items[-1], Mark), path
            read += 1
    assert read > 350


def test_another_package_brings_a_flavor_by_an_entry_point(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    class Toy:
        flavor = "toy"

        def recognises(self, path: str, head: bytes) -> bool:
            return head.startswith(b"toy")

    class Point:
        def load(self) -> Any:
            return Toy()

    monkeypatch.setattr(
        "importlib.metadata.entry_points", lambda group: [Point()] if group == "engram.adapters" else []
    )
    registry.load_adapters.cache_clear()
    try:
        adapter = match_adapter("x", b"toy story")
        assert adapter is not None
        assert adapter.flavor == "toy"
    finally:
        monkeypatch.undo()
        registry.load_adapters.cache_clear()
