"""Cursor: the chats of the editor, and the transcripts of its agent.

Where: `User/globalStorage/state.vscdb` and `User/workspaceStorage/<hash>/state.vscdb` under Cursor's settings (Linux
`~/.config/Cursor`, macOS `~/Library/Application Support/Cursor`, Windows `%APPDATA%\\Cursor`): a SQLite table
`cursorDiskKV` with `composerData:<chat>` (name, times, `fullConversationHeadersOnly`: the order of the bubbles; before,
the whole `conversation`) and `bubbleId:<chat>:<bubble>` (type 1 a person, 2 the agent; text, thinking, toolFormerData).
The agent: `~/.cursor/projects/<slug>/agent-transcripts/<chat>/<chat>.jsonl` and `subagents/*.jsonl` in it: {role,
message.content[]}, without times, ids, results or tokens; where it was is in `~/.cursor/chats/<hash>/<chat>/meta.json`.

One chat can be in both. The editor knows more, so a transcript of a chat that the editor keeps is left to it.

Changes: a key that is written anew gets a new row, so new rows tell which chats changed; so does `lastUpdatedAt`.

Usage: bubbles of some versions have `tokenCount`; what it counts is nowhere said, so it is uncertain.

Not read: `store.db` of the agent and the chats of old editors in `ItemTable`, of which we had no samples.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

from engram.adapters.adapter import (
    Item,
    Mark,
    Place,
    as_text,
    mapping,
    microseconds,
    number,
    parsed,
    user_home,
    whole,
    words,
)
from engram.adapters.cursor_transcript import is_transcript, transcript
from engram.adapters.document import document, named, unreadable
from engram.errors import Error, StoreDamaged
from engram.model import About, Event, Usage
from engram.store.foreign import MAGIC, Foreign, stamped, tables

_SETTINGS = (".config/Cursor", "Library/Application Support/Cursor", "AppData/Roaming/Cursor")
_SHARED = "User/globalStorage/state.vscdb"
_CHAT, _BUBBLE = "composerData:", "bubbleId:"
_VALUE = "case typeof(value) when 'text' then cast(value as blob) else value end as value"
_AGENT = re.compile(r"(.*)[/\\]\.cursor[/\\]projects[/\\]")


class Cursor:
    """The adapter of Cursor."""

    flavor = "cursor"
    version = 1

    def places(self, environ: Mapping[str, str], projects: Iterable[str]) -> Iterator[Place]:
        """Yield where Cursor's editor and agent keep their chats."""
        home = user_home(environ)
        roots = [os.path.join(home, each) for each in _SETTINGS[:2]]
        if environ.get("APPDATA"):
            roots.append(os.path.join(environ["APPDATA"], "Cursor"))
        for root in roots:
            yield Place(root=os.path.join(root, "User"), endings=("state.vscdb",), depth=3)
        yield Place(root=os.path.join(home, ".cursor", "projects"), endings=(".jsonl",), depth=6)

    def recognises(self, path: str, head: bytes) -> bool:
        """Tell whether a file is the editor's store or a transcript of the agent."""
        return "cursorDiskKV" in tables(path) if head.startswith(MAGIC) else is_transcript(head)

    def read(self, path: str, since: Mark) -> Iterator[Item]:
        """Yield what was said since a mark."""
        with open(path, "rb") as file:
            database = file.read(len(MAGIC)) == MAGIC
        if database:
            yield from _store(path, since)
        elif _kept_by_editor(path):
            yield since
        else:
            yield from transcript(path, since, _cwd(path))


def _kept_by_editor(path: str) -> bool:
    """Tell whether the editor keeps the chat that an agent's transcript is of."""
    found = _AGENT.match(os.path.abspath(path))
    stores = [os.path.join(found[1], settings, _SHARED) for settings in _SETTINGS] if found else []
    return any(_has_chat(store, named(path)) for store in stores if os.path.exists(store))


