"""What Engram needs to know about a coding agent.

Each agent is described in one file of this package, as a subclass of `Agent` with one instance, and listed in
`registry`. Hooks load all of these files, so they import nothing but this module and a few modules of the standard
library; how an agent writes its transcripts is in `transcripts/` and loaded only to read one.
"""

from __future__ import annotations

import os

from engram.platform.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

# The events of a session, as we name them.
START, PROMPT, BEFORE, AFTER, STOP, COMPACT, END = "start", "prompt", "before", "after", "stop", "compact", "end"

# How an agent's configuration lists hooks.
GROUPS, FLAT, PLUGIN, NO_HOOKS = "groups", "flat", "plugin", "none"

# The kinds of our entries in a configuration file.
HOOKS, HOOKS_FILE, SERVER, SERVER_TOML, PLUGIN_FILE, INSTRUCTIONS, PERMISSIONS, POLICY_FILE = (
    "hooks", "hooks file", "server", "toml server", "plugin file", "instructions", "permissions", "policy file",
)  # fmt: skip

# How certain an agent is that it sent a hook; the most certain one counts as the sender.
CERTAIN, BY_PATH, LIKELY, POSSIBLE, NO = 4, 3, 2, 1, 0


@value
class HookRegistration:
    """One event that an agent is configured to report."""

    event: str  # the agent's name for it
    matcher: str = ""  # tools to report; empty for all, and for events not about a tool
    seconds: int = 10  # how long the agent waits for an answer


@value
class ConfigFile:
    """A configuration file of an agent, and what we put into it."""

    path: str  # relative to the agent's directory or to the project, or absolute
    holds: tuple[str, ...]
    server_key: str = "mcpServers"


@value
class GuideFile:
    """A memory or instruction file that an agent reads by itself."""

    path: str
    project: str = ""  # its project; empty for all projects


def register_like_claude(
    before: str, after: str, end_seconds: int = 10, failed: str = ""
) -> tuple[HookRegistration, ...]:  # fmt: skip
    """Return the events of agents that adopted Claude Code's names; `failed` is for those with an event of failures."""
    failures = (HookRegistration("PostToolUseFailure", failed),) if failed else ()
    return (
        HookRegistration("SessionStart"), HookRegistration("UserPromptSubmit"), HookRegistration("PreToolUse", before),
        HookRegistration("PostToolUse", after), *failures, HookRegistration("Stop"), HookRegistration("PreCompact"),
        HookRegistration("SessionEnd", seconds=end_seconds),
    )  # fmt: skip


