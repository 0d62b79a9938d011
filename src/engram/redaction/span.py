"""A secret in a buffer, and the state of a scan of the buffer."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

SEPARATOR = "\x00\n\x00"  # no pattern matches a NUL, so no match crosses from one text into the next
_LONG = re.compile(rb"[A-Za-z0-9+/_\-]{24}")


class SecretSpan(NamedTuple):
    """A secret and its position."""

    start: int
    end: int
    rank: int  # of two overlapping spans, the lower rank names the result
    rule: str
    value: bytes

    def move_to(self, start: int, end: int) -> SecretSpan:
        """Return the same secret at another position."""
        return self._replace(start=start, end=end)


class BufferScan:
    """The scan of one buffer."""

    __slots__ = ("barren", "buffer", "decoded", "header", "inner", "spans", "verdicts")

    def __init__(self, buffer: bytes, inner: Callable[..., list[SecretSpan]] | None) -> None:
        self.buffer = buffer
        self.inner = inner  # scans decoded content; None in a nested scan
        self.spans: list[SecretSpan] = []
        self.header = 0  # headers before this position are already scanned
        self.barren = (0, 0)  # no long word starts in this range
        self.verdicts: dict[tuple[bytes, bool, bool], bool] = {}
        self.decoded = 0  # base64 before this position is already decoded

    def add_span(self, rank: int, rule: str, start: int, end: int) -> None:
        """Add a secret."""
        self.spans.append(SecretSpan(start, end, rank, rule, self.buffer[start:end]))

    def is_barren(self, start: int, end: int) -> bool:
        """Return whether no word long enough for a secret starts in a range; most lines have none."""
        first, last = self.barren
        if start < first or end > last:
            match = _LONG.search(self.buffer, start, end + 480)
            self.barren = (start, match.start() if match else end + 456)
        return end <= self.barren[1]

    def find_text_end(self, at: int, most: int | None = None) -> int:
        """Return where the text around a position ends, at most `most`."""
        most = len(self.buffer) if most is None else most
        end = self.buffer.find(SEPARATOR.encode(), at, most)
        return end if end >= 0 else most
