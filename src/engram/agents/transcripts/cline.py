"""Cline.

Where: the editor extension keeps `globalStorage/saoudrizwan.claude-dev/tasks/<task>/ui_messages.json` under VS Code's
settings (see cline_task), with `task_metadata.json` beside it, which names the models, and
`api_conversation_history.json` (see cline_history), read instead if it holds more. The command line keeps
`~/.cline/data/sessions/<session>/<session>.messages.json` ({sessionId, messages[{id, role, content[], ts, modelInfo,
metrics}]}) with `<session>.json` beside it (cwd, model, title). Both are rewritten with each change.

Usage of the command line: `metrics` per message; whether input includes cached tokens is unknown, so it
is uncertain.

Seen: no file of Cline's own. Tasks are read as its source writes them (ExtensionMessage.ts), sessions as other tools
describe them, and [{role, content, timestamp}] as in another tool's sample.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from engram.agents.transcripts.adapter import (
    Item,
    Mark,
    Place,
    extract_text,
    get_user_home,
    int_or_none,
    text_or_none,
    to_count,
    to_dict,
    to_microseconds,
    to_text,
)
from engram.agents.transcripts.cline_history import FILE_NAME, UI_NAME, is_history, rank_task_files, read_history
from engram.agents.transcripts.cline_task import get_first_kind, get_task_id, is_roo, read_entries, read_sibling
from engram.agents.transcripts.formats.json_document import build_unreadable_event, get_file_stem, read_document
from engram.agents.transcripts.formats.json_prefix import parse_beginning
from engram.types import About, Event, Usage

EDITORS = ("Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf")
_USER_INPUT = re.compile(r"\s*<user_input[^>]*>(.*?)</user_input>\s*", re.DOTALL)
_COUNT_FIELDS = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens")


def list_storages(environ: Mapping[str, str], extension: str) -> Iterator[str]:
    """Yield where editors keep an extension's files."""
    home = get_user_home(environ)
    roots = [os.path.join(home, ".config"), os.path.join(home, "Library", "Application Support")]
    roots += [environ["APPDATA"]] if environ.get("APPDATA") else []
    for root in roots:
        for editor in EDITORS:
            yield os.path.join(root, editor, "User", "globalStorage", extension)
    yield os.path.join(home, ".vscode-server", "data", "User", "globalStorage", extension)


class ClineAdapter:
    """The adapter for Cline."""

    flavor = "cline"
    version = 2

    def places(self, environ: Mapping[str, str], projects: Iterable[str]) -> Iterator[Place]:
        """Yield where Cline's extension and its command line keep their files."""
        for storage in list_storages(environ, "saoudrizwan.claude-dev"):
            yield Place(root=os.path.join(storage, "tasks"), endings=(UI_NAME, FILE_NAME), depth=2)
        root = os.path.join(get_user_home(environ), ".cline", "data", "sessions")
        yield Place(root=root, endings=(".messages.json",), depth=2)

    def recognises(self, path: str, head: bytes) -> bool:
        """Return whether a file is a task or a session of Cline."""
        beginning = parse_beginning(head)
        if isinstance(beginning, dict):
            return _is_session(beginning)
        if is_history(path, beginning) and os.path.basename(path) != UI_NAME:
            return not is_roo(path, head)
        kind = get_first_kind(head)
        if kind is None:
            return os.path.basename(path) == "ui_messages.json" and _is_message_list(beginning)
        return kind == "task" or (kind == "text" and not is_roo(path, head))

    def rank_copies(self, path: str) -> list[str]:
        """Return the files of the same task, the best first."""
        return rank_task_files(path)

    def read(self, path: str, since: Mark) -> Iterator[Item]:
        """Yield all items of a file."""
        content = read_document(path)
        if isinstance(content, dict) and isinstance(content.get("messages"), list):
            yield from _read_session(path, content)
        elif isinstance(content, list):
            yield from _read_task(path, content)
        else:
            yield build_unreadable_event(get_task_id(path), path)
        yield Mark()


def _is_session(content: dict[str, Any]) -> bool:
    """Return whether a document is a session of the command line: messages with roles and times in milliseconds."""
    messages = content.get("messages") if "sessionId" in content else None
    message_dicts = map(to_dict, messages if isinstance(messages, list) else [])
    return any("role" in message and (int_or_none(message.get("ts")) or 0) >= 10**12 for message in message_dicts)


