"""The supported agents. To add one, describe it in a file of this package and list that file here."""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.agents.agent import Agent

# In display order. If several are equally certain about a hook, the first one counts as the sender.
_FILES = (
    "claude", "codex", "gemini", "qwen", "grok", "copilot", "opencode", "cursor", "claude_desktop", "aider", "cline",
    "roo", "amp", "goose",
)  # fmt: skip

_agents: dict[str, Agent] = {}


def list_agents() -> list[Agent]:
    """Return all agents."""
    if not _agents:
        loaded = [import_module(f"engram.agents.{name}").agent for name in _FILES]
        _agents.update((agent.name, agent) for agent in loaded)
    return list(_agents.values())


def find_agent(name: str) -> Agent | None:
    """Return the agent with this name, or None."""
    list_agents()
    return _agents.get(name)


def agent_directory(name: str) -> str:
    """Return the configuration directory of an agent's user."""
    import os

    agent = find_agent(name)
    return os.path.abspath(agent.directory() if agent else os.path.expanduser(f"~/.{name}"))
