"""Cursor: the chats of the editor, and the transcripts of its agent.

Where: `User/globalStorage/state.vscdb` and `User/workspaceStorage/<hash>/state.vscdb` under Cursor's settings (Linux
`~/.config/Cursor`, macOS `~/Library/Application Support/Cursor`, Windows `%APPDATA%\\Cursor`): a SQLite table
`cursorDiskKV` with `composerData:<chat>` (name, times, `fullConversationHeadersOnly`: the order of the bubbles; before,
the whole `conversation`) and `bubbleId:<chat>:<bubble>` (type 1 the user, 2 the agent; text, thinking, toolFormerData).
The agent: `~/.cursor/projects/<slug>/agent-transcripts/<chat>/<chat>.jsonl` and `subagents/*.jsonl` in it: {role,
message.content[]}, without times, ids, results or tokens; directory: `~/.cursor/chats/<hash>/<chat>/meta.json`. Beside
it is `store.db` (see cursor_chat) with the same chat and the results of its tools.

A chat can be in all of them. The editor knows most, so the agent's files of a chat that the editor keeps are skipped;
of the agent's two files, `store.db` is preferred, and the one that was read first keeps the chat.

Changes: a rewritten key gets a new row, so new rows show which chats changed; so does `lastUpdatedAt`.

Usage: bubbles of some versions have `tokenCount`; what it counts is not documented, so it is uncertain.

Seen: no `store.db` of Cursor's own; read as several other programs describe it. Not read: the chats of old editors in
`ItemTable`, for lack of samples.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

from engram.agents.transcripts.adapter import (
    Item,
    Mark,
    Place,
    get_user_home,
    int_or_none,
    parse_json_text,
    text_or_none,
    to_count,
    to_dict,
    to_microseconds,
    to_text,
)
from engram.agents.transcripts.cursor_agent import is_transcript, read_transcript
from engram.agents.transcripts.cursor_chat import get_chat_id, is_chat, read_chat
from engram.agents.transcripts.formats.json_document import build_unreadable_event, get_file_stem, read_document
from engram.errors import Error, StoreDamaged
from engram.store.foreign_database import MAGIC, ForeignDatabase, list_tables, read_stamp
from engram.types import About, Event, Usage

_SETTINGS = (".config/Cursor", "Library/Application Support/Cursor", "AppData/Roaming/Cursor")
_SHARED = "User/globalStorage/state.vscdb"
_CHAT, _BUBBLE = "composerData:", "bubbleId:"
_VALUE = "case typeof(value) when 'text' then cast(value as blob) else value end as value"
_AGENT = re.compile(r"(.*)[/\\]\.cursor[/\\](?:projects|chats)[/\\]")


class CursorAdapter:
    """The adapter for Cursor."""

    flavor = "cursor"
    version = 2

    def places(self, environ: Mapping[str, str], projects: Iterable[str]) -> Iterator[Place]:
        """Yield where Cursor's editor and agent keep their chats."""
        home = get_user_home(environ)
        roots = [os.path.join(home, folder) for folder in _SETTINGS[:2]]
        if environ.get("APPDATA"):
            roots.append(os.path.join(environ["APPDATA"], "Cursor"))
        for root in roots:
            yield Place(root=os.path.join(root, "User"), endings=("state.vscdb",), depth=3)
        yield Place(root=os.path.join(home, ".cursor", "projects"), endings=(".jsonl",), depth=6)
        yield Place(root=os.path.join(home, ".cursor", "chats"), endings=("store.db",), depth=2)

    def recognises(self, path: str, head: bytes) -> bool:
        """Return whether a file is the editor's store, the agent's, or a transcript of the agent."""
        if not head.startswith(MAGIC):
            return is_transcript(head)
        tables = list_tables(path)
        return "cursorDiskKV" in tables or is_chat(path, tables)

    def rank_copies(self, path: str) -> list[str]:
        """Return the agent's files of the same chat, the best first."""
        folder, name = os.path.split(os.path.abspath(path))
        root = _find_agent_root(path)
        if root is None or os.path.basename(folder) == "subagents":
            return [path]
        chat = get_chat_id(path) if name == "store.db" else get_file_stem(path)
        stores = _glob_below(root, "chats", "*", chat, "store.db")
        transcripts = _glob_below(root, "projects", "*", "agent-transcripts", chat, f"{chat}.jsonl")
        transcripts += _glob_below(root, "projects", "agent-transcripts", chat, f"{chat}.jsonl")
        return [*(store for store in stores if is_chat(store, list_tables(store))), *transcripts]

    def read(self, path: str, since: Mark) -> Iterator[Item]:
        """Yield what was added since a mark."""
        with open(path, "rb") as file:
            database = file.read(len(MAGIC)) == MAGIC
        is_agents = database and "cursorDiskKV" not in list_tables(path)
        if database and not is_agents:
            yield from _read_store(path, since)
        elif _is_kept_by_editor(path, get_chat_id(path) if is_agents else get_file_stem(path)):
            yield since
        elif is_agents:
            yield from read_chat(path, since)
        else:
            yield from read_transcript(path, since, _find_cwd(path))


