"""A sweep killed at any moment loses nothing it acknowledged, and the next one continues."""

from __future__ import annotations

from pathlib import Path

from benchmarks.torture import report, torture
from engram import Engram


def test_killed_sweeps_lose_and_duplicate_nothing(store: str, tmp_path: Path, thorough: bool) -> None:
    kills = 15 if thorough else 5
    summary = torture(tmp_path / "torture", store if store.startswith("postgres") else None, kills=kills)
    assert summary.violations == [], report(summary)
    assert summary.kills == kills
    assert min(summary.sweeps, summary.acknowledged, summary.evictions, summary.in_the_middle) > 0


def test_a_key_truncated_by_a_crash_is_replaced(tmp_path: Path, home: Path) -> None:
    with Engram(tmp_path / "home") as engram:
        key = tmp_path / "home" / "redaction.key"
        key.touch()
        engram.ingest()
        assert len(key.read_bytes()) == 32
