"""Gemini CLI."""

from __future__ import annotations

import os

from engram.agents.agent import (
    AFTER,
    BEFORE,
    BY_PATH,
    COMPACT,
    END,
    HOOKS,
    LIKELY,
    NO,
    POLICY_FILE,
    PROMPT,
    SERVER,
    START,
    STOP,
    Agent,
    ConfigFile,
    GuideFile,
    HookRegistration,
    read_directory_variable,
    read_json_setting,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

_DEFAULT_DAYS = 30  # default days it keeps transcripts
_DAYS_PER_UNIT = {"h": 1 / 24, "d": 1, "w": 7, "m": 30}
_OWN_EVENTS = ("BeforeAgent", "AfterAgent", "BeforeTool", "AfterTool", "PreCompress")


class Gemini(Agent):
    """Google's agent."""

    name = "gemini"
    title = "Gemini CLI"
    transcript_readers = ("gemini",)
    programs = ("gemini",)
    session_variable = "GEMINI_SESSION_ID"
    variable_prefixes = ("GEMINI",)
    colour = "light-dark(#2456b8, #8db4ff)"

    edit_tools = ("replace", "write_file")
    read_tools = ("read_file", "read_many_files")
    shell_tools = ("run_shell_command",)
    hooks = (  # without PreCompress: it fires before every model call, compaction or not
        HookRegistration("SessionStart"), HookRegistration("BeforeAgent"),
        HookRegistration("BeforeTool", "replace|write_file|run_shell_command"),
        HookRegistration("AfterTool", "read_file|replace|write_file|run_shell_command"),
        HookRegistration("AfterAgent"), HookRegistration("SessionEnd"),
    )  # fmt: skip
    hook_events: Mapping[str, str] = {
        "sessionstart": START, "beforeagent": PROMPT, "beforetool": BEFORE, "aftertool": AFTER, "afteragent": STOP,
        "precompress": COMPACT, "sessionend": END,
    }  # fmt: skip
    hook_timeout_unit = 1000
    mcp_tool_prefix = "mcp_engram_"
    transcript_marks = ("/.gemini/",)
    ignores_context_at = (BEFORE,)
    compacts_silently = True

    user_rules = "GEMINI.md"
    project_rules = ("GEMINI.md",)
    project_guides = ("GEMINI.md",)
    guide_names = ("gemini.md",)

    def recognize_hook(self, facts: Mapping[str, Any], event: str, environ: Mapping[str, str]) -> int:
        """Return the certainty; its event names are unique."""
        return BY_PATH if self.wrote_transcript(facts) else LIKELY if event in _OWN_EVENTS else NO

    def format_hook_response(self, event: str, context: str, refusal: str, borrowed: bool) -> dict[str, Any]:
        """Return the answer with a decision, which it requires."""
        response = super().format_hook_response(event, context, refusal, borrowed)
        return {"decision": "deny", "reason": refusal, **response} if refusal else response

    def directory(self) -> str:
        """Return its directory, below the home it was given."""
        return os.path.join(read_directory_variable("GEMINI_CLI_HOME", "~"), ".gemini")

    def has_engram_plugin(self) -> bool:
        """Return whether Engram is among its extensions."""
        return os.path.isdir(os.path.join(self.directory(), "extensions", "engram"))

    def user_files(self) -> list[ConfigFile]:
        """Return its settings, and a policy of our own, because the setting for allowed tools will be removed."""
        policy = os.path.join("policies", "engram.toml")
        return [ConfigFile("settings.json", (HOOKS, SERVER)), ConfigFile(policy, (POLICY_FILE,))]

    def project_files(self, project: str) -> list[ConfigFile]:
        """Return a project's settings."""
        return [ConfigFile(".gemini/settings.json", (HOOKS, SERVER))]

    def transcript_days(self) -> float | None:
        """Return the retention of old sessions in its settings."""
        retention = read_json_setting(os.path.join(self.directory(), "settings.json"), "general", "sessionRetention")
        retention = retention if isinstance(retention, dict) else {}
        if retention.get("enabled") is False:
            return None
        age = str(retention.get("maxAge"))
        return (
            int(age[:-1]) * _DAYS_PER_UNIT[age[-1]]
            if age[:-1].isdecimal() and age[-1] in _DAYS_PER_UNIT
            else _DEFAULT_DAYS
        )

    def user_guides(self, projects: Mapping[str, str]) -> Iterator[GuideFile]:
        """Yield the user's instructions."""
        yield GuideFile(os.path.join(self.directory(), "GEMINI.md"))


agent = Gemini()
