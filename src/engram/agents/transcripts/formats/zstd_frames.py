"""Compressed files, frame by frame: intact frames are unpacked, the rest is counted."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import IO

CHUNK = 1 << 20
_FIRST_FEED, _FEED = 4 << 10, 64 << 10  # small at first: what follows a small frame is read again
_WINDOW = 25  # maximum window of 2 to this power bytes, held in memory
_MOST_HOLES = 10_000  # damaged parts after which the rest is given up
_MAGIC = re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18")
_MAGIC_SIZE = 4


class UnreadablePart(Exception):
    """Part of a file cannot be read: it is damaged or too large."""

    def __init__(self, reason: str, *, is_too_large: bool = False) -> None:
        super().__init__(reason)
        self.is_too_large = is_too_large


class ZstdFrames:
    """A compressed file being unpacked."""

    def __init__(self, path: str, max_bytes: int, since_offset: int = 0) -> None:
        self._path, self._most, self._since = path, max_bytes, since_offset
        self._size = os.path.getsize(path)
        self._unpacked = 0  # unpacked bytes so far
        self._done = 0  # compressed bytes so far
        self._lost = 0  # compressed bytes that could not be unpacked
        self._holes: list[str] = []  # why each damaged part could not be unpacked

    @property
    def unread_bytes(self) -> int:
        """The number of bytes of the file that were not unpacked."""
        return self._lost + self._size - self._done

    def iter_chunks(self) -> Iterator[bytes]:
        """Yield the content of intact frames after an offset; raise UnreadablePart at the end if anything is lost."""
        with open(self._path, "rb") as file:
            while self._done < self._size and len(self._holes) < _MOST_HOLES:
                for chunk in self._unpack_frame(file):
                    yield from self._count_chunk(chunk)
        if self._holes:
            raise UnreadablePart(self._holes[0])

    def _unpack_frame(self, file: IO[bytes]) -> Iterator[bytes]:
        """Yield the content of the frame that starts here; record where it ends, or a damaged part."""
        from engram.platform.zstd import zstd

        start = self._done
        try:
            for chunk, self._done in _read_frame(file, start):
                yield chunk
        except (EOFError, zstd.ZstdError) as problem:
            last_good, self._done = self._done, _find_frame(file, start + 1, self._size)
            if self._unpacked >= self._since:
                self._lost += max(1, self._done - last_good)
                self._holes.append(f"part of it cannot be unpacked: {problem}")

    def _count_chunk(self, chunk: bytes) -> Iterator[bytes]:
        """Yield the part of a chunk after the offset; raise UnreadablePart if there is too much."""
        before = self._unpacked
        self._unpacked += len(chunk)
        if self._unpacked > self._since:
            yield chunk[max(0, self._since - before) :]
        if self._unpacked > self._most:
            raise UnreadablePart(f"unpacks to more than {self._most >> 20} MB", is_too_large=True)


def _read_frame(file: IO[bytes], start: int) -> Iterator[tuple[bytes, int]]:
    """Yield the content of a frame in pieces, each with the position in the file read so far."""
    from engram.platform.zstd import zstd

    reader = zstd.ZstdDecompressor(options={int(zstd.DecompressionParameter.window_log_max): _WINDOW})
    file.seek(start)
    feed = _FIRST_FEED
    while not reader.eof:
        data = file.read(feed) if reader.needs_input else b""
        if reader.needs_input and not data:
            raise EOFError("its last frame is incomplete")
        chunk = reader.decompress(data, CHUNK)
        feed = _FEED
        if chunk or reader.eof:
            yield chunk, file.tell() - len(reader.unused_data if reader.eof else b"")


def _find_frame(file: IO[bytes], position: int, size: int) -> int:
    """Return where the next frame seems to start, or the end of the file."""
    while position < size:
        file.seek(position)
        data = file.read(_FEED)
        if magic := _MAGIC.search(data):
            return position + magic.start()
        position += max(len(data) - _MAGIC_SIZE + 1, 1)
    return size
