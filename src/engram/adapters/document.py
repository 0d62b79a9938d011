"""Transcripts that are one JSON document: written anew whenever something is added, so read anew as well."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

import orjson

from engram.adapters.records import opened
from engram.model import Event


def document(path: str) -> Any:
    """Return what a JSON file says, or None if it cannot be read."""
    try:
        with opened(path) as file:
            data = file.read()
    except (OSError, EOFError):
        return None
    return _parsed(data)


def _parsed(data: bytes) -> Any:
    data = data.removeprefix(b"\xef\xbb\xbf")
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        pass
    try:
        return json.loads(data.decode("utf-8", "replace"), strict=False)
    except (ValueError, RecursionError):
        return None


def elements(path: str) -> Iterator[Any]:
    """Yield the elements of a JSON list; of one that was cut, those before the cut, and then None."""
    found = document(path)
    if isinstance(found, list):
        yield from found
    elif found is not None:
        yield found
    else:
        yield from _before_the_cut(path)
        yield None


def _before_the_cut(path: str) -> Iterator[Any]:
    try:
        with opened(path) as file:
            text = file.read().decode("utf-8", "replace")
    except (OSError, EOFError):
        return
    decoder, place = json.JSONDecoder(strict=False), text.find("[") + 1
    while place and place < len(text):
        place += len(text[place : place + 1000]) - len(text[place : place + 1000].lstrip(" \t\r\n,"))
        try:
            found, place = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            return
        yield found


def unreadable(session: str, path: str) -> Event:
    """Return the event that stands for a document that could not be read."""
    size = os.path.getsize(path) if os.path.exists(path) else 0
    return Event(session=session, key="damage:document", kind="damage", name="unreadable", data={"bytes": size})


def named(path: str) -> str:
    """Return the name of a file without its directory and endings."""
    return os.path.basename(path).removesuffix(".zst").partition(".")[0] or os.path.basename(path)
