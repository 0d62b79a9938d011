"""The agents that `init` can connect, and our entries in the format each of them reads."""

from __future__ import annotations

import os
import shutil

from engram.agents.agent import FLAT, PLUGIN
from engram.agents.registry import agent_directory, find_agent, list_agents
from engram.errors import InvalidInput

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from engram.agents.agent import Agent, HookRegistration

SERVER_NAME = "engram"  # our name among an agent's MCP servers


def list_connectable() -> list[Agent]:
    """Return the agents we can connect."""
    return [agent for agent in list_agents() if agent.user_files()]


def require_agent(name: str) -> Agent:
    """Return the agent with this name; raise an error that lists the known ones."""
    agent = find_agent(name)
    if agent is None or not agent.user_files():
        names = ", ".join(connectable.name for connectable in list_connectable())
        raise InvalidInput(field="agent", reason=f"unknown agent {name!r}. Choose one of: {names}.")
    return agent


def select_agents(names: Iterable[str] | None) -> list[Agent]:
    """Return the agents named by the user, or those on this machine."""
    if names:
        return [require_agent(name) for name in dict.fromkeys(names)]
    return [agent for agent in list_connectable() if is_present(agent)]


def is_present(agent: Agent) -> bool:
    """Check whether an agent is on this machine: its directory exists, or its program is on the PATH."""
    return os.path.isdir(agent_directory(agent.name)) or find_program(agent) is not None


def find_program(agent: Agent) -> str | None:
    """Return the path of an agent's program."""
    return next((path for name in agent.programs if (path := shutil.which(name))), None)


def build_hook_table(agent: Agent, command: str) -> dict[str, list[dict[str, Any]]]:
    """Return a `hooks` table of an agent that contains only our hooks."""
    return {hook.event: [build_hook_entry(agent, hook, command)] for hook in agent.hooks}


def build_hook_entry(agent: Agent, hook: HookRegistration, command: str) -> dict[str, Any]:
    """Return the entry of one event in the agent's format."""
    if agent.hook_layout == FLAT:
        return {"type": "command", "bash": command, "powershell": command, "timeoutSec": hook.seconds}
    timeout = hook.seconds * agent.hook_timeout_unit
    group = {"hooks": [{"type": "command", "command": command, "timeout": timeout}]}
    return {"matcher": hook.matcher, **group} if hook.matcher else group


def build_server_entry(agent: Agent, program: str) -> dict[str, Any]:
    """Return our entry among an agent's MCP servers."""
    first = {name: field for name, field in agent.server_fields.items() if name == "type"}
    rest = {name: field for name, field in agent.server_fields.items() if name != "type"}
    if agent.hook_layout == PLUGIN:
        return {**first, "command": [program, "mcp"], "enabled": True}
    return {**first, "command": program, "args": ["mcp"], **rest}