def _is_message_list(content: Any) -> bool:
    """Return whether a document is a plain list of messages."""
    first = to_dict(content[0]) if isinstance(content, list) and content else {}
    return {"role", "content", "timestamp"} <= set(first)


def _read_task(path: str, entries: list[Any]) -> Iterator[Item]:
    task, metadata = get_task_id(path), read_sibling(path, "task_metadata.json")
    model_usage = metadata.get("model_usage")
    last = to_dict(model_usage[-1]) if isinstance(model_usage, list) and model_usage else {}
    yield About(session=task, title=text_or_none(metadata.get("title")), model=text_or_none(last.get("model_id")))
    if is_history(path, entries) and os.path.basename(path) != UI_NAME:
        yield from read_history(task, entries, is_subagent=False)
    elif entries and isinstance(entries[0], dict) and "role" in entries[0]:
        for index, entry in enumerate(entries):
            yield from _read_message(task, index, to_dict(entry), is_subagent=False)
    else:
        yield from read_entries(task, entries)


def _read_session(path: str, content: dict[str, Any]) -> Iterator[Item]:
    session, origin = text_or_none(content.get("sessionId")) or get_file_stem(path), to_dict(content.get("origin"))
    session_file = read_sibling(path, f"{get_file_stem(path)}.json")
    detail, parent = to_dict(session_file.get("metadata")), text_or_none(origin.get("parentThreadId"))
    yield About(
        session=session,
        cwd=text_or_none(session_file.get("cwd")) or text_or_none(session_file.get("workspace_root")),
        model=text_or_none(session_file.get("model")),
        title=text_or_none(detail.get("title")),
        version=text_or_none(origin.get("version")),
        branch=text_or_none(to_dict(detail.get("git")).get("branch")),
        parent=parent,
        relation="subagent" if parent else None,
    )
    for index, message in enumerate(content["messages"]):
        yield from _read_message(session, index, to_dict(message), is_subagent=parent is not None)


def _read_message(session: str, index: int, message: dict[str, Any], is_subagent: bool) -> Iterator[Item]:
    identity = text_or_none(message.get("id")) or str(index)
    at = to_microseconds(message.get("ts")) or to_microseconds(message.get("timestamp"))
    content = message.get("content")
    for part_index, block in enumerate(content if isinstance(content, list) else [content]):
        facts = _read_block(message.get("role"), block, is_subagent)
        if facts:
            key, order = f"{identity}:{part_index}" if part_index else identity, index << 8 | min(part_index, 255)
            yield Event(session=session, key=key, order=order, at=at, **facts)
    metrics = to_dict(message.get("metrics"))
    input_tokens, output_tokens, cache_read, cache_write = (to_count(metrics.get(name)) for name in _COUNT_FIELDS)
    if input_tokens or output_tokens:
        yield Usage(
            session=session,
            key=f"{session}:{identity}",
            at=at,
            input=input_tokens,
            output=output_tokens,
            cache_read=cache_read,
            cache_write=cache_write,
            model=text_or_none(to_dict(message.get("modelInfo")).get("id")) or "",
            basis="uncertain",
        )


def _read_block(role: Any, block: Any, is_subagent: bool) -> dict[str, Any] | None:
    """Return the event for one block of a message."""
    kind = to_dict(block).get("type")
    if kind == "tool_use":
        return {
            "kind": "call",
            "role": "assistant",
            "name": text_or_none(block.get("name")),
            "call_id": text_or_none(block.get("id")),
            "arguments": block.get("input"),
        }
    if kind == "tool_result":
        return {
            "kind": "result", "role": "tool", "call_id": text_or_none(block.get("tool_use_id")),
            "text": extract_text(block.get("content")), "verdict": "error" if block.get("is_error") else "ok",
        }  # fmt: skip
    if kind == "thinking":
        return {"kind": "thinking", "role": "assistant", "text": to_text(block.get("thinking"))}
    text = extract_text(block)
    if role == "assistant" or not text:
        return {"kind": "message", "role": "assistant", "text": text} if text else None
    user_input = _USER_INPUT.fullmatch(text)
    name = "prompt" if is_subagent else None if role == "user" else "injected"
    return {
        "kind": "message",
        "role": "system" if name else "user",
        "name": name,
        "text": user_input[1] if user_input else text,
    }


adapter = ClineAdapter()
