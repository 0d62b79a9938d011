"""Claude on the web (claude.ai), from its data export.

What: `conversations.json`, a list of conversations, or one conversation per file: uuid, name, created_at,
chat_messages [{uuid, sender: human or assistant, created_at, text, content[], attachments[], files[]}]. Newer ones have
parent_message_uuid, and current_leaf_message_uuid if the site was captured: then messages not shown get
`shown: false`. Content blocks: text, thinking, tool_use, tool_result and others without content.

Usage: none.

Seen: another tool's sample of 2026-08; the blocks as another tool describes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from engram.agents.transcripts.adapter import (
    Item,
    Mark,
    Place,
    extract_text,
    text_or_none,
    to_dict,
    to_microseconds,
    to_text,
)
from engram.agents.transcripts.formats.json_document import build_unreadable_event, get_file_stem, iter_elements
from engram.agents.transcripts.formats.json_lines import hash_record
from engram.agents.transcripts.formats.json_prefix import parse_beginning
from engram.types import About, Event


class ClaudeWebAdapter:
    """The adapter for claude.ai's export."""

    flavor = "claude-web"
    version = 1

    def places(self, environ: Mapping[str, str], projects: Iterable[str]) -> Iterator[Place]:
        """Yield nothing: an export is wherever the user put it."""
        yield from ()

    def recognises(self, path: str, head: bytes) -> bool:
        """Return whether a file contains claude.ai conversations."""
        beginning = parse_beginning(head)
        conversations = map(to_dict, beginning if isinstance(beginning, list) else [beginning])
        return b'"uuid"' in head and any(
            isinstance(conversation.get("chat_messages"), list) for conversation in conversations
        )

    def read(self, path: str, since: Mark) -> Iterator[Item]:
        """Yield all conversations of an export."""
        for element in iter_elements(path):
            conversation = to_dict(element)
            if isinstance(conversation.get("chat_messages"), list):
                yield from _read_conversation(conversation, conversation["chat_messages"])
            else:
                yield build_unreadable_event(get_file_stem(path), path)
        yield Mark()


def _read_conversation(conversation: dict[str, Any], raw_messages: list[Any]) -> Iterator[Item]:
    session = text_or_none(conversation.get("uuid")) or hash_record(raw_messages)
    yield About(
        session=session,
        title=text_or_none(conversation.get("name")) or text_or_none(conversation.get("title")),
        model=text_or_none(conversation.get("model")),
    )
    messages = [to_dict(entry) for entry in raw_messages]
    parents = {str(entry.get("uuid")): text_or_none(entry.get("parent_message_uuid")) for entry in messages}
    branch = _collect_branch(parents, conversation.get("current_leaf_message_uuid"))
    for index, message in enumerate(messages):
        parent = parents[str(message.get("uuid"))]
        common = {
            "session": session, "parent": parent if parent in parents else None,
            "at": to_microseconds(message.get("created_at")),
            "data": None if str(message.get("uuid")) in branch else {"shown": False},
        }  # fmt: skip
        yield from _read_message(text_or_none(message.get("uuid")) or str(index), index, message, common)


def _collect_branch(parents: dict[str, str | None], leaf: Any) -> set[str]:
    """Return the messages of the branch that ends at a leaf, or all if no leaf is named."""
    if not isinstance(leaf, str) or leaf not in parents:
        return set(parents)
    branch: set[str] = set()
    name: str | None = leaf
    while name in parents and name not in branch:
        branch.add(str(name))
        name = parents[str(name)]
    return branch


def _read_message(key: str, index: int, message: dict[str, Any], common: dict[str, Any]) -> Iterator[Event]:
    content, is_user = message.get("content"), message.get("sender") == "human"
    blocks = content if isinstance(content, list) and content else [{"type": "text", "text": message.get("text")}]
    facts = [fact for fact in (_read_block(to_dict(block), is_user) for block in blocks) if fact]
    if not facts and message.get("text"):
        facts = [_build_message(is_user, to_text(message["text"]))]
    for part_index, fact in enumerate([*facts, *_read_files(message)]):
        yield Event(
            key=f"{key}:{part_index}" if part_index else key,
            order=index << 10 | min(part_index, 1023),
            **common,
            **fact,
        )


def _read_block(block: dict[str, Any], is_user: bool) -> dict[str, Any] | None:
    """Return the event for one block of a message."""
    kind = block.get("type")
    if kind in ("tool_use", "tool_result"):
        call_id = text_or_none(block.get("id" if kind == "tool_use" else "tool_use_id"))
        common = {"name": text_or_none(block.get("name")), "call_id": call_id}
        if kind == "tool_use":
            return {"kind": "call", "role": "assistant", "arguments": block.get("input"), **common}
        verdict, text = "error" if block.get("is_error") else "ok", extract_text(block.get("content"))
        return {"kind": "result", "role": "tool", "text": text, "verdict": verdict, **common}
    if kind == "thinking":
        thought = to_text(block.get("thinking"))
        return {"kind": "thinking", "role": "assistant", "text": thought} if thought else None
    text = to_text(block.get("text"))
    return _build_message(is_user, text) if text else None


def _build_message(is_user: bool, text: str) -> dict[str, Any]:
    return {"kind": "message", "role": "user" if is_user else "assistant", "text": text}


def _read_files(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the files attached to a message, with their extracted text."""
    for name in ("attachments", "files"):
        raw_files = message.get(name)
        for raw_file in raw_files if isinstance(raw_files, list) else []:
            file = to_dict(raw_file)
            label, text = to_text(file.get("file_name")), to_text(file.get("extracted_content"))
            yield {"kind": "message", "role": "system", "name": "injected", "text": f"[file {label}]\n{text}".strip()}


adapter = ClaudeWebAdapter()
