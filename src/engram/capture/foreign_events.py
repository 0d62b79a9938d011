"""Rows of another program's events made ours: kind, role, words and calls, under whichever names they stand. Pure."""

from __future__ import annotations

from typing import Any

from engram.adapters.adapter import as_text, mapping, microseconds, parsed, text_of, whole, words
from engram.model import Event, Usage

_KINDS = {
    "tool_call": "call", "tool_use": "call", "function_call": "call", "call": "call", "toolcall": "call",
    "command": "call", "tool_result": "result", "tool_output": "result", "function_call_output": "result",
    "function_result": "result", "result": "result", "toolresult": "result", "tool": "result",
    "thinking": "thinking", "reasoning": "thinking", "thought": "thinking",
    "compaction": "compaction", "compact": "compaction", "interrupt": "interrupt", "interrupted": "interrupt",
    "lifecycle": "lifecycle", "session_start": "lifecycle", "session_end": "lifecycle", "damage": "damage",
}  # fmt: skip
_SPEAKERS = {
    "user": "user", "human": "user", "prompt": "user", "assistant": "assistant", "agent": "assistant",
    "model": "assistant", "ai": "assistant", "system": "system", "developer": "system",
}  # fmt: skip
PLACES = ("seq", "sequence", "idx", "event_index", "position", "ordinal", "line", "line_no")  # of an event's order
_NAMES = {
    "id": ("event_uid", "event_id", "uuid", "event_key"),
    "order": PLACES,
    "at": ("ts", "timestamp", "at", "time", "created_at", "occurred_at"),
    "kind": ("kind", "event_kind", "event_type", "type", "category"),
    "role": ("role", "speaker", "author", "actor"),
    "name": ("tool_name", "tool", "function", "name"),
    "call": ("call_id", "tool_call_id", "tool_use_id", "callId"),
    "arguments": ("arguments", "args", "input", "tool_input", "parameters"),
    "text": ("text", "content", "message", "output", "body", "result", "summary"),
    "parent": ("parent_uid", "parent_id", "parent_uuid"),
    "verdict": ("verdict", "status", "outcome"),
    "exit": ("exit_code", "returncode"),
    "failed": ("is_error", "error", "failed"),
}
_TOKENS = {
    "input": ("input_tokens", "prompt_tokens", "tokens_in", "input"),
    "output": ("output_tokens", "completion_tokens", "tokens_out", "output"),
    "cache_read": ("cache_read_tokens", "cache_read_input_tokens", "cached_tokens", "cached_input_tokens"),
    "cache_write": ("cache_write_tokens", "cache_creation_tokens", "cache_creation_input_tokens"),
    "reasoning": ("reasoning_tokens",),
}
_MONEY = ("usd", "cost_usd", "total_usd", "total_cost_usd", "amount_usd", "cost")
_MODEL = ("model", "model_name", "model_id")
_VERDICTS = {"ok": "ok", "success": "ok", "error": "error", "failed": "error", "failure": "error", "denied": "denied",
             "interrupted": "interrupted"}  # fmt: skip


def make_event(row: dict[str, Any], body: Any, session: str, key: str, place: int) -> Event:
    """Return a row, and the body it names, as an event of a session."""
    inner = mapping(body) or ({"text": body} if body else {})
    facts = {**inner, **{name: each for name, each in row.items() if each not in (None, "")}}
    kind, role = _what(facts)
    call = kind in ("call", "result")
    return Event(
        session=session, key=key, kind=kind, role=role, order=place, text=_said(row, inner, kind),
        at=microseconds(_fact(facts, "at")),
        parent=words(_fact(facts, "parent")), name=words(_fact(facts, "name")) if call else _label(facts, kind),
        call_id=_text(_fact(facts, "call")) if call else None,
        arguments=parsed(_fact(facts, "arguments")) if kind == "call" else None,
        verdict=_verdict(facts) if kind == "result" else None, exit_code=whole(_fact(facts, "exit")),
    )  # fmt: skip


def make_usage(row: dict[str, Any], session: str, key: str, at: int | None) -> Usage | None:
    """Return the tokens and the money a row tells of; None if it tells of neither."""
    tokens: dict[str, Any] = {name: _count(row, names) for name, names in _TOKENS.items()}
    money = next((float(row[name]) for name in _MONEY if _is_number(row.get(name))), None)
    if money is None and not any(tokens.values()):
        return None
    model = next((str(row[name]) for name in _MODEL if row.get(name)), "")
    return Usage(session=session, key=key, model=model, at=at, cost=money, basis="uncertain", **tokens)


def key_of(row: dict[str, Any], session: str, place: int) -> str:
    """Return what names an event whenever it is imported: its own id, else where it stands."""
    order = whole(_fact(row, "order"))
    own = _text(_fact(row, "id")) or f"{place if order is None else order}"
    return f"session_memory:{session}:{own}"


def order_of(row: dict[str, Any]) -> int:
    """Return where a row stands in its session; those that do not say it stay as they are."""
    found = whole(_fact(row, "order"))
    return microseconds(_fact(row, "at")) or 0 if found is None else found


def listed(body: Any) -> list[dict[str, Any]]:
    """Return the rows that a body of a whole session holds; none if it holds something else."""
    inside = body
    if isinstance(body, dict):
        inside = next((body[name] for name in ("events", "messages", "items") if isinstance(body.get(name), list)), [])
    return [each for each in inside if isinstance(each, dict)] if isinstance(inside, list) else []


def _fact(row: dict[str, Any], name: str) -> Any:
    return next((row[each] for each in _NAMES[name] if row.get(each) not in (None, "")), None)


def _what(facts: dict[str, Any]) -> tuple[str, str]:
    """Return the kind of an event and who speaks."""
    named = str(_fact(facts, "kind") or "message").lower().replace("-", "_").replace(".", "_")
    speaker = _SPEAKERS.get(str(_fact(facts, "role") or named.removesuffix("_message")).lower(), "")
    if named in _KINDS:
        kind = _KINDS[named]
        roles = {"call": "assistant", "thinking": "assistant", "result": "tool"}
        return kind, roles.get(kind, speaker or "system")
    if named in ("message", "text", "chat") or named.removesuffix("_message") in _SPEAKERS:
        return "message", speaker or "system"
    return "opaque", speaker or "system"


def _label(facts: dict[str, Any], kind: str) -> str | None:
    return words(_fact(facts, "kind")) if kind in ("opaque", "lifecycle") else None


def _said(row: dict[str, Any], inner: dict[str, Any], kind: str) -> str:
    """Return the words of an event: of its body, else of its row; a body nobody can read stands as JSON."""
    found = _words(inner) or _words(row)
    return found if found or not inner or kind == "call" else as_text(inner)


def _words(facts: dict[str, Any]) -> str:
    for name in _NAMES["text"]:
        given = facts.get(name)
        found = text_of(given) if isinstance(given, str | list | dict) else ""
        if found:
            return found
    return ""


def _verdict(facts: dict[str, Any]) -> str | None:
    given = _VERDICTS.get(str(_fact(facts, "verdict") or "").lower())
    if given:
        return given
    failed = _fact(facts, "failed")
    return None if failed is None else "error" if failed else "ok"


def _text(given: Any) -> str | None:
    return str(given) if isinstance(given, str | int) and not isinstance(given, bool) and str(given) else None


def _is_number(given: Any) -> bool:
    return isinstance(given, int | float) and not isinstance(given, bool) and given >= 0


def _count(row: dict[str, Any], names: tuple[str, ...]) -> int:
    return next((int(row[name]) for name in names if _is_number(row.get(name)) and row[name] < 1 << 52), 0)
