"""The interface of a transcript adapter, and functions that every adapter needs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timezone
from functools import lru_cache
from typing import Any, Protocol, TypeAlias

import orjson

from engram.platform.value import value
from engram.types import About, Event, Usage

_MAX_TIME = 253_370_000_000_000_000  # microseconds: the year 9998, the last that every calendar supports
HEAD_BYTES = 262_144  # bytes of a file shown to an adapter to recognize its format


@value
class Place:
    """A directory in which an agent keeps transcripts, at any depth."""

    root: str
    endings: tuple[str, ...]  # extensions of a transcript
    depth: int = 8
    left_out: tuple[str, ...] = ()  # patterns of files and directories to ignore


@value
class Mark:
    """A position in a transcript to resume from; everything before it has been yielded."""

    offset: int = 0
    state: dict[str, Any] | None = None  # what the adapter needs to resume


Item: TypeAlias = Event | Usage | About | Mark


class Adapter(Protocol):
    """A reader of one agent's transcripts.

    An adapter may set `forks_unnamed = True`: a fork repeats its parent's events under their global ids
    and does not name it, so the first event identifies the parent. Increase its `version` (default 1) when it
    learns to read more: files that could not be read are then read again. If an agent writes a session to several
    files, `rank_copies(path)` returns them, the best first: one of them is read, and keeps the session from then on.
    """

    flavor: str

    def places(self, environ: Mapping[str, str], projects: Iterable[str]) -> Iterator[Place]:
        """Yield where this agent keeps its transcripts; some keep them in the given projects."""

    def recognises(self, path: str, head: bytes) -> bool:
        """Return whether a file is a transcript of this agent, by its first bytes."""

    def read(self, path: str, since: Mark) -> Iterator[Item]:
        """Yield the items of a transcript after a mark, with marks to resume from."""


def get_user_home(environ: Mapping[str, str]) -> str:
    """Return the user's home directory."""
    return environ.get("HOME") or environ.get("USERPROFILE") or os.path.expanduser("~")


def to_microseconds(stamp: Any) -> int | None:
    """Return a time in microseconds, from ISO text or from seconds or milliseconds since 1970."""
    moment = _microseconds_from_text(stamp) if isinstance(stamp, str) else _microseconds_from_number(stamp)
    return moment if moment is not None and 0 < moment < _MAX_TIME else None


def _microseconds_from_number(stamp: Any) -> int | None:
    if isinstance(stamp, int | float) and not isinstance(stamp, bool) and 0 < stamp < 1e17:
        return int(stamp * (1_000_000 if stamp < 1e11 else 1_000 if stamp < 1e14 else 1))
    return None


def _microseconds_from_text(stamp: str) -> int | None:
    if len(stamp) == 24 and stamp[23] == "Z" and stamp[20:23].isdigit() and stamp[17:19].isdigit():
        minute = _parse_minute(stamp[:17])  # the format nearly all agents write; the library parses the rest
        return None if minute is None else minute + int(stamp[17:19]) * 1_000_000 + int(stamp[20:23]) * 1_000
    return _parse_iso_time(stamp)


@lru_cache(maxsize=1024)
def _parse_minute(stamp: str) -> int | None:
    return _parse_iso_time(f"{stamp}00Z")


def _parse_iso_time(stamp: str) -> int | None:
    try:
        moment = datetime.fromisoformat(stamp)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=timezone.utc)
        return round(moment.timestamp() * 1_000_000)
    except (ValueError, OverflowError):
        return None


def extract_text(content: Any) -> str:
    """Return the text of a message's content, in any of its shapes."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(part for part in map(extract_text, content) if part)
    if isinstance(content, dict):
        kind = content.get("type")
        if kind in ("image", "input_image", "image_url"):
            return "[image]"
        return extract_text(content.get("text") or content.get("content") or "")
    return ""


def to_text(content: Any) -> str:
    """Return a value as text: itself, or as JSON."""
    if isinstance(content, str):
        return content
    return "" if content is None else orjson.dumps(content, default=str).decode()


def parse_json_text(text: Any) -> Any:
    """Return the value of a JSON text, or the text itself."""
    if not isinstance(text, str) or not text.startswith(("{", "[")):
        return text
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return text


def to_count(raw: Any) -> int:
    """Return a token count; anything else counts as 0."""
    return int(raw) if isinstance(raw, int | float) and not isinstance(raw, bool) and 0 < raw < 1e15 else 0


def to_dict(raw: Any) -> dict[str, Any]:
    """Return the value if it is a dict, else an empty one."""
    return raw if isinstance(raw, dict) else {}


def text_or_none(raw: Any) -> str | None:
    """Return a text that is not blank, or None."""
    return raw if isinstance(raw, str) and raw else None


def int_or_none(raw: Any) -> int | None:
    """Return an integer, or None."""
    return raw if isinstance(raw, int) and not isinstance(raw, bool) and abs(raw) < 1 << 62 else None
