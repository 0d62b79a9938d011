"""An occasion: one event of one agent, in our words, whichever agent it is. Pure.

Agents share most of a shape (Claude Code's) and differ in names and case. Which agent speaks is read from what it
says, never from the file that made it call us: several run the hooks of others.
"""

from __future__ import annotations

from engram import plain_json
from engram.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

START, PROMPT, BEFORE, AFTER, STOP, COMPACT, END = "start", "prompt", "before", "after", "stop", "compact", "end"

# Every agent's word for an event, without case and underscores.
EVENTS = {
    "sessionstart": START, "start": START,
    "userpromptsubmit": PROMPT, "userpromptsubmitted": PROMPT, "beforeagent": PROMPT, "beforesubmitprompt": PROMPT,
    "prompt": PROMPT,
    "pretooluse": BEFORE, "beforetool": BEFORE, "before": BEFORE,
    "posttooluse": AFTER, "posttoolusefailure": AFTER, "aftertool": AFTER, "after": AFTER,
    "stop": STOP, "agentstop": STOP, "afteragent": STOP, "stopcancelled": STOP, "stopfailure": STOP,
    "precompact": COMPACT, "precompress": COMPACT, "compact": COMPACT,
    "sessionend": END, "end": END,
}  # fmt: skip

# What only one agent writes in the path of its transcripts.
_TRANSCRIPTS = (
    ("/.qwen/", "qwen"), ("/.gemini/", "gemini"), ("/.codex/", "codex"), ("/rollout-", "codex"),
    ("/session-state/", "copilot"), ("/.grok/", "grok"), ("/.claude/", "claude"),
)  # fmt: skip
_GEMINI = ("BeforeAgent", "AfterAgent", "BeforeTool", "AfterTool", "PreCompress")


@value
class Occasion:
    """One event as it was told to us."""

    flavor: str
    event: str  # start, prompt, before or after a tool, stop, compact, end
    name: str  # the agent's own word for it
    session: str  # the agent's own id of the session
    cwd: str | None
    turn: str  # what tells this turn from others, if the agent says
    prompt: str
    tool: str
    given: dict[str, Any]  # what the tool is given
    transcript: str
    source: str  # of a start: startup, resume, compact …; of an end: why
    model: str | None
    inner: bool  # in a subagent
    borrowed: bool  # told through a hook file written for another agent


def read(raw: bytes, words: list[str], environ: Mapping[str, str]) -> Occasion | None:
    """Return the occasion a hook's input tells of; None if it concerns us not."""
    facts = plain_json.loads_lenient(raw or b"{}")
    if not isinstance(facts, dict):
        return None
    name = _word(facts, "hook_event_name", "hookEventName") or (words[-1] if words else "") or _guessed(facts)
    event = EVENTS.get(name.replace("_", "").lower())
    session = _word(facts, "parentAgentId", "session_id", "sessionId", "conversation_id")
    flavor = _flavor(facts, name, environ) or (words[0] if len(words) > 1 else "claude")
    if event is None or not session:
        return None
    return Occasion(
        flavor=flavor, event=event, name=_word(facts, "hook_event_name") or name, session=session,
        cwd=_word(facts, "cwd", "workspace_root") or None,
        turn=_word(facts, "prompt_id", "promptId", "turn_id", "turnId", "generation_id"),
        prompt=_prompt(facts), tool=_word(facts, "tool_name", "toolName"), given=_given(facts),
        transcript=_word(facts, "transcript_path", "transcriptPath"),
        source=_word(facts, "source", "trigger") if event != END else _word(facts, "reason"),
        model=_word(facts, "model") or None,
        inner=bool(_word(facts, "agent_id", "agentId")),
        borrowed=flavor == "copilot" and "sessionId" not in facts,
    )  # fmt: skip


def _flavor(facts: dict[str, Any], name: str, environ: Mapping[str, str]) -> str:
    """Tell which agent speaks by what only it says."""
    path = _word(facts, "transcript_path", "transcriptPath").replace("\\", "/")
    by_path = next((flavor for mark, flavor in _TRANSCRIPTS if mark in path), "")
    if isinstance(facts.get("flavor"), str):
        return str(facts["flavor"])
    if "cursor_version" in facts:
        return "cursor"
    if "hookEventName" in facts and "sessionId" in facts:
        return "grok"
    if "sessionId" in facts and "session_id" not in facts:
        return "copilot"
    if by_path and by_path != "claude":
        return by_path
    if name in _GEMINI:
        return "gemini"
    if "turn_id" in facts:
        return "codex"
    if not path and environ.get("COPILOT_CLI"):
        return "copilot"
    return by_path


def _guessed(facts: dict[str, Any]) -> str:
    """Name the event of an agent that does not name it (Copilot), by what it brings."""
    if "toolResult" in facts:
        return "postToolUse"
    if "toolName" in facts:
        return "preToolUse"
    if "stopReason" in facts:
        return "subagentStop" if "agentName" in facts else "agentStop"
    if "prompt" in facts:
        return "userPromptSubmitted"
    if "reason" in facts:
        return "sessionEnd"
    if "trigger" in facts:
        return "preCompact"
    return "sessionStart" if "source" in facts else ""


def _prompt(facts: dict[str, Any]) -> str:
    """Return what the user said, without what other hooks put before it."""
    said = _word(facts, "prompt", "initialPrompt")
    head, end, rest = said.partition("</hook_context>")
    return rest.strip() if end and head.startswith("<hook_context>") else said.strip()


def _given(facts: dict[str, Any]) -> dict[str, Any]:
    given = facts.get("tool_input", facts.get("toolInput", facts.get("toolArgs")))
    if isinstance(given, str):
        try:
            given = plain_json.loads(given)
        except ValueError:
            given = {"input": given}
    return given if isinstance(given, dict) else {}


def _word(facts: dict[str, Any], *names: str) -> str:
    """Return the first of these that is a text which any store can hold."""
    for name in names:
        found = facts.get(name)
        if isinstance(found, str) and found:
            return found.encode("utf-8", "replace").decode() if not found.isascii() else found
    return ""
