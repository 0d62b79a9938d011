"""Parse hook events of any agent into one form, without I/O.

Most agents use Claude Code's format with different names and case. The sending agent is recognized by the content of
the event, not by the hook file that called us, because several agents run the hook files of others.
"""

from __future__ import annotations

from engram.agents.agent import AFTER, END, NO
from engram.agents.registry import find_agent, list_agents
from engram.platform import plain_json
from engram.platform.value import value
from engram.surfaces.hooks.tool_results import read_failure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from engram.agents.agent import Agent

_DEFAULT_AGENT = list_agents()[0].name  # most agents copy its hooks

# Our event for each agent's event name, in lower case without underscores.
EVENTS = {name: event for agent in list_agents() for name, event in agent.hook_events.items()}


@value
class HookEvent:
    """One hook event."""

    flavor: str
    event: str  # start, prompt, before or after a tool, stop, compact, end
    name: str  # the agent's name for the event
    session: str  # the agent's id of the session
    cwd: str | None
    turn: str  # the agent's id of the turn, if it sends one
    prompt: str
    tool: str
    tool_input: dict[str, Any]  # the tool's arguments
    failure: str  # the output of a tool that failed, as its status says; empty if it did not
    transcript: str
    source: str  # startup, resume, compact … for a start; the reason for an end
    model: str | None
    in_subagent: bool
    borrowed: bool  # sent through a hook file written for another agent


def read_hook_event(raw: bytes, arguments: list[str], environ: Mapping[str, str]) -> HookEvent | None:
    """Parse a hook's input; return None if the event is not for us."""
    facts = plain_json.loads_lenient(raw or b"{}")
    if not isinstance(facts, dict):
        return None
    event_name = _get_first_text(facts, "hook_event_name", "hookEventName") or (arguments[-1] if arguments else "")
    sender = _find_sender(facts, event_name, environ)
    flavor = (
        _get_first_text(facts, "flavor")
        or (sender.name if sender else "")
        or (arguments[0] if len(arguments) > 1 else _DEFAULT_AGENT)
    )
    name = event_name or (sender.guess_hook_event(facts) if sender else "")
    event = EVENTS.get(name.replace("_", "").lower())
    session = _get_first_text(facts, "parentAgentId", "session_id", "sessionId", "conversation_id")
    if event is None or not session:
        return None
    agent = find_agent(flavor)
    return HookEvent(
        flavor=flavor,
        event=event,
        name=_get_first_text(facts, "hook_event_name") or name,
        session=session,
        cwd=_get_first_text(facts, "cwd", "workspace_root") or None,
        turn=_get_first_text(facts, "prompt_id", "promptId", "turn_id", "turnId", "generation_id"),
        prompt=_read_prompt(facts),
        tool=_get_first_text(facts, "tool_name", "toolName"),
        tool_input=_read_tool_input(facts),
        failure=read_failure(facts, name) if event == AFTER else "",
        transcript=_get_first_text(facts, "transcript_path", "transcriptPath"),
        source=_get_first_text(facts, "source", "trigger") if event != END else _get_first_text(facts, "reason"),
        model=_get_first_text(facts, "model") or None,
        in_subagent=bool(_get_first_text(facts, "agent_id", "agentId")),
        borrowed=agent is not None and agent.is_borrowed_hook(facts),
    )


def _find_sender(facts: dict[str, Any], event: str, environ: Mapping[str, str]) -> Agent | None:
    """Return the agent that recognizes the event best; the first one on a tie."""
    surest = max(list_agents(), key=lambda agent: agent.recognize_hook(facts, event, environ))
    return surest if surest.recognize_hook(facts, event, environ) > NO else None


def _read_prompt(facts: dict[str, Any]) -> str:
    """Return the user's prompt without the context that other hooks prepended."""
    prompt = _get_first_text(facts, "prompt", "initialPrompt")
    head, end, rest = prompt.partition("</hook_context>")
    return rest.strip() if end and head.startswith("<hook_context>") else prompt.strip()


def _read_tool_input(facts: dict[str, Any]) -> dict[str, Any]:
    tool_input = facts.get("tool_input", facts.get("toolInput", facts.get("toolArgs")))
    if isinstance(tool_input, str):
        try:
            tool_input = plain_json.loads(tool_input)
        except ValueError:
            tool_input = {"input": tool_input}
    return tool_input if isinstance(tool_input, dict) else {}


def _get_first_text(facts: dict[str, Any], *names: str) -> str:
    """Return the first non-empty string among these fields, as valid UTF-8."""
    for name in names:
        text = facts.get(name)
        if isinstance(text, str) and text:
            return text.encode("utf-8", "replace").decode() if not text.isascii() else text
    return ""
