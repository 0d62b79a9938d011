"""The chat store of Cursor's command line: `store.db`, one SQLite file per chat.

Tables: `meta` (key "0": hex-encoded JSON of {agentId, name, createdAt, lastUsedModel, latestRootBlobId}) and `blobs`
(id: SHA-256 of `data`). A blob is a JSON message {role, content} of the AI SDK, or protobuf: the root's field 1 lists
the messages the model still sees. Earlier roots and what a summary replaced stay in the table, so all messages are
read. Rows are added in the order of the conversation; there are no times and no tokens.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote, urlsplit

from engram.agents.transcripts.adapter import (
    Item,
    Mark,
    extract_text,
    parse_json_text,
    text_or_none,
    to_dict,
    to_microseconds,
    to_text,
)
from engram.agents.transcripts.cursor_agent import split_user_query
from engram.agents.transcripts.formats.json_document import build_unreadable_event, read_document
from engram.errors import Error, StoreDamaged
from engram.store.foreign_database import ForeignDatabase, read_stamp
from engram.types import About, Event

_WORKSPACE = re.compile(r"Workspace Path: ([^\n<]+)")
_EXIT_CODE = re.compile(r"^Exit code: (-?\d{1,9})$", re.MULTILINE)
_UNNAMED = ("New Agent", "New Chat", "Untitled")
_LONGEST_VARINT = 10
_ID_BYTES = 32


def is_chat(path: str, tables: set[str]) -> bool:
    """Return whether a database is a chat store."""
    return {"blobs", "meta"} <= tables and bool(_read_meta_of(path))


def get_chat_id(path: str) -> str:
    """Return the chat of a store: the name of its directory."""
    return os.path.basename(os.path.dirname(os.path.abspath(path)))


def read_chat(path: str, since: Mark) -> Iterator[Item]:
    """Yield the messages of a chat, all of them whenever the file changed."""
    stamp = read_stamp(path)
    if stamp is not None and stamp == (since.state or {}).get("stamp"):
        yield since
        return
    try:
        with ForeignDatabase(path) as foreign:
            yield from _read_messages(foreign, path)
    except StoreDamaged:
        yield build_unreadable_event(get_chat_id(path), path)
    yield Mark(state={"stamp": stamp})


def _read_messages(foreign: ForeignDatabase, path: str) -> Iterator[Item]:
    meta = _read_meta(foreign)
    chat = text_or_none(meta.get("agentId")) or get_chat_id(path)
    messages, workspace = _list_messages(foreign, str(meta.get("latestRootBlobId") or ""))
    yield _build_about(chat, path, meta, workspace)
    at, order = to_microseconds(meta.get("createdAt")), -1
    for key, row, message in messages:
        order = max(row << 8, order + 1)
        for index, facts in enumerate(_read_message(message)):
            order = max(order, row << 8 | min(index, 255))
            yield Event(session=chat, key=f"{key}:{index}", order=order, at=at, **facts)
            at = None
        if found := _WORKSPACE.search(extract_text(message.get("content"))[:4000]):
            yield About(session=chat, cwd=found[1].strip())


def _build_about(chat: str, path: str, meta: dict[str, Any], workspace: str | None) -> About:
    beside = to_dict(read_document(os.path.join(os.path.dirname(path), "meta.json")))
    title = text_or_none(meta.get("name")) or text_or_none(beside.get("title"))
    return About(
        session=chat, cwd=text_or_none(beside.get("cwd")) or workspace, model=text_or_none(meta.get("lastUsedModel")),
        title=None if title in _UNNAMED else title,
    )  # fmt: skip


def _read_meta_of(path: str) -> dict[str, Any]:
    try:
        with ForeignDatabase(path) as foreign:
            return _read_meta(foreign)
    except Error:
        return {}


def _read_meta(foreign: ForeignDatabase) -> dict[str, Any]:
    """Return the facts about the chat, or nothing if this is another program's database."""
    for row in foreign.fetch_rows("select cast(value as blob) as value from meta where key = '0'"):
        facts = to_dict(parse_json_text(_decode_hex(row["value"]).decode("utf-8", "replace")))
        return facts if "agentId" in facts or "latestRootBlobId" in facts else {}
    return {}


def _decode_hex(data: Any) -> bytes:
    """Return the bytes of a value that some versions write in hexadecimal."""
    raw = data if isinstance(data, bytes) else b""
    try:
        return bytes.fromhex(raw.decode("ascii"))
    except ValueError:
        return raw


