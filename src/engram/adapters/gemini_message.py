"""A message of Gemini CLI: what it says, whom it calls, what that cost."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from engram.adapters.adapter import mapping, microseconds, number, words
from engram.adapters.shapes import exit_code, outcome, part_text, parts_of, response_text, small
from engram.model import Usage

_HOOK = re.compile(r"\s*<hook_context>.*?</hook_context>\s*", re.DOTALL)
_INJECTED = re.compile(r"\s*(?:<(?:session_context|loaded_context)>|--- Content from referenced files)")
_SUMMARY = re.compile(r"\s*<(?:summary|state_snapshot)>")
_WORKSPACE = re.compile(r"- \*\*Workspace Directories:\*\*\n\s+- (.+)")
_ENDED = ("success", "completed", "error", "failed", "cancelled")


def listed(thing: Any) -> list[dict[str, Any]]:
    """Return the objects in a list, none if it is no list."""
    return [each for each in thing if isinstance(each, dict)] if isinstance(thing, list) else []


def traces_of(message: dict[str, Any]) -> Iterator[int]:
    """Yield by what a copy of a message is known: its id, its words, the calls it makes or answers."""
    if words(message.get("id")):
        yield hash(message["id"])
    for part in parts_of(message.get("content")):
        call = mapping(part.get("functionCall")) or mapping(part.get("functionResponse"))
        yield from (hash(each) for each in (words(part.get("text")), words(call.get("id"))) if each)
    yield from (hash(each) for each in ended(message))


def workspace_of(message: dict[str, Any]) -> str | None:
    """Return the working directory, which the context of a start names."""
    found = (_WORKSPACE.search(part_text(part)) for part in parts_of(message.get("content")))
    return next((each[1].strip() for each in found if each), None)


def said(message: dict[str, Any], key: str, subagent: bool) -> Iterator[dict[str, Any]]:
    """Yield what stands where a person speaks: their words, and what was put before them."""
    own: list[str] = []
    injected: list[str] = []
    for part in parts_of(message.get("displayContent") or message.get("content")):
        text = part_text(part)
        hook = _HOOK.match(text)
        injected += [hook[0].strip()] if hook else []
        (injected if _INJECTED.match(text) else own).append(text[hook.end() :] if hook else text)
    if any(injected):
        yield {
            "key": f"{key}:injected",
            "kind": "message",
            "name": "injected",
            "text": "\n".join(filter(None, injected)),
        }
    text = "\n".join(filter(None, own))
    if _SUMMARY.match(text):
        yield {"key": key, "kind": "compaction", "name": "summary", "text": text}
    elif text:
        name = "prompt" if subagent else None
        yield {"key": key, "kind": "message", "role": "system" if name else "user", "name": name, "text": text}


def answered(message: dict[str, Any], key: str) -> Iterator[dict[str, Any]]:
    """Yield what the model thought and said, its calls and their results."""
    for place, thought in enumerate(listed(message.get("thoughts"))):
        text = "\n".join(filter(None, (words(thought.get(name)) for name in ("subject", "description", "summary"))))
        if text:
            yield {"key": f"{key}:thought:{place}", "kind": "thinking", "role": "assistant", "text": text}
    text = "\n".join(filter(None, map(part_text, parts_of(message.get("content")))))
    if text:
        yield {"key": key, "kind": "message", "role": "assistant", "text": text}
    for place, call in enumerate(listed(message.get("toolCalls"))):
        call_id = words(call.get("id")) or f"{key}:{place}"
        yield {
            "key": f"call:{call_id}", "kind": "call", "role": "assistant", "call_id": call_id,
            "name": words(call.get("name")), "arguments": call.get("args"),
        }  # fmt: skip
        if call.get("status") in _ENDED:
            yield _result(call_id, call)


def _result(call_id: str, call: dict[str, Any]) -> dict[str, Any]:
    display = call.get("resultDisplay")
    results = parts_of(call.get("result"))
    text = "\n".join(response_text(each) if "functionResponse" in each else part_text(each) for each in results)
    text = text or (display if isinstance(display, str) else "")
    facts = small({**mapping(display), "agentId": call.get("agentId")})
    return {
        **result(call_id, text, call.get("status")),
        "data": facts or None,
        "at": microseconds(call.get("timestamp")),
    }


def result(call_id: str, text: str, status: Any) -> dict[str, Any]:
    """Return the result of a call."""
    code = exit_code(text)
    return {
        "key": f"result:{call_id}", "kind": "result", "role": "tool", "call_id": call_id, "text": text,
        "exit_code": code, "verdict": outcome(status, text, code),
    }  # fmt: skip


def ended(message: dict[str, Any]) -> list[str]:
    """Return the calls of a message whose results it holds itself."""
    calls = listed(message.get("toolCalls"))
    return [call["id"] for call in calls if call.get("status") in _ENDED and words(call.get("id"))]


def responses(message: dict[str, Any], known: Any) -> Iterator[dict[str, Any]]:
    """Yield the results that only the user's record brings."""
    for part in parts_of(message.get("content")):
        call_id = words(mapping(part.get("functionResponse")).get("id"))
        if call_id and call_id not in known:
            failed = "error" in mapping(mapping(part["functionResponse"]).get("response"))
            yield result(call_id, response_text(part), "error" if failed else None)


def notice(message: dict[str, Any], key: str, kind: str) -> dict[str, Any]:
    """Return what the program itself told the person."""
    text = "\n".join(map(part_text, parts_of(message.get("content"))))
    if text.startswith("Request cancelled"):
        return {"key": key, "kind": "interrupt", "role": "user", "text": text}
    return {
        "key": key,
        "kind": "lifecycle",
        "name": kind,
        "text": text,
        "verdict": "error" if kind == "error" else None,
    }


def usage_of(session: str, message: dict[str, Any], key: str) -> Iterator[Usage]:
    """Yield the tokens of a message."""
    tokens = mapping(message.get("tokens"))
    if not tokens:
        return
    cached = number(tokens.get("cached"))
    yield Usage(
        session=session, key=key, model=words(message.get("model")) or "", at=microseconds(message.get("timestamp")),
        input=max(number(tokens.get("input")) - cached, 0) + number(tokens.get("tool")),
        output=number(tokens.get("output")) + number(tokens.get("thoughts")), cache_read=cached, basis="floor",
    )  # fmt: skip
