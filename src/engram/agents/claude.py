"""Claude Code."""

from __future__ import annotations

import os

from engram.agents.agent import (
    HOOKS,
    NO,
    PERMISSIONS,
    POSSIBLE,
    SERVER,
    Agent,
    ConfigFile,
    GuideFile,
    find_files,
    list_folders,
    read_json_setting,
    register_like_claude,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

_DEFAULT_DAYS = 30  # default days it keeps transcripts


class ClaudeCode(Agent):
    """Anthropic's agent."""

    name = "claude"
    title = "Claude Code"
    transcript_readers = ("claude",)
    programs = ("claude",)
    session_variable = "CLAUDE_CODE_SESSION_ID"
    variable_prefixes = ("CLAUDE",)
    colour = "light-dark(#b4532a, #f0a078)"

    edit_tools = ("Edit", "MultiEdit", "Write", "NotebookEdit")
    read_tools = ("Read", "NotebookRead")
    shell_tools = ("Bash",)
    hooks = register_like_claude(
        "|".join((*edit_tools, *shell_tools)), "|".join(("Read", *edit_tools, *shell_tools)), failed="Bash"
    )
    transcript_marks = ("/.claude/",)
    shows_notices = True

    server_fields: Mapping[str, Any] = {"type": "stdio"}
    user_rules = "CLAUDE.md"
    project_rules = ("CLAUDE.md", "AGENTS.md")
    skills_in_project = ".claude/skills"
    project_guides = ("CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.md")
    guide_names = ("claude.md", "claude.local.md")
    guide_folders = ("memory",)

    def recognize_hook(self, facts: Mapping[str, Any], event: str, environ: Mapping[str, str]) -> int:
        """Return the certainty; other agents run its hooks and keep transcripts below its directory."""
        return POSSIBLE if self.wrote_transcript(facts) else NO

    def directory(self) -> str:
        """Return the first of its configuration directories."""
        return os.path.expanduser(next(iter(_list_moved_directories()), "~/.claude"))

    def user_files(self) -> list[ConfigFile]:
        """Return its settings and its MCP server list, which is inside its directory only if that was moved."""
        state = ".claude.json" if _list_moved_directories() else f"{self.directory().rstrip(os.sep)}.json"
        return [ConfigFile("settings.json", (HOOKS, PERMISSIONS)), ConfigFile(state, (SERVER,))]

    def project_files(self, project: str) -> list[ConfigFile]:
        """Return a project's settings and MCP server list."""
        return [ConfigFile(".claude/settings.json", (HOOKS, PERMISSIONS)), ConfigFile(".mcp.json", (SERVER,))]

    def transcript_days(self) -> float | None:
        """Return the shortest retention of its directories with transcripts."""
        homes = _list_moved_directories() or [os.path.expanduser("~/.claude"), os.path.expanduser("~/.config/claude")]
        used_homes = [home for home in homes if os.path.isdir(os.path.join(home, "projects"))]
        days = [read_json_setting(os.path.join(home, "settings.json"), "cleanupPeriodDays") for home in used_homes]
        return min(
            (period if isinstance(period, int | float) else _DEFAULT_DAYS for period in days), default=_DEFAULT_DAYS
        )

    def user_guides(self, projects: Mapping[str, str]) -> Iterator[GuideFile]:
        """Yield the user's instructions and its memory of each project."""
        for root in _list_moved_directories() or [os.path.expanduser("~/.claude")]:
            yield GuideFile(os.path.join(root, "CLAUDE.md"))
            for folder in list_folders(os.path.join(root, "projects")):
                for path in find_files(os.path.join(root, "projects", folder, "memory"), ".md"):
                    yield GuideFile(path, projects.get(folder, ""))


def _list_moved_directories() -> list[str]:
    return [home for home in os.environ.get("CLAUDE_CONFIG_DIR", "").split(",") if home]


agent = ClaudeCode()
