"""The configuration files of an agent that we write to, for a user or a project, and our entries in each."""

from __future__ import annotations

import os

from engram.agents import agent as kinds
from engram.agents.agent import Agent, ConfigFile
from engram.agents.registry import agent_directory
from engram.install.file_entry import (
    ConfigEntry,
    HooksEntry,
    InstructionsEntry,
    PermissionsEntry,
    PluginFileEntry,
    PolicyFileEntry,
    ServerEntry,
    TomlServerEntry,
    render_plugin,
)
from engram.install.own_command import build_hook_command
from engram.platform.value import value

READING_TOOLS = ("recall", "get", "sitrep")  # tools of our MCP server that an agent may call without asking
_INSTRUCTIONS = """
## Engram: the memory of this project

Engram remembers what every coding agent did here and knows who is working now. Use it without being asked.

- At the start of a session, call the MCP tool `sitrep` (or run `engram sitrep`): who else is working, what they have
  locked, what was done last.
- Before you ask the user, or redo work, call `recall` (or run `engram recall "…"`).
- Before you edit files that others may be editing, call `lock`; call `unlock` when you are done. If another session
  holds a file, work on something else or send that session a message.
- Call `remember` for what later sessions must know.
"""


@value
class WiredFile:
    """A file we write to, and our entries in it."""

    path: str
    entries: tuple[ConfigEntry, ...]
    shared: bool = False  # a project's file, for everyone who works there


def list_wired_files(agent: Agent, project: str | None, program: str) -> list[WiredFile]:
    """Return the files that connect an agent; in a project they contain our command without its path."""
    if project is not None:
        files, root, program = agent.project_files(project), project, "engram"
    else:
        files, root = agent.user_files(), agent_directory(agent.name)
    return [
        WiredFile(os.path.join(root, *file.path.split("/")) if project else os.path.join(root, file.path),
              tuple(_build_entry(agent, file, kind, program) for kind in file.holds), project is not None)
        for file in files
    ]  # fmt: skip


def _build_entry(agent: Agent, file: ConfigFile, kind: str, program: str) -> ConfigEntry:
    if kind in (kinds.HOOKS, kinds.HOOKS_FILE):
        return HooksEntry(agent, build_hook_command(program), owns_file=kind == kinds.HOOKS_FILE)
    if kind == kinds.SERVER:
        return ServerEntry(agent, program, key=file.server_key)
    if kind == kinds.SERVER_TOML:
        return TomlServerEntry(program)
    if kind in (kinds.PERMISSIONS, kinds.POLICY_FILE):
        tools = tuple(f"{agent.mcp_tool_prefix}{tool}" for tool in READING_TOOLS)
        return PermissionsEntry(tools) if kind == kinds.PERMISSIONS else PolicyFileEntry(tools)
    return (
        PluginFileEntry(render_plugin(_read_plugin_template(), program))
        if kind == kinds.PLUGIN_FILE
        else InstructionsEntry(_INSTRUCTIONS)
    )


def _read_plugin_template() -> str:
    with open(os.path.join(os.path.dirname(__file__), "plugin.js"), encoding="utf-8") as file:
        return file.read()
