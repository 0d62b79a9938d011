"""A task as Cline's editor extension and its descendants keep it: a directory with `ui_messages.json` in it.

A list of {ts, type: say or ask, say or ask: the kind, text}, written anew with each change; `ts` in milliseconds. The
first entry, a `task` or in older files and in Roo a `text`, is what the person asked for; later words of theirs are
`user_feedback`. A tool is a `tool` entry whose text
is JSON; a command is `command` and its `command_output` has no exit code, so there is no verdict. `api_req_started`
holds the tokens of one request, without those from the cache, once it is done. `api_conversation_history.json` beside
it says the same as the model saw it and is not read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any

from engram.adapters.adapter import Item, as_text, mapping, microseconds, number, parsed, words
from engram.adapters.beginning import parse_beginning
from engram.adapters.document import document
from engram.model import About, Event, Usage

_ROO = re.compile(
    rb'<slug>|"apiProtocol"|"(?:checkpoint_saved|codebase_search_result|subtask_result|api_req_retry_delayed|'
    rb'rooignore_error|condense_context|user_edit_todos)"'
)
_CWD = re.compile(r"# Current (?:Working|Workspace) Directory \(([^)\n]+)\)")
_MODEL = re.compile(r"<model>([^<\n]+)</model>")
_SPENT = ("api_req_started", "deleted_api_reqs", "api_req_deleted", "subagent_usage")
_ERRORS = {
    "error", "error_retry", "api_req_failed", "api_req_retry_delayed", "diff_error", "clineignore_error",
    "rooignore_error", "condense_context_error", "mistake_limit_reached", "command_permission_denied",
}  # fmt: skip
_COMPACTIONS = {"condense", "condense_context", "summarize_task", "sliding_window_truncation"}
_ANSWERS = {"text", "completion_result", "followup", "plan_mode_respond", "act_mode_respond", "image"}
_CALLS = {
    "tool", "command", "use_mcp_server", "browser_action", "browser_action_launch", "use_subagents", "new_task",
}  # fmt: skip
_RESULTS = {
    "command_output", "mcp_server_response", "browser_action_result", "subtask_result", "codebase_search_result",
}  # fmt: skip
_PLAIN = {
    "api_req_finished", "api_req_retried", "api_req_rate_limited", "auto_approval_max_req_reached",
    "browser_session_status", "checkpoint_created", "checkpoint_saved", "conditional_rules_applied",
    "generate_explanation", "hook_output_stream", "hook_status", "info", "load_mcp_documentation", "mcp_notification",
    "mcp_server_request_started", "report_bug", "resume_completed_task", "resume_task", "shell_integration_warning",
    "shell_integration_warning_with_suggestion", "subagent", "task_progress", "user_edit_todos",
}  # fmt: skip


def first_kind(head: bytes) -> str | None:
    """Return the kind of a task's first entry, or None if this is no task."""
    entries = parse_beginning(head)
    first = mapping(entries[0]) if isinstance(entries, list) and entries else {}
    return words(first.get("say")) or words(first.get("ask")) if first.get("type") in ("say", "ask") else None


def is_roo(path: str, head: bytes) -> bool:
    """Tell whether a task that begins like Roo's is Roo's: older tasks of Cline begin so too."""
    near = os.path.join(os.path.dirname(path), "history_item.json")
    return bool(_ROO.search(head)) or os.path.exists(near) or "roo-cline" in path


def beside(path: str, name: str) -> dict[str, Any]:
    """Return what another file of the same task says."""
    return mapping(document(os.path.join(os.path.dirname(path), name)))


def task_of(path: str) -> str:
    """Return the task a file belongs to: the name of its directory."""
    return os.path.basename(os.path.dirname(os.path.abspath(path)))


def told(task: str, entries: list[Any], counted: bool = True, asked: bool = False) -> Iterator[Item]:
    """Yield what a task's entries say; tokens unless they are counted elsewhere, and who asked if it was an agent."""
    seen: dict[str, int] = {}
    call: str | None = None
    for place, each in enumerate(entries):
        entry = mapping(each)
        if entry.get("partial"):
            continue
        stamp = str(entry.get("ts"))
        seen[stamp] = seen.get(stamp, 0) + 1
        key = f"{stamp}:{seen[stamp]}" if seen[stamp] > 1 else stamp
        kind = _kind(entry)
        call = key if kind in _CALLS else call
        kind = "prompt" if asked and place == 0 else kind
        yield from _entry(task, key, place, kind, entry, call)
        if kind in _SPENT:
            yield from _request(task, key, place, entry, counted)