class Agent:
    """A coding agent. The defaults describe one that works like Claude Code, as most of them do."""

    name = ""  # the flavor of this agent's sessions
    title = ""
    programs: tuple[str, ...] = ()  # its commands
    session_variable = ""  # the environment variable in which it passes the session id to programs it starts
    variable_prefixes: tuple[str, ...] = ()  # prefixes of the environment variables it reads
    transcript_readers: tuple[str, ...] = ()  # modules of `transcripts/` that read its sessions
    colour = ""  # CSS color in the dashboard, for light and dark pages
    note = ""  # shown to the user after `engram init`

    # ---- Hooks

    hook_layout = GROUPS
    hooks: tuple[HookRegistration, ...] = ()
    hook_timeout_unit = 1  # its timeout units per second
    hook_events: Mapping[str, str] = {
        "sessionstart": START, "userpromptsubmit": PROMPT, "pretooluse": BEFORE, "posttooluse": AFTER,
        "posttoolusefailure": AFTER, "stop": STOP, "stopcancelled": STOP, "stopfailure": STOP, "precompact": COMPACT,
        "sessionend": END,
    }  # fmt: skip
    transcript_marks: tuple[str, ...] = ()  # path parts that only this agent's transcripts have
    ignores_context_at: tuple[str, ...] = ()  # events whose context does not reach the model
    may_miss_start = False  # whether a prompt can arrive before the start event, or the start cannot be answered
    compacts_silently = False  # whether it reports compactions that did not happen
    trusts_hooks_by_text = False  # whether the user must trust every hook before it runs
    shows_notices = False  # whether it shows its user the `systemMessage` of a hook at the start
    briefed_by_server = False  # whether at the start its model sees only the MCP server's text
    server_session_field = ""  # field of a tool call's metadata that names the session
    names_one_transcript_of_many = False  # whether a session has more files than the transcript named in its hooks
    edit_tools: tuple[str, ...] = ()
    read_tools: tuple[str, ...] = ()
    shell_tools: tuple[str, ...] = ()

    def recognize_hook(self, facts: Mapping[str, Any], event: str, environ: Mapping[str, str]) -> int:
        """Return how certain this agent is that it sent a hook; `event` is the name it came under."""
        return BY_PATH if self.wrote_transcript(facts) else NO

    def wrote_transcript(self, facts: Mapping[str, Any]) -> bool:
        """Return whether a hook names a transcript of this agent."""
        path = facts.get("transcript_path") or facts.get("transcriptPath")
        path = path.replace("\\", "/") if isinstance(path, str) else ""
        return any(mark in path for mark in self.transcript_marks)

    def guess_hook_event(self, facts: Mapping[str, Any]) -> str:
        """Return the event of a hook that does not name it."""
        return ""

    def is_borrowed_hook(self, facts: Mapping[str, Any]) -> bool:
        """Return whether a hook was read from another agent's configuration."""
        return False

    def format_hook_response(self, event: str, context: str, refusal: str, borrowed: bool) -> dict[str, Any]:
        """Format context or a refusal as this agent expects it."""
        output: dict[str, Any] = {"hookEventName": event}
        if refusal:
            output |= {"permissionDecision": "deny", "permissionDecisionReason": refusal}
        if context:
            output["additionalContext"] = context
        return {"hookSpecificOutput": output}

    def has_person_at_terminal(self) -> bool:
        """Return whether a person may be using a terminal opened by this agent's program."""
        return False

    # ---- Configuration

    server_fields: Mapping[str, Any] = {}  # fields of its MCP entry besides command and args
    mcp_tool_prefix = "mcp__engram__"  # of our tools in what it may call without asking

    def directory(self) -> str:
        """Return the user's configuration directory."""
        return os.path.expanduser(f"~/.{self.name}")

    def user_files(self) -> list[ConfigFile]:
        """Return the files to configure for this agent's user."""
        return []

    def project_files(self, project: str) -> list[ConfigFile]:
        """Return the files to configure for this agent in a project."""
        return []

    def has_engram_plugin(self) -> bool:
        """Return whether Engram is installed as a plugin or extension of this agent."""
        return is_engram_enabled(read_json_setting(os.path.join(self.directory(), "settings.json"), "enabledPlugins"))

    def disabled_hooks(self) -> tuple[str, str] | None:
        """Return the setting that disables all hooks of this agent, and its file, if it is set."""
        path = os.path.join(self.directory(), "settings.json")
        for name, off in (("disableAllHooks", True), ("hooksConfig.enabled", False)):
            if read_json_setting(path, *name.split(".")) is off:
                return name, path
        return None

    def transcript_days(self) -> float | None:
        """Return after how many days it deletes transcripts, or None if it keeps them."""
        return None

    # ---- Rules and guides

    user_rules = ""  # its instruction file in its directory
    project_rules: tuple[str, ...] = ()  # instruction files in a project; the first that exists hides the others
    skills_in_project = ""  # where it looks for skills in a project; empty if it does not
    guide_names: tuple[str, ...] = ()  # names of guides it reads, in lower case
    guide_folders: tuple[str, ...] = ()  # folders whose guides it reads
    project_guides: tuple[str, ...] = ()  # guides it may have in a project; a name ending in / is a folder

    def borrowed_user_rules(self) -> str:
        """Return another agent's instruction file that it reads if it has none of its own, or ""."""
        return ""

    def user_skills(self) -> str:
        """Return the directory of the user's skills."""
        return os.path.join(self.directory(), "skills")

    def user_guides(self, projects: Mapping[str, str]) -> Iterator[GuideFile]:
        """Yield the guides in the user's home; `projects` maps Claude Code's folder names to known projects."""
        yield from ()


def read_directory_variable(variable: str, default: str) -> str:
    """Return the directory named by an environment variable, or the default."""
    return os.path.expanduser(os.environ.get(variable) or default)


def read_json_setting(path: str, *keys: str) -> Any:
    """Return one setting of a JSON file, with or without comments, or None."""
    from engram.platform import jsonc

    try:
        with open(path, encoding="utf-8") as file:
            setting = jsonc.data(file.read())
    except (OSError, ValueError):
        return None
    for key in keys:
        setting = setting.get(key) if isinstance(setting, dict) else None
    return setting


def read_toml_setting(path: str, *keys: str) -> Any:
    """Return one setting of a TOML file, or None."""
    import tomllib

    try:
        with open(path, "rb") as file:
            setting: Any = tomllib.load(file)
    except (OSError, ValueError):
        return None
    for key in keys:
        setting = setting.get(key) if isinstance(setting, dict) else None
    return setting


def is_engram_enabled(plugins: Any) -> bool:
    """Return whether a table of plugins, by name or name@source, has Engram enabled."""
    return isinstance(plugins, dict) and any(name.split("@")[0] == "engram" and on for name, on in plugins.items())


def list_folders(root: str) -> list[str]:
    """Return the names of the folders in a directory, except links."""
    try:
        return sorted(entry.name for entry in os.scandir(root) if entry.is_dir(follow_symlinks=False))
    except OSError:
        return []


def find_files(root: str, ending: str, depth: int = 4) -> Iterator[str]:
    """Yield the files below a folder with an extension; links to folders are not followed."""
    try:
        entries = sorted(os.scandir(root), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            yield from find_files(entry.path, ending, depth - 1) if depth else ()
        elif entry.name.endswith(ending) and entry.is_file():
            yield entry.path
