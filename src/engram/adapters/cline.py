"""Cline.

Where: the editor extension keeps `globalStorage/saoudrizwan.claude-dev/tasks/<task>/ui_messages.json` under VS Code's
settings (see cline_task), with `task_metadata.json` beside it, which names the models. The command line keeps
`~/.cline/data/sessions/<session>/<session>.messages.json` ({sessionId, messages[{id, role, content[], ts, modelInfo,
metrics}]}) with `<session>.json` beside it (cwd, model, title). Both are written anew with each change.

Usage of the command line: `metrics` per message; whether input holds what came from the cache is not known to us, so it
is uncertain.

Seen: no file of Cline's own. Tasks are read as its source writes them (ExtensionMessage.ts), sessions as other tools
describe them, and [{role, content, timestamp}] as another tool's sample has it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from engram.adapters.adapter import (
    Item,
    Mark,
    Place,
    as_text,
    mapping,
    microseconds,
    number,
    text_of,
    user_home,
    whole,
    words,
)
from engram.adapters.beginning import parse_beginning
from engram.adapters.cline_task import beside, first_kind, is_roo, task_of, told
from engram.adapters.document import document, named, unreadable
from engram.model import About, Event, Usage

EDITORS = ("Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf")
_INPUT = re.compile(r"\s*<user_input[^>]*>(.*?)</user_input>\s*", re.DOTALL)
_COUNTS = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens")


def storages(environ: Mapping[str, str], extension: str) -> Iterator[str]:
    """Yield where editors keep an extension's files."""
    home = user_home(environ)
    roots = [os.path.join(home, ".config"), os.path.join(home, "Library", "Application Support")]
    roots += [environ["APPDATA"]] if environ.get("APPDATA") else []
    for root in roots:
        for editor in EDITORS:
            yield os.path.join(root, editor, "User", "globalStorage", extension)
    yield os.path.join(home, ".vscode-server", "data", "User", "globalStorage", extension)


class Cline:
    """The adapter of Cline."""

    flavor = "cline"
    version = 1

    def places(self, environ: Mapping[str, str], projects: Iterable[str]) -> Iterator[Place]:
        """Yield where Cline's extension and its command line keep their work."""
        for storage in storages(environ, "saoudrizwan.claude-dev"):
            yield Place(root=os.path.join(storage, "tasks"), endings=("ui_messages.json",), depth=2)
        root = os.path.join(user_home(environ), ".cline", "data", "sessions")
        yield Place(root=root, endings=(".messages.json",), depth=2)

    def recognises(self, path: str, head: bytes) -> bool:
        """Tell whether a file is a task or a session of Cline."""
        found = parse_beginning(head)
        if isinstance(found, dict):
            return _is_session(found)
        kind = first_kind(head)
        if kind is None:
            return os.path.basename(path) == "ui_messages.json" and _is_plain(found)
        return kind == "task" or (kind == "text" and not is_roo(path, head))

    def read(self, path: str, since: Mark) -> Iterator[Item]:
        """Yield all a file says."""
        found = document(path)
        if isinstance(found, dict) and isinstance(found.get("messages"), list):
            yield from _session(path, found)
        elif isinstance(found, list):
            yield from _task(path, found)
        else:
            yield unreadable(task_of(path), path)
        yield Mark()


def _is_session(found: dict[str, Any]) -> bool:
    """Tell whether a document is a session of the command line, by its messages' roles and times in milliseconds."""
    messages = found.get("messages") if "sessionId" in found else None
    listed = map(mapping, messages if isinstance(messages, list) else [])
    return any("role" in each and (whole(each.get("ts")) or 0) >= 10**12 for each in listed)


def _is_plain(found: Any) -> bool:
    """Tell whether a document is a bare list of messages."""
    first = mapping(found[0]) if isinstance(found, list) and found else {}
    return {"role", "content", "timestamp"} <= set(first)


def _task(path: str, entries: list[Any]) -> Iterator[Item]:
    task, about = task_of(path), beside(path, "task_metadata.json")
    used = about.get("model_usage")
    last = mapping(used[-1]) if isinstance(used, list) and used else {}
    yield About(session=task, title=words(about.get("title")), model=words(last.get("model_id")))
    if entries and isinstance(entries[0], dict) and "role" in entries[0]:
        for place, each in enumerate(entries):
            yield from _message(task, place, mapping(each), asked=False)
    else:
        yield from told(task, entries)


def _session(path: str, found: dict[str, Any]) -> Iterator[Item]:
    session, origin = words(found.get("sessionId")) or named(path), mapping(found.get("origin"))
    about = beside(path, f"{named(path)}.json")
    detail, parent = mapping(about.get("metadata")), words(origin.get("parentThreadId"))
    yield About(
        session=session, cwd=words(about.get("cwd")) or words(about.get("workspace_root")),
        model=words(about.get("model")), title=words(detail.get("title")), version=words(origin.get("version")),
        branch=words(mapping(detail.get("git")).get("branch")), parent=parent, relation="subagent" if parent else None,
    )  # fmt: skip
    for place, each in enumerate(found["messages"]):
        yield from _message(session, place, mapping(each), asked=parent is not None)


def _message(session: str, place: int, message: dict[str, Any], asked: bool) -> Iterator[Item]:
    identity = words(message.get("id")) or str(place)
    at = microseconds(message.get("ts")) or microseconds(message.get("timestamp"))
    content = message.get("content")
    for part, block in enumerate(content if isinstance(content, list) else [content]):
        facts = _block(message.get("role"), block, asked)
        if facts:
            key, order = f"{identity}:{part}" if part else identity, place << 8 | min(part, 255)
            yield Event(session=session, key=key, order=order, at=at, **facts)
    metrics = mapping(message.get("metrics"))
    given, answered, read, written = (number(metrics.get(name)) for name in _COUNTS)
    if given or answered:
        yield Usage(
            session=session, key=f"{session}:{identity}", at=at, input=given, output=answered, cache_read=read,
            cache_write=written, model=words(mapping(message.get("modelInfo")).get("id")) or "", basis="uncertain",
        )  # fmt: skip


def _block(role: Any, block: Any, asked: bool) -> dict[str, Any] | None:
    """Return what one block of a message says."""
    kind = mapping(block).get("type")
    if kind == "tool_use":
        return {
            "kind": "call", "role": "assistant", "name": words(block.get("name")), "call_id": words(block.get("id")),
            "arguments": block.get("input"),
        }  # fmt: skip
    if kind == "tool_result":
        return {
            "kind": "result", "role": "tool", "call_id": words(block.get("tool_use_id")),
            "text": text_of(block.get("content")), "verdict": "error" if block.get("is_error") else "ok",
        }  # fmt: skip
    if kind == "thinking":
        return {"kind": "thinking", "role": "assistant", "text": as_text(block.get("thinking"))}
    text = text_of(block)
    if role == "assistant" or not text:
        return {"kind": "message", "role": "assistant", "text": text} if text else None
    given = _INPUT.fullmatch(text)
    name = "prompt" if asked else None if role == "user" else "injected"
    return {
        "kind": "message", "role": "system" if name else "user", "name": name, "text": given[1] if given else text
    }  # fmt: skip


adapter = Cline()
