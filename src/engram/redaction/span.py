"""A secret in a buffer, and what is remembered of the buffer while it is looked at."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

SEPARATOR = "\x00\n\x00"  # no pattern reads a NUL, so no look crosses from one text into the next
_LONG = re.compile(rb"[A-Za-z0-9+/_\-]{24}")


class Span(NamedTuple):
    """A secret and where it stands."""

    start: int
    end: int
    rank: int  # of two that overlap, the lower one names it
    rule: str
    value: bytes

    def moved(self, start: int, end: int) -> Span:
        """Return the same secret at another place."""
        return self._replace(start=start, end=end)


class Scan:
    """One buffer while it is looked at."""

    __slots__ = ("barren", "buffer", "decoded", "header", "inner", "spans", "verdicts")

    def __init__(self, buffer: bytes, inner: Callable[..., list[Span]] | None) -> None:
        self.buffer = buffer
        self.inner = inner  # how to scan what is hidden inside; none where that is not done again
        self.spans: list[Span] = []
        self.header = 0  # and so were headers
        self.barren = (0, 0)  # no long word begins here
        self.verdicts: dict[tuple[bytes, bool, bool], bool] = {}
        self.decoded = 0  # base64 before this place was already looked into

    def add(self, rank: int, rule: str, start: int, end: int) -> None:
        """Note a secret."""
        self.spans.append(Span(start, end, rank, rule, self.buffer[start:end]))

    def is_barren(self, start: int, end: int) -> bool:
        """Tell whether no word as long as a secret begins between two places; most lines have none."""
        first, last = self.barren
        if start < first or end > last:
            found = _LONG.search(self.buffer, start, end + 480)
            self.barren = (start, found.start() if found else end + 456)
        return end <= self.barren[1]

    def end_of_text(self, at: int, most: int | None = None) -> int:
        """Return where the text around a place ends, or the furthest to go."""
        most = len(self.buffer) if most is None else most
        end = self.buffer.find(SEPARATOR.encode(), at, most)
        return end if end >= 0 else most
