"""A part of a transcript prepared for storage: redacted, hashed and packed into a body."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from hashlib import blake2b
from typing import Any, NamedTuple

import orjson

from engram.platform.text import to_one_line
from engram.redaction.redactor import Redactor
from engram.types import About, Event, Usage

_SAID = 100_000  # characters of a message stored in its exchange
FULL = 1 << 20  # characters after which a batch is written, to keep transactions short

_WORDS = {"message": 20_000, "thinking": 4_000, "call": 2_000, "compaction": 4_000, "damage": 0, "opaque": 1_000}
_SECRET = re.compile(r"(?i)pass|secret|token|key|credential|auth|cookie")
_DEEPEST = 64  # levels of nesting
_LONG_NAME = 20  # characters from which a field name itself may be a secret
_RESULT = (1_500, 500)  # characters indexed from the start and the end of a result


class Batch:
    """Items of one or more sessions, in the order they were read."""

    def __init__(self) -> None:
        self.events: dict[str, list[Event]] = {}
        self.usage: list[Usage] = []
        self.about: dict[str, dict[str, Any]] = {}
        self.size = 0
        self.damaged = 0

    def add(self, item: Event | Usage | About) -> None:
        """Add an item."""
        if isinstance(item, Event):
            if _is_deep(item.arguments, _DEEPEST) or _is_deep(item.data, _DEEPEST):
                facts = {name: _prune_nesting(fact, _DEEPEST) for name, fact in vars(item).items()}
                item = Event(**facts)
            self.events.setdefault(item.session, []).append(item)
            self.size += len(item.text) + 200
            if item.arguments:
                self.size += 500
            if item.kind == "damage":
                self.damaged += (item.data or {}).get("bytes", 0)
        elif isinstance(item, Usage):
            self.usage.append(item)
        else:
            about_facts = self.about.setdefault(item.session, {})
            facts = {name: to_one_line(fact, 1000) for name, fact in vars(item).items() if fact and name != "session"}
            if "cwd" in about_facts:
                facts.pop("cwd", None)  # where a session began is its directory, wherever its shell goes later
            about_facts.update(facts)

    @property
    def sessions(self) -> list[str]:
        """The sessions in this batch."""
        return list({**self.events, **self.about, **{usage.session: None for usage in self.usage}})


def _is_deep(node: Any, levels: int) -> bool:
    """Return whether a value is nested deeper than `levels`."""
    if isinstance(node, dict | list):
        inner = node.values() if isinstance(node, dict) else node
        return not levels or any(_is_deep(child, levels - 1) for child in inner if isinstance(child, dict | list))
    return False


def _prune_nesting(node: Any, levels: int) -> Any:
    """Return a value without its parts nested deeper than `levels`."""
    if not isinstance(node, dict | list):
        return node
    if not levels:
        return "…"
    if isinstance(node, dict):
        return {name: _prune_nesting(child, levels - 1) for name, child in node.items()}
    return [_prune_nesting(child, levels - 1) for child in node]


class PackedEvent(NamedTuple):
    """An event ready to be stored."""

    event: Event  # without secrets
    key: int
    hash: int
    body: bytes


@lru_cache(maxsize=8192)  # keys return as parents, and call ids in results
def hash_id(text: str) -> int:
    """Return the integer hash of an id."""
    return _hash_bytes(text.encode("utf-8", "replace"))


def _hash_bytes(content: bytes) -> int:
    return int.from_bytes(blake2b(content, digest_size=8).digest(), "big", signed=True)


def pack_events(events: list[Event], redactor: Redactor) -> list[PackedEvent]:
    """Return events without secrets, each with its body; the last one of each key wins."""
    clean = redact_events(events, redactor)
    last = {event.key: event for event in clean}
    return [_pack_event(event) for event in last.values()]


def _pack_event(event: Event) -> PackedEvent:
    facts = vars(event)
    body = orjson.dumps({name: facts[name] for name in _BODY if facts[name]}, default=str)
    return PackedEvent(event=event, key=hash_id(event.key), hash=_hash_bytes(body), body=body)


_BODY = ("key", "call_id", "text", "arguments", "data")


def redact_events(events: list[Event], redactor: Redactor) -> list[Event]:
    """Return events with every text redacted, in one pass over all of them."""
    texts: list[str] = []
    for event in events:
        texts.append(event.text)
        if event.name and len(event.name) > _LONG_NAME:
            texts.append(event.name)
        if event.arguments is not None:
            texts.extend(_iter_texts(event.arguments))
        if event.data:
            texts.extend(_iter_texts(event.data))
    clean = redactor.redact_many(texts)
    source = iter(clean)
    return [_rebuild_event(event, source) for event in events] if _has_changed(texts, clean) else events


def redact_nested(node: Any, redactor: Redactor) -> Any:
    """Return a nested value without secrets."""
    return _refill_texts(node, iter(redactor.redact_many(list(_iter_texts(node)))))


def _has_changed(before: list[str], after: list[str]) -> bool:
    return any(old is not new for old, new in zip(before, after, strict=True))


def _rebuild_event(event: Event, source: Iterator[str]) -> Event:
    text, name = next(source), event.name
    if name and len(name) > _LONG_NAME:
        name = next(source)
    arguments = None if event.arguments is None else _refill_texts(event.arguments, source)
    data = _refill_texts(event.data, source) if event.data else event.data
    return Event(**{**vars(event), "text": text, "name": name, "arguments": arguments, "data": data})


@lru_cache(maxsize=4096)
def _is_secret_name(name: str) -> bool:
    """Return whether a field with this name may contain a secret."""
    return bool(_SECRET.search(name))


def _iter_texts(node: Any, label: str = "") -> Iterator[str]:
    """Yield every text in a nested value, prefixed by its field name if that suggests a secret."""
    if isinstance(node, str):
        yield f"{label}: {node}" if label else node
    elif isinstance(node, dict):
        for name, child in node.items():
            if len(name) > _LONG_NAME:
                yield name
            yield from _iter_texts(child, _find_label(node, name, label))
    elif isinstance(node, list):
        option = ""
        for child in node:
            yield from _iter_texts(child, label or option)
            option = child if isinstance(child, str) and child.startswith("-") and _is_secret_name(child) else ""


def _refill_texts(node: Any, source: Iterator[str], label: str = "") -> Any:
    """Return a nested value with its texts replaced, in the order they were yielded."""
    if isinstance(node, str):
        return next(source).removeprefix(f"{label}: " if label else "")
    if isinstance(node, dict):
        filled = {}
        for name, child in node.items():
            key = next(source) if len(name) > _LONG_NAME else name
            filled[key] = _refill_texts(child, source, _find_label(node, name, label))
        return filled
    if isinstance(node, list):
        items, option = [], ""
        for child in node:
            items.append(_refill_texts(child, source, label or option))
            option = child if isinstance(child, str) and child.startswith("-") and _is_secret_name(child) else ""
        return items
    return node


def _find_label(node: dict[str, Any], name: str, label: str) -> str:
    """Return the label of a field that may be secret: its own name, a sibling `name` or `key`, or the outer label."""
    if _is_secret_name(name):
        return name
    sibling = node.get("name") or node.get("key") if name == "value" else None
    return sibling if isinstance(sibling, str) and _is_secret_name(sibling) else label


def is_exchange(event: Event) -> bool:
    """Return whether an event is a message between the user and the agent."""
    is_spoken = event.kind == "message" and event.role in ("user", "assistant") and event.name is None
    return is_spoken and bool(event.text.strip())


def build_exchange_row(event_id: int, event: Event, session_id: str, now: int, at: int) -> dict[str, Any]:
    """Return the exchange row for an event."""
    return {
        "session_id": session_id, "role": event.role, "content": event.text[:_SAID].replace("\0", "␀"),
        "at": event.at or at, "stored_at": now, "origin": event.role, "key": None, "event": event_id,
    }  # fmt: skip


def extract_index_words(event: Event) -> str:
    """Return the words to index for an event; none for an exchange, which is indexed separately."""
    kind, text = event.kind, event.text
    if is_exchange(event):
        return ""
    if kind == "result":
        first, last = _RESULT
        words = text if len(text) <= first + last else f"{text[:first]} {text[-last:]}"
    elif kind == "call":
        words = f"{event.name} {' '.join(_iter_texts(event.arguments))}"[: _WORDS["call"]]
    else:
        words = text[: _WORDS.get(kind, 500)]
    return words.replace("\0", " ")
