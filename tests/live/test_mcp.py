"""Our MCP server in the real agents: its tools reach the model's first request, are called, and know their session."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from engram import Engram
from tests.live.conftest import AGENTS, COMMAND, Live
from tests.surfaces.mcp.talking import Talk

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
    "grok": "memory shared by all coding agents", "qwen": "mcp__engram__recall", "opencode": "engram_recall",
}  # fmt: skip
# What each call's result holds, whichever form of it the agent passes on.
TOLD = ["x1", "8040", "exclusive", "Use one that recall shows"]


MARK, NOTES, RECALL = "kestrel", 3, {"query": "gateway listens on port"}


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


@pytest.mark.parametrize("agent", AGENTS)
def test_a_recall_result_reaches_the_model_once_and_as_text(
    live: Callable[..., Live], tmp_path: Path, agent: str
) -> None:
    remember_notes(tmp_path / "store")
    server = {"command": COMMAND, "args": ["mcp"], "env": {"ENGRAM_HOME": str(tmp_path / "store")}}
    call = {"do": "mcp", "server": "engram", "tool": "recall", "input": RECALL}
    turns = [{"when": {"no_result": True}, "tool_calls": [call]}]
    made = live(agent, {"turns": turns, "default": {"text": "Done."}}, mcp={"engram": server})
    made.run("Please look after it.")
    with Talk(made.project, ENGRAM_HOME=str(tmp_path / "store")) as talk:
        text = talk.call("recall", **RECALL)["content"][0]["text"]
    assert text.count(MARK) == NOTES
    body = [each["body"] for each in made.api.requests if each.get("kind") == "main"][-1]
    reached = sum(len(words.encode()) for words in strings(body) if MARK in words)
    print(f"{agent}: {reached} bytes reach the model for {len(text.encode())} bytes of text")
    assert len(text.encode()) <= reached <= 1.1 * len(text.encode())


def remember_notes(store: Path) -> None:
    """Store what the recall finds: notes with lines that agents like to escape."""
    with Engram(store) as engram:
        me = engram.register("codex", "set up the gateway", project="/elsewhere")
        for n in range(NOTES):
            note = f"The gateway {MARK} {n} listens on port {8040 + n}.\nif a < b && b > c:\n    use 'this' -> \"that\""
            engram.remember(me, "assistant", note)


def strings(data: Any) -> list[str]:
    """Return all strings in a value."""
    if isinstance(data, str):
        return [data]
    inner = data.values() if isinstance(data, dict) else data if isinstance(data, list) else ()
    return [words for each in inner for words in strings(each)]


# Flags by which the runner lets an agent do everything, and what a person's run has instead.
FREE = {
    "--dangerously-skip-permissions": [], "--allow-all": [], "--auto": [], "--approval-mode": [], "yolo": [],
    "--dangerously-bypass-approvals-and-sandbox": ["--sandbox", "workspace-write"],
}  # fmt: skip
UNASKED = {"codex", "opencode"}  # they ask before no tool of an MCP server


@pytest.fixture
def default_mode(runner: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Let an agent run with the permissions and the sandbox that it has by default."""

    def limit(agent: str) -> None:
        kind = type(runner.AGENTS[agent])
        free = kind.argv

        def build_words(*facts: Any, **more: Any) -> list[str]:
            return [word for each in free(*facts, **more) for word in FREE.get(each, [each])]

        monkeypatch.setattr(kind, "argv", build_words)

    return limit


# Without a terminal Grok ends at the first tool that it must ask for, its own search for tools included.
@pytest.mark.parametrize("agent", [each for each in AGENTS if each != "grok"])
def test_an_agent_reads_the_memory_in_its_default_permission_mode(
    live: Callable[..., Live], default_mode: Callable[[str], None], agent: str
) -> None:
    default_mode(agent)
    calls = [
        {"tool": "recall", "input": {"query": "kestrel gateway"}},
        {"tool": "remember", "input": {"content": "The gateway listens on port 8040."}},
    ]
    turns = [{"tool_calls": [{"do": "mcp", "server": "engram", **call}]} for call in calls]
    made = live(agent, {"turns": turns, "default": {"text": "Done."}}).wired()
    made.run("Please look after the gateway.")
    assert "No memory" in asked(made)[-1], "recall was not allowed"
    assert made.told("Engram, the memory all coding agents here share"), made.log()
    assert [line for line in made.log().splitlines() if not line.endswith(" ok")] == []
    with made.open() as engram:
        remembered = [each.content for known in engram.get_recent_sessions() for each in engram.history(known.id)]
    assert ("The gateway listens on port 8040." in remembered) is (agent in UNASKED)  # what writes is asked for