def _has_chat(store: str, chat: str) -> bool:
    try:
        with Foreign(store) as foreign:
            return bool(foreign.rows("select 1 from cursorDiskKV where key = ?", _CHAT + chat))
    except Error:
        return False


def _cwd(path: str) -> str | None:
    """Return where the agent worked, from what lies beside its other store."""
    root = os.path.abspath(path).rpartition(f"{os.sep}projects{os.sep}")[0]
    for each in glob.glob(os.path.join(glob.escape(root), "chats", "*", glob.escape(named(path)), "meta.json")):
        return words(mapping(document(each)).get("cwd"))
    return None


def _store(path: str, since: Mark) -> Iterator[Item]:
    state = dict(since.state or {})
    stamp = stamped(path)
    if stamp is not None and stamp == state.get("stamp"):
        yield since
        return
    try:
        with Foreign(path) as foreign:
            now = _extent(foreign)
            for chat in _changed(foreign, state, now):
                yield from _chat(foreign, chat)
            state = {**now, "stamp": stamp}
    except StoreDamaged:
        yield unreadable(named(path), path)
    yield Mark(state=state)


def _extent(foreign: Foreign) -> dict[str, int]:
    """Return how far the store reaches now."""
    sql = (
        f"select (select ifnull(max(rowid), 0) from cursorDiskKV) as row, (select max({_updated()}) from cursorDiskKV "
        "where key >= 'composerData:' and key < 'composerData;') as updated"
    )
    return {name: whole(each) or 0 for name, each in foreign.rows(sql)[0].items()}


def _updated() -> str:
    said = "cast(value as text)"
    return f"case when json_valid({said}) then cast(json_extract({said}, '$.lastUpdatedAt') as integer) end"


def _changed(foreign: Foreign, state: dict[str, Any], now: dict[str, int]) -> list[str]:
    """Return the chats that are to be read, all of them if the rows were numbered anew."""
    known = state if (whole(state.get("row")) or 0) <= now["row"] else {}
    reach = (whole(known.get("row")) or 0, whole(known.get("updated")) or 0)
    sql = (
        "select key from cursorDiskKV where rowid > ? and (key like 'composerData:%' or key like 'bubbleId:%') union "
        f"select key from cursorDiskKV where key >= 'composerData:' and key < 'composerData;' and {_updated()} > ?"
    )
    keys = (row["key"] for row in foreign.rows(sql, *reach))
    return list(dict.fromkeys(key.split(":")[1] for key in keys if isinstance(key, str)))


def _value(data: Any) -> dict[str, Any]:
    return mapping(parsed(data.decode("utf-8", "replace") if isinstance(data, bytes) else data))


def _chat(foreign: Foreign, chat: str) -> Iterator[Item]:
    kept = foreign.rows(f"select {_VALUE} from cursorDiskKV where key = ?", _CHAT + chat)
    about = _value(kept[0]["value"]) if kept else {}
    bubbles = _bubbles(foreign, chat, about)
    yield About(
        session=chat, title=words(about.get("name")), cwd=_folder(about, bubbles),
        model=words(mapping(about.get("modelConfig")).get("modelName")),
    )  # fmt: skip
    for place, (key, bubble, shown) in enumerate(bubbles):
        yield from _bubble(chat, key, bubble, place, shown)


def _bubbles(foreign: Foreign, chat: str, about: dict[str, Any]) -> list[tuple[str, dict[str, Any], bool]]:
    """Return the bubbles in the order the chat shows them, and after those the ones it shows no more."""
    start = f"{_BUBBLE}{chat}:"
    sql = f"select key, {_VALUE} from cursorDiskKV where key >= ? and key < ? order by rowid"
    found = {row["key"].removeprefix(start): _value(row["value"]) for row in foreign.rows(sql, start, start[:-1] + ";")}
    inline = about.get("conversation")
    for place, each in enumerate(inline if isinstance(inline, list) else []):
        found.setdefault(words(mapping(each).get("bubbleId")) or str(place), mapping(each))
    by_name = {str(bubble.get("bubbleId", key)): key for key, bubble in found.items()}
    headers = about.get("fullConversationHeadersOnly")
    listed = headers if isinstance(headers, list) and headers else [{"bubbleId": name} for name in by_name]
    shown = [by_name[each] for each in (str(mapping(header).get("bubbleId")) for header in listed) if each in by_name]
    shown = list(dict.fromkeys(shown))
    return [(key, found[key], key in shown) for key in (*shown, *(key for key in found if key not in shown))]


