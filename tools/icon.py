"""Draw the icon: a dark square with six sessions on a ring around a shared memory."""

from __future__ import annotations

import math
import struct
import zlib

SIZE = 512
_COLOURS = bytes((24, 26, 44, 124, 140, 255, 255, 205, 96))  # background, lines, sessions
_CENTRE, _RING, _DOT, _CORE, _LINE = SIZE / 2, 165.0, 38.0, 66.0, 8.0


def png() -> bytes:
    """Return the icon as a PNG; the pixels are the same each time."""
    rows = b"".join(b"\0" + bytes(_pixel(x, y) for x in range(SIZE)) for y in range(SIZE))
    head = struct.pack(">IIBBBBB", SIZE, SIZE, 8, 3, 0, 0, 0)
    body = (b"IHDR", head), (b"PLTE", _COLOURS), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in body)


def pixels(image: bytes) -> bytes:
    """Return the pixel data of an icon; its compression differs between versions of zlib."""
    place, shown = 8, b""
    while place < len(image):
        (length,) = struct.unpack_from(">I", image, place)
        if image[place + 4 : place + 8] == b"IDAT":
            shown += zlib.decompress(image[place + 8 : place + 8 + length])
        place += length + 12
    return shown


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _pixel(x: int, y: int) -> int:
    """Return the palette index of a pixel."""
    across, down = x - _CENTRE, y - _CENTRE
    if math.hypot(across, down) <= _CORE:
        return 1
    sixth = math.pi / 3
    angle = round(math.atan2(down, across) / sixth) * sixth
    along = across * math.cos(angle) + down * math.sin(angle)
    beside = abs(down * math.cos(angle) - across * math.sin(angle))
    if math.hypot(along - _RING, beside) <= _DOT:
        return 2
    return 1 if beside <= _LINE and 0 < along < _RING else 0
