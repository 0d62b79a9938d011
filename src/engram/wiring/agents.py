"""The agents we know how to wire: which events they tell us of, in which shape, and how we see that they are here."""

from __future__ import annotations

import os
import shutil

from engram.errors import InvalidInput
from engram.files.agent_home import agent_home
from engram.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

SERVER = "engram"  # our name among an agent's MCP servers
_CLAUDE_EDITS = "Edit|MultiEdit|Write|NotebookEdit|Bash"
_GEMINI_EDITS = "replace|write_file|run_shell_command"
_QWEN_EDITS = "edit|write_file|run_shell_command"
_GROK_EDITS = "search_replace|write|run_terminal_command"
_CODEX_EDITS = "Bash|apply_patch"


@value
class Hook:
    """One event an agent tells us of."""

    event: str  # in the agent's own word
    matcher: str = ""  # which tools; empty: it is not about a tool, or about all
    seconds: int = 10  # how long the agent waits


@value
class Agent:
    """One agent program and how it is wired."""

    flavor: str
    title: str
    programs: tuple[str, ...]  # its commands; empty for what has none
    shape: str  # of its hooks: groups, flat, plugin, or none
    hooks: tuple[Hook, ...] = ()
    milliseconds: bool = False  # the unit of its timeouts, if not seconds
    server: tuple[tuple[str, str], ...] = ()  # what its MCP entry says beside command and args
    note: str = ""  # what a person should know


def _named_as_claude(before: str, after: str, last: int = 10) -> tuple[Hook, ...]:
    """Return the events of the agents that took over Claude's names."""
    return (
        Hook("SessionStart"), Hook("UserPromptSubmit"), Hook("PreToolUse", before), Hook("PostToolUse", after),
        Hook("Stop"), Hook("PreCompact"), Hook("SessionEnd", seconds=last),
    )  # fmt: skip


AGENTS = (
    Agent(
        "claude", "Claude Code", ("claude",), "groups",
        _named_as_claude(_CLAUDE_EDITS, f"Read|{_CLAUDE_EDITS}"), server=(("type", "stdio"),),
    ),
    Agent(
        "codex", "Codex", ("codex",), "groups", _named_as_claude(_CODEX_EDITS, _CODEX_EDITS, last=3),
    ),
    Agent(
        "gemini", "Gemini CLI", ("gemini",), "groups",
        (  # not PreCompress: it fires before every model call, compaction or not
            Hook("SessionStart"), Hook("BeforeAgent"), Hook("BeforeTool", _GEMINI_EDITS),
            Hook("AfterTool", f"read_file|{_GEMINI_EDITS}"), Hook("AfterAgent"), Hook("SessionEnd"),
        ),
        milliseconds=True,
    ),
    Agent("qwen", "Qwen Code", ("qwen",), "groups", _named_as_claude(_QWEN_EDITS, f"read_file|{_QWEN_EDITS}")),
    Agent(
        "grok", "Grok", ("grok",), "groups", _named_as_claude(_GROK_EDITS, f"read_file|{_GROK_EDITS}"),
        note="Grok shows its model nothing a hook says at its start; the MCP server and its first tool tell it.",
    ),
    Agent(
        "copilot", "GitHub Copilot CLI", ("copilot",), "flat",
        (
            Hook("sessionStart"), Hook("userPromptSubmitted"), Hook("preToolUse"), Hook("postToolUse"),
            Hook("agentStop"), Hook("preCompact"), Hook("sessionEnd"),
        ),
        server=(("type", "local"),),
    ),
    Agent("opencode", "OpenCode", ("opencode",), "plugin", server=(("type", "local"),)),
    Agent("cursor", "Cursor", ("cursor", "cursor-agent"), "none", note="Cursor gets the MCP server only."),
    Agent(
        "claude-desktop", "Claude Desktop", (), "none",
        note="Claude Desktop has no hooks: it gets the MCP server only. Start it anew to see it.",
    ),
)  # fmt: skip

FLAVORS = tuple(agent.flavor for agent in AGENTS)


def agent_of(flavor: str) -> Agent:
    """Return the agent of a flavor, or say which there are."""
    for agent in AGENTS:
        if agent.flavor == flavor:
            return agent
    raise InvalidInput(field="agent", reason=f"{flavor!r} is none we can wire; there are {', '.join(FLAVORS)}.")


def chosen(flavors: Iterable[str] | None) -> list[Agent]:
    """Return the agents a person names, or those that are here."""
    if flavors:
        return [agent_of(flavor) for flavor in dict.fromkeys(flavors)]
    return [agent for agent in AGENTS if present(agent)]


def present(agent: Agent) -> bool:
    """Tell whether an agent is on this machine: its directory exists, or its program is on the path."""
    return os.path.isdir(directory(agent)) or program(agent) is not None


def program(agent: Agent) -> str | None:
    """Return where an agent's program is."""
    return next((found for name in agent.programs if (found := shutil.which(name))), None)


def directory(agent: Agent) -> str:
    """Return the directory an agent keeps its user's configuration in."""
    return agent_home(agent.flavor)


def hook_table(agent: Agent, command: str) -> dict[str, list[dict[str, Any]]]:
    """Return what an agent's `hooks` say when nothing but ours is there."""
    return {hook.event: [hook_entry(agent, hook, command)] for hook in agent.hooks}


def hook_entry(agent: Agent, hook: Hook, command: str) -> dict[str, Any]:
    """Return one event's entry in the agent's shape."""
    if agent.shape == "flat":
        return {"type": "command", "bash": command, "powershell": command, "timeoutSec": hook.seconds}
    timeout = hook.seconds * (1000 if agent.milliseconds else 1)
    group = {"hooks": [{"type": "command", "command": command, "timeout": timeout}]}
    return {"matcher": hook.matcher, **group} if hook.matcher else group


def server_entry(agent: Agent, program: str) -> dict[str, Any]:
    """Return an agent's MCP entry for us."""
    beside = dict(agent.server)
    if agent.shape == "plugin":
        return {**beside, "command": [program, "mcp"], "enabled": True}
    entry = {**beside, "command": program, "args": ["mcp"]}
    return {**entry, "tools": ["*"]} if agent.flavor == "copilot" else entry
