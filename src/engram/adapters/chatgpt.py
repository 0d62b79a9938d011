"""ChatGPT, from the data its users can export.

What: `conversations.json` (newer exports: `conversations-NNN.json`), a list of conversations, or one conversation in a
file of its own. A conversation: id or conversation_id, title, current_node, mapping {node → parent, children, message}.
A message: author.role, recipient (`all`, or the tool that is called), create_time in seconds or null, content by
content_type (text, multimodal_text, code, execution_output, thoughts, reasoning_recap, user_editable_context …).

Branches: a question asked or answered anew makes a branch; current_node and its ancestors are what is shown. All are
kept, each with its parent, what is not shown with `shown: false`, in the order of the tree.

Usage: none.

Seen: exports of 2023 to 2026, and captures of the site that hold a conversation in `raw_provider_payload`; all of them
other tools' samples.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from engram.adapters.adapter import Item, Mark, Place, as_text, mapping, microseconds, parsed, words
from engram.adapters.beginning import parse_beginning
from engram.adapters.document import elements, named, unreadable
from engram.adapters.records import record_key
from engram.model import About, Event
from engram.value import value

_IMAGES = ("image_asset_pointer", "video_container_asset_pointer")
_HIDDEN = "is_visually_hidden_from_conversation"


@value
class Node:
    """A message in its tree."""

    name: str
    message: dict[str, Any]
    parent: str | None  # the message it follows
    call: str | None  # the last call before it
    place: int
    shown: bool


class ChatGPT:
    """The adapter of ChatGPT's export."""

    flavor = "chatgpt"
    version = 1

    def places(self, environ: Mapping[str, str], projects: Iterable[str]) -> Iterator[Place]:
        """Yield nothing: an export lies wherever its user put it."""
        yield from ()

    def recognises(self, path: str, head: bytes) -> bool:
        """Tell whether a file holds conversations of ChatGPT."""
        found = parse_beginning(head)
        return any(map(_has_authors, found if isinstance(found, list) else [found]))

    def read(self, path: str, since: Mark) -> Iterator[Item]:
        """Yield all conversations of an export."""
        for found in elements(path):
            conversation = _payload(found)
            if isinstance(conversation.get("mapping"), dict):
                yield from _conversation(conversation)
            else:
                yield unreadable(named(path), path)
        yield Mark()


def _payload(found: Any) -> dict[str, Any]:
    """Return a conversation, which a capture of the site wraps."""
    return mapping(mapping(found).get("raw_provider_payload")) or mapping(found)


def _has_authors(found: Any) -> bool:
    nodes = map(mapping, mapping(_payload(found).get("mapping")).values())
    return any(_role(mapping(node.get("message"))) is not None for node in nodes)


def _conversation(found: dict[str, Any]) -> Iterator[Item]:
    session = words(found.get("conversation_id")) or words(found.get("id")) or record_key(found.get("mapping"))
    model = words(found.get("default_model_slug"))
    yield About(session=session, title=words(found.get("title")), model=model)
    for node in _nodes(found["mapping"], found.get("current_node")):
        yield from _said(session, node)
        used = words(mapping(node.message.get("metadata")).get("model_slug"))
        if node.shown and used not in (None, model):
            model = used
            yield About(session=session, model=model)


def _nodes(tree: dict[str, Any], current: Any) -> Iterator[Node]:
    """Yield the messages of a tree, each before those that follow it."""
    nodes = {name: mapping(each) for name, each in tree.items()}
    following = _following(nodes)
    shown = _shown(nodes, current if isinstance(current, str) and current in nodes else next(reversed(nodes), None))
    waiting: list[tuple[str, str | None, str | None]] = [(name, None, None) for name in reversed(following[None])]
    visited: set[str] = set()
    while waiting:
        name, parent, call = waiting.pop()
        if name in visited:
            continue
        visited.add(name)
        message = mapping(nodes[name].get("message"))
        if _speaks(message):
            yield Node(name=name, message=message, parent=parent, call=call, place=len(visited), shown=name in shown)
            parent, call = name, (name if _calls(message) else call)
        waiting += [(each, parent, call) for each in reversed(following.get(name, []))]


