"""The demo runs completely and does not touch the user's data."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from engram import Engram
from tests.capture.transcripts import Claude
from tests.surfaces.conftest import Run


@pytest.fixture
def users(tmp_path: Path) -> dict[str, str]:
    """The environment of a user with a history, a store and a session."""
    home, store, temporary = tmp_path / "user", tmp_path / "store", tmp_path / "temporary"
    temporary.mkdir()
    Claude(home).says("Nobody else's business.")
    return {
        "HOME": str(home), "ENGRAM_HOME": str(store), "ENGRAM_SESSION": "mine", "CLAUDE_CODE_SESSION_ID": "mine",
        "CLAUDE_CONFIG_DIR": str(home / ".claude"), "CODEX_HOME": str(home / ".codex"), "TMPDIR": str(temporary),
    }  # fmt: skip


def lying(folder: str) -> dict[str, int]:
    """Return every file in a directory with its modification time."""
    return {str(path): path.stat().st_mtime_ns for path in Path(folder).rglob("*")}


def steps(run: Run, users: dict[str, str], *words: str) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(run("demo", "--json", *words, **users).stdout)
    return data


def test_the_whole_loop_is_shown_and_nothing_is_left(run: Run, users: dict[str, str]) -> None:
    before = lying(users["HOME"])
    output = run("demo", **users).stdout
    assert output.rstrip().endswith("engram init")
    assert "business" not in output
    assert users["TMPDIR"] not in output
    assert lying(users["HOME"]) == before
    assert not os.path.exists(users["ENGRAM_HOME"])
    assert os.listdir(users["TMPDIR"]) == []


def test_each_step_shows_what_it_is_there_for(run: Run, users: dict[str, str]) -> None:
    shown = steps(run, users)
    assert shown["home"] is None
    taken, sessions, found, start, refused, unasked, sitrep, cost = (step["shows"] for step in shown["steps"])
    assert "of 4 sessions" in taken
    assert {"claude", "codex", "harbour"} <= set(sessions.split())
    assert "prices are integer cents everywhere" in found
    assert "claude): Put the prices of season tickets" in start
    assert "never floats for money" in start
    assert "src/prices.py." in refused
    assert "season tickets" in refused
    assert "Use integer cents, and round the fee up." in unasked
    assert "Locked resources" in sitrep
    assert "Total ≥ $" in cost


def test_a_kept_demo_can_be_looked_at(run: Run, users: dict[str, str]) -> None:
    home = Path(steps(run, users, "--keep")["home"])
    assert home.parent == Path(users["TMPDIR"])
    with Engram(home / ".engram") as engram:
        assert len(engram.list_sessions(limit=20)) == 4
        assert not engram.check().problems
        outcomes = {session.outcome for session in engram.list_sessions(limit=20)}
    assert {"success", "failure"} <= outcomes
    assert f"kept in {users['TMPDIR']}" in run("demo", "--keep", **users).stdout


def test_the_demo_fits_the_terminal(run: Run, users: dict[str, str]) -> None:
    output = run("demo", COLUMNS="72", **users).stdout
    assert [line for line in output.splitlines() if len(line) > 72 and "$ engram" not in line] == []
