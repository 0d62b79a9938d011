"""Shapes that several agents write: Google's parts, a shell's result as text, facts of a structured result."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from engram.agents.transcripts.adapter import extract_text, to_dict, to_text
from engram.types import About

_EXIT_CODE = re.compile(r"^Exit Code: (-?\d+)", re.MULTILINE)
_DENIED = re.compile(r"did not allow|denied by policy", re.IGNORECASE)
_BULK_FIELDS = {
    "agent_result", "command", "content", "description", "error", "exitCode", "exit_code", "fileDiff", "newContent",
    "originalContent", "output", "output_file", "output_for_prompt", "prompt", "result", "resultDisplay",
    "sessionUpdate", "text", "type",
}  # fmt: skip


def report_new_facts(session: str, state: dict[str, Any], **facts: Any) -> Iterator[About]:
    """Yield new facts about a session, and remember them in the state."""
    known_facts = state.setdefault("told", {})
    if known_facts.get("of") != session:
        known_facts = state["told"] = {"of": session}
    new = {name: fact for name, fact in facts.items() if fact is not None and known_facts.get(name) != fact}
    if new:
        known_facts.update(new)
        yield About(session=session, **new)


def list_parts(content: Any) -> list[dict[str, Any]]:
    """Return the parts of a content; a plain text is one part."""
    raw_parts = content if isinstance(content, list) else [content]
    return [{"text": part} if isinstance(part, str) else to_dict(part) for part in raw_parts if part]


def get_part_text(part: dict[str, Any]) -> str:
    """Return the text of a part, or a placeholder for a picture."""
    if "inlineData" in part or "fileData" in part:
        return "[image]"
    return to_text(part.get("text"))


def get_response_text(part: dict[str, Any]) -> str:
    """Return a tool's output, from the part that returns it to the model."""
    response = to_dict(part.get("functionResponse")).get("response")
    if not isinstance(response, dict):
        return to_text(response)
    for name in ("output", "error"):
        if name in response:
            return extract_text(response[name]) or to_text(response[name])
    return to_text(response)


def parse_exit_code(text: str) -> int | None:
    """Return the exit code a shell tool wrote into its result; the last one if the output has such a line too."""
    codes = _EXIT_CODE.findall(text)
    return int(codes[-1]) if codes and len(codes[-1]) < 12 else None


def judge_outcome(status: Any, text: str, code: int | None) -> str:
    """Return the verdict on a call: a failed command is an error even if its tool succeeded."""
    if status not in ("error", "failed", "cancelled", "canceled"):
        return "error" if code else "ok"
    if _DENIED.search(text[:500]):
        return "denied"
    return "interrupted" if status in ("cancelled", "canceled") else "error"


def keep_small_facts(detail: dict[str, Any]) -> dict[str, Any]:
    """Return the small facts of a structured result, and how many lines its diff adds and removes."""
    facts = {
        name: fact
        for name, fact in detail.items()
        if name not in _BULK_FIELDS
        and isinstance(fact, str | int | float)
        and fact is not False
        and 0 < len(str(fact)) <= 300
    }
    diff = detail.get("fileDiff")
    if isinstance(diff, str):
        lines = [line for line in diff.split("\n") if not line.startswith(("+++", "---"))]
        facts["added"] = sum(line.startswith("+") for line in lines)
        facts["removed"] = sum(line.startswith("-") for line in lines)
    return facts
