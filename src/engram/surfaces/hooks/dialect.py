"""How each agent hears an answer: context or a refusal, in its own shape. Pure."""

from __future__ import annotations

from engram.surfaces.hooks.occasion import AFTER, BEFORE, PROMPT, START
from engram.text import disarm
from engram.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from engram.surfaces.hooks.occasion import Occasion

LONGEST = 9000  # characters and bytes; Claude Code and Codex cut what is longer than 10,000

# Where context of an event reaches the model (measured on the real programs; docs/agents.md).
_DEAF = {
    "grok": (START, PROMPT),
    "gemini": (BEFORE,),
    "qwen": (BEFORE,),
    "opencode": (BEFORE,),
}


@value
class Told:
    """What an agent is told: something to know, or a refusal."""

    context: str = ""
    refusal: str = ""


def hears(met: Occasion) -> bool:
    """Tell whether context given at this event reaches the model."""
    if met.borrowed and met.event in (START, PROMPT):
        return False  # Copilot passes on only what its own files' hooks say
    return met.event in (START, PROMPT, BEFORE, AFTER) and met.event not in _DEAF.get(met.flavor, ())


def spoken(met: Occasion, told: Told) -> dict[str, Any]:
    """Return an answer in the shape of the agent that asked."""
    context = fitted(disarm(told.context))
    told = Told(refusal=disarm(told.refusal))
    if met.flavor == "copilot" and not met.borrowed:
        return _copilot(told.refusal, context)
    if met.flavor == "cursor":
        return (
            {"permission": "deny", "agent_message": told.refusal} if told.refusal else {"additional_context": context}
        )
    inner: dict[str, Any] = {"hookEventName": met.name}
    if told.refusal:
        inner |= {"permissionDecision": "deny", "permissionDecisionReason": told.refusal}
    if context:
        inner["additionalContext"] = context
    answer: dict[str, Any] = {"hookSpecificOutput": inner}
    if told.refusal and met.flavor in ("gemini", "grok"):
        answer = {"decision": "deny", "reason": told.refusal, **answer}
    return answer


def _copilot(refusal: str, context: str) -> dict[str, Any]:
    answer = {"permissionDecision": "deny", "permissionDecisionReason": refusal} if refusal else {}
    return {**answer, "additionalContext": context} if context else dict(answer)


def fitted(context: str) -> str:
    """Cut a text at a line so that every agent takes it in whole."""
    if len(context) <= LONGEST and len(context.encode("utf-8", "replace")) <= LONGEST:
        return context
    rest = "\n… cut; the rest: `engram sitrep`, `engram inbox`."
    kept = context.encode("utf-8", "replace")[: LONGEST - len(rest.encode())].decode("utf-8", "ignore")
    return (kept.rpartition("\n")[0] or kept) + rest
