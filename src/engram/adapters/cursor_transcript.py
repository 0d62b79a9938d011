"""The transcript that Cursor's agent writes: one record per message, without times, ids, results or tokens."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any

from engram.adapters.adapter import Item, Mark, as_text, mapping, text_of, words
from engram.adapters.document import named
from engram.adapters.records import Record, damage, looks_like, opaque, records
from engram.model import About, Event

_QUERY = re.compile(r"<user_query>\s*(.*?)\s*</user_query>", re.DOTALL)


def is_transcript(head: bytes) -> bool:
    """Tell whether a file's first records have Cursor's shape, whatever else they hold."""
    return looks_like(head, _is_ours)


def _is_ours(record: dict[str, Any]) -> bool:
    content = mapping(record.get("message")).get("content")
    return record.get("role") in ("user", "assistant") and isinstance(content, list)


def transcript(path: str, since: Mark, cwd: str | None) -> Iterator[Item]:
    """Yield what a transcript says after a mark."""
    session, parent = named(path), _parent(path)
    end = since.offset
    if not end:
        yield About(session=session, cwd=cwd, parent=parent, relation="subagent" if parent else None)
    for record in records(path, since.offset):
        if isinstance(record.value, dict):
            yield from _message(session, record, record.value, asked=parent is not None)
        else:
            yield damage(session, record)
        end = record.end
    yield Mark(offset=end)


def _parent(path: str) -> str | None:
    """Return the chat that a subagent's transcript lies under."""
    directory = os.path.dirname(os.path.abspath(path))
    return os.path.basename(os.path.dirname(directory)) if os.path.basename(directory) == "subagents" else None


def _message(session: str, record: Record, value: dict[str, Any], asked: bool) -> Iterator[Event]:
    content, role = mapping(value.get("message")).get("content"), value.get("role")
    if role not in ("user", "assistant"):
        yield opaque(session, record, None, words(role))
        return
    for place, block in enumerate(content if isinstance(content, list) else [content]):
        facts = _call(block) if isinstance(block, dict) and block.get("type") == "tool_use" else None
        for part, each in enumerate([facts] if facts else _spoken(role, text_of(block), asked)):
            order = record.start << 8 | min(place * 2 + part, 255)
            yield Event(session=session, key=f"{record.start}:{place}:{part}", order=order, **each)


def _call(block: dict[str, Any]) -> dict[str, Any]:
    return {
        "kind": "call", "role": "assistant", "name": words(block.get("name")), "call_id": words(block.get("id")),
        "arguments": block.get("input"),
    }  # fmt: skip


def _spoken(role: str, text: str, asked: bool) -> Iterator[dict[str, Any]]:
    """Yield a text; a person's words are the query in it, the rest was put around them."""
    if role == "assistant" or asked:
        name = "prompt" if role == "user" else None
        yield {"kind": "message", "role": "system" if name else "assistant", "name": name, "text": text}
        return
    query = _QUERY.search(text)
    yield {"kind": "message", "role": "user", "text": query[1] if query else text}
    around = as_text(_QUERY.sub("", text)).strip() if query else ""
    if around:
        yield {"kind": "message", "role": "system", "name": "injected", "text": around}
