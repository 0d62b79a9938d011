"""Our MCP server in the real agents: its tools reach the model's first request, are called, and know their session."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.live.conftest import AGENTS, COMMAND, Live

# Agents that tell their servers the id of the session they run.
TELLING = {"claude", "codex", "grok", "qwen", "copilot"}
CALLS: list[dict[str, Any]] = [
    {"tool": "remember", "input": {"content": "The gateway listens on port 8040."}},
    {"tool": "recall", "input": {"query": "gateway port"}},
    {"tool": "lock", "input": {"resources": ["a.py"], "note": "renaming"}},
    {"tool": "get", "input": {"id": "nonsense"}},
]
# How the tools stand in an agent's first request: some hold them back until they are searched for.
OFFERED = {
    "claude": "mcp__engram__recall", "codex": "- engram: Engram is the memory",
    "copilot": "engram-recall", "gemini": "mcp_engram_recall",
    "grok": "memory shared by every coding agent", "qwen": "mcp__engram__recall", "opencode": "engram_recall",
}  # fmt: skip
# What each call's result holds, whichever form of it the agent passes on.
TOLD = ["x1", "8040", "exclusive", "Use one that recall shows"]


def scenario() -> dict[str, Any]:
    """Play a model that makes the calls, one after the other."""
    turns: list[dict[str, Any]] = []
    for call, before in zip(CALLS, ["", *TOLD], strict=False):
        when = {"result": before} if before else {"no_result": True}
        turns.append({"when": when, "tool_calls": [{"do": "mcp", "server": "engram", **call}]})
    return {"turns": turns, "default": {"text": "Done."}}


def asked(agent: Live) -> list[str]:
    """Return the requests of the agent's own loop, in order."""
    return [json.dumps(each["body"], ensure_ascii=False) for each in agent.api.requests if each.get("kind") == "main"]


@pytest.mark.parametrize("agent", AGENTS)
def test_a_real_agent_uses_the_memory_and_is_known_by_its_session(
    live: Callable[..., Live], tmp_path: Path, agent: str
) -> None:
    server = {"command": COMMAND, "args": ["mcp"], "env": {"ENGRAM_HOME": str(tmp_path / "store")}}
    made = live(agent, scenario(), mcp={"engram": server})
    made.run("Please look after the gateway.")
    requests = asked(made)
    assert OFFERED[agent] in requests[0]
    for words in TOLD:
        assert words in requests[-1], f"{words} did not reach the model"
    with made.open() as engram:
        (found,) = engram.get_active_sessions()
        assert (found.flavor, found.project) == (agent, str(made.project))
        assert (found.native_id is not None) is (agent in TELLING)
        assert [each.content for each in engram.history(found.id)] == ["The gateway listens on port 8040."]
        assert engram.get_session(found.id).presence == "gone"  # and its lock is free again


def test_claude_reads_the_memory_in_its_default_permission_mode(
    live: Callable[..., Live], runner: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ask_before_tools(agent: Any, prompt: str, *_: Any) -> list[str]:
        return ["-p", "--output-format", "stream-json", "--verbose", "--model", agent.model, prompt]

    monkeypatch.setattr(runner.Claude, "argv", ask_before_tools)
    calls = [
        {"tool": "recall", "input": {"query": "kestrel gateway"}},
        {"tool": "remember", "input": {"content": "The gateway listens on port 8040."}},
    ]
    turns = [
        {"when": {"no_result": True}, "tool_calls": [{"do": "mcp", "server": "engram", **calls[0]}]},
        {"when": {"result": "Nothing"}, "tool_calls": [{"do": "mcp", "server": "engram", **calls[1]}]},
    ]
    made = live("claude", {"turns": turns, "default": {"text": "Done."}}).wired()
    made.run("Please look after the gateway.")
    last = asked(made)[-1]
    assert "Nothing" in last, "recall was not allowed"
    assert "requested permissions to use mcp__engram__remember" in last  # what writes is still asked for