def _find_agent_root(path: str) -> str | None:
    """Return the agent's directory, `.cursor`, by the path of one of its files."""
    for folder in ("chats", "projects"):
        root, found, _ = os.path.abspath(path).rpartition(f"{os.sep}{folder}{os.sep}")
        if found:
            return root
    return None


def _glob_below(root: str, *parts: str) -> list[str]:
    inner = (part if part == "*" else glob.escape(part) for part in parts)
    return sorted(glob.glob(os.path.join(glob.escape(root), *inner)))


def _is_kept_by_editor(path: str, chat: str) -> bool:
    """Return whether the editor keeps the chat of an agent's file."""
    match = _AGENT.match(os.path.abspath(path))
    stores = [os.path.join(match[1], settings, _SHARED) for settings in _SETTINGS] if match else []
    return any(_has_chat(store, chat) for store in stores if os.path.exists(store))


def _has_chat(store: str, chat: str) -> bool:
    try:
        with ForeignDatabase(store) as foreign:
            return bool(foreign.fetch_rows("select 1 from cursorDiskKV where key = ?", _CHAT + chat))
    except Error:
        return False


def _find_cwd(path: str) -> str | None:
    """Return the agent's directory, from the file beside its other store."""
    root = os.path.abspath(path).rpartition(f"{os.sep}projects{os.sep}")[0]
    for meta_path in _glob_below(root, "chats", "*", get_file_stem(path), "meta.json"):
        return text_or_none(to_dict(read_document(meta_path)).get("cwd"))
    return None


def _read_store(path: str, since: Mark) -> Iterator[Item]:
    state = dict(since.state or {})
    stamp = read_stamp(path)
    if stamp is not None and stamp == state.get("stamp"):
        yield since
        return
    try:
        with ForeignDatabase(path) as foreign:
            now = _read_extent(foreign)
            for chat in _list_changed_chats(foreign, state, now):
                yield from _read_chat(foreign, chat)
            state = {**now, "stamp": stamp}
    except StoreDamaged:
        yield build_unreadable_event(get_file_stem(path), path)
    yield Mark(state=state)


def _read_extent(foreign: ForeignDatabase) -> dict[str, int]:
    """Return the store's current end: its last row and last update."""
    sql = (
        f"select (select ifnull(max(rowid), 0) from cursorDiskKV) as row, (select "
        f"max({_build_updated_sql()}) from cursorDiskKV "
        "where key >= 'composerData:' and key < 'composerData;') as updated"
    )
    return {name: int_or_none(extent) or 0 for name, extent in foreign.fetch_rows(sql)[0].items()}


def _build_updated_sql() -> str:
    value_text = "cast(value as text)"
    return f"case when json_valid({value_text}) then cast(json_extract({value_text}, '$.lastUpdatedAt') as integer) end"


def _list_changed_chats(foreign: ForeignDatabase, state: dict[str, Any], now: dict[str, int]) -> list[str]:
    """Return the chats to read; all of them if the rows were renumbered."""
    known_extent = state if (int_or_none(state.get("row")) or 0) <= now["row"] else {}
    since = (int_or_none(known_extent.get("row")) or 0, int_or_none(known_extent.get("updated")) or 0)
    sql = (
        "select key from cursorDiskKV where rowid > ? and (key like 'composerData:%' or key like 'bubbleId:%') union "
        f"select key from cursorDiskKV where key >= 'composerData:' and key < 'composerData;' and "
        f"{_build_updated_sql()} > ?"
    )
    keys = (row["key"] for row in foreign.fetch_rows(sql, *since))
    return list(dict.fromkeys(key.split(":")[1] for key in keys if isinstance(key, str)))


def _decode_value(data: Any) -> dict[str, Any]:
    return to_dict(parse_json_text(data.decode("utf-8", "replace") if isinstance(data, bytes) else data))


def _read_chat(foreign: ForeignDatabase, chat: str) -> Iterator[Item]:
    rows = foreign.fetch_rows(f"select {_VALUE} from cursorDiskKV where key = ?", _CHAT + chat)
    about = _decode_value(rows[0]["value"]) if rows else {}
    bubbles = _list_bubbles(foreign, chat, about)
    yield About(
        session=chat, title=text_or_none(about.get("name")), cwd=_find_folder(about, bubbles),
        model=text_or_none(to_dict(about.get("modelConfig")).get("modelName")),
    )  # fmt: skip
    for index, (key, bubble, is_shown) in enumerate(bubbles):
        yield from _read_bubble(chat, key, bubble, index, is_shown)


