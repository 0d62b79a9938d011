"""A task of Cline's editor extension and its forks: a directory with `ui_messages.json`.

A list of {ts, type: say or ask, say or ask: the kind, text}, rewritten with each change; `ts` in milliseconds. The
first entry, a `task` or in older files and in Roo a `text`, is the user's request; later messages are
`user_feedback`. A tool is a `tool` entry whose text is JSON; a command is `command`, and its `command_output` has no
exit code, so there is no verdict. `api_req_started` has the tokens of one request, without cached ones, once it is
done. `api_conversation_history.json` beside it repeats the same for the model (see cline_history).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any

from engram.agents.transcripts.adapter import (
    Item,
    parse_json_text,
    text_or_none,
    to_count,
    to_dict,
    to_microseconds,
    to_text,
)
from engram.agents.transcripts.formats.json_document import read_document
from engram.agents.transcripts.formats.json_prefix import parse_beginning
from engram.types import About, Event, Usage

_ROO_SIGN = re.compile(
    rb'<slug>|"apiProtocol"|"(?:checkpoint_saved|codebase_search_result|subtask_result|api_req_retry_delayed|'
    rb'rooignore_error|condense_context|user_edit_todos)"'
)
_CWD = re.compile(r"# Current (?:Working|Workspace) Directory \(([^)\n]+)\)")
_MODEL = re.compile(r"<model>([^<\n]+)</model>")
_USAGE_KINDS = ("api_req_started", "deleted_api_reqs", "api_req_deleted", "subagent_usage")
_ERROR_KINDS = {
    "error", "error_retry", "api_req_failed", "api_req_retry_delayed", "diff_error", "clineignore_error",
    "rooignore_error", "condense_context_error", "mistake_limit_reached", "command_permission_denied",
}  # fmt: skip
_COMPACTION_KINDS = {"condense", "condense_context", "summarize_task", "sliding_window_truncation"}
_ANSWER_KINDS = {"text", "completion_result", "followup", "plan_mode_respond", "act_mode_respond", "image"}
_CALL_KINDS = {
    "tool", "command", "use_mcp_server", "browser_action", "browser_action_launch", "use_subagents", "new_task",
}  # fmt: skip
_RESULT_KINDS = {
    "command_output", "mcp_server_response", "browser_action_result", "subtask_result", "codebase_search_result",
}  # fmt: skip
_PLAIN_KINDS = {
    "api_req_finished", "api_req_retried", "api_req_rate_limited", "auto_approval_max_req_reached",
    "browser_session_status", "checkpoint_created", "checkpoint_saved", "conditional_rules_applied",
    "generate_explanation", "hook_output_stream", "hook_status", "info", "load_mcp_documentation", "mcp_notification",
    "mcp_server_request_started", "report_bug", "resume_completed_task", "resume_task", "shell_integration_warning",
    "shell_integration_warning_with_suggestion", "subagent", "task_progress", "user_edit_todos",
}  # fmt: skip


def get_first_kind(head: bytes) -> str | None:
    """Return the kind of a task's first entry, or None if this is not a task."""
    entries = parse_beginning(head)
    first = to_dict(entries[0]) if isinstance(entries, list) and entries else {}
    return (
        text_or_none(first.get("say")) or text_or_none(first.get("ask"))
        if first.get("type") in ("say", "ask")
        else None
    )


def is_roo(path: str, head: bytes) -> bool:
    """Return whether a task that starts like Roo's is Roo's: older tasks of Cline start the same way."""
    history_path = os.path.join(os.path.dirname(path), "history_item.json")
    return bool(_ROO_SIGN.search(head)) or os.path.exists(history_path) or "roo-cline" in path


def read_sibling(path: str, name: str) -> dict[str, Any]:
    """Return the content of another file of the same task."""
    return to_dict(read_document(os.path.join(os.path.dirname(path), name)))


def get_task_id(path: str) -> str:
    """Return the task of a file: the name of its directory."""
    return os.path.basename(os.path.dirname(os.path.abspath(path)))


def read_entries(task: str, entries: list[Any], counted: bool = True, is_subagent: bool = False) -> Iterator[Item]:
    """Yield the items of a task's entries; `counted=False` if tokens are counted elsewhere."""
    stamp_counts: dict[str, int] = {}
    call: str | None = None
    for index, raw_entry in enumerate(entries):
        entry = to_dict(raw_entry)
        if entry.get("partial"):
            continue
        stamp = str(entry.get("ts"))
        stamp_counts[stamp] = stamp_counts.get(stamp, 0) + 1
        key = f"{stamp}:{stamp_counts[stamp]}" if stamp_counts[stamp] > 1 else stamp
        kind = _get_kind(entry)
        call = key if kind in _CALL_KINDS else call
        kind = "prompt" if is_subagent and index == 0 else kind
        yield from _read_entry(task, key, index, kind, entry, call)
        if kind in _USAGE_KINDS:
            yield from _read_request(task, key, index, entry, counted)


