"""Read other programs' files within bounded memory and time: long lines are not held, zip bombs are not unpacked.

A line may be as long as the largest picture anyone sends; a longer one counts as damage, and reading continues after
it. In a compressed file every intact frame is read; the rest counts as damage. The unpacked part that is read may be a
few hundred times the file's size, more than any transcript; what is only skipped (blank lines, overlong lines) is
cheap and may be some gigabytes.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, NamedTuple, TypeAlias

from engram.agents.transcripts.formats.zstd_frames import CHUNK, UnreadablePart, ZstdFrames

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

LONGEST_LINE = 80 << 20
LARGEST_DOCUMENT = 256 << 20  # for an uncompressed file
MOST_UNPACKED = 8 << 30  # bytes a compressed file may unpack to, plus _RATIO for each of its own
_MIN_READ_BYTES, _RATIO = 64 << 20, 256  # unpacked bytes that may be read, and how many more for each of its own
_PER_LINE = 64  # bytes added per line: short lines take as much work
_BLANK = b"\0 \t\r\n"
_BLANK_LINES = re.compile(rb"\n[\0 \t\r\n]*\n")

Bytes: TypeAlias = bytes | bytearray


class FileLine(NamedTuple):
    """One line and its offset; without text if it is too long or unreadable, with the reason if known."""

    start: int
    text: Bytes
    size: int
    is_ended: bool
    reason: str = ""

    @property
    def is_lost(self) -> bool:
        """Whether the text is missing."""
        return len(self.text) < self.size


def open_unpacked(path: str) -> IO[bytes]:
    """Open a transcript, unpacked if it is compressed; damaged parts are left out."""
    return io.BufferedReader(_UnpackedFile(path), CHUNK) if path.endswith(".zst") else open(path, "rb")


def read_chunks(path: str, offset: int = 0) -> Iterator[bytes]:
    """Yield a file from an offset on, until its end or an unreadable part."""
    if path.endswith(".zst"):
        yield from ZstdFrames(path, _scale_limit(path, _MIN_READ_BYTES), offset).iter_chunks()
        return
    with open(path, "rb") as file:
        file.seek(offset)
        while chunk := file.read(CHUNK):
            yield chunk


def _scale_limit(path: str, minimum: int) -> int:
    return minimum + _RATIO * os.path.getsize(path)


def read_whole(path: str, max_bytes: int = LARGEST_DOCUMENT) -> bytearray:
    """Return all intact content of a file; raise UnreadablePart if it is too large or nothing is intact."""
    limit = min(max_bytes, _MIN_READ_BYTES) if path.endswith(".zst") else max_bytes
    data = bytearray()
    try:
        for chunk in read_chunks(path):
            data += chunk
            if len(data) > limit:
                raise UnreadablePart(f"larger than {limit >> 20} MB", is_too_large=True)
    except UnreadablePart as problem:
        if problem.is_too_large or not data:
            raise
    return data


def read_lines(path: str, offset: int = 0, *, skip_blank: bool = False) -> Iterator[FileLine]:
    """Yield lines from an offset on, optionally without blank ones; the last may be incomplete."""
    frames = ZstdFrames(path, _scale_limit(path, MOST_UNPACKED), offset) if path.endswith(".zst") else None
    lines = _LineSplitter(offset, skip_blank, _scale_limit(path, _MIN_READ_BYTES) if frames else None)
    try:
        for chunk in frames.iter_chunks() if frames else read_chunks(path, offset):
            yield from lines.split_chunk(chunk)
    except UnreadablePart as problem:
        yield from lines.flush_rest()
        yield FileLine(lines.offset, b"", frames.unread_bytes if frames else 0, False, str(problem))
        return
    yield from lines.flush_rest()


class _LineSplitter:
    """Splits a file into lines while it is read."""

    def __init__(self, offset: int, skip_blank: bool, max_bytes: int | None) -> None:
        self.offset = offset  # start of the incomplete line
        self._last = _PartialLine()
        self._skip_blank = skip_blank
        self._left = self._most = max_bytes  # bytes that may be read

    def split_chunk(self, chunk: bytes) -> Iterator[FileLine]:
        """Yield the lines that end in a chunk, and keep the start of the next one."""
        if not self._skip_blank:
            yield from self._split_piece(chunk)
            return
        position = self._skip_blank_lines(chunk) if not self._last.size else 0
        for blank in _BLANK_LINES.finditer(chunk, position):
            yield from self._split_piece(chunk[position : blank.start() + 1])
            position = blank.end()
            self.offset += position - blank.start() - 1
        yield from self._split_piece(chunk[position:] if position else chunk)

    def _skip_blank_lines(self, chunk: bytes) -> int:
        """Return the start of the first line that is not blank; a chunk of blank lines is skipped as a whole."""
        if chunk[:1].strip(_BLANK):
            return 0
        rest = len(chunk) if not chunk.translate(None, _BLANK) else len(chunk) - len(chunk.lstrip(_BLANK))
        position = chunk.rfind(b"\n", 0, rest) + 1
        self.offset += position
        return position

    def _split_piece(self, piece: bytes) -> Iterator[FileLine]:
        first, *others = piece.split(b"\n")
        self._last.add(first)
        if not others:
            return
        yield self._count_line(self._last.to_line(self.offset, is_ended=True))
        self._last = _PartialLine()
        last = others.pop()
        for text in others:
            yield self._count_line(FileLine(self.offset, text, len(text), True))
        self._last.add(last)

    def _count_line(self, line: FileLine) -> FileLine:
        """Return a complete line and advance; raise UnreadablePart if too much was read."""
        self.offset += line.size + 1
        if self._left is not None and not line.is_lost:
            self._left -= line.size + _PER_LINE
            if self._left < 0:
                raise UnreadablePart(f"unpacks to more than {(self._most or 0) >> 20} MB of lines", is_too_large=True)
        return line

    def flush_rest(self) -> Iterator[FileLine]:
        """Yield the incomplete last line."""
        if self._last.size:
            yield self._last.to_line(self.offset, is_ended=False)


class _PartialLine:
    """An incomplete line."""

    def __init__(self) -> None:
        self._text = bytearray()
        self.size = 0

    def add(self, piece: bytes) -> None:
        """Add the next piece; of an overlong line only the length is counted."""
        self.size += len(piece)
        if self.size <= LONGEST_LINE:
            self._text += piece
        elif self._text:
            self._text = bytearray()

    def to_line(self, start: int, *, is_ended: bool) -> FileLine:
        """Return the line read so far."""
        text = self._text if self.size > CHUNK else bytes(self._text)  # avoid copying large pieces
        return FileLine(start, text, self.size, is_ended)


class _UnpackedFile(io.RawIOBase):
    """A compressed file, unpacked, without its damaged parts."""

    def __init__(self, path: str) -> None:
        self._path = path
        self.seek(0)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._place

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        if whence != os.SEEK_SET:
            raise io.UnsupportedOperation("can only seek from the start")
        self._chunks = ZstdFrames(self._path, _scale_limit(self._path, MOST_UNPACKED), offset).iter_chunks()
        self._held, self._place = b"", offset
        return offset

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer).cast("B")
        try:
            self._held = self._held or next(self._chunks, b"")
        except UnreadablePart as problem:
            if not self._place:
                raise EOFError(str(problem)) from problem
        taken, self._held = self._held[: len(view)], self._held[len(view) :]
        view[: len(taken)] = taken
        self._place += len(taken)
        return len(taken)
