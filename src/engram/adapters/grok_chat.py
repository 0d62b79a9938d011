"""Grok's `chat_history.jsonl`, read where a session has no `updates.jsonl`.

A cache of what the model is shown, without times and ids, written anew at every compaction: it is read whole each time,
and a record is known by what it says and how often that was said before. Version 1 has `type` (system, user, reasoning,
assistant, tool_result, backend_tool_call), version 0 the `role` of OpenAI's messages; both occur in one file.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from engram.adapters.adapter import as_text, mapping, parsed, text_of, whole, words
from engram.adapters.grok_folder import CONTINUED, verdicts_of
from engram.adapters.records import damage, opaque, record_key, records
from engram.model import Event

_KINDS = ("system", "user", "assistant", "reasoning", "tool_result", "tool", "backend_tool_call")
_EXIT = re.compile(r"exit: (-?\d{1,9})\n")
_QUERY = re.compile(r"\s*<user_query>\n?(.*?)\n?</user_query>", re.DOTALL)


def is_chat(record: dict[str, Any]) -> bool:
    """Tell a record of this cache by the fields only Grok gives one."""
    kind = record.get("type") or record.get("role")
    if kind == "assistant":
        return "model_id" in record and "content" in record
    if kind == "user":
        return "content" in record and ("synthetic_reason" in record or whole(record.get("prompt_index")) is not None)
    return (kind == "tool_result" and "tool_call_id" in record) or (kind == "backend_tool_call" and "kind" in record)


def spoken(text: str) -> tuple[str, bool]:
    """Return a text that stands where a person speaks, and whether somebody else put it there."""
    asked = _QUERY.match(text)
    if asked:
        return asked[1], False
    return text, text.lstrip().startswith(("<system-reminder>", "<user_info>", "<task-notification>"))


def read_chat(path: str, session: str, subagent: bool) -> Iterator[Event]:
    """Yield what a chat history says."""
    verdicts = verdicts_of(path)
    said: Counter[str] = Counter()
    for record in records(path):
        if not isinstance(record.value, dict):
            yield damage(session, record)
            continue
        key = record_key(record.value)
        said[key] += 1
        kind = record.value.get("type") or record.value.get("role")
        if kind not in _KINDS:
            yield opaque(session, record, None, words(kind))
        for place, fact in enumerate(_facts(kind, record.value, verdicts, subagent)):
            named = fact.pop("key", None) or f"{key}:{said[key]}:{place}"
            yield Event(session=session, key=named, order=(record.start << 8) + place, **fact)


def _facts(kind: Any, value: dict[str, Any], verdicts: dict[str, str], subagent: bool) -> Iterator[dict[str, Any]]:
    text = text_of(value.get("content"))
    if kind == "system":
        yield {"kind": "message", "name": "injected", "text": text}
    elif kind == "user":
        yield _said(text, words(value.get("synthetic_reason")), subagent)
    elif kind == "assistant":
        yield from _answer(value, text)
    elif kind == "reasoning":
        yield {"kind": "thinking", "role": "assistant", "text": text_of(value.get("summary"))}
    elif kind in ("tool_result", "tool"):
        yield _result(words(value.get("tool_call_id")), text, verdicts)
    elif kind == "backend_tool_call":
        call = mapping(value.get("kind"))
        yield _call(words(call.get("id")), call.get("tool_type"), call.get("action"))


def _said(text: str, reason: str | None, subagent: bool) -> dict[str, Any]:
    if text.startswith(CONTINUED):
        return {"kind": "compaction", "name": "summary", "text": text}
    own, injected = spoken(text)
    injected = injected or reason not in (None, "interjection")
    name = "injected" if injected else "prompt" if subagent else None
    return {"kind": "message", "role": "system" if name else "user", "name": name, "text": own}


def _answer(value: dict[str, Any], text: str) -> Iterator[dict[str, Any]]:
    if words(value.get("reasoning_content")):
        yield {"kind": "thinking", "role": "assistant", "text": value["reasoning_content"]}
    if text:
        yield {"kind": "message", "role": "assistant", "text": text}
    calls = value.get("tool_calls")
    for each in calls if isinstance(calls, list) else ():
        call = mapping(each)
        named = mapping(call.get("function")) or call
        yield _call(words(call.get("id")), named.get("name"), parsed(named.get("arguments")))


def _call(call_id: str | None, name: Any, arguments: Any) -> dict[str, Any]:
    return {
        "key": f"call:{call_id}" if call_id else None, "kind": "call", "role": "assistant", "name": as_text(name),
        "call_id": call_id, "arguments": arguments,
    }  # fmt: skip


def _result(call_id: str | None, text: str, verdicts: dict[str, str]) -> dict[str, Any]:
    code = _EXIT.match(text)
    verdict = verdicts.get(call_id or "") or ("error" if code and int(code[1]) else "ok")
    return {
        "key": f"result:{call_id}" if call_id else None, "kind": "result", "role": "tool", "call_id": call_id,
        "text": text, "verdict": verdict, "exit_code": int(code[1]) if code else None,
    }  # fmt: skip
