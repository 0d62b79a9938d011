"""Tell from an agent's own report whether a tool failed, and return its output. Without I/O.

Only a status counts: an event for failures, an exit code, a mark of the agent. What the output says does not, because
the output of a command that worked may be full of errors.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_CODE_FIELDS = ("exit_code", "exitCode", "exit")
_TEXT_FIELDS = ("output_for_prompt", "llmContent", "textResultForLlm", "stderr", "stdout", "output", "message")
_FAILED = ("failure", "error", "timeout")
_COPILOT_END = "completed with exit code "
# Lines that Gemini CLI and its descendants add after the output of a command.
_ADDED_LINES = ("Signal:", "Process Group PGID:", "Background PIDs:", "</untrusted_context>")
_CODE_LINE = "Exit Code:"


def read_failure(facts: Mapping[str, Any], event_name: str) -> str:
    """Return the output of a tool that failed, or an empty string if it did not or if nothing tells."""
    if facts.get("is_interrupt") is True:
        return ""
    if event_name.replace("_", "").lower() == "posttoolusefailure":
        return _read_text(facts.get("error"))
    result = facts.get("tool_response", facts.get("toolResult"))
    if isinstance(result, str):
        head, _, rest = result.partition("\n")  # Codex
        return rest if head.startswith("Exit code: ") and _is_failure(head.rpartition(" ")[2]) else ""
    return _read_text(result) if isinstance(result, dict) and _has_failed(result) else ""


def _has_failed(result: dict[str, Any]) -> bool:
    if result.get("interrupted") is True:
        return False
    for name in _CODE_FIELDS:
        if isinstance(result.get(name), int):
            return bool(result[name])
    if result.get("is_error") is True or result.get("resultType") in _FAILED or isinstance(result.get("error"), dict):
        return True
    text = _read_text(result)
    last = text.rstrip().rpartition("\n")[2]
    if last.startswith("<shellId:") and _COPILOT_END in last:
        return _is_failure(last.rpartition(_COPILOT_END)[2].rstrip(">"))
    return _is_failure(_find_code_line(text))


def _find_code_line(text: str) -> str:
    """Return the exit code that is named after the output of a command."""
    for line in reversed(text.rstrip().splitlines()[-8:]):
        if line.startswith(_CODE_LINE):
            return line.removeprefix(_CODE_LINE).strip()
        if not line.startswith(_ADDED_LINES):
            return ""
    return ""


def _is_failure(code: str) -> bool:
    return code.strip().lstrip("-").isdecimal() and int(code) != 0


def _read_text(result: object) -> str:
    """Return what a result says, as text."""
    if isinstance(result, str):
        return result
    if not isinstance(result, dict):
        return ""
    texts = [content for name in _TEXT_FIELDS if isinstance(content := result.get(name), str) and content]
    if isinstance(result.get("error"), dict):
        texts.append(_read_text(result["error"]))
    return "\n".join(dict.fromkeys(texts))
