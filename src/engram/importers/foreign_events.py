"""Convert event rows of another program: kind, role, text and calls, under various column names. Pure."""

from __future__ import annotations

from typing import Any

from engram.agents.transcripts.adapter import (
    extract_text,
    int_or_none,
    parse_json_text,
    text_or_none,
    to_dict,
    to_microseconds,
    to_text,
)
from engram.types import Event, Usage

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
# Columns for the order of an event.
PLACES = ("seq", "sequence", "idx", "event_index", "position", "ordinal", "line", "line_no")
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


def make_event(row: dict[str, Any], body: Any, session: str, key: str, position: int) -> Event:
    """Convert a row and its body to an event of a session."""
    inner = to_dict(body) or ({"text": body} if body else {})
    facts = {**inner, **{name: cell for name, cell in row.items() if cell not in (None, "")}}
    kind, role = _classify_event(facts)
    call = kind in ("call", "result")
    return Event(
        session=session,
        key=key,
        kind=kind,
        role=role,
        order=position,
        text=_get_text(row, inner, kind),
        at=to_microseconds(_find_fact(facts, "at")),
        parent=text_or_none(_find_fact(facts, "parent")),
        name=text_or_none(_find_fact(facts, "name")) if call else _get_label(facts, kind),
        call_id=_to_text(_find_fact(facts, "call")) if call else None,
        arguments=parse_json_text(_find_fact(facts, "arguments")) if kind == "call" else None,
        verdict=_get_verdict(facts) if kind == "result" else None,
        exit_code=int_or_none(_find_fact(facts, "exit")),
    )


def make_usage(row: dict[str, Any], session: str, key: str, at: int | None) -> Usage | None:
    """Return the tokens and cost of a row; None if it has neither."""
    tokens: dict[str, Any] = {name: _read_count(row, names) for name, names in _TOKENS.items()}
    money = next((float(row[name]) for name in _MONEY if _is_number(row.get(name))), None)
    if money is None and not any(tokens.values()):
        return None
    model = next((str(row[name]) for name in _MODEL if row.get(name)), "")
    return Usage(session=session, key=key, model=model, at=at, cost=money, basis="uncertain", **tokens)


def make_key(row: dict[str, Any], session: str, position: int) -> str:
    """Return a key that is the same on every import: the event's own id, else its position."""
    order = int_or_none(_find_fact(row, "order"))
    own = _to_text(_find_fact(row, "id")) or f"{position if order is None else order}"
    return f"session_memory:{session}:{own}"


def get_order(row: dict[str, Any]) -> int:
    """Return the position of a row in its session; rows without one keep their order."""
    order = int_or_none(_find_fact(row, "order"))
    return to_microseconds(_find_fact(row, "at")) or 0 if order is None else order


def extract_rows(body: Any) -> list[dict[str, Any]]:
    """Return the rows in the body of a whole session; empty if it is something else."""
    inside = body
    if isinstance(body, dict):
        inside = next((body[name] for name in ("events", "messages", "items") if isinstance(body.get(name), list)), [])
    return [row for row in inside if isinstance(row, dict)] if isinstance(inside, list) else []


def _find_fact(row: dict[str, Any], name: str) -> Any:
    return next((row[alias] for alias in _NAMES[name] if row.get(alias) not in (None, "")), None)


def _classify_event(facts: dict[str, Any]) -> tuple[str, str]:
    """Return the kind of an event and its role."""
    kind_name = str(_find_fact(facts, "kind") or "message").lower().replace("-", "_").replace(".", "_")
    speaker = _SPEAKERS.get(str(_find_fact(facts, "role") or kind_name.removesuffix("_message")).lower(), "")
    if kind_name in _KINDS:
        kind = _KINDS[kind_name]
        roles = {"call": "assistant", "thinking": "assistant", "result": "tool"}
        return kind, roles.get(kind, speaker or "system")
    if kind_name in ("message", "text", "chat") or kind_name.removesuffix("_message") in _SPEAKERS:
        return "message", speaker or "system"
    return "opaque", speaker or "system"


def _get_label(facts: dict[str, Any], kind: str) -> str | None:
    return text_or_none(_find_fact(facts, "kind")) if kind in ("opaque", "lifecycle") else None


def _get_text(row: dict[str, Any], inner: dict[str, Any], kind: str) -> str:
    """Return the text of an event from its body, else its row; an unknown body is kept as JSON."""
    text = _find_text(inner) or _find_text(row)
    return text if text or not inner or kind == "call" else to_text(inner)


def _find_text(facts: dict[str, Any]) -> str:
    for name in _NAMES["text"]:
        field = facts.get(name)
        text = extract_text(field) if isinstance(field, str | list | dict) else ""
        if text:
            return text
    return ""


def _get_verdict(facts: dict[str, Any]) -> str | None:
    verdict = _VERDICTS.get(str(_find_fact(facts, "verdict") or "").lower())
    if verdict:
        return verdict
    failed = _find_fact(facts, "failed")
    return None if failed is None else "error" if failed else "ok"


def _to_text(raw: Any) -> str | None:
    return str(raw) if isinstance(raw, str | int) and not isinstance(raw, bool) and str(raw) else None


def _is_number(raw: Any) -> bool:
    return isinstance(raw, int | float) and not isinstance(raw, bool) and raw >= 0


def _read_count(row: dict[str, Any], names: tuple[str, ...]) -> int:
    return next((int(row[name]) for name in names if _is_number(row.get(name)) and row[name] < 1 << 52), 0)
