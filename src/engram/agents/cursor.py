"""Cursor: the editor and its agent."""

from __future__ import annotations

import os
import sys

from engram.agents.agent import CERTAIN, NO, NO_HOOKS, PROMPT, SERVER, Agent, ConfigFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


class Cursor(Agent):
    """The editor of Anysphere."""

    name = "cursor"
    title = "Cursor"
    transcript_readers = ("cursor",)
    programs = ("cursor", "cursor-agent")
    variable_prefixes = ("CURSOR",)
    colour = "light-dark(#3a3a6b, #b1b1ec)"
    note = "Cursor gets the MCP server only."

    hook_layout = NO_HOOKS
    hook_events: Mapping[str, str] = {**Agent.hook_events, "beforesubmitprompt": PROMPT}

    project_rules = (".cursor/rules/engram-patterns.mdc",)
    project_guides = (".cursor/rules/",)
    guide_names = ("claude.md",)
    guide_folders = ("rules",)

    def recognize_hook(self, facts: Mapping[str, Any], event: str, environ: Mapping[str, str]) -> int:
        """Return the certainty: it always sends its version."""
        return CERTAIN if "cursor_version" in facts else NO

    def format_hook_response(self, event: str, context: str, refusal: str, borrowed: bool) -> dict[str, Any]:
        """Return the answer in Cursor's format."""
        return {"permission": "deny", "agent_message": refusal} if refusal else {"additional_context": context}

    def has_person_at_terminal(self) -> bool:
        """Return whether a person may be using the editor's terminal: its agent sets a variable there."""
        return sys.stdin.isatty() and not os.environ.get("CURSOR_AGENT")

    def user_files(self) -> list[ConfigFile]:
        """Return its MCP server list."""
        return [ConfigFile("mcp.json", (SERVER,))]


agent = Cursor()
