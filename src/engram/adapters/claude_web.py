"""Claude on the web (claude.ai), from the data its users can export.

What: `conversations.json`, a list of conversations, or one of them in a file of its own: uuid, name, created_at,
chat_messages [{uuid, sender: human or assistant, created_at, text, content[], attachments[], files[]}]. Newer ones have
parent_message_uuid, and current_leaf_message_uuid where the site was captured: then what is not shown is kept with
`shown: false`. Blocks of content: text, thinking, tool_use, tool_result and others that say nothing.

Usage: none.

Seen: another tool's sample of 2026-08; the blocks as another tool describes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from engram.adapters.adapter import Item, Mark, Place, as_text, mapping, microseconds, text_of, words
from engram.adapters.beginning import parse_beginning
from engram.adapters.document import elements, named, unreadable
from engram.adapters.records import record_key
from engram.model import About, Event


class ClaudeWeb:
    """The adapter of claude.ai's export."""

    flavor = "claude-web"
    version = 1

    def places(self, environ: Mapping[str, str], projects: Iterable[str]) -> Iterator[Place]:
        """Yield nothing: an export lies wherever its user put it."""
        yield from ()

    def recognises(self, path: str, head: bytes) -> bool:
        """Tell whether a file holds conversations of claude.ai."""
        found = parse_beginning(head)
        listed = map(mapping, found if isinstance(found, list) else [found])
        return b'"uuid"' in head and any(isinstance(each.get("chat_messages"), list) for each in listed)

    def read(self, path: str, since: Mark) -> Iterator[Item]:
        """Yield all conversations of an export."""
        for found in elements(path):
            conversation = mapping(found)
            if isinstance(conversation.get("chat_messages"), list):
                yield from _conversation(conversation, conversation["chat_messages"])
            else:
                yield unreadable(named(path), path)
        yield Mark()


def _conversation(found: dict[str, Any], listed: list[Any]) -> Iterator[Item]:
    session = words(found.get("uuid")) or record_key(listed)
    yield About(
        session=session, title=words(found.get("name")) or words(found.get("title")), model=words(found.get("model"))
    )
    messages = [mapping(each) for each in listed]
    parents = {str(each.get("uuid")): words(each.get("parent_message_uuid")) for each in messages}
    shown = _shown(parents, found.get("current_leaf_message_uuid"))
    for place, message in enumerate(messages):
        parent = parents[str(message.get("uuid"))]
        common = {
            "session": session, "parent": parent if parent in parents else None,
            "at": microseconds(message.get("created_at")),
            "data": None if str(message.get("uuid")) in shown else {"shown": False},
        }  # fmt: skip
        yield from _said(words(message.get("uuid")) or str(place), place, message, common)


def _shown(parents: dict[str, str | None], leaf: Any) -> set[str]:
    """Return the messages of the branch that ends at a leaf; all of them if no leaf is named."""
    if not isinstance(leaf, str) or leaf not in parents:
        return set(parents)
    found: set[str] = set()
    name: str | None = leaf
    while name in parents and name not in found:
        found.add(str(name))
        name = parents[str(name)]
    return found


def _said(key: str, place: int, message: dict[str, Any], common: dict[str, Any]) -> Iterator[Event]:
    content, person = message.get("content"), message.get("sender") == "human"
    blocks = content if isinstance(content, list) and content else [{"type": "text", "text": message.get("text")}]
    facts = [each for each in (_block(mapping(block), person) for block in blocks) if each]
    if not facts and message.get("text"):
        facts = [_words_of(person, as_text(message["text"]))]
    for part, each in enumerate([*facts, *_files(message)]):
        yield Event(key=f"{key}:{part}" if part else key, order=place << 10 | min(part, 1023), **common, **each)


def _block(block: dict[str, Any], person: bool) -> dict[str, Any] | None:
    """Return what one block of a message says."""
    kind = block.get("type")
    if kind in ("tool_use", "tool_result"):
        called = words(block.get("id" if kind == "tool_use" else "tool_use_id"))
        common = {"name": words(block.get("name")), "call_id": called}
        if kind == "tool_use":
            return {"kind": "call", "role": "assistant", "arguments": block.get("input"), **common}
        verdict, text = "error" if block.get("is_error") else "ok", text_of(block.get("content"))
        return {"kind": "result", "role": "tool", "text": text, "verdict": verdict, **common}
    if kind == "thinking":
        thought = as_text(block.get("thinking"))
        return {"kind": "thinking", "role": "assistant", "text": thought} if thought else None
    text = as_text(block.get("text"))
    return _words_of(person, text) if text else None


def _words_of(person: bool, text: str) -> dict[str, Any]:
    return {"kind": "message", "role": "user" if person else "assistant", "text": text}


def _files(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the files that came with a message, and what was read in them."""
    for name in ("attachments", "files"):
        listed = message.get(name)
        for each in listed if isinstance(listed, list) else []:
            file = mapping(each)
            label, text = as_text(file.get("file_name")), as_text(file.get("extracted_content"))
            yield {"kind": "message", "role": "system", "name": "injected", "text": f"[file {label}]\n{text}".strip()}


adapter = ClaudeWeb()
