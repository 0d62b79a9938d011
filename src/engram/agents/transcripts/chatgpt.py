"""ChatGPT, from its data export.

What: `conversations.json` (newer exports: `conversations-NNN.json`), a list of conversations, or one conversation per
file. A conversation: id or conversation_id, title, current_node, mapping {node → parent, children, message}.
A message: author.role, recipient (`all`, or the tool called), create_time in seconds or null, content by
content_type (text, multimodal_text, code, execution_output, thoughts, reasoning_recap, user_editable_context …).

Branches: repeating a question or a reply makes a branch; current_node and its ancestors are what is shown. All are
kept, each with its parent; those not shown have `shown: false`; in the order of the tree.

Usage: none.

Seen: exports of 2023 to 2026, and captures of the site that contain a conversation in `raw_provider_payload`; all are
samples of other tools.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from engram.agents.transcripts.adapter import (
    Item,
    Mark,
    Place,
    parse_json_text,
    text_or_none,
    to_dict,
    to_microseconds,
    to_text,
)
from engram.agents.transcripts.formats.json_document import build_unreadable_event, get_file_stem, iter_elements
from engram.agents.transcripts.formats.json_lines import hash_record
from engram.agents.transcripts.formats.json_prefix import parse_beginning
from engram.platform.value import value
from engram.types import About, Event

_IMAGE_TYPES = ("image_asset_pointer", "video_container_asset_pointer")
_HIDDEN_FIELD = "is_visually_hidden_from_conversation"


@value
class ConversationNode:
    """A message in its tree."""

    name: str
    message: dict[str, Any]
    parent: str | None  # the message it follows
    call: str | None  # the last call before it
    index: int
    is_shown: bool


class ChatGPTAdapter:
    """The adapter for ChatGPT's export."""

    flavor = "chatgpt"
    version = 1

    def places(self, environ: Mapping[str, str], projects: Iterable[str]) -> Iterator[Place]:
        """Yield nothing: an export is wherever the user put it."""
        yield from ()

    def recognises(self, path: str, head: bytes) -> bool:
        """Return whether a file contains ChatGPT conversations."""
        beginning = parse_beginning(head)
        return any(map(_has_authors, beginning if isinstance(beginning, list) else [beginning]))

    def read(self, path: str, since: Mark) -> Iterator[Item]:
        """Yield all conversations of an export."""
        for element in iter_elements(path):
            conversation = _unwrap_conversation(element)
            if isinstance(conversation.get("mapping"), dict):
                yield from _read_conversation(conversation)
            else:
                yield build_unreadable_event(get_file_stem(path), path)
        yield Mark()


def _unwrap_conversation(element: Any) -> dict[str, Any]:
    """Return a conversation, unwrapped if it is a capture of the site."""
    return to_dict(to_dict(element).get("raw_provider_payload")) or to_dict(element)


def _has_authors(element: Any) -> bool:
    nodes = map(to_dict, to_dict(_unwrap_conversation(element).get("mapping")).values())
    return any(_get_role(to_dict(node.get("message"))) is not None for node in nodes)


def _read_conversation(conversation: dict[str, Any]) -> Iterator[Item]:
    session = (
        text_or_none(conversation.get("conversation_id"))
        or text_or_none(conversation.get("id"))
        or hash_record(conversation.get("mapping"))
    )
    model = text_or_none(conversation.get("default_model_slug"))
    yield About(session=session, title=text_or_none(conversation.get("title")), model=model)
    for node in _iter_nodes(conversation["mapping"], conversation.get("current_node")):
        yield from _read_node(session, node)
        used_model = text_or_none(to_dict(node.message.get("metadata")).get("model_slug"))
        if node.is_shown and used_model not in (None, model):
            model = used_model
            yield About(session=session, model=model)


def _iter_nodes(tree: dict[str, Any], current: Any) -> Iterator[ConversationNode]:
    """Yield the messages of a tree, parents before children."""
    nodes = {name: to_dict(entry) for name, entry in tree.items()}
    children = _map_children(nodes)
    branch = _collect_branch(
        nodes, current if isinstance(current, str) and current in nodes else next(reversed(nodes), None)
    )
    waiting: list[tuple[str, str | None, str | None]] = [(name, None, None) for name in reversed(children[None])]
    visited: set[str] = set()
    while waiting:
        name, parent, call = waiting.pop()
        if name in visited:
            continue
        visited.add(name)
        message = to_dict(nodes[name].get("message"))
        if _has_content(message):
            yield ConversationNode(
                name=name, message=message, parent=parent, call=call, index=len(visited), is_shown=name in branch
            )
            parent, call = name, (name if _is_call(message) else call)
        waiting += [(entry, parent, call) for entry in reversed(children.get(name, []))]


