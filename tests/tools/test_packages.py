"""The packages for the agents' own stores: fresh, well formed, and harmless where Engram is not installed."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import pytest

from engram.install.agents import require_agent
from tools import icon, packages

FILES = packages.files()
NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
HOOKED = {"claude": "claude", "codex": "codex", "gemini": "gemini"}  # package, flavor


def data(path: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(FILES[path])
    return found


@pytest.mark.parametrize("path", FILES)
def test_what_is_committed_is_what_would_be_written(path: str) -> None:
    held = packages.ROOT / path
    assert held.is_file(), f"{path} is missing: `python3 dev.py packages`"
    shown = icon.pixels if path.endswith(".png") else bytes
    assert shown(held.read_bytes()) == shown(FILES[path]), f"{path} is not fresh: `python3 dev.py packages`"


def test_nothing_else_lies_in_a_package() -> None:
    there = [each.relative_to(packages.ROOT) for each in (packages.ROOT / "packages").rglob("*") if each.is_file()]
    assert {each.as_posix() for each in there} - FILES.keys() == set()


@pytest.mark.parametrize("path", [path for path in FILES if path.endswith(("plugin.json", "extension.json"))])
def test_names_and_descriptions_keep_to_what_stores_allow(path: str) -> None:
    manifest = data(path)
    assert NAME.fullmatch(manifest["name"])
    assert len(manifest["name"]) <= 64
    assert 0 < len(manifest["description"]) <= 1024
    assert re.fullmatch(r"\d+\.\d+\.\d+", manifest["version"])


def test_the_skill_is_short_and_named_as_its_folder() -> None:
    skills = [path for path in FILES if path.endswith("SKILL.md")]
    assert len(skills) == 4
    for path in skills:
        text = FILES[path].decode()
        facts = dict(line.split(": ", 1) for line in text.split("---\n")[1].splitlines())
        assert facts["name"] == Path(path).parent.name
        assert len(facts["description"]) <= 1024
        assert len(text.splitlines()) <= 120


@pytest.mark.parametrize("path", [path for path in FILES if path.endswith("README.md")])
def test_a_readme_says_enough(path: str) -> None:
    assert len(FILES[path].split()) >= 40


@pytest.mark.parametrize("package", HOOKED)
def test_every_event_of_the_agent_is_told_to_us(package: str) -> None:
    hooks = data(f"packages/{package}/hooks/hooks.json")["hooks"]
    agent = require_agent(HOOKED[package])
    assert list(hooks) == [each.event for each in agent.hooks]
    for each in agent.hooks:
        (group,) = hooks[each.event]
        assert group.get("matcher", "") == each.matcher
        assert [hook["command"] for hook in group["hooks"]] == [packages.HOOK]


def test_a_marketplace_leads_to_its_package() -> None:
    (claude,) = data(".claude-plugin/marketplace.json")["plugins"]
    (codex,) = data(".agents/plugins/marketplace.json")["plugins"]
    assert f"{claude['source']}/.claude-plugin/plugin.json".removeprefix("./") in FILES
    assert f"{codex['source']['path']}/.codex-plugin/plugin.json".removeprefix("./") in FILES


def test_every_server_is_ours_on_stdio() -> None:
    assert data("packages/claude/.mcp.json")["mcpServers"]["engram"]["args"] == ["mcp"]
    assert data("packages/codex/.mcp.json")["mcpServers"]["engram"] == {"command": "engram", "args": ["mcp"]}
    assert data("packages/agent-plugin/mcp.json")["mcpServers"]["engram"]["type"] == "stdio"
    assert data("packages/gemini/gemini-extension.json")["mcpServers"]["engram"]["command"] == "engram"


def hook(path: str, given: bytes = b"{}") -> subprocess.CompletedProcess[bytes]:
    shell = shutil.which("sh") or "/bin/sh"
    return subprocess.run(
        [shell, "-c", packages.HOOK], input=given, env={"PATH": path}, capture_output=True, check=False
    )


def test_without_the_program_a_hook_is_silent_and_succeeds(tmp_path: Path) -> None:
    done = hook(str(tmp_path))
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_with_the_program_a_hook_is_its_own_answer(tmp_path: Path) -> None:
    program = tmp_path / "engram"
    program.write_text('#!/bin/sh\necho "$*"\ncat\nexit 2\n')
    program.chmod(0o755)
    done = hook(os.pathsep.join((str(tmp_path), os.environ["PATH"])), b"payload")
    assert (done.returncode, done.stdout) == (2, b"hook\npayload")


def test_the_bundle_for_claude_desktop_is_the_same_each_time(tmp_path: Path) -> None:
    one, two = (packages.bundle(tmp_path / each).read_bytes() for each in ("one", "two"))
    assert one == two
    with zipfile.ZipFile(tmp_path / "one" / "engram.mcpb") as packed:
        names = set(packed.namelist())
        manifest = json.loads(packed.read("manifest.json"))
    assert {manifest["server"]["entry_point"], manifest["icon"], "pyproject.toml", "LICENSE", "README.md"} <= names
    assert not [name for name in names if "__pycache__" in name or name.endswith(".pyc")]
    assert (manifest["manifest_version"], manifest["server"]["type"]) == ("0.4", "uv")
