"""GitHub Copilot CLI."""

from __future__ import annotations

import os

from engram.agents.agent import (
    AFTER,
    BEFORE,
    BY_PATH,
    CERTAIN,
    COMPACT,
    END,
    FLAT,
    HOOKS_FILE,
    NO,
    POSSIBLE,
    PROMPT,
    SERVER,
    START,
    STOP,
    Agent,
    ConfigFile,
    HookRegistration,
    read_directory_variable,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

# It does not name its events; each is recognized by a field that only it has.
_EVENT_FIELDS = (
    ("toolResult", "postToolUse"), ("toolName", "preToolUse"), ("stopReason", "agentStop"),
    ("prompt", "userPromptSubmitted"), ("reason", "sessionEnd"), ("trigger", "preCompact"), ("source", "sessionStart"),
)  # fmt: skip


class Copilot(Agent):
    """GitHub's agent."""

    name = "copilot"
    title = "GitHub Copilot CLI"
    transcript_readers = ("copilot",)
    programs = ("copilot",)
    session_variable = "COPILOT_AGENT_SESSION_ID"
    variable_prefixes = ("COPILOT",)
    colour = "light-dark(#24527a, #8ec1ee)"

    edit_tools = ("edit", "create", "str_replace_editor", "apply_patch")
    read_tools = ("view",)
    shell_tools = ("bash", "powershell")
    hook_layout = FLAT
    hooks = tuple(
        HookRegistration(event)
        for event in (
            "sessionStart", "userPromptSubmitted", "preToolUse", "postToolUse", "agentStop", "preCompact", "sessionEnd",
        )
    )  # fmt: skip
    hook_events: Mapping[str, str] = {
        "sessionstart": START, "userpromptsubmitted": PROMPT, "pretooluse": BEFORE, "posttooluse": AFTER,
        "agentstop": STOP, "precompact": COMPACT, "sessionend": END,
    }  # fmt: skip
    transcript_marks = ("/session-state/",)
    may_miss_start = True

    server_fields: Mapping[str, Any] = {"type": "local", "tools": ["*"]}
    user_rules = "copilot-instructions.md"
    project_rules = ("AGENTS.md",)
    project_guides = (".github/copilot-instructions.md",)
    guide_names = ("copilot-instructions.md", "claude.md")

    def recognize_hook(self, facts: Mapping[str, Any], event: str, environ: Mapping[str, str]) -> int:
        """Return the certainty; if it runs other agents' hooks, only its environment shows it."""
        if "sessionId" in facts and "session_id" not in facts and "hookEventName" not in facts:
            return CERTAIN
        if self.wrote_transcript(facts):
            return BY_PATH
        names_transcript = facts.get("transcript_path") or facts.get("transcriptPath")
        return POSSIBLE if environ.get("COPILOT_CLI") and not names_transcript else NO

    def guess_hook_event(self, facts: Mapping[str, Any]) -> str:
        """Return the event by its fields."""
        event = next((event for field, event in _EVENT_FIELDS if field in facts), "")
        return "subagentStop" if event == "agentStop" and "agentName" in facts else event

    def is_borrowed_hook(self, facts: Mapping[str, Any]) -> bool:
        """Return whether it runs another agent's hook, in that agent's format."""
        return "sessionId" not in facts

    def format_hook_response(self, event: str, context: str, refusal: str, borrowed: bool) -> dict[str, Any]:
        """Return the answer without the envelope, which it expects only from other agents' hooks."""
        response = super().format_hook_response(event, context, refusal, borrowed)
        if borrowed:
            return response
        return {key: text for key, text in response["hookSpecificOutput"].items() if key != "hookEventName"}

    def directory(self) -> str:
        """Return its directory, which the user may have moved."""
        return read_directory_variable("COPILOT_HOME", "~/.copilot")

    def user_files(self) -> list[ConfigFile]:
        """Return our own hooks file and its MCP server list."""
        return [
            ConfigFile(os.path.join("hooks", "engram.json"), (HOOKS_FILE,)),
            ConfigFile("mcp-config.json", (SERVER,)),
        ]

    def project_files(self, project: str) -> list[ConfigFile]:
        """Return our own hooks file."""
        return [ConfigFile(".github/hooks/engram.json", (HOOKS_FILE,))]


agent = Copilot()
