"""Format responses, context or a refusal, for each agent, without I/O."""

from __future__ import annotations

from engram.agents.agent import AFTER, BEFORE, PROMPT, START, Agent
from engram.agents.registry import find_agent
from engram.platform.text import neutralize_markup
from engram.platform.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from engram.surfaces.hooks.hook_event import HookEvent

MAX_CONTEXT_CHARS = 9000  # also the limit in bytes; Claude Code and Codex cut at 10,000


@value
class HookResponse:
    """The response to an event: context or a refusal for the model, and a line for the person."""

    context: str = ""
    refusal: str = ""
    notice: str = ""


def reaches_model(event: HookEvent, at: str | None = None) -> bool:
    """Return whether context given at this event reaches the model, as measured with real agents (docs/agents.md).

    `at` asks for another event of the same agent.
    """
    moment = at or event.event
    if event.borrowed and moment in (START, PROMPT):
        return False  # the agent drops context from another agent's hook
    agent = find_agent(event.flavor)
    return moment in (START, PROMPT, BEFORE, AFTER) and not (agent and moment in agent.ignores_context_at)


def format_response(event: HookEvent, response: HookResponse) -> dict[str, Any]:
    """Return a response in the format of the event's agent."""
    agent = find_agent(event.flavor) or Agent()
    answer = agent.format_hook_response(
        event.name,
        truncate_context(neutralize_markup(response.context)),
        neutralize_markup(response.refusal),
        event.borrowed,
    )
    return {**answer, "systemMessage": response.notice} if response.notice and agent.shows_notices else answer


def truncate_context(context: str) -> str:
    """Cut a text at a line break so that no agent cuts it further."""
    if len(context) <= MAX_CONTEXT_CHARS and len(context.encode("utf-8", "replace")) <= MAX_CONTEXT_CHARS:
        return context
    rest = "\n… truncated. See `engram sitrep` and `engram inbox`."
    truncated = context.encode("utf-8", "replace")[: MAX_CONTEXT_CHARS - len(rest.encode())].decode("utf-8", "ignore")
    return (truncated.rpartition("\n")[0] or truncated) + rest
