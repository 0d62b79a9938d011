"""Doctor warns before data is lost."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from engram import Engram
from tests.capture.transcripts import Claude
from tests.summaries.talking import said


def levels(engram: Engram, subject: str) -> list[str]:
    about = "transcript" if subject == "claude" else ""
    return [finding.level for finding in engram.doctor() if finding.subject == subject and about in finding.text]


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


@pytest.mark.parametrize("comment", ["", "// keep all of it\n"])
def test_the_agents_own_setting_counts(engram: Engram, home: Path, comment: str) -> None:
    work = Claude(home)
    work.says("Hello")
    old = time.time() - 29 * 86_400
    os.utime(work.path, (old, old))
    (home / ".claude" / "settings.json").write_text(comment + '{"cleanupPeriodDays": 9999}')
    assert "problem" not in levels(engram, "claude")


def test_the_setting_counts_where_the_agent_was_moved_to(
    engram: Engram, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = Claude(home)
    work.says("Hello")
    old = time.time() - 29 * 86_400
    os.utime(work.path, (old, old))
    (home / ".claude").rename(tmp_path / "moved")
    (tmp_path / "moved" / "settings.json").write_text('{"cleanupPeriodDays": 9999}')
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "moved"))
    assert levels(engram, "claude") == ["warning", "warning"]


@pytest.mark.parametrize(
    ("retention", "told"),
    [
        ({}, "after 30 days"), ({"maxAge": "90d"}, "after 90 days"), ({"maxAge": "12h"}, "after 0.5 days"),
        ({"maxAge": "2w"}, "after 14 days"), ({"enabled": True, "maxAge": "6m"}, "after 180 days"),
        ({"maxAge": "soon"}, "after 30 days"), ({"enabled": False, "maxAge": "1d"}, None),
    ],
)  # fmt: skip
def test_what_gemini_keeps_is_as_its_settings_say(
    timed: Engram, home: Path, retention: dict[str, Any], told: str | None
) -> None:
    chats = home / ".gemini" / "tmp" / "abc" / "chats"
    chats.mkdir(parents=True)
    (chats / "session-1.json").write_text('{"sessionId": "s", "projectHash": "abc", "messages": []}')
    (home / ".gemini" / "settings.json").write_text(json.dumps({"general": {"sessionRetention": retention}}))
    texts = [finding.text for finding in timed.doctor() if "deletes" in finding.text]
    assert (told in texts[0]) if told else (texts == [])


def test_damage_is_told_without_a_promise_to_mend_it(engram: Engram, home: Path) -> None:
    Claude(home).says("Hello")
    engram.ingest()
    engram.engine.run("delete from digests")
    findings = [finding for finding in engram.doctor() if finding.subject == "store"]
    assert [finding.level for finding in findings] == ["ok", "problem"]
    assert "without a digest" in findings[1].text
    assert "--repair" not in findings[1].text
    assert [finding.level for finding in engram.doctor(quick=True) if finding.subject == "store"] == ["ok"]


def test_a_sound_store_is_ok(engram: Engram, home: Path) -> None:
    assert levels(engram, "store") == ["ok"]


def test_a_memory_far_behind_is_told_with_what_mends_it(timed: Engram) -> None:
    for number in range(12):
        said(timed, f"s{number}", "2026-11-02T10:00:00+00:00", "Please port the billing code to Rust now.", "Done.")
    behind = next(finding for finding in timed.doctor() if finding.subject == "dream")
    assert (behind.level, behind.mend) == ("warning", "engram dream --force")
    timed.dream(force=True)
    assert next(finding for finding in timed.doctor() if finding.subject == "dream").level == "ok"
