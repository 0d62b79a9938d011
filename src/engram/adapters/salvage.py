"""What is whole in a line that is no record: records that lost the newline between them, records behind a torn one.

The reader says how far a record goes, or where it stops to be one; the next record begins there, at the last
beginning before it (then it broke into a text), or at the next one behind.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from functools import cache
from itertools import islice, takewhile
from json import JSONDecodeError, JSONDecoder
from typing import NamedTuple

_START = re.compile(r'\{"([A-Za-z$_][\w$-]{0,40})":')
_BETWEEN = re.compile(r"[ \t\r\n]*")
_NEARBY = 32  # beginnings that are looked at around a place
_EFFORT = 16  # times the line's length that may be read in all


class Piece(NamedTuple):
    """Where a whole record lies in a line."""

    start: int
    end: int


def find_whole_records(line: bytes | bytearray) -> list[Piece]:
    """Return where whole records lie in a line, in order."""
    return list(_Salvage(line.decode("latin-1")).pieces())


@cache
def _decoder() -> JSONDecoder:
    return JSONDecoder(strict=False)


class _Salvage:
    """One line while it is searched."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.effort = _EFFORT * len(text) + 65_536

    def pieces(self) -> Iterator[Piece]:
        """Yield whole records until nothing is left, or so much was tried that there is no end to it."""
        place: int | None = self._skip(0)
        while place is not None and place < len(self.text) and self.effort > 0:
            end, stopped = self._decode(place)
            if end is None:
                place = self._resume(place, stopped)
            else:
                yield Piece(place, end)
                place = self._skip(end)

    def _decode(self, start: int) -> tuple[int | None, int]:
        """Return where the record that starts here ends; of one that is torn, where it stops to be a record."""
        stopped = len(self.text)
        try:
            end = _decoder().raw_decode(self.text, start)[1] if self.text[start] == "{" else None
            stopped = start if end is None else end
        except JSONDecodeError as problem:
            end = None
            if not problem.msg.startswith("Unterminated string"):  # whose place is where it begins
                stopped = max(start, problem.pos)
        except (ValueError, RecursionError):
            end = None
        self.effort -= stopped - start + 64
        return end, stopped

    def _resume(self, torn: int, stopped: int) -> int | None:
        """Return where the next record begins behind one that is torn."""
        for start in self._beginnings(torn, stopped):
            if self.effort <= 0:
                break
            end, later = self._decode(start)
            if later > stopped if end is None else self._is_followed(end):
                return start
        return None

    def _beginnings(self, torn: int, stopped: int) -> Iterator[int]:
        """Yield where the next record may begin, the likeliest first."""
        if stopped < len(self.text):
            before = list(deque(self._starts(torn + 1, stopped), _NEARBY))
            yield from self._swallowed(torn, before, stopped)
            yield from [stopped] if self._key(stopped) else []
            yield from before[-1:]
            yield from islice(self._starts(stopped + 1, len(self.text)), _NEARBY)
        else:
            yield from islice(self._starts(torn + 1, stopped), _NEARBY)

    def _swallowed(self, torn: int, before: list[int], stopped: int) -> Iterator[int]:
        """Yield the record that seems a value of the torn one: it ends where that stops, and begins as it does."""
        for start in reversed(before):
            end, _ = self._decode(start)
            if end is not None and self._skip(end) == stopped:
                if self._key(start) in (self._key(torn), self._key(stopped)):
                    yield start
                return

    def _starts(self, first: int, last: int) -> Iterator[int]:
        """Yield where a record may begin in a stretch; its first key may reach over the end of it."""
        return takewhile(lambda start: start < last, (found.start() for found in _START.finditer(self.text, first)))

    def _key(self, start: int) -> str | None:
        found = _START.match(self.text, start)
        return found[1] if found else None

    def _is_followed(self, end: int) -> bool:
        """Tell whether nothing follows a record but the end of the line or the next one."""
        place = self._skip(end)
        return place == len(self.text) or self.text[place] == "{"

    def _skip(self, place: int) -> int:
        found = _BETWEEN.match(self.text, place)
        return found.end() if found else place
