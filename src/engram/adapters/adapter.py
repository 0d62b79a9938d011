"""What capture asks of an adapter, and the few things every adapter gives and takes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timezone
from functools import lru_cache
from typing import Any, Protocol, TypeAlias

import orjson

from engram.model import About, Event, Usage
from engram.value import value

_LAST = 253_370_000_000_000_000  # microseconds: the year 9998, the last that every calendar can show
HEAD = 262_144  # bytes of a file an adapter is shown to tell whether it is its own


@value
class Place:
    """A directory in which an agent keeps transcripts, however deep."""

    root: str
    endings: tuple[str, ...]  # what a transcript's name ends with
    depth: int = 8
    left_out: tuple[str, ...] = ()  # names of files and directories that are the agent's bookkeeping, as patterns


@value
class Mark:
    """Everything yielded so far is the transcript up to here: a place to go on from."""

    offset: int = 0
    state: dict[str, Any] | None = None  # what the adapter needs to know when it goes on


Item: TypeAlias = Event | Usage | About | Mark


class Adapter(Protocol):
    """Our knowledge of one flavor.

    An adapter may also say `forks_unnamed = True`: a fork repeats its parent's events under their world-wide ids
    and does not name it, so that the first event tells whose fork it is. Raise its `version` (1 if it has none) when it
    learns to read more: what could not be read is read again then.
    """

    flavor: str

    def places(self, environ: Mapping[str, str], projects: Iterable[str]) -> Iterator[Place]:
        """Yield where this agent keeps its transcripts; some keep them in the projects we know of."""

    def recognises(self, path: str, head: bytes) -> bool:
        """Tell by its first bytes whether a file is a transcript of this flavor."""

    def read(self, path: str, since: Mark) -> Iterator[Item]:
        """Yield what a transcript says after a mark, with marks to go on from."""


def user_home(environ: Mapping[str, str]) -> str:
    """Return the user's home directory."""
    return environ.get("HOME") or environ.get("USERPROFILE") or os.path.expanduser("~")


def microseconds(stamp: Any) -> int | None:
    """Return a time in microseconds from ISO text, or from seconds or milliseconds since 1970."""
    found = _from_text(stamp) if isinstance(stamp, str) else _from_number(stamp)
    return found if found is not None and 0 < found < _LAST else None


def _from_number(stamp: Any) -> int | None:
    if isinstance(stamp, int | float) and not isinstance(stamp, bool) and 0 < stamp < 1e17:
        return int(stamp * (1_000_000 if stamp < 1e11 else 1_000 if stamp < 1e14 else 1))
    return None


def _from_text(stamp: str) -> int | None:
    if len(stamp) == 24 and stamp[23] == "Z" and stamp[20:23].isdigit() and stamp[17:19].isdigit():
        minute = _minute(stamp[:17])  # the shape nearly all agents write; the rest is for the library
        return None if minute is None else minute + int(stamp[17:19]) * 1_000_000 + int(stamp[20:23]) * 1_000
    return _parsed(stamp)


@lru_cache(maxsize=1024)
def _minute(stamp: str) -> int | None:
    return _parsed(f"{stamp}00Z")


def _parsed(stamp: str) -> int | None:
    try:
        moment = datetime.fromisoformat(stamp)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=timezone.utc)
        return round(moment.timestamp() * 1_000_000)
    except (ValueError, OverflowError):
        return None


def text_of(content: Any) -> str:
    """Return the words in a message's content, whichever of its shapes it has."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(part for part in map(text_of, content) if part)
    if isinstance(content, dict):
        kind = content.get("type")
        if kind in ("image", "input_image", "image_url"):
            return "[image]"
        return text_of(content.get("text") or content.get("content") or "")
    return ""


def as_text(thing: Any) -> str:
    """Return a thing as text: itself, or as JSON."""
    if isinstance(thing, str):
        return thing
    return "" if thing is None else orjson.dumps(thing, default=str).decode()


def parsed(text: Any) -> Any:
    """Return what a JSON text says, or the text itself."""
    if not isinstance(text, str) or not text.startswith(("{", "[")):
        return text
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return text


def number(thing: Any) -> int:
    """Return a count of tokens; whatever is none counts nothing."""
    return int(thing) if isinstance(thing, int | float) and not isinstance(thing, bool) and 0 < thing < 1e15 else 0


def mapping(thing: Any) -> dict[str, Any]:
    """Return a dict, empty if the thing is none."""
    return thing if isinstance(thing, dict) else {}


def words(thing: Any) -> str | None:
    """Return a text that says something, or None."""
    return thing if isinstance(thing, str) and thing else None


def whole(thing: Any) -> int | None:
    """Return a whole number, or None."""
    return thing if isinstance(thing, int) and not isinstance(thing, bool) and abs(thing) < 1 << 62 else None