def _map_children(nodes: dict[str, dict[str, Any]]) -> dict[str | None, list[str]]:
    """Return the children of each node in order; the key None has the roots."""
    by_parent: dict[str | None, list[str]] = {None: []}
    for name, node in nodes.items():
        parent = node.get("parent")
        by_parent.setdefault(parent if isinstance(parent, str) and parent in nodes else None, []).append(name)
    return {
        parent_name: _order_children(nodes.get(parent_name or "", {}).get("children"), children)
        for parent_name, children in by_parent.items()
    }


def _order_children(child_order: Any, children: list[str]) -> list[str]:
    """Return children in the order their parent lists them, then those it does not list."""
    ranks = [child for child in child_order if child in children] if isinstance(child_order, list) else []
    return list(dict.fromkeys([*ranks, *children]))


def _collect_branch(nodes: dict[str, dict[str, Any]], name: Any) -> set[str]:
    """Return the branch that ends at a node."""
    branch: set[str] = set()
    while isinstance(name, str) and name in nodes and name not in branch:
        branch.add(name)
        name = nodes[name].get("parent")
    return branch


def _get_role(message: dict[str, Any]) -> Any:
    return to_dict(message.get("author")).get("role")


def _is_call(message: dict[str, Any]) -> bool:
    return _get_role(message) == "assistant" and message.get("recipient") not in (None, "", "all")


def _has_content(message: dict[str, Any]) -> bool:
    return _get_role(message) == "tool" or _is_call(message) or bool(_extract_text(to_dict(message.get("content"))))


def _read_node(session: str, node: ConversationNode) -> Iterator[Event]:
    meta = to_dict(node.message.get("metadata"))
    common: dict[str, Any] = {
        "session": session, "parent": node.parent, "at": to_microseconds(node.message.get("create_time")),
        "data": None if node.is_shown else {"shown": False},
    }  # fmt: skip
    yield Event(key=node.name, order=node.index << 2, **common, **_read_facts(node, meta))
    if to_dict(meta.get("finish_details")).get("type") == "interrupted":
        yield Event(key=f"{node.name}:interrupted", order=node.index << 2 | 1, kind="interrupt", **common)


def _read_facts(node: ConversationNode, meta: dict[str, Any]) -> dict[str, Any]:
    """Return the facts of a message."""
    content, role = to_dict(node.message.get("content")), _get_role(node.message)
    kind, text = content.get("content_type"), _extract_text(content)
    if role == "tool":
        name, verdict = (
            text_or_none(to_dict(node.message.get("author")).get("name")),
            "error" if kind == "system_error" else "ok",
        )
        return {"kind": "result", "role": "tool", "name": name, "call_id": node.call, "text": text, "verdict": verdict}
    if _is_call(node.message):
        name = text_or_none(node.message.get("recipient"))
        return {
            "kind": "call",
            "role": "assistant",
            "name": name,
            "call_id": node.name,
            "arguments": parse_json_text(text),
        }
    if kind in ("thoughts", "reasoning_recap"):
        return {"kind": "thinking", "role": "assistant", "text": text}
    if role == "assistant":
        return {"kind": "message", "role": "assistant", "text": text}
    is_user = role == "user" and kind != "user_editable_context" and not meta.get(_HIDDEN_FIELD)
    return {
        "kind": "message",
        "role": "user" if is_user else "system",
        "name": None if is_user else "injected",
        "text": text,
    }


def _extract_text(content: dict[str, Any]) -> str:
    """Return the text of a content of any type."""
    for name in ("parts", "thoughts"):
        if isinstance(content.get(name), list):
            return "\n".join(part for part in map(_extract_part_text, content[name]) if part)
    for name in ("text", "content", "result"):
        if text_or_none(content.get(name)):
            return str(content[name])
    return "\n".join(to_text(content[name]) for name in ("user_profile", "user_instructions") if content.get(name))


def _extract_part_text(part: Any) -> str:
    if not isinstance(part, dict):
        return to_text(part)
    if part.get("content_type") in _IMAGE_TYPES:
        return "[image]"
    return to_text(part.get("text") or part.get("content") or part.get("summary"))


adapter = ChatGPTAdapter()