def _following(nodes: dict[str, dict[str, Any]]) -> dict[str | None, list[str]]:
    """Return what follows each node in the order of its children; None goes before what follows nothing."""
    found: dict[str | None, list[str]] = {None: []}
    for name, node in nodes.items():
        parent = node.get("parent")
        found.setdefault(parent if isinstance(parent, str) and parent in nodes else None, []).append(name)
    return {before: _ranked(nodes.get(before or "", {}).get("children"), each) for before, each in found.items()}


def _ranked(listed: Any, children: list[str]) -> list[str]:
    """Return children in the order their parent lists them, then those it does not list."""
    ranks = [each for each in listed if each in children] if isinstance(listed, list) else []
    return list(dict.fromkeys([*ranks, *children]))


def _shown(nodes: dict[str, dict[str, Any]], name: Any) -> set[str]:
    """Return the branch that ends at a node."""
    found: set[str] = set()
    while isinstance(name, str) and name in nodes and name not in found:
        found.add(name)
        name = nodes[name].get("parent")
    return found


def _role(message: dict[str, Any]) -> Any:
    return mapping(message.get("author")).get("role")


def _calls(message: dict[str, Any]) -> bool:
    return _role(message) == "assistant" and message.get("recipient") not in (None, "", "all")


def _speaks(message: dict[str, Any]) -> bool:
    return _role(message) == "tool" or _calls(message) or bool(_text(mapping(message.get("content"))))


def _said(session: str, node: Node) -> Iterator[Event]:
    meta = mapping(node.message.get("metadata"))
    common: dict[str, Any] = {
        "session": session, "parent": node.parent, "at": microseconds(node.message.get("create_time")),
        "data": None if node.shown else {"shown": False},
    }  # fmt: skip
    yield Event(key=node.name, order=node.place << 2, **common, **_facts(node, meta))
    if mapping(meta.get("finish_details")).get("type") == "interrupted":
        yield Event(key=f"{node.name}:interrupted", order=node.place << 2 | 1, kind="interrupt", **common)


def _facts(node: Node, meta: dict[str, Any]) -> dict[str, Any]:
    """Return what a message says."""
    content, role = mapping(node.message.get("content")), _role(node.message)
    kind, text = content.get("content_type"), _text(content)
    if role == "tool":
        name, verdict = (
            words(mapping(node.message.get("author")).get("name")),
            "error" if kind == "system_error" else "ok",
        )
        return {"kind": "result", "role": "tool", "name": name, "call_id": node.call, "text": text, "verdict": verdict}
    if _calls(node.message):
        name = words(node.message.get("recipient"))
        return {"kind": "call", "role": "assistant", "name": name, "call_id": node.name, "arguments": parsed(text)}
    if kind in ("thoughts", "reasoning_recap"):
        return {"kind": "thinking", "role": "assistant", "text": text}
    if role == "assistant":
        return {"kind": "message", "role": "assistant", "text": text}
    own = role == "user" and kind != "user_editable_context" and not meta.get(_HIDDEN)
    return {"kind": "message", "role": "user" if own else "system", "name": None if own else "injected", "text": text}


def _text(content: dict[str, Any]) -> str:
    """Return the words of a content, whichever type it has."""
    for name in ("parts", "thoughts"):
        if isinstance(content.get(name), list):
            return "\n".join(part for part in map(_part, content[name]) if part)
    for name in ("text", "content", "result"):
        if words(content.get(name)):
            return str(content[name])
    return "\n".join(as_text(content[name]) for name in ("user_profile", "user_instructions") if content.get(name))


def _part(part: Any) -> str:
    if not isinstance(part, dict):
        return as_text(part)
    if part.get("content_type") in _IMAGES:
        return "[image]"
    return as_text(part.get("text") or part.get("content") or part.get("summary"))


adapter = ChatGPT()