def _folder(about: dict[str, Any], bubbles: list[tuple[str, dict[str, Any], bool]]) -> str | None:
    """Return the folder a chat belongs to, as it says itself or as its bubbles say."""
    folder = words(mapping(mapping(about.get("workspaceIdentifier")).get("uri")).get("fsPath"))
    for _, bubble, _ in bubbles if folder is None else ():
        uris = bubble.get("workspaceUris")
        uri = uris[0] if isinstance(uris, list) and uris and isinstance(uris[0], str) else ""
        folder = folder or words(bubble.get("workspaceProjectDir")) or words(unquote(urlsplit(uri).path))
    return folder


def _bubble(chat: str, key: str, bubble: dict[str, Any], place: int, shown: bool) -> Iterator[Item]:
    """Yield what one bubble says."""
    common: dict[str, Any] = {
        "session": chat, "at": microseconds(bubble.get("createdAt")) or microseconds(bubble.get("timestamp")),
    }  # fmt: skip
    for part, facts in enumerate(_said(bubble)):
        if facts["kind"] in ("call", "result"):
            facts["call_id"] = facts["call_id"] or key
        if not shown:
            facts["data"] = {"shown": False}
        yield Event(key=f"{key}:{part}" if part else key, order=place << 8 | part, **common, **facts)
    tokens = mapping(bubble.get("tokenCount"))
    given, answered = number(tokens.get("inputTokens")), number(tokens.get("outputTokens"))
    if given or answered:
        model = words(mapping(bubble.get("modelInfo")).get("modelName")) or ""
        yield Usage(key=f"{chat}:{key}", model=model, input=given, output=answered, basis="uncertain", **common)


def _said(bubble: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the facts in a bubble in their order."""
    text = next((each for each in (bubble.get(name) for name in ("text", "rawText", "content")) if words(each)), "")
    if bubble.get("type") == 1:
        yield {"kind": "message", "role": "user", "text": text}
    elif bubble.get("type") == 2:
        if thought := words(mapping(bubble.get("thinking")).get("text")):
            yield {"kind": "thinking", "role": "assistant", "text": thought}
        if text:
            yield {"kind": "message", "role": "assistant", "text": text}
        if isinstance(bubble.get("toolFormerData"), dict):
            yield from _tool(bubble["toolFormerData"])
    elif bubble:
        yield {"kind": "opaque", "name": f"bubble {bubble.get('type')}", "text": as_text(bubble)[:32768]}


def _tool(tool: dict[str, Any]) -> Iterator[dict[str, Any]]:
    name, call = words(tool.get("name")) or words(tool.get("tool")), words(tool.get("toolCallId"))
    arguments = parsed(tool.get("params") or tool.get("rawArgs"))
    yield {"kind": "call", "role": "assistant", "name": name, "call_id": call, "arguments": arguments}
    status, result = tool.get("status"), tool.get("result")
    if status in ("loading", "pending", "running") or (status is None and result is None):
        return
    code = whole(mapping(parsed(result)).get("exitCode"))
    verdict = "error" if code or status == "error" else "interrupted" if status == "cancelled" else "ok"
    yield {
        "kind": "result", "role": "tool", "name": name, "call_id": call, "text": as_text(result or tool.get("error")),
        "verdict": "denied" if tool.get("userDecision") == "rejected" else verdict, "exit_code": code,
    }  # fmt: skip


adapter = Cursor()