def _get_kind(entry: dict[str, Any]) -> str:
    return text_or_none(entry.get("say")) or text_or_none(entry.get("ask")) or "entry"


def _read_entry(task: str, key: str, index: int, kind: str, entry: dict[str, Any], call: str | None) -> Iterator[Event]:
    at, text = to_microseconds(entry.get("ts")), to_text(entry.get("text"))
    common: dict[str, Any] = {"session": task, "at": at}
    if thought := text_or_none(entry.get("reasoning")):
        yield Event(key=f"{key}:thinking", order=index << 2, kind="thinking", role="assistant", text=thought, **common)
    facts = _read_facts(kind, text, entry, call, first=index == 0)
    if facts:
        yield Event(key=key, order=index << 2 | 1, **common, **facts)


def _read_facts(kind: str, text: str, entry: dict[str, Any], call: str | None, first: bool) -> dict[str, Any] | None:
    """Return the facts of an entry, or None if it has none."""
    if kind in ("task", "user_feedback", "user_feedback_diff") or (first and kind == "text"):
        return {"kind": "message", "role": "user", "text": text}
    if kind == "prompt":
        return {"kind": "message", "role": "system", "name": kind, "text": text}
    if kind == "reasoning":
        return {"kind": "thinking", "role": "assistant", "text": text} if text else None
    if kind in _ANSWER_KINDS:
        return {"kind": "message", "role": "assistant", "text": _extract_question(text)} if text else None
    if kind in _CALL_KINDS:
        return {"kind": "call", "role": "assistant", "call_id": call, **_parse_call(kind, text)}
    if kind in _RESULT_KINDS:
        return {"kind": "result", "role": "tool", "call_id": call, "text": text} if text else None
    if kind in _COMPACTION_KINDS:
        summary = to_text(to_dict(entry.get("contextCondense")).get("summary")) or text
        return {"kind": "compaction", "name": kind, "text": summary}
    if kind in _ERROR_KINDS:
        verdict = "denied" if kind == "command_permission_denied" else "error"
        return {"kind": "lifecycle", "name": kind, "verdict": verdict, "text": text}
    if kind in _USAGE_KINDS:
        return None
    return {"kind": "lifecycle" if kind in _PLAIN_KINDS else "opaque", "name": kind, "text": text[:32768]}


def _extract_question(text: str) -> str:
    """Return the text of a question or plan, without the offered answers."""
    content = parse_json_text(text)
    return to_text(content.get("question") or content.get("response") or text) if isinstance(content, dict) else text


def _parse_call(kind: str, text: str) -> dict[str, Any]:
    content = parse_json_text(text)
    if kind == "command" or not isinstance(content, dict):
        return {"name": "execute_command" if kind == "command" else kind, "arguments": {kind: text}}
    name = text_or_none(content.get("tool")) or text_or_none(content.get("toolName")) or kind
    return {
        "name": name,
        "arguments": {name_in_call: value for name_in_call, value in content.items() if name_in_call != "tool"},
    }


def _read_request(task: str, key: str, index: int, entry: dict[str, Any], counted: bool) -> Iterator[Item]:
    """Yield the cost of one model request, and facts about the task."""
    request_facts, at = to_dict(parse_json_text(entry.get("text"))), to_microseconds(entry.get("ts"))
    request_text = to_text(request_facts.get("request"))
    cwd_match, model_match = _CWD.search(request_text), _MODEL.search(request_text)
    model_name = text_or_none(to_dict(entry.get("modelInfo")).get("modelId")) or (
        model_match[1] if model_match else None
    )
    if cwd_match or model_name:
        yield About(session=task, cwd=cwd_match[1] if cwd_match else None, model=model_name)
    if reason := text_or_none(request_facts.get("cancelReason")):
        kind = "interrupt" if reason == "user_cancelled" else "lifecycle"
        yield Event(session=task, key=f"{key}:cancelled", order=index << 2 | 2, kind=kind, name=reason, at=at)
    if counted:
        yield from read_usage(task, f"{task}:{key}", model_name or "", at, request_facts)


def read_usage(task: str, key: str, model: str, at: int | None, usage_facts: dict[str, Any]) -> Iterator[Usage]:
    """Yield tokens and cost from the field names these agents use."""
    counts = [to_count(usage_facts.get(name)) for name in ("tokensIn", "tokensOut", "cacheReads", "cacheWrites")]
    cost = usage_facts.get("cost", usage_facts.get("totalCost"))
    if any(counts):
        yield Usage(
            session=task, key=key, model=model, at=at, input=counts[0], output=counts[1], cache_read=counts[2],
            cache_write=counts[3], cost=float(cost) if isinstance(cost, int | float) and cost > 0 else None,
        )  # fmt: skip
