"""Qwen Code, a fork of Gemini CLI that adopted Claude Code's hooks."""

from __future__ import annotations

import os

from engram.agents.agent import (
    BEFORE,
    HOOKS,
    PERMISSIONS,
    SERVER,
    Agent,
    ConfigFile,
    read_directory_variable,
    register_like_claude,
)


class Qwen(Agent):
    """Alibaba's agent."""

    name = "qwen"
    title = "Qwen Code"
    transcript_readers = ("qwen",)
    programs = ("qwen",)
    session_variable = "QWEN_CODE_SESSION_ID"
    variable_prefixes = ("QWEN",)
    colour = "light-dark(#6d3fb0, #c3a2f5)"

    edit_tools = ("edit", "write_file")
    read_tools = ("read_file", "read_many_files")
    shell_tools = ("run_shell_command",)
    hooks = register_like_claude(
        "edit|write_file|run_shell_command", "read_file|edit|write_file|run_shell_command", failed="run_shell_command"
    )
    transcript_marks = ("/.qwen/",)
    ignores_context_at = (BEFORE,)

    user_rules = "QWEN.md"
    project_rules = ("QWEN.md",)

    def directory(self) -> str:
        """Return its directory, which the user may have moved."""
        return read_directory_variable("QWEN_HOME", "~/.qwen")

    def has_engram_plugin(self) -> bool:
        """Return whether Engram is among its extensions."""
        return os.path.isdir(os.path.join(self.directory(), "extensions", "engram"))

    def user_files(self) -> list[ConfigFile]:
        """Return its settings."""
        return [ConfigFile("settings.json", (HOOKS, SERVER, PERMISSIONS))]

    def project_files(self, project: str) -> list[ConfigFile]:
        """Return a project's settings."""
        return [ConfigFile(".qwen/settings.json", (HOOKS, SERVER, PERMISSIONS))]


agent = Qwen()
