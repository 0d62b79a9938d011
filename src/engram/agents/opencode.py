"""OpenCode."""

from __future__ import annotations

import os

from engram.agents.agent import (
    AFTER,
    BEFORE,
    COMPACT,
    END,
    PLUGIN,
    PLUGIN_FILE,
    PROMPT,
    SERVER,
    START,
    STOP,
    Agent,
    ConfigFile,
    read_directory_variable,
)
from engram.agents.claude import agent as claude

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


class OpenCode(Agent):
    """SST's open-source agent. Our plugin sends its events and names it."""

    name = "opencode"
    title = "OpenCode"
    transcript_readers = ("opencode",)
    programs = ("opencode",)
    variable_prefixes = ("OPENCODE",)
    colour = "light-dark(#806000, #e0c068)"

    edit_tools = ("edit", "write", "patch", "multiedit", "apply_patch")
    read_tools = ("read",)
    shell_tools = ("bash",)
    hook_layout = PLUGIN
    hook_events: Mapping[str, str] = {
        "start": START, "prompt": PROMPT, "before": BEFORE, "after": AFTER, "stop": STOP, "compact": COMPACT,
        "end": END,
    }  # fmt: skip
    ignores_context_at = (BEFORE,)

    server_fields: Mapping[str, Any] = {"type": "local"}
    user_rules = "AGENTS.md"
    project_rules = ("AGENTS.md", "CLAUDE.md")
    guide_names = ("claude.md",)

    def directory(self) -> str:
        """Return its directory below the user's configuration directory."""
        return os.path.join(read_directory_variable("XDG_CONFIG_HOME", "~/.config"), "opencode")

    def user_files(self) -> list[ConfigFile]:
        """Return our plugin and its settings."""
        return self._list_config_files(self.directory(), os.path.join("plugin", "engram.js"))

    def project_files(self, project: str) -> list[ConfigFile]:
        """Return our plugin and a project's settings."""
        return self._list_config_files(project, ".opencode/plugin/engram.js")

    def borrowed_user_rules(self) -> str:
        """Return Claude Code's instruction file, which it reads if it has none of its own."""
        return os.path.join(claude.directory(), "CLAUDE.md")

    def _list_config_files(self, directory: str, plugin: str) -> list[ConfigFile]:
        names = ("opencode.jsonc", "opencode.json")
        config = next((name for name in names if os.path.exists(os.path.join(directory, name))), names[-1])
        return [ConfigFile(plugin, (PLUGIN_FILE,)), ConfigFile(config, (SERVER,), server_key="mcp")]


agent = OpenCode()
