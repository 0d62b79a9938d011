"""Claude Desktop, which has no hooks and no local transcripts."""

from __future__ import annotations

import os
import sys

from engram.agents.agent import NO_HOOKS, SERVER, Agent, ConfigFile, read_directory_variable


class ClaudeDesktop(Agent):
    """Anthropic's desktop program."""

    name = "claude-desktop"
    title = "Claude Desktop"
    note = "Claude Desktop has no hooks: it gets the MCP server only. Restart it to load the server."
    hook_layout = NO_HOOKS

    def directory(self) -> str:
        """Return its directory, which depends on the operating system."""
        if sys.platform == "darwin":
            return os.path.expanduser("~/Library/Application Support/Claude")
        if sys.platform == "win32":
            return os.path.join(read_directory_variable("APPDATA", "~/AppData/Roaming"), "Claude")
        return os.path.join(read_directory_variable("XDG_CONFIG_HOME", "~/.config"), "Claude")

    def user_files(self) -> list[ConfigFile]:
        """Return its settings."""
        return [ConfigFile("claude_desktop_config.json", (SERVER,))]


agent = ClaudeDesktop()
