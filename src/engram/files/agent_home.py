"""Where agents keep what is their user's."""

from __future__ import annotations

import os
import sys


def agent_home(flavor: str) -> str:
    """Return the directory an agent keeps its user's configuration in."""
    find = _DIRECTORIES.get(flavor)
    return os.path.abspath(find() if find else os.path.expanduser(f"~/.{flavor}"))


def _moved(variable: str, otherwise: str) -> str:
    return os.path.expanduser(os.environ.get(variable) or otherwise)


def _claude() -> str:
    homes = [each for each in os.environ.get("CLAUDE_CONFIG_DIR", "").split(",") if each]
    return os.path.expanduser(homes[0] if homes else "~/.claude")


def _desktop() -> str:
    if sys.platform == "darwin":
        return os.path.expanduser("~/Library/Application Support/Claude")
    if sys.platform == "win32":
        return os.path.join(_moved("APPDATA", "~/AppData/Roaming"), "Claude")
    return os.path.join(_moved("XDG_CONFIG_HOME", "~/.config"), "Claude")


_DIRECTORIES = {
    "claude": _claude,
    "codex": lambda: _moved("CODEX_HOME", "~/.codex"),
    "gemini": lambda: os.path.join(_moved("GEMINI_CLI_HOME", "~"), ".gemini"),
    "qwen": lambda: _moved("QWEN_HOME", "~/.qwen"),
    "grok": lambda: _moved("GROK_HOME", "~/.grok"),
    "copilot": lambda: _moved("COPILOT_HOME", "~/.copilot"),
    "opencode": lambda: os.path.join(_moved("XDG_CONFIG_HOME", "~/.config"), "opencode"),
    "claude-desktop": _desktop,
}
