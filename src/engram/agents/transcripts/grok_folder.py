"""Files beside a Grok transcript: a session is a directory, and its transcript lacks some facts."""

from __future__ import annotations

import os
from glob import escape, iglob
from typing import Any

from engram.agents.transcripts.adapter import extract_text, text_or_none, to_dict
from engram.agents.transcripts.formats.bounded_file import Bytes
from engram.agents.transcripts.formats.json_document import read_document
from engram.agents.transcripts.formats.json_lines import iter_records

CONTINUATION_START = "This session is being continued from a previous conversation"
_COMPLETED = b'"tool_completed"'
_VERDICTS = {
    "success": "ok", "error": "error", "invalid_tool": "error", "permission_rejected": "denied",
    "permission_cancelled": "denied", "hook_denied": "denied", "cancelled": "interrupted",
}  # fmt: skip


def get_sibling_path(path: str, *names: str) -> str:
    """Return the path of another file of the same session."""
    return os.path.join(os.path.dirname(path), *names)


def read_json_object(path: str) -> dict[str, Any]:
    """Return the object in a JSON file, or {} if it cannot be read."""
    return to_dict(read_document(path))


def read_session_facts(path: str) -> dict[str, Any]:
    """Return the facts about a session in its directory."""
    summary = read_json_object(get_sibling_path(path, "summary.json"))
    info = to_dict(summary.get("info"))
    session = text_or_none(info.get("id")) or os.path.basename(os.path.dirname(os.path.abspath(path)))
    kind = text_or_none(summary.get("session_kind"))
    fork_parent = text_or_none(summary.get("parent_session_id"))
    parent = _find_parent(path, session) if kind == "subagent" or not summary else None
    return {
        "session": session, "cwd": text_or_none(info.get("cwd")), "branch": text_or_none(summary.get("head_branch")),
        "model": text_or_none(summary.get("current_model_id")), "entrypoint": kind,
        "title": text_or_none(summary.get("generated_title")) or text_or_none(summary.get("session_summary")),
        "parent": parent or fork_parent,
        "relation": "subagent" if parent or kind == "subagent" else "fork" if fork_parent else None,
    }  # fmt: skip


def _find_parent(path: str, session: str) -> str | None:
    """Return the parent of a subagent: only the parent's directory names it, which may be another project's."""
    sessions = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(path))))
    meta_paths = iglob(os.path.join(escape(sessions), "*", "*", "subagents", escape(session), "meta.json"))
    return next((text_or_none(read_json_object(meta_path).get("parent_session_id")) for meta_path in meta_paths), None)


def read_verdicts(path: str) -> dict[str, str]:
    """Return the verdict of each call, by id: the transcript calls a failed command completed."""
    try:
        completions = [
            completion.value
            for completion in iter_records(get_sibling_path(path, "events.jsonl"), skip=_is_not_completion)
        ]
    except OSError:
        return {}
    calls = [
        (text_or_none(completion.get("tool_call_id")), completion.get("outcome"))
        for completion in completions
        if isinstance(completion, dict)
    ]
    return {call: _VERDICTS[outcome] for call, outcome in calls if call and outcome in _VERDICTS}


def _is_not_completion(line: Bytes) -> bool:
    return _COMPLETED not in line


def read_summary(path: str, checkpoint: Any) -> str:
    """Return the summary left by a compaction."""
    name = os.path.basename(str(checkpoint))
    history = read_json_object(get_sibling_path(path, "compaction_checkpoints", name)).get("compacted_history")
    texts = [extract_text(to_dict(entry).get("content")) for entry in history] if isinstance(history, list) else []
    return next((text for text in texts if text.startswith(CONTINUATION_START)), "")
