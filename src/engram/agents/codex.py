"""OpenAI Codex CLI."""

from __future__ import annotations

import os

from engram.agents.agent import (
    BY_PATH,
    HOOKS,
    LIKELY,
    NO,
    SERVER_TOML,
    Agent,
    ConfigFile,
    GuideFile,
    find_files,
    is_engram_enabled,
    read_directory_variable,
    read_toml_setting,
    register_like_claude,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any


class Codex(Agent):
    """OpenAI's agent."""

    name = "codex"
    title = "Codex"
    transcript_readers = ("codex",)
    programs = ("codex",)
    session_variable = "CODEX_THREAD_ID"
    variable_prefixes = ("CODEX",)
    colour = "light-dark(#1d6b33, #7fd095)"

    edit_tools = ("apply_patch",)
    shell_tools = ("Bash", "shell", "local_shell", "exec_command")
    hooks = register_like_claude("Bash|apply_patch", "Bash|apply_patch", end_seconds=3)
    transcript_marks = ("/.codex/", "/rollout-")
    trusts_hooks_by_text = True
    server_session_field = "x-codex-turn-metadata"

    user_rules = "AGENTS.md"
    project_rules = ("AGENTS.md",)
    skills_in_project = ".agents/skills"
    project_guides = ("AGENTS.md",)
    guide_folders = ("memories",)

    def recognize_hook(self, facts: Mapping[str, Any], event: str, environ: Mapping[str, str]) -> int:
        """Return the certainty; without a transcript path, a turn id suggests Codex."""
        return BY_PATH if self.wrote_transcript(facts) else LIKELY if "turn_id" in facts else NO

    def directory(self) -> str:
        """Return its directory, which the user may have moved."""
        return read_directory_variable("CODEX_HOME", "~/.codex")

    def user_files(self) -> list[ConfigFile]:
        """Return its hooks file and its settings."""
        return [ConfigFile("hooks.json", (HOOKS,)), ConfigFile("config.toml", (SERVER_TOML,))]

    def project_files(self, project: str) -> list[ConfigFile]:
        """Return a project's hooks file; MCP servers are configured per user only."""
        return [ConfigFile(".codex/hooks.json", (HOOKS,))]

    def has_engram_plugin(self) -> bool:
        """Return whether its settings list Engram as a plugin."""
        return is_engram_enabled(read_toml_setting(os.path.join(self.directory(), "config.toml"), "plugins"))

    def disabled_hooks(self) -> tuple[str, str] | None:
        """Return the disabled hooks feature, if it is disabled."""
        path = os.path.join(self.directory(), "config.toml")
        return ("features.hooks", path) if read_toml_setting(path, "features", "hooks") is False else None

    def user_skills(self) -> str:
        """Return the skills directory that several agents share."""
        return os.path.expanduser("~/.agents/skills")

    def user_guides(self, projects: Mapping[str, str]) -> Iterator[GuideFile]:
        """Yield the user's instructions and its memory."""
        yield GuideFile(os.path.join(self.directory(), "AGENTS.md"))
        for path in find_files(os.path.join(self.directory(), "memories"), ".md"):
            yield GuideFile(path)


agent = Codex()
