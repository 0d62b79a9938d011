"""The first value of a JSON text of which only the beginning is at hand, or of which the rest makes no sense."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Any

from engram.adapters.bounded import Bytes

_BLANK = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder(strict=False)
_DEEPEST = 100


def parse_beginning(head: Bytes) -> Any:
    """Return the first value of a JSON text as far as it goes: what is cut off is missing, what was begun is closed."""
    return _parse(bytes(head))


@lru_cache(maxsize=4)  # every adapter asks about the same file
def _parse(head: bytes) -> Any:
    return _Reader(head.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")).read_value(0)


class _Reader:
    """Reads on until the text ends or makes no sense."""

    def __init__(self, text: str) -> None:
        self._text, self._place = text, 0
        self._is_over = False

    def read_value(self, depth: int) -> Any:
        """Return the value that comes next; None if there is none."""
        opening = self._peek()
        if opening in ("{", "[") and depth < _DEEPEST:
            return self._read_object(depth) if opening == "{" else self._read_list(depth)
        return self._read_plain(opening)

    def _read_object(self, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        self._place += 1
        while self._peek() == '"' and not self._is_over:
            name = self._read_plain('"')
            if self._take(":"):
                found[name] = self.read_value(depth + 1)
            if self._peek() != ",":
                break
            self._place += 1
        self._take("}")
        return found

    def _read_list(self, depth: int) -> list[Any]:
        found: list[Any] = []
        self._place += 1
        while self._peek() not in ("", "]") and not self._is_over:
            found.append(self.read_value(depth + 1))
            if self._peek() != ",":
                break
            self._place += 1
        self._take("]")
        return found

    def _read_plain(self, opening: str) -> Any:
        try:
            found, self._place = _DECODER.raw_decode(self._text, self._place)
        except (ValueError, RecursionError):
            self._is_over = True
            return "" if opening == '"' else None
        return found

    def _peek(self) -> str:
        blank = _BLANK.match(self._text, self._place)
        self._place = blank.end() if blank else self._place
        return self._text[self._place : self._place + 1]

    def _take(self, sign: str) -> bool:
        """Step over a sign; where another stands, the text makes no sense any more."""
        if self._is_over or self._peek() != sign:
            self._is_over = True
            return False
        self._place += 1
        return True
