"""Hooks: an agent's events become signs of life, news and refusals, and never break the agent."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from engram import Engram


def hook(payload: Any, *words: str, **env: str) -> dict[str, Any]:
    text = payload if isinstance(payload, str) else json.dumps(payload)
    done = subprocess.run(
        [sys.executable, "-m", "engram", "hook", *words], input=text, capture_output=True, text=True,
        env={**os.environ, **env}, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)["hookSpecificOutput"] if done.stdout else {}


def event(name: str, native_id: str, cwd: Path, **facts: Any) -> dict[str, Any]:
    return {"hook_event_name": name, "session_id": native_id, "cwd": str(cwd), **facts}


def test_a_start_announces_the_session_and_hands_over_the_sitrep(repository: Path, tmp_path: Path) -> None:
    with Engram(tmp_path / "home") as engram:
        engram.set_world_state("# The world")
        told = hook(event("SessionStart", "abc", repository), "claude")
        (session,) = engram.get_active_sessions()
    assert (session.flavor, session.native_id, session.project) == ("claude", "abc", str(repository))
    assert session.id in told["additionalContext"]
    assert "# The world" in told["additionalContext"]


def test_a_prompt_tells_the_task_and_brings_the_news_once(repository: Path, tmp_path: Path) -> None:
    hook(event("SessionStart", "abc", repository), "claude")
    with Engram(tmp_path / "home") as engram:
        (session,) = engram.get_active_sessions()
        engram.send(None, session.id, "the build is red")
        told = hook(event("UserPromptSubmit", "abc", repository, prompt="fix the login"), "claude")
        assert "> the build is red" in told["additionalContext"]
        assert hook(event("UserPromptSubmit", "abc", repository, prompt="go on"), "claude") == {}
        assert engram.get_session(session.id).summary == "go on"


def test_an_edit_of_what_another_holds_is_denied_with_the_reason(repository: Path, tmp_path: Path) -> None:
    hook(event("SessionStart", "abc", repository), "claude")
    edit = {"tool_name": "Edit", "tool_input": {"file_path": str(repository / "src" / "app.py")}}
    with Engram(tmp_path / "home") as engram:
        other = engram.register("codex", "renaming things", cwd=str(repository))
        engram.lock_resource(other, "src/")
        told = hook(event("PreToolUse", "abc", repository, **edit), "claude")
        assert told["permissionDecision"] == "deny"
        assert other in told["permissionDecisionReason"]
        engram.release_all(other)
        assert hook(event("PreToolUse", "abc", repository, **edit), "claude") == {}


def test_a_notebook_is_guarded_like_any_file(repository: Path, tmp_path: Path) -> None:
    hook(event("SessionStart", "abc", repository), "claude-code")
    edit = {"tool_name": "NotebookEdit", "tool_input": {"notebook_path": str(repository / "a.ipynb")}}
    with Engram(tmp_path / "home") as engram:
        engram.lock_resource(engram.register("codex", "plots", cwd=str(repository)), "a.ipynb")
        told = hook(event("PreToolUse", "abc", repository, **edit), "claude-code")
        assert told["permissionDecision"] == "deny"
        assert len(engram.get_active_sessions()) == 2


def test_the_end_completes_the_session(repository: Path, tmp_path: Path) -> None:
    hook(event("SessionStart", "abc", repository), "claude")
    hook(event("SessionEnd", "abc", repository, reason="logout"), "claude")
    with Engram(tmp_path / "home") as engram:
        (done,) = engram.get_recent_sessions()
    assert "logout" in (done.completion_summary or "")


@pytest.mark.parametrize("payload", ["", "{", "[]", "null", '{"session_id": 7}', '{"session_id": "\\ud800"}', "\x00"])
def test_whatever_arrives_the_agent_goes_on(payload: str) -> None:
    assert hook(payload, "claude", "prompt") == {}


def test_a_store_that_cannot_be_used_is_written_down_and_the_agent_goes_on(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "engram.db").write_text("not a database " * 50)
    assert hook(event("SessionStart", "abc", repository), "claude") == {}
    assert "StoreDamaged" in (tmp_path / "home" / "hook.log").read_text()


def test_a_hook_loads_nothing_it_does_not_need() -> None:
    """Cold start is a feature: what a prompt loads is counted here, its time in the benchmark."""
    code = "import sys, engram.surfaces.hooks, engram.store.engine_sqlite; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    heavy = {"dataclasses", "inspect", "typing", "click", "asyncio", "pathlib", "datetime", "subprocess", "socket"}
    before = subprocess.run(
        [sys.executable, "-c", "import sys; print(*sys.modules)"], capture_output=True, text=True, check=True
    )
    assert heavy & set(loaded) - set(before.stdout.split()) == set()