def _list_bubbles(foreign: ForeignDatabase, chat: str, about: dict[str, Any]) -> list[tuple[str, dict[str, Any], bool]]:
    """Return the bubbles in the order the chat shows them, then those it no longer shows."""
    start = f"{_BUBBLE}{chat}:"
    sql = f"select key, {_VALUE} from cursorDiskKV where key >= ? and key < ? order by rowid"
    by_key = {
        row["key"].removeprefix(start): _decode_value(row["value"])
        for row in foreign.fetch_rows(sql, start, start[:-1] + ";")
    }
    inline = about.get("conversation")
    for index, entry in enumerate(inline if isinstance(inline, list) else []):
        by_key.setdefault(text_or_none(to_dict(entry).get("bubbleId")) or str(index), to_dict(entry))
    by_name = {str(bubble.get("bubbleId", key)): key for key, bubble in by_key.items()}
    headers = about.get("fullConversationHeadersOnly")
    header_list = headers if isinstance(headers, list) and headers else [{"bubbleId": name} for name in by_name]
    shown_keys = [
        by_name[entry] for entry in (str(to_dict(header).get("bubbleId")) for header in header_list) if entry in by_name
    ]
    shown_keys = list(dict.fromkeys(shown_keys))
    return [
        (key, by_key[key], key in shown_keys)
        for key in (*shown_keys, *(key for key in by_key if key not in shown_keys))
    ]


def _find_folder(about: dict[str, Any], bubbles: list[tuple[str, dict[str, Any], bool]]) -> str | None:
    """Return the folder of a chat, from the chat or its bubbles."""
    folder = text_or_none(to_dict(to_dict(about.get("workspaceIdentifier")).get("uri")).get("fsPath"))
    for _, bubble, _ in bubbles if folder is None else ():
        uris = bubble.get("workspaceUris")
        uri = uris[0] if isinstance(uris, list) and uris and isinstance(uris[0], str) else ""
        folder = folder or text_or_none(bubble.get("workspaceProjectDir")) or text_or_none(unquote(urlsplit(uri).path))
    return folder


def _read_bubble(chat: str, key: str, bubble: dict[str, Any], index: int, is_shown: bool) -> Iterator[Item]:
    """Yield the items of one bubble."""
    common: dict[str, Any] = {
        "session": chat, "at": to_microseconds(bubble.get("createdAt")) or to_microseconds(bubble.get("timestamp")),
    }  # fmt: skip
    for part_index, facts in enumerate(_read_bubble_facts(bubble)):
        if facts["kind"] in ("call", "result"):
            facts["call_id"] = facts["call_id"] or key
        if not is_shown:
            facts["data"] = {"shown": False}
        yield Event(key=f"{key}:{part_index}" if part_index else key, order=index << 8 | part_index, **common, **facts)
    tokens = to_dict(bubble.get("tokenCount"))
    input_tokens, output_tokens = to_count(tokens.get("inputTokens")), to_count(tokens.get("outputTokens"))
    if input_tokens or output_tokens:
        model = text_or_none(to_dict(bubble.get("modelInfo")).get("modelName")) or ""
        yield Usage(
            key=f"{chat}:{key}", model=model, input=input_tokens, output=output_tokens, basis="uncertain", **common
        )


def _read_bubble_facts(bubble: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the facts in a bubble, in order."""
    text = next(
        (
            candidate
            for candidate in (bubble.get(name) for name in ("text", "rawText", "content"))
            if text_or_none(candidate)
        ),
        "",
    )
    if bubble.get("type") == 1:
        yield {"kind": "message", "role": "user", "text": text}
    elif bubble.get("type") == 2:
        if thought := text_or_none(to_dict(bubble.get("thinking")).get("text")):
            yield {"kind": "thinking", "role": "assistant", "text": thought}
        if text:
            yield {"kind": "message", "role": "assistant", "text": text}
        if isinstance(bubble.get("toolFormerData"), dict):
            yield from _read_tool(bubble["toolFormerData"])
    elif bubble:
        yield {"kind": "opaque", "name": f"bubble {bubble.get('type')}", "text": to_text(bubble)[:32768]}


def _read_tool(tool: dict[str, Any]) -> Iterator[dict[str, Any]]:
    name, call = text_or_none(tool.get("name")) or text_or_none(tool.get("tool")), text_or_none(tool.get("toolCallId"))
    arguments = parse_json_text(tool.get("params") or tool.get("rawArgs"))
    yield {"kind": "call", "role": "assistant", "name": name, "call_id": call, "arguments": arguments}
    status, result = tool.get("status"), tool.get("result")
    if status in ("loading", "pending", "running") or (status is None and result is None):
        return
    code = int_or_none(to_dict(parse_json_text(result)).get("exitCode"))
    verdict = "error" if code or status == "error" else "interrupted" if status == "cancelled" else "ok"
    yield {
        "kind": "result", "role": "tool", "name": name, "call_id": call, "text": to_text(result or tool.get("error")),
        "verdict": "denied" if tool.get("userDecision") == "rejected" else verdict, "exit_code": code,
    }  # fmt: skip


adapter = CursorAdapter()
