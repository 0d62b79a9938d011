"""What one stretch of a transcript says, made ready to be stored: redacted, hashed, packed into a body."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from hashlib import blake2b
from typing import Any, NamedTuple

import orjson

from engram.model import About, Event, Usage
from engram.redaction.redactor import Redactor
from engram.text import one_line

_SAID = 100_000  # characters of a message that are remembered apart from its body
FULL = 1 << 20  # characters from which on a batch is stored: the store is not held up for long

_WORDS = {"message": 20_000, "thinking": 4_000, "call": 2_000, "compaction": 4_000, "damage": 0, "opaque": 1_000}
_SECRET = re.compile(r"(?i)pass|secret|token|key|credential|auth|cookie")
_DEEPEST = 64  # levels of nesting
_LONG_NAME = 20  # characters from which on the name of a field may be a secret itself
_RESULT = (1_500, 500)  # of a result, what stands at its beginning and at its end


class Batch:
    """Items of one or more sessions, in the order they were read."""

    def __init__(self) -> None:
        self.events: dict[str, list[Event]] = {}
        self.usage: list[Usage] = []
        self.about: dict[str, dict[str, Any]] = {}
        self.size = 0
        self.damaged = 0

    def add(self, item: Event | Usage | About) -> None:
        """Take an item in."""
        if isinstance(item, Event):
            if _is_deep(item.arguments, _DEEPEST) or _is_deep(item.data, _DEEPEST):
                facts = {name: _pruned(each, _DEEPEST) for name, each in vars(item).items()}
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
            known = self.about.setdefault(item.session, {})
            facts = {name: one_line(each, 1000) for name, each in vars(item).items() if each and name != "session"}
            known.update(facts)

    @property
    def sessions(self) -> list[str]:
        """Return every session the batch speaks of."""
        return list({**self.events, **self.about, **{each.session: None for each in self.usage}})


def _is_deep(thing: Any, levels: int) -> bool:
    """Tell whether a thing is nested deeper than anything that reads it can go."""
    if isinstance(thing, dict | list):
        inner = thing.values() if isinstance(thing, dict) else thing
        return not levels or any(_is_deep(each, levels - 1) for each in inner if isinstance(each, dict | list))
    return False


def _pruned(thing: Any, levels: int) -> Any:
    """Return a thing without what is nested too deep in it."""
    if not isinstance(thing, dict | list):
        return thing
    if not levels:
        return "…"
    if isinstance(thing, dict):
        return {name: _pruned(each, levels - 1) for name, each in thing.items()}
    return [_pruned(each, levels - 1) for each in thing]


class Packed(NamedTuple):
    """An event ready to be stored."""

    event: Event  # without secrets
    key: int
    hash: int
    body: bytes


@lru_cache(maxsize=8192)  # a key comes again as a parent, the id of a call as that of its result
def number(text: str) -> int:
    """Return the number that stands for an id."""
    return _hash(text.encode("utf-8", "replace"))


def _hash(content: bytes) -> int:
    return int.from_bytes(blake2b(content, digest_size=8).digest(), "big", signed=True)


def packed(events: list[Event], redactor: Redactor) -> list[Packed]:
    """Return events without secrets, each with its body; of two with one key the last."""
    clean = redacted(events, redactor)
    last = {event.key: event for event in clean}
    return [_pack(event) for event in last.values()]


def _pack(event: Event) -> Packed:
    facts = vars(event)
    body = orjson.dumps({name: facts[name] for name in _BODY if facts[name]}, default=str)
    return Packed(event=event, key=number(event.key), hash=_hash(body), body=body)


_BODY = ("key", "call_id", "text", "arguments", "data")


def redacted(events: list[Event], redactor: Redactor) -> list[Event]:
    """Return events with every text in them cleaned, in one pass over all of them."""
    texts: list[str] = []
    for event in events:
        texts.append(event.text)
        if event.name and len(event.name) > _LONG_NAME:
            texts.append(event.name)
        if event.arguments is not None:
            texts.extend(_texts(event.arguments))
        if event.data:
            texts.extend(_texts(event.data))
    clean = redactor.clean_many(texts)
    source = iter(clean)
    return [_rebuilt(event, source) for event in events] if _changed(texts, clean) else events


def cleaned(thing: Any, redactor: Redactor) -> Any:
    """Return a nested thing without secrets."""
    return _refilled(thing, iter(redactor.clean_many(list(_texts(thing)))))


def _changed(before: list[str], after: list[str]) -> bool:
    return any(old is not new for old, new in zip(before, after, strict=True))


def _rebuilt(event: Event, source: Iterator[str]) -> Event:
    text, name = next(source), event.name
    if name and len(name) > _LONG_NAME:
        name = next(source)
    arguments = None if event.arguments is None else _refilled(event.arguments, source)
    data = _refilled(event.data, source) if event.data else event.data
    return Event(**{**vars(event), "text": text, "name": name, "arguments": arguments, "data": data})


@lru_cache(maxsize=4096)
def _is_telling(name: str) -> bool:
    """Tell whether a field's name says that it may hold a secret."""
    return bool(_SECRET.search(name))


