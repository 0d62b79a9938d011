"""Transcripts that are one JSON document: rewritten with every change, so read again as a whole."""

from __future__ import annotations

import codecs
import json
import os
import re
from collections.abc import Iterator
from typing import Any

import orjson

from engram.agents.transcripts.formats.bounded_file import Bytes, read_chunks, read_whole
from engram.agents.transcripts.formats.json_lines import is_dense, shorten_texts
from engram.agents.transcripts.formats.zstd_frames import CHUNK, UnreadablePart
from engram.types import Event

_LARGE = 16 << 20  # from this size on, long texts are shortened before parsing
_MOST_VALUES = 4_000_000
_LONGEST_ELEMENT = 32 << 20  # characters
_BETWEEN = re.compile(r"[ \t\r\n,]*")


def read_document(path: str) -> Any:
    """Return the content of a JSON file, or None if it is unreadable or too large."""
    try:
        return parse_document(read_whole(path))
    except (OSError, UnreadablePart):
        return None


def parse_document(data: Bytes) -> Any:
    """Parse a JSON text, shortening very long texts in a large one; None if it is invalid."""
    if data.startswith(b"\xef\xbb\xbf"):
        data = data[3:]
    if len(data) > _LARGE:
        data = shorten_texts(data)
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


def iter_elements(path: str) -> Iterator[Any]:
    """Yield the elements of a JSON list one by one; of a truncated list those before the end, then None."""
    try:
        chunks = read_chunks(path)
        first = next(chunks, b"").removeprefix(b"\xef\xbb\xbf").lstrip()
        whole_document = None if first.startswith(b"[") else read_document(path)
        if whole_document is not None:
            yield whole_document
        else:
            yield from _ElementReader(first.partition(b"[")[2], chunks)  # of a truncated object, its first list
            if not first.startswith(b"["):
                yield None
    except (OSError, UnreadablePart):
        yield None


class _ElementReader:
    """Reads the elements of a list, one at a time."""

    def __init__(self, first: bytes, chunks: Iterator[bytes]) -> None:
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._chunks = chunks
        self._decoder = json.JSONDecoder(strict=False)
        self._text, self._place = self._decode(first), 0
        self._element: Any = None

    def __iter__(self) -> Iterator[Any]:
        while self._peek_sign() not in ("]", "") and self._read_element():
            yield self._element
        if self._peek_sign() != "]":
            yield None

    def _peek_sign(self) -> str:
        """Return the first character of what comes next."""
        while True:
            self._place = _skip_separators(self._text, self._place)
            if self._place < len(self._text) or not self._read_more(CHUNK):
                return self._text[self._place : self._place + 1]

    def _read_element(self) -> bool:
        """Read until the next element is complete; return whether it is."""
        while True:
            try:
                self._element, self._place = self._decoder.raw_decode(self._text, self._place)
                return True
            except (ValueError, RecursionError):
                if not self._read_more(len(self._text) - self._place):
                    return False

    def _read_more(self, size: int) -> bool:
        """Read at least this much more if available, and drop what was consumed; return whether anything came."""
        pieces = [self._text[self._place :]]
        while size > 0 and len(pieces[0]) + size < _LONGEST_ELEMENT and (chunk := next(self._chunks, b"")):
            pieces.append(self._decode(chunk))
            size -= len(chunk)
        self._text, self._place = "".join(pieces), 0
        return len(pieces) > 1


def _skip_separators(text: str, position: int) -> int:
    separators = _BETWEEN.match(text, position)
    return separators.end() if separators else position


def build_unreadable_event(session: str, path: str) -> Event:
    """Return the event for a document that could not be read."""
    size = os.path.getsize(path) if os.path.exists(path) else 0
    return Event(session=session, key="damage:document", kind="damage", name="unreadable", data={"bytes": size})


def get_file_stem(path: str) -> str:
    """Return a file's name without directory and extensions."""
    return os.path.basename(path).removesuffix(".zst").partition(".")[0] or os.path.basename(path)
