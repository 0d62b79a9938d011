"""The packages as the agents' own programs take them."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.live.conftest import AGENTS, COMMAND, Live, folder
from tools import packages

ROOT = packages.ROOT
PLUGIN = str(ROOT / "packages" / "claude")


def ask(program: str, home: Path, *words: str) -> str:
    """Run an agent's program in a home of its own and return what it says; it must succeed."""
    bins = folder(program) / "node_modules" / ".bin"
    kept = {name: each for name, each in os.environ.items() if not name.startswith(("CLAUDE", "CODEX"))}
    env = {**kept, "HOME": str(home), "PATH": os.pathsep.join((str(bins), os.environ["PATH"]))}
    command = [str(bins / program), *words]
    done = subprocess.run(command, cwd=home, env=env, capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "words", [["--strict", PLUGIN], ["--strict", "--profile", "directory", PLUGIN], ["--strict", str(ROOT)]]
)
def test_claude_finds_nothing_to_object_to(tmp_path: Path, words: list[str]) -> None:
    assert "Validation passed" in ask("claude", tmp_path, "plugin", "validate", *words)


def test_claude_installs_the_plugin_from_the_repository(tmp_path: Path) -> None:
    ask("claude", tmp_path, "plugin", "marketplace", "add", str(ROOT))
    ask("claude", tmp_path, "plugin", "install", "engram@engram")
    told = ask("claude", tmp_path, "plugin", "details", "engram")
    assert "Hooks (8)" in told
    assert "MCP servers (1)" in told
    assert "Always-on" in told  # what it costs each session


def test_codex_installs_the_plugin_from_the_repository(tmp_path: Path) -> None:
    ask("codex", tmp_path, "plugin", "marketplace", "add", str(ROOT))
    ask("codex", tmp_path, "plugin", "add", "engram@engram")
    assert '"enabled": true' in ask("codex", tmp_path, "plugin", "list", "--json")
    assert "engram" in ask("codex", tmp_path, "mcp", "list")


def test_the_plugin_alone_tells_claude_where_it_is(live: Callable[..., Live]) -> None:
    path = os.pathsep.join((str(Path(COMMAND).parent), os.environ["PATH"]))
    claude = live("claude", {"turns": [{"text": "Fine."}]}, args=("--plugin-dir", PLUGIN), env={"PATH": path})
    claude.run("How are you?")
    assert claude.told("Engram, the memory all coding agents here share")


def test_claude_runs_a_command_of_the_plugin(live: Callable[..., Live]) -> None:
    claude = live("claude", {"turns": [{"text": "Fine."}]}, args=("--plugin-dir", PLUGIN))
    claude.run("/engram:recall the kestrel gateway")
    assert claude.told("server engram with the query: the kestrel gateway")
    assert not claude.told("Find and delete sessions from the memory")  # what a person types costs the model nothing


@pytest.mark.parametrize("agent", [each for each in AGENTS if each == "gemini"])
def test_gemini_runs_a_command_of_the_extension(live: Callable[..., Live], agent: str) -> None:
    gemini = live(agent, {"turns": [{"text": "Fine."}]})
    shutil.copytree(ROOT / "packages" / "gemini" / "commands", gemini.home / ".gemini" / "commands")
    gemini.run("/engram:recall the kestrel gateway")
    assert gemini.told("server engram with the query: the kestrel gateway")