def _texts(thing: Any, label: str = "") -> Iterator[str]:
    """Yield every text in a nested thing; one that a name says may be a secret comes with that name."""
    if isinstance(thing, str):
        yield f"{label}: {thing}" if label else thing
    elif isinstance(thing, dict):
        for name, each in thing.items():
            if len(name) > _LONG_NAME:
                yield name
            yield from _texts(each, _label(thing, name, label))
    elif isinstance(thing, list):
        before = ""
        for each in thing:
            yield from _texts(each, label or before)
            before = each if isinstance(each, str) and each.startswith("-") and _is_telling(each) else ""


def _refilled(thing: Any, source: Iterator[str], label: str = "") -> Any:
    """Return a nested thing with its texts replaced in the order they were yielded."""
    if isinstance(thing, str):
        return next(source).removeprefix(f"{label}: " if label else "")
    if isinstance(thing, dict):
        filled = {}
        for name, each in thing.items():
            key = next(source) if len(name) > _LONG_NAME else name
            filled[key] = _refilled(each, source, _label(thing, name, label))
        return filled
    if isinstance(thing, list):
        items, before = [], ""
        for each in thing:
            items.append(_refilled(each, source, label or before))
            before = each if isinstance(each, str) and each.startswith("-") and _is_telling(each) else ""
        return items
    return thing


def _label(thing: dict[str, Any], name: str, label: str) -> str:
    """Return what a field is called: by its own name, by that around it, or by the name it stands beside."""
    if _is_telling(name):
        return name
    beside = thing.get("name") or thing.get("key") if name == "value" else None
    return beside if isinstance(beside, str) and _is_telling(beside) else label


def is_exchange(event: Event) -> bool:
    """Tell whether an event is what a person or an agent said to the other."""
    said = event.kind == "message" and event.role in ("user", "assistant") and event.name is None
    return said and bool(event.text.strip())


def exchange(identity: int, event: Event, session_id: str, now: int, at: int) -> dict[str, Any]:
    """Return the row of the exchange an event is."""
    return {
        "session_id": session_id, "role": event.role, "content": event.text[:_SAID].replace("\0", "␀"),
        "at": event.at or at, "stored_at": now, "origin": event.role, "key": None, "event": identity,
    }  # fmt: skip


def found_by(event: Event) -> str:
    """Return the words an event is found by; an exchange is found as such."""
    kind, text = event.kind, event.text
    if is_exchange(event):
        return ""
    if kind == "result":
        first, last = _RESULT
        found = text if len(text) <= first + last else f"{text[:first]} {text[-last:]}"
    elif kind == "call":
        found = f"{event.name} {' '.join(_texts(event.arguments))}"[: _WORDS["call"]]
    else:
        found = text[: _WORDS.get(kind, 500)]
    return found.replace("\0", " ")