def _list_messages(foreign: ForeignDatabase, root: str) -> tuple[list[tuple[str, int, dict[str, Any]]], str | None]:
    """Return the messages with key and row number, in order, and the directory named by the root.

    Equal messages share one blob: the root lists it again where it was said again.
    """
    by_id: dict[str, tuple[int, dict[str, Any]]] = {}
    listed: list[str] = []
    workspace: str | None = None
    for row in foreign.iterate_rows("select rowid as place, id, cast(data as blob) as data from blobs order by rowid"):
        content = _decode_hex(row["data"])
        message = _parse_message(content)
        if message:
            by_id[str(row["id"])] = (row["place"], message)
        elif str(row["id"]) == root:
            listed, workspace = _read_root(content)
    shown = [name for name in listed if name in by_id]
    ordered = [*(name for name in by_id if name not in set(shown)), *shown]
    times: dict[str, int] = {}
    messages = []
    for name in ordered:
        times[name] = times.get(name, 0) + 1
        messages.append((f"{name}.{times[name]}" if times[name] > 1 else name, *by_id[name]))
    return messages, workspace


def _parse_message(content: bytes) -> dict[str, Any]:
    """Return the message in a blob: JSON, or in older versions JSON inside protobuf."""
    if content.startswith(b"{"):
        message = to_dict(parse_json_text(content.decode("utf-8", "replace")))
        return message if "role" in message else {}
    inner = (part for _, part in _iter_fields(content) if part.startswith(b'{"'))
    return next((message for message in map(_parse_message, inner) if message), {})


def _read_root(content: bytes) -> tuple[list[str], str | None]:
    """Return the ids of the messages a root lists, and its directory."""
    ids: list[str] = []
    workspace = None
    for number, part in _iter_fields(content):
        if number == 1 and len(part) == _ID_BYTES:
            ids.append(part.hex())
        elif number == 9 and part.startswith((b"/", b"file://")):
            workspace = unquote(urlsplit(part.decode("utf-8", "replace")).path)
    return ids, workspace


def _iter_fields(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the length-delimited fields of a protobuf message, as far as it is one."""
    place = 0
    while place < len(content):
        tag, place = _read_varint(content, place)
        number, wire = tag >> 3, tag & 7
        if wire == 2:
            size, place = _read_varint(content, place)
            if size > len(content) - place:
                return
            yield number, content[place : place + size]
            place += size
        elif wire == 0:
            _, place = _read_varint(content, place)
        elif wire in (1, 5):
            place += 8 if wire == 1 else 4
        else:
            return


def _read_varint(content: bytes, place: int) -> tuple[int, int]:
    """Return a number and where it ends; at the end of the content if it is none."""
    number = 0
    for index, byte in enumerate(content[place : place + _LONGEST_VARINT]):
        number |= (byte & 0x7F) << 7 * index
        if byte < 0x80:
            return number, place + index + 1
    return 0, len(content)


def _read_message(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    role, content = message.get("role"), message.get("content")
    for raw_part in content if isinstance(content, list) else [content]:
        part = to_dict(raw_part)
        kind = part.get("type")
        if kind == "tool-call":
            yield _build_call(part)
        elif kind == "tool-result":
            yield _build_result(part)
        elif kind == "reasoning":
            if text := to_text(part.get("text")):
                yield {"kind": "thinking", "role": "assistant", "text": text}
        elif text := extract_text(raw_part):
            yield from _read_text(role, text)


def _read_text(role: Any, text: str) -> Iterator[dict[str, Any]]:
    if role == "system" or (role == "user" and text.lstrip().startswith("<user_info>") and "<user_query>" not in text):
        yield {"kind": "message", "role": "system", "name": "injected", "text": text}
    elif role == "tool":
        yield {"kind": "result", "role": "tool", "text": text}
    else:
        yield from split_user_query("user" if role == "user" else "assistant", text, is_subagent=False)


def _build_call(part: dict[str, Any]) -> dict[str, Any]:
    return {
        "kind": "call", "role": "assistant", "name": text_or_none(part.get("toolName")),
        "call_id": text_or_none(part.get("toolCallId")),
        "arguments": parse_json_text(part.get("args", part.get("input"))),
    }  # fmt: skip


def _build_result(part: dict[str, Any]) -> dict[str, Any]:
    result = part.get("result", part.get("output"))
    text = extract_text(result) or to_text(result)
    found = _EXIT_CODE.search(text, 0, 400)
    code = int(found[1]) if found else None
    return {
        "kind": "result", "role": "tool", "name": text_or_none(part.get("toolName")), "text": text,
        "call_id": text_or_none(part.get("toolCallId")), "exit_code": code,
        "verdict": "error" if code or part.get("isError") else "ok",
    }  # fmt: skip
