"""Files of others, read within a bounded memory: long lines are counted but not held, bombs are not unpacked.

A line may be as long as the largest picture anybody sends; a longer one is damage. A compressed file
may become a few hundred times its size, as no transcript does; what comes after that is damage too.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import IO, NamedTuple, TypeAlias, cast

CHUNK = 1 << 20
LONGEST_LINE = 80 << 20
LARGEST_DOCUMENT = 256 << 20  # of a file that lies there as large as it is
_UNPACKED, _RATIO = 64 << 20, 256  # bytes a compressed file may become, and how many more for each of its own
_WINDOW = 25  # zstd: look back at most two to the power of this many bytes, which are held in memory

Bytes: TypeAlias = bytes | bytearray


class Cut(Exception):
    """What follows of a file cannot be had: it is damaged, or too large."""


class Line(NamedTuple):
    """One line and where it starts; without its text if it is too long or cannot be had."""

    start: int
    text: Bytes
    size: int
    is_ended: bool

    @property
    def is_lost(self) -> bool:
        """Tell whether the text is missing."""
        return len(self.text) < self.size


def opened(path: str) -> IO[bytes]:
    """Open a transcript as it was before it was compressed."""
    if path.endswith(".zst"):
        from engram.zstd import zstd

        options = {int(zstd.DecompressionParameter.window_log_max): _WINDOW}
        return cast("IO[bytes]", zstd.open(path, "rb", options=options))
    return open(path, "rb")


def read_chunks(path: str, offset: int = 0) -> Iterator[bytes]:
    """Yield a file from a place on, until its end or its Cut."""
    if not path.endswith(".zst"):
        with open(path, "rb") as file:
            file.seek(offset)
            while chunk := file.read(CHUNK):
                yield chunk
        return
    from engram.zstd import zstd

    left = _UNPACKED + os.path.getsize(path) * _RATIO - offset
    try:
        with opened(path) as file:
            file.seek(offset)
            while chunk := file.read(CHUNK):
                yield chunk
                left -= len(chunk)
                if left < 0:
                    raise Cut(f"it unpacks to more than {_RATIO} times its size")
    except (EOFError, zstd.ZstdError) as problem:
        raise Cut(str(problem)) from problem


def read_whole(path: str, most: int = LARGEST_DOCUMENT) -> bytearray:
    """Return all a file holds; raise Cut if it cannot be had or is too large."""
    limit = min(most, _UNPACKED) if path.endswith(".zst") else most
    data = bytearray()
    for chunk in read_chunks(path):
        data += chunk
        if len(data) > limit:
            raise Cut(f"it is larger than {limit >> 20} MB")
    return data


def read_lines(path: str, offset: int = 0) -> Iterator[Line]:
    """Yield lines from a place on; the last may not have ended yet."""
    last = _Growing()
    try:
        for chunk in read_chunks(path, offset):
            first, *others = chunk.split(b"\n")
            last.add(first)
            if not others:
                continue
            yield last.line(offset, is_ended=True)
            offset += last.size + 1
            last = _Growing()
            last.add(others.pop())
            for text in others:
                yield Line(offset, text, len(text), True)
                offset += len(text) + 1
    except Cut:
        yield Line(offset, b"", last.size + os.path.getsize(path), False)
        return
    if last.size:
        yield last.line(offset, is_ended=False)


class _Growing:
    """A line of which not all is read yet."""

    def __init__(self) -> None:
        self._text = bytearray()
        self.size = 0

    def add(self, piece: bytes) -> None:
        """Add the next piece; a line that becomes too long is only counted."""
        self.size += len(piece)
        if self.size <= LONGEST_LINE:
            self._text += piece
        elif self._text:
            self._text = bytearray()

    def line(self, start: int, *, is_ended: bool) -> Line:
        """Return the line as far as it is read."""
        text = self._text if self.size > CHUNK else bytes(self._text)  # what is large is not copied
        return Line(start, text, self.size, is_ended)