def _kind(entry: dict[str, Any]) -> str:
    return words(entry.get("say")) or words(entry.get("ask")) or "entry"


def _entry(task: str, key: str, place: int, kind: str, entry: dict[str, Any], call: str | None) -> Iterator[Event]:
    at, text = microseconds(entry.get("ts")), as_text(entry.get("text"))
    common: dict[str, Any] = {"session": task, "at": at}
    if thought := words(entry.get("reasoning")):
        yield Event(key=f"{key}:thinking", order=place << 2, kind="thinking", role="assistant", text=thought, **common)
    facts = _facts(kind, text, entry, call, first=place == 0)
    if facts:
        yield Event(key=key, order=place << 2 | 1, **common, **facts)


def _facts(kind: str, text: str, entry: dict[str, Any], call: str | None, first: bool) -> dict[str, Any] | None:
    """Return what an entry says, or None if it says nothing."""
    if kind in ("task", "user_feedback", "user_feedback_diff") or (first and kind == "text"):
        return {"kind": "message", "role": "user", "text": text}
    if kind == "prompt":
        return {"kind": "message", "role": "system", "name": kind, "text": text}
    if kind == "reasoning":
        return {"kind": "thinking", "role": "assistant", "text": text} if text else None
    if kind in _ANSWERS:
        return {"kind": "message", "role": "assistant", "text": _words_of(text)} if text else None
    if kind in _CALLS:
        return {"kind": "call", "role": "assistant", "call_id": call, **_called(kind, text)}
    if kind in _RESULTS:
        return {"kind": "result", "role": "tool", "call_id": call, "text": text} if text else None
    if kind in _COMPACTIONS:
        summary = as_text(mapping(entry.get("contextCondense")).get("summary")) or text
        return {"kind": "compaction", "name": kind, "text": summary}
    if kind in _ERRORS:
        verdict = "denied" if kind == "command_permission_denied" else "error"
        return {"kind": "lifecycle", "name": kind, "verdict": verdict, "text": text}
    if kind in _SPENT:
        return None
    return {"kind": "lifecycle" if kind in _PLAIN else "opaque", "name": kind, "text": text[:32768]}


def _words_of(text: str) -> str:
    """Return the words of a question or a plan, which come with the answers on offer."""
    found = parsed(text)
    return as_text(found.get("question") or found.get("response") or text) if isinstance(found, dict) else text


def _called(kind: str, text: str) -> dict[str, Any]:
    found = parsed(text)
    if kind == "command" or not isinstance(found, dict):
        return {"name": "execute_command" if kind == "command" else kind, "arguments": {kind: text}}
    name = words(found.get("tool")) or words(found.get("toolName")) or kind
    return {"name": name, "arguments": {each: value for each, value in found.items() if each != "tool"}}


def _request(task: str, key: str, place: int, entry: dict[str, Any], counted: bool) -> Iterator[Item]:
    """Yield what one request to the model cost, and what it says of the task."""
    spent, at = mapping(parsed(entry.get("text"))), microseconds(entry.get("ts"))
    asked = as_text(spent.get("request"))
    cwd, model = _CWD.search(asked), _MODEL.search(asked)
    named = words(mapping(entry.get("modelInfo")).get("modelId")) or (model[1] if model else None)
    if cwd or named:
        yield About(session=task, cwd=cwd[1] if cwd else None, model=named)
    if reason := words(spent.get("cancelReason")):
        kind = "interrupt" if reason == "user_cancelled" else "lifecycle"
        yield Event(session=task, key=f"{key}:cancelled", order=place << 2 | 2, kind=kind, name=reason, at=at)
    if counted:
        yield from spending(task, f"{task}:{key}", named or "", at, spent)


def spending(task: str, key: str, model: str, at: int | None, spent: dict[str, Any]) -> Iterator[Usage]:
    """Yield tokens and cost under the names these agents give them."""
    counts = [number(spent.get(name)) for name in ("tokensIn", "tokensOut", "cacheReads", "cacheWrites")]
    cost = spent.get("cost", spent.get("totalCost"))
    if any(counts):
        yield Usage(
            session=task, key=key, model=model, at=at, input=counts[0], output=counts[1], cache_read=counts[2],
            cache_write=counts[3], cost=float(cost) if isinstance(cost, int | float) and cost > 0 else None,
        )  # fmt: skip
