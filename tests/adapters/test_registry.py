"""Which adapter a file is for: by its content, and only one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engram.adapters import registry
from engram.adapters.adapter import HEAD, Mark
from engram.adapters.registry import adapters, recognised
from tests.adapters.trials import files, shared

# Samples of flavors we do not read, or that hold no session at all.
FOREIGN = {"amp", "antigravity", "entire-compact", "gptme", "iflow", "kimi", "kiro", "openclaw", "pi", "vibe"}
NAMES = {"chatgpt-export": {"chatgpt"}, "claude-ai-export": {"claude-web"}, "grok-web-export": {"grok-web"},
         "cline": {"cline", "roo"}, "grok": {"grok", "grok-cli"}}  # fmt: skip


def test_no_sample_is_claimed_by_two_adapters_and_none_by_a_stranger() -> None:
    astray = []
    root = shared("data", "transcripts")
    for path in files(root):
        folder = path.relative_to(root).parts[0]
        claims = {each.flavor for each in adapters().values() if each.recognises(str(path), path.read_bytes()[:HEAD])}
        allowed = set() if folder in FOREIGN else NAMES.get(folder, {folder})
        if len(claims) > 1 or claims - allowed:
            astray.append((str(path.relative_to(root)), claims))
    assert astray == []


def test_every_sample_is_read_without_an_exception() -> None:
    read = 0
    for path in files(shared("data", "transcripts")):
        adapter = recognised(str(path), path.read_bytes()[:HEAD])
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
    registry.adapters.cache_clear()
    try:
        found = recognised("x", b"toy story")
        assert found is not None
        assert found.flavor == "toy"
    finally:
        monkeypatch.undo()
        registry.adapters.cache_clear()
