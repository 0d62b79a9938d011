"""What lies beside a Grok transcript: a session is a directory, and its transcript does not say everything."""

from __future__ import annotations

import os
from glob import escape, iglob
from typing import Any

from engram.adapters.adapter import mapping, text_of, words
from engram.adapters.bounded import Bytes
from engram.adapters.document import document
from engram.adapters.records import records

CONTINUED = "This session is being continued from a previous conversation"
_COMPLETED = b'"tool_completed"'
_VERDICTS = {
    "success": "ok", "error": "error", "invalid_tool": "error", "permission_rejected": "denied",
    "permission_cancelled": "denied", "hook_denied": "denied", "cancelled": "interrupted",
}  # fmt: skip


def beside(path: str, *names: str) -> str:
    """Return where something of the same session lies."""
    return os.path.join(os.path.dirname(path), *names)


def json_of(path: str) -> dict[str, Any]:
    """Return what a JSON file says, nothing if it cannot be read."""
    return mapping(document(path))


def facts_of(path: str) -> dict[str, Any]:
    """Return what the directory says about its session."""
    summary = json_of(beside(path, "summary.json"))
    info = mapping(summary.get("info"))
    session = words(info.get("id")) or os.path.basename(os.path.dirname(os.path.abspath(path)))
    kind = words(summary.get("session_kind"))
    forked = words(summary.get("parent_session_id"))
    parent = _parent(path, session) if kind == "subagent" or not summary else None
    return {
        "session": session, "cwd": words(info.get("cwd")), "branch": words(summary.get("head_branch")),
        "model": words(summary.get("current_model_id")), "entrypoint": kind,
        "title": words(summary.get("generated_title")) or words(summary.get("session_summary")),
        "parent": parent or forked,
        "relation": "subagent" if parent or kind == "subagent" else "fork" if forked else None,
    }  # fmt: skip


def _parent(path: str, session: str) -> str | None:
    """Return who sent a subagent: only the parent's directory knows, which may be that of another project."""
    sessions = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(path))))
    found = iglob(os.path.join(escape(sessions), "*", "*", "subagents", escape(session), "meta.json"))
    return next((words(json_of(each).get("parent_session_id")) for each in found), None)


def verdicts_of(path: str) -> dict[str, str]:
    """Return how each call ended, by its id: the transcript calls a command that failed completed."""
    try:
        ended = [each.value for each in records(beside(path, "events.jsonl"), skip=_is_no_end)]
    except OSError:
        return {}
    calls = [(words(each.get("tool_call_id")), each.get("outcome")) for each in ended if isinstance(each, dict)]
    return {call: _VERDICTS[outcome] for call, outcome in calls if call and outcome in _VERDICTS}


def _is_no_end(line: Bytes) -> bool:
    return _COMPLETED not in line


def summary_of(path: str, checkpoint: Any) -> str:
    """Return the summary a compaction left the model with."""
    name = os.path.basename(str(checkpoint))
    history = json_of(beside(path, "compaction_checkpoints", name)).get("compacted_history")
    texts = [text_of(mapping(each).get("content")) for each in history] if isinstance(history, list) else []
    return next((text for text in texts if text.startswith(CONTINUED)), "")
