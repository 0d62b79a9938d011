"""A day of two agents, played on both engines."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from engram import Conflict, Engram, Fenced, Held
from tests.conftest import git


def test_a_day_of_two_agents(engram: Engram, repository: Path, tmp_path: Path) -> None:
    # Morning: Claude begins on main, Codex in a worktree of the same repository.
    worktree = tmp_path / "feature"
    git(repository, "worktree", "add", "-q", "-b", "feature", str(worktree))
    engram.set_world_state("# App\nParser in src/app.py, nothing else yet.", project=str(repository))
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    claude = engram.register("claude-code", "rename the AST", cwd=str(repository), pid=process.pid, native_id="c-1")
    codex = engram.register("codex", "speed up the parser", cwd=str(worktree), native_id="x-1")
    assert "Parser in src/app.py" in engram.get_situation_report(codex)
    assert engram.get_session(codex).project == engram.get_session(claude).project

    # They want the same file, from different directories.
    held = engram.lock_resource(claude, "src/app.py", note="renaming nodes")
    with pytest.raises(Held) as refusal:
        engram.lock_resource(codex, "src/**/*.py")
    assert refusal.value.holder == claude
    engram.send(codex, claude, "tell me when the AST is done")
    assert engram.inbox(claude)[0].sender == codex

    # Claude crashes; Codex takes over at once.
    process.kill()
    process.wait()
    assert engram.get_session(claude).presence == "gone"
    taken = engram.lock_resource(codex, "src/**/*.py")
    assert taken.token > held.token

    # Claude is resumed, does not know yet, and is stopped before it does harm.
    assert engram.register("claude-code", "rename the AST, resumed", native_id="c-1", cwd=str(repository)) == claude
    with pytest.raises(Fenced, match=codex):
        engram.check_edit(claude, "src/app.py", token=held.token)
    with pytest.raises(Held):
        engram.check_edit(claude, "src/app.py")

    # Evening: both hand over, and neither update of the world state is lost.
    seen = engram.world_state(str(repository)).version
    engram.set_world_state("# App\nParser is 2x faster.", codex, seen, str(repository))
    with pytest.raises(Conflict):
        engram.set_world_state("# App\nAST renamed.", claude, seen, str(repository))
    engram.set_world_state("# App\nParser is 2x faster. AST half renamed.", claude, seen + 1, str(repository))
    engram.complete(codex, "parser is 2x faster")
    engram.send(claude, "next", "the rename stops at Visitor")
    engram.complete(claude, "AST half renamed")

    # Next morning somebody new comes in and knows it all.
    gemini = engram.register("gemini", "finish the rename", cwd=str(repository))
    report = engram.get_situation_report(gemini)
    for known in ("2x faster. AST half renamed.", "parser is 2x faster", "the rename stops at Visitor"):
        assert known in report
    assert engram.list_locks() == []
    assert engram.stats().takeovers == 1
