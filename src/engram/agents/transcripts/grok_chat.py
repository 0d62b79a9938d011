"""Grok's `chat_history.jsonl`, read if a session has no `updates.jsonl`.

A cache of what the model sees, without times and ids, rewritten at every compaction: it is read as a whole each time,
and a record is identified by its content and how often that occurred before. Version 1 has `type` (system, user,
reasoning, assistant, tool_result, backend_tool_call), version 0 the `role` of OpenAI's messages; both occur in one
file.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from engram.agents.transcripts.adapter import extract_text, int_or_none, parse_json_text, text_or_none, to_dict, to_text
from engram.agents.transcripts.formats.json_lines import (
    build_damage_event,
    build_opaque_event,
    hash_record,
    iter_records,
)
from engram.agents.transcripts.grok_folder import CONTINUATION_START, read_verdicts
from engram.types import Event

_KINDS = ("system", "user", "assistant", "reasoning", "tool_result", "tool", "backend_tool_call")
_EXIT_CODE = re.compile(r"exit: (-?\d{1,9})\n")
_QUERY = re.compile(r"\s*<user_query>\n?(.*?)\n?</user_query>", re.DOTALL)


def is_chat_record(record: dict[str, Any]) -> bool:
    """Return whether a record is from this cache, by fields that only Grok uses."""
    kind = record.get("type") or record.get("role")
    if kind == "assistant":
        return "model_id" in record and "content" in record
    if kind == "user":
        return "content" in record and (
            "synthetic_reason" in record or int_or_none(record.get("prompt_index")) is not None
        )
    return (kind == "tool_result" and "tool_call_id" in record) or (kind == "backend_tool_call" and "kind" in record)


def split_user_query(text: str) -> tuple[str, bool]:
    """Return a text from a user record, and whether someone other than the user inserted it."""
    query = _QUERY.match(text)
    if query:
        return query[1], False
    return text, text.lstrip().startswith(("<system-reminder>", "<user_info>", "<task-notification>"))


def read_chat(path: str, session: str, is_subagent: bool) -> Iterator[Event]:
    """Yield the items of a chat history."""
    verdicts = read_verdicts(path)
    occurrences: Counter[str] = Counter()
    for record in iter_records(path):
        if not isinstance(record.value, dict):
            yield build_damage_event(session, record)
            continue
        key = hash_record(record.value)
        occurrences[key] += 1
        kind = record.value.get("type") or record.value.get("role")
        if kind not in _KINDS:
            yield build_opaque_event(session, record, None, text_or_none(kind))
        for index, fact in enumerate(_read_facts(kind, record.value, verdicts, is_subagent)):
            event_key = fact.pop("key", None) or f"{key}:{occurrences[key]}:{index}"
            yield Event(session=session, key=event_key, order=(record.start << 8) + index, **fact)


def _read_facts(
    kind: Any, value: dict[str, Any], verdicts: dict[str, str], is_subagent: bool
) -> Iterator[dict[str, Any]]:
    text = extract_text(value.get("content"))
    if kind == "system":
        yield {"kind": "message", "name": "injected", "text": text}
    elif kind == "user":
        yield _build_user_facts(text, text_or_none(value.get("synthetic_reason")), is_subagent)
    elif kind == "assistant":
        yield from _read_answer(value, text)
    elif kind == "reasoning":
        yield {"kind": "thinking", "role": "assistant", "text": extract_text(value.get("summary"))}
    elif kind in ("tool_result", "tool"):
        yield _build_result(text_or_none(value.get("tool_call_id")), text, verdicts)
    elif kind == "backend_tool_call":
        call = to_dict(value.get("kind"))
        yield _build_call(text_or_none(call.get("id")), call.get("tool_type"), call.get("action"))


def _build_user_facts(text: str, reason: str | None, is_subagent: bool) -> dict[str, Any]:
    if text.startswith(CONTINUATION_START):
        return {"kind": "compaction", "name": "summary", "text": text}
    user_text, injected = split_user_query(text)
    injected = injected or reason not in (None, "interjection")
    name = "injected" if injected else "prompt" if is_subagent else None
    return {"kind": "message", "role": "system" if name else "user", "name": name, "text": user_text}


def _read_answer(value: dict[str, Any], text: str) -> Iterator[dict[str, Any]]:
    if text_or_none(value.get("reasoning_content")):
        yield {"kind": "thinking", "role": "assistant", "text": value["reasoning_content"]}
    if text:
        yield {"kind": "message", "role": "assistant", "text": text}
    calls = value.get("tool_calls")
    for raw_call in calls if isinstance(calls, list) else ():
        call = to_dict(raw_call)
        function = to_dict(call.get("function")) or call
        yield _build_call(
            text_or_none(call.get("id")), function.get("name"), parse_json_text(function.get("arguments"))
        )


def _build_call(call_id: str | None, name: Any, arguments: Any) -> dict[str, Any]:
    return {
        "key": f"call:{call_id}" if call_id else None, "kind": "call", "role": "assistant", "name": to_text(name),
        "call_id": call_id, "arguments": arguments,
    }  # fmt: skip


def _build_result(call_id: str | None, text: str, verdicts: dict[str, str]) -> dict[str, Any]:
    code = _EXIT_CODE.match(text)
    verdict = verdicts.get(call_id or "") or ("error" if code and int(code[1]) else "ok")
    return {
        "key": f"result:{call_id}" if call_id else None, "kind": "result", "role": "tool", "call_id": call_id,
        "text": text, "verdict": verdict, "exit_code": int(code[1]) if code else None,
    }  # fmt: skip
