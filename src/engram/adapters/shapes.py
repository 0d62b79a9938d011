"""Shapes more than one agent writes: Google's parts, a shell's result as text, the small facts of a structured one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from engram.adapters.adapter import as_text, mapping, text_of
from engram.model import About

_EXIT = re.compile(r"^Exit Code: (-?\d+)", re.MULTILINE)
_DENIED = re.compile(r"did not allow|denied by policy", re.IGNORECASE)
_BULK = {
    "agent_result", "command", "content", "description", "error", "exitCode", "exit_code", "fileDiff", "newContent",
    "originalContent", "output", "output_file", "output_for_prompt", "prompt", "result", "resultDisplay",
    "sessionUpdate", "text", "type",
}  # fmt: skip


def told(session: str, state: dict[str, Any], **facts: Any) -> Iterator[About]:
    """Yield what is new about a session, and keep in the state what was said."""
    known = state.setdefault("told", {})
    if known.get("of") != session:
        known = state["told"] = {"of": session}
    new = {name: fact for name, fact in facts.items() if fact is not None and known.get(name) != fact}
    if new:
        known.update(new)
        yield About(session=session, **new)


def parts_of(content: Any) -> list[dict[str, Any]]:
    """Return a content's parts; a plain text is one part."""
    listed = content if isinstance(content, list) else [content]
    return [{"text": each} if isinstance(each, str) else mapping(each) for each in listed if each]


def part_text(part: dict[str, Any]) -> str:
    """Return the words of a part, or what stands there for a picture."""
    if "inlineData" in part or "fileData" in part:
        return "[image]"
    return as_text(part.get("text"))


def response_text(part: dict[str, Any]) -> str:
    """Return what a tool answered, from the part that carries it back to the model."""
    response = mapping(part.get("functionResponse")).get("response")
    if not isinstance(response, dict):
        return as_text(response)
    for name in ("output", "error"):
        if name in response:
            return text_of(response[name]) or as_text(response[name])
    return as_text(response)


def exit_code(text: str) -> int | None:
    """Return the exit code a shell tool wrote into its result, the last one if the output has such a line too."""
    codes = _EXIT.findall(text)
    return int(codes[-1]) if codes and len(codes[-1]) < 12 else None


def outcome(status: Any, text: str, code: int | None) -> str:
    """Return the verdict on a call: a command that failed is an error even where its tool succeeded."""
    if status not in ("error", "failed", "cancelled", "canceled"):
        return "error" if code else "ok"
    if _DENIED.search(text[:500]):
        return "denied"
    return "interrupted" if status in ("cancelled", "canceled") else "error"


def small(detail: dict[str, Any]) -> dict[str, Any]:
    """Keep the small facts of a structured result, and how many lines its diff adds and removes."""
    facts = {
        name: each for name, each in detail.items()
        if name not in _BULK and isinstance(each, str | int | float) and each is not False and 0 < len(str(each)) <= 300
    }  # fmt: skip
    diff = detail.get("fileDiff")
    if isinstance(diff, str):
        lines = [line for line in diff.split("\n") if not line.startswith(("+++", "---"))]
        facts["added"] = sum(line.startswith("+") for line in lines)
        facts["removed"] = sum(line.startswith("-") for line in lines)
    return facts
