"""A home directory with agents, and other people's settings in every file we write to."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

OTHERS = {
    ".claude/settings.json": b'// mine\n{\n\t"model": "opus",\n\t"hooks": {\n\t\t"Stop": [\n\t\t\t{"hooks": [{"type":'
    b' "command",'
    b' "command": "say done"}]}, // loud\n\t\t],\n\t\t"Odd": [],\n\t},\n\t"zeta": 1,\n}\n',
    ".claude.json": b'{"numStartups": 5, "mcpServers": {"notes": {"command": "notes"}}, "projects": {"/a": {}}}',
    ".codex/hooks.json": b'{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "notify"}]}]}}\n',
    ".codex/config.toml": b'# my codex\nmodel = "gpt-5.5"\n\n[mcp_servers.notes]\ncommand = "notes"\n\n# the end',
    ".gemini/settings.json": b'\xef\xbb\xbf{\r\n  "ui": {"theme": "x"},\r\n  "hooks": {"AfterTool": [{"matcher": "*",'
    b' "hooks": [{"type": "command", "command": "engram-like hook"}]}]}\r\n}\r\n',
    ".qwen/settings.json": b'{ }\n',
    ".grok/hooks/mine.json": b'{"hooks": {}}',
    ".grok/config.toml": b'mcp_servers.notes.command = "notes"\r\n[ui]\r\ntheme = """\r\n[mcp_servers.engram]\r\n'
    b'"""\r\n',
    ".copilot/settings.json": b'{"hooks": {"agentStop": []}}',
    ".copilot/mcp-config.json": b'{"mcpServers":{}}',
    ".config/opencode/opencode.jsonc": b'{\n    // providers\n    "provider": {},\n    "mcp": {\n    },\n}\n',
    ".config/opencode/plugin/mine.js": b"export const Mine = async () => ({})\n",
    ".cursor/mcp.json": b'\n\n{\n  "mcpServers": {\n    "a": {"url": "http://localhost"}}}',
    ".config/Claude/claude_desktop_config.json": b"",
}  # fmt: skip


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home directory without agent programs on the path."""
    directory = tmp_path / "user"
    directory.mkdir()
    monkeypatch.setenv("HOME", str(directory))
    monkeypatch.setenv("PATH", os.pathsep.join(("/usr/bin", "/bin")))
    for name in ("GEMINI_CLI_HOME", "QWEN_HOME", "GROK_HOME", "COPILOT_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    return directory


@pytest.fixture
def crowded(home: Path) -> Path:
    """A home directory in which every agent already has settings."""
    for name, held in OTHERS.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(held)
    real = home / "dotfiles" / "claude.json"
    real.parent.mkdir()
    (home / ".claude" / "settings.json").rename(real)
    (home / ".claude" / "settings.json").symlink_to(real)
    (home / ".codex" / "config.toml").chmod(0o640)
    return home


def snapshot(directory: Path) -> dict[str, object]:
    """Return every file, link and directory below, with contents and modes."""
    found: dict[str, object] = {}
    for path in sorted(directory.rglob("*")):
        name = str(path.relative_to(directory))
        if path.is_symlink():
            found[name] = os.readlink(path)
        else:
            found[name] = (path.stat().st_mode, path.read_bytes() if path.is_file() else None)
    return found


@pytest.fixture(autouse=True)
def staying(monkeypatch: pytest.MonkeyPatch) -> None:
    """Treat this checkout as permanent, although a clone for a test run may be in a temporary directory."""
    for module in ("health", "init"):
        monkeypatch.setattr(f"engram.install.{module}.fleeting", lambda _: False, raising=False)
