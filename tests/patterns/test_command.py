"""The command for people and programs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from engram import Engram
from tests.patterns import plots
from tests.patterns.writers import Claude, Codex


def run(*words: str, status: int = 0) -> str:
    command = [sys.executable, "-m", "engram", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=dict(os.environ))
    assert done.returncode == status, done.stderr
    return done.stdout + done.stderr


def test_detect_tells_people_and_programs_the_same(tmp_path: Path) -> None:
    home = tmp_path / "user"
    for writer in (Claude, Codex):
        plots.failing_command(writer(home, writer.__name__), 0)
    with Engram(os.environ["ENGRAM_HOME"]) as engram:
        engram.ingest([str(home)])
    result = run("patterns", "detect")
    assert result.startswith("Scanned 2 sessions: ")
    assert "1. [CROSS-FLAVOR] Run `npm run build`; `npm run build:prod` fails here with" in result
    assert "Rule: Run `npm run build`; `npm run build:prod` fails here" in result
    assert result.count("\n   – 2026-11-01 ") == 2
    data = json.loads(run("patterns", "detect", "--json", "--min-frequency", "2", "--since", "2026-10-01"))
    assert [candidate["cross_flavor"] for candidate in data["candidates"]] == [True]
    assert data["candidates"][0]["evidence"][0]["event"].startswith("e")
    assert json.loads(run("patterns", "detect", "--json", "--min-frequency", "3"))["candidates"] == []


def test_nothing_to_show_is_said_and_a_wrong_time_refused() -> None:
    assert "no candidates yet" in run("patterns", "detect")
    assert "as a time" in run("patterns", "detect", "--since", "nonsense", status=2)


def test_a_store_of_session_memory_is_taken_over_by_command(tmp_path: Path) -> None:
    from tests.patterns.test_import_session_memory import forge

    result = run("import", "session-memory", str(forge(tmp_path / "memory.db")))
    assert result.startswith("Imported 3 sessions, 3 digests, 0 events with 0 bodies, 1 pattern as a candidate from ")
    assert "left out: patterns: Run it twice" in result
