"""The doctor says what will be lost before it is."""

from __future__ import annotations

import os
import time
from pathlib import Path

from engram import Engram
from tests.capture.transcripts import Claude


def levels(engram: Engram, subject: str) -> list[str]:
    return [finding.level for finding in engram.doctor() if finding.subject == subject]


def test_a_transcript_not_captured_yet_is_a_warning(engram: Engram, home: Path) -> None:
    Claude(home).says("Hello")
    assert levels(engram, "claude") == ["warning", "warning"]
    engram.ingest()
    assert levels(engram, "claude") == ["ok", "ok"]


def test_one_its_agent_deletes_soon_is_a_problem(engram: Engram, home: Path) -> None:
    work = Claude(home)
    work.says("Hello")
    old = time.time() - 29 * 86_400
    os.utime(work.path, (old, old))
    assert "problem" in levels(engram, "claude")


def test_the_agents_own_setting_counts(engram: Engram, home: Path) -> None:
    work = Claude(home)
    work.says("Hello")
    old = time.time() - 29 * 86_400
    os.utime(work.path, (old, old))
    (home / ".claude" / "settings.json").write_text('{"cleanupPeriodDays": 9999}')
    assert "problem" not in levels(engram, "claude")


def test_a_sound_store_is_ok(engram: Engram, home: Path) -> None:
    assert levels(engram, "store") == ["ok"]
