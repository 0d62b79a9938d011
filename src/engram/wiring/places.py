"""Which files of an agent we write to, for a user or for one project, and what into each."""

from __future__ import annotations

import os

from engram.value import value
from engram.wiring.agents import Agent, directory
from engram.wiring.command import hook_command
from engram.wiring.wire import Block, Hooks, Plugin, Server, TomlServer, Wire, plugin_text

_INSTRUCTIONS = """
## Engram: the memory of this project

Engram remembers what every coding agent did here, and who is at work now. It is your memory too; use it unasked.

- At the start of a session call the MCP tool `sitrep` (or run `engram sitrep`): who else is here, what they hold,
  what was done last.
- Before you ask the user, or redo what may have been done, call `recall` (or run `engram recall "…"`).
- Before you edit what others may be editing, call `lock`; let go with `unlock`. A file held by somebody else is
  theirs: work on something else, or send them a message.
- What a later session must know, `remember`.
"""


@value
class Place:
    """A file we write to and what of ours belongs into it."""

    path: str
    wires: tuple[Wire, ...]
    shared: bool = False  # a project's, for all who work there


def places(agent: Agent, project: str | None, program: str) -> list[Place]:
    """Return the files that wire an agent; in a project they name our command without its path."""
    if project is not None:
        return [Place(os.path.join(project, *name.split("/")), wires, True) for name, wires in _project(agent, project)]
    home = directory(agent)
    return [Place(os.path.join(home, name), wires) for name, wires in _user(agent, home, program)]


def _user(agent: Agent, home: str, program: str) -> list[tuple[str, tuple[Wire, ...]]]:
    hooks, server = Hooks(agent, hook_command(program)), Server(agent, program)
    own = Hooks(agent, hook_command(program), own=True)
    by_flavor: dict[str, list[tuple[str, tuple[Wire, ...]]]] = {
        "claude": [("settings.json", (hooks,)), (_claude_state(home), (server,))],
        "codex": [("hooks.json", (hooks,)), ("config.toml", (TomlServer(program),))],
        "gemini": [("settings.json", (hooks, server))],
        "qwen": [("settings.json", (hooks, server))],
        "grok": [(os.path.join("hooks", "engram.json"), (own,)), ("config.toml", (TomlServer(program),))],
        "copilot": [(os.path.join("hooks", "engram.json"), (own,)), ("mcp-config.json", (server,))],
        "opencode": [
            (os.path.join("plugin", "engram.js"), (Plugin(plugin_text(_template(), program)),)),
            (_opencode_config(home), (Server(agent, program, key="mcp"),)),
        ],
        "cursor": [("mcp.json", (server,))],
        "claude-desktop": [("claude_desktop_config.json", (server,))],
    }
    return by_flavor[agent.flavor]


def _project(agent: Agent, root: str) -> list[tuple[str, tuple[Wire, ...]]]:
    hooks, server = Hooks(agent, hook_command("engram")), Server(agent, "engram")
    by_flavor: dict[str, list[tuple[str, tuple[Wire, ...]]]] = {
        "claude": [(".claude/settings.json", (hooks,)), (".mcp.json", (server,))],
        "codex": [(".codex/hooks.json", (hooks,))],
        "gemini": [(".gemini/settings.json", (hooks, server))],
        "qwen": [(".qwen/settings.json", (hooks, server))],
        "grok": [("AGENTS.md", (Block(_INSTRUCTIONS),))],
        "copilot": [(".github/hooks/engram.json", (Hooks(agent, hook_command("engram"), own=True),))],
        "opencode": [
            (".opencode/plugin/engram.js", (Plugin(plugin_text(_template(), "engram")),)),
            (_opencode_config(root), (Server(agent, "engram", key="mcp"),)),
        ],
    }
    return by_flavor.get(agent.flavor, [])


def _claude_state(home: str) -> str:
    """Return where Claude Code keeps its user's MCP servers: inside its directory only where that was moved."""
    return ".claude.json" if os.environ.get("CLAUDE_CONFIG_DIR") else f"{home.rstrip(os.sep)}.json"


def _opencode_config(directory: str) -> str:
    names = ("opencode.jsonc", "opencode.json")
    return next((name for name in names if os.path.exists(os.path.join(directory, name))), "opencode.json")


def _template() -> str:
    with open(os.path.join(os.path.dirname(__file__), "opencode.js"), encoding="utf-8") as file:
        return file.read()
