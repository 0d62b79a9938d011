"""The transcript of Cursor's agent: one record per message, without times, ids, results or tokens."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any

from engram.agents.transcripts.adapter import Item, Mark, extract_text, text_or_none, to_dict, to_text
from engram.agents.transcripts.formats.json_document import get_file_stem
from engram.agents.transcripts.formats.json_lines import (
    TranscriptRecord,
    any_record_matches,
    build_damage_event,
    build_opaque_event,
    iter_records,
)
from engram.types import About, Event

_QUERY = re.compile(r"<user_query>\s*(.*?)\s*</user_query>", re.DOTALL)


def is_transcript(head: bytes) -> bool:
    """Return whether a file's first records have Cursor's shape, with any other fields."""
    return any_record_matches(head, _is_cursor_record)


def _is_cursor_record(record: dict[str, Any]) -> bool:
    content = to_dict(record.get("message")).get("content")
    return record.get("role") in ("user", "assistant") and isinstance(content, list)


def read_transcript(path: str, since: Mark, cwd: str | None) -> Iterator[Item]:
    """Yield the items of a transcript after a mark."""
    session, parent = get_file_stem(path), _find_parent(path)
    end = since.offset
    if not end:
        yield About(session=session, cwd=cwd, parent=parent, relation="subagent" if parent else None)
    for record in iter_records(path, since.offset):
        if isinstance(record.value, dict):
            yield from _read_message(session, record, record.value, is_subagent=parent is not None)
        else:
            yield build_damage_event(session, record)
        end = record.end
    yield Mark(offset=end)


def _find_parent(path: str) -> str | None:
    """Return the parent chat of a subagent's transcript, by its path."""
    directory = os.path.dirname(os.path.abspath(path))
    return os.path.basename(os.path.dirname(directory)) if os.path.basename(directory) == "subagents" else None


def _read_message(session: str, record: TranscriptRecord, value: dict[str, Any], is_subagent: bool) -> Iterator[Event]:
    content, role = to_dict(value.get("message")).get("content"), value.get("role")
    if role not in ("user", "assistant"):
        yield build_opaque_event(session, record, None, text_or_none(role))
        return
    for index, block in enumerate(content if isinstance(content, list) else [content]):
        facts = _build_call(block) if isinstance(block, dict) and block.get("type") == "tool_use" else None
        for part_index, fact in enumerate(
            [facts] if facts else split_user_query(role, extract_text(block), is_subagent)
        ):
            order = record.start << 8 | min(index * 2 + part_index, 255)
            yield Event(session=session, key=f"{record.start}:{index}:{part_index}", order=order, **fact)


def _build_call(block: dict[str, Any]) -> dict[str, Any]:
    return {
        "kind": "call",
        "role": "assistant",
        "name": text_or_none(block.get("name")),
        "call_id": text_or_none(block.get("id")),
        "arguments": block.get("input"),
    }


def split_user_query(role: str, text: str, is_subagent: bool) -> Iterator[dict[str, Any]]:
    """Yield the user's query in a text, and the text inserted around it."""
    if role == "assistant" or is_subagent:
        name = "prompt" if role == "user" else None
        yield {"kind": "message", "role": "system" if name else "assistant", "name": name, "text": text}
        return
    query = _QUERY.search(text)
    yield {"kind": "message", "role": "user", "text": query[1] if query else text}
    around = to_text(_QUERY.sub("", text)).strip() if query else ""
    if around:
        yield {"kind": "message", "role": "system", "name": "injected", "text": around}
