"""A message of Gemini CLI: its text, its calls, its tokens."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from engram.agents.transcripts.adapter import text_or_none, to_count, to_dict, to_microseconds
from engram.agents.transcripts.formats.shared_shapes import (
    get_part_text,
    get_response_text,
    judge_outcome,
    keep_small_facts,
    list_parts,
    parse_exit_code,
)
from engram.types import Usage

_HOOK = re.compile(r"\s*<hook_context>.*?</hook_context>\s*", re.DOTALL)
_INJECTED = re.compile(r"\s*(?:<(?:session_context|loaded_context)>|--- Content from referenced files)")
_SUMMARY = re.compile(r"\s*<(?:summary|state_snapshot)>")
_WORKSPACE = re.compile(r"- \*\*Workspace Directories:\*\*\n\s+- (.+)")
_ENDED_STATES = ("success", "completed", "error", "failed", "cancelled")


def list_objects(raw: Any) -> list[dict[str, Any]]:
    """Return the objects in a list, or none if it is not a list."""
    return [item for item in raw if isinstance(item, dict)] if isinstance(raw, list) else []


def iter_traces(message: dict[str, Any]) -> Iterator[int]:
    """Yield what identifies copies of a message: its id, its text, the calls it makes or answers."""
    if text_or_none(message.get("id")):
        yield hash(message["id"])
    for part in list_parts(message.get("content")):
        call = to_dict(part.get("functionCall")) or to_dict(part.get("functionResponse"))
        yield from (hash(trace) for trace in (text_or_none(part.get("text")), text_or_none(call.get("id"))) if trace)
    yield from (hash(trace) for trace in list_ended_calls(message))


def find_workspace(message: dict[str, Any]) -> str | None:
    """Return the working directory named in the context of a start."""
    matches = (_WORKSPACE.search(get_part_text(part)) for part in list_parts(message.get("content")))
    return next((match[1].strip() for match in matches if match), None)


def read_user_message(message: dict[str, Any], key: str, is_subagent: bool) -> Iterator[dict[str, Any]]:
    """Yield the items of a user record: the user's text, and what was inserted before it."""
    user_texts: list[str] = []
    injected_texts: list[str] = []
    for part in list_parts(message.get("displayContent") or message.get("content")):
        text = get_part_text(part)
        hook = _HOOK.match(text)
        injected_texts += [hook[0].strip()] if hook else []
        (injected_texts if _INJECTED.match(text) else user_texts).append(text[hook.end() :] if hook else text)
    if any(injected_texts):
        yield {
            "key": f"{key}:injected",
            "kind": "message",
            "name": "injected",
            "text": "\n".join(filter(None, injected_texts)),
        }
    text = "\n".join(filter(None, user_texts))
    if _SUMMARY.match(text):
        yield {"key": key, "kind": "compaction", "name": "summary", "text": text}
    elif text:
        name = "prompt" if is_subagent else None
        yield {"key": key, "kind": "message", "role": "system" if name else "user", "name": name, "text": text}


def read_model_message(message: dict[str, Any], key: str) -> Iterator[dict[str, Any]]:
    """Yield the model's thoughts and text, its calls and their results."""
    for index, thought in enumerate(list_objects(message.get("thoughts"))):
        text = "\n".join(
            filter(None, (text_or_none(thought.get(name)) for name in ("subject", "description", "summary")))
        )
        if text:
            yield {"key": f"{key}:thought:{index}", "kind": "thinking", "role": "assistant", "text": text}
    text = "\n".join(filter(None, map(get_part_text, list_parts(message.get("content")))))
    if text:
        yield {"key": key, "kind": "message", "role": "assistant", "text": text}
    for index, call in enumerate(list_objects(message.get("toolCalls"))):
        call_id = text_or_none(call.get("id")) or f"{key}:{index}"
        yield {
            "key": f"call:{call_id}", "kind": "call", "role": "assistant", "call_id": call_id,
            "name": text_or_none(call.get("name")), "arguments": call.get("args"),
        }  # fmt: skip
        if call.get("status") in _ENDED_STATES:
            yield _read_result(call_id, call)


def _read_result(call_id: str, call: dict[str, Any]) -> dict[str, Any]:
    display = call.get("resultDisplay")
    results = list_parts(call.get("result"))
    text = "\n".join(get_response_text(part) if "functionResponse" in part else get_part_text(part) for part in results)
    text = text or (display if isinstance(display, str) else "")
    facts = keep_small_facts({**to_dict(display), "agentId": call.get("agentId")})
    return {
        **build_result(call_id, text, call.get("status")),
        "data": facts or None,
        "at": to_microseconds(call.get("timestamp")),
    }


def build_result(call_id: str, text: str, status: Any) -> dict[str, Any]:
    """Return the result of a call."""
    code = parse_exit_code(text)
    return {
        "key": f"result:{call_id}", "kind": "result", "role": "tool", "call_id": call_id, "text": text,
        "exit_code": code, "verdict": judge_outcome(status, text, code),
    }  # fmt: skip


def list_ended_calls(message: dict[str, Any]) -> list[str]:
    """Return the calls of a message that include their results."""
    calls = list_objects(message.get("toolCalls"))
    return [call["id"] for call in calls if call.get("status") in _ENDED_STATES and text_or_none(call.get("id"))]


def read_new_results(message: dict[str, Any], known_ids: Any) -> Iterator[dict[str, Any]]:
    """Yield the results that only the user's record has."""
    for part in list_parts(message.get("content")):
        call_id = text_or_none(to_dict(part.get("functionResponse")).get("id"))
        if call_id and call_id not in known_ids:
            is_error = "error" in to_dict(to_dict(part["functionResponse"]).get("response"))
            yield build_result(call_id, get_response_text(part), "error" if is_error else None)


def build_notice(message: dict[str, Any], key: str, kind: str) -> dict[str, Any]:
    """Return a notice of the program to the user."""
    text = "\n".join(map(get_part_text, list_parts(message.get("content"))))
    if text.startswith("Request cancelled"):
        return {"key": key, "kind": "interrupt", "role": "user", "text": text}
    return {
        "key": key,
        "kind": "lifecycle",
        "name": kind,
        "text": text,
        "verdict": "error" if kind == "error" else None,
    }


def read_usage(session: str, message: dict[str, Any], key: str) -> Iterator[Usage]:
    """Yield the tokens of a message."""
    tokens = to_dict(message.get("tokens"))
    if not tokens:
        return
    cached = to_count(tokens.get("cached"))
    yield Usage(
        session=session,
        key=key,
        model=text_or_none(message.get("model")) or "",
        at=to_microseconds(message.get("timestamp")),
        input=max(to_count(tokens.get("input")) - cached, 0) + to_count(tokens.get("tool")),
        output=to_count(tokens.get("output")) + to_count(tokens.get("thoughts")),
        cache_read=cached,
        basis="floor",
    )
