"""Grok Build, xAI's own agent."""

from __future__ import annotations

import os

from engram.agents.agent import (
    BY_PATH,
    CERTAIN,
    HOOKS_FILE,
    INSTRUCTIONS,
    NO,
    PROMPT,
    SERVER_TOML,
    START,
    Agent,
    ConfigFile,
    GuideFile,
    find_files,
    read_directory_variable,
    register_like_claude,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any


class Grok(Agent):
    """xAI's agent."""

    name = "grok"
    title = "Grok"
    transcript_readers = ("grok", "grok_cli")
    programs = ("grok",)
    session_variable = "GROK_SESSION_ID"
    variable_prefixes = ("GROK",)
    colour = "light-dark(#444444, #c8c8c8)"
    note = "Grok ignores what hooks say at its start; the MCP server and its first tool call give the briefing."

    edit_tools = ("search_replace", "write")
    read_tools = ("read_file",)
    shell_tools = ("run_terminal_command",)
    hooks = register_like_claude(
        "search_replace|write|run_terminal_command", "read_file|search_replace|write|run_terminal_command"
    )
    transcript_marks = ("/.grok/",)
    ignores_context_at = (START, PROMPT)
    may_miss_start = True
    briefed_by_server = True
    names_one_transcript_of_many = True

    user_rules = "AGENTS.md"
    project_rules = ("AGENTS.md",)
    guide_names = ("claude.md",)
    guide_folders = ("memory",)

    def recognize_hook(self, facts: Mapping[str, Any], event: str, environ: Mapping[str, str]) -> int:
        """Return the certainty; no other agent writes both of these in camel case."""
        certain = "hookEventName" in facts and "sessionId" in facts
        return CERTAIN if certain else BY_PATH if self.wrote_transcript(facts) else NO

    def format_hook_response(self, event: str, context: str, refusal: str, borrowed: bool) -> dict[str, Any]:
        """Return the answer with a decision, which it requires."""
        response = super().format_hook_response(event, context, refusal, borrowed)
        return {"decision": "deny", "reason": refusal, **response} if refusal else response

    def directory(self) -> str:
        """Return its directory, which the user may have moved."""
        return read_directory_variable("GROK_HOME", "~/.grok")

    def user_files(self) -> list[ConfigFile]:
        """Return our own hooks file and its settings."""
        return [
            ConfigFile(os.path.join("hooks", "engram.json"), (HOOKS_FILE,)),
            ConfigFile("config.toml", (SERVER_TOML,)),
        ]

    def project_files(self, project: str) -> list[ConfigFile]:
        """Return a project's instruction file: it reads no hooks there."""
        return [ConfigFile("AGENTS.md", (INSTRUCTIONS,))]

    def user_guides(self, projects: Mapping[str, str]) -> Iterator[GuideFile]:
        """Yield its memory files."""
        for path in find_files(os.path.join(self.directory(), "memory"), ".md"):
            yield GuideFile(path)


agent = Grok()
