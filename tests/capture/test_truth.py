"""Tokens of real programs with known totals, ingested as a user would."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from engram import Engram
from tests.capture.transcripts import SHARED

GENERATED = SHARED / "data" / "transcripts"
TRUTH = GENERATED / "generated_truth.json"
FLAVORS = ("grok", "codex", "claude", "gemini", "qwen", "opencode", "copilot")


@pytest.mark.parametrize("flavor", FLAVORS)
def test_tokens_are_exact_on_every_flavor_with_a_known_truth(tmp_path: Path, home: Path, flavor: str) -> None:
    if not TRUTH.exists():
        pytest.skip("the generated sessions with known truth are not here (../shared)")
    root = tmp_path / "generated"
    shutil.copytree(GENERATED / flavor / "generated", root, ignore=shutil.ignore_patterns("killed"))
    for folder, _, _ in os.walk(root):
        os.chmod(folder, 0o755)
    with Engram(tmp_path / "store") as engram:
        report = engram.ingest([str(path) for path in sorted(root.rglob("*")) if path.is_file()])
        assert report.failures == {}
        (cost,) = engram.cost("flavor", flavor=flavor, days=10000)
    truth = json.loads(TRUTH.read_text())["truth"][flavor]
    assert (cost.input, cost.output, cost.cache_read) == (truth["input"], truth["output"], truth["cache_read"])


def test_every_sample_is_ingested_and_none_fails(tmp_path: Path, home: Path) -> None:
    if not GENERATED.exists():
        pytest.skip("the collected transcripts are not here (../shared)")
    paths = [str(path) for path in sorted(GENERATED.rglob("*")) if path.is_file()]
    with Engram(tmp_path / "store") as engram:
        report = engram.ingest(paths)
        assert report.failures == {}
        assert report.ingested > 350
        assert engram.check().problems == ()
        for capture in engram.list_sessions(subagents=True, limit=5000):
            assert len(json.dumps(engram.get_digest(capture.session.id).facts, ensure_ascii=False).encode()) <= 2300
