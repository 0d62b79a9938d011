"""Transcripts that are one JSON document: written anew whenever something is added, so read anew as well."""

from __future__ import annotations

import codecs
import json
import os
import re
from collections.abc import Iterator
from typing import Any

import orjson

from engram.adapters.bounded import CHUNK, Bytes, Cut, read_chunks, read_whole
from engram.adapters.records import is_dense, shortened
from engram.model import Event

_LARGE = 16 << 20  # from here on, texts inside are shortened before they are parsed
_MOST_VALUES = 4_000_000
_LONGEST_ELEMENT = 32 << 20  # characters
_BETWEEN = re.compile(r"[ \t\r\n,]*")


def document(path: str) -> Any:
    """Return what a JSON file says, or None if it cannot be read or is too large."""
    try:
        return parse_document(read_whole(path))
    except (OSError, Cut):
        return None


def parse_document(data: Bytes) -> Any:
    """Return what a JSON text says, very long texts shortened where it is large; None if it cannot be read."""
    if data.startswith(b"\xef\xbb\xbf"):
        data = data[3:]
    if len(data) > _LARGE:
        data = shortened(data)
    if is_dense(data, _MOST_VALUES):
        return None
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        pass
    try:
        return json.loads(data.decode("utf-8", "replace"), strict=False)
    except (ValueError, RecursionError):
        return None


def elements(path: str) -> Iterator[Any]:
    """Yield the elements of a JSON list one by one; of one that was cut, those before the cut, and then None."""
    try:
        chunks = read_chunks(path)
        first = next(chunks, b"").removeprefix(b"\xef\xbb\xbf").lstrip()
        only = None if first.startswith(b"[") else document(path)
        if only is not None:
            yield only
        else:
            yield from _Elements(first.partition(b"[")[2], chunks)  # of an object that was cut, its first list
            if not first.startswith(b"["):
                yield None
    except (OSError, Cut):
        yield None


class _Elements:
    """The elements of a list, of which no more than one is held."""

    def __init__(self, first: bytes, chunks: Iterator[bytes]) -> None:
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._chunks = chunks
        self._decoder = json.JSONDecoder(strict=False)
        self._text, self._place = self._decode(first), 0
        self._found: Any = None

    def __iter__(self) -> Iterator[Any]:
        while self._next() not in ("]", "") and self._read():
            yield self._found
        if self._next() != "]":
            yield None

    def _next(self) -> str:
        """Return the character with which what comes next begins."""
        while True:
            self._place = _skip(self._text, self._place)
            if self._place < len(self._text) or not self._more(CHUNK):
                return self._text[self._place : self._place + 1]

    def _read(self) -> bool:
        """Find the next element, reading on until it is whole; tell whether it ever is."""
        while True:
            try:
                self._found, self._place = self._decoder.raw_decode(self._text, self._place)
                return True
            except (ValueError, RecursionError):
                if not self._more(len(self._text) - self._place):
                    return False

    def _more(self, size: int) -> bool:
        """Read on, at least so much if there is, and drop what was told; tell whether anything came."""
        pieces = [self._text[self._place :]]
        while size > 0 and len(pieces[0]) + size < _LONGEST_ELEMENT and (chunk := next(self._chunks, b"")):
            pieces.append(self._decode(chunk))
            size -= len(chunk)
        self._text, self._place = "".join(pieces), 0
        return len(pieces) > 1


def _skip(text: str, place: int) -> int:
    found = _BETWEEN.match(text, place)
    return found.end() if found else place


def unreadable(session: str, path: str) -> Event:
    """Return the event that stands for a document that could not be read."""
    size = os.path.getsize(path) if os.path.exists(path) else 0
    return Event(session=session, key="damage:document", kind="damage", name="unreadable", data={"bytes": size})


def named(path: str) -> str:
    """Return the name of a file without its directory and endings."""
    return os.path.basename(path).removesuffix(".zst").partition(".")[0] or os.path.basename(path)
